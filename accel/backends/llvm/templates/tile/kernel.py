"""The tile itself: rows times vectors of columns, whose partial results stay in registers while the fold runs.

Lanes of the order are visited with reversed bits: then those that join follow each other, and what waits is a binary counter
of partial results, as for blocks (`states/records.py`). So the tree is that of docs/order.md, element by element.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Step, Streams
from accel.backends.llvm.emit.values import Fixed, Lanes, Value, Writer
from accel.backends.llvm.templates.tile.layout import Layout, Panel, Parameters, Word
from accel.backends.llvm.templates.tile.packs import reversed_lane
from accel.backends.llvm.text.code import memory_type, register_type
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import LoopBody, ManyToOne, State, Stream
from accel.labelled.meaning.products import steps as element_steps

AT_ONCE = 4
"""Lanes of one element that are joined in registers."""


class Kernel:
    """`@<name>(frame, parameters, row panel, column panel, counter, out)`: one block of elements, for one tile."""

    def __init__(self, name: str, layout: Layout, frame: Frame) -> None:
        parameters = "ptr %frame, ptr %parameters, ptr noalias %rows, ptr noalias %columns"
        self.routine = Routine(f"void @{name}({parameters}, ptr noalias %counter, ptr noalias %out)")
        self._layout = layout
        self._writer = Writer(self.routine.code, layout.lanes)
        self._memory = Memory(FrameView(self.routine, frame), self._writer, "ret void", None)
        self._functions = Functions(self._writer, self._memory)
        self._accumulators = {
            (state.name, row, vector): [
                self.routine.slot(self._writer.code.type(final.type), align=64) for final in state.finals
            ]
            for state in layout.states
            for row in range(layout.rows)
            for vector in range(layout.vectors)
        }

    def write(self) -> Routine:
        """The whole function."""
        routine, code = self.routine, self.routine.code
        words = Parameters(routine, "%parameters")
        log, count, most = words.get(Word.LOG), words.get(Word.COUNT), words.get(Word.STEPS)
        lanes = code.emit(f"shl i64 1, {log}")
        rest = code.emit(f"and i64 {count}, {code.emit(f'sub i64 {lanes}, 1')}")
        uneven = code.emit(f"icmp ne i64 {rest}, 0")
        turn = routine.slot("i64")
        routine.store("i64", "0", turn)
        with routine.advance(turn, lanes, 0) as first:
            lane = reversed_lane(routine, first, log)
            several, one, after = routine.label(), routine.label(), routine.label()
            routine.branch(self._are_steps(first, lane, lanes, count, most), several, one)
            routine.place(several)
            self._steps_at_once(first)
            self._join(first, AT_ONCE.bit_length() - 1)
            routine.store("i64", code.emit(f"add i64 {first}, {AT_ONCE}"), turn)
            routine.jump(after)
            routine.place(one)
            shorter = code.emit(f"and i1 {uneven}, {code.emit(f'icmp sge i64 {lane}, {rest}')}")
            steps = code.emit(f"sub i64 {most}, {code.emit(f'zext i1 {shorter} to i64')}")
            self._begin()
            self._lane(code.emit(f"mul i64 {first}, {most}"), steps)
            self._join(first, 0)
            routine.store("i64", code.emit(f"add i64 {first}, 1"), turn)
            routine.jump(after)
            routine.place(after)
        self.save("%out")
        code.line("ret void")
        self._memory.close()
        return routine

    def _are_steps(self, turn: str, lane: str, lanes: str, count: str, most: str) -> str:
        """Whether this lane and those that join it first, which follow it, have one element each: then no lane waits."""
        code = self.routine.code
        before = code.emit(f"lshr i64 {code.emit(f'mul i64 {lanes}, {AT_ONCE - 1}')}, {AT_ONCE.bit_length() - 1}")
        last = code.emit(f"add i64 {lane}, {before}")
        there = code.emit(f"icmp slt i64 {last}, {count}")
        for condition in (
            f"icmp eq i64 {most}, 1",
            f"icmp sge i64 {lanes}, {AT_ONCE}",
            f"icmp eq i64 {code.emit(f'and i64 {turn}, {AT_ONCE - 1}')}, 0",
        ):
            there = code.emit(f"and i1 {there}, {code.emit(condition)}")
        return there

    def _steps_at_once(self, turn: str) -> None:
        """The only elements of some lanes, joined."""
        code, layout = self.routine.code, self._layout
        places = [turn, *(code.emit(f"add i64 {turn}, {number}") for number in range(1, AT_ONCE))]
        rows, columns = (
            [code.emit(f"getelementptr i8, ptr {pack}, i64 {code.emit(f'mul i64 {p}, {panel.bytes}')}") for p in places]
            for pack, panel in (("%rows", layout.row_panel), ("%columns", layout.column_panel))
        )
        for row in range(layout.rows):
            of_rows = [self._row(pointer, row) for pointer in rows]
            for vector in range(layout.vectors):
                elements = [
                    self._element({**of_row, **self._columns(pointer, vector)})
                    for of_row, pointer in zip(of_rows, columns, strict=True)
                ]
                for state in layout.states:
                    joined = [element[state.name] for element in elements]
                    while len(joined) > 1:
                        pairs = zip(joined[::2], joined[1::2], strict=True)
                        joined = [self._functions.apply(state.merge, [*a, *b], None) for a, b in pairs]
                    self._put(state, joined[0], self._accumulators[state.name, row, vector])

    def _element(self, made: dict[str, Value]) -> dict[str, list[Value]]:
        """What a lane of this element alone comes to, for each state."""
        states, found = {state.name: state for state in self._layout.states}, dict[str, list[Value]]()

        def step(
            statement: ManyToOne, values: Sequence[Value], mask: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            state = states[statement.state]
            first = element_steps(state.merge, state.monoid, state.types, state.products).first
            found[state.name] = self._functions.apply(first, values, None)
            return (), ()

        self._write(made, step)
        return found

    def _write(self, made: dict[str, Value], step: Step) -> None:
        """The statements of an element."""
        statements = Statements(self._writer, self._memory, Streams(self._memory, made), step)
        every: list[LoopBody] = [*self._layout.tile.inside, *self._layout.tile.steps]
        for statement in every:
            statements.masked(statement, None)

    def _begin(self) -> None:
        """Nothing yet: `fma(x, y, -0.0)` is `x * y`."""
        for state in self._layout.states:
            assert state.monoid.neutral is not None
            neutral: list[Value] = [Fixed(element) for element in state.monoid.neutral]
            for (name, _, _), slots in self._accumulators.items():
                if name == state.name:
                    self._put(state, neutral, slots)

    def _lane(self, place: str, steps: str) -> None:
        """The steps of one lane, whose first element stands at `place` in the panels."""
        routine, code = self.routine, self.routine.code
        panels = (self._layout.row_panel, self._layout.column_panel)
        slots = []
        for panel, pointer in zip(panels, ("%rows", "%columns"), strict=True):
            slots.append(routine.slot("ptr"))
            offset = code.emit(f"mul i64 {place}, {panel.bytes}")
            routine.store("ptr", code.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}"), slots[-1])
        with routine.count("0", steps):
            rows, columns = (routine.load("ptr", slot) for slot in slots)
            of_columns = [self._columns(columns, vector) for vector in range(self._layout.vectors)]
            for row in range(self._layout.rows):
                of_row = self._row(rows, row)
                for vector, of_column in enumerate(of_columns):
                    self._step(row, vector, {**of_row, **of_column})
            for panel, slot, pointer in zip(panels, slots, (rows, columns), strict=True):
                routine.store("ptr", code.emit(f"getelementptr i8, ptr {pointer}, i64 {panel.bytes}"), slot)

    def _columns(self, pointer: str, vector: int) -> dict[str, Value]:
        """A vector of what the columns give."""
        found: dict[str, Value] = {}
        for stream, address in self._addresses(self._layout.column_panel, pointer, vector * self._layout.lanes):
            type_ = self._writer.code.vector(memory_type(stream.type))
            text = self.routine.code.emit(f"load {type_}, ptr {address}, align {stream.type.bytes}")
            found[stream.name] = Lanes(text, stream.type)
        return found

    def _row(self, pointer: str, row: int) -> dict[str, Value]:
        """What a row gives, in every lane."""
        found: dict[str, Value] = {}
        for stream, address in self._addresses(self._layout.row_panel, pointer, row):
            type_ = register_type(stream.type)
            found[stream.name] = Lanes(self._writer.splat(self.routine.load(type_, address), type_), stream.type)
        return found

    def _addresses(self, panel: Panel, pointer: str, begin: int) -> list[tuple[Stream, str]]:
        code = self.routine.code
        return [
            (stream, code.emit(f"getelementptr i8, ptr {pointer}, i64 {offset + begin * stream.type.bytes}"))
            for stream, offset in zip(panel.side.streams, panel.offsets, strict=True)
        ]

    def _step(self, row: int, vector: int, made: dict[str, Value]) -> None:
        """One element of the fold, for one row and a vector of columns."""
        states = {state.name: state for state in self._layout.states}

        def step(
            statement: ManyToOne, values: Sequence[Value], mask: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            state, slots = states[statement.state], self._accumulators[statement.state, row, vector]
            held = self._get(state, slots)
            following = element_steps(state.merge, state.monoid, state.types, state.products).following
            self._put(state, self._functions.apply(following, [*held, *values], None), slots)
            return (), ()

        self._write(made, step)

    def _join(self, turn: str, joined: int) -> None:
        """The lane joins those before it that wait for it, and waits itself; `joined`: levels that it is the result of."""
        routine, code = self.routine, self.routine.code
        rest, level = routine.slot("i64"), routine.slot("ptr")
        routine.store("i64", code.emit(f"lshr i64 {turn}, {joined}"), rest)
        routine.store("ptr", code.emit(f"getelementptr i8, ptr %counter, i64 {joined * self._layout.bytes}"), level)
        head, join, after = routine.label(), routine.label(), routine.label()
        routine.jump(head)
        routine.place(head)
        bits, place = routine.load("i64", rest), routine.load("ptr", level)
        routine.branch(code.emit(f"trunc i64 {bits} to i1"), join, after)
        routine.place(join)
        for state, slots, address in self._saved(place):
            left = self._get(state, address)
            self._put(state, self._functions.apply(state.merge, [*left, *self._get(state, slots)], None), slots)
        routine.store("i64", code.emit(f"lshr i64 {bits}, 1"), rest)
        routine.store("ptr", code.emit(f"getelementptr i8, ptr {place}, i64 {self._layout.bytes}"), level)
        routine.jump(head)
        routine.place(after)
        self.save(place)

    def save(self, pointer: str) -> None:
        """All accumulators, to memory."""
        for state, slots, addresses in self._saved(pointer):
            self._put(state, self._get(state, slots), addresses)

    def _saved(self, pointer: str) -> list[tuple[State, list[str], list[str]]]:
        """Each state of each vector: its accumulators, and where they are saved from `pointer` on."""
        found = []
        for state, row, vector, offsets in saved(self._layout):
            addresses = [self.routine.code.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}") for offset in offsets]
            found.append((state, self._accumulators[state.name, row, vector], addresses))
        return found

    def _get(self, state: State, slots: Sequence[str]) -> list[Value]:
        return load(self._writer, state, slots, self.routine)

    def _put(self, state: State, values: Sequence[Value], slots: Sequence[str]) -> None:
        store(self._writer, state, values, slots, self.routine)


def saved(layout: Layout) -> list[tuple[State, int, int, list[int]]]:
    """For each state, row and vector of a tile where in memory its leaves stand."""
    found, begin = [], 0
    for state in layout.states:
        sizes = [layout.lanes * final.type.bytes for final in state.finals]
        for row in range(layout.rows):
            for vector in range(layout.vectors):
                number = row * layout.vectors + vector
                offsets, start = [], begin
                for size in sizes:
                    offsets.append(start + number * size)
                    start += layout.rows * layout.vectors * size
                found.append((state, row, vector, offsets))
        begin += layout.rows * layout.vectors * sum(sizes)
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
