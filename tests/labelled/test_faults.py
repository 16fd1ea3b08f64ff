"""Which of several faults the interpreter names, and what is none. `tests/errors` has the messages."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F64
from accel.errors import AccelShapeError
from accel.labelled.meaning.interpret import interpret
from tests.labelled.programs import parameter, program, run, use


def test_fold1_of_no_rows_is_empty() -> None:
    assert run(A.fold1(A.add, use(np.zeros((0, 0))))).shape == (0,)
    assert run(A.fold1(A.add, use(np.zeros((0, 3))))).shape == (0,)


def test_the_first_requirement_that_fails_is_named() -> None:
    xs, ys, zs = (parameter(1, F64) for _ in range(3))
    once = program([A.zipWith(A.add, xs, ys), A.zipWith(A.add, A.scanl(A.add, 0, ys), zs)], [xs, ys, zs])
    assert interpret(once, [np.zeros(2), np.zeros(2), np.zeros(3)])[1].shape == (3,)
    with pytest.raises(AccelShapeError, match=r"got \(2,\) and \(9,\)"):
        interpret(once, [np.zeros(2), np.zeros(9), np.zeros(3)])
    with pytest.raises(AccelShapeError, match=r"got \(3,\) and \(2,\)"):
        interpret(once, [np.zeros(2), np.zeros(2), np.zeros(2)])


def test_too_large_for_numpy_though_empty() -> None:
    """NumPy cannot hold such a shape."""
    n = A.the(use(np.array(2**40)))
    with pytest.raises(AccelShapeError, match="too large for the address space"):
        run(A.fill((n, 0, n), 1.0))


def test_zero_extents_are_legal_beside_large_ones() -> None:
    n = A.the(use(np.array(2**40)))
    assert run(A.fill((n, 0), 1.0)).shape == (2**40, 0)
