"""The LLVM printer gives the reference's bits, in scalars and in vectors, on this CPU and on older ones."""

from __future__ import annotations

import pytest

from tests.scalar.jit import compile_cases
from tests.scalar.table import all_cases, differences, truth

EXACT = [case for case in all_cases() if case.exact]


@pytest.mark.parametrize(("lanes", "cpu"), [(1, None), (8, None), (16, None), (8, "haswell"), (4, "x86-64-v2")])
def test_bits_are_the_references(lanes: int, cpu: str | None) -> None:
    compiled = compile_cases(EXACT, lanes, cpu)
    failures = []
    for case in EXACT:
        arrays, expected = truth(case)
        got = compiled(case, arrays)
        wrong = differences(case, got, expected)
        if len(wrong):
            example = [array[wrong[0]] for array in arrays]
            failures.append(f"{case} at {example}: {got[wrong[0]]}, not {expected[wrong[0]]} ({len(wrong)} wrong)")
    assert not failures, "\n".join(failures)
