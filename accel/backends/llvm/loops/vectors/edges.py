"""Rows that have an inside, in which no index is out of bounds: vectors of that, and of the edges before and behind it.

In: a part of a row, and a slot with the iteration at hand. Out: code that goes on from there: to the last vectors, which the
caller writes, where processors store under masks as fast as without, else to the part's end.
"""

from __future__ import annotations

from dataclasses import replace

from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.vectors.parts import RowPart, last_vectors, may_repeat, narrower, own_end, row_inside
from accel.backends.llvm.loops.vectors.vector import Vectors
from accel.backends.llvm.states.accumulators import Unit
from accel.backends.llvm.states.analysis import Inside, PhasePlan
from accel.ir.nodes import For

LONG = 256
"""Iterations from which on a loop's vectors, but for the first, begin where a quarter of one does: stores are aligned. Of loops
whose edges are scalar code."""


class Edges:
    """Those of one loop."""

    def __init__(self, loop: For, inside: Inside, vectors: Vectors, streams: Streams) -> None:
        """`streams`: those made outside of the loop."""
        self._loop = loop
        self._inside = inside
        self._vectors = vectors
        self._streams = streams
        self._routine = vectors.routine

    def inside(self, writer: Writer, extent: str) -> tuple[str, str]:
        """The first iteration of the inside, and the one behind it."""
        return row_inside(self._inside, self._loop, self._streams, writer, extent)

    def split(self, plan: PhasePlan, part: RowPart, position: str, step: int) -> None:
        """All but the last vectors of a part: an edge, the inside, and the rest, which is the other edge or a row at an edge.

        Without states the edges are as short as vectors are; groups stay where they are for those that have some.
        """
        routine, code, lanes = self._routine, self._routine.code, plan.lanes
        assert part.inside is not None
        first, end = part.inside
        group = lanes * plan.unroll
        last = code.emit(f"sub i64 {part.full}, {step - 1}")
        if first != "0":
            with routine.advance(position, routine.least(first, last), step) as at:
                self._vectors.side_by_side(plan, part, at, step // lanes)
        end = routine.least(part.full, end)
        inner = replace(plan, phase=replace(plan.phase, statements=self._inside.statements))
        for width in dict.fromkeys((group, step)):
            with routine.advance(position, code.emit(f"sub i64 {end}, {width - 1}"), width) as at:
                self._vectors.side_by_side(inner, part, at, width // lanes)
        with routine.advance(position, last, step) as at:
            self._vectors.side_by_side(plan, part, at, step // lanes)

    def split_in_scalars(self, plan: PhasePlan, part: RowPart, position: str) -> None:
        """All of a part without states, in scalar code but for the inside's vectors, which begin where the inside does. Of long
        rows the last ends with it, else narrower ones follow: a vector of an edge would be gathers, or come under a mask.

        Edges are vectors all the same of rows that are stored past the caches: a line of these is stored at once.
        """
        routine, code, lanes = self._routine, self._routine.code, plan.lanes
        assert part.inside is not None
        first, end = part.inside
        last, vectors = code.emit(f"sub i64 {part.full}, {lanes - 1}"), "false"
        for past in self._vectors.past_caches:
            vectors = code.emit(f"or i1 {vectors}, {past}")
        if vectors != "false":
            before = code.emit(f"select i1 {vectors}, i64 {routine.least(first, last)}, i64 0")
            with routine.advance(position, before, lanes) as at:
                self._vectors.side_by_side(plan, part, at, 1)
        self._vectors.one_by_one(part, position, routine.least(first, part.high))
        stop = routine.least(part.full, end)
        inner = replace(plan, phase=replace(plan.phase, statements=self._inside.statements))
        low, group = routine.slot("i64"), lanes * plan.unroll
        far = code.emit(f"icmp sge i64 {part.extent}, {LONG}")
        long = (
            code.emit(f"select i1 {vectors}, i1 false, i1 {far}") if may_repeat(self._vectors.statements) else "false"
        )
        with routine.when(long):
            self._begin_aligned(inner, part, position, stop)
            routine.store("i64", routine.load("i64", position), low)
        if group > lanes:
            with routine.advance(position, code.emit(f"sub i64 {stop}, {group - 1}"), group) as at:
                self._vectors.side_by_side(inner, part, at, plan.unroll)
        with routine.when(long):
            begin = last_vectors(code, routine.load("i64", position), routine.load("i64", low), stop, lanes)
            routine.store("i64", begin, position)
        with routine.advance(position, code.emit(f"sub i64 {stop}, {lanes - 1}"), lanes) as at:
            self._vectors.side_by_side(inner, part, at, 1)
        for narrow in narrower(lanes):
            limit = code.emit(f"select i1 {vectors}, i64 0, i64 {code.emit(f'sub i64 {stop}, {narrow - 1}')}")
            with routine.advance(position, limit, narrow) as at:
                self._vectors.side_by_side(replace(inner, lanes=narrow, unroll=1), part, at, 1)
        if any(loop != self._loop for _, loop in self._inside.margins):
            self._row_at_edge(plan, part, position)
        if vectors != "false":
            with routine.advance(position, code.emit(f"select i1 {vectors}, i64 {last}, i64 0"), lanes) as at:
                self._vectors.side_by_side(plan, part, at, 1)
        self._vectors.one_by_one(part, position, part.high)

    def _begin_aligned(self, inner: PhasePlan, part: RowPart, position: str, stop: str) -> None:
        """The first vector of the inside; those behind it begin with a quarter of one, and repeat some of it."""
        assert part.inside is not None
        routine, code, lanes = self._routine, self._routine.code, inner.lanes
        first, quarter = int(part.inside[0]), lanes // 4
        if first % quarter == 0:
            return
        begins = code.emit(f"icmp eq i64 {routine.load('i64', position)}, {first}")
        fits = code.emit(f"icmp sle i64 {first + lanes}, {stop}")
        with routine.when(code.emit(f"and i1 {begins}, {fits}")):
            self._vectors.side_by_side(inner, part, str(first), 1)
            routine.store("i64", str((first + lanes) // quarter * quarter), position)

    def _row_at_edge(self, plan: PhasePlan, part: RowPart, position: str) -> None:
        """The vectors of a row where loops around are at an edge, within the row's own margins: what is decided by these loops
        is a branch."""
        assert part.inside is not None
        code = self._routine.code
        end = own_end(self._inside, self._loop, code, part.extent)
        stop = code.emit(f"sub i64 {self._routine.least(part.full, end)}, {plan.lanes - 1}")
        at_edge = code.emit(f"icmp eq i64 {part.inside[1]}, 0")
        rows = replace(plan, phase=replace(plan.phase, statements=self._inside.rows))
        limit = code.emit(f"select i1 {at_edge}, i64 {stop}, i64 0")
        with self._routine.advance(position, limit, plan.lanes) as at:
            self._vectors.one(rows, part, Unit(at, None, part.start), None, {}, branches=True)
