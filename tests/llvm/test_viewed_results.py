"""Results whose memory arrays of other shapes have had: they are given as they are where nobody else has it, else copied."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.machine import buffers as machine
from tests import untyped

ROWS, COLUMNS = 300, 1001

Program = Callable[[Any], Any]  # Any: programs of many types


def flattened(xs: Any) -> Any:  # Any: see Program
    return A.flatten(A.scanl1(A.add, xs))


def viewed_before(xs: Any) -> Any:  # Any: see Program
    scanned = A.scanl1(A.add, xs)
    return scanned, A.sum(A.flatten(scanned))


@pytest.mark.parametrize("program", [flattened, viewed_before])
def test_a_result_that_nobody_else_has_is_not_copied(program: Program) -> None:
    run = untyped.runN(program)
    for _ in range(2):
        run(np.ones((ROWS, 5)))
    xs = np.ones((ROWS, COLUMNS))
    machine.buffers().clear()  # no block can be used again
    tracemalloc.start()
    try:
        run(xs)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert xs.nbytes < most < 1.5 * xs.nbytes


@pytest.mark.parametrize("columns", [3, COLUMNS])
@pytest.mark.parametrize("kind", [np.uint8, np.float64])
def test_results_share_no_memory(columns: int, kind: type[np.generic]) -> None:
    def program(xs: Any) -> Any:  # Any: see Program
        made = A.map(lambda x: x + 1, xs)
        return A.flatten(made), made, A.flatten(xs), A.flatten(made), xs

    run = untyped.runN(program)
    given = [np.ones((ROWS, columns), kind), np.ones((2 * ROWS, columns), kind)[::2]]
    given.append(np.ones((9 * ROWS, columns), kind)[ROWS : 2 * ROWS])
    given.append(untyped.runN(lambda xs: A.map(lambda x: x * 1, xs))(given[0]))
    for xs in given:
        for _ in range(3):
            results = run(xs)
            wanted = (xs + 1).ravel(), xs + 1, xs.ravel(), (xs + 1).ravel(), xs
            arrays = [xs, *results]
            for result, right in zip(results, wanted, strict=True):
                np.testing.assert_array_equal(result, right)
            assert not any(np.shares_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k])


def test_a_view_of_an_argument_that_nobody_else_has_is_a_copy() -> None:
    run = untyped.runN(lambda xs: A.flatten(xs))
    argument = np.ones((ROWS, COLUMNS), np.uint8)
    for _ in range(3):
        result = run(argument)
        argument[0, 0] = 7
        assert result[0] == 1
        argument[0, 0] = 1


def test_views_of_a_result_keep_its_memory() -> None:
    run = untyped.runN(flattened)
    xs = np.ones((ROWS, COLUMNS))
    part = run(xs)[5:10]
    later = [run(xs * 2) for _ in range(70)]  # more than blocks are listed
    assert part.tolist() == [6, 7, 8, 9, 10]
    assert len(later) == 70
