"""Formulas on 64-bit floats, written in Python and printed as LLVM text.

In: registers of a body. Out: `Real`, `Whole` and `Mask` values whose operators append instructions to it, so that the
elementary functions read as formulas. Nothing is reordered or contracted: `fma` is written where it is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, Union

from accel.ast.types import F64, I64
from accel.backends.llvm.code import Code
from accel.backends.llvm.coefficients import Polynomial


@dataclass(frozen=True, slots=True, eq=False)
class Real:
    """A 64-bit float per lane. `short` says that 32 bits of the result will be kept, so short polynomials do."""

    code: Code
    short: bool
    name: str

    def constant(self, value: float) -> Real:
        """The same number in every lane."""
        return Real(self.code, self.short, self.code.literal(F64, value))

    def _emit(self, text: str) -> Real:
        return Real(self.code, self.short, self.code.emit(text))

    def _operand(self, other: Number) -> str:
        return other.name if isinstance(other, Real) else self.code.literal(F64, other)

    def _arithmetic(self, instruction: str, first: str, second: str) -> Real:
        return self._emit(f"{instruction} {self.code.type(F64)} {first}, {second}")

    def __add__(self, other: Number) -> Real:
        return self._arithmetic("fadd", self.name, self._operand(other))

    def __radd__(self, other: float) -> Real:
        return self._arithmetic("fadd", self._operand(other), self.name)

    def __sub__(self, other: Number) -> Real:
        return self._arithmetic("fsub", self.name, self._operand(other))

    def __rsub__(self, other: float) -> Real:
        return self._arithmetic("fsub", self._operand(other), self.name)

    def __mul__(self, other: Number) -> Real:
        return self._arithmetic("fmul", self.name, self._operand(other))

    def __rmul__(self, other: float) -> Real:
        return self._arithmetic("fmul", self._operand(other), self.name)

    def __truediv__(self, other: Number) -> Real:
        return self._arithmetic("fdiv", self.name, self._operand(other))

    def __rtruediv__(self, other: float) -> Real:
        return self._arithmetic("fdiv", self._operand(other), self.name)

    def __neg__(self) -> Real:
        return self._emit(f"fneg {self.code.type(F64)} {self.name}")

    def __abs__(self) -> Real:
        return self.intrinsic("fabs")

    def intrinsic(self, name: str, *others: Number) -> Real:
        """`llvm.<name>` of this and others."""
        operands = [self.name, *map(self._operand, others)]
        return Real(self.code, self.short, self.code.intrinsic(name, F64, operands))

    def with_sign_of(self, other: Real) -> Real:
        """This magnitude with the other's sign bit."""
        return self.intrinsic("copysign", other)

    def _compare(self, predicate: str, other: Number) -> Mask:
        text = f"fcmp {predicate} {self.code.type(F64)} {self.name}, {self._operand(other)}"
        return Mask(self.code, self.code.emit(text))

    def __lt__(self, other: Number) -> Mask:
        return self._compare("olt", other)

    def __le__(self, other: Number) -> Mask:
        return self._compare("ole", other)

    def __gt__(self, other: Number) -> Mask:
        return self._compare("ogt", other)

    def __ge__(self, other: Number) -> Mask:
        return self._compare("oge", other)

    def equals(self, other: Number) -> Mask:
        """Whether both are the same number; false for NaN."""
        return self._compare("oeq", other)

    def differs(self, other: Number) -> Mask:
        """Whether they are different numbers or one is NaN."""
        return self._compare("une", other)

    def is_nan(self) -> Mask:
        """Whether this is no number."""
        return self._compare("uno", 0.0)

    def bits(self) -> Whole:
        """The float's bits as an integer."""
        text = f"bitcast {self.code.type(F64)} {self.name} to {self.code.type(I64)}"
        return Whole(self.code, self.short, self.code.emit(text))

    def at_most(self, bound: float) -> Real:
        """This, or the bound where it is larger; NaN stays."""
        return (self > bound).choose(self.constant(bound), self)

    def at_least(self, bound: float) -> Real:
        """This, or the bound where it is smaller; NaN stays."""
        return (self < bound).choose(self.constant(bound), self)


Number: TypeAlias = Union[Real, float]
"""A value or a constant."""


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """A 64-bit integer per lane; arithmetic wraps."""

    code: Code
    short: bool
    name: str

    def _arithmetic(self, instruction: str, other: Whole | int) -> Whole:
        operand = other.name if isinstance(other, Whole) else self.code.literal(I64, other)
        return Whole(
            self.code, self.short, self.code.emit(f"{instruction} {self.code.type(I64)} {self.name}, {operand}")
        )

    def __add__(self, other: Whole | int) -> Whole:
        return self._arithmetic("add", other)

    def __sub__(self, other: Whole | int) -> Whole:
        return self._arithmetic("sub", other)

    def __rsub__(self, other: int) -> Whole:
        return Whole(self.code, self.short, self.code.literal(I64, other)) - self

    def __mul__(self, other: Whole | int) -> Whole:
        return self._arithmetic("mul", other)

    def __and__(self, other: Whole | int) -> Whole:
        return self._arithmetic("and", other)

    def __or__(self, other: Whole | int) -> Whole:
        return self._arithmetic("or", other)

    def __xor__(self, other: Whole | int) -> Whole:
        return self._arithmetic("xor", other)

    def __lshift__(self, count: int) -> Whole:
        return self._arithmetic("shl", count)

    def __rshift__(self, count: int) -> Whole:
        """A logical shift; `halved` keeps the sign."""
        return self._arithmetic("lshr", count)

    def halved(self) -> Whole:
        """Half of a signed integer, rounded down."""
        return self._arithmetic("ashr", 1)

    def differs(self, other: int) -> Mask:
        """Whether the integers are different."""
        text = f"icmp ne {self.code.type(I64)} {self.name}, {self.code.literal(I64, other)}"
        return Mask(self.code, self.code.emit(text))

    def is_negative(self) -> Mask:
        """Whether the sign bit is set."""
        return Mask(
            self.code, self.code.emit(f"icmp slt {self.code.type(I64)} {self.name}, {self.code.literal(I64, 0)}")
        )

    def real(self) -> Real:
        """The float with these bits."""
        text = f"bitcast {self.code.type(I64)} {self.name} to {self.code.type(F64)}"
        return Real(self.code, self.short, self.code.emit(text))


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """A truth value per lane."""

    code: Code
    name: str

    def _logic(self, instruction: str, other: str) -> Mask:
        return Mask(self.code, self.code.emit(f"{instruction} {self.code.vector('i1')} {self.name}, {other}"))

    def __and__(self, other: Mask) -> Mask:
        return self._logic("and", other.name)

    def __or__(self, other: Mask) -> Mask:
        return self._logic("or", other.name)

    def __xor__(self, other: Mask) -> Mask:
        return self._logic("xor", other.name)

    def __invert__(self) -> Mask:
        return self._logic("xor", self.code.splat("i1", "true"))

    def choose(self, then: Real, orelse: Number) -> Real:
        """`then` where true, `orelse` elsewhere; both are computed."""
        other = orelse if isinstance(orelse, Real) else then.constant(orelse)
        type_ = self.code.type(F64)
        text = f"select {self.code.vector('i1')} {self.name}, {type_} {then.name}, {type_} {other.name}"
        return Real(self.code, then.short, self.code.emit(text))


def fma(x: Real, y: Number, z: Number) -> Real:
    """x * y + z, rounded once."""
    return x.intrinsic("fma", y, z)


def polynomial(x: Real, table: Polynomial) -> Real:
    """The polynomial at x by Estrin's scheme: pairs, pairs of pairs, …; independent products overlap."""
    return _estrin(x, table.short if x.short else table.full)


def exact_polynomial(x: Real, table: Polynomial) -> Real:
    """The same with the constant term added last: one rounding where Estrin's scheme has one per level."""
    first, *rest = table.short if x.short else table.full
    return fma(x, _estrin(x, rest), first)


def _estrin(x: Real, terms: Sequence[Number]) -> Real:
    power = x
    while len(terms) > 1:
        pairs = [fma(power, terms[i + 1], terms[i]) for i in range(0, len(terms) - 1, 2)]
        terms = [*pairs, *terms[len(pairs) * 2 :]]
        if len(terms) > 1:
            power = power * power
    (value,) = terms
    return value if isinstance(value, Real) else x.constant(value)
