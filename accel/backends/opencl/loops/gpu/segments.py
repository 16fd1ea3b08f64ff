"""Segments in lanes: folds of loops whose length is found out around them, some neighbouring segments in a group.

Each segment of a group has a work-item, which finds out how long it is and, in the end, writes what it comes to. Segments that
lanes have no more than an element of are *short*: their elements are numbered one after the other, whatever segment they are
of, so that neighbours read neighbours, and are left in local memory, where those of a segment join. Others are *long*: some of
their blocks at a time run in lanes, and one work-item joins what blocks come to. Merging products of sparse matrices (Merrill
and Garland, 2016) share out elements likewise, but cut sums anywhere; here docs/order.md says which elements join.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import GROUP_NUMBER, Amount, NestKernels, Scaffold, Sharing
from accel.backends.opencl.code.naming import index_text, stream_name
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.states import block_tree
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat, flat
from accel.backends.opencl.loops.gpu.eights import EIGHT, eight
from accel.backends.opencl.loops.gpu.places import (
    GROUP,
    WAIT,
    Places,
    Workers,
    begins_neutral,
    finish,
    fitting,
    in_local_memory,
    join_halves,
    place_bytes,
)
from accel.backends.opencl.loops.gpu.walk import Lanes, begin, lanes, walk
from accel.backends.opencl.loops.join import Held
from accel.backends.opencl.loops.rows import Rows, inside
from accel.ir.flow import made, needed
from accel.ir.mentions import loops
from accel.ir.nodes import Level, Stream
from accel.labelled.meaning.order import BLOCK
from accel.schedule.nodes import Schedule
from accel.support.dataclass import dataclass

GROUPS = 2048
"""Groups from which on each has several segments."""

PLACES = 2048
"""Elements of short segments that a group has in local memory at once, at most."""

PLACE_BYTES = 12 * 1024
"""Of local memory for these."""

STREAM_BYTES = 6 * 1024
"""Of local memory for what loops over segments read of the loops around them. Of more, each element finds its own."""


@dataclass(frozen=True, slots=True)
class _Segments:
    """`flat`: the loop over a segment, of which each of the `rows` has one. `elements`: so many `places` for elements of short
    ones, or for lanes; `totals`: for what each segment of the group comes to. near: what segments leave for their elements;
    None if these find it themselves."""

    scaffold: Scaffold
    writer: Writer
    rows: Rows
    flat: Flat
    kind: Lanes
    elements: Places
    places: int
    totals: Places
    near: Sequence[Stream] | None

    @property
    def length(self) -> str:
        """How many elements the segment has that was entered."""
        return f"(position_t){index_text(self.flat.loops[0].extent)}"

    @property
    def body(self) -> Body:
        """For some of the kernel's statements."""
        return Body(self.writer, self.scaffold.context, dict(self.scaffold.types), atomic=True)

    def enter(self, body: Body) -> None:
        """Bind what elements of `segment` need of it."""
        if self.near is None:
            self.writer.line("const position_t row = from + segment;")
            self.rows.enter(body)
            return
        for stream in self.near:
            self.writer.line(f"const {_type(self.rows, stream)} {stream_name(stream)} = {_near(stream)}[segment];")


def segments(scaffold: Scaffold, schedule: Schedule) -> NestKernels:
    """The kernel of a nest that folds segments."""
    outer, axis = (schedule.pieces[at].axis for at in (0, 2))
    rows, innermost = inside(scaffold.nest, flat(scaffold.nest, outer)), loops(scaffold.nest)[-1]
    # Folds that join in lanes have something neutral, and each iteration makes an element: nobody asks whether there is one.
    assert all(begins_neutral(each, axis) for each in schedule.carried)
    every = Places(tuple(Held(each.state, scaffold.types[each.state.name], "", None) for each in schedule.carried))
    writer = Writer()
    places = max(fitting(PLACES, place_bytes(every), PLACE_BYTES), GROUP)
    elements, totals = (
        in_local_memory(writer, every, count, name) for count, name in ((places, "lanes"), (GROUP, "totals"))
    )
    assert isinstance(innermost.extent, Stream)
    near = tuple(dict.fromkeys((innermost.extent, *_asked(innermost.body, innermost.index))))
    fits = 8 * GROUP * len(near) <= STREAM_BYTES
    segment = Flat((innermost,), (), merged=True)
    kind = lanes(schedule, axis)
    made = _Segments(scaffold, writer, rows, segment, kind, elements, places, totals, near if fits else None)
    sharing = Sharing(rows.extents, GROUP, GROUPS)
    body = made.body
    _lengths(made, body, sharing)
    _short(made)
    _long(made)
    with writer.block("if (place < count)"):
        finish(body, rows, totals, "place", "length > 0")
    scaffold.kernel("segments", writer.text, Amount(rows.extents, sharing, factor=GROUP), group=GROUP)
    return scaffold.done("some segments in a work-group")


def _asked(body: Level, index: Stream) -> tuple[Stream, ...]:
    """What a loop over a segment reads of the loops around it."""
    statements = (*body.before, *body.after)
    own = {index, *(stream for statement in statements for stream in made(statement))}
    read = dict.fromkeys(stream for statement in statements for stream in needed(statement))
    return tuple(stream for stream in read if stream not in own)


def _type(rows: Rows, stream: Stream) -> str:
    is_index = rows.outer is not None and any(loop.index == stream for loop in rows.outer.loops)
    return "position_t" if is_index else c_type(stream.type)


def _near(stream: Stream) -> str:
    """The array of what each segment of the group has of a stream."""
    return f"near_{stream_name(stream)}"


def _lengths(found: _Segments, body: Body, sharing: Sharing) -> None:
    """How long each segment of the group is, where the elements of each short one begin among those of all, and the blocks of
    each long one; and what elements need of them."""
    writer, rows, near = found.writer, found.rows, found.near or ()
    writer.line(f"__local int begins[{GROUP + 1}], begun[2][{GROUP}], some_middle, some_long;")
    writer.line(f"__local position_t blocks[{GROUP + 1}];")
    for stream in near:
        writer.line(f"__local {_type(rows, stream)} {_near(stream)}[{GROUP}];")
    writer.line("const int place = get_local_id(0);")
    sharing.write(writer, rows.count)
    writer.line(f"const position_t from = (position_t)({GROUP_NUMBER}) << bits;")
    writer.line(f"const int count = (int)min((position_t)1 << bits, {rows.count} - from);")
    writer.line("const position_t row = from + min(place, count - 1);")
    rows.enter(body)
    writer.line(f"const position_t length = place < count ? {found.length} : 0;")
    writer.line(f"const int is_short = length <= {found.kind.width}, own = is_short ? (int)length : 0;")
    for stream in near:
        writer.line(f"{_near(stream)}[place] = {stream_name(stream)};")
    writer.line("if (place == 0) begins[0] = blocks[0] = some_middle = some_long = 0;")
    writer.line("begun[0][place] = own;")
    writer.line(f"blocks[place + 1] = is_short ? 0 : (length + {BLOCK - 1}) / {BLOCK};")
    writer.line(WAIT)
    writer.line("if (!is_short) some_long = 1;")
    writer.line(f"if (own > {1 << EIGHT}) some_middle = 1;")
    writer.line("int now = 0, sum = own;")
    with writer.block("for (int reach = 1; reach < count; reach *= 2)"):
        writer.line("sum += place >= reach ? begun[now][place - reach] : 0;")
        writer.line("now = 1 - now;")
        writer.line("begun[now][place] = sum;")
        writer.line(WAIT)
    writer.line("begins[place + 1] = sum;")
    writer.line(WAIT)


def _last(writer: Writer, name: str, end: str, holds: str) -> None:
    """Raise a variable to the last number up to `end` for which a condition on `middle` holds, as it does for all before."""
    with writer.block(f"for (int end = {end}; {name} < end;)"):
        writer.line(f"const int middle = ({name} + end + 1) / 2;")
        writer.line(f"if ({holds}) {name} = middle;")
        writer.line("else end = middle - 1;")


def _short(found: _Segments) -> None:
    """As many short segments at a time as there are places for their elements."""
    writer, elements = found.writer, found.elements
    writer.line(f"__local uchar owners[{found.places}];")
    with writer.block("for (int first = 0; first < count;)"):
        writer.line("const int base = begins[first];")
        writer.line(f"int end_of = begins[count] - base <= {found.places} ? count : first + 1;")
        _last(writer, "end_of", "count", f"begins[middle] - base <= {found.places}")
        writer.line("const int here = begins[end_of] - base;")
        writer.line("const int mine = place >= first && place < end_of && is_short, begin = begins[place] - base;")
        with writer.block("for (int l = 0; mine && l < own; ++l)"):
            writer.line("owners[begin + l] = (uchar)place;")
        writer.line(WAIT)
        with writer.block(f"for (int at = place; at < here; at += {GROUP})"):
            body = found.body
            writer.line("const int segment = owners[at];")
            found.enter(body)
            begin(body, elements)
            writer.line("const position_t item = base + at - begins[segment];")
            found.flat.enter(body, "item")
            body.level(found.flat.body)
            elements.put(body, "at")
        writer.line(WAIT)
        _join(found)
        # No wait: whoever writes to these places again waits for owners first, or for where blocks begin.
        writer.line("first = end_of;")


def _join(found: _Segments) -> None:
    """The elements of short segments join as lanes do: eight of those that are eight apart, then what is left of each."""
    writer, elements = found.writer, found.elements
    with writer.block(f"for (int task = place; some_middle && task < (end_of - first) << {EIGHT}; task += {GROUP})"):
        writer.line(f"const int segment = first + (task >> {EIGHT}), l = task & {(1 << EIGHT) - 1}, few = {EIGHT};")
        writer.line("const int at = begins[segment] - base + l, some = begins[segment + 1] - begins[segment];")
        with writer.block(f"if (some > {1 << EIGHT})"):
            for held in elements.every:
                eight(writer, held)
    writer.line(WAIT)
    with writer.block("if (mine && own > 0)"):
        writer.line(f"const int at = begin, l = 0, few = 0, some = min(own, {1 << EIGHT});")
        for held in elements.every:
            eight(writer, held)
        found.totals.copy(writer, "place", elements, "at")


def _long(found: _Segments) -> None:
    """As many blocks of long segments at a time as a group has work-items for their lanes."""
    writer, elements, width = found.writer, found.elements, found.kind.width
    parts = GROUP // width
    writer.line(f"__local int several_of[{parts}];")
    writer.line(f"__local position_t number_of[{parts}];")
    with writer.block("for (int reach = 1; some_long && reach < count; reach *= 2)"):
        writer.line("const position_t others = place >= reach ? blocks[place + 1 - reach] : 0;")
        writer.line(WAIT)
        writer.line("blocks[place + 1] += others;")
        writer.line(WAIT)
    trees = [block_tree(writer, held.type, found.scaffold.context) for held in elements.every]
    writer.line(f"const int lane = place % {width}, part = place / {width};")
    with writer.block(f"for (position_t task = 0; some_long && task < blocks[count]; task += {parts})"):
        _lanes(found)
        join_halves(writer, elements, Workers("lane", str(width), lambda text: f"place - lane + {text}"), str(width))
        with writer.block("if (lane == 0)"):
            writer.line("several_of[part] = several ? segment : -1;")
            writer.line("number_of[part] = number;")
            with writer.block("if (mine < blocks[count] && !several)"):
                found.totals.copy(writer, "segment", elements, "place")
        writer.line(WAIT)
        with writer.block(f"for (int each = 0; place == 0 && each < {parts}; ++each)"):
            writer.line(f"const int segment = several_of[each], at = each * {width};")
            writer.line("if (segment < 0) continue;")
            writer.line("const int is_last = number_of[each] + 1 == blocks[segment + 1] - blocks[segment];")
            for held, tree in zip(elements.every, trees, strict=True):
                tree.add(writer, f"{held.values}[at]", "number_of[each]", "is_last")
            with writer.block("if (is_last)"):
                found.totals.copy(writer, "segment", elements, "at")
        writer.line(WAIT)


def _lanes(found: _Segments) -> None:
    """A work-item for each lane of each of these blocks. Binds which block of which `segment` that is, and whether that has
    `several`."""
    writer = found.writer
    writer.line("const position_t mine = task + part;")
    writer.line("int segment = 0;")
    _last(writer, "segment", "count - 1", "blocks[middle] <= mine")
    writer.line("const position_t number = mine - blocks[segment];")
    writer.line("const int several = mine < blocks[count] && blocks[segment + 1] - blocks[segment] > 1;")
    with writer.block("if (mine < blocks[count])"):
        body = found.body
        found.enter(body)
        writer.line(f"const position_t base = number * {BLOCK}, end = {found.length};")
        walk(body, found.flat, found.kind, found.elements, "lane", "base", "end")
        found.elements.put(body, "place")
    writer.line(WAIT)
