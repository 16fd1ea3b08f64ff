"""Short rows: so many in a group that each of its work-items has loads of several of them under way before any of them waits.

In: a slice of a nest that folds rows in lanes. Out: a kernel for rows of no more elements than there are lanes, or than a lane
has, and one for rows of few elements for each lane. Work-items leave lanes in local memory, a row a place further on than its
width, so that lanes of different rows lie in different banks. Then the group waits, and lanes join eight at a time, in
registers: what a work-item joins in a round is a part of the tree, and rounds wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Choice, Scaffold, Sharing
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat
from accel.backends.opencl.loops.gpu.eights import EIGHT, eight
from accel.backends.opencl.loops.gpu.places import GROUP, WAIT, Places, finish, in_local_memory, most, place_bytes
from accel.backends.opencl.loops.gpu.walk import Lanes, begin
from accel.backends.opencl.loops.rows import Rows
from accel.ir import mentions
from accel.labelled.meaning.order import BLOCK
from accel.support.dataclass import dataclass

SHORT_PLACES = 4096
"""Lanes of all rows of a group at most, of rows that have an element for a lane: 16 loads for each work-item."""

MIDDLE_PLACES = 1024
"""The same of rows that have several."""

LONG = 128
"""Elements of a row, for each byte of a lane's value, from which on lanes have enough loads under way without those of other
rows, and joining them takes little of the time."""

LEAST = 4
"""Places that a row has at least."""


@dataclass(frozen=True, slots=True)
class RowSlice:
    """What the kernels of a slice of a nest fold: `flat` within each of the `rows`, into `mine`. `ends`: where a row's values
    are left, if another kernel finishes rows."""

    scaffold: Scaffold
    number: int
    rows: Rows
    flat: Flat
    kind: Lanes
    mine: Places
    ends: Places | None
    only: frozenset[int] | None

    def body(self, writer: Writer, suffix: str = "") -> Body:
        """For a kernel's statements; what it folds is told from what others fold by the suffix."""
        scaffold = self.scaffold
        return Body(writer, scaffold.context, dict(scaffold.types), only=self.only, atomic=True, suffix=suffix)

    @property
    def is_repeatable(self) -> bool:
        """Whether iterations change nothing but states."""
        around = {id(statement) for statement in (*self.rows.once_each, *self.rows.once)}
        wanted = (s for s in mentions.stores(self.scaffold.nest) if self.only is None or id(s) in self.only)
        return all(id(statement) in around for statement in wanted)


def short_rows(found: RowSlice) -> None:
    """The kernel for rows of which no lane, or only the first one, has more than one element: a place for each element."""
    flat, kind, rows, writer = found.flat, found.kind, found.rows, Writer()
    limit = kind.width if kind.commutes else kind.run
    places = most(found.mine, SHORT_PLACES, limit)
    group, pad = min(GROUP, places), int(places > limit)
    shared = in_local_memory(writer, found.mine, places + pad * places // LEAST)
    sharing = Sharing(flat.extents, limit, least=LEAST)
    sharing.write(writer, flat.total)
    writer.line("const int place = get_local_id(0), width = 1 << bits, lane = place & (width - 1);")
    _lines(writer, flat, group, f"{places} >> bits")
    repeats = found.is_repeatable
    # Lanes without an element, and rows that are not there, take the nearest: all loads are made, and none waits for another.
    with (
        writer.block(f"if ({flat.total} > 0)"),
        writer.block(f"for (int turn = 0; turn < {places // group}; ++turn)"),
    ):
        writer.line(f"const int line = (turn * {group} + place) >> bits;")
        body = found.body(writer)
        writer.line(f"const position_t row = min(from + line, {rows.count} - 1);")
        rows.enter(body)
        begin(body, found.mine)
        if repeats:
            writer.line(f"const position_t item = min((position_t)lane, {flat.total} - 1);")
        with writer.block("" if repeats else f"if (lane < {flat.total} && from + line < {rows.count})"):
            if not repeats:
                writer.line("const position_t item = lane;")
            flat.enter(body, "item")
            body.level(flat.body)
        shared.put(body, f"line * (width + {pad}) + lane")
    writer.line(WAIT)
    if kind.commutes:
        _join(found, writer, shared, group, pad)
    else:
        with _each_line(found, writer, shared, group, pad), writer.block("for (int l = 1; l < there; ++l)"):
            shared.merge(writer, "at", "at + l")
    items = Amount(rows.extents, places, factor=group, shared=sharing)
    when = Choice(flat.extents, limit + 1, below=True)
    found.scaffold.kernel(f"short{found.number}", writer.text, items, group=group, when=when)


def longest(found: RowSlice) -> int:
    """How many elements rows have for which kernels of this module do not serve."""
    kind = found.kind
    return min(LONG * place_bytes(found.mine), BLOCK + 1) if kind.commutes else kind.run + 1


def middle_rows(found: RowSlice) -> None:
    """The kernel for rows of which lanes have a few elements each: work-items take those of some rows at the same time."""
    flat, kind, rows, writer = found.flat, found.kind, found.rows, Writer()
    if not kind.commutes:
        return
    places = most(found.mine, MIDDLE_PLACES, kind.width)
    group, lines, pad = min(GROUP, places), places // kind.width, int(places > kind.width)
    shared = in_local_memory(writer, found.mine, places + pad * lines)
    writer.line(f"const int place = get_local_id(0), width = {kind.width}, bits = {kind.width.bit_length() - 1};")
    writer.line("const int lane = place & (width - 1);")
    _lines(writer, flat, group, str(lines))
    repeats = found.is_repeatable
    bodies = [found.body(writer, f"_{turn}") for turn in range(places // group)]
    for body in bodies:
        begin(body, found.mine)
    # All lanes take equally many turns, so that compilers may write some of them out.
    with writer.block(f"for (position_t base = 0; base < {flat.total}; base += width)"):
        writer.line("const position_t item = base + lane;")
        with writer.block(f"if (item < {flat.total})"):
            for turn, body in enumerate(bodies):
                number = f"from + {turn * group // kind.width} + (place >> bits)"
                with writer.block("" if repeats else f"if ({number} < {rows.count})"):
                    writer.line(f"const position_t row = min({number}, {rows.count} - 1);")
                    rows.enter(body)
                    flat.enter(body, "item")
                    body.level(flat.body)
    for turn, body in enumerate(bodies):
        shared.put(body, f"({turn * group // kind.width} + (place >> bits)) * (width + {pad}) + lane")
    writer.line(WAIT)
    _join(found, writer, shared, group, pad)
    when = (Choice(flat.extents, kind.width + 1, below=False), Choice(flat.extents, longest(found), below=True))
    items = Amount(rows.extents, lines, factor=group)
    found.scaffold.kernel(f"middle{found.number}", writer.text, items, group=group, when=when)


def _lines(writer: Writer, flat: Flat, group: int, lines: str) -> None:
    """Which rows are the group's, and how many places of a row hold something."""
    writer.line(f"const int lines = {lines}, there = min({flat.total}, (position_t)width);")
    writer.line(f"const position_t from = get_global_id(0) / {group} * lines;")


def _join(found: RowSlice, writer: Writer, shared: Places, group: int, pad: int) -> None:
    """Lanes join as those of folds that commute do, and rows are finished."""
    if any(held.some is not None for held in shared.every):
        with _each_line(found, writer, shared, group, pad):
            halves, pairs = (
                "int reach = width / 2; reach > 0; reach /= 2",
                "int l = 0; l < reach && l + reach < there; ++l",
            )
            with writer.block(f"for ({halves})"), writer.block(f"for ({pairs})"):
                shared.merge(writer, "at + l", "at + l + reach")
        return
    # What is left are 1 << few places, of which `some` hold something; a round leaves an eighth of them.
    with writer.block(f"for (int some = there, few = max(bits - {EIGHT}, 0);; few = max(few - {EIGHT}, 0))"):
        with writer.block(f"for (int task = place; task < lines << few; task += {group})"):
            writer.line("const int line = task >> few, l = task & ((1 << few) - 1);")
            writer.line(f"const int at = line * (width + {pad}) + l;")
            for held in shared.every:
                eight(writer, held)
            with writer.block(f"if (few == 0 && from + line < {found.rows.count})"):
                _finish(found, writer, shared)
        writer.line("if (few == 0) break;")
        writer.line("some = min(some, 1 << few);")
        writer.line(WAIT)


@contextmanager
def _each_line(found: RowSlice, writer: Writer, shared: Places, group: int, pad: int) -> Iterator[None]:
    """A work-item for each row, whose places begin at `at`: what is written meanwhile joins them in the first one."""
    with writer.block(f"for (int line = place; line < lines && from + line < {found.rows.count}; line += {group})"):
        writer.line(f"const int at = line * (width + {pad});")
        yield
        _finish(found, writer, shared)


def _finish(found: RowSlice, writer: Writer, shared: Places) -> None:
    """All elements of a row have come to what stands at `at`: finish it, or leave that to the kernel that does."""
    writer.line("const position_t row = from + line;")
    if found.ends is None:
        body = found.body(writer)
        found.rows.enter(body)
        finish(body, found.rows, shared, "at", f"{found.flat.total} > 0")
    else:
        found.ends.copy(writer, "row", shared, "at")
