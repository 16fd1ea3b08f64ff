"""Loops as one loop over all their elements, so that chunks and vectors do not care how long rows are.

Loops that stand directly inside of each other and carry nothing but folds of all that they visit run over positions
0 .. rows * row - 1. Where all arrays lie in memory as the loops run, which is known at the call, dimensions merge into the
last one: usually everything is one row. Otherwise rows are taken one by one, and a chunk may begin and end inside of one.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.values import Uniform
from accel.backends.llvm.loops.nest import Levels, NestText, place_records
from accel.backends.llvm.states.analysis import VectorPlan
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import For, Stream
from accel.ir.positions import accesses, merging
from accel.labelled.array import Array


class Flat:
    """One nest that runs over positions: what its functions share."""

    def __init__(self, text: NestText, loops: Sequence[For]) -> None:
        self._text = text
        self._loops = loops
        self._indices = [loop.index for loop in loops]

    def _name(self, dimension: int) -> str:
        # No stream's name has a space.
        return f"extent {dimension}"

    def positions(self, levels: Levels) -> str:
        """How many there are; puts the extents, merged where memory allows it, into the frame."""
        routine, code = levels.routine, levels.routine.code
        extents = [levels.extent(loop) for loop in self._loops]
        row = routine.slot("i64")
        routine.store("i64", extents[-1], row)
        merges = routine.slot("i1")
        routine.store("i1", "true", merges)
        total = extents[-1]
        for dimension in range(len(extents) - 2, -1, -1):
            total = code.emit(f"mul i64 {total}, {extents[dimension]}")
            rest = extents[dimension]
            if dimension >= merging(self._text.nest, self._loops):
                together = code.emit(
                    f"and i1 {routine.load('i1', merges)}, {self._adjacent(levels, dimension, extents)}"
                )
                routine.store("i1", together, merges)
                factor = code.emit(f"select i1 {together}, i64 {rest}, i64 1")
                routine.store("i64", code.emit(f"mul i64 {routine.load('i64', row)}, {factor}"), row)
                rest = code.emit(f"select i1 {together}, i64 1, i64 {rest}")
            levels.view.keep(self._name(dimension), I64, rest)
        levels.view.keep(self._name(len(extents) - 1), I64, routine.load("i64", row))
        return total

    def _adjacent(self, levels: Levels, dimension: int, extents: Sequence[str]) -> str:
        """Whether in all arrays a step of this dimension is as far as the whole next dimension."""
        code, index = levels.routine.code, self._indices[dimension]
        result = "true"
        seen: set[tuple[Array, int]] = set()
        for array, operands in accesses(self._text.nest):
            if index not in operands or (array, operands.index(index)) in seen:
                continue
            place = operands.index(index)
            seen.add((array, place))
            step, inner = levels.view.stride(array, place), levels.view.stride(array, place + 1)
            whole = code.emit(f"mul i64 {inner}, {extents[dimension + 1]}")
            same = code.emit(f"icmp eq i64 {step}, {whole}")
            result = code.emit(f"and i1 {result}, {same}")
        return result

    def body(self) -> Routine:
        """`@<name>_body`: positions low .. high-1, row by row."""
        routine = Routine(f"void @{self._text.name}_body(ptr %frame, ptr %records, i64 %low, i64 %high)")
        levels = Levels(self._text, routine, "ret void")
        place_records(self._text, levels, self._loops[0], "%records")
        code, merged = routine.code, self._text.plan.merged
        extents = [self._extent(levels, dimension) for dimension in range(len(self._loops))]
        with routine.when(code.emit("icmp slt i64 %low, %high")), levels.in_slots(self._loops[0]):
            if merged is None:
                self._by_rows(levels, extents)
            else:
                self._whole_or_by_rows(levels, extents, merged)
        code.line("ret void")
        levels.memory.close()
        return routine

    def _whole_or_by_rows(self, levels: Levels, extents: Sequence[str], merged: VectorPlan) -> None:
        """Where there is a single row its blocks are those of the order; else rows are parts of blocks."""
        routine, code = levels.routine, levels.routine.code
        rows = "1"
        for extent in extents[:-1]:
            rows = code.emit(f"mul i64 {rows}, {extent}")
        whole, several, after = routine.label(), routine.label(), routine.label()
        routine.branch(code.emit(f"icmp eq i64 {rows}, 1"), whole, several)
        routine.place(whole)
        for index in self._indices[:-1]:
            levels.streams.made[index.name] = Uniform("0", I64)
        levels.in_vectors(self._loops[-1], merged, "%low", "%high", extents[-1])
        routine.jump(after)
        routine.place(several)
        self._by_rows(levels, extents)
        routine.jump(after)
        routine.place(after)

    def _by_rows(self, levels: Levels, extents: Sequence[str]) -> None:
        routine, code, loop = levels.routine, levels.routine.code, self._loops[-1]
        number, column, position = (routine.slot("i64") for _ in range(3))
        routine.store("i64", code.emit(f"udiv i64 %low, {extents[-1]}"), number)
        routine.store("i64", code.emit(f"urem i64 %low, {extents[-1]}"), column)
        routine.store("i64", "%low", position)
        with levels.parts(loop) as part, routine.advance(position, "%high", 0) as at:
            self._bind_indices(levels, routine.load("i64", number), extents)
            start = routine.load("i64", column)
            rest = code.emit(f"sub i64 %high, {at}")
            end = routine.least(extents[-1], code.emit(f"add i64 {start}, {rest}"))
            part(start, end, extents[-1])
            done = code.emit(f"sub i64 {end}, {start}")
            routine.store("i64", code.emit(f"add i64 {at}, {done}"), position)
            routine.store("i64", "0", column)
            routine.store("i64", code.emit(f"add i64 {routine.load('i64', number)}, 1"), number)

    def _extent(self, levels: Levels, dimension: int) -> str:
        return levels.view.stream(Stream(self._name(dimension), I64))

    def _bind_indices(self, levels: Levels, row: str, extents: Sequence[str]) -> None:
        """The outer indices of a row's number."""
        found = levels.routine.code.indices(row, extents[:-1])
        for stream, index in zip(self._indices[:-1], found, strict=True):
            levels.streams.made[stream.name] = Uniform(index, I64)
