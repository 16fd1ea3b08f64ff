"""Slices of a nest: some of its folds with what leads to them, where folds of one loop need other lanes than others.

In: a nest, and the states of one loop of it. Out: nests of the same loops, which run one after the other; the first of them
also writes what the loops write.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from accel.ir import mentions
from accel.ir.nodes import Level, LoopBody, Nest, State
from accel.ir.slices import needed_for
from accel.labelled.meaning.order import lanes
from accel.schedule.nodes import Carried


def slices(nest: Nest, states: Sequence[Carried]) -> tuple[Nest, ...]:
    """The nest itself, if all folds in an order have the same lanes; else one for each kind of them. Exact folds, which any
    lanes serve, are in the first."""
    kinds: dict[tuple[int, bool], list[Carried]] = {}
    for each in states:
        if not each.state.monoid.exact:
            kinds.setdefault((lanes(each.state.types), each.state.monoid.commutes), []).append(each)
    if len(kinds) < 2:
        return (nest,)
    exact = [each for each in states if each.state.monoid.exact]
    first, *others = kinds.values()
    inside = _inside(nest, states[0].first)
    stores = [statement for statement in mentions.stores(nest) if id(statement) in inside]
    roots: list[list[LoopBody]] = [[*(each.step for each in (*first, *exact)), *stores]]
    roots += [[each.step for each in some] for some in others]
    return tuple(part_of(nest, needed_for(nest, some)) for some in roots)


def _inside(nest: Nest, depth: int) -> frozenset[int]:
    """The identities of the statements inside of the loop at this depth."""
    levels = list(mentions.levels(nest))[depth + 1 :]
    return frozenset(id(s) for level in levels for s in (*level.before, *level.after))


def part_of(nest: Nest, needed: frozenset[int]) -> Nest:
    """The nest with what is needed, and all its loops."""

    def some(statements: Iterable[LoopBody]) -> tuple[LoopBody, ...]:
        return tuple(s for s in statements if id(s) in needed)

    def states(every: Iterable[State]) -> tuple[State, ...]:
        return tuple(state for state in every if id(state) in needed)

    inner: Level | None = None
    for level in reversed(list(mentions.levels(nest))):
        loop = level.loop
        if loop is not None:
            assert inner is not None
            loop = replace(loop, states=states(loop.states), body=inner)
        inner = Level(some(level.before), loop, some(level.after))
    assert inner is not None
    return Nest(nest.label, inner, (), (), ())
