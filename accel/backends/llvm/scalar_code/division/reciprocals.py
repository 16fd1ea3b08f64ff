"""LLVM text for quotients and remainders of integers in lanes, by multiplying with a float's reciprocal: no lane divides.

In: integers in lanes, and what divides them, in lanes as well or one for all. Out: the quotient toward zero and the remainder,
both 0 where the divisor is 0. Exact for all integers:

* Up to 32 bits the reciprocal r is rounded up, so x r is no less than the quotient, and no more than 2^-18 of it above (16
  bits: 2^-5, in f32) over d. Of integers x and d the next integer is at least 1/d away from where it is none: truncation is
  right.
* With 64 bits r is rounded down by 8 units, more than what roundings of x, d, 1/d and x r together come to. So a first quotient
  is never too large, and 2^-48 of itself too small at most, or by 1; what remains is divided likewise, and what remains then is
  less than 2 d. Where one divides all lanes, and none of these is 2^48 or more, as no index is, the reciprocal is rounded up,
  and one truncation is right, as of shorter integers: x r is at most 2^-49 of the quotient above it, so less than 1/d.
"""

from __future__ import annotations

from accel.ast.tree.types import F32, F64, I32, I64, U64, ScalarType
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.scalar_code.conversions import truncated
from accel.backends.llvm.text.code import FUNCTION_ATTRIBUTES, Code

_DOWN = 8
"""Units in the last place: 2^-50 of a number at least."""

_UP = 3
"""What makes up for the roundings of d and 1/d, which are 2^-52 of 1/d at most; 2^-50 at most with these."""

FEW_BITS = 48
"""Of dividends that are truncated once."""


def multiplies(code: Code, kind: ScalarType, one: str | None) -> bool:
    """Whether integers in lanes are divided so: by one divisor for all of them, or by any in 64 bits, where processors have no
    better. Conversions of 64 bits are AVX-512's."""
    return code.lanes > 1 and (host().processor.has_avx512dq if kind.bits == 64 else one is not None)


def divided(code: Code, kind: ScalarType, x: str, y: str, one: str | None) -> tuple[str, str]:
    """Quotient and remainder. `y`: the divisors in lanes; `one`: the scalar that all of them are, if they are."""
    divisors = _Divisors(code, kind, y, one)
    whole = _long_quotient(code, kind, x, divisors) if kind.bits == 64 else _quotient(code, kind, x, divisors)
    type_ = code.type(kind)
    product = code.emit(f"mul {type_} {whole}, {y}")
    rest = code.emit(f"sub {type_} {x}, {product}")
    kept = divisors.mask("ne", 0)
    return code.emit(f"and {type_} {whole}, {kept}"), code.emit(f"and {type_} {rest}, {kept}")


class _Divisors:
    """What divides: computed with as a scalar where one divides all, once in the function where it is known at its entry."""

    def __init__(self, code: Code, kind: ScalarType, y: str, one: str | None) -> None:
        self._lanes, self._kind = code, kind
        self.code, self.text = code, y
        if one is not None:
            self.code, self.text = code.at_entry() if code.is_entered(one) else code.at(1), one

    @property
    def is_one(self) -> bool:
        """Whether one divides all."""
        return self.code is not self._lanes

    def in_lanes(self, text: str, kind: ScalarType) -> str:
        """A register of `code` in all lanes."""
        if self.code is self._lanes:
            return text
        vector = self._lanes.type(kind)
        first = self.code.emit(f"insertelement {vector} poison, {self.code.type(kind)} {text}, i32 0")
        zeros = f"<{self._lanes.lanes} x i32> zeroinitializer"
        return self.code.emit(f"shufflevector {vector} {first}, {vector} poison, {zeros}")

    def mask(self, predicate: str, value: int) -> str:
        """All bits where the divisor compares so with a number, in lanes."""
        return self.in_lanes(self._mask(predicate, value), self._kind)

    def _mask(self, predicate: str, value: int) -> str:
        code, type_ = self.code, self.code.type(self._kind)
        holds = code.emit(f"icmp {predicate} {type_} {self.text}, {code.literal(self._kind, value)}")
        return code.emit(f"sext {code.vector('i1')} {holds} to {type_}")

    def reciprocal(self, kind: ScalarType, float_kind: ScalarType, text: str, units: int) -> str:
        """1 / text, an integer of `kind` that is not 0, moved away from zero by some units in the last place."""
        code, real, bits = self.code, self.code.type(float_kind), I64 if float_kind is F64 else I32
        divisor = code.emit(f"{'sitofp' if kind.is_signed else 'uitofp'} {code.type(kind)} {text} to {real}")
        ratio = code.emit(f"fdiv {real} {code.literal(float_kind, 1.0)}, {divisor}")
        word = code.emit(f"bitcast {real} {ratio} to {code.type(bits)}")
        moved = code.emit(f"add {code.type(bits)} {word}, {code.literal(bits, units)}")
        return self.in_lanes(code.emit(f"bitcast {code.type(bits)} {moved} to {real}"), float_kind)

    def without(self, *values: int) -> str:
        """The divisor, or 1 where it is one of these."""
        code, type_, text = self.code, self.code.type(self._kind), self.text
        for value in values:
            equal = code.emit(f"icmp eq {type_} {self.text}, {code.literal(self._kind, value)}")
            text = code.emit(
                f"select {code.vector('i1')} {equal}, {type_} {code.literal(self._kind, 1)}, {type_} {text}"
            )
        return text


def _quotient(code: Code, kind: ScalarType, x: str, divisors: _Divisors) -> str:
    """Of up to 32 bits. By -1 it is the negation, which may wrap: floats have no place for that."""
    float_kind, signed = F32 if kind.bits <= 16 else F64, kind.is_signed
    type_, real = code.type(kind), code.type(float_kind)
    reciprocal = divisors.reciprocal(kind, float_kind, divisors.without(*((0, -1) if signed else (0,))), 1)
    dividend = code.emit(f"{'sitofp' if signed else 'uitofp'} {type_} {x} to {real}")
    whole = truncated(code, float_kind, kind, code.emit(f"fmul {real} {dividend}, {reciprocal}"))
    return _negated(code, kind, whole, divisors.mask("eq", -1)) if signed else whole


def _long_quotient(code: Code, kind: ScalarType, x: str, divisors: _Divisors) -> str:
    """Of 64 bits: that of the magnitudes, and the sign."""
    type_, own = code.type(U64), divisors.code
    divisor, dividend = divisors.without(0), x
    if kind.is_signed:
        divisor = own.intrinsic("abs", kind, [divisor], "i1 false")
        dividend = code.intrinsic("abs", kind, [x], "i1 false")
    down, by = divisors.reciprocal(U64, F64, divisor, -_DOWN), divisors.in_lanes(divisor, U64)
    if divisors.is_one:
        up = divisors.reciprocal(U64, F64, divisor, _UP)
        whole = code.emit(f"call {type_} {_few_or_many(code)}({', '.join(_typed(code, dividend, by, down, up))})")
    else:
        whole = _twice(code, dividend, by, down)
    if not kind.is_signed:
        return whole
    negative = code.emit(f"ashr {type_} {x}, {code.literal(I64, 63)}")
    return _negated(code, kind, whole, code.emit(f"xor {type_} {negative}, {divisors.mask('slt', 0)}"))


def _twice(code: Code, x: str, divisor: str, reciprocal: str) -> str:
    """Quotients of integers without sign of 64 bits."""
    type_ = code.type(U64)
    first, rest = _step(code, x, divisor, reciprocal)
    second, rest = _step(code, rest, divisor, reciprocal)
    more = code.emit(f"icmp uge {type_} {rest}, {divisor}")
    whole = code.emit(f"add {type_} {first}, {second}")
    one_more = code.emit(f"sext {code.vector('i1')} {more} to {type_}")
    return code.emit(f"sub {type_} {whole}, {one_more}")


def _typed(code: Code, x: str, divisor: str, down: str, up: str) -> list[str]:
    """The parameters of `_few_or_many`."""
    words, reals = code.type(U64), code.type(F64)
    return [f"{words} {x}", f"{words} {divisor}", f"{reals} {down}", f"{reals} {up}"]


def _few_or_many(code: Code) -> str:
    """The symbol of a function that looks how large what it divides is."""
    symbol = f"accel.quotient.v{code.lanes}"
    if symbol not in code.declarations:
        words, reals, some = code.type(U64), code.type(F64), f"llvm.vector.reduce.or.v{code.lanes}i1"
        code.declare("i1", some, code.vector("i1"), "nounwind willreturn memory(none)")
        few, many = Code(code.lanes, "f"), Code(code.lanes, "m")
        ratio = few.emit(f"fmul {reals} {few.emit(f'uitofp {words} %x to {reals}')}, %up")
        short = few.emit(f"fptoui {reals} {ratio} to {words}")
        long = _twice(many, "%x", "%divisor", "%down")
        lines = [
            f"define internal {words} @{symbol}({', '.join(_typed(code, '%x', '%divisor', '%down', '%up'))})"
            f" alwaysinline {FUNCTION_ATTRIBUTES} {{",
            f"  %large = icmp ugt {words} %x, {code.literal(U64, (1 << FEW_BITS) - 1)}",
            f"  %any = call i1 @{some}({code.vector('i1')} %large)",
            "  br i1 %any, label %many, label %few, !prof !2",
            "few:", *few.lines, "  br label %found",
            "many:", *many.lines, "  br label %found",
            "found:",
            f"  %whole = phi {words} [ {short}, %few ], [ {long}, %many ]",
            f"  ret {words} %whole",
            "}",
        ]  # fmt: skip
        code.declarations[symbol] = "\n".join(lines)
    return f"@{symbol}"


def _step(code: Code, x: str, divisor: str, reciprocal: str) -> tuple[str, str]:
    """A quotient that is not too large, and what remains."""
    type_, real = code.type(U64), code.type(F64)
    ratio = code.emit(f"fmul {real} {code.emit(f'uitofp {type_} {x} to {real}')}, {reciprocal}")
    whole = code.emit(f"fptoui {real} {ratio} to {type_}")
    return whole, code.emit(f"sub {type_} {x}, {code.emit(f'mul {type_} {whole}, {divisor}')}")


def _negated(code: Code, kind: ScalarType, x: str, mask: str) -> str:
    """-x where the mask has all bits, x where it has none."""
    type_ = code.type(kind)
    return code.emit(f"sub {type_} {code.emit(f'xor {type_} {x}, {mask}')}, {mask}")
