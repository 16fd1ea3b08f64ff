"""Whether the operations of a cluster fit into one nest, and recompute nothing expensive: docs/ilp.md, E1 to E5 and W1.

A part of the legality checker; shares no code with the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from accel.ilp.legality.refusal import Refusal, Rule
from accel.ilp.legality.rules import CHEAP
from accel.ilp.problem.clustering import Traversal
from accel.ilp.problem.graph import Graph, Node
from accel.labelled.array import Extent, Label, Shape, SizeVariable
from accel.labelled.operations import Kind, Role
from accel.support.choices import Duplicate
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Loops:
    """The loop shape of every operation of a cluster, and which of them run under the guard of a filter."""

    shapes: Mapping[Label, Shape]
    guarded: frozenset[Label]


def loops(graph: Graph, traversals: Mapping[Label, Traversal]) -> Loops | Refusal:
    """E1 to E3, or why they do not hold. Gathers are bound after what is pushed to them, filters before their readers."""
    shapes: dict[Label, Shape] = {}
    guarded: set[Label] = set()
    filters: dict[SizeVariable, Label] = {}
    hosts = _hosts(graph, traversals)
    for label in sorted(label for label, traversal in traversals.items() if traversal.gather is None):
        node = graph.node[label]
        sizes = [extent.variable for extent in node.iteration if extent.variable in filters]
        if not sizes:
            shapes[label] = node.iteration
        elif node.iteration == (Extent(sizes[0], 0),) and sizes[0] is not None:
            shapes[label] = shapes[filters[sizes[0]]]
            guarded.add(label)
        else:
            return Refusal(Rule.E2, (label,), "a loop of {0} would stand under the guard of a filter")
        if node.filtered is not None:
            filters[node.filtered] = label
    for label in sorted(
        (label for label, traversal in traversals.items() if traversal.gather is not None), reverse=True
    ):
        gather = traversals[label].gather
        assert gather is not None
        beyond = graph.node[label].iteration[graph.rank_of_sources(gather) :]
        gather = hosts[gather]
        if beyond and (gather in guarded or any(extent.variable in filters for extent in beyond)):
            return Refusal(Rule.E3, (label,), "a loop of {0} would stand under the guard of a filter")
        shapes[label] = shapes[gather] + beyond
        if gather in guarded:
            guarded.add(label)
    return Loops(shapes, frozenset(guarded))


def _hosts(graph: Graph, traversals: Iterable[Label]) -> dict[Label, Label]:
    """For each order that the operations of a cluster read sources in, one of those that do so: they are at one place."""
    return {graph.order[label]: label for label in traversals if label in graph.order}


def _disagreement(graph: Graph, shapes: Mapping[Label, Shape]) -> Refusal | None:
    """E4: all loop shapes are prefixes of the deepest, but for aligned inner extents."""
    deepest = max(shapes, key=lambda label: len(shapes[label]))
    nest = shapes[deepest]
    aligned = graph.aligned
    for label, shape in shapes.items():
        if shape == nest[: len(shape)]:
            continue
        same_outer = len(shape) == len(nest) and shape[:-1] == nest[:-1]
        if not same_outer or aligned.get(shape[-1], shape[-1]) != aligned.get(nest[-1], nest[-1]):
            return Refusal(Rule.E4, (label, deepest), "{0} and {1} would need two loops at one depth")
    return None


def _needs(graph: Graph, traversals: Mapping[Label, Traversal], gather: Label) -> list[Label]:
    """What must be known before a gather's mapped index is: the makers of its indices, and what those are made of."""
    pending = [edge.array.label for edge in graph.inputs[gather] if edge.role is Role.STREAM]
    found: list[Label] = []
    while pending:
        label = pending.pop()
        if label in traversals and label not in found:
            found.append(label)
            pending += [edge.array.label for edge in graph.inputs[label]]
    return found


def _comes_back(graph: Graph, traversals: Mapping[Label, Traversal], shapes: Mapping[Label, Shape]) -> Refusal | None:
    """E5: a pushed loop begins where its gather's index is known; no loop at its depth may have to end before."""
    hosts = _hosts(graph, traversals)
    for label, traversal in traversals.items():
        gather = None if traversal.gather is None else hosts[traversal.gather]
        if gather is None or len(shapes[label]) == len(shapes[gather]):
            continue
        for earlier in _needs(graph, traversals, gather):
            if len(shapes[earlier]) > len(shapes[gather]):
                return Refusal(Rule.E5, (label, earlier), "{0} needs at its start what {1} gives after its loop")
    return None


def _in_turn(graph: Graph, traversals: Mapping[Label, Traversal]) -> Refusal | None:
    """E6: segments wait for no scan but an exact one from before them, which finds out where they begin."""
    scans = [label for label in traversals if graph.node[label].kind is Kind.SCAN]
    for segments in traversals if scans else ():
        if graph.node[segments].kind is not Kind.SEGMENTS:
            continue
        for label in scans:
            if label > segments or not graph.node[label].exact:
                return Refusal(Rule.E6, (segments, label), "the segments of {0} would wait in turn for the scan {1}")
    return None


def _recomputed(graph: Graph, traversals: Mapping[Label, Traversal], growing: Label) -> list[Node]:
    """What runs once per element of gather `growing`, directly or through gathers that are pushed to it."""
    found, hosts = [], _hosts(graph, traversals)
    for label in traversals:
        gather = traversals[label].gather
        while gather is not None and gather != growing:
            gather = traversals[hosts[gather]].gather
        if gather == growing:
            found.append(graph.node[label])
    return found


def _again(graph: Graph, traversals: Mapping[Label, Traversal]) -> dict[Label, int]:
    """For each gather the scalar operations that run once per element of it, `_recomputed`'s; more than enough for a loop.

    What is pushed through a gather comes before it in the program, so one pass finds all, however long the chains are.
    """
    orders = {label: order for order, label in _hosts(graph, traversals).items()}
    found: dict[Label, int] = {}
    for label in sorted(traversals):
        gather = traversals[label].gather
        if gather is None:
            continue
        node = graph.node[label]
        work = CHEAP + 1 if _has_loop(node) else node.operations
        found[gather] = found.get(gather, 0) + work + (found.get(orders[label], 0) if label in orders else 0)
    return found


def _has_loop(node: Node) -> bool:
    """Whether it is more than any number of scalar operations."""
    return node.kind in (Kind.FOLD, Kind.SEGMENTS) or node.loops


def _work(graph: Graph, traversals: Mapping[Label, Traversal], duplicate: Duplicate) -> Refusal | None:
    """W1: nothing expensive is done more often than once for each element that it makes."""
    if duplicate == "published":
        return None
    for gather, operations in sorted(_again(graph, traversals).items()):
        if not graph.is_growing(gather) or (duplicate is not False and operations <= CHEAP):
            continue
        recomputed = _recomputed(graph, traversals, gather)
        larger = "{0} may be larger than its source: "
        if duplicate is False:
            return Refusal(Rule.W1, (gather, recomputed[0].label), larger + "{1} would be recomputed")
        repeated = [node for node in recomputed if _has_loop(node)]
        if repeated:
            return Refusal(Rule.W1, (gather, repeated[0].label), larger + "the loop of {1} would be recomputed")
        return Refusal(Rule.W1, (gather,), f"{larger}over {CHEAP} scalar operations would be recomputed")
    return None


def nest_refusal(graph: Graph, traversals: Mapping[Label, Traversal], duplicate: Duplicate) -> Refusal | None:
    """Why the operations of a cluster do not fit into one nest, or None."""
    found = loops(graph, traversals)
    if isinstance(found, Refusal):
        return found
    return (
        _disagreement(graph, found.shapes)
        or _comes_back(graph, traversals, found.shapes)
        or _in_turn(graph, traversals)
        or _work(graph, traversals, duplicate)
    )
