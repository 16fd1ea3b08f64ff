"""The interpreter as a backend: it runs the labelled program as it is."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F64
from accel.backends.interpreter.backend import InterpreterBackend
from accel.errors import AccelShapeError
from tests.labelled.programs import parameter, program, same


def test_one_compilation_serves_all_sizes() -> None:
    xs, ys = parameter(1, F64), parameter(1, F64)
    execute = InterpreterBackend().compile_labelled(program([A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))], [xs, ys]))
    for count in (0, 1, 2, 1000):
        x = np.arange(count, dtype=np.float64)
        (found,) = execute([x, x])
        same(found, np.float64((x * x).sum()))
    with pytest.raises(AccelShapeError, match=r"zipWith needs arrays of equal shape, got \(2,\) and \(3,\)"):
        execute([np.zeros(2), np.zeros(3)])


def test_results_are_fresh_contiguous_and_inputs_stay() -> None:
    m = parameter(2, F64)
    execute = InterpreterBackend().compile_labelled(program([m, A.compute(m)], [m]))
    given = np.arange(6.0).reshape(2, 3).T
    before = given.copy()
    for found in execute([given]):
        assert found.flags.c_contiguous
        assert not np.shares_memory(found, given)
        found[:] = -1.0
    same(given, before)


def test_it_is_found_by_name() -> None:
    assert InterpreterBackend().name == "interpreter"
    found = A.run(A.map(lambda x: x + 1.0, A.use(np.zeros(2))), backend="interpreter")
    same(found, np.ones(2))
