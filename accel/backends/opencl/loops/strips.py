"""Maps on CPU devices by strips: a group has neighbouring columns of one row, or of some short ones, a work-item for each.

No work-item of a group is idle: where a group would reach beyond the columns it begins earlier, and some elements are made
twice. So compilers that make vectors of neighbouring work-items need no masks, which double the time of loads, and take ten
times that of a store on processors without AVX-512. Within the margins of its nest's inside a strip has no boundary conditions,
so its loads lie side by side; the columns in the margins have a kernel of their own, a work-item for those of each row.
"""

from __future__ import annotations

from collections.abc import Iterable

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Choice, NestKernels, Scaffold, Strips
from accel.backends.opencl.code.naming import extent_text, stream_name
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat, flat, known, merged_where_possible
from accel.backends.opencl.loops.maps import one_item_per_index
from accel.ir import mentions
from accel.ir.layouts import with_parts
from accel.ir.mentions import loops
from accel.ir.nodes import Nest
from accel.labelled.array import Extent
from accel.schedule.gathers import gathers
from accel.schedule.nodes import Margin, Schedule
from accel.schedule.splitting.inside import statements

FEWEST = 8
"""Columns of a strip: where there are fewer, a work-item for each index of all loops is better."""

FEWEST_WITH_EDGES = 4096
"""Elements of a nest for which a second launch is worth its time."""


class ByStrips:
    """The loops of a nest in strips: `columns`, `rows` directly around them, if any, and the `others` around these.

    `margin`: that of the columns. `outer`: those of the loops around.
    """

    def __init__(self, nest: Nest, schedule: Schedule) -> None:
        axes = [flat(nest, axis) for axis in schedule.axes]
        last = len(loops(nest)) - 1
        self.nest = nest
        self.columns: Flat = merged_where_possible(axes[-1], nest)
        self.around: tuple[Flat, ...] = tuple(axes[:-1])
        self.margins: tuple[Margin, ...] = schedule.inside
        self.margin: Margin = next((each for each in schedule.inside if each.depth == last), Margin(last, 0, 0))

    @property
    def inside(self) -> Nest:
        """The nest as it is within the margins."""
        if not self.margins:
            return self.nest
        parts = [(level.before, level.after) for level in mentions.levels(self.nest)]
        return with_parts(self.nest, [*parts[:-1], (statements(self.nest, self.margins), ())])

    @property
    def edges(self) -> int:
        """How many columns are in the margins."""
        return self.margin.low + self.margin.high

    @property
    def within(self) -> tuple[Extent, ...]:
        """Whose product is the number of columns within the margins."""
        if not self.edges:
            return self.columns.extents
        (extent,) = self.columns.extents
        return (Extent(extent.variable, extent.offset - self.edges),)

    @property
    def shape(self) -> tuple[tuple[Extent, ...], tuple[Extent, ...]]:
        """The extents of rows, and those of the loops around them."""
        every = [each.extents for each in self.around]
        return every[-1] if every else (), tuple(extent for each in every[:-1] for extent in each)

    def suits(self) -> tuple[Choice, ...]:
        """What must hold of extents."""
        if not self.edges:
            return (Choice(self.within, FEWEST, below=False),)
        rows, others = self.shape
        all_of_them = Choice((*others, *rows, *self.columns.extents), FEWEST_WITH_EDGES, below=False)
        return Choice(self.within, FEWEST, below=False), all_of_them

    def enter(self, body: Body, rows: str, others: str) -> None:
        """Bind the indices around the columns, and write what stands between them."""
        body.statements(self.nest.body.before)
        if self.around:
            self.around[-1].bind(body, rows)
        if self.around[:-1]:
            outside = self.around[:-1]
            every = tuple(loop for each in outside for loop in each.loops)
            Flat(every, tuple(extent for each in outside for extent in each.extents)).bind(body, others)
        for each in self.around:
            for loop in each.loops:
                body.statements(loop.body.before)

    def enter_rows(self, body: Body, most: int = 256) -> Strips:
        """Begin a kernel whose work-items have a row each, `most` of them in a group, which need not be whole vectors."""
        rows, others = self.shape
        strips = Strips(rows, others, most=most, vector=1)
        body.writer.line(f"const long row = {strips.column(_count(rows))};")
        if others:
            body.writer.line(f"const long other = {strips.row(_count(others))};")
        self.enter(body, "row", "other")
        return strips

    def write_edges(self, body: Body) -> None:
        """Write the columns in the margins, one after the other."""
        low, beyond = self.margin.low, f"({self.columns.total} - {self.edges})"
        with body.writer.block(f"for (long edge = 0; edge < {self.edges}; ++edge)"):
            self.column(body, f"(edge < {low} ? edge : {beyond} + edge)")
            body.level(self.columns.body)

    def column(self, body: Body, number: str) -> None:
        """Bind the indices of a column, and write what stands between them."""
        self.columns.bind(body, number)
        for loop in self.columns.loops[:-1]:
            body.statements(loop.body.before)


def in_strips(scaffold: Scaffold, schedule: Schedule, items: Flat | None = None) -> NestKernels:
    """Strips where these serve; else a work-item for each iteration of `items`, which are None where strips always do."""
    found = ByStrips(scaffold.nest, schedule)
    where = () if items is None else found.suits()
    _strips(scaffold, found, where)
    if found.edges:
        _edges(scaffold, found, where)
    if items is None:
        return scaffold.done("a work-group for a strip of a row")
    scaffold.unless = where
    one_item_per_index(scaffold, items)
    return scaffold.done("a work-group for a strip of a row if there are enough elements, else one work-item per index")


def _strips(scaffold: Scaffold, found: ByStrips, where: tuple[Choice, ...]) -> None:
    """The columns within the margins."""
    body = Body(Writer(), scaffold.context, dict(scaffold.types))
    rows, others = found.shape
    strips = Strips(found.within, rows, others)
    first = f"{found.margin.low} + " if found.margin.low else ""
    body.writer.line(f"const position_t column = {first}{strips.column(_count(found.within))};")
    if rows:
        body.writer.line(f"const position_t row = {strips.row(_count(rows))};")
    found.enter(body, "row", "(long)get_global_id(2)")
    found.column(body, "column")
    inside = found.inside
    outer = [_within(found.nest, margin) for margin in found.margins if margin != found.margin]
    if outer:
        with body.writer.block(f"if ({' && '.join(outer)})"):
            _plainly(body, inside)
        with body.writer.block("else"):
            body.level(found.columns.body)
    else:
        _plainly(body, inside)
    loads = gathers(inside)
    scaffold.kernel("strips", body.writer.text, strips, serial=2 * loads.apart > loads.operations, when=where)


def _count(extents: Iterable[Extent]) -> str:
    return f"({' * '.join(map(extent_text, extents)) or '(position_t)1'})"


def _plainly(body: Body, nest: Nest) -> None:
    """Write the statements of a nest's innermost loop, which checks as little as they need."""
    inner = Body(body.writer, body.context.of(nest), body.types)
    *_, level = mentions.levels(nest)
    inner.level(level)


def _within(nest: Nest, margin: Margin) -> str:
    """Whether the index of a loop is within its margin."""
    loop = loops(nest)[margin.depth]
    index, extent = stream_name(loop.index), known(loop.extent)
    end = extent_text(Extent(extent.variable, extent.offset - margin.high))
    return f"{index} >= {margin.low} && {index} < {end}"


def _edges(scaffold: Scaffold, found: ByStrips, where: tuple[Choice, ...]) -> None:
    """The columns in the margins, a work-item for those of a row."""
    body = Body(Writer(), scaffold.context, dict(scaffold.types))
    strips = found.enter_rows(body)
    found.write_edges(body)
    scaffold.kernel("edges", body.writer.text, strips, serial=True, when=where)
