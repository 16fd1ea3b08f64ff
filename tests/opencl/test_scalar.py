"""The OpenCL C printer gives the reference's bits on every platform, elementary functions within 4 ulp."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F16, F64, I32, ScalarType
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.code.prelude import Prelude
from accel.backends.opencl.code.scalar import expression
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.machine.features import Features
from accel.backends.opencl.program import unit
from accel.errors import AccelInternalError
from tests.marks import one_in
from tests.opencl.platforms import backend, each_platform
from tests.scalar.table import Case, all_cases, differences, operands, reference

Array = npt.NDArray[Any]

BATCH = 60
"""Cases of one build: building costs most."""


def kernel(number: int, case: Case, prelude: Prelude, on: OpenCLBackend) -> str:
    names = [f"x{k}" for k in range(len(case.types))]
    parameters = [f"__global const {c_type(kind)}* {name}" for kind, name in zip(case.types, names, strict=True)]
    loads = [f"{c_type(kind)} v{name} = {name}[i];" for kind, name in zip(case.types, names, strict=True)]
    value = expression(case.operator, case.result, case.types, [f"v{n}" for n in names], on.features, prelude)
    head = f"__kernel void case{number}({', '.join(parameters)}, __global {c_type(case.result)}* out, long n) {{"
    return f"{head} long i = get_global_id(0); if (i < n) {{ {' '.join(loads)} out[i] = {value}; }} }}"


def evaluate(cases: Sequence[Case], on: OpenCLBackend) -> list[Array]:
    """The cases on all their operands, in one build."""
    import pyopencl

    prelude = Prelude()
    kernels = [kernel(number, case, prelude, on) for number, case in enumerate(cases)]
    program = on.build(unit([prelude.text, *kernels], on.features))
    results = []
    for number, case in enumerate(cases):
        arrays = operands(case)
        count = len(arrays[0])
        buffers = [on.memory.upload(array) for array in arrays]
        out = on.memory.take(count * case.result.bytes)
        compiled = pyopencl.Kernel(program, f"case{number}")
        given: list[Any] = [
            *(each.buffer for each in buffers),
            out.buffer,
            np.int64(count),
        ]  # Any: a kernel's arguments
        on.memory.enqueued("a case", partial(compiled, on.memory.queue, (-(-count // 64) * 64,), (64,), *given))
        results.append(on.memory.download(out, case.result, (count,)))
    return results


def batches(cases: list[Case]) -> list[list[Case]]:
    return [cases[start : start + BATCH] for start in range(0, len(cases), BATCH)]


EXACT = batches([case for case in all_cases() if case.exact])
ELEMENTARY = [case for case in all_cases() if not case.exact]


@each_platform
@pytest.mark.parametrize("number", one_in(4, range(len(EXACT))))
def test_bits_are_the_references(platform: str, number: int) -> None:
    on = backend(platform)
    failures = []
    for case, got in zip(EXACT[number], evaluate(EXACT[number], on), strict=True):
        arrays = operands(case)
        expected = reference(case, arrays)
        wrong = differences(case, got, expected)
        if len(wrong):
            example = [array[wrong[0]] for array in arrays]
            failures.append(f"{case} at {example}: {got[wrong[0]]}, not {expected[wrong[0]]} ({len(wrong)} wrong)")
    assert not failures, "\n".join(failures)


def ranks(values: Array, kind: ScalarType) -> Array:
    """Floats as integers in their order, neighbours one apart."""
    bits = values.view(f"i{kind.bytes}").astype(np.int64)
    least = np.int64(-(1 << (kind.bits - 1)))
    ordered: Array = np.where(bits < 0, least - bits, bits)
    return ordered


def distance(got: Array, expected: Array, kind: ScalarType) -> Array:
    """How many floats lie between two results; neither is NaN."""
    with np.errstate(over="ignore"):  # opposite infinities are too far apart to count
        apart: Array = np.abs(ranks(got, kind) - ranks(expected, kind)).view(np.uint64)
    return apart


def beyond(limit: int, got: Array, expected: Array, kind: ScalarType) -> Array:
    """Where results are further apart than so many floats, or only one is NaN."""
    wrong: Array = np.isnan(got) != np.isnan(expected)
    numbers = ~np.isnan(got) & ~np.isnan(expected)
    wrong[numbers] = distance(got[numbers], expected[numbers], kind) > limit
    return wrong


@each_platform
def test_elementary_functions_are_within_four_ulp(platform: str) -> None:
    failures = []
    for case, got in zip(ELEMENTARY, evaluate(ELEMENTARY, backend(platform)), strict=True):
        arrays = operands(case)
        expected = reference(case, arrays)
        wrong = beyond(1 if case.result is F16 else 4, got, expected, case.result)
        for position in np.flatnonzero(wrong)[:1]:
            example = [array[position] for array in arrays]
            failures.append(f"{case} at {example}: {got[position]}, not {expected[position]} ({wrong.sum()} wrong)")
    assert not failures, "\n".join(failures)


def test_f32_without_f64_names_no_double() -> None:
    poor = Features(fp64=False, rounded_division=False, atomics64=False)
    for case in all_cases():
        if F64 not in (case.result, *case.types):
            prelude = Prelude()
            names = [f"x{k}" for k in range(len(case.types))]
            text = expression(case.operator, case.result, case.types, names, poor, prelude)
            assert "double" not in text + prelude.text, str(case)


@pytest.mark.parametrize("kind", [I32, F64], ids=str)
def test_what_does_not_exist_at_a_type_is_not_written(kind: ScalarType) -> None:
    """An operator that the printer does not know, as a new one, is no other operator."""
    operator = Operator.FLOOR if kind is I32 else Operator.XOR
    with pytest.raises(AccelInternalError, match=f"no operator {operator} on {kind}"):
        expression(operator, kind, [kind, kind], ["x", "y"], Features(True, True, True), Prelude())
