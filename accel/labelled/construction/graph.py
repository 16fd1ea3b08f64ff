"""The graph of array nodes: what each uses, also within its scalar functions, and in which of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, assert_never

from accel.ast.tree.nodes import (
    Acond,
    ArrayNode,
    ArrayParameter,
    Awhile,
    Backpermute,
    Compute,
    Filter,
    Fold,
    Gather,
    Generate,
    Map,
    Permute,
    Replicate,
    Reshape,
    Result,
    ScalarNode,
    Scan,
    ScatterWith,
    Slice,
    Use,
)
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
            plain = [(array, None) for array in (*arrays(node), *_captured(scalars(node)))]
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
        case Gather() | Backpermute() | Permute() | ScatterWith() | Slice() | Replicate() | Reshape() | Awhile():
            return True
        case Fold(_, initial) if initial is None:
            return True
        case _:
            return any(array.types[0].rank for array in arrays_used(scalars(node))[0])


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


def arrays(node: ArrayNode) -> tuple[ArrayNode, ...]:
    """The arrays that a node takes, without those of its scalar functions and its parts."""
    match node:
        case Use() | ArrayParameter() | Generate() | Acond():
            return ()
        case Map(_, items):
            return items
        case Backpermute(array=array) | Fold(array=array) | Scan(array=array) | Filter(array=array):
            return (array,)
        case Replicate(array=array) | Slice(array=array) | Reshape(array=array) | Compute(array=array):
            return (array,)
        case Gather(indices, array):
            return (indices, array)
        case Permute(_, defaults, _, array):
            return (defaults, array)
        case ScatterWith(_, defaults, pairs):
            return (defaults, pairs)
        case Awhile(initial=initial):
            return initial
        case Result(source):
            return (source,)
        case _:
            assert_never(node)


def scalars(node: ArrayNode) -> tuple[ScalarNode, ...]:
    """The roots of the scalar expressions of a node."""
    match node:
        case Use() | ArrayParameter() | Gather() | Compute() | Awhile() | Result():
            return ()
        case Generate(shape, function) | Backpermute(shape, function):
            return (shape, function.body)
        case Map(function) | Filter(function) | ScatterWith(function):
            return (function.body,)
        case Permute(combine, _, function):
            return (combine.body, function.body)
        case Fold(function, initial) | Scan(function, initial):
            return (function.body,) if initial is None else (function.body, initial)
        case Replicate(spec=spec) | Slice(spec=spec):
            return tuple([item for item in spec if item is not None])
        case Reshape(shape):
            return (shape,)
        case Acond(condition):
            return (condition,)
        case _:
            assert_never(node)
