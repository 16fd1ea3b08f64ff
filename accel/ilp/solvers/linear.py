"""Linear programs: a small language that knows neither graphs nor solvers.

All variables lie between 0 and a bound, mostly 1, all coefficients are integers, every row reads "expression >= 0". Objectives
are of variables between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Linear:
    """`constant + sum of coefficient * variable`; variables are numbers, zero coefficients are left out."""

    constant: int = 0
    terms: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_constant(self) -> bool:
        """Whether no variable occurs."""
        return not self.terms

    def __add__(self, other: Linear | int) -> Linear:
        return total((self, other))

    __radd__ = __add__

    def __mul__(self, factor: int) -> Linear:
        if not factor:
            return Linear()
        return Linear(self.constant * factor, {number: c * factor for number, c in self.terms.items()})

    __rmul__ = __mul__

    def __neg__(self) -> Linear:
        return self * -1

    def __sub__(self, other: Linear | int) -> Linear:
        return total((self, other * -1))

    def __rsub__(self, other: int) -> Linear:
        return total((other, -self))

    def value(self, values: Mapping[int, float]) -> float:
        """The expression at a point."""
        return self.constant + sum(c * values[number] for number, c in self.terms.items())

    @property
    def span(self) -> int:
        """How far apart two of its values can be, of variables between 0 and 1."""
        return sum(abs(c) for c in self.terms.values())


def total(parts: Iterable[Linear | int]) -> Linear:
    """The sum of expressions and integers."""
    constant = 0
    terms: dict[int, int] = {}
    for part in parts:
        if isinstance(part, int):
            constant += part
            continue
        constant += part.constant
        for number, c in part.terms.items():
            terms[number] = terms.get(number, 0) + c
    return Linear(constant, {number: c for number, c in terms.items() if c})


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable between 0 and `upper`; only those that are not implied by others must be integers."""

    number: int
    name: str
    integer: bool
    upper: int = 1


@dataclass(slots=True)
class Model:
    """A linear program under construction: variables, rows, and objectives in order of importance."""

    variables: list[Variable] = field(default_factory=list)
    rows: list[Linear] = field(default_factory=list)
    objectives: list[Linear] = field(default_factory=list)

    def variable(self, name: str, integer: bool = True, upper: int = 1) -> Linear:
        """A new variable, as an expression."""
        number = len(self.variables)
        self.variables.append(Variable(number, name, integer, upper))
        return Linear(0, {number: 1})

    def require(self, row: Linear) -> None:
        """`row >= 0`. Rows that always hold are left out; one that never does is a mistake of the caller."""
        ends = [c * self.variables[number].upper for number, c in row.terms.items()]
        if row.constant + sum(min(0, end) for end in ends) >= 0:
            return
        if row.constant + sum(max(0, end) for end in ends) < 0:
            raise ValueError("a row that cannot hold")
        self.rows.append(row)

    def differ_at_most(self, first: Linear, second: Linear, allowed: Linear) -> None:
        """`|first - second| <= allowed`."""
        self.require(allowed - (first - second))
        self.require(allowed - (second - first))
