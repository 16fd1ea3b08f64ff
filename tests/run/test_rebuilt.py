"""Programs that are built again: found by their structure, with their own arrays and their own lines in errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel import execution
from tests import untyped

RANDOM = np.random.default_rng(3)


def dot(xs: np.ndarray[Any, Any], ys: np.ndarray[Any, Any]) -> A.Acc[A.Scalar[np.float64]]:
    return A.fold(A.add, 0, A.zipWith(A.mul, A.use(xs), A.use(ys)))


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_its_own_arrays_count(backend: str) -> None:
    for size in (0, 1, 5, 100, 5, 0):
        xs, ys = RANDOM.integers(0, 9, size).astype(np.float64), RANDOM.integers(0, 9, size).astype(np.float64)
        for _ in range(3):
            assert untyped.run(dot(xs, ys), backend=backend) == float(xs @ ys)
            assert untyped.run(dot(ys, ys), backend=backend) == float(ys @ ys)


def test_arrays_in_any_order() -> None:
    """Which array is whose does not depend on the order in which the program takes them."""
    arrays = [np.full(4, float(number)) for number in range(5)]

    def program(order: list[int]) -> Any:
        a, b, c, d, e = (A.use(arrays[number]) for number in order)
        first = A.zipWith(A.sub, c, A.zipWith(A.mul, a, e))
        return A.zipWith(A.sub, first, A.gather(A.map(lambda x: A.truncate(x), A.fill((4,), A.constant(1.0))), d)), b, c

    for _ in range(3):
        for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 2, 1, 0, 0], [1, 1, 1, 1, 1]):
            a, b, c, d, e = (float(number) for number in order)
            first, second, third = untyped.run(program(order))
            assert first.tolist() == [c - a * e - d] * 4
            assert (second.tolist(), third.tolist()) == ([b] * 4, [c] * 4)


def test_numbers_that_are_equal_but_not_the_same() -> None:
    xs = np.array([-0.0])
    for _ in range(3):
        kept = A.map(lambda x: x + -0.0, A.use(xs))
        lost = A.map(lambda x: x + 0.0, A.use(xs))
        unknown = A.map(lambda x: x + np.nan, A.use(xs))
        assert np.signbit(untyped.run(kept)[0])
        assert not np.signbit(untyped.run(lost)[0])
        assert np.isnan(untyped.run(unknown)[0])


def test_errors_name_the_lines_of_the_program_that_runs() -> None:
    table = np.arange(3.0)
    lines = set()
    for _ in range(3):
        with pytest.raises(A.AccelIndexError) as first:
            untyped.run(A.gather(A.use(np.array([5])), A.use(table)))  # one line
        with pytest.raises(A.AccelIndexError) as second:
            untyped.run(A.gather(A.use(np.array([6])), A.use(table)))  # another line
        assert "(5,)" in str(first.value)
        assert "(6,)" in str(second.value)
        assert "# one line" in str(first.value)
        assert "# another line" in str(second.value)
        lines |= {str(first.value.where), str(second.value.where)}
    assert len(lines) == 2


def test_settings_count() -> None:
    xs = np.array([np.inf, -np.inf])
    for _ in range(3):
        assert np.isnan(untyped.run(A.sum(A.use(xs))))
        with pytest.raises(A.AccelNaNError):
            untyped.run(A.sum(A.use(xs)), checks="all")
        assert np.isnan(untyped.run(A.sum(A.use(xs)), backend="interpreter"))
        assert np.isnan(untyped.run(A.sum(A.use(xs)), sizes="actual"))


def test_no_stage_sees_what_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    xs = RANDOM.random(10)
    untyped.run(dot(xs, xs))

    def build(*arguments: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(execution, "_built", build)
    assert untyped.run(dot(xs, xs)) == pytest.approx(float(xs @ xs))
    with pytest.raises(AssertionError, match="built again"):
        untyped.run(A.map(lambda x: x * 3.25 + 1.5, A.use(xs)))


def test_what_takes_too_large_shapes_or_no_elements() -> None:
    for shape in ((3, 4), (0, 4), (3, 0), (1, 1)):
        matrix = RANDOM.random(shape)
        for _ in range(2):
            assert untyped.run(A.transpose(A.use(matrix))).tolist() == matrix.T.tolist()


@pytest.mark.solver
def test_what_is_explained_again_needs_no_stage() -> None:
    """The same program at the same place; another place, other sizes and other settings are explained anew."""

    def program(count: int) -> Any:
        return A.sum(A.map(lambda x: x * 2, A.use(np.ones(count))))

    def other(count: int) -> Any:
        return A.sum(A.map(lambda x: x * 2, A.use(np.ones(count))))

    first = A.explain(program(5))
    assert A.explain(program(5)) is first
    assert A.explain(program(6)).sizes == {"n0": 6}
    assert A.explain(program(5), strategy="none").loops == 2
    assert str(A.explain(other(5))) != str(first)  # it shows other lines
