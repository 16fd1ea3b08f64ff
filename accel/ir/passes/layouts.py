"""In which order the dimensions of an intermediate array lie in memory: as its readers visit them, where its maker can, too.

`A.transpose(A.scanl(f, z, A.transpose(m)))` scans columns. The scan is a loop of its own, which makes an array that only a
transposing loop reads. Both visit memory along rows if that array is stored transposed: then the second only copies. So it is
with the exponentials of a softmax down columns: they are summed where they are made, and divided by the sums later.

In: a loop program. Out: the same with arrays whose shapes, and all indices into them, are permuted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from accel.ir import mentions
from accel.ir.layouts import Layout, in_layouts, layout, mentioned_otherwise
from accel.ir.nodes import (
    Launch,
    LoopBody,
    Nest,
    OneToMaybe,
    OneToOne,
    Operand,
    Output,
    Program,
    Read,
    Stream,
    Write,
)
from accel.labelled.array import Array
from accel.labelled.scalar import Load, Variable


def laid_out(program: Program) -> Program:
    """The program's own steps with arrays laid out anew; those of its branches and repetitions stay."""
    own = [step.nest for step in program.steps if isinstance(step, Launch)]
    candidates = [(nest, output) for nest in own for output in nest.outputs if len(output.array.shape) > 1]
    if not candidates:
        return program
    fixed = mentioned_otherwise(program) | {leaf for parameter in program.parameters for leaf in parameter}
    found: dict[Array, Layout] = {}
    for nest, output in candidates:
        array = output.array
        order = None if array in fixed else _order(array, output, nest, own)
        if order is not None:
            found[array] = layout(array, order)
    if not found:
        return program
    steps = tuple(Launch(in_layouts(s.nest, found)) if isinstance(s, Launch) else s for s in program.steps)
    return replace(program, steps=steps)


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
    if not output.is_whole:
        return None
    along = order[-1]
    return order if _folds_along(maker, array, along) or _folds_segments_along(maker, array, along) else None


def _accesses(nest: Nest) -> Iterator[Read | Write]:
    return (s for s in mentions.statements(nest) if isinstance(s, Read | Write))


def _visited(access: Read | Write, nest: Nest) -> tuple[int, ...] | None:
    """The dimensions in the order in which the nest visits them: each is visited by a loop, the last one by the innermost."""
    loops = [level.loop.index for level in mentions.levels(nest) if level.loop is not None]
    if len(set(access.index)) < len(access.index) or not set(access.index) <= set(loops) or not loops:
        return None
    order = sorted(range(len(access.index)), key=lambda dimension: loops.index(access.index[dimension]))  # type: ignore[arg-type]  # all are indices of loops
    return tuple(order) if access.index[order[-1]] == loops[-1] else None


def _folds_along(maker: Nest, array: Array, along: int) -> bool:
    """Whether the nest scans in its innermost loop, or folds by what commutes, and reads and writes all other memory along the
    loop of a dimension."""
    loops = mentions.loops(maker)
    states = loops[-1].states
    if not states or not all(state.running or state.monoid.commutes for state in states):
        return False
    if any(loop.states for loop in loops[:-1]):
        return False
    indices = tuple(loop.index for loop in loops)
    every = [access for access in _accesses(maker) if len(access.index) > 1]
    own = [access for access in every if isinstance(access, Write) and access.array.label == array.label]
    if any(access.index != indices for access in own) or not any(access.array == array for access in own):
        return False
    reads = [access for access in every if access not in own]
    return bool(reads) and all(access.index[-1] == indices[along] for access in reads)


def _folds_segments_along(maker: Nest, array: Array, along: int) -> bool:
    """Whether the nest makes the array of what segments come to, and all of several dimensions that it reads lies along the
    loop of a dimension."""
    *maps, innermost = mentions.loops(maker)
    if not isinstance(innermost.extent, Stream) or any(loop.states for loop in maps):
        return False
    indices = tuple(loop.index for loop in maps)
    own = [access for access in _accesses(maker) if isinstance(access, Write) and access.array.label == array.label]
    if any(access.index != indices for access in own) or not any(access.array == array for access in own):
        return False
    others: list[Operand | None] = [
        access.index[-1] for access in _accesses(maker) if len(access.index) > 1 and access not in own
    ]
    others += [last for statement in mentions.statements(maker) for last in _loaded_at(statement)]
    return bool(others) and all(last == indices[along] for last in others)


def _loaded_at(statement: LoopBody) -> Iterator[Operand | None]:
    """Where the function of a statement loads from arrays of several dimensions: the last index, if the statement gives it."""
    if isinstance(statement, OneToOne | OneToMaybe):
        given = dict(zip(statement.function.parameters, statement.arguments, strict=True))
        for each in mentions.function_statements(statement.function):
            if isinstance(each, Load) and len(each.index) > 1:
                last = each.index[-1]
                yield given.get(last) if isinstance(last, Variable) else last
