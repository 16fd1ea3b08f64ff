"""Folds in groups of columns: neighbouring columns side by side, some lanes of each at a time, blocks in groups of their own.

Neighbouring work-items have neighbouring columns, up to 32, so that what they read lies side by side in memory. A column of
more than a block leaves a value for each, and these join in the same shape. Elements are read once; of columns of more than a
block one value for each 4096 is written and read again.
"""

from __future__ import annotations

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.kernel import Amount, Choice, Scaffold, Sharing
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat, divided
from accel.backends.opencl.loops.gpu.places import (
    GROUP,
    WAIT,
    Places,
    Workers,
    finish,
    in_local_memory,
    join_halves,
    join_pairs,
    most,
)
from accel.backends.opencl.loops.gpu.walk import lanes, walk
from accel.backends.opencl.loops.rows import Rows
from accel.ir.slices import needed_for
from accel.labelled.meaning.order import BLOCK
from accel.schedule.nodes import Schedule

STRIP = 32
"""Columns of a group at most: so many floats are the 128 bytes that GPUs fetch at once."""


def groups_of_columns(scaffold: Scaffold, rows: Rows, flat: Flat, schedule: Schedule, ends: Places) -> None:
    """The kernels: one for blocks of columns, which finishes those of one block, and one that joins blocks of taller ones."""
    kind = lanes(schedule, schedule.pieces[1].axis)
    strip = most(ends, STRIP * kind.width, kind.width) // kind.width
    sharing = Sharing(rows.extents, strip, least=min(strip, GROUP // kind.width))
    # So lanes of one column do not stand in the same bank of local memory.
    apart = strip + 1
    body = Body(Writer(), scaffold.context, dict(scaffold.types), atomic=True)
    writer = body.writer
    shared = in_local_memory(writer, ends, kind.width * apart)
    _place(writer, rows, sharing, scaffold.context)
    rows.enter(body)
    writer.line(f"const position_t end = number < {rows.count} ? {flat.total} : 0, base = block * {BLOCK};")
    with writer.block(f"for (int lane = high; lane < {kind.width}; lane += stack)"):
        walk(body, flat, kind, shared, "lane", "base", "end")
        shared.put(body, f"lane * {apart} + column")
    writer.line(WAIT)
    workers = Workers("high", "stack", lambda text: f"({text}) * {apart} + column")
    if kind.commutes:
        join_halves(writer, shared, workers, f"{kind.width}")
    else:
        join_pairs(writer, shared, workers, f"{kind.width}", f"{kind.width}")
    alone = not flat.needed
    with writer.block(f"if (high == 0 && number < {rows.count})"):
        if alone:
            with writer.block(f"if ({flat.total} <= {BLOCK})"):
                finish(body, rows, shared, "column", f"{flat.total} > 0")
            with writer.block("else"):
                ends.copy(writer, f"block * {rows.count} + row", shared, "column")
        else:
            ends.copy(writer, f"block * {rows.count} + row", shared, "column")
    blocks = Amount(flat.extents, BLOCK, least=1)
    scaffold.kernel("columns", writer.text, Amount(rows.extents, strip, factor=GROUP, times=(blocks,)), group=GROUP)
    _join(
        scaffold,
        rows,
        flat,
        ends,
        (strip, sharing, kind.width),
        Choice(flat.extents, BLOCK + 1, below=False) if alone else None,
    )


def _join(
    scaffold: Scaffold, rows: Rows, flat: Flat, ends: Places, size: tuple[int, Sharing, int], when: Choice | None
) -> None:
    """Blocks of each column join, so many at a time, and what they come to is left in the first; then columns are finished."""
    strip, sharing, chunk = size
    apart = strip + 1
    body = Body(Writer(), scaffold.context, dict(scaffold.types), only=needed_for(scaffold.nest, rows.once_each))
    writer = body.writer
    shared = in_local_memory(writer, ends, chunk * apart)
    _place(writer, rows, sharing, scaffold.context)
    writer.line(f"const position_t parts = ({flat.total} + {BLOCK - 1}) / {BLOCK};")
    workers = Workers("high", "stack", lambda text: f"({text}) * {apart} + column")
    with writer.block(f"for (position_t stride = 1;; stride *= {chunk})"):
        with writer.block(f"for (position_t from = 0; from < parts; from += {chunk} * stride)"):
            writer.line(f"const int here = min((position_t){chunk}, (parts - from + stride - 1) / stride);")
            with writer.block("for (int l = high; l < here; l += stack)"):
                shared.copy(writer, workers.place("l"), ends, f"(from + l * stride) * {rows.count} + row")
            writer.line(WAIT)
            join_pairs(writer, shared, workers, f"{chunk}", "here")
            with writer.block(f"if (high == 0 && number < {rows.count})"):
                ends.copy(writer, f"from * {rows.count} + row", shared, "column")
            writer.line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);")
        writer.line(f"if (stride * {chunk} >= parts) break;")
    with writer.block(f"if (high == 0 && number < {rows.count})"):
        rows.enter(body)
        finish(body, rows, shared, "column", "parts > 0")
    scaffold.kernel("join", writer.text, Amount(rows.extents, strip, factor=GROUP), group=GROUP, when=when)


def _place(writer: Writer, rows: Rows, sharing: Sharing, context: Context) -> None:
    """Which column of which block and strip this work-item has, and how high it stands among those of the same column."""
    sharing.write(writer, rows.count)
    writer.line("const int place = get_local_id(0), column = place & ((1 << bits) - 1), high = place >> bits;")
    writer.line(f"const int stack = {GROUP} >> bits;")
    writer.line(
        f"const position_t strips = ({rows.count} + (1 << bits) - 1) >> bits, group = get_global_id(0) / {GROUP};"
    )
    block, strip = divided(context, "group", "strips")
    writer.line(f"const position_t block = {block}, number = ({strip} << bits) + column;")
    writer.line(f"const position_t row = min(number, {rows.count} - 1);")
