"""Normal numbers from random bits, by the inverse of the distribution function.

After Wichura, *Algorithm AS 241: The Percentage Points of the Normal Distribution* (Applied Statistics 37, 1988): quotients of
polynomials, in the middle and in the tails. About 16 digits in 64 bits, 7 in 32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from accel.ast.handles.exp import Exp
from accel.ast.handles.operations import convert
from accel.ast.handles.tuples import select
from accel.ast.scalars.bits import shiftL, shiftR
from accel.ast.scalars.conversions import neg
from accel.ast.scalars.floats import sqrt
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32, F64, I32, I64, ScalarType
from accel.errors import here

Quotient: TypeAlias = tuple[Sequence[float], Sequence[float]]
"""The coefficients of a numerator and of a denominator, of the highest power first."""

_MIDDLE: Final = 0.425
_MIDDLE_64: Final[Quotient] = (
    (
        2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
        1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
        5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0,
    ),
)  # fmt: skip
_TAIL_64: Final[Quotient] = (
    (
        7.7454501427834140764e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
        3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9, 5.475938084995344946e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
        6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0,
    ),
)  # fmt: skip
_FAR_64: Final[Quotient] = (
    (
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
        2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
        1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0,
    ),
)  # fmt: skip
_MIDDLE_32: Final[Quotient] = (
    (5.9109374720e1, 1.5929113202e2, 5.0434271938e1, 3.3871327179e0),
    (6.7187563600e1, 7.8757757664e1, 1.7895169469e1, 1.0),
)
_TAIL_32: Final[Quotient] = (
    (1.7023821103e-1, 1.3067284816e0, 2.7568153900e0, 1.4234372777e0),
    (1.2021132975e-1, 7.3700164250e-1, 1.0),
)


_LOG_64: Final = (
    1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
    2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01,
)  # fmt: skip
_LOG_32: Final = (2.4279078841e-01, 2.8498786688e-01, 4.0000972152e-01, 6.6666662693e-01)
_LN2_64: Final = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
"""The logarithm of 2, its high bits, of which products with exponents are exact, and the others."""
_LN2_32: Final = (6.9313812256e-01, 9.0580006145e-06)


def normal_of_word(word: Exp[Any], small: bool) -> Exp[Any]:
    """The normal number of 64 random bits, or of 32 for 32-bit floats (`small`), which come as an i64.

    The lowest bit is the sign. The bits from the third on are m, and the tail beyond the number has the probability
    (2 m + 1) / 2**64, which lies between 0 and 1/2 and is exact but for its rounding; so is its distance from 1/2.
    """
    width = 32 if small else 64
    integer, real = (I32, F32) if small else (I64, F64)
    tail = _converted(shiftR(word, 2), integer) * 2 + 1
    far = _converted(tail, real) * 2.0**-width
    near = _converted((1 << (width - 1)) - 1 - tail + 1, real) * 2.0**-width
    square = _MIDDLE * _MIDDLE - near * near
    root = sqrt(-_log(far, small))
    above, below = _values(_TAIL_32 if small else _TAIL_64, root - 1.6)
    if not small:
        # Below a probability of e**-25, which 32 bits do not have.
        beyond = root > 5
        above_far, below_far = _values(_FAR_64, root - 5)
        above, below = select(beyond, above_far, above), select(beyond, below_far, below)
    middle = near <= _MIDDLE
    above_middle, below_middle = _values(_MIDDLE_32 if small else _MIDDLE_64, square)
    size = select(middle, near * above_middle, above) / select(middle, below_middle, below)
    return select((word & 1) == 1, neg(size), size)


def _log(x: Exp[Any], small: bool) -> Exp[Any]:
    """The logarithm of a positive number, in operations that every backend rounds alike: the error is below one unit.

    x is 2**k m, with m between the roots of 1/2 and 2. After FreeBSD's `e_log.c` and `e_logf.c` (Sun Microsystems, 1993).
    """
    real, integer, places = (F32, I32, 23) if small else (F64, I64, 52)
    bits = Exp[Any](convert(Operator.BITCAST, x.node, integer, here(), "random.normal"))
    k = shiftR(bits - (0x3F3504F3 if small else 0x3FE6A09E667F3BCD), places)
    m = Exp[Any](convert(Operator.BITCAST, (bits - shiftL(k, places)).node, real, here(), "random.normal"))
    scale = _converted(_converted(k, I32), real)
    f = m - 1
    s = f / (f + 2)
    square, half = s * s, f * f * 0.5
    series = _value(_LOG_32 if small else _LOG_64, square) * square
    high, low = _LN2_32 if small else _LN2_64
    return scale * high - ((half - (s * (half + series) + scale * low)) - f)


def _converted(x: Exp[Any], kind: ScalarType) -> Exp[Any]:
    return Exp(convert(Operator.CAST, x.node, kind, here(), "random.normal"))


def _values(quotient: Quotient, x: Exp[Any]) -> tuple[Exp[Any], Exp[Any]]:
    """Numerator and denominator at `x`."""
    above, below = (_value(coefficients, x) for coefficients in quotient)
    return above, below


def _value(coefficients: Sequence[float], x: Exp[Any]) -> Exp[Any]:
    """A polynomial, by Horner's rule."""
    total = x * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        total = total * x + coefficient
    return total
