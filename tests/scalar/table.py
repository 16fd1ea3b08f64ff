"""The table of scalar cases: every operator at every type, with operands at the edges.

One table for all printers: the reference, LLVM and OpenCL C are run over the same cases and operands.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from accel.ast.meaning.semantics import implementation
from accel.ast.tree.operators import ELEMENTARY, SHIFTS, Operator
from accel.ast.tree.signatures import accepts, fits, operand_types, result_type
from accel.ast.tree.types import BOOL, F16, F32, F64, ScalarType

# Operands of all types go through the same code, so their element type is not known statically.
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Case:
    """An operator at fixed types, and the value of its last operand where that is a constant of the program."""

    operator: Operator
    result: ScalarType
    types: tuple[ScalarType, ...]
    last: int | None = None

    @property
    def exact(self) -> bool:
        """Whether the result's bits are the same on every backend (a NaN's aside)."""
        return self.operator not in ELEMENTARY or not self.types[0].is_float

    def __str__(self) -> str:
        known = "" if self.last is None else f" by {self.last}"
        return f"{self.operator}({', '.join(map(str, self.types))}) -> {self.result}{known}"


def all_cases() -> list[Case]:
    """Every operator at every type that it has."""
    cases = []
    for operator, kind in itertools.product(Operator, ScalarType):
        if not accepts(operator, kind):
            continue
        types, result = operand_types(operator, kind), result_type(operator, kind)
        results = ScalarType if result is None else (result,)
        cases += [Case(operator, each, types) for each in results if fits(operator, each, types)]
    return cases


def constant_cases() -> list[Case]:
    """Divisions, shifts and powers of integers by constants, which printers may write otherwise than by variables."""
    cases = []
    for operator in (*_DIVISIONS, *SHIFTS, Operator.POW):
        for kind in (ScalarType.I8, ScalarType.U16, ScalarType.I32, ScalarType.I64, ScalarType.U64):
            second = operand_types(operator, kind)[1]
            constants = [0, 1, 2, 3, 5, 7, 16, 63, 64, second.minimum, -1, -3, second.maximum]
            inside = sorted({x for x in constants if second.minimum <= x <= second.maximum})
            cases += [Case(operator, kind, (kind, second), x) for x in inside]
    return cases


_DIVISIONS = (Operator.DIV, Operator.MOD, Operator.QUOT, Operator.REM)


def operands(case: Case) -> list[Array]:
    """Arrays of equal length, one per operand: all edge values together, all pairs of 8-bit ones, and random bits."""
    if case.last is not None:
        return [unary_values(case.types[0])]
    if case.operator is Operator.SELECT:
        kind = case.types[1]
        chosen = _some(edge_values(kind), 40)
        return _product([np.array([False, True]), chosen, chosen])
    if case.operator in SHIFTS:
        return _product([unary_values(case.types[0]), _amounts(case.types[0])])
    kind = case.types[0]
    if len(case.types) == 1:
        return [unary_values(kind)]
    if len(case.types) == 3:
        together = _product([_some(edge_values(kind), 18)] * 3)
        if kind is F16:
            together = [np.concatenate(pair) for pair in zip(together, nearly_ties(1000), strict=True)]
    elif kind.bits <= 8:
        return _product([unary_values(kind)] * 2)
    else:
        together = _product([_some(edge_values(kind), 70)] * 2)
    return [np.concatenate([x, random_values(kind, 2000, seed)]) for seed, x in enumerate(together)]


def unary_values(kind: ScalarType) -> Array:
    """All values of an 8-bit type or of 16-bit floats; the edges and random bits of a wider one."""
    if kind is F16:
        return np.arange(1 << 16, dtype=np.uint16).view(kind.dtype)
    if kind is not BOOL and kind.bits == 8:
        return np.arange(kind.minimum, kind.maximum + 1).astype(kind.dtype)
    return np.concatenate([edge_values(kind), random_values(kind, 2000)])


def random_values(kind: ScalarType, count: int, seed: int = 0) -> Array:
    """Uniformly random bits, and for floats also random values near one."""
    generator = np.random.default_rng(seed)
    if kind is BOOL:
        return generator.integers(0, 2, count).astype(bool)
    bits: Array = generator.integers(0, 256, (count, kind.bytes), np.uint8).view(kind.dtype)[:, 0]
    if not kind.is_float:
        return bits
    near = generator.standard_normal(count) * 10.0 ** generator.uniform(-3, 3, count)
    return np.concatenate([bits[: count // 2], near[count // 2 :].astype(kind.dtype)])


def _amounts(kind: ScalarType) -> Array:
    width = kind.bits
    near = [0, 1, 2, width // 2, width - 1, width, width + 1, 2 * width - 1, 2 * width, 255, 256, 1 << 32]
    limits = [(1 << 63) - 1, -(1 << 63), -width]
    return np.array([*near, *(-x for x in near if x), *limits], np.int64)


def _some(values: Array, count: int) -> Array:
    """At most `count` of the values, spread evenly, with the simple ones that stand in the middle and at the ends."""
    positions = np.unique(np.linspace(0, len(values) - 1, count).astype(int))
    if values.dtype.kind == "f":
        # The plain list of _float_edges: limits of integers, zeros, ones, infinities and NaN.
        return np.concatenate([_simple_floats(values.dtype), values[positions[::2]]])[:count]
    spread: Array = values[positions]
    return spread


def _product(axes: Sequence[Array]) -> list[Array]:
    return [grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")]


def edge_values(kind: ScalarType) -> Array:
    """Values where things go wrong: limits, powers of two and their neighbours, zeros, subnormals, infinities, NaN."""
    if kind is BOOL:
        return np.array([False, True])
    return _float_edges(kind) if kind.is_float else _integer_edges(kind)


def _integer_edges(kind: ScalarType) -> Array:
    powers = {sign * (1 << k) + step for k in range(kind.bits) for step in (-1, 0, 1) for sign in (1, -1)}
    near = set(range(-12, 13)) | {kind.minimum, kind.minimum + 1, kind.maximum - 1, kind.maximum}
    return np.array(sorted(x for x in powers | near if kind.minimum <= x <= kind.maximum), kind.dtype)


def _simple_floats(dtype: np.dtype[Any]) -> Array:
    least = np.nextafter(dtype.type(0), dtype.type(1))
    small = [0.0, float(least), float(np.finfo(dtype).tiny), 0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    values = _rounded([*small, 2.0**24 - 1, float(np.finfo(dtype).max), np.inf, np.nan], dtype)
    return np.concatenate([values, -values])


def _rounded(values: Sequence[float], dtype: np.dtype[Any]) -> Array:
    """Numbers in a type of floats, infinite where they do not fit."""
    with np.errstate(over="ignore"):
        return np.array(values).astype(dtype)


def _float_edges(kind: ScalarType) -> Array:
    dtype = kind.dtype
    digits = {F16: 10, F32: 23, F64: 52}[kind]
    unsigned = np.dtype(f"u{kind.bytes}")
    ones = (1 << (kind.bits - 1 - digits)) - 1
    exponents = range(0, ones, 13 if kind is F64 else 1)
    powers = np.array([exponent << digits for exponent in exponents], unsigned).view(dtype)
    limits = _rounded(
        [2.0**k + step for k in (7, 8, 15, 16, 24, 31, 32, 53, 62, 63, 64) for step in (-1, -0.5, 0)], dtype
    )
    simple = _rounded([0.1, 0.25, 0.999, 3.5, 10.0, 100.0, np.pi / 2, np.pi, 1e9, 1e18], dtype)
    if kind is not F16:
        simple = np.concatenate([simple, _beside_halves().astype(dtype)])
    finite = np.concatenate([_simple_floats(dtype), powers, limits, simple])
    with np.errstate(over="ignore", invalid="ignore"):
        near = [np.nextafter(finite, dtype.type(0)), np.nextafter(finite, dtype.type(np.inf))]
    payload = np.array([ones << digits | 1 << (digits - 1) | 5], unsigned).view(dtype)
    everything = np.concatenate([finite, *near, payload])
    return np.concatenate([everything, -everything])


def _beside_halves() -> Array:
    """Numbers that are, and almost are, halfway between two of 16 bits, or the limit from which they are infinite there."""
    ties = np.array(
        [1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.0**-25, 3 * 2.0**-25, 2.0**-14 - 2.0**-25, 65520.0, 2049.0, 2051.0]
    )
    return np.concatenate(
        [ties, ties * (1 - 2.0**-23), ties * (1 + 2.0**-23), ties * (1 - 2.0**-40), ties * (1 + 2.0**-40)]
    )


def nearly_ties(count: int) -> list[Array]:
    """Operands of which `fma` is almost halfway between two 16-bit floats: 24 bits take half of them for ties."""
    generator = np.random.default_rng(4)
    x, z = 1 + generator.integers(0, 1 << 10, (2, count)) / 1024
    signs = generator.choice([-1.0, 1.0], (2, count))
    return [each.astype(np.float16) for each in (signs[0] * x, 2.0**-11 / x, signs[1] * z)]


def reference(case: Case, arrays: Sequence[Array]) -> Array:
    """The reference semantics on each element."""
    function = implementation(case.operator, case.result, case.types)
    known = () if case.last is None else (case.last,)
    values = [function(*row, *known) for row in zip(*(x.tolist() for x in arrays), strict=True)]
    return np.array(values, case.result.dtype)


@cache
def truth(case: Case) -> tuple[list[Array], Array]:
    """The operands of a case and the reference's results, computed once for all printers that are compared with it."""
    arrays = operands(case)
    return arrays, reference(case, arrays)


def differences(case: Case, got: Array, expected: Array) -> Array:
    """Positions where the bits differ, NaN being equal to NaN."""
    same = got == expected
    if case.result.is_float:
        nan = (got != got) & (expected != expected)
        same = nan | same & (np.signbit(got) == np.signbit(expected))
    return np.flatnonzero(~same)
