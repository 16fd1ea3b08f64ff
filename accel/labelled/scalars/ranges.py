"""What is known of indices: interval arithmetic over size variables.

Every i64 of a scalar function that runs at every index of some shape gets lower and upper bounds, linear in sizes. All sizes
are at least 0, and where the function runs at all, the extents of its own shape are at least 1. Clamped neighbours,
reversed and transposed indices turn out to be in bounds; half of a clamp turns out to do nothing.

Sums and differences wrap around in i64, so one has bounds only if it cannot wrap. That rests on `Limits`, and on nothing else:
what is true of every extent, and how far bounds are followed. `tests/labelled/test_overflow.py` proves the rules against it, by
trying all values of numbers of eight bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never

from accel.ast.handles.extents import LARGEST_EXTENT
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.labelled.array import Extent, Shape, SizeVariable
from accel.labelled.scalar import Compute, Constant, Function, Operand, Variable, operand_type
from accel.support.dataclass import dataclass

_MOST = 4
"""How many bounds of one value are kept."""

_FOLLOWED = 256
"""Of functions that compute more numbers than this, nothing is concluded from conditions: each branch looks at all of them."""

_NEGATED: Mapping[Operator, Operator] = {
    Operator.LT: Operator.GE,
    Operator.GE: Operator.LT,
    Operator.GT: Operator.LE,
    Operator.LE: Operator.GT,
    Operator.EQ: Operator.NE,
    Operator.NE: Operator.EQ,
}
"""What holds of two numbers where a comparison does not."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large numbers are: `constant + times * extent` is less than a quarter of what an integer can count.

    So no bound that is kept overflows, nor does the sum or difference of two values that lie between such bounds.
    """

    extent: int
    """No extent is larger."""

    constant: int
    """Bounds with a larger constant are not kept, nor extents with a larger offset followed."""

    times: int
    """Bounds that count sizes more often, all together, are not kept."""


LIMITS: Final = Limits(extent=2 * LARGEST_EXTENT, constant=1 << 60, times=1 << 11)
"""Those of i64. A size is at most `LARGEST_EXTENT`, but an extent may be a size with an offset (`n0+1`), which is not checked
when the program runs. An operation adds at most `OFFSET`: no program has the 2**27 operations that would take it further."""

OFFSET: Final = 1 << 20
"""Sums `extent + constant` with a larger offset are computed, as any other number is, and become a size of their own."""


@dataclass(frozen=True, slots=True)
class Linear:
    """`constant + sum(coefficient * variable)`; no coefficient is 0."""

    constant: int
    terms: frozenset[tuple[SizeVariable, int]] = frozenset()

    @staticmethod
    def of(extent: Extent) -> Linear:
        """An extent as such a sum."""
        return _linear(extent)

    def plus(self, other: Linear, sign: int = 1) -> Linear:
        """`self + sign * other`."""
        if not other.terms:
            return Linear(self.constant + sign * other.constant, self.terms)
        sums = dict(self.terms)
        for variable, coefficient in other.terms:
            sums[variable] = sums.get(variable, 0) + sign * coefficient
        return Linear(self.constant + sign * other.constant, frozenset((v, c) for v, c in sums.items() if c))

    def __str__(self) -> str:
        """`2*n0+n1+3`."""
        terms = [f"{'' if times == 1 else f'{times}*'}n{size.number}" for size, times in sorted(self.terms)]
        return "+".join([*terms, *([str(self.constant)] if self.constant or not terms else [])]).replace("+-", "-")

    def times(self, factor: int) -> Linear:
        """`factor * self`."""
        return Linear(factor * self.constant, frozenset((v, factor * c) for v, c in self.terms if factor))


ZERO, ONE = Linear(0), Linear(1)


@dataclass(frozen=True, slots=True)
class Range:
    """All `lowers` are at most the value, all `uppers` at least; none is known if there are none."""

    lowers: tuple[Linear, ...] = ()
    uppers: tuple[Linear, ...] = ()


UNKNOWN = Range()


class Ranges:
    """The ranges of a function's variables. `index` runs over `shape`; what is computed from it is told by `learn`."""

    def __init__(self, index: Sequence[Variable], shape: Shape, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._least: dict[SizeVariable, int] = {}
        for extent in shape:
            if extent.variable is not None:
                self._least[extent.variable] = max(self._least.get(extent.variable, 0), 1 - extent.offset)
        self._last = [_linear(extent).plus(ONE, -1) for extent in shape]
        self._ranges = {v: Range((ZERO,), (last,)) for v, last in zip(index, self._last, strict=True)}
        self._numbers: list[tuple[Variable, Operator, Sequence[Operand]]] = []
        self._flags: dict[Operand, tuple[Operator, Sequence[Operand]]] = {}

    @classmethod
    def of_values(cls, known: Mapping[Variable, Range], least: Mapping[SizeVariable, int]) -> Ranges:
        """Where these variables lie in these ranges, and sizes are at least so large."""
        found = cls((), ())
        found._ranges, found._least = dict(known), dict(least)
        found._last = list(dict.fromkeys(upper for each in known.values() for upper in each.uppers))
        return found

    def learn(self, out: Variable, operator: Operator, arguments: Sequence[Operand]) -> None:
        """`out := operator(arguments)`."""
        if out.type is BOOL:
            self._flags[out] = operator, arguments
        if out.type is not I64:
            return
        self._numbers.append((out, operator, arguments))
        found = self._computed(operator, self._seen(operator, arguments))
        if found != UNKNOWN:
            self._ranges[out] = found

    def _seen(self, operator: Operator, arguments: Sequence[Operand]) -> list[Range]:
        """What is known of arguments: of what is selected, where it is."""
        if operator is not Operator.SELECT:
            return [self.of(argument) for argument in arguments]
        condition, yes, no = arguments
        return [UNKNOWN, self.given(condition, True).of(yes), self.given(condition, False).of(no)]

    def given(self, condition: Operand, holds: bool) -> Ranges:
        """What is known where a condition is true, or where it is false. It may be this object, if that is no more."""
        facts = list(self._facts(condition, holds)) if len(self._numbers) <= _FOLLOWED else []
        if not facts:
            return self
        found = Ranges((), (), self._limits)
        found._least, found._last = self._least, self._last
        found._ranges, found._numbers, found._flags = dict(self._ranges), list(self._numbers), dict(self._flags)
        told = set[Operand]()  # what more is known of than here; all else is as it was
        for variable, known in facts:
            found._add(variable, known, told)
        for out, operator, arguments in self._numbers:
            if not told.isdisjoint(arguments):
                found._add(out, found._computed(operator, [found.of(argument) for argument in arguments]), told)
        return found

    def _add(self, variable: Variable, known: Range, told: set[Operand]) -> None:
        """What is known of a number as well; it is `told` if that is news."""
        before = self.of(variable)
        both = _both(known, before)
        if both != before:
            self._ranges[variable] = both
            told.add(variable)

    def _facts(self, condition: Operand, holds: bool) -> Iterator[tuple[Variable, Range]]:
        """What a condition says of numbers."""
        pending, seen = [(condition, holds)], set[tuple[Operand, bool]]()
        while pending:
            flag, true = pending.pop()
            if flag not in self._flags or (flag, true) in seen:
                continue
            seen.add((flag, true))
            operator, arguments = self._flags[flag]
            match operator, arguments:
                case Operator.NOT, [one]:
                    pending.append((one, not true))
                case Operator.AND | Operator.OR, [a, b]:
                    pending += [(a, true), (b, true)] if true is (operator is Operator.AND) else []
                case _, [a, b] if operator in _NEGATED and operand_type(a) is I64:
                    yield from self._compared(operator if true else _NEGATED[operator], a, b)
                case _:
                    pass

    def _compared(self, operator: Operator, a: Operand, b: Operand) -> Iterator[tuple[Variable, Range]]:
        """What follows for two numbers of which a comparison holds."""
        left, right = self.of(a), self.of(b)
        match operator:
            case Operator.GT | Operator.GE:
                yield from self._compared(Operator.LT if operator is Operator.GT else Operator.LE, b, a)
                return
            case Operator.LT | Operator.LE:
                less = ONE if operator is Operator.LT else ZERO
                of_left = Range((), tuple([upper.plus(less, -1) for upper in right.uppers]))
                of_right = Range(tuple([lower.plus(less) for lower in left.lowers]), ())
            case Operator.EQ:
                of_left, of_right = right, left
            case Operator.NE:
                of_left, of_right = _other_than(right, left), _other_than(left, right)
            case _:
                return
        for operand, known in ((a, of_left), (b, of_right)):
            small = Range(tuple(filter(self._is_small, known.lowers)), tuple(filter(self._is_small, known.uppers)))
            if isinstance(operand, Variable) and small != UNKNOWN:
                yield operand, small

    def at_most(self, left: Operand, right: Operand, less: int = 0) -> bool:
        """Whether `left + less <= right` always holds."""
        gap = Linear(less)
        return any(
            self._is_non_negative(lower.plus(upper, -1).plus(gap, -1))
            for lower in self.of(right).lowers
            for upper in self.of(left).uppers
        )

    def inside(self, index: Sequence[Operand], bounds: Shape) -> bool:
        """Whether an index into something of shape `bounds` is always in bounds."""
        zero = Extent(None, 0)
        pairs = zip(index, bounds, strict=True)
        return all(self.at_most(zero, i) and self.at_most(i, extent, 1) for i, extent in pairs)

    def turns(self, number: Operand, divisor: Operand, most: int) -> tuple[int, int] | None:
        """How often a divisor must be added to a number that may be negative, and how often subtracted from one that may be too
        large, until it is the remainder; None where that is not known, or more than `most` times."""
        by = self.of(divisor)
        exact = next((lower for lower in by.lowers if lower in by.uppers), None)
        if exact is None or not self._is_non_negative(exact.plus(ONE, -1)):
            return None
        added = self._times(self.of(number).lowers, exact, most)
        taken = self._times([exact.plus(ONE, -1).plus(upper, -1) for upper in self.of(number).uppers], exact, most)
        return None if added is None or taken is None else (added, taken)

    def _times(self, bounds: Sequence[Linear], step: Linear, most: int) -> int | None:
        """How many steps must be added to one of the bounds until it is not negative."""
        for count in range(most + 1):
            if any(map(self._is_non_negative, bounds)):
                return count
            bounds = [bound.plus(step) for bound in bounds]
        return None

    def _is_non_negative(self, linear: Linear) -> bool:
        """Sure: every coefficient is positive, and the least sizes do not make the sum negative."""
        if any(coefficient < 0 for _, coefficient in linear.terms):
            return False
        return linear.constant + sum(c * self._least.get(variable, 0) for variable, c in linear.terms) >= 0

    def of(self, operand: Operand) -> Range:
        """What is known of an operand."""
        match operand:
            case Variable():
                return self._ranges.get(operand, UNKNOWN)
            case Constant():
                exact = Linear(int(operand.value)) if operand.type is I64 else None
                return Range((exact,), (exact,)) if exact is not None and self._is_small(exact) else UNKNOWN
            case Extent():
                return Range((_linear(operand),), (_linear(operand),))
            case _:
                assert_never(operand)

    def _computed(self, operator: Operator, arguments: Sequence[Range]) -> Range:
        match operator, arguments:
            case Operator.ADD, [a, b]:
                return self._sum(a, b)
            case Operator.SUB, [a, b]:
                return self._sum(a, _negated(b))
            case Operator.MUL, [a, b]:
                if (factor := _number(b)) is not None:
                    return self._times_as_much(a, factor)
                return UNKNOWN if (factor := _number(a)) is None else self._times_as_much(b, factor)
            case Operator.SHIFT_RIGHT, [a, b] if (by := _number(b)) is not None and by >= 0:
                return self._shifted(a, by)
            case Operator.MIN, [a, b]:
                return Range(self._common(a.lowers, b.lowers, 1), (a.uppers + b.uppers)[:_MOST])
            case Operator.MAX, [a, b]:
                return Range((a.lowers + b.lowers)[:_MOST], self._common(a.uppers, b.uppers, -1))
            case Operator.SELECT, [_, a, b]:
                return Range(self._common(a.lowers, b.lowers, 1), self._common(a.uppers, b.uppers, -1))
            case Operator.ABS, [a] if a.lowers:  # so it is not the least integer, which has no absolute value
                return Range((ZERO,), self._common(a.uppers, _negated(a).uppers, -1))
            case Operator.MOD, [_, b] if any(self._is_non_negative(lower.plus(ONE, -1)) for lower in b.lowers):
                return Range((ZERO,), tuple(upper.plus(ONE, -1) for upper in b.uppers))
            case _:
                return UNKNOWN

    def _sum(self, a: Range, b: Range) -> Range:
        """The range of a sum, if it does not wrap around at either end of i64; `b` may be a negated number, up to 2**63.

        It does not below if both numbers have lower bounds, which are small, or one is not negative; and not above if
        both have upper bounds, or one is negative.
        """
        not_below = (a.lowers and b.lowers) or any(map(self._is_non_negative, (*a.lowers, *b.lowers)))
        not_above = (a.uppers and b.uppers) or any(self._is_negative(upper) for upper in (*a.uppers, *b.uppers))
        if not not_below or not not_above:
            return UNKNOWN
        return Range(self._sums(a.lowers, b.lowers), self._sums(a.uppers, b.uppers))

    def _times_as_much(self, a: Range, factor: int) -> Range:
        """That of a product with a number, if it does not wrap: what lies between small bounds is small."""
        if factor < 0:
            return self._times_as_much(_negated(a), -factor)
        lowers, uppers = (
            tuple(filter(self._is_small, (each.times(factor) for each in b))) for b in (a.lowers, a.uppers)
        )
        return Range(lowers, uppers) if lowers and uppers else UNKNOWN

    def _shifted(self, a: Range, by: int) -> Range:
        """That of the quotient of a number and a power of two, rounded down."""
        lowers, uppers = (
            tuple([Linear(each.constant >> by) for each in b if not each.terms]) for b in (a.lowers, a.uppers)
        )
        if any(map(self._is_non_negative, a.lowers)):
            return Range((*lowers, ZERO)[:_MOST], (*uppers, *a.uppers)[:_MOST])
        return Range(lowers, uppers)

    def _is_negative(self, linear: Linear) -> bool:
        return self._is_non_negative(_negative(linear).plus(ONE, -1))

    def _sums(self, left: tuple[Linear, ...], right: tuple[Linear, ...]) -> tuple[Linear, ...]:
        sums = [a.plus(b) for a in left for b in right]
        return tuple([each for each in sums if self._is_small(each)][:_MOST])

    def _is_small(self, linear: Linear) -> bool:
        times = sum(abs(coefficient) for _, coefficient in linear.terms)
        return abs(linear.constant) <= self._limits.constant and times <= self._limits.times

    def _common(self, left: tuple[Linear, ...], right: tuple[Linear, ...], sign: int) -> tuple[Linear, ...]:
        """Bounds of both sides: those of either, 0 and the last indices, as far as they hold. `sign`: 1 for lower bounds."""

        def holds(one: Linear, others: tuple[Linear, ...]) -> bool:
            return any(
                self._is_non_negative(other.plus(one, -1) if sign > 0 else one.plus(other, -1)) for other in others
            )

        candidates = dict.fromkeys((*left, *right, ZERO, *self._last))
        return tuple([one for one in candidates if holds(one, left) and holds(one, right)][:_MOST])


def _linear(extent: Extent) -> Linear:
    terms = frozenset[tuple[SizeVariable, int]]() if extent.variable is None else frozenset({(extent.variable, 1)})
    return Linear(extent.offset, terms)


def _negative(linear: Linear) -> Linear:
    return ZERO.plus(linear, -1)


def _number(known: Range) -> int | None:
    """The only number in a range."""
    exact = [each for each in known.lowers if not each.terms and each in known.uppers]
    return exact[0].constant if exact else None


def _negated(numbers: Range) -> Range:
    return Range(tuple(map(_negative, numbers.uppers)), tuple(map(_negative, numbers.lowers)))


def _both(one: Range, two: Range) -> Range:
    """What two ranges of one number say together, the first one's bounds first."""
    lowers, uppers = dict.fromkeys((*one.lowers, *two.lowers)), dict.fromkeys((*one.uppers, *two.uppers))
    return Range(tuple(lowers)[:_MOST], tuple(uppers)[:_MOST])


def _other_than(other: Range, known: Range) -> Range:
    """A number in a range that is not another one: if it were a bound, the next one is."""
    exact = set(other.lowers) & set(other.uppers)
    return Range(
        tuple([lower.plus(ONE) for lower in known.lowers if lower in exact]),
        tuple([upper.plus(ONE, -1) for upper in known.uppers if upper in exact]),
    )


def always_inside(function: Function, shape: Shape, bounds: Shape) -> bool:
    """Whether an index function, run for every index of `shape`, gives indices into `bounds` only.

    Only what its own block computes is followed.
    """
    ranges = Ranges(function.parameters, shape)
    for statement in function.body.statements:
        if isinstance(statement, Compute):
            ranges.learn(statement.out, statement.operator, statement.arguments)
    return ranges.inside(function.body.results, bounds)
