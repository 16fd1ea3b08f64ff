"""Nests over arrays whose dimensions lie in memory in another order than theirs.

In: a nest, and a `Layout` for some arrays. Out: the nest over what stands for these arrays, all indices into them permuted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from accel.ast.tree.types import I64
from accel.ir import mentions
from accel.ir.nodes import (
    Branch,
    HostCall,
    HostSizes,
    Launch,
    Level,
    LoopBody,
    Nest,
    Operand,
    Output,
    Program,
    Read,
    Repeat,
    Scatter,
    Sort,
    Stream,
    View,
    Write,
)
from accel.labelled.array import Array, Extent, Shape
from accel.labelled.programs import loaded
from accel.labelled.scalar import constant
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands for an array: dimension d of `array` is dimension `order[d]` of what it was.

    Dimensions that `order` leaves out repeat the same elements. `apart`: no dimension's elements are adjacent, so `array` has a
    last dimension of one element behind the others.
    """

    array: Array
    order: tuple[int, ...]
    apart: bool = False

    def index(self, index: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Where an element of the array stands in `array`."""
        kept = tuple(index[dimension] for dimension in self.order)
        return (*kept, constant(I64, 0)) if self.apart else kept


def layout(of: Array, order: tuple[int, ...], *, apart: bool = False) -> Layout:
    """The layout of an array."""
    shape: Shape = tuple(of.shape[dimension] for dimension in order)
    return Layout(replace(of, shape=(*shape, Extent(None, 1)) if apart else shape), order, apart)


def mentioned_otherwise(program: Program) -> frozenset[Array]:
    """The arrays that something else than a read or a write of the program's own nests mentions; not its parameters."""
    own = [step.nest for step in program.steps if isinstance(step, Launch)]
    found = set(program.results)
    for each in mentions.programs(program):
        if each is not program:
            found.update(each.results, *each.parameters)
    for step in mentions.steps(program):
        match step:
            case View(arrays, sources):
                found.update(arrays, sources)
            case Sort(array, sources):
                found.update((array, *sources))
            case HostCall(arrays, _, sources):
                found.update(arrays, sources)
            case HostSizes(_, function):
                found.update(loaded(function))
            case Branch(condition=condition, arrays=arrays):
                found.update((condition, *arrays))
            case Repeat(initial=initial, arrays=arrays):
                found.update(initial, arrays)
            case Launch(nest) if nest not in own:
                found.update(mentions.arrays(nest))
            case _:
                pass  # mentions extents, or is one of the own nests
    return frozenset(found.union(*map(mentioned_otherwise_in, own)))


def mentioned_otherwise_in(nest: Nest) -> frozenset[Array]:
    """The arrays that something else than a read, a write or an output of the nest mentions."""
    found = {array for pair in nest.in_place for array in pair}
    found.update(count.array for count in nest.counts)
    found.update(array for function in mentions.functions(nest) for array in loaded(function))
    found.update(array for s in mentions.statements(nest) if isinstance(s, Scatter) for array in s.arrays)
    return frozenset(found)


def in_layouts(nest: Nest, layouts: Mapping[Array, Layout], *, written: bool = True) -> Nest:
    """The nest; these arrays are mentioned in nothing but its reads, writes and outputs.

    `written`: whether it is to write to what stands for them, too.
    """

    def statement(each: LoopBody) -> LoopBody:
        if not isinstance(each, Read | Write) or each.array not in layouts:
            return each
        if isinstance(each, Write) and not written:
            return each
        found = layouts[each.array]
        return replace(each, array=found.array, index=found.index(each.index))

    def output(each: Output) -> Output:
        found = layouts.get(each.array)
        if found is None or not written:
            return each
        return replace(each, array=found.array, capacity=tuple(each.capacity[d] for d in found.order))

    parts = [
        (tuple(map(statement, level.before)), tuple(map(statement, level.after))) for level in mentions.levels(nest)
    ]
    return replace(with_parts(nest, parts), outputs=tuple(map(output, nest.outputs)))


def with_parts(nest: Nest, parts: Sequence[tuple[Sequence[LoopBody], Sequence[LoopBody]]]) -> Nest:
    """The nest with other statements before and after the loop of each level, outermost first."""
    body: Level | None = None
    for level, (before, after) in reversed([*zip(mentions.levels(nest), parts, strict=True)]):
        loop = None if level.loop is None or body is None else replace(level.loop, body=body)
        body = Level(tuple(before), loop, tuple(after))
    assert body is not None, "a nest has a level"
    return replace(nest, body=body)


def reads_outwards(nest: Nest, arrays: Set[Array]) -> Nest:
    """The nest, which reads these arrays as far outside as their indices are known; loops inside have iterations.

    What repeats along a dimension is read once, as what `A.replicate` repeats.
    """
    levels = list(mentions.levels(nest))
    indices = [level.loop.index for level in levels if level.loop is not None]
    befores: list[list[LoopBody]] = [[] for _ in levels]
    for depth, level in enumerate(levels):
        for each in level.before:
            place = depth
            if isinstance(each, Read) and each.array in arrays and each.when is None:
                streams = [operand for operand in each.index if isinstance(operand, Stream)]
                if all(stream in indices for stream in streams):
                    place = min(depth, max([indices.index(stream) + 1 for stream in streams], default=0))
            befores[place].append(each)
    return with_parts(nest, [(before, level.after) for before, level in zip(befores, levels, strict=True)])
