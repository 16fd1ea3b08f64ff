"""Running states in vector code: positions of filters, and scans in the order of `order.scan`.

Inside of a vector of the order lanes take in their neighbours 1, 2, 4, … to the left, by rotation and selection. What came
before the vector is a carry, the same in all lanes, so that from vector to vector only one merge waits for the other. The lanes
may be two vectors of the order, side by side: its parts. Exact scans are in `exact_scans.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.lanes.packing import set_lanes
from accel.backends.llvm.emit.values import Fixed, Lanes, Packed, Progression, Uniform, Value
from accel.backends.llvm.states.accumulators import Accumulator, Tools, Unit
from accel.backends.llvm.states.records import Record
from accel.labelled.meaning.order import SCAN_VECTOR


class Position(Accumulator):
    """A count of the lanes that were kept: the carry is a scalar."""

    def __init__(self, tools: Tools, record: Record, pointer: str, wants_after: bool) -> None:
        self._tools = tools
        self._record = record
        self._pointer = pointer
        self._carry = tools.routine.slot("i64")
        self._wants_after = wants_after

    def begin(self) -> None:
        """The record's value; nothing is zero."""
        routine = self._tools.routine
        present = routine.code.emit(f"icmp ne i64 {routine.load('i64', self._pointer)}, 0")
        (held,) = self._record.load(routine, self._pointer, 1)
        text = self._tools.writer.one(held)
        routine.store("i64", routine.code.emit(f"select i1 {present}, i64 {text}, i64 0"), self._carry)

    def step(self, values: Sequence[Value], mask: str | None, unit: Unit) -> tuple[Sequence[Value], Sequence[Value]]:
        """Each lane's position; the carry goes up by the number of lanes in the mask."""
        tools = self._tools
        carry = tools.routine.load("i64", self._carry)
        kept = str(tools.writer.lanes) if mask is None else set_lanes(tools.writer.code, mask)
        tools.routine.store("i64", tools.routine.code.emit(f"add i64 {carry}, {kept}"), self._carry)
        before: Value = Progression(carry, 1) if mask is None else Packed(carry, mask)
        if not self._wants_after:
            return (before,), ()
        vector = tools.writer.code.type(I64)
        one = tools.writer.code.literal(I64, 1)
        return (before,), (Lanes(tools.writer.code.emit(f"add {vector} {tools.writer.every(before)}, {one}"), I64),)

    def end(self) -> None:
        """The record has the carry."""
        routine = self._tools.routine
        routine.store("i64", "1", self._pointer)
        self._record.store(routine, [routine.load("i64", self._carry)], self._pointer, 1)


class OrderedScan(Accumulator):
    """The order of `order.scan`: result = block carry + (vector carry + local). Each part of the lanes is a vector of it."""

    def __init__(self, tools: Tools, part: Tools, record: Record, pointer: str) -> None:
        """`part`: the tools of lanes that are one vector of the order."""
        assert tools.writer.lanes % SCAN_VECTOR == 0
        assert part.writer.lanes == SCAN_VECTOR
        self._tools = tools
        self._part = part
        self._record = record
        self._pointer = pointer
        self._neutral = _neutral(record)
        self._vector, self._block, self._last = part.slots(record), tools.slots(record), tools.slots(record)
        self._has_block = tools.routine.slot("i1")

    def begin(self) -> None:
        """The block carry is the record's value, if there is one."""
        tools, record = self._tools, self._record
        present = tools.routine.code.emit(f"icmp ne i64 {tools.routine.load('i64', self._pointer)}, 0")
        tools.routine.store("i1", present, self._has_block)
        held: Sequence[Value] = record.load(tools.routine, self._pointer, 1)
        if self._neutral is not None:
            held = tools.select(tools.writer.splat(present, "i1"), held, self._neutral)
        tools.store(record, held, self._block)
        tools.store(record, held, self._last)

    def begin_block(self) -> None:
        """No vector carry."""
        if self._neutral is not None:
            self._part.store(self._record, self._neutral, self._vector)

    def step(self, values: Sequence[Value], mask: str | None, unit: Unit) -> tuple[Sequence[Value], Sequence[Value]]:
        """The state before and after each lane."""
        tools, record = self._tools, self._record
        if mask is not None and self._neutral is not None:
            values = tools.select(mask, values, self._neutral)
        in_block = self._in_block(scanned(tools, record, values), unit)
        total = tools.merge(record, tools.load(record, self._block), in_block)
        before_last = tools.load(record, self._last)
        if self._neutral is None:
            has_block = tools.writer.splat(tools.routine.load("i1", self._has_block), "i1")
            total = tools.select(has_block, total, in_block)
        if mask is not None:
            # Not the last lane's own value: absent lanes are neutral, but it was combined in another order.
            total = self._flat(mask, total, before_last)
        tools.store(record, total, self._last)
        return delayed(tools, record, before_last, total), total

    def _in_block(self, local: list[Value], unit: Unit) -> list[Value]:
        """What the block came to, given the scan of each part by itself; the carry goes on behind the last part."""
        tools, part, record = self._tools, self._part, self._record
        carries = [part.load(record, self._vector)]
        for top in _parts(tools, record, _lasts(tools, record, local)):
            following = part.merge(record, carries[-1], top)
            if self._neutral is None and len(carries) == 1:
                following = part.select(self._is_first(part, unit), top, following)
            carries.append(following)
        part.store(record, carries.pop(), self._vector)
        in_block = tools.merge(record, _joined(part, record, carries), local)
        if self._neutral is not None:
            return in_block
        return tools.select(self._is_first(tools, unit), local, in_block)

    def _is_first(self, tools: Tools, unit: Unit) -> str:
        """The mask of the lanes of the block's first part, if they are among these."""
        code, lanes = tools.routine.code, tools.writer.lanes
        first = tools.writer.splat(code.emit(f"icmp eq i64 {unit.position}, {unit.start}"), "i1")
        if lanes == SCAN_VECTOR:
            return first
        inside = ", ".join(f"i1 {str(lane < SCAN_VECTOR).lower()}" for lane in range(lanes))
        return code.emit(f"and <{lanes} x i1> {first}, <{inside}>")

    def _flat(self, mask: str, total: list[Value], before: list[Value]) -> list[Value]:
        """Behind the lanes of the mask, which are the first ones, the last of them; if there is none, what was before."""
        tools = self._tools
        count = set_lanes(tools.writer.code, mask)
        last = tools.writer.lanes - 1
        place = tools.routine.code.emit(f"add i64 {count}, {last}")
        lane = tools.routine.code.emit(f"and i64 {place}, {last}")
        some = tools.writer.splat(tools.routine.code.emit(f"icmp ne i64 {count}, 0"), "i1")
        chosen = tools.select(some, total, before)
        flat: list[Value] = [
            Uniform(text, value.type) for text, value in zip(tools.lane(self._record, chosen, lane), total, strict=True)
        ]
        return tools.select(mask, total, flat)

    def end_block(self, start: str, end: str) -> None:
        """What the block came to is the next one's carry."""
        tools, record = self._tools, self._record
        with tools.routine.when(tools.routine.code.emit(f"icmp slt i64 {start}, {end}")):
            tools.store(record, _last(tools, record, tools.load(record, self._last)), self._block)
            tools.routine.store("i1", "true", self._has_block)

    def end(self) -> None:
        """The record has what all blocks came to, if there were elements or an initial value."""
        tools, record = self._tools, self._record
        with tools.routine.when(tools.routine.load("i1", self._has_block)):
            leaves = tools.lane(record, tools.load(record, self._last), tools.writer.lanes - 1)
            tools.routine.store("i64", "1", self._pointer)
            record.store(tools.routine, leaves, self._pointer, 1)


class ScanTotal(Accumulator):
    """What a scan in the order of `order.scan` comes to, where nobody asks for the state between elements.

    A vector's total is the tree of adjacent pairs: eight vectors that are written side by side have theirs made together.
    """

    def __init__(self, tools: Tools, record: Record, pointer: str, scalar: Functions) -> None:
        assert tools.writer.lanes == SCAN_VECTOR
        self._tools = tools
        self._record = record
        self._pointer = pointer
        self._scalar = scalar
        self._block = tools.routine.slot("i64", record.words)
        self._group: list[list[Value]] = []

    def begin_block(self) -> None:
        """No vector carry."""
        self._tools.routine.store("i64", "0", self._block)

    def step(self, values: Sequence[Value], mask: str | None, unit: Unit) -> tuple[Sequence[Value], Sequence[Value]]:
        """The totals of full groups, or what the lanes of the mask, which are the first ones, come to."""
        if unit.place is None:
            self._some(values, mask)
            return (), ()
        self._group.append(list(values))
        if len(self._group) == SCAN_VECTOR:
            totals = self._totals(self._group)
            self._group = []
            self._record.step(self._tools.routine, self._block, self._tools.lane(self._record, totals, 0))
            for lane in range(1, SCAN_VECTOR):
                self._join(self._tools.lane(self._record, totals, lane))
        return (), ()

    def _join(self, leaves: Sequence[str]) -> None:
        """One more vector's total, where there is a carry."""
        routine, record = self._tools.routine, self._record
        right = [Uniform(text, final.type) for text, final in zip(leaves, record.state.finals, strict=True)]
        merged = self._scalar.apply(record.state.merge, [*record.load(routine, self._block, 1), *right], None)
        record.store(routine, [self._scalar.one(value) for value in merged], self._block, 1)

    def _totals(self, vectors: Sequence[list[Value]]) -> list[Value]:
        """Lane l: the total of vector l. Halves of a register keep to themselves as long as they can."""
        tools, record = self._tools, self._record
        for even, odd in (_PAIRS, _PAIRS, _HALVES):
            vectors = [
                tools.merge(record, _picked(tools, record, even, left, right), _picked(tools, record, odd, left, right))
                for left, right in zip(vectors[::2], vectors[1::2], strict=True)
            ]
        (totals,) = vectors
        return totals

    def _some(self, values: Sequence[Value], mask: str | None) -> None:
        """A vector by itself, as `OrderedScan` has it."""
        tools, routine = self._tools, self._tools.routine
        count = str(SCAN_VECTOR) if mask is None else set_lanes(tools.writer.code, mask)
        with routine.when(routine.code.emit(f"icmp ne i64 {count}, 0")):
            local = scanned(tools, self._record, values)
            last = routine.code.emit(f"sub i64 {count}, 1")
            self._record.step(routine, self._block, tools.lane(self._record, local, last))

    def end_block(self, start: str, end: str) -> None:
        """The block's total joins the record."""
        routine, record = self._tools.routine, self._record
        with routine.when(routine.code.emit(f"icmp ne i64 {routine.load('i64', self._block)}, 0")):
            leaves = [self._scalar.one(value) for value in record.load(routine, self._block, 1)]
            record.step(routine, self._pointer, leaves)


_PAIRS = (0, 2, 8, 10, 4, 6, 12, 14), (1, 3, 9, 11, 5, 7, 13, 15)
_HALVES = (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)


def _neutral(record: Record) -> list[Value] | None:
    """The neutral element, if there is one."""
    found = record.state.monoid.neutral
    return None if found is None else [Fixed(element) for element in found]


def scanned(tools: Tools, record: Record, values: Sequence[Value]) -> list[Value]:
    """The inclusive scan of each part by itself, in steps of 1, 2, 4, …: lanes that have no such neighbour stay as they are,
    or take in the neutral element, which changes none and saves a selection."""
    lanes, distance, neutral = range(tools.writer.lanes), 1, _neutral(record)
    current = list(values)
    while distance < SCAN_VECTOR:
        behind = [lane - distance if lane % SCAN_VECTOR >= distance else len(lanes) for lane in lanes]
        merged = tools.merge(record, _picked(tools, record, behind, current, neutral or current), current)
        if neutral is None:
            takes = tools.some_lanes([lane % SCAN_VECTOR >= distance for lane in lanes])
            merged = tools.select(takes, merged, current)
        current = merged
        distance *= 2
    return current


def _lasts(tools: Tools, record: Record, values: Sequence[Value]) -> list[Value]:
    """The last lane of each part in all its lanes."""
    return _picked(tools, record, [lane | (SCAN_VECTOR - 1) for lane in range(tools.writer.lanes)], values)


def _last(tools: Tools, record: Record, values: Sequence[Value]) -> list[Value]:
    """The last lane's value in every lane."""
    return _picked(tools, record, [tools.writer.lanes - 1] * tools.writer.lanes, values)


def _parts(tools: Tools, record: Record, values: Sequence[Value]) -> list[list[Value]]:
    """Each part, as a vector."""
    begins = range(0, tools.writer.lanes, SCAN_VECTOR)
    return [_picked(tools, record, range(begin, begin + SCAN_VECTOR), values) for begin in begins]


def _joined(part: Tools, record: Record, parts: Sequence[list[Value]]) -> list[Value]:
    """One or two parts side by side."""
    return parts[0] if len(parts) == 1 else _picked(part, record, range(len(parts) * SCAN_VECTOR), *parts)


def _picked(
    tools: Tools, record: Record, order: Sequence[int], values: Sequence[Value], others: Sequence[Value] | None = None
) -> list[Value]:
    """The lanes of these numbers, those of `others` being numbered on."""
    writer, found = tools.writer, list[Value]()
    mask = f"<{len(order)} x i32> <{', '.join(f'i32 {lane}' for lane in order)}>"
    for place, (value, type_) in enumerate(zip(values, tools.vector_types(record), strict=True)):
        other = "poison" if others is None else writer.every(others[place])
        text = f"shufflevector {type_} {writer.every(value)}, {type_} {other}, {mask}"
        found.append(Lanes(writer.code.emit(text), value.type))
    return found


def delayed(tools: Tools, record: Record, before: Sequence[Value], values: Sequence[Value]) -> list[Value]:
    """Every lane gets its left neighbour; the first one gets the last lane of `before`."""
    writer = tools.writer
    return [
        Lanes(writer.shifted(writer.every(value), type_, 1, writer.every(first)), value.type)
        for first, value, type_ in zip(before, values, record.types, strict=True)
    ]
