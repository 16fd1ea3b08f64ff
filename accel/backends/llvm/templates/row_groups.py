"""Folds of rows, as many at once as a register has lanes: each is folded in lanes along it, until one register is left of it.

The registers of all rows of a group join as lanes do (docs/order.md), two rows at once: halves of two registers and the other
halves of both, then quarters, …, until each lane has a row. So what follows the fold runs in lanes across rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Fixed, Lanes, Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.chunks import leave_if_failed
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.loops.schedule import note_streaming
from accel.backends.llvm.loops.steps import iterations
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.templates.launch import launch
from accel.backends.llvm.templates.strips.accumulators import Strip, StripFold
from accel.backends.llvm.templates.strips.statements import no_step
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import For, Level, ManyToOne, Read, State, Stream, Write
from accel.labelled.meaning.order import BLOCK
from accel.labelled.meaning.order import lanes as order_lanes
from accel.schedule.templates.row_groups import RowGroups
from accel.support.dataclass import dataclass

MOST_LANES = 16

TOGETHER = 4
"""Rows that are folded side by side."""

LONG_BYTES = 12 << 10
"""Of rows that all read something, and are so long that several at once are read from memory as fast as one by one."""

ACCUMULATORS = 4
"""Of a row whose fold any order serves."""

GROUP_STEPS = 4
"""Of `loops/steps.py`: the most of a group. Longer rows are as fast one by one, and end within a step."""

TYPICAL = 256
"""Elements of a row, where their number is not known: it decides how many rows a thread takes at once."""


class RowsAtOnce:
    """One nest by groups of rows: an `Alternative` to rows. `alone`: no two are folded side by side. `every`: also where rows
    are as good."""

    def __init__(self, text: NestText, rows: RowGroups, *, alone: bool = False, every: bool = False) -> None:
        self._text = text
        self._rows = rows
        states = rows.fold.states
        widths = [final.type.bytes for state in states for final in state.finals]
        inside = (*rows.fold.body.before, *rows.fold.body.after, *rows.rows.body.after)
        widths += [s.array.element.bytes for s in inside if isinstance(s, Read | Write)]
        orders = [order_lanes(state.types) for state in states if not state.monoid.exact]
        self._lanes = min([MOST_LANES, REGISTER_BYTES // max(widths), *orders])
        self._accumulators = min(orders, default=ACCUMULATORS * self._lanes) // self._lanes
        # Short rows are transposed in less time than their lanes join, which is less where any order serves.
        self._least = 1 if every else self._lanes + self._lanes // 4 if orders else 2 * self._lanes
        if rows.shares and not alone and not every:
            self._least = max(self._least, LONG_BYTES // max(widths))
        self._together = 1 if alone else TOGETHER
        self._name = f"{text.name}_{'rows_alone' if alone else 'row_groups'}"
        free = every or rows.shares or rows.between is not None
        self._longest = None if free else 2 * self._accumulators * self._lanes
        self._most = max(self._least, GROUP_STEPS * iterations(text.duration) // self._lanes)

    def applies(self, levels: Levels) -> str:
        """Whether rows fill enough lanes, and either read the same or are not so long that joining lanes takes little of the
        time; and there are enough of them side by side: an i1."""
        code, length = levels.routine.code, levels.extent(self._rows.fold)
        applies = code.emit(f"icmp sge i64 {levels.extent(self._rows.rows)}, {self._lanes}")
        applies = code.emit(f"and i1 {applies}, {code.emit(f'icmp sge i64 {length}, {self._least}')}")
        applies = code.emit(f"and i1 {applies}, {code.emit(f'icmp sle i64 {length}, {self._most}')}")
        if self._rows.between is not None:
            some = code.emit(f"icmp sgt i64 {levels.extent(self._rows.between)}, 0")
            applies = code.emit(f"and i1 {applies}, {some}")
        if self._longest is None:
            return applies
        return code.emit(f"and i1 {applies}, {code.emit(f'icmp sle i64 {length}, {self._longest}')}")

    def run(self, levels: Levels) -> None:
        """All rows."""
        code, parts, elements = levels.routine.code, "1", levels.extent(self._rows.fold)
        if self._rows.between is not None:
            elements = code.emit(f"mul i64 {elements}, {levels.extent(self._rows.between)}")
        for loop in self._rows.loops:
            extent = levels.extent(loop)
            elements = code.emit(f"mul i64 {elements}, {extent}")
            some = code.parts(extent, str(self._lanes)) if loop == self._rows.rows else extent
            parts = code.emit(f"mul i64 {parts}, {some}")
        self._text.routines.append(self._routine())
        note_streaming(self._text, levels, elements, 1)
        launch(self._text, levels, f"@{self._name}", parts, elements, self._lanes * TYPICAL)

    def _routine(self) -> Routine:
        """`@<name>_row_groups(frame, low, high)`, or `@<name>_rows_alone`: some groups."""
        routine = Routine(f"void @{self._name}(ptr %frame, i64 %low, i64 %high)")
        levels, rows, code = Levels(self._text, routine, "ret void"), self._rows, routine.code
        leave_if_failed(levels.view)
        extents = [levels.extent(loop) for loop in rows.loops]
        groups, last = code.parts(extents[-1], str(self._lanes)), code.emit(f"sub i64 {extents[-1]}, {self._lanes}")
        folds = _Group(levels, rows, self._lanes, self._accumulators, self._together)
        with routine.count("%low", "%high") as number:
            # The last group begins earlier rather than end behind the rows.
            *outer, group = code.indices(number, [*extents[:-1], groups])
            for loop, index in zip(rows.loops[:-1], outer, strict=True):
                levels.streams.made[loop.index.name] = Uniform(index, I64)
            folds.write(routine.least(code.emit(f"mul i64 {group}, {self._lanes}"), last))
        code.line("ret void")
        levels.memory.close()
        return routine


@dataclass(frozen=True, slots=True)
class _Rest:
    """Elements that are fewer than lanes: `some`, an i1, if there are any; where they begin; the mask of their lanes."""

    some: str
    at: str
    mask: str


class _Group:
    """The rows of a group, folded."""

    def __init__(self, levels: Levels, rows: RowGroups, lanes: int, accumulators: int, together: int) -> None:
        self._levels, self._rows, self._count, self._together = levels, rows, accumulators, together
        self._routine, self._lanes = levels.routine, lanes
        self._writer = Writer(levels.routine.code, lanes)
        self._memory = levels.memory.with_writer(self._writer)
        functions = Functions(self._writer, self._memory)
        strip = Strip(self._routine, self._writer, self._memory, functions, 1, "1")
        self._folds = {state.name: _Rows(strip, state, accumulators, together) for state in rows.fold.states}
        between = rows.between.states if rows.between else ()
        self._blocks = {s.name: StripFold(strip, s, streams=s in between) for s in (*rows.fold.states, *between)}

    def write(self, first: str) -> None:
        """As many rows as there are lanes, from the first one on."""
        rows, outside = self._rows.rows, dict(self._levels.streams.made)
        made = {**outside, rows.index.name: Progression(first, 1)}
        if self._rows.between is None:
            self._fold(first)
            self._in_lanes(made, rows.body, self._rows.fold)
        else:
            self._between(first, made, self._rows.between)
            self._levels.streams.made = outside
            self._in_lanes(made, rows.body, self._rows.between)

    def _between(self, first: str, known: Mapping[str, Value], loop: For) -> None:
        """Folds what rows come to, in the lanes of the order: all of a block are open at once."""
        routine, code = self._routine, self._routine.code
        own = [self._blocks[state.name] for state in loop.states]
        width = max(fold.width for fold in own)
        for fold in own:
            fold.begin()
        extent = self._levels.extent(loop)
        elements = code.emit(f"mul i64 {self._levels.extent(self._rows.fold)}, {self._lanes}")
        with routine.count("0", extent, BLOCK) as start:
            end = routine.least(code.emit(f"add i64 {start}, {BLOCK}"), extent)
            with routine.count(start, end) as turn:
                done = code.emit(f"sub i64 {turn}, {start}")
                lane, fresh = code.emit(f"and i64 {done}, {width - 1}"), code.emit(f"icmp slt i64 {done}, {width}")
                self._levels.streams.made[loop.index.name] = Uniform(turn, I64)
                self._fold(first)
                made = {**known, loop.index.name: Uniform(turn, I64)}
                self._in_lanes(made, self._rows.rows.body, None)
                self._in_lanes(made, loop.body, self._rows.fold, (lane, fresh))
                self._levels.steps.count(elements)
            for fold in own:
                if fold.width > 1:
                    fold.join_halves(routine.least(code.emit(f"sub i64 {end}, {start}"), str(width)))
                    fold.push()
        for fold in own:
            fold.collapse()

    def _fold(self, first: str) -> None:
        """The rows, each in its lanes; then all lanes join."""
        routine, code, length = self._routine, self._routine.code, self._levels.extent(self._rows.fold)
        blocks = {name: self._blocks[name] for name in self._folds}
        for each in blocks.values():
            each.begin()
        with routine.count("0", length, BLOCK) as start:
            end = routine.least(code.emit(f"add i64 {start}, {BLOCK}"), length)
            rest = self._rest(start, end)
            with routine.count("0", str(self._lanes), self._together) as row:
                self._some_rows(first, row, (start, end), rest)
            for name, fold in self._folds.items():
                fold.join_rows(blocks[name])
        for each in blocks.values():
            each.collapse()

    def _rest(self, start: str, end: str) -> list[_Rest]:
        """What is left of elements start .. end-1 behind those that fill all accumulators, for each of these."""
        code, width = self._routine.code, self._count * self._lanes
        count = code.emit(f"and i64 {code.emit(f'sub i64 {end}, {start}')}, {width - 1}")
        found = []
        for place in range(self._count):
            left = code.emit(f"sub i64 {count}, {place * self._lanes}")
            some = code.emit(f"icmp sgt i64 {left}, 0")
            found.append(_Rest(some, code.emit(f"sub i64 {end}, {left}"), self._writer.first_lanes(left)))
        return found

    def _some_rows(self, first: str, row: str, elements: tuple[str, str], rest: Sequence[_Rest]) -> None:
        """Some elements of rows that are folded side by side."""
        routine, code, width = self._routine, self._routine.code, self._count * self._lanes
        places = [code.emit(f"add i64 {row}, {turn}") for turn in range(self._together)]
        scopes = [self._scope(code.emit(f"add i64 {first}, {place}")) for place in places]
        for fold in self._folds.values():
            fold.begin()
        start, end = elements
        with routine.count(start, code.emit(f"sub i64 {end}, {width - 1}"), width) as at:
            for place in range(self._count):
                self._vectors(scopes, code.emit(f"add i64 {at}, {place * self._lanes}"), place, None)
        for place, each in enumerate(rest):
            with routine.when(each.some):
                self._vectors(scopes, each.at, place, each.mask)
        for fold in self._folds.values():
            fold.end(places)

    def _scope(self, row: str) -> dict[str, Value]:
        """What is known in a row."""
        streams = Streams(
            self._levels.memory, {**self._levels.streams.made, self._rows.rows.index.name: Uniform(row, I64)}
        )
        written = Statements(self._levels.writer, self._levels.memory, streams, no_step)
        between = self._rows.between.body.before if self._rows.between else ()
        for statement in (*self._rows.rows.body.before, *between):
            written.masked(statement, None)
        return streams.made

    def _vectors(self, scopes: Sequence[dict[str, Value]], at: str, place: int, mask: str | None) -> None:
        """The next elements of some rows, which join the accumulators of this number."""
        loop = self._rows.fold
        for turn, scope in enumerate(scopes):

            def step(
                statement: ManyToOne, values: Sequence[Value], active: str | None, turn: int = turn
            ) -> tuple[Sequence[Value], Sequence[Value]]:
                self._folds[statement.state].step(values, turn, place, active)
                return (), ()

            made = {**scope, loop.index.name: Progression(at, 1)}
            if mask is None:
                self._ask_ahead(made)
            written = Statements(self._writer, self._memory, Streams(self._memory, made), step)
            for statement in (*loop.body.before, *loop.body.after):
                written.masked(statement, mask)

    def _ask_ahead(self, made: Mapping[str, Value]) -> None:
        """Asks for what the next row of the loop between reads at the same place, which is far away."""
        loop, between = self._rows.fold, self._rows.between
        if between is None:
            return
        code = self._routine.code
        for read in (s for s in (*loop.body.before, *loop.body.after) if isinstance(s, Read)):
            streams = [operand for operand in read.index if isinstance(operand, Stream)]
            if between.index in streams and all(stream.name in made for stream in streams):
                following = Uniform(code.emit(f"add i64 {self._writer.one(made[between.index.name])}, 1"), I64)
                later = Streams(self._memory, {**made, between.index.name: following})
                self._memory.ask_ahead(read.array, later.values(read.index))

    def _in_lanes(
        self, made: dict[str, Value], level: Level, inner: For | None, place: tuple[str, str] | None = None
    ) -> None:
        """The statements of a level in lanes across rows: those before its loop, and, if `inner` is that loop, whose states are
        final then, those after it. place: of the lane in which states are stepped there, and whether that holds nothing yet.
        """
        streams = Streams(self._memory, made)

        def step(
            statement: ManyToOne, values: Sequence[Value], active: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            fold = self._blocks[statement.state]
            assert place is not None, "states are stepped in their loop"
            lane, fresh = place if fold.width > 1 else ("0", None)
            fold.hold(fold.step(fold.held("0", lane, fresh), values, None), "0", lane)
            return (), ()

        written = Statements(self._writer, self._memory, streams, step)
        for statement in level.before:
            written.masked(statement, None)
        if inner is None:
            return
        for state in inner.states:
            blocks = self._blocks[state.name]
            total = blocks.held("0", "0")
            if state.initial is not None:
                total = blocks.merge(streams.values(state.initial), total)
            streams.bind(state.finals, total)
        for statement in level.after:
            written.masked(statement, None)


class _Rows:
    """One state in the rows of a group."""

    def __init__(self, strip: Strip, state: State, accumulators: int, together: int) -> None:
        self._strip, self._state, self._count = strip, state, accumulators
        self._fold = StripFold(strip, state, streams=False)
        routine, lanes = strip.routine, strip.writer.lanes
        self._types = [strip.writer.code.type(kind) for kind in state.types]
        self._slots = [
            [[routine.slot(type_, align=64) for type_ in self._types] for _ in range(accumulators)]
            for _ in range(together)
        ]
        self._rows = [routine.slot(f"[{lanes} x {type_}]", align=64) for type_ in self._types]
        assert state.monoid.neutral is not None
        self._neutral: list[Value] = [Fixed(element) for element in state.monoid.neutral]

    def begin(self) -> None:
        """No elements yet."""
        for accumulators in self._slots:
            for slots in accumulators:
                self._store(self._neutral, slots)

    def step(self, values: Sequence[Value], turn: int, place: int, mask: str | None) -> None:
        """One more element for each lane of an accumulator."""
        slots = self._slots[turn][place]
        self._store(self._fold.step(self._load(slots), values, mask), slots)

    def end(self, places: Sequence[str]) -> None:
        """The accumulators of each row join, each with the one half of them on, then a quarter, …; one is kept."""
        for accumulators, place in zip(self._slots, places, strict=True):
            values, half = [self._load(slots) for slots in accumulators], self._count // 2
            while half:
                values = [self._fold.merge(values[at], values[at + half]) for at in range(half)]
                half //= 2
            self._store(values[0], self._at(place))

    def join_rows(self, blocks: StripFold) -> None:
        """What all rows come to, a row in each lane, is the result of one more block."""
        lanes = self._strip.writer.lanes
        vectors, segment = [self._load(self._at(str(row))) for row in range(lanes)], lanes
        while segment > 1:
            half = segment // 2
            early = [lane for start in range(0, 2 * lanes, segment) for lane in range(start, start + half)]
            vectors = [
                self._fold.merge(
                    self._picked(left, right, early), self._picked(left, right, [lane + half for lane in early])
                )
                for left, right in zip(vectors[::2], vectors[1::2], strict=True)
            ]
            segment = half
        (totals,) = vectors
        if blocks.width == 1:
            blocks.hold(blocks.merge(blocks.held("0", "0"), totals), "0", "0")
        else:
            blocks.hold(totals, "0", "0")
            blocks.push()

    def _picked(self, left: Sequence[Value], right: Sequence[Value], order: Sequence[int]) -> list[Value]:
        """Lanes of two vectors, numbered through."""
        writer = self._strip.writer
        mask = f"<{writer.lanes} x i32> <{', '.join(f'i32 {lane}' for lane in order)}>"
        return [
            Lanes(
                writer.code.emit(f"shufflevector {type_} {writer.every(a)}, {type_} {writer.every(b)}, {mask}"), a.type
            )
            for a, b, type_ in zip(left, right, self._types, strict=True)
        ]

    def _at(self, place: str) -> list[str]:
        code = self._strip.routine.code
        return [
            code.emit(f"getelementptr {type_}, ptr {array}, i64 {place}")
            for type_, array in zip(self._types, self._rows, strict=True)
        ]

    def _load(self, slots: Sequence[str]) -> list[Value]:
        return [
            self._strip.writer.varying(self._strip.routine.load(type_, slot), kind)
            for type_, slot, kind in zip(self._types, slots, self._state.types, strict=True)
        ]

    def _store(self, values: Sequence[Value], slots: Sequence[str]) -> None:
        for type_, value, slot in zip(self._types, values, slots, strict=True):
            self._strip.routine.store(type_, self._strip.writer.every(value), slot)
