"""The LLVM printer gives the reference's bits, in scalars and in vectors, on this CPU and on older ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32, I8, I32, I64, U64, ScalarType
from accel.backends.llvm.scalar_code.scalar import operation
from accel.backends.llvm.text.code import Code
from tests.marks import long, one_in
from tests.scalar.jit import OLD, compile_cases, module_text
from tests.scalar.table import Case, all_cases, constant_cases, differences, truth

pytestmark = pytest.mark.llvm

EXACT = [case for case in all_cases() if case.exact]


def check(cases: Sequence[Case], lanes: int, cpu: str | None = None) -> None:
    """All cases, compiled together, give the reference's bits."""
    compiled = compile_cases(cases, lanes, cpu)
    failures = []
    for case in cases:
        arrays, expected = truth(case)
        got = compiled(case, arrays)
        wrong = differences(case, got, expected)
        if len(wrong):
            example = [array[wrong[0]] for array in arrays]
            failures.append(f"{case} at {example}: {got[wrong[0]]}, not {expected[wrong[0]]} ({len(wrong)} wrong)")
    assert not failures, "\n".join(failures)


def test_bits_of_some_operators_are_the_references() -> None:
    check(EXACT[::6], 8)


@long
@pytest.mark.parametrize(("lanes", "cpu"), [(1, None), (8, None), (16, None), (8, "haswell"), (4, OLD)])
def test_bits_are_the_references(lanes: int, cpu: str | None) -> None:
    check(EXACT, lanes, cpu)


@pytest.mark.parametrize("lanes", one_in(2, [8, 1]))
def test_bits_are_the_references_by_constants(lanes: int) -> None:
    check(constant_cases(), lanes)


def test_text_of_a_scalar_and_of_a_vector_operation(golden: Callable[[str], None]) -> None:
    cases = [Case(Operator.DIV, I32, (I32, I32)), Case(Operator.CAST, I32, (F32,)), Case(Operator.EXP, F32, (F32,))]
    golden("\n\n".join(module_text(cases, lanes) for lanes in (1, 8)))


@pytest.mark.parametrize("operator", [Operator.DIV, Operator.MOD, Operator.QUOT, Operator.REM])
@pytest.mark.parametrize("kind", [I8, I64, U64])
def test_divisions_by_constants_have_no_guards(operator: Operator, kind: ScalarType) -> None:
    # Behind a guard LLVM takes the divisor for a variable, and divides instead of multiplying: ten times as long.
    code = Code(1)
    operation(code, operator, kind, [kind, kind], ["%x", "10"])
    assert not any(" eq " in line or "10, i" in line for line in code.lines)
    by_zero = Code(1)
    operation(by_zero, operator, kind, [kind, kind], ["%x", "0"])
    assert not any("div" in line for line in by_zero.lines)
