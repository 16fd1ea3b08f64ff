"""Formulas on floats, written in Python and printed as LLVM text.

In: registers of a body. Out: `Real`, `Whole` and `Mask` values whose operators append instructions to it, so that the
elementary functions read as formulas. Nothing is reordered or contracted: `fma` is written where it is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TypeAlias, Union

from accel.ast.tree.types import F32, F64, I32, I64, ScalarType
from accel.backends.llvm.scalar_code.coefficients import Polynomial
from accel.backends.llvm.text.code import Code
from accel.support.dataclass import dataclass


class Format(Enum):
    """How a formula computes: in 64 bits, in 64 bits for a 32-bit result, or in 32 bits."""

    DOUBLE = "double"
    WIDENED = "widened"
    SINGLE = "single"

    @property
    def kind(self) -> ScalarType:
        """The type of the floats."""
        return F32 if self is Format.SINGLE else F64

    @property
    def whole(self) -> ScalarType:
        """The integer type of the same width."""
        return I32 if self is Format.SINGLE else I64

    @property
    def digits(self) -> int:
        """Bits of a float's fraction: where its exponent stands."""
        return 23 if self is Format.SINGLE else 52

    @property
    def bias(self) -> int:
        """What is added to an exponent."""
        return 127 if self is Format.SINGLE else 1023

    @property
    def short(self) -> bool:
        """Whether polynomials for 32-bit results do."""
        return self is not Format.DOUBLE


@dataclass(frozen=True, slots=True, eq=False)
class Real:
    """A float per lane."""

    code: Code
    format: Format
    name: str

    @property
    def type(self) -> str:
        """The LLVM type of the floats."""
        return self.code.type(self.format.kind)

    def constant(self, value: float) -> Real:
        """The same number in every lane."""
        return Real(self.code, self.format, self.code.literal(self.format.kind, value))

    def _emit(self, text: str) -> Real:
        return Real(self.code, self.format, self.code.emit(text))

    def _operand(self, other: Number) -> str:
        return other.name if isinstance(other, Real) else self.code.literal(self.format.kind, other)

    def _arithmetic(self, instruction: str, first: str, second: str) -> Real:
        return self._emit(f"{instruction} {self.type} {first}, {second}")

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
        return self._emit(f"fneg {self.type} {self.name}")

    def __abs__(self) -> Real:
        return self.intrinsic("fabs")

    def intrinsic(self, name: str, *others: Number) -> Real:
        """`llvm.<name>` of this and others."""
        operands = [self.name, *map(self._operand, others)]
        return Real(self.code, self.format, self.code.intrinsic(name, self.format.kind, operands))

    def with_sign_of(self, other: Real) -> Real:
        """This magnitude with the other's sign bit."""
        return self.intrinsic("copysign", other)

    def _compare(self, predicate: str, other: Number) -> Mask:
        text = f"fcmp {predicate} {self.type} {self.name}, {self._operand(other)}"
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
        text = f"bitcast {self.type} {self.name} to {self.code.type(self.format.whole)}"
        return Whole(self.code, self.format, self.code.emit(text))

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
    """An integer of the width of a format's floats per lane; arithmetic wraps."""

    code: Code
    format: Format
    name: str

    @property
    def type(self) -> str:
        """The LLVM type of the integers."""
        return self.code.type(self.format.whole)

    def _arithmetic(self, instruction: str, other: Whole | int) -> Whole:
        operand = other.name if isinstance(other, Whole) else self.code.literal(self.format.whole, other)
        return Whole(self.code, self.format, self.code.emit(f"{instruction} {self.type} {self.name}, {operand}"))

    def __add__(self, other: Whole | int) -> Whole:
        return self._arithmetic("add", other)

    def __sub__(self, other: Whole | int) -> Whole:
        return self._arithmetic("sub", other)

    def __rsub__(self, other: int) -> Whole:
        return Whole(self.code, self.format, self.code.literal(self.format.whole, other)) - self

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
        """A logical shift."""
        return self._arithmetic("lshr", count)

    def differs(self, other: int) -> Mask:
        """Whether the integers are different."""
        text = f"icmp ne {self.type} {self.name}, {self.code.literal(self.format.whole, other)}"
        return Mask(self.code, self.code.emit(text))

    def is_negative(self) -> Mask:
        """Whether the sign bit is set."""
        return Mask(
            self.code, self.code.emit(f"icmp slt {self.type} {self.name}, {self.code.literal(self.format.whole, 0)}")
        )

    def real(self) -> Real:
        """The float with these bits."""
        text = f"bitcast {self.type} {self.name} to {self.code.type(self.format.kind)}"
        return Real(self.code, self.format, self.code.emit(text))


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
        text = f"select {self.code.vector('i1')} {self.name}, {then.type} {then.name}, {then.type} {other.name}"
        return Real(self.code, then.format, self.code.emit(text))


def fma(x: Real, y: Number, z: Number) -> Real:
    """x * y + z, rounded once."""
    return x.intrinsic("fma", y, z)


def polynomial(x: Real, table: Polynomial) -> Real:
    """The polynomial at x by Estrin's scheme: pairs, pairs of pairs, …; independent products overlap."""
    return _estrin(x, table.short if x.format.short else table.full)


def exact_polynomial(x: Real, table: Polynomial) -> Real:
    """The same with the constant term added last: one rounding where Estrin's scheme has one per level."""
    first, *rest = table.short if x.format.short else table.full
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
