"""The LLVM printer gives the reference's bits, in scalars and in vectors, on this CPU and on older ones."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.scalar.jit import compile_cases
from tests.scalar.table import Case, all_cases, differences, operands, reference

EXACT = [case for case in all_cases() if case.exact]


def check(cases: Sequence[Case], lanes: int, cpu: str | None = None) -> None:
    """All cases in one module, each on all its operands."""
    compiled = compile_cases(cases, lanes, cpu)
    failures = []
    for case in cases:
        arrays = operands(case)
        got, expected = compiled(case, arrays), reference(case, arrays)
        wrong = differences(case, got, expected)
        if len(wrong):
            example = [array[wrong[0]] for array in arrays]
            failures.append(f"{case} at {example}: {got[wrong[0]]}, not {expected[wrong[0]]} ({len(wrong)} wrong)")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("lanes", [1, 8])
def test_bits_are_the_references(lanes: int) -> None:
    check(EXACT, lanes)
