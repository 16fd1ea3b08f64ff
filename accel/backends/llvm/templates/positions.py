"""Maps of short rows, in lanes over the positions of all rows: some lanes have the end of a row, others the next one.

Each lane's indices are the digits of its position, the extents the bases; from vector to vector they rise by the digits of the
number of lanes, and carry. The code is compiled when a call first has such rows; that of rows of one element is another, where
the innermost loop is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Digit, Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.chunks import leave_if_failed
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.templates.launch import launch, product_of_extents
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.errors import AccelInternalError
from accel.ir.nodes import For
from accel.schedule.templates.cpu.positions import Positions, extents

LEAST = 4096
"""Elements below which rows take no more than some microseconds longer, so that it is not worth to compile more code."""

DIGITS, GATHER = 0.25, 0.2
"""Nanoseconds of an element's indices, and of an element that is gathered, about."""


class PositionLoops:
    """One nest in lanes over positions: an `Alternative` to its rows."""

    def __init__(self, text: NestText, found: Positions, lanes: int) -> None:
        """`lanes` of the vectors in which the nest's statements are computed."""
        self._text = text
        self._found = found
        self._lanes = lanes
        time = DIGITS + GATHER * found.gathers
        self._slower = max(1, round(time / text.duration.least))
        self._late = Late(f"{text.name}_positions", 2, self._routines)

    def applies(self, levels: Levels) -> str:
        """Whether rows are short, there are enough, and arrays lie as the loops run: an i1."""
        code, found, row = levels.routine.code, self._found, "1"
        for loop in found.loops[found.rows :]:
            row = code.emit(f"mul i64 {row}, {levels.extent(loop)}")
        short = code.emit(f"icmp sle i64 {row}, {found.most}")
        total = product_of_extents(levels, found.loops)
        result = code.emit(f"and i1 {short}, {code.emit(f'icmp sge i64 {total}, {LEAST}')}")
        for array in found.runs:
            for place in range(len(array.shape) - 1):
                inner = levels.view.stride(array, place + 1)
                whole = code.emit(f"mul i64 {inner}, {levels.view.extent(array.shape[place + 1])}")
                adjacent = code.emit(f"icmp eq i64 {levels.view.stride(array, place)}, {whole}")
                result = code.emit(f"and i1 {result}, {adjacent}")
        return result

    def run(self, levels: Levels) -> None:
        """All positions."""
        self._text.routines.append(self._late.found())
        self._text.late.append(self._late)
        routine, code, total = levels.routine, levels.routine.code, product_of_extents(levels, self._found.loops)
        single = code.emit(f"icmp eq i64 {levels.extent(self._found.loops[-1])}, 1")
        number = code.emit(f"zext i1 {single} to i64")
        function = self._late.address(routine, number)
        parts, elements = code.parts(total, str(self._lanes)), code.emit(f"mul i64 {total}, {self._slower}")
        launch(self._text, levels, function, parts, elements, self._lanes * self._slower)

    def _routines(self, number: int) -> Sequence[Routine]:
        """`@<name>_positions(frame, low, high)`: some vectors of positions. Number 1 is for rows of one element."""
        routine = Routine(f"void @{self._late.name}(ptr %frame, i64 %low, i64 %high)")
        levels, code = Levels(self._text, routine, "ret void"), routine.code
        leave_if_failed(levels.view)
        writer, total = Writer(code, self._lanes), product_of_extents(levels, self._found.loops)
        low = code.emit(f"mul i64 %low, {self._lanes}")
        high = routine.least(code.emit(f"mul i64 %high, {self._lanes}"), total)
        digits = _Digits(levels, writer, self._found.loops, single=number == 1)
        digits.begin(low)
        memory = levels.memory.with_writer(writer)
        outer = dict(levels.streams.made)

        def step(*_: object) -> tuple[Sequence[Value], Sequence[Value]]:
            raise AccelInternalError("the loops have no states")

        def vector(mask: str | None) -> None:
            streams = Streams(memory, outer | digits.now())
            statements = Statements(writer, memory, streams, step)
            for statement in self._found.statements:
                statements.masked(statement, mask)

        position = routine.slot("i64")
        routine.store("i64", low, position)
        with routine.advance(position, code.emit(f"sub i64 {high}, {self._lanes - 1}"), self._lanes):
            vector(None)
            digits.advance()
        rest = code.emit(f"sub i64 {high}, {routine.load('i64', position)}")
        with routine.when(code.emit(f"icmp sgt i64 {rest}, 0")):
            vector(writer.first_lanes(rest))
        code.line("ret void")
        levels.memory.close()
        return [routine]


class _Digits:
    """The indices of all loops, in lanes and of lane 0, in slots. `single`: whether the innermost has one iteration."""

    def __init__(self, levels: Levels, writer: Writer, loops: Sequence[For], *, single: bool) -> None:
        self._levels, self._writer = levels, writer
        self._loops, self._single = (loops[:-1], loops[-1:]) if single else (loops, loops[:0])
        self._extents = [levels.extent(loop) for loop in self._loops]
        self._scalar = Writer(levels.routine.code, 1)
        routine, vector = levels.routine, writer.code.type(I64)
        self._lanes = [routine.slot(vector, align=64) for _ in self._loops]
        self._first = [routine.slot("i64") for _ in self._loops]
        self._steps = self._digits(self._scalar, Uniform(str(writer.lanes), I64))

    def begin(self, position: str) -> None:
        """Those of the vector that begins at a position."""
        firsts = self._digits(self._scalar, Uniform(position, I64))
        lanes = self._digits(self._writer, Progression(position, 1))
        routine, vector = self._levels.routine, self._writer.code.type(I64)
        for place in range(len(self._extents)):
            routine.store("i64", self._scalar.one(firsts[place]), self._first[place])
            routine.store(vector, self._writer.every(lanes[place]), self._lanes[place])

    def advance(self) -> None:
        """Those of the next vector."""
        self._add(self._scalar, self._first)
        self._add(self._writer, self._lanes)

    def now(self) -> dict[str, Value]:
        """Each loop's index."""
        routine, vector = self._levels.routine, self._writer.code.type(I64)
        return {
            **{loop.index.name: Uniform("0", I64) for loop in self._single},
            **{
                loop.index.name: Digit(
                    routine.load(vector, self._lanes[place]),
                    routine.load("i64", self._first[place]),
                    extents(self._loops[place + 1 :]),
                    place == 0,
                    extents(self._single),
                )
                for place, loop in enumerate(self._loops)
            },
        }

    def _digits(self, writer: Writer, number: Value) -> list[Value]:
        """The digits of a number that is not negative, that of the outermost loop first, which has no base."""
        digits: list[Value] = []
        for extent in reversed(self._extents[1:]):
            digits.append(writer.operator(Operator.REM, I64, [number, Uniform(extent, I64)]))
            number = writer.operator(Operator.QUOT, I64, [number, Uniform(extent, I64)])
        return [number, *reversed(digits)]

    def _add(self, writer: Writer, slots: Sequence[str]) -> None:
        """The digits of the number of lanes to those in slots."""
        code, routine, vector = writer.code, self._levels.routine, writer.code.type(I64)
        carry = None
        for place in reversed(range(len(slots))):
            step = writer.every(self._steps[place])
            total = code.emit(f"add {vector} {routine.load(vector, slots[place])}, {step}")
            if carry is not None:
                one = code.emit(f"zext {code.vector('i1')} {carry} to {vector}")
                total = code.emit(f"add {vector} {total}, {one}")
            if place:
                base = writer.every(Uniform(self._extents[place], I64))
                carry = code.emit(f"icmp sge {vector} {total}, {base}")
                less = code.emit(f"sub {vector} {total}, {base}")
                total = code.emit(f"select {code.vector('i1')} {carry}, {vector} {less}, {vector} {total}")
            routine.store(vector, total, slots[place])
