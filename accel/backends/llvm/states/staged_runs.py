"""Blocks of folds that do not commute in vector code: lanes of registers are runs, which lie side by side in a tile.

In: a tile that `staging.py` fills, of a block or less. Out: its result in the order of `order.fold`. Lane l of vector k takes
the elements of run k * lanes + l one after the other; then runs join in adjacent pairs, of which the last may be odd.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.emit.lanes.transpose import PIECE, transposed_rows
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.values import Lanes, Value
from accel.backends.llvm.states.accumulators import Tools
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.text.code import memory_type
from accel.labelled.meaning.order import BLOCK
from accel.labelled.meaning.order import lanes as order_lanes


class RunsFold:
    """The block in the tiles at `tiles`, one for each leaf of the element, as one result."""

    def __init__(self, tools: Tools, memory: Memory, record: Record, tiles: Sequence[str]) -> None:
        self._tools = tools
        self._memory = memory
        self._record = record
        self._tiles = tiles
        self._runs = order_lanes(record.state.types)
        self._run = BLOCK // self._runs
        self._vectors = self._runs // tools.writer.lanes
        self._width = PIECE // max(kind.bytes for kind in record.state.element)
        types = tools.vector_types(record)
        self._results = [tools.routine.slot(f"[{self._vectors} x {type_}]", align=64) for type_ in types]

    def fold(self, present: str) -> list[str]:
        """The leaves of the result of the first `present` elements, from 1 to a block."""
        routine, code = self._tools.routine, self._tools.routine.code
        whole, part, after = routine.label(), routine.label(), routine.label()
        routine.branch(code.emit(f"icmp eq i64 {present}, {BLOCK}"), whole, part)
        routine.place(whole)
        self._whole()
        routine.jump(after)
        routine.place(part)
        self._part(present)
        routine.jump(after)
        routine.place(after)
        return self._join(code.parts(present, str(self._run)))

    def _whole(self) -> None:
        """All runs, side by side."""
        tools, record, routine = self._tools, self._record, self._tools.routine
        slots = [tools.slots(record) for _ in range(self._vectors)]
        for vector, held in enumerate(slots):
            first, *others = self._next(vector, "0")
            tools.store(record, self._merged(first, others), held)
        with routine.count(str(self._width), str(self._run), self._width) as step:
            for vector, held in enumerate(slots):
                tools.store(record, self._merged(tools.load(record, held), self._next(vector, step)), held)
        for vector, held in enumerate(slots):
            tools.store(record, tools.load(record, held), self._result(vector))

    def _merged(self, before: list[Value], elements: Sequence[list[Value]]) -> list[Value]:
        """A vector of results and so many elements of each run, one after the other."""
        for element in elements:
            before = self._tools.merge(self._record, before, element)
        return before

    def _part(self, present: str) -> None:
        """As many vectors of runs as there are, one after the other; the last run may be short."""
        tools, record, routine, code = self._tools, self._record, self._tools.routine, self._tools.routine.code
        size = self._run * tools.writer.lanes
        with routine.count("0", code.parts(present, str(size))) as vector:
            held = self._result(vector)
            left = code.emit(f"sub i64 {present}, {code.emit(f'mul i64 {vector}, {size}')}")
            tools.store(record, self._elements(self._position(vector, "0"), self._has("0", left)), held)
            with routine.count("1", routine.least(left, str(self._run))) as step:
                mask = self._has(step, left)
                before = tools.load(record, held)
                merged = tools.merge(record, before, self._elements(self._position(vector, step), mask))
                tools.store(record, tools.select(mask, merged, before), held)

    def _has(self, step: str, left: str) -> str:
        """The lanes whose runs have an element at `step`, where `left` elements are left for the vector."""
        writer, code = self._tools.writer, self._tools.routine.code
        rest = writer.splat(code.emit(f"sub i64 {left}, {step}"), "i64")
        return writer.code.emit(f"icmp slt {writer.code.vector('i64')} {self._firsts('i64')}, {rest}")

    def _firsts(self, type_: str) -> str:
        """Where the runs of a vector begin."""
        places = ", ".join(f"{type_} {lane * self._run}" for lane in range(self._tools.writer.lanes))
        return f"<{places}>"

    def _position(self, vector: int | str, step: str) -> str:
        code, size = self._tools.routine.code, self._run * self._tools.writer.lanes
        first = str(vector * size) if isinstance(vector, int) else code.emit(f"mul i64 {vector}, {size}")
        return code.emit(f"add i64 {first}, {step}")

    def _next(self, vector: int, step: str) -> list[list[Value]]:
        """The elements of a vector's runs at `step` and behind it, as many as are transposed at once."""
        code, leaves = self._tools.routine.code, []
        for kind, tile in zip(self._record.state.element, self._tiles, strict=True):
            base = code.emit(f"getelementptr {memory_type(kind)}, ptr {tile}, i64 {self._position(vector, step)}")
            runs = range(self._tools.writer.lanes)
            rows = [code.emit(f"getelementptr i8, ptr {base}, i64 {run * self._run * kind.bytes}") for run in runs]
            leaves.append([self._memory.loaded(kind, text) for text in transposed_rows(code, kind, rows, self._width)])
        return [list(element) for element in zip(*leaves, strict=True)]

    def _elements(self, position: str, mask: str | None) -> list[Value]:
        """The elements of all lanes' runs, of which the first lane's is at `position`."""
        code, writer = self._tools.routine.code, self._tools.writer
        elements = []
        for kind, tile in zip(self._record.state.element, self._tiles, strict=True):
            base = code.emit(f"getelementptr {memory_type(kind)}, ptr {tile}, i64 {position}")
            places = f"{writer.code.vector('i32')} {self._firsts('i32')}"
            addresses = writer.code.emit(f"getelementptr {memory_type(kind)}, ptr {base}, {places}")
            elements.append(self._memory.load_lanes(kind, addresses, mask))
        return elements

    def _result(self, vector: int | str) -> list[str]:
        """The addresses of a vector's results."""
        code, types = self._tools.routine.code, self._tools.vector_types(self._record)
        return [
            code.emit(f"getelementptr {type_}, ptr {array}, i64 {vector}")
            for type_, array in zip(types, self._results, strict=True)
        ]

    def _join(self, runs: str) -> list[str]:
        """The results of so many runs joined in adjacent pairs; what is behind them is garbage."""
        tools, record, code = self._tools, self._record, self._tools.routine.code
        vectors = [tools.load(record, self._result(vector)) for vector in range(self._vectors)]
        many = self._runs
        while many > 1:
            pairs = [(vectors[at], vectors[min(at + 1, len(vectors) - 1)]) for at in range(0, len(vectors), 2)]
            whole = code.emit(f"ashr i64 {runs}, 1")
            vectors = [self._pairs(left, right, at, whole) for at, (left, right) in enumerate(pairs)]
            runs = code.emit(f"ashr i64 {code.emit(f'add i64 {runs}, 1')}, 1")
            many //= 2
        return tools.lane(record, vectors[0], 0)

    def _pairs(self, left: list[Value], right: list[Value], number: int, whole: str) -> list[Value]:
        """Neighbours among the lanes of two vectors, merged; of the pairs, `whole` have two results."""
        tools, record, writer = self._tools, self._record, self._tools.writer
        evens, odds = ([self._every_other(*each, first) for each in zip(left, right, strict=True)] for first in (0, 1))
        before = number * writer.lanes
        there = writer.first_lanes(tools.routine.code.emit(f"sub i64 {whole}, {before}"))
        return tools.select(there, tools.merge(record, evens, odds), evens)

    def _every_other(self, left: Value, right: Value, first: int) -> Value:
        """Lanes first, first + 2, … of two vectors that follow each other."""
        writer, code = self._tools.writer, self._tools.writer.code
        type_ = code.type(left.type)
        order = ", ".join(f"i32 {2 * lane + first}" for lane in range(writer.lanes))
        mask = f"<{writer.lanes} x i32> <{order}>"
        return Lanes(
            code.emit(f"shufflevector {type_} {writer.every(left)}, {type_} {writer.every(right)}, {mask}"), left.type
        )
