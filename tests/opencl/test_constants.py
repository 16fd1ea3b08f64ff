"""Operators on constants give the reference's bits: what a compiler computes, and may leave out where C defines nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32, F64, ScalarType
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.code import spelling
from accel.backends.opencl.code.prelude import Prelude
from accel.backends.opencl.code.scalar import expression
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.program import unit
from accel.backends.protocol import compiled
from accel.labelled.scalar import constant
from tests.marks import long
from tests.opencl.check import loops, same
from tests.opencl.platforms import backend, each_platform
from tests.opencl.test_scalar import beyond
from tests.scalar.table import Case, all_cases, differences, operands, reference

Array = npt.NDArray[Any]


def constants_each() -> int:
    """How many constants of one operator at its types; fewer where only some tests run."""
    return 10 if os.environ["ACCEL_TESTS"] == "all" else 4


CASTS = [case for case in all_cases() if case.operator is Operator.CAST and case.types[0].is_float]
OTHERS = [case for case in all_cases() if case.exact and case not in CASTS]

OUTSIDE = [np.nan, np.inf, -np.inf, -0.5, -1.0, 127.5, 128.0, 256.0, -129.0, 1e5, 2.0**31, -(2.0**31), 2.0**32, 2.0**63]
OUTSIDE += [-(2.0**63), 2.0**64, -1e19, 1e30, -1e30]
"""Floats that most integer types do not have."""

EXTREME = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 20.0, 1e30, -1e30, 1e-45, 3.4028234663852886e38]
"""Floats where elementary functions leave their domain, overflow, or have a limit."""

FUNCTIONS = [case for case in all_cases() if len(case.types) < 3 and all(kind.is_float for kind in case.types)]
FUNCTIONS = [case for case in FUNCTIONS if case not in CASTS]
"""Operators of one or two floats."""


def extremes(case: Case) -> list[Array]:
    """Each extreme float with each."""
    with np.errstate(over="ignore"):
        axes = [np.array(EXTREME).astype(kind.dtype) for kind in case.types]
    return [grid.ravel() for grid in np.meshgrid(*axes)]


def spread(case: Case) -> list[Array]:
    """A few rows of the table's operands, from its beginning to its end."""
    arrays = operands(case)
    rows = np.unique(np.linspace(0, len(arrays[0]) - 1, constants_each()).astype(int))
    return [array[rows] for array in arrays]


def kernel(number: int, case: Case, rows: Sequence[Array], prelude: Prelude, on: OpenCLBackend) -> str:
    """Writes the operator of each row's constants."""
    lines = [f"__kernel void case{number}(__global {c_type(case.result)}* out) {{"]
    for place, row in enumerate(zip(*(array.tolist() for array in rows), strict=True)):
        atoms = [spelling.constant(constant(kind, value)) for kind, value in zip(case.types, row, strict=True)]
        value = expression(case.operator, case.result, case.types, atoms, on.features, prelude)
        lines.append(f"  out[{place}] = {value};")
    return "\n".join([*lines, "}"])


def wrong(cases: Sequence[Case], rows: Sequence[Sequence[Array]], on: OpenCLBackend) -> list[str]:
    """What differs from the reference, for all cases in one build."""
    import pyopencl

    prelude = Prelude()
    kernels = [kernel(number, case, rows[number], prelude, on) for number, case in enumerate(cases)]
    program = on.build(unit([prelude.text, *kernels], on.features))
    found = []
    for number, case in enumerate(cases):
        count = len(rows[number][0])
        out = on.memory.take(count * case.result.bytes)
        compiled = pyopencl.Kernel(program, f"case{number}")
        on.memory.enqueued("a case", partial(compiled, on.memory.queue, (1,), (1,), out.buffer))
        got, expected = on.memory.download(out, case.result, (count,)), reference(case, rows[number])
        different = (
            differences(case, got, expected) if case.exact else np.flatnonzero(beyond(4, got, expected, case.result))
        )
        for place in different:
            found.append(f"{case} at {[array[place] for array in rows[number]]}: {got[place]}, not {expected[place]}")
    return found


@each_platform
def test_casts_of_constant_floats(platform: str) -> None:
    with np.errstate(over="ignore"):
        rows = [[np.array(OUTSIDE).astype(case.types[0].dtype)] for case in CASTS]
    failures = wrong(CASTS, rows, backend(platform))
    assert not failures, "\n".join(failures)


@long
@each_platform
def test_functions_of_extreme_constants(platform: str) -> None:
    failures = wrong(FUNCTIONS, [extremes(case) for case in FUNCTIONS], backend(platform))
    assert not failures, "\n".join(failures)


@each_platform
def test_every_operator_at_constants(platform: str) -> None:
    failures = wrong(OTHERS, [spread(case) for case in OTHERS], backend(platform))
    assert not failures, "\n".join(failures)


@each_platform
@pytest.mark.parametrize("source", [F32, F64])
@pytest.mark.parametrize("target", [kind for kind in ScalarType if kind.is_integer])
def test_casts_of_what_a_compiler_can_find_out(platform: str, source: ScalarType, target: ScalarType) -> None:
    """No constant stands in the cast, but all that is known of its operand is that it has no integer."""

    def program(xs: A.Acc[Any]) -> tuple[A.Acc[Any], ...]:
        def cast(value: float) -> A.Acc[Any]:
            outside = A.constant(value, source.dtype.type)
            return A.map(lambda x: A.cast(A.abs(x) * outside, target.dtype.type), xs)

        return tuple(map(cast, (np.nan, np.inf, -np.inf, 2.0**70)))

    data = np.array([1.0, 2.5, 3.0, 0.5], source.dtype)
    planned, arguments = loops("greedy", program(A.use(data)))
    on = backend(platform)
    least, most = target.minimum, target.maximum
    expected = [np.full(4, value, target.dtype) for value in (0, most, least, most)]
    same(compiled(on, planned)(arguments), expected)
