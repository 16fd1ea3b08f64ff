"""States in vector code: accumulators in registers while a loop runs, a record of words before and after it.

`ExactFold` may combine in any order and starts from the neutral element. `OrderedFold` gives the bits of `order.fold`: one
accumulator lane for each lane of the order. `Scan` is in `scans.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.values import Fixed, Lanes, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.text.routine import Routine
from accel.labelled.meaning.order import lanes as order_lanes
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """One vector of iterations. `position`: its first iteration. `place`: its number in a group that is written out side by
    side; None where the body is written once. `start`: where the block of 4096 (or the whole loop) begins."""

    position: str
    place: int | None
    start: str


class Hooks:
    """What a state does before and after a vector loop and its parts: nothing, as here, unless it says otherwise."""

    def begin(self) -> None:
        """Before the loop."""

    def begin_block(self) -> None:
        """Before each block."""

    def begin_tail(self) -> None:
        """Between the groups of a block and the vectors that are left."""

    def end_tail(self) -> None:
        """After those."""

    def end_block(self, start: str, end: str) -> None:
        """After each block, whose elements are those of iterations start .. end-1 (end may be less than start: none)."""

    def end(self) -> None:
        """After the loop."""


class Accumulator(Hooks, ABC):
    """A state in a vector loop."""

    @abstractmethod
    def step(self, values: Sequence[Value], mask: str | None, unit: Unit) -> tuple[Sequence[Value], Sequence[Value]]:
        """Elements where the mask is set; gives the state before and after each (nothing for folds)."""


class Tools:
    """What all accumulators of one function need."""

    def __init__(self, routine: Routine, writer: Writer, functions: Functions) -> None:
        self.routine = routine
        self.writer = writer
        self.functions = functions

    def merge(self, record: Record, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        """`left` and `right` merged, lane by lane."""
        return self.functions.apply(record.state.merge, [*left, *right], None)

    def vector_types(self, record: Record) -> list[str]:
        """The types of the leaves in lanes."""
        return [self.writer.code.type(final.type) for final in record.state.finals]

    def load(self, record: Record, slots: Sequence[str]) -> list[Value]:
        """Vectors from slots."""
        return [
            self.writer.varying(self.routine.load(type_, slot), final.type)
            for type_, slot, final in zip(self.vector_types(record), slots, record.state.finals, strict=True)
        ]

    def store(self, record: Record, values: Sequence[Value], slots: Sequence[str]) -> None:
        """Vectors to slots."""
        for type_, value, slot in zip(self.vector_types(record), values, slots, strict=True):
            self.routine.store(type_, self.writer.every(value), slot)

    def slots(self, record: Record) -> list[str]:
        """A slot for a vector of each leaf."""
        return [self.routine.slot(type_, align=64) for type_ in self.vector_types(record)]

    def select(self, mask: str, then: Sequence[Value], orelse: Sequence[Value]) -> list[Value]:
        """Lane by lane."""
        return [self.writer.select(mask, a, b) for a, b in zip(then, orelse, strict=True)]

    def some_lanes(self, some: Sequence[bool]) -> str:
        """A mask of these lanes, of which LLVM does not know which they are where a register has masks.

        It would have the others hold whatever a register held before, since nobody looks at what becomes of that. As floats
        that may be numbers next to zero, of which a product takes a hundred times as long.
        """
        flags = f"<{len(some)} x i1>"
        if not host().processor.has_avx512:
            return f"<{', '.join(f'i1 {str(each).lower()}' for each in some)}>"
        word = f"i{len(some)}"
        bits = sum(1 << lane for lane, each in enumerate(some) if each)
        entry = self.routine.code.at_entry()
        return entry.emit(f"bitcast {word} {entry.hidden(str(bits), word)} to {flags}")

    def rotated(self, record: Record, values: Sequence[Value], distance: int) -> list[Value]:
        """Lane l gets lane l + distance."""
        writer = self.writer
        return [
            Lanes(writer.rotated(writer.every(value), type_, distance), value.type)
            for value, type_ in zip(values, record.types, strict=True)
        ]

    def lane(self, record: Record, values: Sequence[Value], lane: int | str) -> list[str]:
        """One lane's leaves, as scalars."""
        writer = self.writer
        types = self.vector_types(record)
        index = f"i64 {lane}"
        return [
            writer.scalar.emit(f"extractelement {type_} {writer.every(value)}, {index}")
            for type_, value in zip(types, values, strict=True)
        ]

    def join_lanes(self, record: Record, values: list[Value]) -> list[str]:
        """All lanes merged, each with the one half of the lanes on, then a quarter, …: scalars."""
        half = self.writer.lanes // 2
        while half:
            values = self.merge(record, values, self.rotated(record, values, half))
            half //= 2
        return self.lane(record, values, 0)


_ROTATION = 4
"""Accumulators that take turns."""


class RotatingSlots:
    """Vectors of a state's leaves in memory, of which each use takes the next."""

    def __init__(self, tools: Tools, record: Record, count: int) -> None:
        self._tools = tools
        self._count = count
        self._types = tools.vector_types(record)
        self._arrays = [tools.routine.slot(f"[{count} x {type_}]", align=64) for type_ in self._types]
        self._turn = tools.routine.slot("i64")
        tools.routine.store("i64", "0", self._turn)

    def every(self) -> list[list[str]]:
        """The addresses of all."""
        return [self._at(place) for place in range(self._count)]

    def next(self) -> list[str]:
        """The addresses of the next one."""
        routine = self._tools.routine
        turn = routine.load("i64", self._turn)
        routine.store("i64", routine.code.emit(f"add i64 {turn}, 1"), self._turn)
        return self._at(routine.code.emit(f"and i64 {turn}, {self._count - 1}"))

    def _at(self, place: int | str) -> list[str]:
        code = self._tools.routine.code
        return [
            code.emit(f"getelementptr {type_}, ptr {array}, i64 {place}")
            for type_, array in zip(self._types, self._arrays, strict=True)
        ]


class ExactFold(Accumulator):
    """A fold that any order serves: accumulators over the whole loop, one step of the record after it.

    `repeated`: the loop runs again and again before the end. Then it may be short, and what is left of groups goes to one
    accumulator after the other, so that a run does not wait for the one before. So do all vectors of a body that is written
    once.
    """

    def __init__(self, tools: Tools, record: Record, pointer: str, unroll: int, *, repeated: bool) -> None:
        self._tools = tools
        self._record = record
        self._pointer = pointer
        found = record.state.monoid.neutral
        assert found is not None
        self._neutral: list[Value] = [Fixed(element) for element in found]
        self._slots = [tools.slots(record) for _ in range(unroll)]
        self._rest = RotatingSlots(tools, record, _ROTATION) if repeated or unroll == 1 else None
        # Only a fold without initial value must know whether there was an element at all.
        self._seen = tools.routine.slot(tools.writer.code.vector("i1"), align=64)

    def begin(self) -> None:
        """Accumulators are neutral."""
        for slots in self._every():
            self._tools.store(self._record, self._neutral, slots)
        bit = self._tools.writer.code.splat("i1", "false")
        self._tools.routine.store(self._tools.writer.code.vector("i1"), bit, self._seen)

    def _every(self) -> list[list[str]]:
        return self._slots if self._rest is None else [*self._slots, *self._rest.every()]

    def step(self, values: Sequence[Value], mask: str | None, unit: Unit) -> tuple[Sequence[Value], Sequence[Value]]:
        """Lanes that are not in the mask take the neutral element; the first accumulator takes what is left of groups."""
        tools = self._tools
        slots = self._slots[unit.place or 0] if unit.place is not None or self._rest is None else self._rest.next()
        taken = values if mask is None else tools.select(mask, values, self._neutral)
        tools.store(self._record, tools.merge(self._record, tools.load(self._record, slots), taken), slots)
        if self._record.state.initial is None:
            type_ = tools.writer.code.vector("i1")
            before = tools.routine.load(type_, self._seen)
            some = mask or tools.writer.code.splat("i1", "true")
            tools.routine.store(type_, tools.writer.code.emit(f"or {type_} {before}, {some}"), self._seen)
        return (), ()

    def end(self) -> None:
        """Accumulators and lanes become one element of the record."""
        tools, record = self._tools, self._record
        first, *others = self._every()
        total = tools.load(record, first)
        for slots in others:
            total = tools.merge(record, total, tools.load(record, slots))
        leaves = tools.join_lanes(record, total)
        if record.state.initial is not None:
            record.step(tools.routine, self._pointer, leaves)
            return
        seen = tools.routine.load(tools.writer.code.vector("i1"), self._seen)
        with tools.routine.when(tools.writer.any(seen)):
            record.step(tools.routine, self._pointer, leaves)


class OrderedFold(Accumulator):
    """A commuting fold in the order of `order.fold`, block by block.

    Lane l of accumulator k is lane k * lanes + l of the order. Groups written side by side keep accumulators in slots of
    their own, which become registers; bodies written once index an array of them.
    """

    def __init__(self, tools: Tools, record: Record, pointer: str, unroll: int) -> None:
        self._tools = tools
        self._record = record
        self._pointer = pointer
        found = record.state.monoid.neutral
        self._neutral: list[Value] | None = None if found is None else [Fixed(element) for element in found]
        self._width = order_lanes(record.state.types)
        self._count = self._width // tools.writer.lanes
        self._unrolled = unroll > 1
        self._slots = [tools.slots(record) for _ in range(self._count)]
        self._arrays = [tools.routine.slot(f"[{self._count} x {t}]", align=64) for t in tools.vector_types(record)]

    def begin_block(self) -> None:
        """Accumulators are neutral, or zero where the first element will replace them."""
        zeros: list[Value] = [Lanes("zeroinitializer", final.type) for final in self._record.state.finals]
        for place in range(self._count):
            slots = self._slots[place] if self._unrolled else self._elements(place)
            self._tools.store(self._record, self._neutral or zeros, slots)

    def _elements(self, place: int | str) -> list[str]:
        """The addresses of an accumulator in the arrays."""
        code = self._tools.routine.code
        types = self._tools.vector_types(self._record)
        return [
            code.emit(f"getelementptr {type_}, ptr {array}, i64 {place}")
            for type_, array in zip(types, self._arrays, strict=True)
        ]

    def _move(self, to_arrays: bool) -> None:
        if not self._unrolled:
            return
        for place, slots in enumerate(self._slots):
            source, target = (slots, self._elements(place)) if to_arrays else (self._elements(place), slots)
            self._tools.store(self._record, self._tools.load(self._record, source), target)

    def begin_tail(self) -> None:
        """The accumulators move to the arrays."""
        self._move(to_arrays=True)

    def end_tail(self) -> None:
        """And back."""
        self._move(to_arrays=False)

    def step(self, values: Sequence[Value], mask: str | None, unit: Unit) -> tuple[Sequence[Value], Sequence[Value]]:
        """The vector joins the accumulator of its place in the block."""
        tools, record = self._tools, self._record
        code = tools.routine.code
        if unit.place is None:
            done = code.emit(f"sub i64 {unit.position}, {unit.start}")
            number = code.emit(f"udiv i64 {done}, {tools.writer.lanes}")
            slots = self._elements(code.emit(f"and i64 {number}, {self._count - 1}"))
        else:
            slots = self._slots[unit.place % self._count]
        held = tools.load(record, slots)
        if record.state.products:
            # Accumulators begin as -0.0, and fma(x, y, -0.0) is x * y.
            added = tools.functions.apply(record.steps.following, [*held, *values], None)
            tools.store(record, added if mask is None else tools.select(mask, added, held), slots)
            return (), ()
        if self._neutral is not None:
            taken = values if mask is None else tools.select(mask, values, self._neutral)
            tools.store(record, tools.merge(record, held, taken), slots)
            return (), ()
        done = code.emit(f"sub i64 {unit.position}, {unit.start}")
        first = code.emit(f"icmp slt i64 {done}, {self._width}")
        merged = tools.select(tools.writer.splat(first, "i1"), values, tools.merge(record, held, values))
        tools.store(record, merged if mask is None else tools.select(mask, merged, held), slots)
        return (), ()

    def end_block(self, start: str, end: str) -> None:
        """Lanes join, absent ones are skipped; the block's result is pushed."""
        tools, record = self._tools, self._record
        code = tools.routine.code
        with tools.routine.when(code.emit(f"icmp slt i64 {start}, {end}")):
            present = code.emit(f"sub i64 {end}, {start}")
            vectors = [
                tools.load(record, slots if self._unrolled else self._elements(place))
                for place, slots in enumerate(self._slots)
            ]
            half = self._count // 2
            while half:
                for place in range(half):
                    vectors[place] = self._join(vectors[place], vectors[place + half], present, place, half)
                half //= 2
            leaves = self._join_vector(vectors[0], present)
            partial = tools.routine.slot("i64", record.leaves)
            record.store(tools.routine, leaves, partial, 0)
            record.push(tools.routine, self._pointer, partial)

    def _join(self, left: list[Value], right: list[Value], present: str, place: int, half: int) -> list[Value]:
        """Accumulator `place` takes in the one `half` accumulators on, where that has elements."""
        tools = self._tools
        merged = tools.merge(self._record, left, right)
        if self._neutral is not None:
            return merged
        offset = (place + half) * tools.writer.lanes
        there = tools.writer.first_lanes(tools.routine.code.emit(f"sub i64 {present}, {offset}"))
        return tools.select(there, merged, left)

    def _join_vector(self, values: list[Value], present: str) -> list[str]:
        tools = self._tools
        if self._neutral is not None:
            return tools.join_lanes(self._record, values)
        half = tools.writer.lanes // 2
        while half:
            merged = tools.merge(self._record, values, tools.rotated(self._record, values, half))
            there = tools.writer.first_lanes(tools.routine.code.emit(f"sub i64 {present}, {half}"))
            values = tools.select(there, merged, values)
            half //= 2
        return tools.lane(self._record, values, 0)
