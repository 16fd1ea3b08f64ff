"""Writes an innermost loop piece by piece, where it is cut (`accel/schedule/splitting/pieces.py`).

In: the cuts, and a part of a row. Out: code for all of the part. Vectors begin where they would without cuts, so stores are as
aligned; those in which a piece or the row begins or ends run once for each, under masks.
"""

from __future__ import annotations

from dataclasses import replace

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Fixed, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.vectors.parts import RowPart
from accel.backends.llvm.loops.vectors.vector import Vectors
from accel.backends.llvm.states.accumulators import Unit
from accel.backends.llvm.states.analysis import PhasePlan
from accel.ir.flow import made
from accel.ir.nodes import For, Operand, Stream
from accel.labelled.scalar import constant
from accel.schedule.splitting.pieces import Cut, Pieces


class Cuts:
    """The pieces of one loop. `streams`: those made outside of it."""

    def __init__(self, loop: For, cut: Cut, vectors: Vectors, outer: Memory, streams: Streams) -> None:
        self._cut = cut
        self._vectors = vectors
        self._streams = streams
        self._routine = vectors.routine
        self._scalar = Functions(Writer(self._routine.code, 1), outer)
        statements = (*loop.body.before, *loop.body.after)
        self._within = {loop.index.name, *(stream.name for each in statements for stream in made(each))}

    def write(self, plan: PhasePlan, part: RowPart) -> None:
        """All iterations of a part. Of one without iterations nothing is read, not even what says where cuts are."""
        with self._routine.when(self._routine.code.emit(f"icmp slt i64 {part.low}, {part.high}")):
            self._piece(self._cut, plan, part, part.low, part.high)

    def _piece(self, pieces: Pieces, plan: PhasePlan, part: RowPart, low: str, high: str) -> None:
        if not isinstance(pieces, Cut):
            with self._routine.when(self._routine.code.emit(f"icmp slt i64 {low}, {high}")):
                self._vectors_of(replace(plan, phase=replace(plan.phase, statements=pieces)), part, low, high)
            return
        (found,) = self._scalar.apply(pieces.at, [self._value(each) for each in pieces.arguments], None)
        code, at = self._routine.code, self._routine.least(self._scalar.one(found), high)
        middle = code.emit(f"select i1 {code.emit(f'icmp slt i64 {at}, {low}')}, i64 {low}, i64 {at}")
        self._piece(pieces.below, plan, part, low, middle)
        self._piece(pieces.above, plan, part, middle, high)

    def _value(self, operand: Operand) -> Value:
        """What an argument is; anything for what the loop makes, which no cut depends on."""
        if isinstance(operand, Stream) and operand.name in self._within:
            return Fixed(constant(operand.type, 0))
        return self._streams.value(operand)

    def _vectors_of(self, plan: PhasePlan, part: RowPart, low: str, high: str) -> None:
        routine, code, lanes = self._routine, self._routine.code, plan.lanes
        group, writer = lanes * plan.unroll, Writer(code, lanes)
        position = routine.slot("i64")
        origin = part.low if self._vectors.head is None else code.emit(f"add i64 {part.low}, {self._vectors.head}")
        before = code.emit(f"and i64 {code.emit(f'sub i64 {low}, {origin}')}, {lanes - 1}")
        begin = code.emit(f"sub i64 {low}, {before}")
        routine.store("i64", begin, position)
        with routine.when(code.emit(f"icmp ne i64 {before}, 0")):
            some = writer.first_lanes(code.emit(f"sub i64 {high}, {begin}"))
            mask = writer.without(some, writer.first_lanes(before))
            self._vectors.one(plan, part, Unit(begin, None, part.start), mask, {})
            routine.store("i64", code.emit(f"add i64 {begin}, {lanes}"), position)
        with routine.advance(position, code.emit(f"sub i64 {high}, {group - 1}"), group) as first:
            self._vectors.side_by_side(plan, part, first, plan.unroll)
        with routine.advance(position, high, lanes) as at:
            mask = writer.first_lanes(code.emit(f"sub i64 {high}, {at}"))
            self._vectors.one(plan, part, Unit(at, None, part.start), mask, {})
