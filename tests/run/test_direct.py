"""`runN` functions called again: with other types in turn, with what they do not take, under other settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.direct import _Compared
from accel.execution import RunN

XS = np.random.default_rng(7).random(1000)
YS = np.random.default_rng(8).random(1000)
MATRIX = XS.reshape(20, 50)


def dot(xs: A.Acc[A.Vector[np.float64]], ys: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Scalar[np.float64]]:
    return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))


def test_types_in_turn() -> None:
    """More combinations of types than have direct ways, each several times."""
    run = A.runN(lambda xs: A.sum(xs))
    kinds = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64]
    for _ in range(5):
        for kind in kinds:
            array = np.arange(10).astype(kind)
            assert run(array) == 45
            assert run(array).dtype == kind
            assert run(np.arange(6).reshape(2, 3).astype(kind)).tolist() == [3, 12]


def test_wrong_arguments_after_right_ones() -> None:
    run = A.runN(dot)
    for _ in range(3):
        run(XS, YS)
    for wrong in ((XS,), (XS, YS, XS), (XS, YS.astype(np.float32)), (XS, MATRIX), (XS, 3.0), (XS, "text"), (XS, None)):
        with pytest.raises(A.AccelError, match=r"test_direct\.py"):
            run(*wrong)
    assert run(XS, list_like(YS)) == run(XS, YS)


def list_like(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array of a class of its own."""

    class Own(np.ndarray[Any, Any]):
        pass

    return array.view(Own)


def test_settings_of_the_moment_count() -> None:
    run = A.runN(dot)
    for _ in range(3):
        run(XS, YS)
    with A.using(backend="interpreter"):
        assert run(XS, YS).shape == ()
    with A.using(checks="all"), pytest.raises(A.AccelNaNError):
        run(XS, np.array([np.inf, -np.inf] * 500))
    for _ in range(3):
        assert run(XS, YS) == run(XS, YS)


def test_other_backends_have_a_way_in_python() -> None:
    run = A.runN(dot, backend="interpreter")
    results = {run(XS[:9], YS[:9]).tobytes() for _ in range(4)}
    assert len(results) == 1
    held: object = run  # type checkers know it by another class
    assert isinstance(held, RunN)
    assert isinstance(held._direct, _Compared)


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_what_is_compared(backend: str) -> None:
    """A function of any dtype and rank, called with another one after it has a direct way."""
    run = A.runN(lambda xs: A.map(lambda x: x + x, xs), backend=backend)
    small = XS[:20]
    for _ in range(3):
        assert run(small).tolist() == (small + small).tolist()
    for other in (small.astype(np.float32), small.astype(np.int64), small.reshape(4, 5), small[3]):
        for _ in range(3):
            found = run(np.asarray(other))
            assert found.dtype == other.dtype
            assert found.tolist() == (other + other).tolist()
