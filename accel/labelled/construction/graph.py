"""The graph of array nodes: what each uses, also within its scalar functions, and in which of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from accel.ast.tree.nodes import (
    Acond,
    ArrayNode,
    Awhile,
    Backpermute,
    Fold,
    FoldSegments,
    Gather,
    HostCall,
    Permute,
    Replicate,
    Require,
    Reshape,
    ScalarNode,
    ScanSegments,
    ScatterWith,
    Slice,
)
from accel.ast.tree.walk import arguments, scalars_of
from accel.labelled.construction import regions
from accel.labelled.construction.flatten import arrays_used

Child: TypeAlias = tuple[ArrayNode, int | None]


class Graph:
    """Answers what `regions` asks, each node once."""

    def __init__(self) -> None:
        self._children: dict[ArrayNode, tuple[Child, ...]] = {}

    @property
    def shape(self) -> regions.Shape[ArrayNode]:
        """The graph as `regions` sees it. Not kept here: that would be a cycle, and the user's arrays would live on."""
        return regions.Shape(self.children, state, may_fail, strict=False, hoists=False)

    def children(self, node: ArrayNode) -> tuple[Child, ...]:
        """The arrays that a node uses, those of its scalar functions included, each with the part that uses it."""
        found = self._children.get(node)
        if found is None:
            plain = [(array, None) for array in (*arguments(node), *_captured(scalars_of(node)))]
            found = self._children[node] = tuple(dict.fromkeys([*plain, *_parts(node)]))
        return found


def state(node: ArrayNode) -> Sequence[ArrayNode] | None:
    """The parameters that a loop binds."""
    return node.parameters if isinstance(node, Awhile) else None


def may_fail(node: ArrayNode) -> bool:
    """Whether computing a node may fail or never end, as far as can be told before sizes are known.

    Operands of unequal shapes are not counted: what that requires of parameters is checked when they are given.
    """
    match node:
        case Gather() | Backpermute() | Permute() | ScatterWith() | Slice() | Replicate() | Reshape() | Require():
            return True
        case HostCall() | FoldSegments() | ScanSegments() | Awhile():
            return True
        case Fold(_, initial) if initial is None:
            return True
        case _:
            return any(array.types[0].rank for array in arrays_used(scalars_of(node))[0])


def _captured(roots: Sequence[ScalarNode]) -> list[ArrayNode]:
    loaded, measured = arrays_used(roots)
    return [*loaded, *measured]


def _parts(node: ArrayNode) -> list[Child]:
    match node:
        case Acond(_, then, orelse):
            return [*((array, 0) for array in then), *((array, 1) for array in orelse)]
        case Awhile(_, condition, body):
            return [(condition, 0), *((array, 1) for array in body)]
        case _:
            return []
