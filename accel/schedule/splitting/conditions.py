"""From which iterations on the conditions of a scalar function say nothing new: comparisons of a loop's index with its ends.

In: a function, and which of its parameters are indices of which loops. Out: for each condition that is affine in one index the
margins within which it always holds, or never: `i + c` compared with a number, or with the loop's own extent and a number. A
minimum, a maximum and a remainder are conditions, too, and a branch that is decided is followed as it is in the inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, Union, assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.scalar import Compute, Constant, Function, If, Load, Operand, Statement, Variable, While
from accel.support.dataclass import dataclass

_Atom: TypeAlias = Union[int, SizeVariable]
"""The index of the loop at a depth, or a size."""

Threshold: TypeAlias = tuple[int, int, int]
"""A loop's depth, and iterations at its beginning and at its end."""

_COMPARED = frozenset({Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.EQ, Operator.NE})


@dataclass(frozen=True, slots=True)
class _Affine:
    """`constant + sum(coefficient * atom)`; no coefficient is 0."""

    constant: int
    terms: Mapping[_Atom, int]

    def plus(self, other: _Affine, factor: int = 1) -> _Affine:
        sums = {
            atom: self.terms.get(atom, 0) + factor * other.terms.get(atom, 0) for atom in {*self.terms, *other.terms}
        }
        return _Affine(self.constant + factor * other.constant, {atom: c for atom, c in sums.items() if c})

    @property
    def index(self) -> int | None:
        """The only loop on whose index it depends."""
        depths = [atom for atom in self.terms if isinstance(atom, int)]
        return depths[0] if len(depths) == 1 else None


_ZERO = _Affine(0, {})


def thresholds(function: Function, indices: Mapping[Variable, tuple[int, Extent]]) -> Iterator[Threshold]:
    """The margins of each condition. `indices`: the parameters that are indices of loops, at a depth and of an extent."""
    return _Reading(indices).all(function)


class _Reading:
    def __init__(self, indices: Mapping[Variable, tuple[int, Extent]]) -> None:
        self._numbers: dict[Operand, _Affine] = {v: _Affine(0, {depth: 1}) for v, (depth, _) in indices.items()}
        self._extents = dict(indices.values())
        self._flags: dict[Operand, bool] = {}

    def all(self, function: Function) -> Iterator[Threshold]:
        """Those of all statements that run in the inside, as far as that is known."""
        pending: list[Statement | tuple[If]] = list(reversed(function.body.statements))
        while pending:
            match pending.pop():
                case Compute(out, operator, arguments):
                    yield from self._computed(out, operator, arguments)
                case If(_, condition, then, orelse) as choice:
                    taken = self._flags.get(condition)
                    blocks = [block for block, holds in ((then, True), (orelse, False)) if taken in (None, holds)]
                    pending.append((choice,))
                    pending += reversed([statement for block in blocks for statement in block.statements])
                case (If(outs, condition, then, orelse),):
                    for out, one, other in zip(outs, then.results, orelse.results, strict=True):
                        self._choose(out, condition, one, other)
                case Load():
                    pass
                case While(_, _, _, condition, body):
                    pending += reversed((*condition.statements, *body.statements))
                case other:
                    assert_never(other)

    def _computed(self, out: Variable, operator: Operator, arguments: Sequence[Operand]) -> Iterator[Threshold]:
        match operator, arguments:
            case Operator.SELECT, [condition, one, other]:
                self._choose(out, condition, one, other)
            case ((Operator.AND | Operator.OR), [a, b]) if out.type is BOOL:
                known = {self._flags.get(a), self._flags.get(b)}
                decisive = operator is Operator.OR
                if decisive in known:
                    self._flags[out] = decisive
                elif None not in known:
                    self._flags[out] = not decisive
            case Operator.NOT, [a] if a in self._flags:
                self._flags[out] = not self._flags[a]
            case _, [a, b] if (left := self._of(a)) is not None and (right := self._of(b)) is not None:
                yield from self._both(out, operator, left, right)
            case Operator.ABS, [a] if out.type is I64 and (number := self._of(a)) is not None:
                if (found := self._side(Operator.LT, number, _ZERO)) is not None and not found[1]:
                    self._numbers[out] = number
                    yield found[0]
            case Operator.NEG, [a] if out.type is I64 and (number := self._of(a)) is not None:
                self._numbers[out] = _ZERO.plus(number, -1)
            case _:
                pass

    def _both(self, out: Variable, operator: Operator, left: _Affine, right: _Affine) -> Iterator[Threshold]:
        """What is computed of two numbers."""
        match operator:
            case Operator.ADD | Operator.SUB:
                self._numbers[out] = left.plus(right, 1 if operator is Operator.ADD else -1)
            case Operator.MUL if not left.terms or not right.terms:
                number, factor = (right, left.constant) if not left.terms else (left, right.constant)
                self._numbers[out] = _ZERO.plus(number, factor)
            case Operator.MOD | Operator.REM:
                low, high = self._side(Operator.LT, left, _ZERO), self._side(Operator.LT, left, right)
                if low is not None and high is not None and not low[1] and high[1]:
                    self._numbers[out] = left
                    yield from (low[0], high[0])
            case Operator.MIN | Operator.MAX:
                if (found := self._side(Operator.LT, left, right, equal=True)) is not None:
                    self._numbers[out] = left if found[1] is (operator is Operator.MIN) else right
                    yield found[0]
            case _ if operator in _COMPARED:
                if (found := self._side(operator, left, right)) is not None:
                    self._flags[out] = found[1]
                    yield found[0]
            case _:
                pass

    def _side(
        self, operator: Operator, left: _Affine, right: _Affine, equal: bool = False
    ) -> tuple[Threshold, bool] | None:
        """The margins within which a comparison is decided, and what it gives there; with `equal`, or both are equal.

        Sides are those of large arrays: an index is far from a number, which is at the beginning, and from its loop's end.
        """
        gap = left.plus(right, -1)
        depth = gap.index
        if depth is None:
            return None
        rises = gap.terms[depth] > 0
        gap = gap if rises else _ZERO.plus(gap, -1)
        slope, rest = gap.terms[depth], {atom: c for atom, c in gap.terms.items() if atom != depth}
        extent, start = self._extents[depth], gap.constant
        if extent.variable is None:
            at_end = not rest and -2 * start > slope * extent.offset
        else:
            at_end = rest == {extent.variable: -slope}
        if rest and not at_end:
            return None
        start += slope * extent.offset if at_end else 0  # at the end, the gap is `slope * (index - extent) + start`
        above = at_end is not rises  # whether left is above right in the inside
        if operator in (Operator.EQ, Operator.NE):
            truth, strict = operator is Operator.NE, True
        else:
            truth = (operator in (Operator.GT, Operator.GE)) is above
            strict = truth is (operator in (Operator.LT, Operator.GT))
        least = int(strict and not equal)
        if at_end:
            return (depth, 0, max(0, (least + start + slope - 1) // slope - 1)), truth
        return (depth, max(0, -((start - least) // slope)), 0), truth

    def _choose(self, out: Variable, condition: Operand, one: Operand, other: Operand) -> None:
        """One of two values: the one that the inside takes."""
        taken = self._flags.get(condition)
        if taken is None:
            return
        value = one if taken else other
        if out.type is BOOL and value in self._flags:
            self._flags[out] = self._flags[value]
        elif out.type is I64 and (number := self._of(value)) is not None:
            self._numbers[out] = number

    def _of(self, operand: Operand) -> _Affine | None:
        match operand:
            case Variable():
                return self._numbers.get(operand)
            case Constant():
                return _Affine(int(operand.value), {}) if operand.type is I64 else None
            case Extent(variable, offset):
                return _Affine(offset, {} if variable is None else {variable: 1})
            case _:
                assert_never(operand)
