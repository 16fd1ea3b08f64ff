"""How far the elementary functions are from the true values, in units in the last place (ulp).

The truth is mpmath with 200 bits. `python -m tests.scalar.accuracy 40000` prints the table of docs/scalars.md, measured
at the edge values, at that many random operands over each function's range, near one, and of random bits, and for
functions of one 32-bit operand also at every 211th of all floats.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

import mpmath
import numpy as np
from mpmath import mpf

from accel.ast.tree.operators import ELEMENTARY, Operator
from accel.ast.tree.types import F32, F64, ScalarType
from tests.scalar.jit import Compiled, compile_cases
from tests.scalar.table import Array, Case, all_cases, operands, random_values, reference

PRECISION = 200

INTERESTING: dict[Operator, tuple[float, float]] = {
    Operator.EXP: (-745, 710),
    Operator.EXPM1: (-50, 710),
    Operator.LOG: (0, 5),
    Operator.LOG2: (0, 5),
    Operator.LOG10: (0, 5),
    Operator.LOG1P: (-1, 5),
    Operator.SIN: (-1000, 1000),
    Operator.COS: (-1000, 1000),
    Operator.TAN: (-1000, 1000),
    Operator.ASIN: (-1, 1),
    Operator.ACOS: (-1, 1),
    Operator.ATAN: (-5, 5),
    Operator.SINH: (-711, 711),
    Operator.COSH: (-711, 711),
    Operator.TANH: (-20, 20),
    Operator.ASINH: (-10, 10),
    Operator.ACOSH: (1, 5),
    Operator.ATANH: (-1, 1),
    Operator.ERF: (-6, 6),
    Operator.ERFC: (-6, 27),
    Operator.CBRT: (-8, 8),
}
"""Where a function of 64-bit floats neither overflows nor is constant."""


def elementary_cases() -> list[Case]:
    """Every elementary function at 32 and 64 bits; `test_halves.py` has those of 16."""
    return [case for case in all_cases() if case.operator in ELEMENTARY and case.types[0] in (F32, F64)]


def _power(x: mpf, y: mpf) -> mpf:
    """x**y, which mpmath refuses for huge integers y; negative x have only integers y here."""
    magnitude = mpmath.exp(y * mpmath.log(abs(x)))
    return -magnitude if x < 0 and float(y) % 2 == 1 else magnitude


def true_function(operator: Operator) -> Callable[..., mpf]:
    """The function on mpmath's numbers."""
    different: dict[Operator, Callable[..., mpf]] = {
        Operator.POW: _power,
        # mpmath refuses huge operands; beyond 100 the result rounds to 0 or 2.
        Operator.ERFC: lambda x: mpmath.erfc(mpf(min(max(float(x), -100.0), 100.0))),
        Operator.LOG2: lambda x: mpmath.log(x) / mpmath.ln(2),
        Operator.CBRT: lambda x: -mpmath.cbrt(-x) if x < 0 else mpmath.cbrt(x),
    }
    named: Callable[..., mpf] = different.get(operator) or getattr(mpmath, operator.value)
    return named


def sample(case: Case, count: int) -> list[Array]:
    """The edge values and `count` random operands of each kind."""
    kind, edges = case.types[0], operands(case)
    generator = np.random.default_rng(7)
    if len(edges) == 1:
        low, high = INTERESTING[case.operator]
        # The exponent of a 32-bit float has 3 bits less.
        shrink = 8 if kind is F32 and high in (27, 710, 711) else 1
        even = generator.uniform(low / shrink, high / shrink, count)
        near = np.clip(generator.standard_normal(count) * 10.0 ** generator.uniform(-5, 1, count), low, high)
        return [
            np.concatenate([edges[0], np.concatenate([even, near]).astype(kind.dtype), random_values(kind, count, 9)])
        ]
    if case.operator is Operator.POW:
        base = np.exp(generator.uniform(-50, 50, count))
        result = generator.uniform(-100, 88, count) if kind is F32 else generator.uniform(-740, 709, count)
        drawn = [base, result / np.log(base)]
    else:
        drawn = [generator.standard_normal(count), generator.standard_normal(count)]
    return [np.concatenate([edge, more.astype(kind.dtype)]) for edge, more in zip(edges, drawn, strict=True)]


def ulps(kind: ScalarType, got: float, truth: mpf) -> float:
    """The distance in units in the last place of the truth; overflow is the next float after the greatest."""
    limits = np.finfo(np.float32 if kind is F32 else np.float64)
    digits, least, greatest = limits.nmant, int(limits.minexp), float(limits.max)
    beyond = mpf(2) ** int(limits.maxexp)
    if truth == 0:
        return 0.0 if got == 0 else math.inf
    near = beyond if abs(truth) > beyond else abs(truth)
    exponent = max(math.frexp(max(min(float(near), greatest), sys.float_info.min))[1] - 1, least)
    unit = mpf(2) ** (exponent - digits)
    value = mpf(got) if math.isfinite(got) else beyond * (1 if got > 0 else -1)
    return float(abs(value - (near if truth > 0 else -near)) / unit)


def worst(case: Case, arrays: Sequence[Array], got: Array) -> tuple[float, str]:
    """The greatest error and where it is; infinite where a NaN, a pole or the sign of a zero is wrong."""
    function, kind = true_function(case.operator), case.result
    result = (0.0, "")
    rows = zip(*(x.tolist() for x in arrays), got.tolist(), reference(case, arrays).tolist(), strict=True)
    with mpmath.workprec(PRECISION):
        for *row, value, expected in rows:
            error = _error(kind, function, row, value, expected)
            if error > result[0]:
                result = (error, f"{case} at {row}: {value!r}, libm {expected!r}")
    return result


def _error(
    kind: ScalarType, function: Callable[..., mpf], row: Sequence[float], value: float, expected: float
) -> float:
    """The error of one value. NaN, the sign, and the values at zeros, infinities and NaN must be libm's."""
    if value != value or expected != expected:
        return 0.0 if value != value and expected != expected else math.inf
    if math.copysign(1, value) != math.copysign(1, expected):
        return math.inf
    # mpmath has no negative zero, so operands that are zero count as special too.
    if not all(x != 0 and math.isfinite(x) for x in row):
        return 0.0 if value == expected else ulps(kind, value, mpf(expected)) if expected else math.inf
    # What is certainly the rounded result of 32 bits needs no 200 bits.
    return 0.5 if kind is F32 and value == expected else ulps(kind, value, function(*map(mpf, row)))


def worst_of_singles(compiled: Compiled, case: Case, step: int) -> tuple[float, str]:
    """The greatest error of a function of a 32-bit float, over every `step`-th of them.

    The truth is the 64-bit function, whose error is nothing in these units.
    """
    double = Case(case.operator, F64, (F64,))
    result = (0.0, "")
    for first in range(0, 1 << 32, 1 << 29):
        operand = np.arange(first, first + (1 << 29), step, dtype=np.uint64).astype(np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            got, truth = compiled(case, [operand]), compiled(double, [operand.astype(np.float64)])
            nearest = truth.astype(np.float32)
            errors = np.abs(got.astype(np.float64) - truth) / np.spacing(np.abs(nearest))
        finite = np.isfinite(got) & np.isfinite(nearest)
        same = (got == nearest) | np.isnan(got) & np.isnan(nearest)
        errors = np.where(finite, errors, np.where(same, 0.0, math.inf))
        position = int(errors.argmax())
        if errors[position] > result[0]:
            result = (
                float(errors[position]),
                f"{case} at {operand[position]}: {got[position]}, not {nearest[position]}",
            )
    return result


def main(count: int) -> None:
    """Prints a row per function: the worst errors of both types."""
    compiled = compile_cases(elementary_cases(), 8)
    errors: dict[Operator, dict[ScalarType, float]] = {}
    for case in elementary_cases():
        arrays = sample(case, count)
        found = [worst(case, arrays, compiled(case, arrays))]
        if case.types == (F32,):
            found.append(worst_of_singles(compiled, case, 211))
        error, where = max(found)
        errors.setdefault(case.operator, {})[case.result] = error
        print(f"{error:.3f} {where}", file=sys.stderr)
    for operator, by_type in errors.items():
        # Rounded up, so that the table is a bound for what was measured.
        columns = [f"{math.ceil(by_type[kind] * 100) / 100:.2f}" for kind in (F32, F64)]
        print(f"| `{operator}` | {' | '.join(columns)} |")


if __name__ == "__main__":
    main(int(sys.argv[1]))
