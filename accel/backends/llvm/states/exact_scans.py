"""Exact scans in vector code: any order serves, so each leaf takes the cheapest one, in the type that is cheapest for it.

Inside of a vector every 16 bytes are scanned by themselves, by shifts that bring in the neutral element: one instruction
each on all processors. Then halves of twice, four, … times that size take in the last lane of what stands before them.
What came before the vector is a carry, the same in all lanes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I16, I32, I64, U8, U16, ScalarType
from accel.backends.llvm.emit.values import Lanes, Value
from accel.backends.llvm.scalar_code.scalar import operation
from accel.backends.llvm.states.accumulators import Accumulator, Tools, Unit
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.text.code import Code, register_type
from accel.labelled.scalar import Constant, constant
from accel.support.dataclass import dataclass

PART_BYTES = 16
"""What a processor shifts by whole lanes in one instruction."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf of an exact state: its operator, its type, and its neutral element."""

    operator: Operator
    type: ScalarType
    neutral: Constant

    @property
    def working(self) -> ScalarType:
        """The type in which lanes are combined: bools as bytes, since masks cannot be shifted by lanes; products of bytes
        in 16 bits, since processors do not multiply bytes; minima and maxima of floats as integers, without NaN."""
        if self.type is BOOL:
            return U8
        if self.operator is Operator.MUL and self.type.bytes == 1:
            return U16
        if self.type.is_float:
            return {2: I16, 4: I32, 8: I64}[self.type.bytes]
        return self.type

    def enter(self, code: Code, text: str) -> str:
        """The element in the working type."""
        source, target = code.type(self.type), code.type(self.working)
        if self.type.is_float:
            nan = operation(code, Operator.IS_NAN, BOOL, [self.type], [text])
            bits = code.emit(f"bitcast {source} {text} to {target}")
            known = code.emit(f"select {code.vector('i1')} {nan}, {target} {self._nan(code)}, {target} {bits}")
            return self._ordered(code, known)
        return text if source == target else code.emit(f"zext {source} {text} to {target}")

    def leave(self, code: Code, text: str) -> str:
        """The element in its own type."""
        source, target = code.type(self.working), code.type(self.type)
        if self.type.is_float:
            return code.emit(f"bitcast {source} {self._ordered(code, text)} to {target}")
        if self.type is BOOL:
            return code.emit(f"icmp ne {source} {text}, {code.literal(self.working, 0)}")
        return text if source == target else code.emit(f"trunc {source} {text} to {target}")

    def _nan(self, code: Code) -> str:
        """The bits of a NaN that stands above all numbers, or below them where the least is wanted."""
        bits = constant(self.type, math.nan).bits
        return code.literal(
            self.working, bits - (1 << self.working.bits - 1) if self.operator is Operator.MIN else bits
        )

    def _ordered(self, code: Code, bits: str) -> str:
        """Bits of a float as an integer that is greater where the float is, -0.0 being less than 0.0; and back."""
        type_, last = code.type(self.working), self.working.bits - 1
        sign = code.emit(f"ashr {type_} {bits}, {code.literal(self.working, last)}")
        flipped = code.emit(f"and {type_} {sign}, {code.literal(self.working, self.working.maximum)}")
        return code.emit(f"xor {type_} {bits}, {flipped}")

    def merge(self, code: Code, left: str, right: str) -> str:
        """Both combined, in the working type."""
        kind = self.working
        return operation(code, self.operator, kind, [kind, kind], [left, right])

    def without(self, code: Code, text: str, last: str) -> str | None:
        """What was there before `last` was combined into it, in the working type; None if that cannot be computed."""
        if self.operator is not Operator.ADD:
            return None
        kind = self.working
        return operation(code, Operator.SUB, kind, [kind, kind], [text, last])

    def nothing(self, code: Code) -> str:
        """The neutral element in the working type."""
        if self.type.is_float:
            least = self.operator is Operator.MAX
            infinity = constant(self.type, math.inf).bits
            return code.literal(self.working, -infinity - 1 if least else infinity)
        return code.literal(self.working, self.neutral.value)

    def scanned(self, code: Code, text: str) -> str:
        """The inclusive scan of each vector by itself."""
        part, distance = max(1, PART_BYTES // self.working.bytes), 1
        while distance < code.lanes:
            sources = _within_parts(code.lanes, distance, part) if distance < part else _halves(code.lanes, distance)
            text = self.merge(code, self._taken(code, text, sources), text)
            distance *= 2
        return text

    def _taken(self, code: Code, text: str, sources: Sequence[int | None]) -> str:
        """Every lane gets that of another; None: the neutral element."""
        vector = code.type(self.working)
        order = ", ".join(
            f"i32 {code.lanes + lane if source is None else source}" for lane, source in enumerate(sources)
        )
        mask = f"<{code.lanes} x i32> <{order}>"
        return code.emit(f"shufflevector {vector} {text}, {vector} {self.nothing(code)}, {mask}")


def _within_parts(lanes: int, distance: int, part: int) -> list[int | None]:
    """In every part each lane takes the one `distance` lanes before, if that is in the part."""
    return [lane - distance if lane % part >= distance else None for lane in range(lanes)]


def _halves(lanes: int, half: int) -> list[int | None]:
    """Second halves take the last lane of the first ones."""
    return [lane // half * half - 1 if lane // half % 2 else None for lane in range(lanes)]


class ExactScan(Accumulator):
    """A scan that any order serves; lanes that are not in the mask take the neutral element."""

    def __init__(self, tools: Tools, record: Record, pointer: str) -> None:
        self._tools = tools
        self._record = record
        self._pointer = pointer
        operators, elements = record.state.monoid.operators, record.state.monoid.neutral
        assert operators is not None
        assert elements is not None
        types = [final.type for final in record.state.finals]
        self._leaves = [Leaf(*leaf) for leaf in zip(operators, types, elements, strict=True)]
        self._code = tools.writer.code
        self._carries = [tools.routine.slot(self._code.type(leaf.working), align=64) for leaf in self._leaves]

    def begin(self) -> None:
        """The carry is the record's value, or neutral."""
        routine, scalar = self._tools.routine, self._tools.writer.scalar
        present = scalar.emit(f"icmp ne i64 {routine.load('i64', self._pointer)}, 0")
        held = self._record.load(routine, self._pointer, 1)
        for leaf, value, slot in zip(self._leaves, held, self._carries, strict=True):
            type_ = register_type(leaf.working)
            entered = leaf.enter(scalar, self._tools.writer.one(value))
            first = scalar.emit(f"select i1 {present}, {type_} {entered}, {type_} {leaf.nothing(scalar)}")
            routine.store(self._code.type(leaf.working), self._tools.writer.splat(first, type_), slot)

    def step(self, values: Sequence[Value], mask: str | None, unit: Unit) -> tuple[Sequence[Value], Sequence[Value]]:
        """The state before and after each lane."""
        states = [
            self._leaf_step(leaf, self._tools.writer.every(value), mask, slot)
            for leaf, value, slot in zip(self._leaves, values, self._carries, strict=True)
        ]
        return [before for before, _ in states], [after for _, after in states]

    def _leaf_step(self, leaf: Leaf, value: str, mask: str | None, slot: str) -> tuple[Value, Value]:
        code, writer = self._code, self._tools.writer
        type_ = code.type(leaf.working)
        taken = leaf.enter(code, value)
        if mask is not None:
            taken = code.emit(f"select {code.vector('i1')} {mask}, {type_} {taken}, {type_} {leaf.nothing(code)}")
        local = leaf.scanned(code, taken)
        last = f"<{writer.lanes} x i32> splat (i32 {writer.lanes - 1})"
        total = code.emit(f"shufflevector {type_} {local}, {type_} poison, {last}")
        carry = self._tools.routine.load(type_, slot)
        self._tools.routine.store(type_, leaf.merge(code, carry, total), slot)
        after = leaf.merge(code, carry, local)
        before = leaf.without(code, after, taken) or writer.shifted(after, register_type(leaf.working), 1, carry)
        return Lanes(leaf.leave(code, before), leaf.type), Lanes(leaf.leave(code, after), leaf.type)

    def end(self) -> None:
        """The record has the carry."""
        routine, scalar = self._tools.routine, self._tools.writer.scalar
        leaves: list[str] = []
        for leaf, slot in zip(self._leaves, self._carries, strict=True):
            type_ = self._code.type(leaf.working)
            carry = scalar.emit(f"extractelement {type_} {routine.load(type_, slot)}, i64 0")
            leaves.append(leaf.leave(scalar, carry))
        routine.store("i64", "1", self._pointer)
        self._record.store(routine, leaves, self._pointer, 1)
