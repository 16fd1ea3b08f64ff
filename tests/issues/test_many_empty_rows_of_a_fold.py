"""A fold of all elements of 2^40 empty rows visited every row, to find nothing in each."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.compile import stages
from accel.ilp.problem.options import Options
from accel.ir.meaning.interpret import interpret
from accel.labelled.construction.build import build

ROWS = np.empty((2**40, 0), np.int8)


def program() -> A.Acc[A.Scalar[np.int8]]:
    """One nest: rows are scanned, and all that is scanned is folded."""
    return A.foldAll(lambda a, b: a & b, np.int8(5), A.scanl1(A.add, A.use(ROWS)))


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_a_fold_of_many_empty_rows_is_its_seed(backend: str) -> None:
    assert A.explain(program()).loops == 1
    assert A.run(program(), backend=backend) == 5


def test_the_interpreter_of_loops_too() -> None:
    built = build([program().node], [])
    assert interpret(stages(built.program, Options()).loops, [ROWS])[0] == 5
