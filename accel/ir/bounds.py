"""Indices that are always in bounds: those of reverse, transpose, replicate, clamped neighbours need no check.

Interval arithmetic over size variables: every i64 of an index function gets lower and upper bounds, linear in sizes. All sizes
are at least 0, and where the function runs at all, the extents of what it indexes for are at least 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from accel.ast.operators import Operator
from accel.labelled.nodes import Extent, Shape, SizeVariable
from accel.labelled.scalar import Compute, Constant, Function, Operand, Variable

_LARGE = 1 << 40
"""Constants beyond this are not followed, nor sizes taken more than `_OFTEN` times: nothing here may overflow."""

_OFTEN = 16

_MOST = 4
"""How many bounds of one value are kept."""


@dataclass(frozen=True, slots=True)
class Linear:
    """`constant + sum(coefficient * variable)`; no coefficient is 0."""

    constant: int
    terms: frozenset[tuple[SizeVariable, int]] = frozenset()

    def plus(self, other: Linear, sign: int = 1) -> Linear:
        """`self + sign * other`."""
        sums = dict(self.terms)
        for variable, coefficient in other.terms:
            sums[variable] = sums.get(variable, 0) + sign * coefficient
        return Linear(self.constant + sign * other.constant, frozenset((v, c) for v, c in sums.items() if c))


ZERO = Linear(0)


@dataclass(frozen=True, slots=True)
class Range:
    """All `lowers` are at most the value, all `uppers` at least; none is known if there are none."""

    lowers: tuple[Linear, ...] = ()
    uppers: tuple[Linear, ...] = ()


UNKNOWN = Range()

NonNegative: TypeAlias = Callable[[Linear], bool]


def always_inside(function: Function, shape: Shape, bounds: Shape) -> bool:
    """Whether an index function, run for every index of `shape`, gives indices into `bounds` only."""
    is_non_negative = _non_negative(shape)
    ranges: dict[Operand, Range] = {}
    for parameter, extent in zip(function.parameters, shape, strict=True):
        last = _linear(extent).plus(Linear(-1))
        ranges[parameter] = Range((ZERO,), (last,))
    for statement in function.body.statements:
        if isinstance(statement, Compute):
            arguments = [_range(argument, ranges) for argument in statement.arguments]
            ranges[statement.out] = _computed(statement.operator, arguments, is_non_negative)
    for result, bound in zip(function.body.results, bounds, strict=True):
        found, last = _range(result, ranges), _linear(bound).plus(Linear(-1))
        if not any(map(is_non_negative, found.lowers)):
            return False
        if not any(is_non_negative(last.plus(upper, -1)) for upper in found.uppers):
            return False
    return True


def _linear(extent: Extent) -> Linear:
    terms = frozenset[tuple[SizeVariable, int]]() if extent.variable is None else frozenset({(extent.variable, 1)})
    return Linear(extent.offset, terms)


def _non_negative(shape: Shape) -> NonNegative:
    """A test that is sure: every coefficient is positive, and the least sizes do not make the sum negative."""
    least: dict[SizeVariable, int] = {}
    for extent in shape:
        if extent.variable is not None:
            least[extent.variable] = max(least.get(extent.variable, 0), 1 - extent.offset)

    def test(linear: Linear) -> bool:
        if any(coefficient < 0 for _, coefficient in linear.terms):
            return False
        return (
            linear.constant + sum(coefficient * least.get(variable, 0) for variable, coefficient in linear.terms) >= 0
        )

    return test


def _range(operand: Operand, ranges: Mapping[Operand, Range]) -> Range:
    match operand:
        case Variable():
            return ranges.get(operand, UNKNOWN)
        case Constant():
            exact = Linear(int(operand.value)) if operand.type.is_integer else None
            return UNKNOWN if exact is None or abs(exact.constant) > _LARGE else Range((exact,), (exact,))
        case Extent():
            return Range((_linear(operand),), (_linear(operand),))


def _computed(operator: Operator, arguments: list[Range], is_non_negative: NonNegative) -> Range:
    match operator, arguments:
        case Operator.ADD, [a, b]:
            return Range(_sums(a.lowers, b.lowers, 1), _sums(a.uppers, b.uppers, 1))
        case Operator.SUB, [a, b]:
            return Range(_sums(a.lowers, b.uppers, -1), _sums(a.uppers, b.lowers, -1))
        case Operator.MIN, [a, b]:
            return Range(_common(a.lowers, b.lowers, is_non_negative, 1), (a.uppers + b.uppers)[:_MOST])
        case Operator.MAX, [a, b]:
            return Range((a.lowers + b.lowers)[:_MOST], _common(a.uppers, b.uppers, is_non_negative, -1))
        case Operator.MOD, [_, b] if any(is_non_negative(lower.plus(Linear(-1))) for lower in b.lowers):
            return Range((ZERO,), tuple(upper.plus(Linear(-1)) for upper in b.uppers))
        case _:
            return UNKNOWN


def _sums(left: tuple[Linear, ...], right: tuple[Linear, ...], sign: int) -> tuple[Linear, ...]:
    sums = [a.plus(b, sign) for a in left for b in right]
    return tuple([each for each in sums if _is_small(each)][:_MOST])


def _is_small(linear: Linear) -> bool:
    return abs(linear.constant) <= _LARGE and all(abs(coefficient) <= _OFTEN for _, coefficient in linear.terms)


def _common(
    left: tuple[Linear, ...], right: tuple[Linear, ...], is_non_negative: NonNegative, sign: int
) -> tuple[Linear, ...]:
    """The bounds of one side that bound the other side too. `sign`: 1 for lower bounds, -1 for upper ones."""

    def covers(one: Linear, others: tuple[Linear, ...]) -> bool:
        return any(is_non_negative(other.plus(one, -1) if sign > 0 else one.plus(other, -1)) for other in others)

    found = [one for one in left if covers(one, right)] + [one for one in right if covers(one, left)]
    return tuple(found[:_MOST])
