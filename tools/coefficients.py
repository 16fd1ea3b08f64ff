"""Computes the polynomials and split constants of `accel/backends/llvm/scalar_code/coefficients.py`.

Run `python tools/coefficients.py` after a change here. Each function is fitted at Chebyshev's points in 70 digits, which
is within a small factor of the best polynomial there is; coefficients are then rounded to 64-bit floats, lowest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import mpmath
from mpmath import mpf

from accel.support.dataclass import dataclass

TARGET = Path(__file__).resolve().parent.parent / "accel" / "backends" / "llvm" / "scalar_code" / "coefficients.py"
PRECISION = 240  # bits

Function = Callable[[mpf], mpf]


@dataclass(frozen=True, slots=True)
class Fit:
    """A function to fit on an interval: `full` coefficients for 64-bit results, `short` for 32-bit ones."""

    name: str
    meaning: str
    function: Function
    low: float
    high: float
    full: int
    short: int


# Quotients of power series lose digits at 0; this is as good as 0 and loses none that matter.
NEAR_ZERO = 2.0**-50


def _erfcx_at(centre: int, scaled: bool) -> Function:
    """erfc(x) exp(x²), times 1 + 2x if `scaled`, as a function of t = (x - centre) / (x + centre)."""

    def function(t: mpf) -> mpf:
        x = centre * (1 + t) / (1 - t)
        return mpmath.exp(x * x) * mpmath.erfc(x) * (1 + 2 * x if scaled else 1)

    return function


def _odd(function: Function) -> Function:
    """(f(x) - x) / x³ as a function of z = x²."""
    return lambda z: (function(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z


FITS = (
    Fit(
        "EXP",
        "(exp(r) - 1 - r) / r², |r| <= ln(2) / 2",
        lambda r: (mpmath.expm1(r) - r) / (r * r),
        -0.3475,
        0.3476,
        10,
        6,
    ),
    Fit("ATANH", "(atanh(s) - s) / s³ in s², |s| <= (√2 - 1) / (√2 + 1)", _odd(mpmath.atanh), NEAR_ZERO, 0.02945, 7, 4),
    Fit(
        "ATANH_TAIL",
        "(atanh(s) - s - s³/3) / s⁵, likewise",
        lambda z: ((mpmath.atanh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z - mpf(1) / 3) / z,
        NEAR_ZERO,
        0.02945,
        8,
        3,
    ),
    Fit("SIN", "(sin(r) - r) / r³ in r², |r| <= π / 4", _odd(mpmath.sin), NEAR_ZERO, 0.6170, 6, 4),
    Fit(
        "COS",
        "(cos(r) - 1 + r²/2) / r⁴ in r², |r| <= π / 4",
        lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / (z * z),
        NEAR_ZERO,
        0.6170,
        6,
        4,
    ),
    Fit("ATAN", "(atan(t) - t) / t³ in t², |t| <= tan(π / 8)", _odd(mpmath.atan), NEAR_ZERO, 0.17158, 13, 6),
    Fit("ASIN", "(asin(x) - x) / x³ in x², |x| <= 1/2", _odd(mpmath.asin), NEAR_ZERO, 0.25, 14, 6),
    Fit("SINH", "(sinh(x) - x) / x³ in x², |x| <= 1", _odd(mpmath.sinh), NEAR_ZERO, 1.0, 9, 5),
    Fit(
        "ERF",
        "erf(x) / x - 1 in x², |x| <= 1",
        lambda z: mpmath.erf(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1,
        NEAR_ZERO,
        1.0,
        13,
        7,
    ),
    Fit("ERFCX", "erfc(x) exp(x²) in (x - 3) / (x + 3), 1 <= x <= 6", _erfcx_at(3, False), -0.5, 1 / 3, 17, 8),
    Fit(
        "ERFC",
        "(1 + 2x) erfc(x) exp(x²) in (x - 3) / (x + 3), 1/2 <= x <= 28",
        _erfcx_at(3, True),
        -2.5 / 3.5,
        25 / 31,
        23,
        11,
    ),
)

SPLITS: tuple[tuple[str, str, Callable[[], mpf], tuple[int, ...]], ...] = (
    ("LN2", "ln(2): parts of 53 bits", lambda: mpmath.ln(2), (53, 53)),
    ("LN2_SINGLE", "ln(2): parts of 24 bits", lambda: mpmath.ln(2), (24, 24)),
    ("LN2_EXACT", "ln(2): a first part whose product with an exponent is exact", lambda: mpmath.ln(2), (40, 53)),
    ("LN2_EXACT_SINGLE", "the same for 32-bit floats", lambda: mpmath.ln(2), (16, 24)),
    ("LOG10_2_EXACT", "log10(2), likewise", lambda: mpmath.log10(2), (40, 53)),
    ("LOG10_E", "1 / ln(10)", lambda: 1 / mpmath.ln(10), (53, 53)),
    ("LOG2_E", "1 / ln(2)", lambda: 1 / mpmath.ln(2), (53, 53)),
    ("THIRD", "1 / 3", lambda: mpf(1) / 3, (53, 53)),
    ("HALF_PI", "π / 2: parts of 53 bits", lambda: mpmath.pi / 2, (53, 53, 53)),
    ("HALF_PI_SINGLE", "π / 2: parts of 24 bits", lambda: mpmath.pi / 2, (24, 24, 24)),
)


def coefficients(fit: Fit, count: int) -> tuple[float, ...]:
    """The coefficients, lowest first, of the polynomial with `count` terms through the function at Chebyshev's points."""
    with mpmath.workprec(PRECISION):
        middle, radius = mpf(fit.high + fit.low) / 2, mpf(fit.high - fit.low) / 2
        points = [middle + radius * mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
        return tuple(float(number) for number in _interpolated(points, [fit.function(point) for point in points]))


def _interpolated(points: Sequence[mpf], values: Sequence[mpf]) -> list[mpf]:
    """Newton's interpolation by divided differences, multiplied out."""
    differences = list(values)
    for width in range(1, len(points)):
        for k in reversed(range(width, len(points))):
            differences[k] = (differences[k] - differences[k - 1]) / (points[k] - points[k - width])
    result = [differences[-1]]
    for point, difference in zip(reversed(points[:-1]), reversed(differences[:-1]), strict=True):
        # result * (x - point) + difference
        shifted = [mpf(0), *result]
        result = [high - low * point for high, low in zip(shifted, [*result, mpf(0)], strict=True)]
        result[0] = result[0] + difference
    return result


def parts(value: mpf, bits: tuple[int, ...]) -> tuple[float, ...]:
    """A number as a sum of floats of that many bits each, largest first."""
    result = []
    for width in bits:
        with mpmath.workprec(width):
            part = +value
        result.append(float(part))
        value = value - part
    return tuple(result)


def text() -> str:
    """The generated module."""
    lines = [
        '"""Polynomials and split constants of the elementary functions. Written by `tools/coefficients.py`: do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        "from dataclasses import dataclass",
        "",
        "",
        "@dataclass(frozen=True, slots=True)",
        "class Polynomial:",
        '    """Coefficients from the lowest: `full` for 64-bit results, `short` where the result is rounded to 32 bits."""',
        "",
        "    full: tuple[float, ...]",
        "    short: tuple[float, ...]",
        "",
    ]
    for fit in FITS:
        full, short = (_tuple(coefficients(fit, count)) for count in (fit.full, fit.short))
        lines += [
            "",
            f"{fit.name} = Polynomial(",
            f"    full={full},",
            f"    short={short},",
            ")",
            f'"""{fit.meaning}"""',
        ]
    with mpmath.workprec(4 * PRECISION):
        for name, meaning, value, bits in SPLITS:
            lines += ["", f"{name} = {_tuple(parts(value(), bits))}", f'"""{meaning}"""']
    return "\n".join(lines) + "\n"


def _tuple(numbers: tuple[float, ...]) -> str:
    return "(" + ", ".join(map(repr, numbers)) + ")"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
