"""The reference semantics: against NumPy and Python where they define a result, and the values that docs/scalars.md states."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from accel.ast.meaning.semantics import Value, evaluate, fold, implementation
from accel.ast.tree.operators import ELEMENTARY, Operator
from accel.ast.tree.types import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U64, ScalarType
from accel.errors import AccelInternalError
from tests.marks import one_in
from tests.scalar.table import Array, Case, all_cases, differences, operands, truth

NUMPY: dict[Operator, Callable[..., Any]] = {
    Operator.ADD: np.add,
    Operator.SUB: np.subtract,
    Operator.MUL: np.multiply,
    Operator.NEG: np.negative,
    Operator.ABS: np.absolute,
    Operator.MAX: np.maximum,
    Operator.MIN: np.minimum,
    Operator.EQ: np.equal,
    Operator.NE: np.not_equal,
    Operator.LT: np.less,
    Operator.LE: np.less_equal,
    Operator.GT: np.greater,
    Operator.GE: np.greater_equal,
    Operator.AND: np.bitwise_and,
    Operator.OR: np.bitwise_or,
    Operator.XOR: np.bitwise_xor,
    Operator.NOT: np.invert,
    # NumPy counts the bits of a signed integer's magnitude.
    Operator.POP_COUNT: lambda x: np.bitwise_count(x.view(f"u{x.dtype.itemsize}")),
    Operator.SQRT: np.sqrt,
    Operator.FLOOR: np.floor,
    Operator.CEIL: np.ceil,
    Operator.TRUNC: np.trunc,
    Operator.ROUND: np.rint,
    Operator.IS_NAN: np.isnan,
    Operator.IS_INFINITE: np.isinf,
    Operator.SELECT: np.where,
    # NumPy's integer division is Python's, and 0 by 0.
    Operator.MOD: np.mod,
}

FLOAT_ONLY: dict[Operator, Callable[..., Any]] = {Operator.DIV: np.true_divide, Operator.SIGNUM: np.sign}
INTEGER_ONLY: dict[Operator, Callable[..., Any]] = {Operator.DIV: np.floor_divide, Operator.SIGNUM: np.sign}


def numpys(case: Case) -> Callable[..., Any] | None:
    """NumPy's function for a case, or None where it has none or leaves the result open."""
    kind = case.types[-1]
    if case.operator is Operator.CAST:
        undefined = case.types[0].is_float and case.result.is_integer
        return None if undefined else lambda x: x.astype(case.result.dtype)
    special = FLOAT_ONLY if kind.is_float else INTEGER_ONLY
    return special.get(case.operator) or NUMPY.get(case.operator)


@pytest.mark.parametrize("part", one_in(5, range(5)))
def test_numpy_gives_the_same_where_it_defines_a_result(part: int) -> None:
    compared, failures = 0, []
    for case in all_cases()[part::5]:
        function = numpys(case)
        if function is None:
            continue
        arrays, got = truth(case)
        with np.errstate(all="ignore"):
            expected: Array = np.asarray(function(*arrays)).astype(case.result.dtype)
        wrong = differences(case, got, expected)
        if case.operator in (Operator.MIN, Operator.MAX, Operator.SIGNUM):
            # NumPy does not order zeros, and gives +0.0 for the sign of -0.0.
            wrong = wrong[(got[wrong] != 0) | (expected[wrong] != 0)]
        compared += 1
        if len(wrong):
            at = [array[wrong[0]] for array in arrays]
            failures.append(f"{case} at {at}: {got[wrong[0]]}, NumPy {expected[wrong[0]]}")
    assert not failures, "\n".join(failures)
    assert compared > 70


MIN64, MAX64 = -(1 << 63), (1 << 63) - 1


@pytest.mark.parametrize(
    ("operator", "result", "types", "arguments", "expected"),
    [
        (Operator.DIV, I32, (I32, I32), (1, 0), 0),
        (Operator.DIV, I64, (I64, I64), (MIN64, -1), MIN64),
        (Operator.DIV, I32, (I32, I32), (-7, 2), -4),
        (Operator.MOD, I32, (I32, I32), (-7, 2), 1),
        (Operator.MOD, I32, (I32, I32), (5, 0), 0),
        (Operator.QUOT, I32, (I32, I32), (-7, 2), -3),
        (Operator.REM, I32, (I32, I32), (-7, 2), -1),
        (Operator.QUOT, I8, (I8, I8), (-128, -1), -128),
        (Operator.REM, I8, (I8, I8), (-128, 0), 0),
        (Operator.ABS, I8, (I8,), (-128,), -128),
        (Operator.POW, I8, (I8, I8), (3, 5), -13),
        (Operator.POW, I32, (I32, I32), (2, -1), 0),
        (Operator.POW, I32, (I32, I32), (-1, -3), -1),
        (Operator.POW, I32, (I32, I32), (0, -1), 0),
        (Operator.POW, I32, (I32, I32), (0, 0), 1),
        (Operator.POW, U64, (U64, U64), (3, (1 << 64) - 1), pow(3, (1 << 64) - 1, 1 << 64)),
        (Operator.SHIFT_LEFT, I32, (I32, I64), (1, 33), 0),
        (Operator.SHIFT_LEFT, I32, (I32, I64), (1, -1), 0),
        (Operator.SHIFT_LEFT, I32, (I32, I64), (1, 31), -(1 << 31)),
        (Operator.SHIFT_RIGHT, I32, (I32, I64), (-8, 1), -4),
        (Operator.SHIFT_RIGHT, I32, (I32, I64), (-8, 99), -1),
        (Operator.SHIFT_RIGHT, I32, (I32, I64), (-8, -99), -1),
        (Operator.SHIFT_RIGHT, U8, (U8, I64), (255, 8), 0),
        (Operator.ROTATE_LEFT, U8, (U8, I64), (0b10000001, 1), 0b00000011),
        (Operator.ROTATE_RIGHT, U8, (U8, I64), (0b10000001, -15), 0b11000000),
        (Operator.COUNT_LEADING_ZEROS, I64, (I8,), (0,), 8),
        (Operator.COUNT_LEADING_ZEROS, I64, (I8,), (-1,), 0),
        (Operator.COUNT_TRAILING_ZEROS, I64, (I32,), (0,), 32),
        (Operator.COUNT_TRAILING_ZEROS, I64, (I8,), (-128,), 7),
        (Operator.CAST, I32, (F64,), (1e20,), (1 << 31) - 1),
        (Operator.CAST, I64, (F64,), (-1e20,), MIN64),
        (Operator.CAST, I64, (F32,), (math.inf,), MAX64),
        (Operator.CAST, U8, (F32,), (-0.9,), 0),
        (Operator.CAST, I8, (F64,), (-128.9,), -128),
        (Operator.CAST, I64, (F64,), (math.nan,), 0),
        (Operator.CAST, F32, (I64,), ((1 << 60) + (1 << 36) + 1,), 2.0**60 + 2.0**37),
        (Operator.CAST, F64, (U64,), ((1 << 64) - 1,), 2.0**64),
        (Operator.CAST, BOOL, (F64,), (math.nan,), True),
        (Operator.BITCAST, I64, (F64,), (-math.nan,), 0x7FF8 << 48),
        (Operator.BITCAST, F64, (I64,), (1,), 5e-324),
        (Operator.MIN, F64, (F64, F64), (0.0, -0.0), -0.0),
        (Operator.MAX, F64, (F64, F64), (-0.0, 0.0), 0.0),
        (Operator.MAX, F64, (F64, F64), (math.inf, math.nan), math.nan),
        (Operator.COPYSIGN, F64, (F64, F64), (-1.0, -math.nan), 1.0),
        (Operator.SIGNUM, F64, (F64,), (-0.0,), -0.0),
        (Operator.MOD, F64, (F64, F64), (-1.0, 3.0), 2.0),
        (Operator.MOD, F64, (F64, F64), (1.0, -math.inf), -math.inf),
        (Operator.MOD, F64, (F64, F64), (6.0, -3.0), -0.0),
        (Operator.MOD, F64, (F64, F64), (6.0, 0.0), math.nan),
        (Operator.DIV, F32, (F32, F32), (1.0, -0.0), -math.inf),
        (Operator.FMA, F64, (F64, F64, F64), (2.0**-537, 2.0**-538, 1.0), 1.0),
        (Operator.FMA, F64, (F64, F64, F64), (1e308, 10.0, -math.inf), -math.inf),
        # Through 64 bits the sum would be rounded to a tie, and that to even.
        (Operator.FMA, F32, (F32, F32, F32), (1 + 2.0**-23, (1 - 2.0**-23) * 2.0**-24, 1 + 2.0**-23), 1 + 2.0**-23),
        # Rounded to 32 bits first, these would be ties, and go to even.
        (Operator.CAST, F16, (F64,), (1 + 2.0**-11 + 2.0**-40,), 1 + 2.0**-10),
        (Operator.CAST, F16, (F64,), (65520 - 2.0**-20,), 65504.0),
        (Operator.FMA, F16, (F16, F16, F16), (2.0**-12, 2.0**-24, 1 + 2.0**-10), 1 + 2.0**-10),
        (Operator.FMA, F16, (F16, F16, F16), (1 + 2.0**-10, 0.5 + 2.0**-11, 2.0**-24), 0.5 + 2.0**-10),
        (Operator.CAST, F16, (F32,), (65520.0,), math.inf),
        (Operator.CAST, F16, (F32,), (2.0**-25,), 0.0),
        (Operator.CAST, F16, (F64,), (2.0**-25 + 2.0**-70,), 2.0**-24),
        (Operator.CAST, F16, (I64,), (2049,), 2048.0),
        (Operator.CAST, F16, (I64,), (MIN64,), -math.inf),
        (Operator.CAST, I64, (F16,), (math.inf,), MAX64),
        (Operator.ADD, F16, (F16, F16), (2048.0, 1.0), 2048.0),
        (Operator.MUL, F16, (F16, F16), (2.0**-12, 2.0**-12), 2.0**-24),
        (Operator.BITCAST, I16, (F16,), (-math.nan,), 0x7E00),
        (Operator.BITCAST, U16, (F16,), (-0.0,), 0x8000),
        (Operator.MIN, F16, (F16, F16), (0.0, -0.0), -0.0),
        (Operator.POW, F64, (F64, F64), (-8.0, 1 / 3), math.nan),
        (Operator.POW, F64, (F64, F64), (-0.0, -3.0), -math.inf),
        (Operator.POW, F64, (F64, F64), (math.nan, 0.0), 1.0),
        (Operator.LOG, F64, (F64,), (0.0,), -math.inf),
        (Operator.LOG, F64, (F64,), (-1.0,), math.nan),
        (Operator.EXP, F64, (F64,), (1000.0,), math.inf),
        (Operator.ATANH, F64, (F64,), (-1.0,), -math.inf),
    ],
    ids=str,
)
def test_stated_values(
    operator: Operator, result: ScalarType, types: tuple[ScalarType, ...], arguments: tuple[Value, ...], expected: Value
) -> None:
    value = evaluate(operator, result, types, arguments)
    assert type(value) is type(expected)
    assert repr(value) == repr(expected)


@pytest.mark.parametrize("kind", [F16, F32, F64])
def test_fma_is_the_exact_value_rounded_once(kind: ScalarType) -> None:
    """Sums that nearly cancel, that are nearly ties, and of numbers far apart, beside exact fractions."""
    random, fused = np.random.default_rng(8), implementation(Operator.FMA, kind, (kind, kind, kind))
    least, most, bits = {F16: (-9, 1, 10), F32: (-40, 40, 23), F64: (-380, 380, 52)}[kind]
    for _ in range(3000):
        exponents = random.integers(least, most, 3)
        mantissas = 1 + random.integers(0, 8, 3) * 2.0 ** -random.integers(2, bits + 1, 3)
        x, y, z = (float(kind.dtype.type(s)) for s in np.ldexp(mantissas * random.choice([-1, 1], 3), exponents))
        for third in (z, -x * y, 2 * x * y, x * y * 2.0 ** int(random.integers(bits - 1, bits + 3))):
            third = float(kind.dtype.type(third))
            exact = Fraction(x) * Fraction(y) + Fraction(third)
            found = kind.dtype.type(fused(x, y, third))
            error = exact - Fraction(float(found))
            if error:
                side = np.nextafter(found, kind.dtype.type(np.inf if error > 0 else -np.inf))
                half = abs(Fraction(float(side)) - Fraction(float(found))) / 2
                even = not int(found.view(f"u{kind.bytes}")) & 1
                assert abs(error) < half or (abs(error) == half and even), (x, y, third)


def test_results_lie_in_their_types() -> None:
    for case in all_cases():
        function = implementation(case.operator, case.result, case.types)
        for row in zip(*(array[:: max(1, len(array) // 50)].tolist() for array in operands(case)), strict=True):
            value = function(*row)
            if case.result is BOOL:
                assert type(value) is bool, case
            elif case.result.is_integer:
                assert type(value) is int, case
                assert case.result.minimum <= value <= case.result.maximum, case
            else:
                assert type(value) is float, case
                assert value != value or float(case.result.dtype.type(value)) == value, case


def test_elementary_functions_are_not_folded() -> None:
    assert fold(Operator.ADD, F64, (F64, F64), (1.0, 2.0)) == 3.0
    for case in all_cases():
        if case.operator in ELEMENTARY and case.types[0].is_float:
            assert fold(case.operator, case.result, case.types, (1.0,) * len(case.types)) is None


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(AccelInternalError, match=r"no operator add\(bool, bool\) -> bool"):
        evaluate(Operator.ADD, BOOL, (BOOL, BOOL), (True, True))
    with pytest.raises(AccelInternalError):
        evaluate(Operator.BITCAST, F64, (I32,), (1,))
    with pytest.raises(AccelInternalError):
        evaluate(Operator.ADD, F32, (F64, F64), (1.0, 1.0))
