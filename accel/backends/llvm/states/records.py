"""What a state carries while its loop runs: a record of words in memory, and the functions that work on it.

Partial results of blocks wait in a binary counter: its stack holds one result for each set bit of the number of blocks
so far, so joining equal sizes as they meet, and what is left from the right, is exactly `join_pairs` of
`accel/labelled/meaning/order.py`: adjacent pairs, level by level, an odd one waits. For the same reason a power of two of
blocks may be folded to one partial result apart (by another thread) and pushed as if it were one block.

What the words are depends on how the schedule keeps the state (`Accumulation`). value: present (0 or 1), value: exact states,
and scans in vectors. blocks: the stack of whole blocks that vector code pushes. lanes: a stack, elements in the open block, one
value for each lane. runs: a stack, elements in the open run, its value. scan: elements, whether there is a block carry, block
carry, vector carry, total, three rows of a vector. staged: a stack, elements in the tile, the chunk's piece (`pieces.py`) or
null, a tile for each leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.values import Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.text.code import register_type
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import WORD, Routine
from accel.backends.sites import Site
from accel.ir.nodes import State
from accel.labelled.meaning.order import BLOCK, SCAN_VECTOR, lanes
from accel.labelled.meaning.products import steps
from accel.labelled.scalar import Function
from accel.schedule.nodes import Accumulation

LEVELS = 60
"""Entries of a stack: more than the bits of any number of blocks."""

TILE_SLACK = 64
"""Elements behind a tile's block."""


def tile_words(kind: ScalarType) -> int:
    """Words of a tile: a block of elements, and room for a vector behind it."""
    return (BLOCK + TILE_SLACK) * kind.bytes // WORD


class Record:
    """The layout of one state's record, and the text of its functions `@<name>_…`."""

    def __init__(self, name: str, state: State, kind: Accumulation, frame: Frame, sites: list[Site] | None) -> None:
        self.name, self.state, self.kind = name, state, kind
        self.types = [register_type(kind) for kind in state.types]
        self.steps = steps(state.merge, state.monoid, state.types, state.products)
        self.leaves = len(self.types)
        self.frame, self.sites = frame, sites
        self._width = lanes(state.types)
        self.extra = 1 + LEVELS * self.leaves
        self.piece, self.tiles = self.extra + 1, self.extra + 2
        self.has_pieces = False  # whether chunks leave pieces: said before anything is written

    @property
    def words(self) -> int:
        """Words of the record."""
        match self.kind:
            case Accumulation.VALUE:
                return 1 + self.leaves
            case Accumulation.BLOCKS:
                return self.extra
            case Accumulation.LANES:
                return self.extra + 1 + self._width * self.leaves
            case Accumulation.RUNS:
                return self.extra + 1 + self.leaves
            case Accumulation.STAGED:
                return self.tiles + sum(map(tile_words, self.state.element))
            case Accumulation.SCAN:
                return 2 + (3 + 3 * SCAN_VECTOR) * self.leaves
            case _:
                assert_never(self.kind)

    # Words in any function.

    def copy(self, routine: Routine, source: str, target: str) -> None:
        """Puts a simple record's words to another place."""
        assert self.kind is Accumulation.VALUE
        for word, type_ in enumerate(["i64", *self.types]):
            routine.store(type_, routine.load(type_, routine.offset(source, word)), routine.offset(target, word))

    def load(self, routine: Routine, pointer: str, word: int | str) -> list[Value]:
        """The leaves that stand from that word on."""
        return [
            Uniform(routine.load(type_, self._leaf(routine, pointer, word, k)), final.type)
            for k, (type_, final) in enumerate(zip(self.types, self.state.finals, strict=True))
        ]

    def store(self, routine: Routine, values: Sequence[str], pointer: str, word: int | str) -> None:
        """Stores the leaves from that word on."""
        for k, (type_, value) in enumerate(zip(self.types, values, strict=True)):
            routine.store(type_, value, self._leaf(routine, pointer, word, k))

    def _leaf(self, routine: Routine, pointer: str, word: int | str, leaf: int) -> str:
        if isinstance(word, int):
            return routine.offset(pointer, word + leaf)
        return routine.offset(pointer, routine.code.emit(f"add i64 {word}, {leaf}") if leaf else word)

    def reset(self, routine: Routine, pointer: str, initial: Sequence[str] | None) -> None:
        """Makes the record empty; a running state begins with its initial value."""
        seeded = initial is not None and self.state.running
        routine.store("i64", str(int(seeded and self.kind is Accumulation.VALUE)), pointer)
        match self.kind:
            case Accumulation.LANES | Accumulation.RUNS | Accumulation.STAGED:
                routine.store("i64", "0", routine.offset(pointer, self.extra))
            case Accumulation.SCAN:
                routine.store("i64", str(int(seeded)), routine.offset(pointer, 1))
            case Accumulation.VALUE | Accumulation.BLOCKS:
                pass
            case _:
                assert_never(self.kind)
        if self.kind is Accumulation.STAGED:
            routine.store("ptr", "null", routine.offset(pointer, self.piece))
        if initial is not None and seeded:
            self.store(routine, initial, pointer, 1 if self.kind is Accumulation.VALUE else 2)
            if self.kind is Accumulation.SCAN:
                self.store(routine, initial, pointer, 2 + 2 * self.leaves)

    def current(self, routine: Routine, pointer: str) -> list[Value]:
        """The running value."""
        return self.load(routine, pointer, 1 if self.kind is Accumulation.VALUE else 2 + 2 * self.leaves)

    # Functions.

    def functions(self) -> list[Routine]:
        """What the module must define for this record."""
        match self.kind:
            case Accumulation.VALUE:
                return [self._simple_step()]
            case Accumulation.BLOCKS | Accumulation.STAGED:
                return [self._push(), self._collapse()]
            case Accumulation.LANES:
                return [self._push(), self._collapse(), self._join(), self._lanes_step()]
            case Accumulation.RUNS:
                return [self._push(), self._collapse(), self._runs_step()]
            case Accumulation.SCAN:
                return [self._scan_step()]
            case _:
                assert_never(self.kind)

    def step(self, routine: Routine, pointer: str, values: Sequence[str]) -> None:
        """One more element."""
        assert self.kind not in (Accumulation.BLOCKS, Accumulation.STAGED)
        kinds = map(register_type, self.state.element)
        arguments = "".join(f", {t} {v}" for t, v in zip(kinds, values, strict=True))
        routine.code.line(f"call void @{self.name}_step(ptr %frame, ptr {pointer}{arguments})")

    def push(self, routine: Routine, pointer: str, partial: str) -> None:
        """One more block: its result stands at `partial`."""
        routine.code.line(f"call void @{self.name}_push(ptr %frame, ptr {pointer}, ptr {partial})")

    def absorb(self, routine: Routine, pointer: str, partial: str) -> None:
        """A later part's result: of any size where the state is exact, else of a power of two of blocks or the last."""
        if self.kind is Accumulation.VALUE:
            self.step(
                routine, pointer, [str(routine.load(t, routine.offset(partial, k))) for k, t in enumerate(self.types)]
            )
        else:
            self.push(routine, pointer, partial)

    def collapse(self, routine: Routine, pointer: str) -> str:
        """Everything so far as one result, without the initial value: present (a word: 0 or 1), then the leaves."""
        if self.kind in (Accumulation.VALUE, Accumulation.SCAN):
            return pointer
        out = routine.slot("i64", 1 + self.leaves)
        routine.code.line(f"call void @{self.name}_collapse(ptr %frame, ptr {pointer}, ptr {out})")
        return out

    def _begin(self, suffix: str, parameters: str, *, inlined: bool = False) -> tuple[Routine, Functions, Memory]:
        routine = Routine(f"void @{self.name}_{suffix}(ptr %frame, ptr %record{parameters})", inlined=inlined)
        writer = Writer(routine.code, 1)
        memory = Memory(FrameView(routine, self.frame), writer, "ret void", self.sites)
        return routine, Functions(writer, memory), memory

    def _end(self, routine: Routine, memory: Memory) -> Routine:
        routine.code.line("ret void")
        memory.close()
        return routine

    def _merge(self, functions: Functions, left: Sequence[Value], right: Sequence[Value]) -> list[str]:
        return self._applied(functions, self.state.merge, [*left, *right])

    def _applied(self, functions: Functions, function: Function, arguments: Sequence[Value]) -> list[str]:
        return [functions.one(v) for v in functions.apply(function, arguments, None)]

    def _given(self) -> tuple[str, list[Value]]:
        kinds = self.state.element
        parameters = "".join(f", {register_type(kind)} %e{k}" for k, kind in enumerate(kinds))
        return parameters, [Uniform(f"%e{k}", kind) for k, kind in enumerate(kinds)]

    def _simple_step(self) -> Routine:
        parameters, element = self._given()
        # Shorter than a call, and a record in the caller's slots stays in registers.
        routine, functions, memory = self._begin("step", parameters, inlined=True)
        present = routine.code.emit(f"icmp ne i64 {routine.load('i64', '%record')}, 0")
        first, later, after = routine.label(), routine.label(), routine.label()
        routine.branch(present, later, first)
        routine.place(first)
        routine.store("i64", "1", "%record")
        self.store(routine, [functions.one(v) for v in element], "%record", 1)
        routine.jump(after)
        routine.place(later)
        self.store(routine, self._merge(functions, self.load(routine, "%record", 1), element), "%record", 1)
        routine.jump(after)
        routine.place(after)
        return self._end(routine, memory)

    def _push(self) -> Routine:
        routine, functions, memory = self._begin("push", ", ptr %partial")
        code = routine.code
        blocks, word = routine.slot("i64"), routine.slot("i64")
        held = routine.slot("i64", self.leaves)
        count = routine.load("i64", "%record")
        routine.store("i64", code.emit(f"add i64 {count}, 1"), "%record")
        routine.store("i64", count, blocks)
        routine.store("i64", "1", word)
        self.store(routine, [functions.one(v) for v in self.load(routine, "%partial", 0)], held, 0)
        with routine.repeat() as while_:
            bits, place = routine.load("i64", blocks), routine.load("i64", word)
            while_(code.emit(f"trunc i64 {bits} to i1"))
            joined = self._merge(functions, self.load(routine, "%record", place), self.load(routine, held, 0))
            self.store(routine, joined, held, 0)
            routine.store("i64", code.emit(f"lshr i64 {bits}, 1"), blocks)
            routine.store("i64", code.emit(f"add i64 {place}, {self.leaves}"), word)
        self.store(routine, [functions.one(v) for v in self.load(routine, held, 0)], "%record", place)
        return self._end(routine, memory)

    def _collapse(self) -> Routine:
        routine, functions, memory = self._begin("collapse", ", ptr %out")
        code = routine.code
        self._close_open_part(routine)
        blocks, word = routine.slot("i64"), routine.slot("i64")
        routine.store("i64", routine.load("i64", "%record"), blocks)
        routine.store("i64", "1", word)
        routine.store("i64", "0", "%out")
        with routine.repeat() as while_:
            bits, place = routine.load("i64", blocks), routine.load("i64", word)
            while_(code.emit(f"icmp ne i64 {bits}, 0"))
            with routine.when(code.emit(f"trunc i64 {bits} to i1")):
                first, later, next_ = routine.label(), routine.label(), routine.label()
                left = self.load(routine, "%record", place)
                routine.branch(code.emit(f"icmp eq i64 {routine.load('i64', '%out')}, 0"), first, later)
                routine.place(first)
                routine.store("i64", "1", "%out")
                self.store(routine, [functions.one(v) for v in left], "%out", 1)
                routine.jump(next_)
                routine.place(later)
                self.store(routine, self._merge(functions, left, self.load(routine, "%out", 1)), "%out", 1)
                routine.jump(next_)
                routine.place(next_)
            routine.store("i64", code.emit(f"lshr i64 {bits}, 1"), blocks)
            routine.store("i64", code.emit(f"add i64 {place}, {self.leaves}"), word)
        return self._end(routine, memory)

    def _close_open_part(self, routine: Routine) -> None:
        """An incomplete block of lanes, or an incomplete run, becomes the last block."""
        if self.kind is Accumulation.BLOCKS:
            return
        count = routine.load("i64", routine.offset("%record", self.extra))
        with routine.when(routine.code.emit(f"icmp ne i64 {count}, 0")):
            if self.kind is Accumulation.LANES:
                routine.code.line(f"call void @{self.name}_join(ptr %frame, ptr %record)")
            elif self.kind is Accumulation.STAGED:
                routine.code.line(f"call void @{self.name}_tile(ptr %frame, ptr %record)")
            else:
                self.push(routine, "%record", routine.offset("%record", self.extra + 1))
                routine.store("i64", "0", routine.offset("%record", self.extra))

    def _lane(self, routine: Routine, lane: str) -> str:
        """The word of a lane's leaves."""
        scaled = routine.code.emit(f"mul i64 {lane}, {self.leaves}")
        return routine.code.emit(f"add i64 {scaled}, {self.extra + 1}")

    def _lanes_step(self) -> Routine:
        parameters, element = self._given()
        routine, functions, memory = self._begin("step", parameters)
        code = routine.code
        counter = routine.offset("%record", self.extra)
        count = routine.load("i64", counter)
        lane = self._lane(routine, code.emit(f"and i64 {count}, {self._width - 1}"))
        first, later, after = routine.label(), routine.label(), routine.label()
        routine.branch(code.emit(f"icmp slt i64 {count}, {self._width}"), first, later)
        routine.place(first)
        self.store(routine, self._applied(functions, self.steps.first, element), "%record", lane)
        routine.jump(after)
        routine.place(later)
        held = self.load(routine, "%record", lane)
        self.store(routine, self._applied(functions, self.steps.following, [*held, *element]), "%record", lane)
        routine.jump(after)
        routine.place(after)
        more = code.emit(f"add i64 {count}, 1")
        routine.store("i64", more, counter)
        with routine.when(code.emit(f"icmp eq i64 {more}, {BLOCK}")):
            code.line(f"call void @{self.name}_join(ptr %frame, ptr %record)")
        return self._end(routine, memory)

    def _join(self) -> Routine:
        """The lanes of the open block (which has elements) become one result, lane l joining l + half, and are pushed."""
        routine, functions, memory = self._begin("join", "")
        code = routine.code
        counter = routine.offset("%record", self.extra)
        present = routine.least(routine.load("i64", counter), str(self._width))
        half = self._width // 2
        while half:
            joins = routine.least(code.emit(f"sub i64 {present}, {half}"), str(half))
            with routine.count("0", joins) as low:
                left = self._lane(routine, low)
                right = self._lane(routine, code.emit(f"add i64 {low}, {half}"))
                both = self.load(routine, "%record", left), self.load(routine, "%record", right)
                self.store(routine, self._merge(functions, *both), "%record", left)
            half //= 2
        self.push(routine, "%record", routine.offset("%record", self.extra + 1))
        routine.store("i64", "0", counter)
        return self._end(routine, memory)

    def _runs_step(self) -> Routine:
        parameters, element = self._given()
        routine, functions, memory = self._begin("step", parameters)
        code = routine.code
        counter, held = routine.offset("%record", self.extra), self.extra + 1
        count = routine.load("i64", counter)
        first, later, after = routine.label(), routine.label(), routine.label()
        routine.branch(code.emit(f"icmp eq i64 {count}, 0"), first, later)
        routine.place(first)
        self.store(routine, [functions.one(v) for v in element], "%record", held)
        routine.jump(after)
        routine.place(later)
        self.store(routine, self._merge(functions, self.load(routine, "%record", held), element), "%record", held)
        routine.jump(after)
        routine.place(after)
        more = code.emit(f"add i64 {count}, 1")
        routine.store("i64", more, counter)
        with routine.when(code.emit(f"icmp eq i64 {more}, {BLOCK // self._width}")):
            self.push(routine, "%record", routine.offset("%record", held))
            routine.store("i64", "0", counter)
        return self._end(routine, memory)

    def _scan_step(self) -> Routine:
        parameters, element = self._given()
        routine, functions, memory = self._begin("step", parameters)
        code = routine.code
        block, carry, total = 2, 2 + self.leaves, 2 + 2 * self.leaves
        count = routine.load("i64", "%record")
        in_block = code.emit(f"and i64 {count}, {BLOCK - 1}")
        lane = code.emit(f"and i64 {count}, {SCAN_VECTOR - 1}")
        starts = code.emit(f"icmp eq i64 {in_block}, 0")
        later = code.emit(f"icmp ne i64 {count}, 0")
        with routine.when(code.emit(f"and i1 {starts}, {later}")):
            routine.store("i64", "1", routine.offset("%record", 1))
            self.store(routine, [functions.one(v) for v in self.load(routine, "%record", total)], "%record", block)
        held = routine.slot("i64", self.leaves)
        self.store(routine, [functions.one(v) for v in element], held, 0)
        for level in range(3):
            self._scan_level(routine, functions, level, lane, held)
        with routine.when(code.emit(f"icmp sge i64 {in_block}, {SCAN_VECTOR}")):
            self.store(
                routine,
                self._merge(functions, self.load(routine, "%record", carry), self.load(routine, held, 0)),
                held,
                0,
            )
        with routine.when(code.emit(f"icmp eq i64 {lane}, {SCAN_VECTOR - 1}")):
            self.store(routine, [functions.one(v) for v in self.load(routine, held, 0)], "%record", carry)
        with routine.when(code.emit(f"icmp ne i64 {routine.load('i64', routine.offset('%record', 1))}, 0")):
            self.store(
                routine,
                self._merge(functions, self.load(routine, "%record", block), self.load(routine, held, 0)),
                held,
                0,
            )
        self.store(routine, [functions.one(v) for v in self.load(routine, held, 0)], "%record", total)
        routine.store("i64", code.emit(f"add i64 {count}, 1"), "%record")
        return self._end(routine, memory)

    def _scan_level(self, routine: Routine, functions: Functions, level: int, lane: str, held: str) -> None:
        """The step of 2^level: the vector's row of that level gets the value so far, which takes in its neighbour's."""
        code = routine.code
        row = 2 + (3 + level * SCAN_VECTOR) * self.leaves
        scaled = code.emit(f"mul i64 {lane}, {self.leaves}")
        place = code.emit(f"add i64 {scaled}, {row}")
        self.store(routine, [functions.one(v) for v in self.load(routine, held, 0)], "%record", place)
        with routine.when(code.emit(f"icmp sge i64 {lane}, {1 << level}")):
            left = code.emit(f"sub i64 {place}, {self.leaves << level}")
            merged = self._merge(functions, self.load(routine, "%record", left), self.load(routine, held, 0))
            self.store(routine, merged, held, 0)
