"""Walks over the nodes of stage 1: what a node is made of, and nodes in the order of evaluation.

Nothing here recurses, so that programs of any depth can be walked; sharing is kept, each node is met once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar, assert_never

from accel.ast.tree.nodes import (
    Acond,
    Append,
    ArrayNode,
    ArrayParameter,
    Awhile,
    Backpermute,
    Compute,
    Conditional,
    Filter,
    Fold,
    FoldSegments,
    Function,
    Gather,
    Generate,
    HostCall,
    Index,
    Literal,
    MakeTuple,
    Map,
    Operation,
    Parameter,
    Permute,
    Project,
    Replicate,
    Require,
    Reshape,
    Result,
    ScalarNode,
    Scan,
    ScanSegments,
    ScatterWith,
    ShapeOf,
    Slice,
    Sort,
    Use,
    While,
)

T = TypeVar("T")


def postorder(roots: Iterable[T], children: Callable[[T], Iterable[T]]) -> list[T]:
    """All nodes that `roots` are made of, each once, after its children, from left to right."""
    order: list[T] = []
    done: set[T] = set()
    work = [(root, False) for root in reversed(list(roots))]
    while work:
        node, expanded = work.pop()
        if node in done:
            continue
        if expanded:
            done.add(node)
            order.append(node)
        else:
            work.append((node, True))
            work += [(child, False) for child in reversed(list(children(node))) if child not in done]
    return order


def escaping(
    order: Iterable[T],
    children: Callable[[T], Iterable[T]],
    is_variable: Callable[[T], bool],
    bound: Callable[[T], Iterable[T]],
    roots: Iterable[T],
) -> frozenset[T]:
    """The variables that `roots` depend on outside of the nodes that bind them. `order`: all nodes, children first."""
    needs: dict[T, frozenset[T]] = {}
    for node in order:
        found = frozenset({node}) if is_variable(node) else frozenset[T]()
        for child in children(node):
            if not needs[child] <= found:
                found |= needs[child]
        needs[node] = found.difference(bound(node))
    return frozenset[T]().union(*[needs[root] for root in roots])


def operands(node: ScalarNode) -> tuple[ScalarNode, ...]:
    """The scalar nodes that a node is made of, those of a loop's functions included, left to right."""
    match node:
        case Literal() | Parameter() | ShapeOf():
            return ()
        case Operation(arguments=arguments):
            return arguments
        case MakeTuple(items=items):
            return items
        case Project(source=source):
            return (source,)
        case Conditional(condition, then, orelse):
            return (condition, then, orelse)
        case While(_, condition, body, initial):
            return (initial, condition, body)
        case Index(index=index):
            return (index,)
        case _:
            assert_never(node)


def scalars_of(node: ArrayNode) -> tuple[ScalarNode, ...]:
    """The scalar expressions of an array node: shapes, seeds, and the bodies of its functions."""
    found: tuple[ScalarNode | Function | None, ...]
    match node:
        case Use() | ArrayParameter() | Gather() | Sort() | Compute() | HostCall() | Awhile() | Result():
            found = ()
        case Generate(shape, function) | Backpermute(shape, function):
            found = (shape, function)
        case Map(function=function) | Filter(predicate=function):
            found = (function,)
        case ScatterWith(combine=combine):
            found = (combine,)
        case Append(extent=extent):
            found = (extent,)
        case Permute(combine=combine, function=function):
            found = (combine, function)
        case Fold(function, initial) | FoldSegments(function, initial) | Scan(function, initial):
            found = (function, initial)
        case ScanSegments(function, initial, extent=extent):
            found = (function, initial, extent)
        case Replicate(spec=spec) | Slice(spec=spec):
            found = spec
        case Reshape(shape=shape):
            found = (shape,)
        case Acond(condition=condition):
            found = (condition,)
        case Require(found=left, needed=right):
            found = (*left, *right)
        case _:
            assert_never(node)
    return tuple(part.body if isinstance(part, Function) else part for part in found if part is not None)


def arguments(node: ArrayNode) -> tuple[ArrayNode, ...]:
    """The array nodes that a node takes, without those in branches and loops and those that its scalars read."""
    match node:
        case Use() | ArrayParameter() | Generate() | Acond():
            return ()
        case Map(arrays=arrays):
            return arrays
        case Gather(indices, array):
            return (indices, array)
        case Append(left=left, right=right):
            return (left, right)
        case Permute(defaults=defaults, array=array) | ScatterWith(defaults=defaults, pairs=array):
            return (defaults, array)
        case FoldSegments(_, _, array, starts, ends) | ScanSegments(_, _, array, starts, ends):
            return (array, starts, ends)
        case Result(node=inner):
            return (inner,)
        case HostCall(_, given, fallback):
            return given if node.function.prints else (*given, *fallback)
        case Awhile(initial=initial):
            return initial
        case (
            Backpermute(array=array)
            | Fold(array=array)
            | Scan(array=array)
            | Filter(array=array)
            | Replicate(array=array)
            | Slice(array=array)
            | Reshape(array=array)
            | Compute(array=array)
            | Sort(array=array)
            | Require(array=array)
        ):
            return (array,)
        case _:
            assert_never(node)


def arrays_of(node: ArrayNode) -> tuple[ArrayNode, ...]:
    """The array nodes that a node is made of: its arguments, a loop's parameters and body, what its scalars read."""
    inner: tuple[ArrayNode, ...] = ()
    if isinstance(node, Acond):
        inner = (*node.then, *node.orelse)
    elif isinstance(node, Awhile):
        inner = (*node.parameters, node.condition, *node.body)
    return (*arguments(node), *inner, *arrays_read(scalars_of(node)))


def arrays_read(roots: Iterable[ScalarNode]) -> tuple[ArrayNode, ...]:
    """The arrays that scalar expressions index or ask for their shape, in order of occurrence, each once."""
    nodes = postorder(roots, operands)
    return tuple(dict.fromkeys(node.array for node in nodes if isinstance(node, (Index, ShapeOf))))
