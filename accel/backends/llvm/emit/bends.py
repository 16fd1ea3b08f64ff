"""Bent places: indices whose lanes are side by side, or a step apart, in all vectors but those where an operator bends them.

Of `xs[min(i + r, n - 1)]` the lanes from i on ask for i + r, i + r + 1, …: a plain vector load, in all vectors but the last
ones, where some lanes ask for n - 1. Remainders, choices and other clamps bend places likewise. So one scalar comparison for a
vector says whether its lanes are *even*, that is so many elements from each other as the place says.

In: an operator on places, and reads there. Out: `Bent` values, and reads that branch on that scalar. Loops that are split into
an inside and edges have no such places in the inside. But how far edges go may be known at launch only, as here, or differ
between the turns of a loop in the lanes, as in folds of windows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.backends.llvm.emit.lanes.stepping import MOST
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.values import Bent, Fixed, Progression, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.scalar_code.scalar import operation
from accel.ir import mentions
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Compute, Function, If, Load, Operand, Variable, While
from accel.support.dataclass import dataclass

_BEND = frozenset(
    {Operator.MIN, Operator.MAX, Operator.MOD, Operator.REM, Operator.ABS, Operator.ADD, Operator.SUB, Operator.MUL}
)
"""Operators that leave places side by side in most vectors if all but one of their operands are the same in all lanes."""

_REMAINDERS = frozenset({Operator.MOD, Operator.REM})
"""Those of them that are even in their first period, where they change nothing, and in most vectors of later ones. That pays
for remainders by an extent; places that are remainders by other numbers are compared with bounds in lanes anyhow."""

LEAST_PERIOD = 2
"""Vectors that a period has, at least, for which lanes are looked for in later ones."""

DEEPEST = 8
"""How deep arguments of arguments go: what is deeper is computed in lanes at once."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Lane l is at `base + stride * l` where the i1 `even` holds."""

    base: str
    stride: int
    even: str


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
                if operator in _REMAINDERS and not isinstance(operands[1], Extent):
                    found.discard(out.number)
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
    if found is None or depth > DEEPEST:
        return None
    first = arguments[0]
    whole = first if operator in _REMAINDERS and isinstance(first, Progression) else None
    return Bent(found.base, found.stride, found.even, operator, tuple(arguments), depth, whole)


def read(memory: Memory, writer: Writer, array: Array, index: Sequence[Value], mask: str | None) -> Value:
    """`Memory.read`; at a bent place by a branch."""
    if not index or not isinstance(place := index[-1], Bent):
        return memory.read(array, index, mask)
    routine, type_ = memory.routine, writer.code.type(array.element)
    if not all(map(writer.is_uniform, index[:-1])):
        return memory.read(array, [*index[:-1], writer.varying(writer.every(place), I64)], mask)
    slot, even, bends, after = routine.slot(type_, align=64), routine.label(), routine.label(), routine.label()

    def keep(last: Value) -> None:
        routine.store(type_, writer.every(memory.read(array, [*index[:-1], last], mask)), slot)
        routine.jump(after)

    routine.branch(place.even, even, bends)
    routine.place(even)
    keep(Progression(place.base, place.stride))
    routine.place(bends)
    if place.whole is not None:
        _read_in_later_period(memory, writer, place.whole, writer.one(place.arguments[1]), keep)
    keep(writer.varying(writer.every(place), I64))
    routine.place(after)
    return writer.varying(routine.load(type_, slot), array.element)


def _read_in_later_period(
    memory: Memory, writer: Writer, whole: Progression, period: str, keep: Callable[[Value], None]
) -> None:
    """Reads, and is done, where lanes are side by side in a period behind the first one, if periods have several vectors."""
    routine, code, length = memory.routine, memory.routine.code, abs(whole.stride) * (writer.lanes - 1)
    low = whole.base if whole.stride > 0 else code.emit(f"sub i64 {whole.base}, {length}")
    divide, even, bends = routine.label(), routine.label(), routine.label()
    there = code.emit(f"icmp sge i64 {period}, {LEAST_PERIOD * (length + 1)}")
    for condition in (f"icmp sge i64 {low}, 0", f"icmp sge i64 {code.emit(f'add i64 {low}, {length}')}, 0"):
        there = code.emit(f"and i1 {there}, {code.emit(condition)}")
    routine.branch(there, divide, bends)
    routine.place(divide)
    least = code.emit(f"urem i64 {low}, {period}")
    greatest = code.emit(f"add i64 {least}, {length}")
    routine.branch(code.emit(f"icmp slt i64 {greatest}, {period}"), even, bends)
    routine.place(even)
    keep(Progression(least if whole.stride > 0 else greatest, whole.stride))
    routine.place(bends)


class _Bends:
    """Looks at operators: each gives where lane 0 is, how far the next one is, and an i1 that says whether others follow so."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._code = writer.scalar

    def found(self, operator: Operator, arguments: Sequence[Value]) -> _Place | None:
        """Those of an operator."""
        match operator, list(map(_place, arguments)):
            case Operator.SELECT, [_, _Place() as then, _Place() as orelse] if then.stride == orelse.stride:
                return self._chosen(arguments[0], then, orelse)
            case ((Operator.MIN | Operator.MAX), [_Place() as place, None]) if self._writer.is_uniform(arguments[1]):
                return self._limited(operator, place, arguments[1])
            case ((Operator.MIN | Operator.MAX), [None, _Place() as place]) if self._writer.is_uniform(arguments[0]):
                return self._limited(operator, place, arguments[0])
            case ((Operator.MOD | Operator.REM), [_Place() as place, None]) if self._writer.is_uniform(arguments[1]):
                _, high = self._ends(place)
                below = self._code.emit(f"icmp slt i64 {high}, {self._writer.one(arguments[1])}")
                return self._where(place, self._positive(place), below)
            case Operator.ABS, [_Place() as place]:
                return self._where(place, self._positive(place))
            case _ if any(isinstance(each, Bent) for each in arguments):
                return self._moved(operator, arguments)
            case _:
                return None

    def _moved(self, operator: Operator, arguments: Sequence[Value]) -> _Place | None:
        """What was bent before, by a number further or times a constant."""
        match operator, arguments:
            case ((Operator.ADD | Operator.SUB), [Bent(stride=stride, even=even), by]) if self._writer.is_uniform(by):
                pass
            case Operator.ADD, [by, Bent(stride=stride, even=even)] if self._writer.is_uniform(by):
                pass
            case Operator.SUB, [by, Bent(stride=stride, even=even)] if self._writer.is_uniform(by):
                stride = -stride
            case Operator.MUL, [Fixed(factor), Bent(stride=stride, even=even)]:
                stride *= int(factor.value)
            case Operator.MUL, [Bent(stride=stride, even=even), Fixed(factor)]:
                stride *= int(factor.value)
            case _:
                return None
        if not _is_near(stride):
            return None
        bases = [each.base if isinstance(each, Bent) else self._writer.one(each) for each in arguments]
        return _Place(operation(self._code, operator, I64, [I64, I64], bases), stride, even)

    def _limited(self, operator: Operator, place: _Place, limit: Value) -> _Place:
        """A minimum, or a maximum, with a limit that leaves all lanes what they are."""
        low, high = self._ends(place)
        end, relation = (high, "sle") if operator is Operator.MIN else (low, "sge")
        return self._where(place, self._code.emit(f"icmp {relation} i64 {end}, {self._writer.one(limit)}"))

    def _positive(self, place: _Place) -> str:
        return self._code.emit(f"icmp sge i64 {self._ends(place)[0]}, 0")

    def _ends(self, place: _Place) -> tuple[str, str]:
        """The least and the greatest lane, if none wraps."""
        last = self._code.emit(f"add i64 {place.base}, {place.stride * (self._writer.lanes - 1)}")
        return (place.base, last) if place.stride > 0 else (last, place.base)

    def _where(self, place: _Place, *conditions: str) -> _Place:
        """The same place where conditions hold, too, and lanes do not wrap."""
        low, high = self._ends(place)
        even = self._all(place.even, *conditions, self._code.emit(f"icmp sle i64 {low}, {high}"))
        return replace(place, even=even)

    def _chosen(self, condition: Value, then: _Place, orelse: _Place) -> _Place | None:
        ends = self._writer.ends(condition)
        if ends is None:
            return None
        base = self._code.emit(f"select i1 {ends[0]}, i64 {then.base}, i64 {orelse.base}")
        one, other = self._all(ends[0], then.even), self._all(ends[1], orelse.even)
        return _Place(base, then.stride, self._code.emit(f"or i1 {one}, {other}"))

    def _all(self, *conditions: str) -> str:
        found, *more = [each for each in conditions if each != "true"] or ["true"]
        for each in more:
            found = self._code.emit(f"and i1 {found}, {each}")
        return found


def _place(value: Value) -> _Place | None:
    match value:
        case Progression(base, stride) if _is_near(stride):
            return _Place(base, stride, "true")
        case Bent(base, stride, even):
            return _Place(base, stride, even)
        case _:
            return None


def _is_near(stride: int) -> bool:
    """Whether rows are loaded for lanes so far from each other (`stepping.py`)."""
    return stride == -1 or 1 <= stride <= MOST
