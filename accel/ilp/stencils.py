"""What stencils take in: with `duplicate="stencils"` plans in which they compute what they load are made, too.

The cheapest plan is taken. An integer linear program that decides of each array (`duplicate=True`) has weaker bounds, and
takes many times as long to solve where nothing is gained (docs/ilp/recomputation.md, "The default").
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from accel.ilp.facts.contraction import merge_chains
from accel.ilp.model.solution import loads
from accel.ilp.problem.answer import Answer
from accel.ilp.problem.cost import Weights, added
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.recompute.candidates import candidates, counts_traffic
from accel.ilp.recompute.graph import recompute
from accel.labelled.array import Label
from accel.labelled.passes.recompute import Recomputed
from accel.support.dataclass import dataclass

_FEW = 8
"""Of more makers stencils take in all or nothing."""


@dataclass(frozen=True, slots=True)
class _Maker:
    """An operation, with the chain that ends in it, for each stencil that may take it in. goes: nothing else reads it."""

    recomputed: tuple[Recomputed, ...]
    goes: bool


def with_taken_in(graph: Graph, options: Options, plain: Answer, find: Callable[[Graph], Answer]) -> Answer:
    """The cheapest answer of these: stencils take in nothing, all that they may, or, from there, one maker more or less.

    plain: the first of them. find: the best answer for a graph in which nothing is to be recomputed. No further one is asked
    for after the time limit of `options`.
    """
    makers = _makers(graph, options) if plain.proved else []
    if not makers:
        return plain
    deadline = time.monotonic() + options.time_limit
    best, taken = plain, list[_Maker]()
    every = _answer(graph, options, makers, find)
    if every.cost < plain.cost:
        best, taken = every, makers
    for maker in makers if 1 < len(makers) <= _FEW else []:
        is_taken = maker in taken
        if is_taken and maker.goes:
            continue  # it would be stored
        if time.monotonic() > deadline:
            break
        others = [each for each in taken if each is not maker] if is_taken else [*taken, maker]
        found = _answer(graph, options, others, find)
        if found.cost < best.cost or (is_taken and found.cost == best.cost):
            best, taken = found, others
    return best


def _makers(graph: Graph, options: Options) -> list[_Maker]:
    """What stencils may take in. Nothing that they read in the place of something else is among it: that has to be stored."""
    assert options.model is not None
    if options.duplicate != "stencils" or options.formulation != "accel" or not counts_traffic(options.model.levels):
        return []
    contraction = merge_chains(graph, options.duplicate, options.model.levels)
    found = candidates(contraction.graph, Weights(contraction.graph, options.extents), options.duplicate)
    needed: set[Label] = set()
    makers: list[_Maker] = []
    for maker in sorted({maker for maker, _ in found.pairs}, reverse=True):
        readers = [reader for label, reader in found.pairs if label == maker]
        if maker not in needed:
            needed.update(edge.array.label for reader in readers for edge in found.reads[maker, reader])
            recomputed = [_recomputed(graph, contraction.runs, maker, reader) for reader in readers]
            makers.append(_Maker(tuple(recomputed), maker in found.removable))
    return makers


def _recomputed(graph: Graph, runs: Mapping[Label, tuple[Label, ...]], maker: Label, reader: Label) -> Recomputed:
    """The chain that ends in a maker, for those of the reader's chain that read it."""
    readers = [label for label in runs[reader] if any(edge.array.label == maker for edge in graph.inputs[label])]
    return Recomputed(runs[maker], tuple(readers))


def _answer(graph: Graph, options: Options, makers: Sequence[_Maker], find: Callable[[Graph], Answer]) -> Answer:
    """The best answer with these makers taken in. What is read more by index costs in every clustering the same."""
    assert options.model is not None
    taken = [each for maker in makers for each in maker.recomputed]
    answer = find(recompute(graph, taken).graph)
    more = loads(graph, taken, options.duplicate, options.model.levels, Weights(graph, options.extents))
    return replace(answer, cost=added(answer.cost, more), bound=added(answer.bound, more), recomputed=tuple(taken))
