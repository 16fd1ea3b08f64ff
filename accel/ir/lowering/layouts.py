"""In which order the dimensions of an intermediate array lie in memory: as its readers visit them, where its maker can, too.

`A.transpose(A.scanl(f, z, A.transpose(m)))` scans columns. The scan is a loop of its own, which makes an array that only a
transposing loop reads. Both visit memory along rows if that array is stored transposed: then the second only copies.

In: a loop program. Out: the same with arrays whose shapes, and all indices into them, are permuted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from accel.ir import mentions
from accel.ir.nodes import (
    Branch,
    HostCall,
    HostSizes,
    Launch,
    LoopBody,
    Nest,
    Output,
    Program,
    Read,
    Repeat,
    Scatter,
    Sort,
    View,
    Write,
)
from accel.labelled.array import Array
from accel.labelled.programs import loaded


@dataclass(frozen=True, slots=True)
class _Layout:
    """What stands for an array: dimension d of `array` is dimension `order[d]` of what it was."""

    array: Array
    order: tuple[int, ...]


def laid_out(program: Program) -> Program:
    """The program's own steps with arrays laid out anew; those of its branches and repetitions stay."""
    own = [step.nest for step in program.steps if isinstance(step, Launch)]
    candidates = [(nest, output) for nest in own for output in nest.outputs if len(output.array.shape) > 1]
    if not candidates:
        return program
    fixed = _fixed(program, own)
    found: dict[Array, _Layout] = {}
    for nest, output in candidates:
        array = output.array
        order = None if array in fixed else _order(array, output, nest, own)
        if order is not None:
            shape = tuple(array.shape[dimension] for dimension in order)
            found[array] = _Layout(replace(array, shape=shape), order)
    if not found:
        return program
    steps = tuple(Launch(_rewritten(s.nest, found)) if isinstance(s, Launch) else s for s in program.steps)
    return replace(program, steps=steps)


def _fixed(program: Program, own: Sequence[Nest]) -> frozenset[Array]:
    """The arrays that something else than a read or a write of the program's own nests mentions."""
    found: set[Array] = set()
    for each in mentions.programs(program):
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
    for nest in own:
        found.update(array for pair in nest.in_place for array in pair)
        found.update(count.array for count in nest.counts)
        found.update(array for function in mentions.functions(nest) for array in loaded(function))
        found.update(array for s in mentions.statements(nest) if isinstance(s, Scatter) for array in s.arrays)
    return frozenset(found)


def _order(array: Array, output: Output, maker: Nest, nests: Sequence[Nest]) -> tuple[int, ...] | None:
    """The order in which all readers visit the dimensions, if it is another one and serves the maker."""
    orders = {
        _visited(read, nest) for nest in nests for read in _accesses(nest) if read.array == array and nest != maker
    }
    if len(orders) != 1:
        return None
    (order,) = orders
    if order is None or order[-1] == len(order) - 1:
        return None
    if any(product != (extent,) for product, extent in zip(output.capacity, array.shape, strict=True)):
        return None
    return order if _scans_along(maker, array, order[-1]) else None


def _accesses(nest: Nest) -> Iterator[Read | Write]:
    return (s for s in mentions.statements(nest) if isinstance(s, Read | Write))


def _visited(access: Read | Write, nest: Nest) -> tuple[int, ...] | None:
    """The dimensions in the order in which the nest visits them: each is visited by a loop, the last one by the innermost."""
    loops = [level.loop.index for level in mentions.levels(nest) if level.loop is not None]
    if len(set(access.index)) < len(access.index) or not set(access.index) <= set(loops) or not loops:
        return None
    order = sorted(range(len(access.index)), key=lambda dimension: loops.index(access.index[dimension]))  # type: ignore[arg-type]  # all are indices of loops
    return tuple(order) if access.index[order[-1]] == loops[-1] else None


def _scans_along(maker: Nest, array: Array, along: int) -> bool:
    """Whether the nest scans in its innermost loop, and reads and writes all other memory along the loop of a dimension."""
    loops = [level.loop for level in mentions.levels(maker) if level.loop is not None]
    if not any(state.running for state in loops[-1].states) or any(loop.states for loop in loops[:-1]):
        return False
    indices = tuple(loop.index for loop in loops)
    every = [access for access in _accesses(maker) if len(access.index) > 1]
    own = [access for access in every if isinstance(access, Write) and access.array.label == array.label]
    if any(access.index != indices for access in own) or not any(access.array == array for access in own):
        return False
    reads = [access for access in every if access not in own]
    return bool(reads) and all(access.index[-1] == indices[along] for access in reads)


def _rewritten(nest: Nest, layouts: Mapping[Array, _Layout]) -> Nest:
    def statement(each: LoopBody) -> LoopBody:
        if not isinstance(each, Read | Write) or each.array not in layouts:
            return each
        layout = layouts[each.array]
        return replace(each, array=layout.array, index=tuple(each.index[d] for d in layout.order))

    def output(each: Output) -> Output:
        layout = layouts.get(each.array)
        if layout is None:
            return each
        return replace(each, array=layout.array, capacity=tuple(each.capacity[d] for d in layout.order))

    levels = list(mentions.levels(nest))
    body = None
    for level in reversed(levels):
        loop = None if level.loop is None or body is None else replace(level.loop, body=body)
        before, after = (tuple(map(statement, some)) for some in (level.before, level.after))
        body = replace(level, before=before, loop=loop, after=after)
    assert body is not None, "a nest has a level"
    return replace(nest, body=body, outputs=tuple(map(output, nest.outputs)))
