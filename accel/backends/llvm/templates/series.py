"""Series of nests as functions: `@<name>(block)` runs all of them, some rows at a time, on the calling thread or on all.

The nests' own functions `@<nest>_body`, or `@<nest>_rows` of one that runs in tiles, run the rows; here is what fills their
frames, asks whether rows suit them at these extents, and goes from block to block of rows. What a nest passes to the next ones
lies in memory for one block a thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.loops import schedule
from accel.backends.llvm.loops.alternatives import Alternative
from accel.backends.llvm.loops.chunks import alone_if_short, chunk_of, nanoseconds
from accel.backends.llvm.loops.flat import Flat
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.templates.tile.ways.rows import UNSUITED as ROWS_UNSUITED
from accel.backends.llvm.templates.tile.ways.rows import RowsInTiles
from accel.backends.llvm.text.routine import WORD, Routine
from accel.backends.llvm.text.words import FAILED
from accel.ir import mentions
from accel.labelled.array import Array, SizeVariable
from accel.schedule.nodes import Series
from accel.support.dataclass import dataclass

HEAD = 4
"""Words of a block of arguments before the arrays: participants, nothing, rows, rows that are in work at once."""

AT_ONCE, PLACES, FRAMES = 1, 2, 3
"""Words of a series' own frame behind `FAILED`: rows that are in work at once, a bit for each place that a thread uses for what
is passed; then for each nest its frame and how many iterations of its body a row is."""

ROWS_OF_TILES = 32
"""Rows that are in work at once at least, a power of two, where the first nest runs in tiles: these bring columns into
registers, or copy them, for as many."""

MOST_PLACES = 64
"""So many threads may take part where something is passed."""

DONE, FAULT, INTERRUPTED, UNSUITED = range(4)
"""What `@<name>` gives. `FAULT`: a check failed. `INTERRUPTED`: by the user, or nothing is done since a Python exception is set
or the program is to begin again (`text/late.py`). `UNSUITED`: nothing is done, the nests must run one after the other."""


@dataclass(frozen=True, slots=True)
class Member:
    """One nest of a series. body: the name of the function that runs its rows, which nests that are alike share. alternatives:
    those that are better at their extents than a series. rows: those in tiles, if the nest may run in such."""

    text: NestText
    body: str
    alternatives: Sequence[Alternative]
    rows: RowsInTiles | None = None


class SeriesText:
    """The functions of one series, and how its block of arguments is laid out."""

    def __init__(self, name: str, series: Series, members: Sequence[Member]) -> None:
        self.name = name
        frames = [member.text.frame for member in members]
        self.arrays: Sequence[Array] = list(dict.fromkeys(a for frame in frames for a in frame.arrays))
        self.sizes: Sequence[SizeVariable] = list(dict.fromkeys(s for frame in frames for s in frame.sizes))
        self._series = series
        self._members = members
        self.rows_at_least = ROWS_OF_TILES if members[0].rows is not None else 1

    def routines(self) -> list[Routine]:
        """All functions; those of the nests must have been written before."""
        prepared = [self._prepare(number) for number in range(len(self._members))]
        return [*prepared, self._chunk(), self._entry()]

    def _prepare(self, number: int) -> Routine:
        """`@<name>_prepare<number>(frame, time)`: what runs before the rows of a nest. Gives how many iterations of its body a
        row is, and the nanoseconds of all rows; -1 if another template suits it better, or something failed."""
        text = self._members[number].text
        routine = Routine(f"i64 @{self.name}_prepare{number}(ptr %frame, ptr %time)", hot=False)
        levels, code, loop = Levels(text, routine, "ret i64 -1"), routine.code, text.visited.body.loop
        assert loop is not None
        if text.bounds:
            self._leave_if(routine, levels.out_of_bounds())
        levels.statements(text.visited.body.before)
        levels.keep_streams()
        for alternative in self._members[number].alternatives:
            self._leave_if(routine, alternative.applies(levels))
        loops, iterations, total = text.plan.flat, "1", levels.extent(loop)
        if loops is not None:
            positions = Flat(text, loops).positions(levels)
            iterations, total = code.emit(f"sdiv i64 {positions}, {total}"), positions
        rows = self._members[number].rows
        time = nanoseconds(text, levels, loops or [loop], total) if rows is None else rows.time(levels)
        if self._is_read_later(number):
            schedule.note_streaming(text, levels, total, 0)
        else:
            schedule.note_rows(text, levels, loops or [loop], total)
        routine.store("double", time, "%time")
        failed = routine.load("i64", levels.view.address(FAILED))
        self._leave_if(routine, code.emit(f"icmp ne i64 {failed}, 0"))
        code.line(f"ret i64 {iterations}")
        levels.memory.close()
        return routine

    def _leave_if(self, routine: Routine, condition: str) -> None:
        routine.leave(condition, "i64 -1")

    def _is_read_later(self, number: int) -> bool:
        """Whether a later nest reads what this one writes, so that it should stay in cache."""
        made = {output.array for output in self._members[number].text.nest.outputs}
        return any(made & mentions.arrays(member.text.nest) for member in self._members[number + 1 :])

    def _chunk(self) -> Routine:
        """`@<name>_chunk(frame, low, high)`: some rows of all nests, block by block, with frames of its own."""
        routine = Routine(f"void @{self.name}_chunk(ptr %frame, i64 %low, i64 %high)", hot=False)
        code = routine.code

        def word(number: int, type_: str = "i64") -> str:
            return routine.load(type_, routine.offset("%frame", number))

        routine.leave(code.emit(f"icmp ne i64 {word(FAILED)}, 0"), "void")
        at_once = word(AT_ONCE)
        first_row = code.emit(f"mul i64 {self._take_place(routine)}, {at_once}") if self._series.passed else "0"
        frames, iterations = [], []
        for number, member in enumerate(self._members):
            words = member.text.frame.words
            frame = routine.slot("i64", words)
            given = word(FRAMES + 2 * number, "ptr")
            routine.copy(frame, given, words * WORD)
            frames.append(frame)
            iterations.append(word(FRAMES + 2 * number + 1))
        moves = self._moves(routine, frames)
        failed = routine.slot("i64")
        routine.store("i64", "0", failed)
        out = routine.label()
        with routine.count("%low", "%high", at_once) as low:
            high = routine.least(code.emit(f"add i64 {low}, {at_once}"), "%high")
            back = code.emit(f"sub i64 {first_row}, {low}")
            for place, data, stride in moves:
                moved = code.emit(f"getelementptr i8, ptr {data}, i64 {code.emit(f'mul i64 {back}, {stride}')}")
                routine.store("ptr", moved, place)
            for member, frame, count in zip(self._members, frames, iterations, strict=True):
                if member.rows is not None:
                    code.line(f"call void @{member.body}_rows(ptr {frame}, i64 {low}, i64 {high}, i64 {count})")
                else:
                    first, last = (code.emit(f"mul i64 {row}, {count}") for row in (low, high))
                    code.line(f"call void @{member.body}_body(ptr {frame}, ptr null, i64 {first}, i64 {last})")
                wrong = routine.load("i64", routine.offset(frame, FAILED))
                with routine.when(code.emit(f"icmp ne i64 {wrong}, 0")):
                    routine.store("i64", "1", routine.offset("%frame", FAILED))
                    routine.jump(out)
                    routine.place(routine.label())
        routine.jump(out)
        routine.place(out)
        if self._series.passed:
            place = code.emit(f"sdiv i64 {first_row}, {at_once}")
            bits = code.emit(f"xor i64 {code.emit(f'shl i64 1, {place}')}, -1")
            code.emit(f"atomicrmw and ptr {routine.offset('%frame', PLACES)}, i64 {bits} release")
        code.line("ret void")
        return routine

    def _take_place(self, routine: Routine) -> str:
        """The number of a place that no other thread uses."""
        code, places = routine.code, routine.offset("%frame", PLACES)
        code.declare("i64", "llvm.cttz.i64", "i64, i1")
        look, taken = routine.label(), routine.label()
        routine.jump(look)
        routine.place(look)
        used = code.emit(f"load atomic i64, ptr {places} monotonic, align 8")
        free = code.emit(f"xor i64 {used}, -1")
        place = code.emit(f"call i64 @llvm.cttz.i64(i64 {free}, i1 true)")
        more = code.emit(f"or i64 {used}, {code.emit(f'shl i64 1, {place}')}")
        pair = code.emit(f"cmpxchg ptr {places}, i64 {used}, i64 {more} acquire monotonic")
        routine.branch(code.emit(f"extractvalue {{ i64, i1 }} {pair}, 1"), taken, look)
        routine.place(taken)
        return place

    def _moves(self, routine: Routine, frames: Sequence[str]) -> list[tuple[str, str, str]]:
        """For each frame and each array that is passed: where its address stands, that of its first place, its rows' stride."""
        found = []
        for member, start in zip(self._members, frames, strict=True):
            frame = member.text.frame
            for array in (array for array in self._series.passed if array in frame.arrays):
                place = routine.offset(start, frame.data(array))
                stride = routine.load("i64", routine.offset(start, frame.stride(array, 0)))
                found.append((place, routine.load("ptr", place), stride))
        return found

    def _entry(self) -> Routine:
        """`@<name>(block)`: fills all frames, and runs all rows."""
        routine = Routine(f"i64 @{self.name}(ptr %block)", hot=False)
        code, count = routine.code, len(self._members)
        arrays = {array: HEAD + number for number, array in enumerate(self.arrays)}
        sizes = {variable: HEAD + len(arrays) + number for number, variable in enumerate(self.sizes)}
        own, time_of = routine.slot("i64", FRAMES + 2 * count), routine.slot("double")
        total = "0.0"
        for number, member in enumerate(self._members):
            frame = routine.slot("i64", member.text.frame.words)
            schedule.fill_frame(routine, member.text.frame, frame, arrays, sizes)
            iterations = code.emit(f"call i64 @{self.name}_prepare{number}(ptr {frame}, ptr {time_of})")
            routine.leave(code.emit(f"icmp slt i64 {iterations}, 0"), f"i64 {UNSUITED}")
            routine.store("ptr", frame, routine.offset(own, FRAMES + 2 * number))
            routine.store("i64", iterations, routine.offset(own, FRAMES + 2 * number + 1))
            total = code.emit(f"fadd double {total}, {routine.load('double', time_of)}")
        for number, member in enumerate(self._members):
            if member.rows is not None:  # what it runs may have to be compiled: only where all others are ready
                frame = routine.load("ptr", routine.offset(own, FRAMES + 2 * number))
                ready = code.emit(f"call i64 @{member.body}_ready(ptr {frame})")
                routine.leave(code.emit(f"icmp eq i64 {ready}, {ROWS_UNSUITED}"), f"i64 {UNSUITED}")
                routine.leave(code.emit(f"icmp ne i64 {ready}, 0"), f"i64 {INTERRUPTED}")
        self._run(routine, own, total)
        return routine

    def _run(self, routine: Routine, own: str, time: str) -> None:
        code = routine.code
        threads, _, rows, at_once = (routine.load("i64", routine.offset("%block", number)) for number in range(HEAD))
        for number, value in ((FAILED, "0"), (AT_ONCE, at_once), (PLACES, "0")):
            routine.store("i64", value, routine.offset(own, number))

        def in_chunks() -> None:
            chunk = chunk_of(routine, self.rows_at_least, rows, time)
            stopped = routine.run_chunks(f"@{self.name}_chunk", own, rows, chunk, threads, time)
            routine.leave(code.emit(f"icmp ne i64 {stopped}, 0"), f"i64 {INTERRUPTED}")

        alone_if_short(routine, time, f"call void @{self.name}_chunk(ptr {own}, i64 0, i64 {rows})", in_chunks)
        failed = code.emit(f"icmp ne i64 {routine.load('i64', routine.offset(own, FAILED))}, 0")
        code.line(f"ret i64 {code.emit(f'select i1 {failed}, i64 {FAULT}, i64 {DONE}')}")
