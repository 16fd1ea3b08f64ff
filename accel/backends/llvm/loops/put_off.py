"""Long segments that are put off: the thread that meets one only notes it, so that all threads can fold it together later.

In: a loop over segments that only folds each. Out: the code that notes a segment instead of folding it, in a table of the
launch: how many are noted, then for each of them the streams that its fold and what follows it need. `long_segments.py` folds
what is noted. Where the table is full, or there is none, segments are folded where they are met.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.states.segments.group import has_lanes
from accel.backends.llvm.text.code import register_type
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import LATER
from accel.ir import flow
from accel.ir.nodes import For, Nest, Stream

LONG = 1 << 18
"""Elements of the shortest segment that is put off."""

MOST = 64
"""Segments that are put off in one launch: where there are more, threads have enough to do as it is."""


class PutOff:
    """The table of one nest's loop over segments."""

    def __init__(self, loop: For, inner: For) -> None:
        self.loop, self.inner = loop, inner
        body = loop.body
        made = [loop.index, *(stream for statement in body.before for stream in flow.made(statement))]
        needed = {inner.extent}
        for statement in (*inner.body.before, *inner.body.after, *body.after):
            needed.update(flow.needed(statement))
        for state in inner.states:
            needed.update(flow.state_needs(state))
        self._streams: list[Stream] = [stream for stream in made if stream in needed]

    @property
    def words(self) -> int:
        """Words of the table."""
        return 1 + MOST * len(self._streams)

    @contextmanager
    def unless_long(self, view: FrameView, streams: Streams, writer: Writer, extent: str) -> Iterator[None]:
        """Around the fold of a segment of `extent` elements and what follows it: they run unless it is put off."""
        routine, code, table = view.routine, view.routine.code, view.word(LATER, "ptr")
        asked, noted, now, after = (routine.label() for _ in range(4))
        is_long = code.emit(f"icmp sge i64 {extent}, {LONG}")
        there = code.emit(f"icmp ne ptr {table}, null")
        routine.branch(code.emit(f"and i1 {is_long}, {there}"), asked, now)
        routine.place(asked)
        number = code.emit(f"atomicrmw add ptr {table}, i64 1 monotonic")
        routine.branch(code.emit(f"icmp slt i64 {number}, {MOST}"), noted, now)
        routine.place(noted)
        for stream, place in self._places(routine, table, number):
            routine.store(register_type(stream.type), writer.one(streams.value(stream)), place)
        routine.jump(after)
        routine.place(now)
        yield
        routine.jump(after)
        routine.place(after)

    @contextmanager
    def each(self, routine: Routine, table: str) -> Iterator[dict[str, Value]]:
        """A loop over what is noted: gives the streams of a segment by their names."""
        noted = routine.least(routine.load("i64", table), str(MOST))
        with routine.count("0", noted) as number:
            yield {
                stream.name: Uniform(routine.load(register_type(stream.type), place), stream.type)
                for stream, place in self._places(routine, table, number)
            }

    def _places(self, routine: Routine, table: str, number: str) -> list[tuple[Stream, str]]:
        """Where the table has each stream of an entry."""
        first = routine.code.emit(f"mul i64 {number}, {len(self._streams)}")
        entry = routine.offset(table, routine.code.emit(f"add i64 {first}, 1"))
        return [(stream, routine.offset(entry, word)) for word, stream in enumerate(self._streams)]


def put_off(nest: Nest) -> PutOff | None:
    """The table of a nest's outermost loop, if that is one over segments that may be put off."""
    loop = nest.body.loop
    if loop is None or loop.body.loop is None or not has_lanes(loop):
        return None
    return PutOff(loop, loop.body.loop)
