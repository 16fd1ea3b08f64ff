"""Marks say what tests need: without one a test reaches nothing that asks for it. Of a family, most cases are slow."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.ilp import optimise
from tests.marks import families, one_in, slow


def test_nothing_is_compiled_without_the_mark() -> None:
    odd = A.map(lambda x: x * 7919 + 104729, A.use(np.arange(3)))
    with pytest.raises(pytest.fail.Exception, match="needs the mark 'llvm'"):
        A.run(odd, backend="llvm")
    with pytest.raises(pytest.fail.Exception, match="needs the mark 'opencl'"):
        A.run(odd, backend="opencl:0")
    assert A.run(odd, backend="interpreter").tolist() == [104729, 112648, 120567]


def test_nothing_is_solved_without_the_mark() -> None:
    with pytest.raises(pytest.fail.Exception, match="needs the mark 'solver'"):
        vars(optimise)["find"]("cbc")


def test_one_case_of_so_many_is_quick() -> None:
    cases = one_in(2, ["a", ("b", 1), pytest.param("c", marks=pytest.mark.llvm), "d"])
    assert [case.values for case in cases] == [("a",), ("b", 1), ("c",), ("d",)]
    assert [[mark.name for mark in case.marks if isinstance(mark, pytest.Mark | pytest.MarkDecorator)] for case in cases] == [
        [], ["slow"], ["llvm"], ["slow"],
    ]  # fmt: skip


@pytest.mark.parametrize("backend", ["llvm", "opencl:1"])
def test_a_backend_among_the_parameters_is_a_mark(backend: str, request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker(backend.partition(":")[0]) is not None
    assert request.node.get_closest_marker("browser") is None


@pytest.mark.parametrize(("name", "count"), [("a", 3), ("b", 1), ("c", 200)])
def test_of_slow_cases_few_are_not_long_but_one_of_each_family(
    name: str, count: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = request.node.getparent(pytest.Module)
    cases: list[pytest.Function] = []
    for number in range(count):
        case = pytest.Function.from_parent(module, name=f"{name}[{number}]", callobj=families)
        monkeypatch.setattr(case, "callspec", None, raising=False)
        case.add_marker(slow)
        cases.append(case)
    families(cases)
    kept = sum(case.get_closest_marker("long") is None for case in cases)
    assert 1 <= kept <= max(1, count / 16)
    assert all(case.get_closest_marker("slow") for case in cases)
