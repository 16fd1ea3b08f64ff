"""Nests over 2^40 empty rows visited every row, to find nothing in each: folds of all elements everywhere, scatters in the
interpreter of loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.compile import stages
from accel.ilp.problem.options import Options
from accel.ir.meaning.interpret import interpret
from accel.labelled.construction.build import build

ROWS = np.empty((2**40, 0), np.int8)


def fold() -> A.Acc[A.Scalar[np.int8]]:
    """One nest: rows are scanned, and all that is scanned is folded."""
    return A.foldAll(lambda a, b: a & b, np.int8(5), A.scanl1(A.add, A.use(ROWS)))


def scatter() -> A.Acc[A.Vector[np.int8]]:
    """Elements go where the number of their row says."""
    rows = A.use(ROWS)
    return A.permute(A.add, A.fill((3,), np.int8(5)), lambda ix: A.just(A.index(A.unlift(ix)[0] % 3)), rows)


PROGRAMS: list[tuple[Callable[[], A.Acc[Any]], object]] = [(fold, 5), (scatter, [5, 5, 5])]


@pytest.mark.parametrize(("program", "expected"), PROGRAMS)
@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_many_empty_rows_change_nothing(program: Callable[[], A.Acc[Any]], expected: object, backend: str) -> None:
    assert A.run(program(), backend=backend).tolist() == expected


@pytest.mark.parametrize(("program", "expected"), PROGRAMS)
def test_the_interpreter_of_loops_skips_them(program: Callable[[], A.Acc[Any]], expected: object) -> None:
    built = build([program().node], [])
    for strategy in ("ilp", "none"):
        loops = stages(built.program, Options(strategy=strategy)).loops
        arguments = [ROWS, *[np.full(3, 5, np.int8)] * (len(loops.parameters) - 1)]
        assert interpret(loops, arguments)[0].tolist() == expected


def test_a_fold_is_one_nest() -> None:
    assert A.explain(fold()).loops == 1
