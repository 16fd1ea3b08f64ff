"""Errors of running programs, whole: what happened, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F64, I64
from accel.errors import AccelError, AccelIndexError, AccelShapeError, AccelValueError
from accel.labelled.meaning.interpret import interpret
from tests.labelled.programs import AnyAcc, parameter, program, run, use

Golden = Callable[[str], None]

X = np.arange(3)


def message(kind: type[AccelError], action: Callable[[], object]) -> str:
    """The error's text, with this file's directory left out and lines counted from the test's."""
    with pytest.raises(kind) as caught:
        action()
    text = str(caught.value).replace(__file__.removesuffix("test_faults.py"), "")
    start = min(int(part.split(" ")[0]) for part in text.split("test_faults.py:")[1:])
    for line in sorted({int(part.split(" ")[0]) for part in text.split("test_faults.py:")[1:]}, reverse=True):
        text = text.replace(f"test_faults.py:{line} ", f"test_faults.py:+{line - start} ")
    return text


def test_load_out_of_bounds(golden: Golden) -> None:
    xs = use(X)
    golden(message(AccelIndexError, lambda: run(A.map(lambda i: xs[i + 1], xs))))


def test_the_lowest_index_is_named(golden: Golden) -> None:
    table, at = use(X), use(np.array([0, 7, -1, 9]))
    golden(message(AccelIndexError, lambda: run(A.gather(at, table))))


def test_backpermute_out_of_bounds(golden: Golden) -> None:
    m = use(np.zeros((2, 3)))
    golden(message(AccelIndexError, lambda: run(A.backpermute((4,), lambda i: A.index(A.unindex(i)[0], 1), m))))


def test_scatter_out_of_bounds(golden: Golden) -> None:
    pairs = A.zip(use(np.array([0, 5])), use(np.array([1.0, 2.0])))
    golden(message(AccelIndexError, lambda: run(A.scatterWith(A.add, A.fill((3,), 0.0), pairs))))


def test_permute_out_of_bounds(golden: Golden) -> None:
    at = use(np.array([0, -2]))
    ones = A.fill((2,), 1)
    golden(
        message(AccelIndexError, lambda: run(A.permute(A.add, A.fill((3,), 0), lambda i: A.just(A.index(at[i])), ones)))
    )


def test_fold1_of_empty_rows(golden: Golden) -> None:
    golden(message(AccelValueError, lambda: run(A.fold1(A.add, use(np.zeros((2, 0)))))))


def test_fold1_of_no_rows_is_empty() -> None:
    assert run(A.fold1(A.add, use(np.zeros((0, 0))))).shape == (0,)
    assert run(A.fold1(A.add, use(np.zeros((0, 3))))).shape == (0,)


def test_arguments_that_do_not_fit(golden: Golden) -> None:
    def both(of: tuple[AnyAcc, AnyAcc]) -> AnyAcc:
        doubled = A.map(lambda x: x * 2.0, of[0])
        return A.zipWith(A.add, doubled, A.scanl1(A.add, of[1]))

    xs, ys = parameter(1, F64), parameter(1, F64)
    once = program([both((xs, ys))], [xs, ys])
    golden(message(AccelShapeError, lambda: interpret(once, [np.zeros(3), np.zeros(4)])))


def test_the_first_requirement_that_fails_is_named() -> None:
    xs, ys, zs = (parameter(1, F64) for _ in range(3))
    once = program([A.zipWith(A.add, xs, ys), A.zipWith(A.add, A.scanl(A.add, 0, ys), zs)], [xs, ys, zs])
    assert interpret(once, [np.zeros(2), np.zeros(2), np.zeros(3)])[1].shape == (3,)
    with pytest.raises(AccelShapeError, match=r"got \(2,\) and \(9,\)"):
        interpret(once, [np.zeros(2), np.zeros(9), np.zeros(3)])
    with pytest.raises(AccelShapeError, match=r"got \(3,\) and \(2,\)"):
        interpret(once, [np.zeros(2), np.zeros(2), np.zeros(2)])


def test_a_requirement_found_out_at_run_time(golden: Golden) -> None:
    kept = A.filter(lambda x: x > 0, use(X))[0]
    golden(message(AccelShapeError, lambda: run(A.zipWith(A.add, kept, use(X)))))


def test_shapes_that_can_never_fit(golden: Golden) -> None:
    def build() -> object:
        xs = parameter(1, I64)
        longer = A.scanl(A.add, 0, xs)
        return program([A.zipWith(A.add, xs, longer)], [xs])

    golden(message(AccelShapeError, build))


def test_negative_extent(golden: Golden) -> None:
    n = A.the(use(np.array(-2)))
    golden(message(AccelShapeError, lambda: run(A.fill((n,), 1.0))))


def test_reshape_to_another_size(golden: Golden) -> None:
    n = A.the(use(np.array(2)))
    golden(message(AccelShapeError, lambda: run(A.reshape((n, n), use(X)))))


def test_too_large(golden: Golden) -> None:
    n = A.the(use(np.array(2**40)))
    golden(message(AccelShapeError, lambda: run(A.fill((n, n), 1.0))))


def test_too_large_for_numpy_though_empty() -> None:
    """NumPy cannot hold such a shape."""
    n = A.the(use(np.array(2**40)))
    with pytest.raises(AccelShapeError, match="too large for the address space"):
        run(A.fill((n, 0, n), 1.0))


def test_zero_extents_are_legal_beside_large_ones() -> None:
    n = A.the(use(np.array(2**40)))
    assert run(A.fill((n, 0), 1.0)).shape == (2**40, 0)
