"""Rows in lanes: folds of rows of at most a block, some rows in a group, as many lanes for each as it has elements for.

Neighbours read neighbours in memory. What they have joins in local memory, and one work-item writes what stands after the fold.
Rows are read once, results written once. Which of three kernels runs is found out at each launch, by how long rows are: a
work-item has elements of several rows where these are short (`short_rows.py`), else a lane of one.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Choice, Scaffold, Sharing
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat
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
from accel.backends.opencl.loops.gpu.short_rows import RowSlice, longest, middle_rows, short_rows
from accel.backends.opencl.loops.gpu.walk import lanes, walk
from accel.backends.opencl.loops.rows import Rows
from accel.ir import mentions
from accel.ir.nodes import LoopBody
from accel.ir.slices import needed_for
from accel.labelled.meaning.order import BLOCK
from accel.schedule.nodes import Schedule


def rows_in_lanes(scaffold: Scaffold, rows: Rows, flat: Flat, slices: Sequence[Schedule], ends: Places) -> None:
    """The kernels for rows of at most a block: one, or one for each slice, which leave `ends`, and one that finishes rows."""
    short = Choice(flat.extents, BLOCK + 1, below=True)
    for number, schedule in enumerate(slices):
        kind = lanes(schedule, schedule.pieces[2].axis)
        mine = ends.of(schedule)
        only = (
            None if len(slices) == 1 else needed_for(scaffold.nest, roots(scaffold, rows, schedule, mine, number == 0))
        )
        found = RowSlice(scaffold, number, rows, flat, kind, mine, None if only is None else mine, only)
        short_rows(found)
        middle_rows(found)
        _rows(found, short)
    if len(slices) > 1:
        finish_rows(scaffold, rows, flat, ends, short)


def roots(scaffold: Scaffold, rows: Rows, schedule: Schedule, mine: Places, first: bool) -> list[LoopBody]:
    """What the kernel of a slice is for: steps of its states, and, in that of the first, what the loop writes."""
    outside = {id(statement) for statement in (*rows.once_each, *rows.once)}
    names = {each.state.name for each in mine.every}
    steps: list[LoopBody] = [each.step for each in schedule.carried if each.state.name in names]
    return steps + [s for s in mentions.stores(scaffold.nest) if first and id(s) not in outside]


def _rows(found: RowSlice, short: Choice) -> None:
    """The kernel for rows of which lanes have many elements: each lane is a work-item's."""
    flat, rows, kind, mine = found.flat, found.rows, found.kind, found.mine
    writer = Writer()
    body = found.body(writer)
    group = most(mine, GROUP, kind.width)
    sharing = Sharing(flat.extents, kind.width, kind.each)
    shared = in_local_memory(writer, mine, group)
    sharing.write(writer, flat.total)
    writer.line("const int place = get_local_id(0), lane = place & ((1 << bits) - 1), first = place - lane;")
    writer.line("const position_t number = get_global_id(0) >> bits;")
    writer.line(f"const position_t row = min(number, {rows.count} - 1);")
    rows.enter(body)
    writer.line(f"const position_t end = number < {rows.count} ? {flat.total} : 0;")
    walk(body, flat, kind, shared, "lane", "0", "end")
    shared.put(body, "place")
    writer.line(WAIT)
    workers = Workers("lane", "(1 << bits)", lambda text: f"first + {text}")
    if kind.commutes:
        join_halves(writer, shared, workers, "(1 << bits)")
    else:
        join_pairs(writer, shared, workers, "(1 << bits)", "(1 << bits)")
    with writer.block(f"if (lane == 0 && number < {rows.count})"):
        if found.ends is None:
            finish(body, rows, shared, "place", f"{flat.total} > 0")
        else:
            found.ends.copy(writer, "row", shared, "place")
    items = Amount(rows=rows.extents, times=(sharing,))
    long = Choice(flat.extents, longest(found), below=False)
    found.scaffold.kernel(f"rows{found.number}", writer.text, items, group=group, when=(long, short))


def finish_rows(scaffold: Scaffold, rows: Rows, flat: Flat, ends: Places, when: Choice | None) -> None:
    """The kernel that runs what stands around the loop of each row, of which one value is left in `ends`."""
    body = Body(Writer(), scaffold.context, dict(scaffold.types), only=needed_for(scaffold.nest, rows.once_each))
    body.writer.line("const position_t row = get_global_id(0);")
    with body.writer.block(f"if (row < {rows.count})"):
        rows.enter(body)
        finish(body, rows, ends, "row", f"{flat.total} > 0")
    scaffold.kernel("finish", body.writer.text, Amount(rows=rows.extents), when=when)
