"""The elementary functions of the LLVM backend: accuracy, special values, and the same bits at every number of lanes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from accel.ast.tree.types import F32
from accel.backends.llvm.machine.system import is_x86
from accel.backends.llvm.scalar_code import coefficients
from tests.marks import long, one_in, slow
from tests.scalar.accuracy import elementary_cases, sample, worst, worst_of_singles
from tests.scalar.jit import OLD, compile_cases
from tests.scalar.table import Case, differences, reference
from tools.coefficients import FITS
from tools.coefficients import coefficients as compute

pytestmark = pytest.mark.llvm

CASES = elementary_cases()
DOCUMENT = Path(__file__).parents[2] / "docs" / "scalars.md"


def documented_bounds() -> dict[str, tuple[float, float]]:
    """The errors that docs/scalars.md gives, in ulp, by function: 32 and 64 bits."""
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: (float(single), float(double)) for name, single, double in rows}


def some(part: int) -> list[Case]:
    """A quarter of the functions, at 32 and at 64 bits."""
    operators = list(dict.fromkeys(case.operator for case in CASES))[part::4]
    return [case for case in CASES if case.operator in operators]


@pytest.mark.parametrize("part", one_in(4, range(4)))
def test_every_function_keeps_its_documented_bound(part: int) -> None:
    bounds, cases = documented_bounds(), some(part)
    compiled = compile_cases(cases, 8)
    failures = []
    for case in cases:
        arrays = sample(case, 300)
        found = [worst(case, arrays, compiled(case, arrays))]
        if case.types == (F32,):
            found.append(worst_of_singles(compiled, case, 40_009))
        error, where = max(found)
        bound = bounds[case.operator.value][0 if case.result is F32 else 1]
        # One digit of grace for operands that the documented measurement did not draw.
        if not error <= min(bound + 0.1, 4.0):
            failures.append(f"{error} ulp, documented {bound}: {where}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("part", one_in(4, range(4)))
def test_the_reference_is_within_four_ulp(part: int) -> None:
    for case in some(part):
        arrays = sample(case, 300)
        error, where = worst(case, arrays, reference(case, arrays))
        assert error <= 4.0, f"{error} ulp: {where}"


@pytest.mark.parametrize("lanes", [2, 8, 16])
def test_bits_do_not_depend_on_the_number_of_lanes_or_the_position(lanes: int) -> None:
    scalar, vector = compile_cases(CASES, 1), compile_cases(CASES, lanes)
    for case in CASES:
        arrays = sample(case, 1000)
        expected = scalar(case, arrays)
        assert not len(differences(case, vector(case, arrays), expected)), str(case)
        moved = [np.roll(x, 3) for x in arrays]
        assert not len(differences(case, vector(case, moved), np.roll(expected, 3))), str(case)


@slow
@pytest.mark.skipif(not is_x86(), reason="these are x86-64's")
@pytest.mark.parametrize("cpu", [OLD, pytest.param("haswell", marks=long)])
def test_bits_do_not_depend_on_the_cpu(cpu: str) -> None:
    # SSE4 without fused multiply-add, where the C library does it, and AVX2 without AVX-512.
    ours, older = compile_cases(CASES, 8), compile_cases(CASES, 8, cpu)
    for case in CASES:
        arrays = sample(case, 100)
        assert not len(differences(case, older(case, arrays), ours(case, arrays))), str(case)


@pytest.mark.parametrize("fit", FITS[::3], ids=lambda fit: fit.name)
def test_the_committed_coefficients_are_the_tools(fit: object) -> None:
    chosen = next(each for each in FITS if each is fit)
    committed = getattr(coefficients, chosen.name)
    assert committed.full == compute(chosen, chosen.full)
    assert committed.short == compute(chosen, chosen.short)
