"""Loops that carry scans and positions, on several threads: chunks in rising order, each handing over what it came to.

A thread takes the next chunks, finds out their totals (`accel/schedule/templates/chain.py`), which brings their elements
into its cache, waits for what their predecessors came to, hands over what those and its own come to, and runs again with
what it was handed: memory is read once. Whoever finds all predecessors done *leads*: it needs no totals, and begins with the
results. So that the leader need not stop where others have not found out their totals yet, these leave it a gap, of as many
chunks as it does meanwhile (`chain_claims.py`).

A fold whose elements are counted begins within a block of the order, and leaves a piece (`states/pieces.py`), which the caller
takes in.

Carries stand in a table of the launch, an entry for each chunk: a word that says whether it is there, then the records. Nobody
waits long: who has lost patience, because a predecessor's thread does not run now, finds out the missing totals itself. Two
that fill in the same entry write the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping

from accel.backends.llvm.loops.chunks import (
    chunk_of,
    in_steps,
    keep_step,
    leave_if_failed,
    leave_if_interrupted,
    nanoseconds,
)
from accel.backends.llvm.loops.durations import ALONE, CHUNK_TIME
from accel.backends.llvm.loops.nest import Levels, NestText, body, place_records
from accel.backends.llvm.loops.partials import absorb_partials, partial_words, store_partials
from accel.backends.llvm.loops.schedule import note_streaming
from accel.backends.llvm.states.analysis import iteration_work, plan
from accel.backends.llvm.states.pieces import Pieces, chunk_places, chunk_words
from accel.backends.llvm.templates.chain_claims import AHEAD, LEADS, claim, wait
from accel.backends.llvm.text.code import constant_text
from accel.backends.llvm.text.routine import WORD, Routine
from accel.backends.llvm.text.words import CHUNK, FAILED, PARTIALS, RECORDS, THREADS
from accel.ir.nodes import For, State
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.chain import Chain

LEAST = 4 * ALONE
"""Nanoseconds below which a nest runs as rows."""

MOST_LINKS = 2048
"""More chunks than `chunks.py` has, so that what a chunk reads stays in a core's cache until it is read again."""

PIECE_BLOCKS = 16
"""Blocks of a chunk that leaves a piece, at least: the caller takes in two tiles of each."""

MOST_PIECES = 256
"""More than there are of such chunks, so that what they leave stays in caches."""

RUNNING = 4
"""About how many instructions a state costs that is read while its loop runs, beyond what its total costs."""

_CLAIMS, _CHUNKS, _EXTENT = "chain claims", "chain chunks", "chain extent"
_CARRIES, _PATIENCE, _PIECES = "chain carries", "chain patience", "chain pieces"
"""Words of the frame: which chunks are taken, how many there are, iterations; the table; how often to look for one; pieces."""

PATIENCE = 1 / 2
"""How often to look for an entry, by the nanoseconds of a chunk: longer than a chunk takes."""


def chained(
    text: NestText, found: Chain, least: float = LEAST, light: float = CHUNK_TIME, patience: float = PATIENCE
) -> ChainedLoop:
    """The nest's chain; for launches of at least `least` nanoseconds, in chunks of at least `light`.

    `patience`: looks for each nanosecond of a chunk.
    """
    totals = NestText(f"{text.name}_totals", found.totals.nest, plan(found.totals), None, text.frame)
    return ChainedLoop(text, totals, found, (least, light, patience))


class ChainedLoop:
    """The outermost loop of a nest as a chain: an `Alternative`."""

    def __init__(self, text: NestText, totals: NestText, found: Chain, limits: tuple[float, float, float]) -> None:
        assert text.nest.body.loop is not None
        assert found.totals.nest.body.loop is not None
        self._text = text
        self._totals = totals
        self._blocks = found.blocks
        self._least, self._light, self._patience = limits
        self._loop: For = text.nest.body.loop
        self._totals_loop: For = found.totals.nest.body.loop
        self._carried = [state for state in self._loop.states if state.running]
        self._folds = [s for s in self._loop.states if not s.running and s.name not in found.counted]
        self._links = {state.name: text.records[state.name] for state in self._carried}
        """What an entry holds, by state: of those that are counted how many elements come before, in their block."""
        self._links |= {name: totals.records[name] for name in sorted(found.counted)}
        self._pieces = {name: Pieces(text.records[name]) for name in sorted(found.counted)}
        for name in self._pieces:
            text.records[name].has_pieces = True
        self._in_order = self._blocks or any(not state.monoid.exact for state in self._loop.states)

    def applies(self, levels: Levels) -> str:
        """More than one thread, and enough work."""
        code = levels.routine.code
        extent = levels.extent(self._loop)
        time = nanoseconds(self._text, levels, [self._loop], extent)
        large = code.emit(f"fcmp oge double {time}, {self._least:e}")
        several = code.emit(f"icmp sgt i64 {levels.view.word(THREADS)}, 1")
        return code.emit(f"and i1 {large}, {several}")

    def run(self, levels: Levels) -> None:
        """Calls `@<name>_chain`, so that no other launch has its table on the stack."""
        self._totals.routines.append(body(self._totals, self._totals_loop, self._totals.name))
        self._totals.add_records()
        self._text.routines += [*self._totals.routines, self._link(), self._launch()]
        stopped = levels.routine.code.emit(f"call i64 @{self._text.name}_chain(ptr %frame)")
        leave_if_interrupted(levels.routine, stopped)

    def _launch(self) -> Routine:
        """`@<name>_chain(frame)`: all chunks; 1 if the user interrupted."""
        text, loop = self._text, self._loop
        routine = Routine(f"i64 @{text.name}_chain(ptr %frame)", hot=False)
        levels = Levels(text, routine, "ret i64 1")
        code, view = routine.code, levels.view
        place_records(text, levels, loop, view.word(RECORDS, "ptr"))
        extent, innermost = levels.extent(loop), loop.body.loop is None
        note_streaming(text, levels, extent, int(innermost))
        least = BLOCK if innermost or self._in_order else 1
        least = PIECE_BLOCKS * BLOCK if self._pieces else least
        most = MOST_PIECES if self._pieces else MOST_LINKS
        time = nanoseconds(text, levels, [loop], extent)
        chunk = chunk_of(routine, least, extent, time, most, self._light, partials=True)
        keep_step(levels, least, chunk, extent, time)
        partials = routine.slot("i64", max(1, partial_words(text, self._folds) * MOST_LINKS))
        routine.store("ptr", partials, view.address(PARTIALS))
        less = code.emit(f"sub i64 {extent}, 1")
        chunks = code.emit(f"add i64 {code.emit(f'sdiv i64 {less}, {chunk}')}, 1")
        carries = routine.slot("i64", (MOST_LINKS + 1) * self._entry_words)
        with routine.count("0", code.emit(f"add i64 {chunks}, 1")) as number:
            routine.store("i64", "0", self._entry(routine, carries, number))
        self._begin_neutral(levels)
        none = {name: self._none_before(routine) for name in self._pieces}
        self._fill_entry(levels, {**levels.pointers, **none}, carries)
        looks = code.emit(f"fmul double {nanoseconds(text, levels, [loop], chunk)}, {self._patience:e}")
        patience = code.emit(f"fptosi double {looks} to i64")
        words = {_CLAIMS: "0", _CHUNKS: chunks, _EXTENT: extent, _PATIENCE: patience}
        for word, value in words.items():
            routine.store("i64", value, self._word(levels, word))
        routine.store("ptr", carries, self._word(levels, _CARRIES))
        routine.store("i64", chunk, view.address(CHUNK))
        pieces = self._room_for_pieces(levels, chunk, chunks, extent)
        stopped = routine.run_chunks(f"@{text.name}_link", "%frame", chunks, 1, view.word(THREADS), time)
        failed = code.emit(f"icmp ne i64 {routine.load('i64', view.address(FAILED))}, 0")
        over = code.emit(f"or i1 {code.emit(f'icmp ne i64 {stopped}, 0')}, {failed}")
        with routine.when(code.emit(f"xor i1 {over}, true")):
            absorb_partials(text, levels, self._folds, partials, extent, chunk)
            found = self._records(routine, self._entry(routine, carries, chunks))
            self._copy(routine, found, {state.name: levels.pointers[state.name] for state in self._carried})
            if self._pieces:
                with routine.count("0", chunks) as number:
                    for name, piece in chunk_places(self._pieces, routine, pieces, chunk, number).items():
                        self._pieces[name].absorb(routine, levels.pointers[name], piece)
        if self._pieces:
            code.line(f"call void @free(ptr {pieces})")
        code.line(f"ret i64 {stopped}")
        levels.memory.close()
        return routine

    def _room_for_pieces(self, levels: Levels, chunk: str, chunks: str, extent: str) -> str:
        """Takes memory for what chunks leave; without it the loop runs on this thread."""
        if not self._pieces:
            return "null"
        routine, code = levels.routine, levels.routine.code
        code.declare("ptr", "malloc", "i64")
        code.declare("void", "free", "ptr")
        words = code.emit(f"mul i64 {chunks}, {chunk_words(self._pieces, routine, chunk)}")
        pieces = code.emit(f"call ptr @malloc(i64 {code.emit(f'mul i64 {words}, {WORD}')})")
        with routine.leaving(code.emit(f"icmp eq ptr {pieces}, null"), "i64 0"):
            records = levels.view.word(RECORDS, "ptr")
            code.line(f"call void @{self._text.name}_body(ptr %frame, ptr {records}, i64 0, i64 {extent})")
        routine.store("ptr", pieces, self._word(levels, _PIECES))
        return pieces

    def _none_before(self, routine: Routine) -> str:
        """The link of a counted state in front of all chunks."""
        place = routine.slot("i64", 2)
        routine.store("i64", "1", place)
        routine.store("i64", "0", routine.offset(place, 1))
        return place

    def _begin_neutral(self, levels: Levels) -> None:
        """Exact states that have no value yet get the neutral one: all ways to an entry agree on whether there is one."""
        routine = levels.routine
        for state in self._carried:
            pointer, neutral = levels.pointers[state.name], state.monoid.neutral
            if state.monoid.exact and neutral is not None:
                absent = routine.code.emit(f"icmp eq i64 {routine.load('i64', pointer)}, 0")
                with routine.when(absent):
                    routine.store("i64", "1", pointer)
                    self._text.records[state.name].store(routine, [constant_text(each) for each in neutral], pointer, 1)

    # Entries of the table of carries.

    @property
    def _entry_words(self) -> int:
        return 1 + sum(record.words for record in self._links.values())

    def _entry(self, routine: Routine, carries: str, number: str) -> str:
        return routine.offset(carries, routine.code.emit(f"mul i64 {number}, {self._entry_words}"))

    def _records(self, routine: Routine, entry: str) -> dict[str, str]:
        """Where an entry's records are, by state."""
        found: dict[str, str] = {}
        words = 1
        for name, record in self._links.items():
            found[name] = routine.offset(entry, words)
            words += record.words
        return found

    def _copy(self, routine: Routine, source: Mapping[str, str], target: Mapping[str, str]) -> None:
        for name, record in self._links.items():
            if name in target:
                record.copy(routine, source[name], target[name])

    def _fill_entry(self, levels: Levels, records: Mapping[str, str], entry: str) -> None:
        """Records become an entry that others see."""
        self._copy(levels.routine, records, self._records(levels.routine, entry))
        levels.routine.code.line(f"store atomic i64 1, ptr {entry} release, align 8")

    def _is_there(self, levels: Levels, entry: str) -> str:
        code = levels.routine.code
        return code.emit(f"icmp ne i64 {code.emit(f'load atomic i64, ptr {entry} acquire, align 8')}, 0")

    def _word(self, levels: Levels, name: str) -> str:
        return levels.view.address(self._text.frame.stream(name))

    def _link(self) -> Routine:
        """`@<name>_link(frame, …)`: the next chunks that nobody has begun; nothing if there are none."""
        text, routine = self._text, Routine(f"void @{self._text.name}_link(ptr %frame, i64 %any, i64 %next)", hot=False)
        levels = Levels(text, routine, "ret void")
        code = routine.code
        leave_if_failed(levels.view)
        carries = levels.view.word(text.frame.stream(_CARRIES), "ptr")

        def is_there(number: str) -> str:
            return self._is_there(levels, self._entry(routine, carries, number))

        chunks = routine.load("i64", self._word(levels, _CHUNKS))
        first, last, ready = claim(routine, self._word(levels, _CLAIMS), chunks, self._gap(), is_there)
        records = routine.slot("i64", sum(text.records[state.name].words for state in self._loop.states))
        place_records(text, levels, self._loop, records)
        before, after = (self._entry(routine, carries, number) for number in (first, last))
        late = code.emit(f"xor i1 {ready}, true")
        with routine.when(late):
            found = self._find_totals(levels, first, last)
            self._wait(levels, before, first)
            self._absorb(levels, found, before, after)
        places = self._resume(levels, before)
        self._results(levels, records, (first, last), places)
        with routine.when(ready):
            self._fill_entry(levels, places, after)
            code.emit(f"atomicrmw and ptr {self._word(levels, _CLAIMS)}, i64 {~LEADS} monotonic")
        code.line("ret void")
        levels.memory.close()
        return routine

    def _gap(self) -> int:
        """How many chunks' results take about as long as the totals of those that are found out at once."""
        results = iteration_work(self._text.nest) + RUNNING * len(self._links)
        return max(1, round(AHEAD * iteration_work(self._totals.nest) / results))

    def _resume(self, levels: Levels, entry: str) -> Mapping[str, str]:
        """The records in scope go on from an entry; gives where the links stand: of counted states not in their records."""
        routine, found = levels.routine, self._records(levels.routine, entry)
        places = {name: levels.pointers[name] for name in self._links}
        places |= {name: routine.slot("i64", self._links[name].words) for name in self._pieces}
        self._copy(routine, found, places)
        return places

    def _results(self, levels: Levels, records: str, chunks: tuple[str, str], places: Mapping[str, str]) -> None:
        """The chunks, one after the other, with what they fold apart, and what `places` says of those before."""
        text, routine, code = self._text, levels.routine, levels.routine.code
        chunk, extent = levels.view.word(CHUNK), routine.load("i64", self._word(levels, _EXTENT))
        start = routine.load("ptr", self._word(levels, _PIECES)) if self._pieces else "null"
        with routine.count(*chunks) as number:
            for state in self._folds:
                text.records[state.name].reset(routine, levels.pointers[state.name], None)
            pieces = chunk_places(self._pieces, routine, start, chunk, number)
            for name, piece in pieces.items():
                count = routine.load("i64", routine.offset(places[name], 1))
                self._pieces[name].begin(routine, levels.pointers[name], piece, count)
            low = code.emit(f"mul i64 {number}, {chunk}")
            high = routine.least(code.emit(f"add i64 {low}, {chunk}"), extent)
            in_steps(text, levels, text.name, f"ptr %frame, ptr {records}", low, high)
            levels.memory.poll()
            store_partials(text, levels, self._folds, number)
            for name, piece in pieces.items():
                count = self._pieces[name].end(routine, levels.pointers[name], piece)
                routine.store("i64", count, routine.offset(places[name], 1))

    def _find_totals(self, levels: Levels, first: str, last: str) -> tuple[str, str]:
        """Records of chunks, one for each block or one for all of them; gives where they are, and how many."""
        routine, code, totals = levels.routine, levels.routine.code, self._totals
        chunk, extent = levels.view.word(CHUNK), routine.load("i64", self._word(levels, _EXTENT))
        low = code.emit(f"mul i64 {first}, {chunk}")
        high = routine.least(code.emit(f"mul i64 {last}, {chunk}"), extent)
        length = code.emit(f"sub i64 {high}, {low}")
        parts = code.emit(f"sdiv i64 {code.emit(f'add i64 {length}, {BLOCK - 1}')}, {BLOCK}") if self._blocks else "1"
        table = code.emit(f"alloca i64, i64 {code.emit(f'mul i64 {parts}, {self._totals_words}')}, align 8")
        with routine.count("0", parts) as part:
            start, end = low, high
            if self._blocks:
                start = code.emit(f"add i64 {low}, {code.emit(f'mul i64 {part}, {BLOCK}')}")
                end = routine.least(code.emit(f"add i64 {start}, {BLOCK}"), high)
            entry = routine.offset(table, code.emit(f"mul i64 {part}, {self._totals_words}"))
            for state, record in self._entries(levels, entry):
                totals.records[state.name].reset(routine, record, None)
            in_steps(self._text, levels, totals.name, f"ptr %frame, ptr {entry}", start, end)
            leave_if_failed(levels.view)
        levels.memory.poll()
        return table, parts

    @property
    def _totals_words(self) -> int:
        return sum(self._totals.records[name].words for name in self._links)

    def _absorb(self, levels: Levels, found: tuple[str, str], before: str, after: str) -> None:
        """What one entry holds and the totals come to, as another entry. Others may read that already: only its last bits
        are written."""
        routine, code = levels.routine, levels.routine.code
        table, parts = found
        held = self._records(routine, routine.slot("i64", self._entry_words))
        self._copy(routine, self._records(routine, before), held)
        with routine.count("0", parts) as part:
            entry = routine.offset(table, code.emit(f"mul i64 {part}, {self._totals_words}"))
            for state, record in self._entries(levels, entry):
                with routine.when(code.emit(f"icmp ne i64 {routine.load('i64', record)}, 0")):
                    self._links[state.name].absorb(routine, held[state.name], routine.offset(record, 1))
        for name in self._pieces:
            count = routine.offset(held[name], 1)
            routine.store("i64", code.emit(f"and i64 {routine.load('i64', count)}, {BLOCK - 1}"), count)
        self._fill_entry(levels, held, after)

    def _entries(self, levels: Levels, entry: str) -> list[tuple[State, str]]:
        """The records of the totals from `entry` on."""
        found: list[tuple[State, str]] = []
        words = 0
        for state in self._totals_loop.states:
            found.append((state, levels.routine.offset(entry, words)))
            words += self._totals.records[state.name].words
        return found

    def _wait(self, levels: Levels, entry: str, number: str) -> None:
        """Until the entry of chunk `number` is there; who looked for it long enough fills in all that are missing."""
        routine, code = levels.routine, levels.routine.code
        looks = routine.slot("i64")
        patience = routine.load("i64", self._word(levels, _PATIENCE))
        routine.store("i64", "0", looks)
        look, again, impatient, after = (routine.label() for _ in range(4))
        routine.jump(look)
        routine.place(look)
        routine.branch(self._is_there(levels, entry), after, again)
        routine.place(again)
        wait(code)
        count = code.emit(f"add i64 {routine.load('i64', looks)}, 1")
        routine.store("i64", count, looks)
        routine.branch(code.emit(f"icmp slt i64 {count}, {patience}"), look, impatient)
        routine.place(impatient)
        self._fill_missing(levels, number)
        routine.jump(after)
        routine.place(after)

    def _fill_missing(self, levels: Levels, number: str) -> None:
        """All entries from the last that is there to that of chunk `number`."""
        routine, code = levels.routine, levels.routine.code
        carries = levels.view.word(self._text.frame.stream(_CARRIES), "ptr")
        place = routine.slot("i64")
        routine.store("i64", number, place)
        back, found = routine.label(), routine.label()
        routine.jump(back)
        routine.place(back)
        less = code.emit(f"sub i64 {routine.load('i64', place)}, 1")
        routine.store("i64", less, place)
        routine.branch(self._is_there(levels, self._entry(routine, carries, less)), found, back)
        routine.place(found)
        stack = code.emit("call ptr @llvm.stacksave.p0()")
        code.declare("ptr", "llvm.stacksave.p0", "")
        code.declare("void", "llvm.stackrestore.p0", "ptr")
        with routine.advance(place, number, 1) as at:
            next_ = code.emit(f"add i64 {at}, 1")
            entries = (self._entry(routine, carries, each) for each in (at, next_))
            self._absorb(levels, self._find_totals(levels, at, next_), *entries)
            code.line(f"call void @llvm.stackrestore.p0(ptr {stack})")
