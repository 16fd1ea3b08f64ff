"""The tile itself: rows times vectors of columns, whose partial results stay in registers while the fold runs.

Lanes of the order run one after the other for the whole tile if they are long. What waits for others to join goes to memory,
which costs as much as some steps; so where lanes are short, several run at once for a strip of the tile. The tree is that of
docs/order.md in any case, element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.values import Lanes, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.element import brought
from accel.backends.llvm.templates.tile.layout import Layout, Parameters, Strip, Word
from accel.backends.llvm.templates.tile.packs import reversed_lane
from accel.backends.llvm.templates.tile.strips import Accumulators, Joins, Leaves, Positions, Walk, Where, copied
from accel.backends.llvm.templates.tile.units import Inside, balanced
from accel.backends.llvm.text.code import memory_type, register_type
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.labelled.meaning.products import steps as element_steps
from accel.labelled.scalar import Function

UNEVEN = (2, 3)
"""Steps of lanes, some of which have one more, that are faster one after the other: shorter ones join too often for that, and
for longer ones it hardly matters."""

AHEAD = 64
"""Positions of a panel that are asked for before they are read: the second cache gives panels as fast as they are read only if
it is asked, and they may have left it."""

Sides: TypeAlias = tuple[Positions, Positions]
"""Rows and columns of a strip."""

Write: TypeAlias = Callable[[Accumulators, Sides, Sequence[Where], str], None]
"""Writes the code of some lanes, from this turn on, into the accumulators."""

Take: TypeAlias = Callable[[Accumulators, tuple[int, int, int], dict[str, Value]], None]
"""Writes what an element does to the accumulators of a lane, a row and a vector."""


class Kernel:
    """`@<name>(frame, parameters, row panel, column panel, counter, out, height, width)`: one block of elements, for one tile.

    height and width: how many rows and columns of the tile there are. What stands beyond them in `out` is anything.
    """

    def __init__(self, name: str, layout: Layout, frame: Frame, *, few: bool) -> None:
        """few: whether there is code for folds of no more elements than lanes, which takes long to compile."""
        pointers = ", ".join(f"ptr noalias %{name}" for name in ("rows", "columns", "counter", "out"))
        self.routine = Routine(f"void @{name}(ptr %frame, ptr %parameters, {pointers}, i64 %height, i64 %width)")
        self._layout = layout
        self._few = few
        self._writer = Writer(self.routine.code, layout.lanes)
        self._memory = Memory(FrameView(self.routine, frame), self._writer, "ret void", None)
        self._functions = Functions(self._writer, self._memory)
        self._states = {state.name: state for state in layout.states}
        self._joins = Joins(self.routine, self._writer, self._functions, self._states)
        elements = {
            state.name: element_steps(state.merge, state.monoid, state.types, state.products) for state in layout.states
        }
        self._firsts = {name: steps.first for name, steps in elements.items()}
        self._following = {name: steps.following for name, steps in elements.items()}
        code, words = self.routine.code, Parameters(self.routine, "%parameters")
        self._log, self._most = words.get(Word.LOG), words.get(Word.STEPS)
        self._lanes = code.emit(f"shl i64 1, {self._log}")
        count = words.get(Word.COUNT)
        self._least = code.emit(f"lshr i64 {count}, {self._log}")
        self._longer = words.get(Word.LONGER)
        self._vectors = code.parts("%width", str(layout.lanes))

    def write(self) -> Routine:
        """The whole function."""
        routine, after = self.routine, self.routine.label()
        for condition, strip, begin in self._ways():
            here, others = routine.label(), routine.label()
            routine.branch(condition, here, others)
            routine.place(here)
            self._strips(strip, begin())
            routine.jump(after)
            routine.place(others)
        self._strips(self._layout.whole, self._long(self._following))
        routine.jump(after)
        routine.place(after)
        routine.code.line("ret void")
        self._memory.close()
        return routine

    # How the lanes run.

    def _ways(self) -> Iterator[tuple[str, Strip, Callable[[], Write]]]:
        """When which strips run otherwise than one lane after the other for the whole tile, the first that holds."""
        code, layout = self.routine.code, self._layout
        if layout.tile.order_lanes > 1:
            if self._few:
                even = code.emit(f"icmp eq i64 {self._longer}, 0")
                yield code.emit(f"and i1 {self._are_single(layout.single)}, {even}"), layout.single, self._single
                for strip in layout.uneven:
                    yield self._are_single(strip), strip, partial(self._uneven, strip)
            yield self._are_short(), layout.short, self._short
        elif layout.plain is not None:
            plain = code.emit(f"icmp eq i64 {Parameters(self.routine, '%parameters').get(Word.ODD)}, 0")
            yield plain, layout.whole, partial(self._long, layout.plain.merges)

    def _are_single(self, strip: Strip) -> str:
        """Whether no lane has more than one element, and there are enough of them for a strip."""
        code = self.routine.code
        one = code.emit(f"icmp eq i64 {self._most}, 1")
        enough = code.emit(f"icmp sge i64 {self._lanes}, {strip.lanes}")
        return code.emit(f"and i1 {enough}, {one}")

    def _are_short(self) -> str:
        """Whether lanes are short, or at most half of the tile is there, and there are enough lanes for a strip."""
        code, layout, strip = self.routine.code, self._layout, self._layout.short
        few = code.emit(f"icmp sle i64 {self._least}, {layout.few}")
        even = code.emit(f"icmp eq i64 {self._longer}, 0")
        # The whole tile has no way to begin a lane without elements.
        for relation, least in (("slt", UNEVEN[0]), ("sgt", UNEVEN[1])):
            even = code.emit(f"or i1 {even}, {code.emit(f'icmp {relation} i64 {self._least}, {least}')}")
        few = code.emit(f"and i1 {few}, {even}")
        high, wide = code.parts("%height", str(strip.rows)), code.parts(self._vectors, str(strip.vectors))
        strips = -(-layout.rows // strip.rows) * (layout.vectors // strip.vectors)
        half = code.emit(f"icmp sle i64 {code.emit(f'mul i64 {high}, {wide}')}, {strips // 2}")
        enough = code.emit(f"icmp sge i64 {self._lanes}, {strip.lanes}")
        return code.emit(f"and i1 {enough}, {code.emit(f'or i1 {few}, {half}')}")

    def _strips(self, strip: Strip, write: Write) -> None:
        """Those of the tile that are there; of each all lanes, of which `write` computes as many as a strip has."""
        routine, code, layout = self.routine, self.routine.code, self._layout
        accumulators = Accumulators(routine, self._writer, self._functions, layout, strip)
        across = code.emit(f"mul i64 {self._most}, {strip.lanes}")
        with (
            self._begins(self._vectors, strip.vectors, layout.vectors) as vector,
            self._begins("%height", strip.rows, layout.rows) as row,
        ):
            column = "0" if vector == "0" else code.emit(f"mul i64 {vector}, {layout.lanes}")
            rows = Positions(routine, layout.row_panel, "%rows", row)
            columns = Positions(routine, layout.column_panel, "%columns", column)
            walks = [Walk(routine, side, side.begin) for side in (rows, columns)]
            with routine.count("0", self._lanes, strip.lanes) as turn:
                starts = [walk.here() for walk in walks]
                write(accumulators, (rows, columns), starts, turn)
                accumulators.join("%counter", code.emit(f"lshr i64 {turn}, {strip.lanes.bit_length() - 1}"))
                for walk, start in zip(walks, starts, strict=True):
                    walk.go_on(start, across)
            accumulators.save("%out", row, vector)

    @contextmanager
    def _begins(self, there: str, size: int, whole: int) -> Iterator[str]:
        """Where strips begin in one direction; the last one goes as far as the tile."""
        if size == whole:
            yield "0"
            return
        with self.routine.count("0", there, size) as begin:
            yield begin if whole % size == 0 else self.routine.least(begin, str(whole - size))

    def _long(self, following: Mapping[str, Function]) -> Write:
        """One lane, which has an element at least."""
        code, inside = self.routine.code, balanced(self._layout.tile.inside, following.values())

        def write(accumulators: Accumulators, sides: Sides, starts: Sequence[Where], turn: str) -> None:
            one_more = code.emit(f"and i64 {code.emit(f'lshr i64 {self._longer}, {turn}')}, 1")
            steps = code.emit(f"add i64 {self._least}, {one_more}")
            begin, go_on = partial(self._begun, inside), partial(self._gone_on, inside, following)
            self._step(accumulators, 0, sides, starts, begin)
            self._steps(accumulators, 1, sides, _beyond(sides, starts, "1"), ("1", steps), go_on)

        return write

    def _short(self) -> Write:
        """Some lanes: the steps that all have, then that which some have more."""
        routine, code, lanes = self.routine, self.routine.code, self._layout.short.lanes
        inside = balanced(self._layout.tile.inside, self._following.values())
        go_on = partial(self._gone_on, inside, self._following)

        def write(accumulators: Accumulators, sides: Sides, starts: Sequence[Where], turn: str) -> None:
            accumulators.begin()
            self._steps(accumulators, lanes, sides, starts, ("0", self._least), go_on)
            with routine.when(code.emit(f"icmp ne i64 {self._longer}, 0")):
                longer = code.emit(f"lshr i64 {self._longer}, {turn}")
                for lane in range(lanes):
                    with routine.when(code.emit(f"trunc i64 {code.emit(f'lshr i64 {longer}, {lane}')} to i1")):
                        apart = code.emit(f"mul i64 {self._most}, {lane}")
                        place = code.emit(f"add i64 {apart}, {self._least}")
                        self._step(accumulators, lane, sides, _beyond(sides, starts, place), go_on)
            accumulators.join_lanes()

        return write

    def _single(self) -> Write:
        """The only elements of some lanes, joined as they come."""
        inside = self._inside_of_single()
        return lambda accumulators, sides, starts, turn: self._join_single(accumulators, sides, starts, inside, {})

    def _uneven(self, strip: Strip) -> Write:
        """The same where lanes in the second half have none: those of odd turns, each of which joins the one before it."""
        code, count = self.routine.code, Parameters(self.routine, "%parameters").get(Word.COUNT)
        # The lane of a turn is that of a strip's first turn, and as much more wherever that is.
        bounds = {
            lane: code.emit(f"sub i64 {count}, {reversed_lane(self.routine, str(lane), self._log)}")
            for lane in range(1, strip.lanes, 2)
        }
        inside, masks = self._inside_of_single(), host().processor.has_avx512
        in_lanes = {lane: self._in_lanes(bound) if masks else bound for lane, bound in bounds.items()}

        def write(accumulators: Accumulators, sides: Sides, starts: Sequence[Where], turn: str) -> None:
            code, first, kind = self._writer.code, reversed_lane(self.routine, turn, self._log), "i64"
            if masks:
                first, kind = self._in_lanes(first), code.vector("i32")
            there = {lane: code.emit(f"icmp slt {kind} {first}, {bound}") for lane, bound in in_lanes.items()}
            self._join_single(accumulators, sides, starts, inside, there)

        return write

    def _inside_of_single(self) -> tuple[Inside, Inside]:
        merges = [state.merge for state in self._layout.states]
        return balanced(self._layout.tile.inside, [*self._firsts.values(), *merges])

    def _in_lanes(self, number: str) -> str:
        """A small number in every lane, in 32 bits."""
        return self._writer.splat(self.routine.code.emit(f"trunc i64 {number} to i32"), "i32")

    def _join_single(
        self,
        accumulators: Accumulators,
        sides: Sides,
        starts: Sequence[Where],
        inside: tuple[Inside, Inside],
        there: Mapping[int, str],
    ) -> None:
        """inside: what every other vector computes of each element. there: what says whether a lane has an element, by its
        number, of those that may have none: a mask, or an i1 where masks are slow."""
        strip = accumulators.strip
        rows, columns = (
            [side.beyond(start, str(lane)) for lane in range(strip.lanes)]
            for side, start in zip(sides, starts, strict=True)
        )
        for row in range(strip.rows):
            if row and strip.vectors > 1:
                # LLVM would load all vectors of all lanes first, and spill most of them.
                columns = [sides[1].beyond(sides[1].hidden(starts[1]), str(lane)) for lane in range(strip.lanes)]
            if row == 0 or strip.vectors > 1:
                of_columns = [[self._column(sides[1], at, each) for each in range(strip.vectors)] for at in columns]
            waiting: list[list[Leaves]] = []
            for lane, (where, vectors) in enumerate(zip(rows, of_columns, strict=True)):

                def leaves(
                    where: Where = where, vectors: list[dict[str, Value]] = vectors, row: int = row
                ) -> list[Leaves]:
                    of_row = self._row(sides[0], where, row)
                    return [
                        self._every_other(row + vector, of_row, of_column, inside)
                        for vector, of_column in enumerate(vectors)
                    ]

                rest, mask = lane, there.get(lane)
                if mask is not None and not host().processor.has_avx512:
                    waiting.append(self._joins.joined_where(mask, waiting.pop(), leaves))
                    rest, mask = rest // 2, None
                else:
                    waiting.append(leaves())
                while rest % 2:
                    right, left, rest = waiting.pop(), waiting.pop(), rest // 2
                    waiting.append(self._joins.joined(left, right, mask))
                    mask = None
            for vector, found in enumerate(waiting[0]):
                for state in self._layout.states:
                    accumulators.put(state, 0, row, vector, found[state.name])

    def _every_other(
        self, number: int, of_row: dict[str, Value], of_column: dict[str, Value], inside: tuple[Inside, Inside]
    ) -> Leaves:
        """What vector `number` computes of an element: one or the other, perhaps two of three times the other.

        An `fma` that adds a number from memory in all lanes overwrites one of its other operands. Differences cannot take it
        from there, and to bring it into all lanes apart takes Zen 4 most of a sum's time: so two of three are such an `fma`.
        """
        if inside[0] is inside[1] or not host().processor.has_avx512:
            return self._first({**of_row, **of_column}, inside[number % 2])
        if number % 3 == 0:
            return self._first({**of_row, **of_column}, inside[0])
        return self._first({**of_row, **copied(self._writer, of_column)}, inside[1])

    # Elements.

    def _steps(
        self,
        accumulators: Accumulators,
        lanes: int,
        sides: Sides,
        starts: Sequence[Where],
        bounds: tuple[str, str],
        take: Take,
    ) -> None:
        """Steps of lanes that follow each other, the first of which is at `starts`."""
        routine, code = self.routine, self.routine.code
        walks = [Walk(routine, side, where) for side, where in zip(sides, starts, strict=True)]
        with routine.count(*bounds):
            here = [walk.here() for walk in walks]
            for lane in range(lanes):
                there = here
                if lane:
                    apart = code.emit(f"mul i64 {self._most}, {lane}")
                    there = [side.hidden(where) for side, where in zip(sides, _beyond(sides, here, apart), strict=True)]
                self._step(accumulators, lane, sides, there, take)
            for walk, where in zip(walks, here, strict=True):
                walk.go_on(where, "1")

    def _step(self, accumulators: Accumulators, lane: int, sides: Sides, where: Sequence[Where], take: Take) -> None:
        """One element of a lane, for all rows and vectors."""
        strip = accumulators.strip
        of_columns = [self._column(sides[1], where[1], vector) for vector in range(strip.vectors)]
        if strip.lanes == 1:
            for side, position in zip(sides, where, strict=True):
                side.ask(position, AHEAD)
        for row in range(strip.rows):
            of_row = self._row(sides[0], where[0], row)
            for vector, of_column in enumerate(of_columns):
                take(accumulators, (lane, row, vector), {**of_row, **of_column})

    def _begun(
        self,
        inside: tuple[Inside, Inside],
        accumulators: Accumulators,
        at: tuple[int, int, int],
        made: dict[str, Value],
    ) -> None:
        """The lane begins with this element."""
        for name, values in self._first(made, inside[at[1] % 2]).items():
            accumulators.put(self._states[name], *at, values)

    def _first(self, made: dict[str, Value], inside: Inside) -> Leaves:
        """What a lane that begins with this element begins with, for each state."""
        return {
            name: self._functions.apply(self._firsts[name], values, None) for name, values in self._taken(made, inside)
        }

    def _gone_on(
        self,
        inside: tuple[Inside, Inside],
        following: Mapping[str, Function],
        accumulators: Accumulators,
        at: tuple[int, int, int],
        made: dict[str, Value],
    ) -> None:
        """The lane goes on with this element."""
        for name, values in self._taken(made, inside[at[1] % 2]):
            state = self._states[name]
            held = accumulators.get(state, *at)
            accumulators.put(state, *at, self._functions.apply(following[name], [*held, *values], None))

    def _taken(self, made: dict[str, Value], inside: Inside) -> Iterator[tuple[str, list[Value]]]:
        return brought(self._layout.tile, inside, self._functions, self._memory, made)

    def _column(self, columns: Positions, where: Where, vector: int) -> dict[str, Value]:
        """A vector of what the columns give."""
        found: dict[str, Value] = {}
        for stream, address in columns.streams(where, vector * self._layout.lanes):
            type_ = self._writer.code.vector(memory_type(stream.type))
            text = self.routine.code.emit(f"load {type_}, ptr {address}, align {stream.type.bytes}")
            found[stream.name] = Lanes(text, stream.type)
        return found

    def _row(self, rows: Positions, where: Where, row: int) -> dict[str, Value]:
        """What a row gives, in every lane."""
        found: dict[str, Value] = {}
        for stream, address in rows.streams(where, row):
            type_ = register_type(stream.type)
            found[stream.name] = Lanes(self._writer.splat(self.routine.load(type_, address), type_), stream.type)
        return found


def _beyond(sides: Sides, where: Sequence[Where], places: str) -> list[Where]:
    return [side.beyond(here, places) for side, here in zip(sides, where, strict=True)]
