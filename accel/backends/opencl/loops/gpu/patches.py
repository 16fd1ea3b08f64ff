"""Maps of several loops by patches: a group has some columns of a few rows, one column for each work-item.

Which patch that is takes divisions, but they are the group's, and serve all its rows: within a row neighbours differ by one,
which compilers for CPUs see, too. Where arrays lie as all loops run there is nothing to divide, and there are no patches.
"""

from __future__ import annotations

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import GROUP_NUMBER, Amount, Choice, Scaffold
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat, divided, flat, merged_where_possible
from accel.ir.nodes import Nest
from accel.schedule.nodes import Schedule
from accel.schedule.templates.gpu.maps import PATCH_COLUMNS, PATCH_ROWS


class Patches:
    """The loops of a nest in patches: `columns`, `rows`, and the `others` around them, if any."""

    def __init__(self, nest: Nest, schedule: Schedule) -> None:
        *others, rows, columns = (flat(nest, axis) for axis in schedule.axes)
        self.rows: Flat = rows
        self.columns: Flat = merged_where_possible(columns, nest)
        self.others: Flat = Flat(
            tuple(loop for each in others for loop in each.loops), tuple(e for each in others for e in each.extents)
        )


def in_patches(scaffold: Scaffold, found: Patches, when: Choice) -> None:
    """Add the kernel. On a GPU a patch of all its rows has a loop that compilers write out, so that all these rows are on their
    way to a work-item at a time, not those of one element."""
    body = Body(Writer(), scaffold.context, dict(scaffold.types), atomic=True)
    writer, rows, columns, others = body.writer, found.rows, found.columns, found.others
    writer.line(f"const position_t patch = {GROUP_NUMBER};")
    body.statements(scaffold.nest.body.before)
    rest, across = divided(body.context, "patch", f"(({columns.total} + {PATCH_COLUMNS - 1}) / {PATCH_COLUMNS})")
    writer.line(f"const position_t above = {rest}, column = {across} * {PATCH_COLUMNS} + get_local_id(0);")
    rest, down = divided(body.context, "above", f"(({rows.total} + {PATCH_ROWS - 1}) / {PATCH_ROWS})")
    writer.line(f"const position_t outside = {rest}, begin = {down} * {PATCH_ROWS};")
    writer.line(f"const position_t end = min(begin + {PATCH_ROWS}, {rows.total});")
    with writer.block(f"if (column < {columns.total})"):
        if scaffold.context.features.gpu:
            counted = f"for (int k = 0; k < {PATCH_ROWS}; ++k)"
            with writer.block(f"if (end - begin == {PATCH_ROWS})"), writer.block(counted, written_out=True):
                writer.line("const position_t row = begin + k;")
                _row(body, found)
            with writer.block("else"):
                _some_rows(body, found)
        else:
            _some_rows(body, found)
    parts = (Amount(rows.extents, PATCH_ROWS), Amount(columns.extents, PATCH_COLUMNS))
    items = Amount(rows=others.extents, factor=PATCH_COLUMNS, times=parts)
    scaffold.kernel("patches", writer.text, items, group=PATCH_COLUMNS, when=when)


def _some_rows(body: Body, found: Patches) -> None:
    with body.writer.block("for (position_t row = begin; row < end; ++row)"):
        _row(body, found)


def _row(body: Body, found: Patches) -> None:
    """The element of this work-item in `row`."""
    rows, columns, others = found.rows, found.columns, found.others
    if others.loops:
        others.bind(body, "outside")
    rows.bind(body, "row")
    columns.bind(body, "column")
    for loop in (*others.loops, *rows.loops, *columns.loops[:-1]):
        body.statements(loop.body.before)
    body.level(columns.body)
