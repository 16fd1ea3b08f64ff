"""Places in lanes that are side by side in all vectors but those where something bends them: clamps, remainders, choices.

In: an operator on places, and reads there. Out: `Bent` values, which say by a scalar whether lanes are side by side, and reads
that are plain vector loads where they are. Loops that are split into an inside and edges have no such places in the inside; but
how far edges go may be known at launch only, as of `xs[min(i + r, n - 1)]`, or differ between the turns of a loop in the lanes,
as in folds of windows.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.values import Bent, Progression, Value, Writer
from accel.backends.llvm.scalar_code.scalar import operation
from accel.ir import mentions
from accel.labelled.array import Array
from accel.labelled.scalar import Compute, Function, If, Load, Operand, Variable, While

_BEND = frozenset({Operator.MIN, Operator.MAX, Operator.MOD, Operator.REM, Operator.ABS, Operator.ADD, Operator.SUB})
"""Operators that leave places side by side in most vectors if all but one of their operands are the same in all lanes."""

DEEPEST = 8
"""How deep arguments of arguments go: what is deeper is computed in lanes at once."""


def places(function: Function, differ: Set[int]) -> frozenset[int]:
    """The variables that are asked for as places alone: in the last dimension of arrays, others being the same in all lanes.

    Whatever else asks for them has them in lanes: nothing would be gained. differ: parameters that differ between lanes.
    """
    statements, varying = list(mentions.function_statements(function)), set(differ)

    def alike(operands: Sequence[Operand]) -> bool:
        return not any(isinstance(each, Variable) and each.number in varying for each in operands)

    for statement in statements:
        match statement:
            case Compute(out, _, operands) | Load(out, _, operands):
                if not alike(operands):
                    varying.add(out.number)
            case If(outs):
                varying.update(out.number for out in outs)
            case While(outs, parameters):
                varying.update(each.number for each in (*outs, *parameters))
            case _:
                assert_never(statement)
    found = {s.out.number for s in statements if isinstance(s, Compute) and s.out.type is I64} & varying

    def lanes(operands: Sequence[Operand]) -> None:
        found.difference_update(each.number for each in operands if isinstance(each, Variable))

    lanes(function.body.results)
    for statement in reversed(statements):
        match statement:
            case Load(_, _, index):
                lanes(index[:-1] if alike(index[:-1]) else index)
            case Compute(out, Operator.SELECT, operands) if out.number in found:
                lanes(operands[:1])
            case Compute(out, operator, operands):
                others = [each for each in operands if alike([each])]
                if out.number not in found or operator not in _BEND or len(others) < len(operands) - 1:
                    lanes(operands)
            case If(_, condition, then, orelse):
                lanes([condition, *then.results, *orelse.results])
            case While(_, _, initial, condition, body):
                lanes([*initial, *condition.results, *body.results])
            case _:
                assert_never(statement)
    return frozenset(found)


def bent(writer: Writer, operator: Operator, arguments: Sequence[Value]) -> Bent | None:
    """What an operator makes of places, if it leaves them side by side in most vectors; None if that is not known."""
    if not writer.bends or not all(each.type is I64 or each.type is BOOL for each in arguments):
        return None
    found = _Bends(writer).found(operator, arguments)
    depth = 1 + max((each.depth for each in arguments if isinstance(each, Bent)), default=0)
    return None if found is None or depth > DEEPEST else Bent(*found, operator, tuple(arguments), depth)


def read(memory: Memory, writer: Writer, array: Array, index: Sequence[Value], mask: str | None) -> Value:
    """`Memory.read`; at a bent place by a branch."""
    if not index or not isinstance(place := index[-1], Bent):
        return memory.read(array, index, mask)
    routine, type_ = memory.routine, writer.code.type(array.element)
    if not all(map(writer.is_uniform, index[:-1])):
        return memory.read(array, [*index[:-1], writer.varying(writer.every(place), I64)], mask)
    slot, even, bends, after = routine.slot(type_, align=64), routine.label(), routine.label(), routine.label()
    routine.branch(place.even, even, bends)
    routine.place(even)
    routine.store(type_, writer.every(memory.read(array, [*index[:-1], Progression(place.base, 1)], mask)), slot)
    routine.jump(after)
    routine.place(bends)
    lanes = writer.varying(writer.every(place), I64)
    routine.store(type_, writer.every(memory.read(array, [*index[:-1], lanes], mask)), slot)
    routine.jump(after)
    routine.place(after)
    return writer.varying(routine.load(type_, slot), array.element)


class _Bends:
    """Looks at operators: each gives where lane 0 is, and an i1 that says whether the other lanes follow side by side."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._code = writer.scalar

    def found(self, operator: Operator, arguments: Sequence[Value]) -> tuple[str, str] | None:
        """Those of an operator."""
        places = [self._place(each) for each in arguments]
        uniform = [self._writer.is_uniform(each) for each in arguments]
        match operator, places, uniform:
            case ((Operator.MIN | Operator.MAX), [(base, even), None], [_, True]):
                return base, self._all(even, *self._limit(operator, base, arguments[1]))
            case ((Operator.MIN | Operator.MAX), [None, (base, even)], [True, _]):
                return base, self._all(even, *self._limit(operator, base, arguments[0]))
            case ((Operator.MOD | Operator.REM), [(base, even), None], [_, True]):
                some, none = self._ends(base)
                below = self._code.emit(f"icmp slt i64 {self._last(base)}, {self._writer.one(arguments[1])}")
                return base, self._all(even, some, none, below)
            case Operator.ABS, [(base, even)], _:
                return base, self._all(even, *self._ends(base))
            case ((Operator.ADD | Operator.SUB), [(base, even), None], [_, True]) if isinstance(arguments[0], Bent):
                return self._moved(operator, base, arguments[1]), even
            case Operator.ADD, [None, (base, even)], [True, _] if isinstance(arguments[1], Bent):
                return self._moved(operator, base, arguments[0]), even
            case Operator.SELECT, [_, (base, even), (other, also)], _:
                return self._chosen(arguments[0], (base, even), (other, also))
            case _:
                return None

    def _place(self, value: Value) -> tuple[str, str] | None:
        match value:
            case Progression(base, 1):
                return base, "true"
            case Bent(base, even):
                return base, even
            case _:
                return None

    def _last(self, base: str) -> str:
        return self._code.emit(f"add i64 {base}, {self._writer.lanes - 1}")

    def _rises(self, base: str) -> str:
        """Whether lanes do not wrap."""
        return self._code.emit(f"icmp sle i64 {base}, {self._last(base)}")

    def _ends(self, base: str) -> tuple[str, str]:
        """Whether no lane is negative."""
        return self._code.emit(f"icmp sge i64 {base}, 0"), self._rises(base)

    def _limit(self, operator: Operator, base: str, limit: Value) -> tuple[str, str]:
        """Whether a minimum, or a maximum, with a limit leaves all lanes what they are."""
        end = self._last(base) if operator is Operator.MIN else base
        relation = "sle" if operator is Operator.MIN else "sge"
        return self._code.emit(f"icmp {relation} i64 {end}, {self._writer.one(limit)}"), self._rises(base)

    def _moved(self, operator: Operator, base: str, by: Value) -> str:
        return operation(self._code, operator, I64, [I64, I64], [base, self._writer.one(by)])

    def _chosen(self, condition: Value, then: tuple[str, str], orelse: tuple[str, str]) -> tuple[str, str] | None:
        ends = self._writer.ends(condition)
        if ends is None:
            return None
        base = self._code.emit(f"select i1 {ends[0]}, i64 {then[0]}, i64 {orelse[0]}")
        one, other = self._all(ends[0], then[1]), self._all(ends[1], orelse[1])
        return base, self._code.emit(f"or i1 {one}, {other}")

    def _all(self, *conditions: str) -> str:
        found = "true"
        for each in conditions:
            found = each if found == "true" else self._code.emit(f"and i1 {found}, {each}") if each != "true" else found
        return found
