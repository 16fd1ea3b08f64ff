"""Rows that begin with what their columns share: lines in the function's own memory, and then the row that reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Fixed, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.lines.views import RowViews
from accel.backends.llvm.loops.vectors.loop import VectorLoop
from accel.backends.llvm.states.analysis import VectorPlan, plain_plan
from accel.backends.llvm.text.code import memory_type
from accel.errors import AccelInternalError
from accel.ir.nodes import For, Level, LoopBody, ManyToOne, Stream, Write
from accel.labelled.scalar import constant
from accel.schedule.nodes import Line, Lines

SHORT = 64
"""Columns of a row up to which its edges are written one by one; longer rows have code for stores past the caches, too."""


def write(shared: Lines, loop: For, plan: VectorPlan, memory: Memory, functions: Functions, streams: Streams) -> None:
    """All iterations of a loop. `functions`: in scalar code."""
    count = str(shared.columns)
    views = RowViews(memory, functions, streams, loop.index)
    lines = replace(loop, body=Level(views.seen(_made(shared.lines, loop)), None, ()))
    low, end, edges = 0, shared.columns, tuple[LoopBody, ...]()
    if (inside := plan.inside) is not None:
        within = views.seen(inside.statements)
        plan = replace(plan, inside=replace(inside, statements=within))
        if shared.columns <= SHORT:
            low, end = inside.within(loop, shared.columns)
            edges = views.seen([*loop.body.before, *loop.body.after])
            loop = replace(loop, body=Level(within, None, ()))
            plan = plain_plan(shared.nest, loop)
    for array in (line.array for line in shared.lines):
        views.places[array] = memory.routine.slot(f"[{count} x {memory_type(array.element)}]", align=64)
    with memory.view.moved(views.places):
        VectorLoop(lines, plain_plan(shared.nest, lines), memory, streams, {}).write("0", count, count)
        VectorLoop(loop, plan, memory, streams, {}).write(str(low), str(end), count)
        for column in (*range(low), *range(end, shared.columns)):
            _one(edges, loop.index, column, memory, streams)


def _one(statements: Sequence[LoopBody], index: Stream, column: int, memory: Memory, streams: Streams) -> None:
    """One column, in scalar code that knows which."""

    def step(statement: ManyToOne, values: Sequence[Value], active: str | None) -> NoReturn:
        raise AccelInternalError("the loop has no states")

    here = Streams(memory, dict(streams.made) | {index.name: Fixed(constant(I64, column))})
    written = Statements(Writer(memory.routine.code, 1), memory, here, step)
    for statement in statements:
        written.branching(statement)


def _made(some: Sequence[Line], columns: For) -> Sequence[LoopBody]:
    """What makes an element of each line."""
    statements: list[LoopBody] = []
    for line in some:
        (out,) = line.element.outs
        statements += [line.element, Write(line.array, (columns.index,), out)]
    return statements
