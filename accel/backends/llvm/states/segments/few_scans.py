"""Scans of segments of a few elements, some segments at a time: their elements are scanned as one row, in full registers.

In: segments, as many as there are lanes, none of which has more than `FEWEST` elements, and a loop over the elements of each
that asks for nothing of the segment but where its elements are. Out: one loop over the elements of all. A word of 64 bits has a
bit for each element with which a segment begins, so lanes know which of their neighbours belong to their segment. These take
the steps of docs/order.md, which are counted from where the segment begins: one to the neighbour, one over two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from accel.backends.llvm.emit.values import Lanes, Progression, Value
from accel.backends.llvm.states.segments.few_segments import DISTANCES, FewSegments, InLanes, place
from accel.backends.llvm.states.segments.group import SegmentGroup, statements_of
from accel.backends.llvm.text.code import register_type
from accel.ir import flow
from accel.ir.nodes import For, LoopDirection, ManyToOne, OneToOne, Read, Remap, State, Stream, Write
from accel.schedule.legality import straight


def in_one_row(loop: For) -> bool:
    """Whether a loop over segments only scans each, and what is done for an element does not depend on its segment."""
    inner, found = loop.body.loop, place(loop)
    if inner is None or found is None or not only_scans(loop):
        return False
    inside, around = statements_of(inner), loop.body.before
    outside = {stream.name for s in around for stream in flow.made(s)} | {loop.index.name, inner.index.name}
    needed = {stream.name for s in inside if s != found for stream in flow.needed(s)}
    needed |= {stream.name for state in inner.states for stream in flow.state_needs(state)}
    return not needed & outside and all(
        isinstance(s, OneToOne | Remap | Read | Write | ManyToOne) and s.when is None for s in inside
    )


def only_scans(loop: For) -> bool:
    """Whether a loop is one over segments that scans each in one turn, and makes nothing of what it comes to."""
    inner = loop.body.loop
    if inner is None or not isinstance(inner.extent, Stream) or inner.body.loop is not None or not inner.states:
        return False
    if loop.direction is not LoopDirection.UP or loop.body.after:
        return False
    around, own = loop.body.before, {state.name for state in inner.states}
    stepped = [s.state for s in statements_of(inner) if isinstance(s, ManyToOne)]
    running = {state.name for state in loop.states if state.running and state.monoid.exact and state.monoid.neutral}
    return (
        set(stepped) == own
        and len(stepped) == len(own)
        and all(state.running and state.when is None and straight(state.merge) for state in inner.states)
        and all(isinstance(s, OneToOne | Remap | Read | ManyToOne) and s.when is None for s in around)
        and all(s.state in running for s in around if isinstance(s, ManyToOne))
    )


def write(segments: FewSegments) -> None:
    """The scans of segments that have begun, and what is made of them, element by element of all."""
    segments.finish_before(in_one_row=True)
    inner, found = segments.group.inner, place(segments.group.loop)
    assert found is not None, "elements have places"
    row = Row(segments)
    with row.registers(found.outs[0]) as (made, mask, masks, _):

        def step(
            statement: ManyToOne, values: Sequence[Value], active: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            return row.scans[statement.state].step(values, masks)

        statements = segments.group.statements(made, step)
        for statement in statements_of(inner):
            if statement != found:
                statements.masked(statement, mask)


class Row:
    """The elements of a group of segments, in the order in which they are visited."""

    def __init__(self, segments: FewSegments) -> None:
        self._segments, self._group = segments, segments.group
        self.down = self._group.inner.direction is LoopDirection.DOWN
        self._count = segments.count
        code = self._group.routine.code
        self.begins = list(segments.begins)
        """Behind how many elements each segment begins, in the order in which they are visited."""
        if self.down:
            self.begins = [code.emit(f"sub i64 {self._count}, {end}") for end in reversed(segments.ends)]
        begins = self._bits() if segments.lanes is None else self._bits_of_lanes(segments.lanes)
        near = [begins, code.emit(f"or i64 {begins}, {code.emit(f'shl i64 {begins}, 1')}")]
        self._far = [code.emit(f"xor i64 {word}, -1") for word in near]
        """For each distance the elements that stand at least so far behind the first of their segment: words of i64."""
        self.scans = {state.name: _Scan(self._group, state) for state in self._group.inner.states}

    def _bits(self) -> str:
        """A bit for each element, as they are visited, with which a segment begins: an i64. Of segments without elements it is
        that of the next one, or one behind all."""
        code, bits = self._group.routine.code, "0"
        for at in self.begins:
            bits = code.emit(f"or i64 {bits}, {code.emit(f'shl i64 1, {at}')}")
        return bits

    def _bits_of_lanes(self, lanes: InLanes) -> str:
        """The same where segments stand in lanes."""
        group = self._group
        code, narrow, wide = group.writer.code, group.writer.code.vector("i32"), group.writer.code.vector("i64")
        places = lanes.begins
        if self.down:
            total = group.routine.code.emit(f"trunc i64 {self._count} to i32")
            places = code.emit(f"sub {narrow} {group.writer.splat(total, 'i32')}, {lanes.ends}")
        shifts = code.emit(f"zext {narrow} {places} to {wide}")
        bits = code.emit(f"shl {wide} {code.splat('i64', '1')}, {shifts}")
        there = code.emit(f"icmp ne {narrow} {lanes.counts}, zeroinitializer")
        some = code.emit(f"select {code.vector('i1')} {there}, {wide} {bits}, {wide} zeroinitializer")
        return group.routine.code.call(f"llvm.vector.reduce.or.v{group.lanes}i64", "i64", [wide], [f"{wide} {some}"])

    @contextmanager
    def registers(self, place: Stream) -> Iterator[tuple[dict[str, Value], str, list[str], str]]:
        """Around what is done with a register of elements after the other: the streams, of which `place` says where elements
        stand, the lanes that have one, those that take their neighbours at each distance, and how many elements there were."""
        group, code = self._group, self._group.routine.code
        first = self._segments.first
        if self.down:
            first = code.emit(f"sub i64 {code.emit(f'add i64 {first}, {self._count}')}, 1")
        with group.routine.count("0", self._count, group.lanes) as turn:
            mask = group.writer.first_lanes(code.emit(f"sub i64 {self._count}, {turn}"))
            operation, stride = ("sub", -1) if self.down else ("add", 1)
            made = dict(self._segments.made)
            made[place.name] = Progression(code.emit(f"{operation} i64 {first}, {turn}"), stride)
            yield made, mask, [self._lanes(word, turn) for word in self._far], turn

    def _lanes(self, word: str, turn: str) -> str:
        """The bits of a word from a place on, as a mask."""
        code, lanes = self._group.routine.code, self._group.lanes
        bits = code.emit(f"trunc i64 {code.emit(f'lshr i64 {word}, {turn}')} to i{lanes}")
        return code.emit(f"bitcast i{lanes} {bits} to <{lanes} x i1>")


class _Scan:
    """A state whose elements come a register at a time, and which begins anew with each segment."""

    def __init__(self, group: SegmentGroup, state: State) -> None:
        self._group, self._state = group, state
        self._initial = None if state.initial is None else group.outside().values(state.initial)
        types = [group.writer.code.type(final.type) for final in state.finals]
        self._before = [[group.routine.slot(type_, align=64) for type_ in types] for _ in (0, *DISTANCES)]
        """What the last register held before each step, and after all: bits of segments may go on in this one."""
        for slots in self._before:
            for type_, slot in zip(types, slots, strict=True):
                group.routine.store(type_, "zeroinitializer", slot)

    def step(self, values: Sequence[Value], masks: Sequence[str]) -> tuple[Sequence[Value], Sequence[Value]]:
        """The state before and after each element; masks: the elements that take their neighbours' at each distance."""
        group = self._group
        current: list[Value] = list(values)
        for distance, mask, slots in zip(DISTANCES, masks, self._before[:-1], strict=True):
            merged = group.functions.apply(
                self._state.merge, [*self._neighbours(current, distance, slots), *current], None
            )
            current = [group.writer.select(mask, one, other) for one, other in zip(merged, current, strict=True)]
        if self._initial is None:
            return (), current
        after = group.functions.apply(self._state.merge, [*self._initial, *current], None)
        earlier = self._neighbours(after, 1, self._before[-1])
        pairs = zip(earlier, self._initial, strict=True)
        return [group.writer.select(masks[0], one, seed) for one, seed in pairs], after

    def _neighbours(self, values: Sequence[Value], distance: int, slots: Sequence[str]) -> list[Value]:
        """Each lane gets the one so far before it, the first ones those of the last register, which these replace."""
        writer, routine = self._group.writer, self._group.routine
        found: list[Value] = []
        for value, slot in zip(values, slots, strict=True):
            kind, text = value.type, writer.every(value)
            vector = writer.code.type(kind)
            shifted = writer.shifted(text, register_type(kind), distance, routine.load(vector, slot))
            routine.store(vector, text, slot)
            found.append(Lanes(shifted, kind))
        return found
