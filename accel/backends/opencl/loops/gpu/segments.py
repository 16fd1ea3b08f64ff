"""Segments in lanes: folds of loops whose length is found out around them, some neighbouring segments in a group.

Segments that lanes have no more than an element of are *short*: their elements are numbered one after the other, whatever
segment they are of, so that neighbours read neighbours. Each is left in local memory, and a work-item for each segment joins
its own. Others are *long*: some of their blocks at a time run in lanes, and one work-item joins what blocks come to. Merging
products of sparse matrices (Merrill and Garland, 2016) share out elements likewise, but cut sums anywhere; here the order of
docs/order.md says which elements join.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import GROUP_NUMBER, Amount, NestKernels, Scaffold, Sharing
from accel.backends.opencl.code.naming import index_text
from accel.backends.opencl.code.states import block_tree
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat, flat
from accel.backends.opencl.loops.gpu.places import (
    GROUP,
    WAIT,
    Places,
    Workers,
    begins_neutral,
    finish,
    in_local_memory,
    join_halves,
    most,
)
from accel.backends.opencl.loops.gpu.walk import Lanes, begin, lanes, walk
from accel.backends.opencl.loops.join import Held
from accel.backends.opencl.loops.rows import Rows, inside
from accel.labelled.meaning.order import BLOCK
from accel.schedule.axes import loops
from accel.schedule.nodes import Schedule

GROUPS = 2048
"""Groups from which on each has several segments."""

PLACES = 2048
"""Elements of short segments that a group has in local memory at once."""


@dataclass(frozen=True, slots=True)
class _Segments:
    """`flat`: the loop over a segment, of which each of the `rows` has one. `shared`: so many `places` for elements."""

    scaffold: Scaffold
    writer: Writer
    rows: Rows
    flat: Flat
    kind: Lanes
    shared: Places
    places: int

    @property
    def length(self) -> str:
        """How many elements the segment has whose row was entered."""
        return f"(position_t){index_text(self.flat.loops[0].extent)}"

    @contextmanager
    def segment(self, number: str, when: str = "") -> Iterator[Body]:
        """A block in which segment `number` of the group is entered."""
        body = Body(self.writer, self.scaffold.context, dict(self.scaffold.types), atomic=True)
        with self.writer.block(when):
            self.writer.line(f"const position_t row = from + {number};")
            self.rows.enter(body)
            yield body


def segments(scaffold: Scaffold, schedule: Schedule) -> NestKernels:
    """The kernel of a nest that folds segments."""
    outer, axis = (schedule.pieces[at].axis for at in (0, 2))
    rows = inside(scaffold.nest, flat(scaffold.nest, outer))
    found = tuple(
        Held(each.state, kind, "", None if begins_neutral(each, axis) else "flags")
        for each in schedule.carried
        for kind in (scaffold.types[each.state.name],)
    )
    kind, writer = lanes(schedule, axis), Writer()
    places = most(Places(found), PLACES, GROUP)
    shared = in_local_memory(writer, Places(found), places + 1)
    segment = Flat((loops(scaffold.nest)[-1],), (), merged=True)
    made = _Segments(scaffold, writer, rows, segment, kind, shared, places)
    sharing = Sharing(rows.extents, GROUP, GROUPS)
    _lengths(made, sharing)
    _short(made)
    _long(made)
    scaffold.kernel("segments", writer.text, Amount(rows.extents, sharing, factor=GROUP), group=GROUP)
    return scaffold.done("some segments in a work-group")


def _lengths(found: _Segments, sharing: Sharing) -> None:
    """Where the elements of each short segment of the group begin among all of them, and the blocks of each long one."""
    writer, rows = found.writer, found.rows
    for kind, name in (("int", "begins"), ("position_t", "blocks")):
        writer.line(f"__local {kind} {name}[{GROUP + 1}];")
    writer.line("const int place = get_local_id(0);")
    sharing.write(writer, rows.count)
    writer.line(f"const position_t from = (position_t)({GROUP_NUMBER}) << bits;")
    writer.line(f"const int count = (int)min((position_t)1 << bits, {rows.count} - from);")
    writer.line("position_t length = 0;")
    with found.segment("place", "if (place < count)"):
        writer.line(f"length = {found.length};")
    writer.line(f"const int is_short = length <= {found.kind.width};")
    writer.line("if (place == 0) begins[0] = blocks[0] = 0;")
    writer.line("begins[place + 1] = is_short ? (int)length : 0;")
    writer.line(f"blocks[place + 1] = is_short ? 0 : (length + {BLOCK - 1}) / {BLOCK};")
    writer.line(WAIT)
    with writer.block("for (int reach = 1; reach < count; reach *= 2)"):
        writer.line("const int begun = place >= reach ? begins[place + 1 - reach] : 0;")
        writer.line("const position_t others = place >= reach ? blocks[place + 1 - reach] : 0;")
        writer.line(WAIT)
        writer.line("begins[place + 1] += begun;")
        writer.line("blocks[place + 1] += others;")
        writer.line(WAIT)


def _search(writer: Writer, name: str, among: str, number: str, first: str = "0", last: str = "count - 1") -> None:
    """Bind `name`, the last of some segments that begins with `number` or before it: so it is the one that has it."""
    writer.line(f"int {name} = {first};")
    with writer.block(f"for (int end = {last}; {name} < end;)"):
        writer.line(f"const int middle = ({name} + end + 1) / 2;")
        writer.line(f"if ({among}[middle] <= {number}) {name} = middle;")
        writer.line("else end = middle - 1;")


def _short(found: _Segments) -> None:
    """As many short segments at a time as there are places for their elements."""
    writer, shared = found.writer, found.shared
    with writer.block("for (int first = 0; first < count;)"):
        _search(writer, "end_of", "begins", f"begins[first] + {found.places}", "first + 1", "count")
        writer.line("const int base = begins[first], here = begins[end_of] - base;")
        with writer.block(f"for (int at = place; at < here; at += {GROUP})"):
            _search(writer, "segment", "begins", "base + at", "first", "end_of - 1")
            with found.segment("segment") as body:
                begin(body, shared)
                writer.line("const position_t item = base + at - begins[segment];")
                found.flat.enter(body, "item")
                body.level(found.flat.body)
                shared.put(body, "at")
        writer.line(WAIT)
        with (
            writer.block(f"for (int segment = first + place; segment < end_of; segment += {GROUP})"),
            writer.block("if (blocks[segment + 1] == blocks[segment])"),
        ):
            writer.line("const int at = begins[segment] - base, there = begins[segment + 1] - begins[segment];")
            with (
                writer.block(f"for (int reach = {found.kind.width // 2}; reach > 0; reach /= 2)"),
                writer.block("for (int l = 0; l < reach && l + reach < there; ++l)"),
            ):
                shared.merge(writer, "at + l", "at + l + reach")
            with found.segment("segment") as body:
                finish(body, found.rows, shared, "at", "there > 0")
        writer.line(WAIT)
        writer.line("first = end_of;")


def _long(found: _Segments) -> None:
    """As many blocks of long segments at a time as a group has work-items for their lanes."""
    writer, shared, kind, width = found.writer, found.shared, found.kind, found.kind.width
    parts = GROUP // width
    trees = [block_tree(writer, held.type, found.scaffold.context) for held in shared.every]
    with writer.block(f"for (position_t task = 0; task < blocks[count]; task += {parts})"):
        writer.line(f"const int lane = place % {width};")
        writer.line(f"const position_t mine = task + place / {width};")
        with writer.block("if (mine < blocks[count])"):
            _search(writer, "segment", "blocks", "mine")
            with found.segment("segment") as body:
                writer.line(f"const position_t base = (mine - blocks[segment]) * {BLOCK};")
                walk(body, found.flat, kind, shared, "lane", "base", found.length)
                shared.put(body, "place")
        writer.line(WAIT)
        join_halves(writer, shared, Workers("lane", str(width), lambda text: f"place - lane + {text}"), str(width))
        with writer.block(f"for (int part = 0; place == 0 && part < {parts} && task + part < blocks[count]; ++part)"):
            _search(writer, "segment", "blocks", "task + part")
            with found.segment("segment") as body:
                writer.line(f"const int at = part * {width};")
                writer.line("const position_t number = task + part - blocks[segment];")
                writer.line(f"const int full = number < {found.length} / {BLOCK};")
                writer.line("const int is_last = number + 1 == blocks[segment + 1] - blocks[segment];")
                for held, tree in zip(shared.every, trees, strict=True):
                    tree.add(writer, f"{held.values}[at]", "number", "full", "is_last")
                with writer.block("if (is_last)"):
                    finish(body, found.rows, shared, "at", "1")
        writer.line(WAIT)
