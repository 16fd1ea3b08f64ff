"""Costs that a solver can add up: a level as a few sums of small numbers, the first the most important.

A solver takes for an integer what is a millionth away from one. So no sum that it is given may be larger than a million: what
it takes for equal is equal then. A level that is larger is written as `base * high + low`, as often as needed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from accel.ilp.solvers.linear import Linear, Variable, total
from accel.ilp.solvers.protocol import SolverError
from accel.support.dataclass import dataclass

LARGEST_SPAN = 1_000_000
"""No objective of a solver has two values further apart: beyond, its tolerances would blur them."""


@dataclass(frozen=True, slots=True)
class Step:
    """A number as `base * high + low`, with `low` from `least` to `least + base - 1`: the one or the other."""

    base: int
    least: int
    high: bool

    def of(self, number: int) -> int:
        """This part of a number."""
        low = self.least + (number - self.least) % self.base
        return (number - low) // self.base if self.high else low

    def at_least(self, part: int, number: int) -> int:
        """What a number is at least, given that about this part of it; of a low part, with the high part of `number`."""
        if self.high:
            return self.base * part + self.least
        return number - self.of(number) + max(part, self.least)


@dataclass(frozen=True, slots=True)
class Digit:
    """A part of a level: its objective, and how its value is found from that of the level."""

    objective: Linear
    level: int
    steps: tuple[Step, ...]
    last: bool
    """Whether none of this level follows."""

    def _values(self, levels: Sequence[int]) -> list[int]:
        values = [levels[self.level]]
        for step in self.steps:
            values.append(step.of(values[-1]))
        return values

    def value(self, levels: Sequence[int]) -> int:
        """The objective of a point, given the values of all levels there."""
        return self._values(levels)[-1]

    def bound(self, least: int, levels: Sequence[int]) -> int:
        """What the level is at least if this part is, and those before it are what they are in `levels`."""
        for step, value in zip(reversed(self.steps), reversed(self._values(levels)[:-1]), strict=True):
            least = step.at_least(least, value)
        return least


@dataclass(frozen=True, slots=True)
class Carry:
    """What a sum of low parts has above its base: `low - base * carry` is from `least` to `least + base - 1`."""

    low: Linear
    base: int
    least: int
    bits: tuple[int, ...]
    """The variables that hold it, in binary."""

    @property
    def number(self) -> Linear:
        """The carry."""
        return Linear(0, {bit: 1 << place for place, bit in enumerate(self.bits)})

    @property
    def rest(self) -> Linear:
        """What is not carried."""
        return self.low - self.number * self.base

    @property
    def rows(self) -> tuple[Linear, Linear]:
        """What makes it that at integral points."""
        return self.rest - self.least, self.least + self.base - 1 - self.rest

    @property
    def variables(self) -> list[Variable]:
        """The bits."""
        return [Variable(bit, f"carry_{bit}", True) for bit in self.bits]

    def values(self, values: Mapping[int, int]) -> dict[int, int]:
        """The bits at an integral point of what is summed."""
        low = self.low.constant + sum(c * values[number] for number, c in self.low.terms.items())
        carried = (low - self.least) // self.base
        return {bit: carried >> place & 1 for place, bit in enumerate(self.bits)}


def carried(carries: Iterable[Carry], values: Mapping[int, int]) -> dict[int, int]:
    """An integral point with the carries that belong to it."""
    point = dict(values)
    for carry in carries:
        point |= carry.values(point)
    return point


def with_carries(variables: Sequence[Variable], carries: Sequence[Carry]) -> Sequence[Variable]:
    """The variables of a model and of its carries; all must be integers then: fractions could make a carry smaller."""
    if not carries:
        return variables
    bits = [bit for carry in carries for bit in carry.variables]
    return [*(replace(variable, integer=True) for variable in variables), *bits]


def digits(objective: Linear, level: int, first: int) -> tuple[list[Digit], list[Carry]]:
    """A level, the most important part first, and the carries among its parts, in variables from number `first` on.

    A unit of a part outweighs all that follows it, by itself or because what is more is carried: so the least of all of it
    is the least of the first part, then of the second, and so on.
    """
    found: list[Digit] = []
    carries: list[Carry] = []
    pending: list[tuple[Linear, tuple[Step, ...]]] = [(objective, ())]
    while pending:
        whole, steps = pending.pop()
        divisor = math.gcd(*whole.terms.values()) if whole.terms else 1
        if divisor > 1:
            whole, steps = _divided(whole, divisor)[0], (*steps, Step(divisor, 0, True))
        if whole.span <= LARGEST_SPAN:
            found.append(Digit(whole, level, steps, last=not pending))
            continue
        outweighing = _outweighing(whole)
        base = _small(whole, first) if outweighing is None else outweighing
        high, low = _divided(whole, base)
        least = _range(low)[0]
        if outweighing is None:
            carry = _carry(low, base, first)
            carries.append(carry)
            first += len(carry.bits)
            high, low = high + carry.number, carry.rest
        pending += [(low, (*steps, Step(base, least, False))), (high, (*steps, Step(base, least, True)))]
    return found, carries


def _divided(whole: Linear, base: int) -> tuple[Linear, Linear]:
    """An expression as `base * high + low`, with coefficients in `low` that are as near to 0 as can be."""
    high = {number: (2 * c + base) // (2 * base) for number, c in whole.terms.items()}
    low = {number: c - base * high[number] for number, c in whole.terms.items()}
    return total([Linear(0, high)]), total([Linear(0, low)])


def _range(linear: Linear) -> tuple[int, int]:
    """Its least and greatest value, of variables between 0 and 1."""
    return sum(min(0, c) for c in linear.terms.values()), sum(max(0, c) for c in linear.terms.values())


def _outweighing(whole: Linear) -> int | None:
    """A base that no two values of the low part are apart, and that leaves the fewest parts; None if there is none.

    Looked for among the coefficients, what is between two of them, and powers of two.
    """
    counts = Counter(abs(c) for c in whole.terms.values())
    sizes = sorted(counts)
    bases = {*sizes, *(large - small for small, large in pairwise(sizes))}
    bases |= {1 << place for place in range(1, sizes[-1].bit_length())}
    best: tuple[tuple[int, int], int] | None = None
    for base in sorted(bases - {1}):
        low = _low_span(counts, base)
        if low is None or not low:
            continue
        high = sum((2 * size + base) // (2 * base) * count for size, count in counts.items())
        parts = sum((span.bit_length() - 1) // LARGEST_SPAN.bit_length() for span in (high, low))
        rank = (parts, high * (low + 1))
        if best is None or rank < best[0]:
            best = rank, base
    return None if best is None else best[1]


def _low_span(counts: Mapping[int, int], base: int) -> int | None:
    """How far apart two values of the low part of an expression with these coefficients can be; None from `base` on."""
    span = 0
    for size, count in counts.items():
        span += abs(size - base * ((2 * size + base) // (2 * base))) * count
        if span >= base:
            return None
    return span


def _small(whole: Linear, first: int) -> int:
    """The greatest power of two for a base of which what is not carried is small enough."""
    for place in range(LARGEST_SPAN.bit_length(), 0, -1):
        low = _divided(whole, 1 << place)[1]
        if _carry(low, 1 << place, first).rest.span <= LARGEST_SPAN:
            return 1 << place
    raise SolverError(f"a cost of {len(whole.terms)} terms is too large for any solver")


def _carry(low: Linear, base: int, first: int) -> Carry:
    """What a sum of low parts has above its base, in variables from number `first` on."""
    least, greatest = _range(low)
    places = ((greatest - least) // base).bit_length()
    return Carry(low, base, least, tuple(range(first, first + places)))
