"""What may fuse, run backward or be pushed, operation by operation: the model's side of docs/ilp.md, D1 to D5 and W1.

The legality checker states the same rules once more, by itself.
"""

from __future__ import annotations

from typing import assert_never

from accel.ilp.problem.graph import Edge, Graph, Node
from accel.labelled.array import Label
from accel.labelled.operations import ORDERED, Kind, Role
from accel.support.choices import Duplicate

CHEAP = 32
"""Scalar operations that may be recomputed for an element: pushed to a gather larger than its source, or at a reader."""


def fixed_direction(node: Node) -> bool | None:
    """Whether an operation that is not pushed runs backward; None: as it likes."""
    match node.kind:
        case Kind.SCAN:
            return node.backward
        case Kind.FILTER | Kind.SCATTER | Kind.SEGMENTS | Kind.BARRIER:
            return False
        case Kind.FOLD:
            return None if node.exact and not node.arrays[0].shape else False
        case Kind.GENERATE | Kind.MAP | Kind.GATHER:
            return None
        case _:
            assert_never(node.kind)


def may_fuse(graph: Graph, edge: Edge) -> bool:
    """Whether maker and reader might share a cluster, looking at nothing else."""
    maker = graph.node.get(edge.array.label)
    reader = graph.node[edge.consumer]
    if maker is None or edge.role not in ORDERED:
        return False
    if Kind.BARRIER in (maker.kind, reader.kind) or maker.kind is Kind.SCATTER:
        return False
    if maker.places(edge.array):
        order = graph.order[maker.label]
        if edge.role is Role.SOURCE:
            return graph.order[reader.label] == order
        return may_follow(graph, reader, order)
    is_total = maker.kind is Kind.SCAN and len(edge.array.shape) < len(maker.iteration)
    if is_total and maker.backward and edge.array.shape:
        return False  # outer dimensions are visited forward
    if edge.role is Role.SOURCE:
        return maker.kind in (Kind.GENERATE, Kind.MAP, Kind.GATHER, Kind.FOLD)
    return fixed_direction(maker) is None or fixed_direction(reader) in (None, fixed_direction(maker))


def may_follow(graph: Graph, node: Node, order: Label) -> bool:
    """Whether `node` may run in an order of scans of segments, looking at nothing else."""
    shapes = graph.shapes_in_order(order)
    match node.kind:
        case Kind.GENERATE | Kind.MAP | Kind.GATHER:
            return node.iteration in shapes
        case Kind.FOLD:
            return node.arrays[0].shape in shapes
        case Kind.SCATTER:
            return node.iteration in shapes and not graph.node[order].backward
        case Kind.SCAN | Kind.FILTER | Kind.SEGMENTS | Kind.BARRIER:
            return False
        case _:
            assert_never(node.kind)


def may_be_pushed(graph: Graph, node: Node, gather: Label, duplicate: Duplicate) -> bool:
    """Whether `node` may run at the mapped index of `gather`, as far as kind and work are concerned."""
    if node.kind not in (Kind.GENERATE, Kind.MAP, Kind.GATHER, Kind.FOLD):
        return False
    if duplicate == "published" or not graph.is_growing(gather):
        return True
    return duplicate is not False and node.kind is not Kind.FOLD and not node.loops and node.operations <= CHEAP
