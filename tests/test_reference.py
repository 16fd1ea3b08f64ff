"""The reference is what docstrings say now, and leaves out no public name."""

from __future__ import annotations

import doctest
import inspect
import re

import numpy as np
import pytest

import accel as A
from tools import reference
from tools.accelerate_names import OTHERWISE, OURS
from tools.reference_costs import COSTS_AND_ERRORS
from tools.reference_types import TYPES

PAGE = reference.TARGET.read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    assert reference.generate() == PAGE, "run `python -m tools.reference`"


def test_every_public_name_has_a_heading_and_a_link_to_it() -> None:
    headings = re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)
    assert sorted(headings) == sorted(A.__all__)
    links = dict(re.findall(r"\[`(\w+)`\]\(#([\w-]+)\)", PAGE))
    assert sorted(links) == sorted(A.__all__)
    assert len(set(links.values())) == len(links)


def test_every_function_has_an_example() -> None:
    without = [name for name in A.__all__ if callable(getattr(A, name)) and not isinstance(getattr(A, name), type)]
    without = [name for name in without if ">>> " not in (getattr(A, name).__doc__ or "") and name not in PLAIN]
    assert not without


def test_every_type_has_an_example_and_every_error_its_programs() -> None:
    entries = {name: reference.entry(name) for name in A.__all__}
    errors = {name for name in A.__all__ if name.startswith("Accel")}
    warnings = {name for name in errors if name.endswith("Warning")}
    assert [name for name, text in entries.items() if ">>> " not in text and name not in errors] == []
    assert [name for name in errors - warnings if "(errors.md#" not in entries[name]] == []
    assert [name for name, text in entries.items() if "Accelerate" not in text and name not in errors] == []


@pytest.mark.llvm
@pytest.mark.solver
@pytest.mark.parametrize("name", TYPES)
def test_examples_of_types(name: str) -> None:
    test = doctest.DocTestParser().get_doctest(TYPES[name], {"A": A, "np": np}, name, None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_every_function_says_what_accelerate_calls_it_and_stands_where_costs_and_errors_are_said() -> None:
    functions = [name for name in A.__all__ if inspect.isroutine(getattr(A, name)) and name not in PLAIN]
    assert {reference.section_of(name) for name in functions} <= COSTS_AND_ERRORS.keys()
    assert [name for name in functions if "Accelerate" not in reference.entry(name)] == []
    assert OTHERWISE.keys() <= set(A.__all__)
    assert set(A.__all__) >= OURS


def test_signatures_say_the_types_that_mypy_knows() -> None:
    assert "xs: Acc[Array[tuple[*Ix, int], E]]" in reference.parameters("foldSeg")
    assert (
        reference.parameters("generate") == "generate(sh: Exp[Sh], f: Callable[[Exp[Sh]], Exp[E]]) -> Acc[Array[Sh, E]]"
    )
    assert reference.parameters("index") == "index(i1: Num, i2: Num, /) -> Exp[tuple[int, int]]"
    assert "x9: Acc[Array[Sh, E9]]" in reference.parameters("zipWith9")


PLAIN = {"All", "DIM0", "DIM1", "DIM2", "DIM3", "DIM4", "DIM5", "Matrix", "Num", "Scalar", "Segments", "Vector"}
"""Types that are no classes."""
