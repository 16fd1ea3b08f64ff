"""`f(x, out=r)`: results in arrays of the caller's, or an error and nothing written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]
XS = np.arange(6, dtype=np.float32)


def doubled(xs: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Vector[np.float32]]:
    return A.map(lambda x: x * 2, xs)


def several(xs: A.Acc[A.Vector[np.float32]]) -> Any:
    return doubled(xs), (A.sum(xs), A.map(lambda x: A.lift(x, x > 2), xs))


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_result(backend: Any) -> None:
    function, room = A.runN(doubled, backend=backend), np.full(6, np.nan, np.float32)
    for _ in range(3):
        room[:] = np.nan
        assert function(XS, out=room) is room
        assert np.array_equal(room, XS * 2)
    assert np.array_equal(function(XS), XS * 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_results_nested_as_they_are(backend: Any) -> None:
    rooms = np.empty(6, np.float32), (np.empty((), np.float32), (np.empty(6, np.float32), np.empty(6, np.bool)))
    function: Any = A.runN(several, backend=backend)
    assert function(XS, out=rooms) is rooms
    twice, (total, (same, large)) = rooms
    assert np.array_equal(twice, XS * 2)
    assert total == XS.sum()
    assert np.array_equal(same, XS)
    assert np.array_equal(large, XS > 2)


@pytest.mark.parametrize("step", [-1, 2, 3])
def test_any_strides(step: int) -> None:
    memory = np.full(40, np.nan, np.float32)
    room = memory[::step][:6]
    A.runN(doubled)(XS, out=room)
    assert np.array_equal(room, XS * 2)
    assert np.isnan(memory).sum() == 34


def test_records_and_complex_numbers() -> None:
    points = np.array([(1, 2.5), (3, 4.5)], [("n", np.int64), ("x", np.float32)])
    room = np.zeros_like(points)
    A.runN(lambda ps: A.reverse(ps))(points, out=room)
    assert np.array_equal(room, points[::-1])


READ_ONLY = np.empty(6, np.float32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.empty(6), A.AccelTypeError, "out has elements of type float64, the result of type float32"),
        (np.empty(5, np.float32), A.AccelShapeError, r"out has shape \(5,\), the result \(6,\)"),
        (np.empty((6, 1), np.float32), A.AccelShapeError, r"out has shape \(6, 1\), the result \(6,\)"),
        (READ_ONLY, A.AccelValueError, "out is read-only"),
        (XS, A.AccelValueError, "out and argument 0 share memory"),
        (XS[::-1], A.AccelValueError, "out and argument 0 share memory"),
        ([0.0] * 6, A.AccelTypeError, "out must be a NumPy array, or a tuple of them for several results, got"),
        ((np.empty(6, np.float32),), A.AccelTypeError, "out must be one array, as the result is, got"),
    ],
)
def test_what_cannot_be_written_is_said_and_nothing_is_written(
    out: Any, error: type[A.AccelError], message: str
) -> None:
    before = np.array(out, copy=True)
    with pytest.raises(error, match=message) as raised:
        A.runN(doubled)(XS, out=out)
    assert "test_outputs.py" in str(raised.value)
    assert np.array(out).tobytes() == before.tobytes()


def test_nothing_is_written_if_the_last_of_several_is_wrong_or_the_program_fails() -> None:
    room = np.full(6, -1, np.float32)
    function: Any = A.runN(several)
    for wrong in (np.empty(6, np.float32), (np.empty(1, np.float32), (np.empty(6, np.float32), np.empty(6, np.bool)))):
        with pytest.raises(A.AccelError):
            function(XS, out=(room, wrong))
    with pytest.raises(A.AccelError, match=r"out\[0\] and out\[1\]\[0\] share memory"):
        function(XS, out=(room, (room[:1].reshape(()), (np.empty(6, np.float32), np.empty(6, np.bool)))))
    with pytest.raises(A.AccelIndexError):
        A.runN(lambda xs: A.map(lambda x: xs[A.truncate(x) + 1], xs))(XS, out=room)
    assert (room == -1).all()


def test_other_names_are_refused() -> None:
    function: Any = A.runN(doubled)
    with pytest.raises(A.AccelTypeError, match="by position; by name it takes `out` and `donate`, or `keep` alone"):
        function(XS, into=np.empty(6, np.float32))
