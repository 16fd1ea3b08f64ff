"""Rows that begin with what their columns share: lines in the function's own memory, and then the row that reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.loops.lines.views import RowViews
from accel.backends.llvm.loops.vector_loop import VectorLoop
from accel.backends.llvm.states.analysis import VectorPlan, plain_plan
from accel.backends.llvm.text.code import memory_type
from accel.ir.nodes import For, Level, LoopBody, Write
from accel.schedule.nodes import Line, Lines


def write(shared: Lines, loop: For, plan: VectorPlan, memory: Memory, functions: Functions, streams: Streams) -> None:
    """All iterations of a loop. `functions`: in scalar code."""
    count = str(shared.columns)
    views = RowViews(memory, functions, streams, loop.index)
    lines = replace(loop, body=Level(views.seen(_made(shared.lines, loop)), None, ()))
    inside = plan.inside
    if inside is not None:
        plan = replace(plan, inside=replace(inside, statements=views.seen(inside.statements)))
    for array in (line.array for line in shared.lines):
        views.places[array] = memory.routine.slot(f"[{count} x {memory_type(array.element)}]", align=64)
    with memory.view.moved(views.places):
        VectorLoop(lines, plain_plan(shared.nest, lines), memory, streams, {}).write("0", count, count)
        VectorLoop(loop, plan, memory, streams, {}).write("0", count, count)


def _made(some: Sequence[Line], columns: For) -> Sequence[LoopBody]:
    """What makes an element of each line."""
    statements: list[LoopBody] = []
    for line in some:
        (out,) = line.element.outs
        statements += [line.element, Write(line.array, (columns.index,), out)]
    return statements
