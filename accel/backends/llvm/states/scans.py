"""Running states in vector code: positions of filters, and scans in the order of `order.scan`.

Inside of a vector lanes take in their neighbours 1, 2, 4, … to the left, by rotation and selection. What came before the
vector is a carry, the same in all lanes, so that from vector to vector only one merge waits for the other. Exact scans
are in `exact_scans.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.packing import set_lanes
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
    """The order of `order.scan`: result = block carry + (vector carry + local), lanes = the order's vector."""

    def __init__(self, tools: Tools, record: Record, pointer: str) -> None:
        assert tools.writer.lanes == SCAN_VECTOR
        self._tools = tools
        self._record = record
        self._pointer = pointer
        found = record.state.monoid.neutral
        self._neutral: list[Value] | None = None if found is None else [Fixed(element) for element in found]
        self._vector, self._block, self._last = tools.slots(record), tools.slots(record), tools.slots(record)
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
            self._tools.store(self._record, self._neutral, self._vector)

    def step(self, values: Sequence[Value], mask: str | None, unit: Unit) -> tuple[Sequence[Value], Sequence[Value]]:
        """The state before and after each lane."""
        tools, record = self._tools, self._record
        if mask is not None and self._neutral is not None:
            values = tools.select(mask, values, self._neutral)
        local = scanned(tools, record, values)
        carry = tools.load(record, self._vector)
        top = last_lane(tools, record, local)
        in_block = tools.merge(record, carry, local)
        following = tools.merge(record, carry, top)
        total = in_block
        if self._neutral is None:
            first = tools.writer.splat(tools.routine.code.emit(f"icmp eq i64 {unit.position}, {unit.start}"), "i1")
            total = in_block = tools.select(first, local, in_block)
            following = tools.select(first, top, following)
        tools.store(record, following, self._vector)
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

    def _flat(self, mask: str, total: list[Value], before: list[Value]) -> list[Value]:
        """Behind the lanes of the mask, which are the first ones, the last of them; if there is none, what was before."""
        tools = self._tools
        count = set_lanes(tools.writer.code, mask)
        place = tools.routine.code.emit(f"add i64 {count}, {SCAN_VECTOR - 1}")
        lane = tools.routine.code.emit(f"and i64 {place}, {SCAN_VECTOR - 1}")
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
            tools.store(record, last_lane(tools, record, tools.load(record, self._last)), self._block)
            tools.routine.store("i1", "true", self._has_block)

    def end(self) -> None:
        """The record has what all blocks came to, if there were elements or an initial value."""
        tools, record = self._tools, self._record
        with tools.routine.when(tools.routine.load("i1", self._has_block)):
            leaves = tools.lane(record, tools.load(record, self._last), SCAN_VECTOR - 1)
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
        for even, odd in (_PAIRS, _PAIRS, _HALVES):
            vectors = [
                self._tools.merge(self._record, self._picked(left, right, even), self._picked(left, right, odd))
                for left, right in zip(vectors[::2], vectors[1::2], strict=True)
            ]
        (totals,) = vectors
        return totals

    def _picked(self, left: Sequence[Value], right: Sequence[Value], order: Sequence[int]) -> list[Value]:
        """Lanes of two vectors, numbered through."""
        writer = self._tools.writer
        mask = f"<{SCAN_VECTOR} x i32> <{', '.join(f'i32 {lane}' for lane in order)}>"
        return [
            Lanes(
                writer.code.emit(f"shufflevector {type_} {writer.every(a)}, {type_} {writer.every(b)}, {mask}"), a.type
            )
            for a, b, type_ in zip(left, right, self._tools.vector_types(self._record), strict=True)
        ]

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


def scanned(tools: Tools, record: Record, values: Sequence[Value]) -> list[Value]:
    """The inclusive scan of each vector by itself, in steps of 1, 2, 4, …."""
    writer, distance = tools.writer, 1
    current = list(values)
    while distance < writer.lanes:
        neighbours = tools.rotated(record, current, writer.lanes - distance)
        merged = tools.merge(record, neighbours, current)
        lanes = ", ".join(f"i1 {str(lane >= distance).lower()}" for lane in range(writer.lanes))
        current = tools.select(f"<{lanes}>", merged, current)
        distance *= 2
    return current


def last_lane(tools: Tools, record: Record, values: Sequence[Value]) -> list[Value]:
    """The last lane's value in every lane."""
    writer = tools.writer
    last = f"<{writer.lanes} x i32> splat (i32 {writer.lanes - 1})"
    found: list[Value] = []
    for value, type_ in zip(values, tools.vector_types(record), strict=True):
        text = f"shufflevector {type_} {writer.every(value)}, {type_} poison, {last}"
        found.append(Lanes(writer.code.emit(text), value.type))
    return found


def delayed(tools: Tools, record: Record, before: Sequence[Value], values: Sequence[Value]) -> list[Value]:
    """Every lane gets its left neighbour; the first one gets the last lane of `before`."""
    writer = tools.writer
    return [
        Lanes(writer.shifted(writer.every(value), type_, 1, writer.every(first)), value.type)
        for first, value, type_ in zip(before, values, record.types, strict=True)
    ]
