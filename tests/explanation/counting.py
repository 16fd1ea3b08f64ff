"""Array passes counted from fusion trees: an oracle for `accel/ir/facts.py`, which counts them in loops [vB20 Fig. 12].

In: a cluster's fusion tree. Out: its passes. A pass is counted per distinct (array, order) of a loop. An array that is read
by index, or in a gather's order, counts one pass of what the loop visits, and a single element if the index does not depend
on the loop. A scatter reads and writes its destination once, unless that is constant: then the `fill` wrote it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from accel.fusedast.nodes import LeafOfCluster, RootOfCluster
from accel.fusedast.walk import leaves
from accel.labelled.nodes import (
    Array,
    Binding,
    Filter,
    Fold,
    Generate,
    Label,
    Scan,
    Scatter,
    Shape,
)
from accel.labelled.programs import functions, inner_blocks, operands
from accel.labelled.scalar import Block, Compute, Constant, Function, If, Load, Operand, Statement, While
from accel.labelled.scalar_text import extent_text


@dataclass(frozen=True, slots=True)
class Pass:
    """`array` is read or written once for every index of `shape`; the empty shape is a single element."""

    array: Array
    shape: Shape


@dataclass(frozen=True, slots=True)
class Passes:
    """All passes of a cluster or a program."""

    reads: tuple[Pass, ...]
    writes: tuple[Pass, ...]


def passes(root: RootOfCluster, shapes: Mapping[Label, Shape], constant: Collection[Array]) -> Passes:
    """The passes of one cluster.

    shapes: of the results of every operation, for the orders of gathers. constant: arrays that are constant fills.
    """
    reads: dict[Pass, None] = {}
    writes: dict[Pass, None] = {}
    scattered: set[Array] = set()
    parts = list(leaves(root.tree))
    for port in root.tree.signature.inputs:
        if port.order is not None:
            gather = port.order.gather
            reads[Pass(port.array, port.array.shape if gather is None else shapes[gather])] = None
    for leaf in parts:
        match leaf.binding.operation:
            case Scatter(_, destinations):
                scattered.update(leaf.binding.arrays)
                for array in destinations:
                    if array not in constant:
                        reads[Pass(array, array.shape)] = None
                        writes[Pass(array, array.shape)] = None
        for array, shape in _indexed(leaf, shapes):
            reads[Pass(array, shape)] = None
    for array in root.results:
        if array not in scattered:
            writes[Pass(array, array.shape)] = None
    key = lambda one: (one.array.label, one.array.leaf, len(one.shape))  # noqa: E731  # used twice, below
    return Passes(tuple(sorted(reads, key=key)), tuple(sorted(writes, key=key)))


def constant_fills(bindings: Collection[Binding]) -> frozenset[Array]:
    """The arrays that hold one constant everywhere."""
    return frozenset(
        array
        for binding in bindings
        if isinstance(binding.operation, Generate)
        for array, value in zip(binding.arrays, binding.operation.function.body.results, strict=True)
        if isinstance(value, Constant)
    )


def iteration(binding: Binding) -> Shape:
    """What an operation visits."""
    match binding.operation:
        case Fold(_, _, inputs) | Filter(_, inputs):
            return inputs[0].shape
        case Scan():
            return max((array.shape for array in binding.arrays), key=len)
        case Scatter(_, _, _, indices, values):
            return (values or indices)[0].shape
        case _:
            return binding.arrays[0].shape


def _indexed(leaf: LeafOfCluster, shapes: Mapping[Label, Shape]) -> Iterator[tuple[Array, Shape]]:
    """What the scalar functions of an operation load, and how often; the same array at one size once."""
    visited = iteration(leaf.binding)
    if leaf.order.gather is not None:  # it runs at the gather's indices instead
        visited = shapes[leaf.order.gather] + visited[len(leaf.binding.arrays[0].shape) :]
    for function in functions(leaf.binding.operation):
        for load, varies in _loads(function):
            yield load.array, visited if varies and load.array.shape else ()


def _loads(function: Function) -> list[tuple[Load, bool]]:
    """Every load of a function, and whether its index depends on the function's parameters."""
    varying: set[Operand] = set(function.parameters)
    found: list[tuple[Load, bool]] = []
    pending: list[Block | Statement] = [function.body]
    while pending:
        part = pending.pop()
        if isinstance(part, Block):
            pending += reversed(part.statements)
            continue
        depends = any(operand in varying for operand in operands(part))
        match part:
            case Load(out):
                found.append((part, depends))
                varying |= {out} if depends else set()
            case Compute(out):
                varying |= {out} if depends else set()
            case If(outs) | While(outs):
                # What a branch or turn gives depends on what is decided there: taken to vary, as loops' states do.
                varying |= set(outs) | (set(part.parameters) if isinstance(part, While) else set())
                pending += reversed(inner_blocks(part))
    return found


def size_text(shape: Shape) -> str:
    """How many elements, as text: `1`, `n0`, `n0*n1`, `(n0+1)*n1`, `16*n0`."""
    constant = prod(extent.offset for extent in shape if extent.variable is None)
    symbols = [extent for extent in shape if extent.variable is not None]
    if constant == 0 or not symbols:
        return str(constant)
    alone = len(symbols) == 1 and constant == 1
    factors = [extent_text(e) if alone or not e.offset else f"({extent_text(e)})" for e in symbols]
    return "*".join(([] if constant == 1 else [str(constant)]) + factors)


def count(several: tuple[Pass, ...]) -> dict[str, int]:
    """How many passes there are of every size."""
    return dict(Counter(size_text(one.shape) for one in several))
