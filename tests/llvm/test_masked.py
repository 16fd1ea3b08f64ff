"""Loads of some lanes, which some processors make of loads of all: nothing that may not be read is, and bits are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F32, F64, I8, ScalarType
from accel.backends.llvm.emit.lanes.masked import masked_load
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import Code
from tests.guard_pages import PAGE, guarded
from tests.llvm.processors import compile_for, processor
from tests.llvm.test_guard_pages import survives

Program = Callable[[A.Acc[Any]], A.Acc[Any]]


@pytest.mark.parametrize(("kind", "slow", "whole"), [(F32, False, False), (F32, True, True), (I8, True, False)])
def test_text(kind: ScalarType, slow: bool, whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host(), "processor", processor(slow_masks=slow))
    code = Code(16)
    masked_load(code, kind, "%place", "%some")
    assert any("accel.some" in symbol for symbol in code.declarations) == whole
    assert ("accel.some" in code.lines[-1]) == whole


def means(xs: A.Acc[Any]) -> A.Acc[Any]:
    """Of the neighbours in a row: loads at both sides of what a lane makes, where both are there."""
    (columns,) = A.unlift(xs.shape)[1:]

    def point(place: Any) -> Any:
        i, j = A.unindex(place)
        inner = (j > 0) & (j < columns - 1)
        return A.cond(inner, xs[i, j - 1] + xs[i, j + 1], xs[place])

    return A.generate(xs.shape, point)


def above(xs: A.Acc[Any]) -> A.Acc[Any]:
    """No lane of the first row, above which there is nothing to read."""

    def point(place: Any) -> Any:
        i, j = A.unindex(place)
        return A.cond(i > 0, xs[i - 1, j] * 2, 7)

    return A.generate(xs.shape, point)


PROGRAMS: dict[str, Program] = {
    "sums of rows": lambda xs: A.fold(A.add, 0, xs),
    "the sum": A.sum,
    "scans of rows": lambda xs: A.scanl1(A.add, xs),
    "means": means,
    "the row above": above,
}


def test_nothing_else_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of arrays flush against pages that may not be touched, whose rows begin and end anywhere in a page."""
    arrays = []
    for shape in ((1, 7), (3, 32), (5, 63), (40, 47), (7, PAGE // 8 - 3), (2, PAGE // 4 + 1)):
        for element in (F32, F64):
            for at_end in (False, True):
                arrays.append(guarded(at_end, element, shape))
                arrays[-1][...] = np.random.default_rng(1).standard_normal(shape)

    def run(slow: bool) -> list[bytes]:
        with monkeypatch.context() as patch:
            compile_for(patch, processor(slow_masks=slow))
            programs = [A.runN(program, backend="llvm", threads=1) for program in PROGRAMS.values()]
            return [np.asarray(program(array)).tobytes() for program in programs for array in arrays]

    def work() -> None:
        assert run(slow=True) == run(slow=False)

    survives(work)
