"""What a strip of a tile reads, and its partial results while the fold runs: in registers, and what waits in a binary counter.

Lanes of the order are visited with reversed bits: then those that join follow each other, as blocks do (`states/records.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.values import Fixed, Lanes, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.processor import LINE
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.layout import Layout, Panel, Strip
from accel.backends.llvm.text.code import memory_type
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import State, Stream

Where: TypeAlias = Mapping[int, str]
"""A position in a panel: for each size of elements the address from which its streams are counted."""

Leaves: TypeAlias = Mapping[str, Sequence[Value]]
"""A vector of each leaf of each state, by name."""


class Positions:
    """A panel from one of its rows, or columns, on."""

    def __init__(self, routine: Routine, panel: Panel, pointer: str, begin: str) -> None:
        self._routine = routine
        self._panel = panel
        self._bases = {
            stream.type.bytes: self._moved(pointer, begin, stream.type.bytes) for stream in panel.side.streams
        }

    @property
    def begin(self) -> Where:
        """The first position."""
        return self._bases

    def beyond(self, where: Where, places: str) -> Where:
        """So many positions on."""
        return {size: self._moved(pointer, places, self._panel.bytes) for size, pointer in where.items()}

    def hidden(self, where: Where) -> Where:
        """The same position, by which alone LLVM is to address all that is read there."""
        return {size: self._routine.code.hidden(pointer) for size, pointer in where.items()}

    def ask(self, where: Where, places: int) -> None:
        """Asks for what stands so many positions on, which there need not be."""
        code = self._routine.code
        code.declare("void", "llvm.prefetch.p0", "ptr, i32, i32, i32")
        pointer = next(iter(where.values()))
        for line in range(0, self._panel.bytes, LINE):
            address = self._moved(pointer, str(places * self._panel.bytes + line), 1)
            code.line(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")

    def streams(self, where: Where, begin: int) -> list[tuple[Stream, str]]:
        """Where the row or column `begin`, counted from the first, has its streams."""
        return [
            (stream, self._moved(where[stream.type.bytes], str(offset + begin * stream.type.bytes), 1))
            for stream, offset in zip(self._panel.side.streams, self._panel.offsets, strict=True)
        ]

    def _moved(self, pointer: str, count: str, size: int) -> str:
        """The address `count` times `size` bytes on."""
        if count == "0":
            return pointer
        code = self._routine.code
        offset = str(int(count) * size) if count.isdecimal() else code.emit(f"mul i64 {count}, {size}")
        return code.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}")


class Walk:
    """A position that moves on."""

    def __init__(self, routine: Routine, positions: Positions, where: Where) -> None:
        self._routine = routine
        self._positions = positions
        self._slots = {size: routine.slot("ptr") for size in where}
        self._go(where)

    def here(self) -> Where:
        """The position, by which alone LLVM is to address what is read there."""
        return self._positions.hidden({size: self._routine.load("ptr", slot) for size, slot in self._slots.items()})

    def go_on(self, here: Where, places: str) -> None:
        """Moves on, by so many positions."""
        self._go(self._positions.beyond(here, places))

    def _go(self, where: Where) -> None:
        for size, slot in self._slots.items():
            self._routine.store("ptr", where[size], slot)


class Accumulators:
    """A vector of each leaf of each state, for each lane, row and vector of a strip."""

    def __init__(self, routine: Routine, writer: Writer, functions: Functions, layout: Layout, strip: Strip) -> None:
        self._routine = routine
        self._writer = writer
        self._functions = functions
        self.layout = layout
        self.strip = strip
        self._saved = saved(layout, strip)
        self._slots = {
            (state.name, lane, row, vector): [
                routine.slot(writer.code.type(final.type), align=64) for final in state.finals
            ]
            for state in layout.states
            for lane in range(strip.lanes)
            for row in range(strip.rows)
            for vector in range(strip.vectors)
        }

    def get(self, state: State, lane: int, row: int, vector: int) -> list[Value]:
        """What they hold."""
        return load(self._writer, state, self._slots[state.name, lane, row, vector], self._routine)

    def put(self, state: State, lane: int, row: int, vector: int, values: Sequence[Value]) -> None:
        """Changes them."""
        store(self._writer, state, values, self._slots[state.name, lane, row, vector], self._routine)

    def begin(self) -> None:
        """Nothing yet: `fma(x, y, -0.0)` is `x * y`."""
        for state in self.layout.states:
            assert state.monoid.neutral is not None
            neutral: list[Value] = [Fixed(element) for element in state.monoid.neutral]
            for (name, _, _, _), slots in self._slots.items():
                if name == state.name:
                    store(self._writer, state, neutral, slots, self._routine)

    def join_lanes(self) -> None:
        """All lanes join, into the first."""
        distance = 1
        while distance < self.strip.lanes:
            for lane in range(0, self.strip.lanes, 2 * distance):
                for state, row, vector, _ in self._saved:
                    self._merge(state, row, vector, self.get(state, lane, row, vector), lane, lane + distance)
            distance *= 2

    def _merge(self, state: State, row: int, vector: int, left: Sequence[Value], into: int, lane: int) -> None:
        merged = self._functions.apply(state.merge, [*left, *self.get(state, lane, row, vector)], None)
        self.put(state, into, row, vector, merged)

    def join(self, counter: str, turn: str) -> None:
        """What the first lane holds joins what waits for it in the counter, and waits itself; `turn`: how many came before."""
        routine, code = self._routine, self._routine.code
        rest, level = routine.slot("i64"), routine.slot("ptr")
        routine.store("i64", turn, rest)
        routine.store("ptr", counter, level)
        with routine.repeat() as while_:
            bits, place = routine.load("i64", rest), code.hidden(routine.load("ptr", level))
            while_(code.emit(f"trunc i64 {bits} to i1"))
            self.merge(place)
            routine.store("i64", code.emit(f"lshr i64 {bits}, 1"), rest)
            size = self.layout.strip_bytes(self.strip)
            routine.store("ptr", code.emit(f"getelementptr i8, ptr {place}, i64 {size}"), level)
        self.keep(place)

    def merge(self, place: str) -> None:
        """What the first lane holds joins what was kept there."""
        for state, row, vector, offsets in self._saved:
            left = load(self._writer, state, self._beyond(place, offsets), self._routine)
            self._merge(state, row, vector, left, 0, 0)

    def keep(self, place: str) -> None:
        """What the first lane holds is kept there."""
        for state, row, vector, offsets in self._saved:
            self._save(state, row, vector, self._beyond(place, offsets))

    def save(self, tile: str, row: str, vector: str) -> None:
        """What the first lane holds is saved as part of a whole tile, from this row and vector on."""
        code, layout = self._routine.code, self.layout
        places = {(state.name, i, k): offsets for state, i, k, offsets in saved(layout, layout.whole)}
        number = code.emit(f"add i64 {code.emit(f'mul i64 {row}, {layout.vectors}')}, {vector}")
        begins = dict[int, str]()
        for final in (final for state in layout.states for final in state.finals):
            if final.type.bytes not in begins:
                begin = code.emit(f"mul i64 {number}, {layout.lanes * final.type.bytes}")
                begins[final.type.bytes] = code.hidden(code.emit(f"getelementptr i8, ptr {tile}, i64 {begin}"))
        for state, i, k, _ in self._saved:
            of_strip = zip(state.finals, places[state.name, i, k], strict=True)
            starts = [(begins[final.type.bytes], offset) for final, offset in of_strip]
            self._save(state, i, k, [code.emit(f"getelementptr i8, ptr {each}, i64 {o}") for each, o in starts])

    def _save(self, state: State, row: int, vector: int, addresses: Sequence[str]) -> None:
        store(self._writer, state, self.get(state, 0, row, vector), addresses, self._routine)

    def _beyond(self, pointer: str, offsets: Sequence[int]) -> list[str]:
        return [self._routine.code.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}") for offset in offsets]


class Joins:
    """How neighbouring lanes join in registers, some vectors of each; `states`: those whose leaves they are, by name."""

    def __init__(self, routine: Routine, writer: Writer, functions: Functions, states: Mapping[str, State]) -> None:
        self._routine, self._writer, self._functions, self._states = routine, writer, functions, states

    def joined(self, left: list[Leaves], right: list[Leaves], mask: str | None) -> list[Leaves]:
        """Both joined, vector by vector, where the mask is set (None: everywhere), else the left one."""
        return [
            {name: self._state(name, one[name], other[name], mask) for name in other}
            for one, other in zip(left, right, strict=True)
        ]

    def _state(self, name: str, left: Sequence[Value], right: Sequence[Value], mask: str | None) -> list[Value]:
        merged = self._functions.apply(self._states[name].merge, [*left, *right], None)
        if mask is None:
            return merged
        return [self._writer.select(mask, *values) for values in zip(merged, left, strict=True)]

    def joined_where(self, there: str, left: list[Leaves], leaves: Callable[[], list[Leaves]]) -> list[Leaves]:
        """Joined with the lane behind it, which is computed only where the i1 `there` holds."""
        routine, code = self._routine, self._writer.code
        slots = [
            {name: [routine.slot(code.type(value.type), align=64) for value in values] for name, values in of.items()}
            for of in left
        ]

        def put(vectors: list[Leaves]) -> None:
            for places, found in zip(slots, vectors, strict=True):
                for name, values in found.items():
                    for slot, value in zip(places[name], values, strict=True):
                        routine.store(code.type(value.type), self._writer.every(value), slot)

        put(left)
        with routine.when(there):
            put(self.joined(left, leaves(), None))
        return [
            {
                name: [
                    self._writer.varying(routine.load(code.type(value.type), slot), value.type)
                    for slot, value in zip(places[name], values, strict=True)
                ]
                for name, values in of.items()
            }
            for places, of in zip(slots, left, strict=True)
        ]


def copied(writer: Writer, given: Mapping[str, Value]) -> dict[str, Value]:
    """Vectors in registers of AVX-512 that may be overwritten, where LLVM would not take others than those they are in. What
    does not fill a register, or fills several, stays as it is: LLVM has none to copy it to."""
    found = dict(given)
    for name, value in given.items():
        if value.type.bytes * writer.lanes != host().processor.registers.bytes:
            continue
        type_ = writer.code.vector(memory_type(value.type))
        copy = f'call {type_} asm "", "=v,0"({type_} {writer.every(value)})'
        found[name] = Lanes(writer.code.emit(copy), value.type)
    return found


def saved(layout: Layout, strip: Strip) -> list[tuple[State, int, int, list[int]]]:
    """For each state, row and vector of a strip where in memory its leaves stand."""
    found, begin = [], 0
    for state in layout.states:
        sizes = [layout.lanes * final.type.bytes for final in state.finals]
        for row in range(strip.rows):
            for vector in range(strip.vectors):
                number = row * strip.vectors + vector
                offsets, start = [], begin
                for size in sizes:
                    offsets.append(start + number * size)
                    start += strip.rows * strip.vectors * size
                found.append((state, row, vector, offsets))
        begin += strip.rows * strip.vectors * sum(sizes)
    return found


def load(writer: Writer, state: State, addresses: Sequence[str], routine: Routine) -> list[Value]:
    """A vector of each leaf."""
    return [
        writer.varying(routine.load(writer.code.type(final.type), address), final.type)
        for final, address in zip(state.finals, addresses, strict=True)
    ]


def store(writer: Writer, state: State, values: Sequence[Value], addresses: Sequence[str], routine: Routine) -> None:
    """The same, into memory."""
    for final, value, address in zip(state.finals, values, addresses, strict=True):
        routine.store(writer.code.type(final.type), writer.every(value), address)
