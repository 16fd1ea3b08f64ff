"""Exact scatters into few targets, on several threads: each thread has copies of the targets (`schedule/templates/copies.py`).

There are as many places as threads that work: the targets themselves, and copies of them. A chunk takes a place that nobody
has, fills a copy with the neutral element if nobody had it before, and runs the loop's code with a frame of its own, in which
the targets are that place. The caller combines copies that were used with the targets.

More targets have fewer threads: those with which the rest of the loop, and to fill and to combine all copies, take about as
long as each other. Then both together take the least time.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.loops.chunks import (
    MOST_CHUNKS,
    chunk_of,
    in_steps,
    keep_step,
    leave_if_failed,
    leave_if_interrupted,
    nanoseconds,
)
from accel.backends.llvm.loops.durations import CHUNK_TIME
from accel.backends.llvm.loops.flat import Flat
from accel.backends.llvm.loops.nest import Levels, NestText, place_records
from accel.backends.llvm.loops.partials import absorb_partials, partial_words, store_partials
from accel.backends.llvm.loops.schedule import note_streaming
from accel.backends.llvm.loops.targets import elements, fill, join, lies_together
from accel.backends.llvm.machine.processor import LINE
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.chain import LEAST
from accel.backends.llvm.templates.tile.packed_nests import memory
from accel.backends.llvm.text.routine import WORD, Routine
from accel.backends.llvm.text.words import CHUNK, FAILED, PARTIALS, RECORDS, THREADS
from accel.ir.nodes import For, Scatter
from accel.labelled.array import Array
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.copies import Copies
from accel.support.dataclass import dataclass

COPIED = 4.0
"""Bytes of a copy that are filled and combined in a nanosecond."""

_COPIES, _EXTENT, _WORKERS = "copies", "copies extent", "copies threads"
"""Words of the frame: where the copies are; iterations; how many threads work."""

LIGHT = 8 * CHUNK_TIME
"""The least nanoseconds of a chunk, within which iterations take turns with copies of their own (`loops/targets.py`)."""


def copied(text: NestText, found: Copies, least: float = LEAST, light: float = LIGHT) -> CopiedTargets:
    """The nest with copies of what it scatters into; for launches of at least `least` nanoseconds, in chunks of at least
    `light`."""
    loop = text.nest.body.loop
    assert loop is not None
    return CopiedTargets(text, found.scatters, loop, text.plan.flat, (least, light))


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the threads that work scatter, and what says so: registers of a routine.

    memory: of each place a line, that says whether it is taken and whether it was used; behind them all copies.
    """

    routine: Routine
    memory: str
    workers: str

    def line(self, number: str) -> str:
        """That of a place."""
        code = self.routine.code
        return code.emit(f"getelementptr i8, ptr {self.memory}, i64 {code.emit(f'mul i64 {number}, {LINE}')}")

    def copy(self, number: str, size: str) -> str:
        """The copy, of `size` bytes, that is the place of this number, from 1 on."""
        code = self.routine.code
        before = code.emit(f"mul i64 {code.emit(f'sub i64 {number}, 1')}, {size}")
        return code.emit(f"getelementptr i8, ptr {self.line(self.workers)}, i64 {before}")


class CopiedTargets:
    """The outermost loop of a nest in chunks, with copies of the targets: an `Alternative`."""

    def __init__(
        self,
        text: NestText,
        scatters: Sequence[Scatter],
        loop: For,
        loops: Sequence[For] | None,
        work: tuple[float, float],
    ) -> None:
        self._text = text
        self._scatters = scatters
        self._loop = loop
        self._loops = loops
        self._least, self._light = work
        self._arrays = [array for scatter in scatters for array in scatter.arrays]

    def _extent(self, levels: Levels) -> str:
        return levels.extent(self._loop) if self._loops is None else Flat(self._text, self._loops).positions(levels)

    def _time(self, levels: Levels, extent: str) -> str:
        return nanoseconds(self._text, levels, self._loops or [self._loop], extent)

    def applies(self, levels: Levels) -> str:
        """More than one thread, enough work, and few targets that lie together."""
        code, view = levels.routine.code, levels.view
        time = self._time(levels, self._extent(levels))
        result = code.emit(f"icmp sgt i64 {self._workers(levels, time)}, 1")
        conditions = [code.emit(f"fcmp oge double {time}, {self._least:e}")]
        conditions += [lies_together(view, array) for array in self._arrays]
        for condition in conditions:
            result = code.emit(f"and i1 {result}, {condition}")
        return result

    def _workers(self, levels: Levels, time: str) -> str:
        """How many threads work: with n of them the loop takes an n-th of its time, and n copies the n-fold of one's; both are
        alike where the square of n is the time of the loop over that of a copy. All copies stay in the last cache."""
        code = levels.routine.code
        _, size = self._layout(levels)
        bytes_ = code.emit(f"sitofp i64 {size} to double")
        code.declare("double", "llvm.sqrt.f64", "double")
        square = code.emit(f"fdiv double {code.emit(f'fmul double {time}, {COPIED:e}')}, {bytes_}")
        best = code.emit(f"call double @llvm.sqrt.f64(double {square})")
        room = code.emit(
            f"fadd double {code.emit(f'fdiv double {float(host().processor.cached_bytes):e}, {bytes_}')}, 1.0"
        )
        workers = code.emit(f"sitofp i64 {levels.view.word(THREADS)} to double")
        for most in (best, room):
            fewer = code.emit(f"fcmp olt double {most}, {workers}")
            workers = code.emit(f"select i1 {fewer}, double {most}, double {workers}")
        return code.emit(f"fptosi double {workers} to i64")

    def _layout(self, levels: Levels) -> tuple[list[str], str]:
        """Where the targets stand in a copy, in bytes, and how long a copy is, at least a line."""
        code, starts = levels.routine.code, ["0"]
        for array in self._arrays:
            size = code.emit(f"mul i64 {elements(levels.view, array)}, {array.element.bytes}")
            lines = code.emit(f"and i64 {code.emit(f'add i64 {size}, {LINE - 1}')}, {-LINE}")
            starts.append(code.emit(f"add i64 {starts[-1]}, {lines}"))
        some = code.emit(f"icmp sgt i64 {starts[-1]}, {LINE}")
        return starts[:-1], code.emit(f"select i1 {some}, i64 {starts[-1]}, i64 {LINE}")

    def _places(self, levels: Levels, copy: str) -> dict[Array, str]:
        """The addresses of a copy's arrays."""
        code, (starts, _) = levels.routine.code, self._layout(levels)
        return {
            array: code.emit(f"getelementptr i8, ptr {copy}, i64 {start}")
            for array, start in zip(self._arrays, starts, strict=True)
        }

    def run(self, levels: Levels) -> None:
        """Calls `@<name>_copies`, which has all its chunks' partial results on its own stack."""
        text, code = self._text, levels.routine.code
        levels.routine.store("i64", self._extent(levels), levels.view.address(text.frame.stream(_EXTENT)))
        text.routines += [self._fill(), self._join(), self._chunk(), self._launch()]
        stopped = code.emit(f"call i64 @{text.name}_copies(ptr %frame)")
        leave_if_interrupted(levels.routine, stopped)

    def _launch(self) -> Routine:
        """`@<name>_copies(frame)`: all chunks; 1 if the user interrupted."""
        text, loop = self._text, self._loop
        routine = Routine(f"i64 @{text.name}_copies(ptr %frame)", hot=False)
        levels = Levels(text, routine, "ret i64 1")
        code, view = routine.code, levels.view
        place_records(text, levels, loop, view.word(RECORDS, "ptr"))
        extent = view.word(text.frame.stream(_EXTENT))
        innermost = (self._loops or [loop])[-1].body.loop is None
        note_streaming(text, levels, extent, int(innermost))
        blocks = innermost or any(not state.monoid.exact for state in loop.states)
        time = self._time(levels, extent)
        least, partial = BLOCK if blocks else 1, bool(loop.states)
        chunk = chunk_of(routine, least, extent, time, light=self._light, partials=partial)
        keep_step(levels, least, chunk, extent, time)
        partials = routine.slot("i64", max(1, partial_words(text, loop.states) * MOST_CHUNKS))
        routine.store("ptr", partials, view.address(PARTIALS))
        routine.store("i64", chunk, view.address(CHUNK))
        workers, (_, size) = self._workers(levels, time), self._layout(levels)
        heads = code.emit(f"mul i64 {workers}, {LINE}")
        copied = code.emit(f"mul i64 {code.emit(f'sub i64 {workers}, 1')}, {size}")
        copies = memory.taken(routine, code.emit(f"add i64 {heads}, {copied}"))
        absent = code.emit(f"icmp eq ptr {copies}, null")
        with routine.leaving(absent, "i64 0"):
            records = view.word(RECORDS, "ptr")
            code.line(f"call void @{text.name}_body(ptr %frame, ptr {records}, i64 0, i64 {extent})")
        routine.store("ptr", copies, view.address(text.frame.stream(_COPIES)))
        routine.store("i64", workers, view.address(text.frame.stream(_WORKERS)))
        places = _Places(routine, copies, workers)
        with routine.count("0", heads, WORD) as byte:
            routine.store("i64", "0", code.emit(f"getelementptr i8, ptr {copies}, i64 {byte}"))
        stopped = routine.run_chunks(f"@{text.name}_copy", "%frame", extent, chunk, workers, time)
        failed = code.emit(f"icmp ne i64 {routine.load('i64', view.address(FAILED))}, 0")
        over = code.emit(f"or i1 {code.emit(f'icmp ne i64 {stopped}, 0')}, {failed}")
        with routine.when(code.emit(f"xor i1 {over}, true")):
            with routine.count("1", workers) as number:
                used = routine.load("i64", routine.offset(places.line(number), 1))
                with routine.when(code.emit(f"icmp ne i64 {used}, 0")):
                    code.line(f"call void @{text.name}_join(ptr %frame, ptr {places.copy(number, size)})")
            absorb_partials(text, levels, loop.states, partials, extent, chunk)
        memory.done(routine, copies)
        code.line(f"ret i64 {stopped}")
        levels.memory.close()
        return routine

    def _chunk(self) -> Routine:
        """`@<name>_copy(frame, low, high)`: a chunk, into a copy."""
        text, loop = self._text, self._loop
        routine = Routine(f"void @{text.name}_copy(ptr %frame, i64 %low, i64 %high)", hot=False)
        levels = Levels(text, routine, "ret void")
        code, view = routine.code, levels.view
        leave_if_failed(levels.view)
        copies, workers = view.word(text.frame.stream(_COPIES), "ptr"), view.word(text.frame.stream(_WORKERS))
        places, (_, size) = _Places(routine, copies, workers), self._layout(levels)
        number = _taken(places)
        line, copy, given = places.line(number), places.copy(number, size), code.emit(f"icmp eq i64 {number}, 0")
        unused = code.emit(f"icmp eq i64 {routine.load('i64', routine.offset(line, 1))}, 0")
        with routine.when(code.emit(f"and i1 {unused}, {code.emit(f'xor i1 {given}, true')}")):
            code.line(f"call void @{text.name}_fill(ptr %frame, ptr {copy})")
            routine.store("i64", "1", routine.offset(line, 1))
        # The loop's code may fail, and then says so in its own frame.
        own = routine.slot("i64", text.frame.words)
        routine.copy(own, "%frame", WORD * text.frame.words)
        for array, place in self._places(levels, copy).items():
            data = code.emit(f"select i1 {given}, ptr {view.data(array)}, ptr {place}")
            routine.store("ptr", data, routine.offset(own, text.frame.data(array)))
        records = routine.slot("i64", max(1, sum(text.records[state.name].words for state in loop.states)))
        place_records(text, levels, loop, records)
        for state in loop.states:
            text.records[state.name].reset(routine, levels.pointers[state.name], None)
        in_steps(text, levels, text.name, f"ptr {own}, ptr {records}", "%low", "%high")
        code.line(f"store atomic i64 0, ptr {line} release, align 8")
        failed = routine.load("i64", routine.offset(own, FAILED))
        with routine.when(code.emit(f"icmp ne i64 {failed}, 0")):
            routine.store("i64", "1", view.address(FAILED))
        store_partials(text, levels, loop.states, code.emit(f"sdiv i64 %low, {view.word(CHUNK)}"))
        code.line("ret void")
        levels.memory.close()
        return routine

    def _fill(self) -> Routine:
        """`@<name>_fill(frame, copy)`: neutral elements."""
        routine = Routine(f"void @{self._text.name}_fill(ptr %frame, ptr %copy)")
        levels = Levels(self._text, routine, "ret void")
        fill(levels.view, self._scatters, self._places(levels, "%copy"))
        routine.code.line("ret void")
        return routine

    def _join(self) -> Routine:
        """`@<name>_join(frame, copy)`: the targets take in a copy."""
        routine = Routine(f"void @{self._text.name}_join(ptr %frame, ptr %copy)")
        levels = Levels(self._text, routine, "ret void")
        join(levels.memory, self._scatters, self._places(levels, "%copy"))
        routine.code.line("ret void")
        levels.memory.close()
        return routine


def _taken(places: _Places) -> str:
    """The number of a place that no other chunk has; there is one for each thread."""
    routine, code = places.routine, places.routine.code
    number = routine.slot("i64")
    routine.store("i64", "0", number)
    head, taken, next_ = routine.label(), routine.label(), routine.label()
    routine.jump(head)
    routine.place(head)
    found = routine.load("i64", number)
    before = code.emit(f"atomicrmw xchg ptr {places.line(found)}, i64 1 acquire")
    routine.branch(code.emit(f"icmp eq i64 {before}, 0"), taken, next_)
    routine.place(next_)
    routine.store("i64", code.emit(f"urem i64 {code.emit(f'add i64 {found}, 1')}, {places.workers}"), number)
    routine.jump(head)
    routine.place(taken)
    return found
