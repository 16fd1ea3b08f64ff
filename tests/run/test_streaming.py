"""`run1`, `runAsync` and `stream` give what `run` and `runN` give."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped

XS = np.arange(1000)


def total(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Scalar[np.int64]]:
    return A.sum(A.map(lambda x: x * 2, xs))


def test_run1_is_run_n_of_one_array() -> None:
    assert A.run1(total)(XS) == 999_000

    @A.run1(backend="interpreter")
    def halves(xs: A.Acc[A.Vector[np.int64]]) -> tuple[A.Acc[A.Vector[np.int64]], A.Acc[A.Scalar[np.int64]]]:
        return A.map(lambda x: x // 2, xs), A.sum(xs)

    found, count = halves(XS[:3])
    np.testing.assert_array_equal(found, [0, 0, 1])
    assert count == 3
    run1: Callable[..., object] = A.run1
    with pytest.raises(A.AccelTypeError, match="run1 takes a function of one array"):
        run1(lambda xs, ys: xs)
    with pytest.raises(A.AccelTypeError, match="runN takes a function over Accs"):
        run1(A.use(XS))


def test_a_future_has_what_run_gives() -> None:
    xs = A.use(XS)
    futures: list[Future[Any]] = [A.runAsync(A.map(lambda x, k=k: x + k, xs)) for k in range(8)]  # type: ignore[misc]  # bound now
    assert not wait(futures, timeout=60).not_done
    for k, future in enumerate(futures):
        np.testing.assert_array_equal(future.result(), XS + k)
    first, (second, third) = A.runAsync((total(xs), (xs, A.reverse(xs))), backend="interpreter").result(timeout=60)
    assert first == 999_000
    np.testing.assert_array_equal(second, XS)
    np.testing.assert_array_equal(third, XS[::-1])


def test_a_future_does_not_wait_for_its_program() -> None:
    """Its thread ends with it."""
    before = threading.active_count()
    future = A.runAsync(A.iterate(300, lambda x: A.map(lambda v: v + 1, x), A.use(XS)), backend="interpreter")
    assert isinstance(future, Future)
    assert not future.cancel()
    np.testing.assert_array_equal(future.result(timeout=60), XS + 300)
    assert threading.active_count() <= before + 1


def test_a_future_has_the_settings_of_its_call() -> None:
    nan = A.map(A.sqrt, A.use(np.array([-1.0])))
    with A.using(checks="all"):
        future = A.runAsync(nan)
    with pytest.raises(A.AccelNaNError, match="map makes a NaN"):
        future.result(timeout=60)
    assert np.isnan(A.runAsync(nan).result(timeout=60)).all()


def test_a_future_has_the_errors_of_its_program() -> None:
    xs = A.use(XS)
    future = A.runAsync(A.map(lambda i: xs[i + 1], xs))  # here
    with pytest.raises(A.AccelIndexError, match=r"index \(1000,\) is out of bounds(.|\n)*# here"):
        future.result(timeout=60)
    run_async: Callable[..., object] = A.runAsync
    with pytest.raises(A.AccelTypeError, match="what is run must be an Acc"):
        run_async(XS)
    with pytest.raises(A.AccelValueError, match="nowhere"):
        run_async(xs, backend="nowhere")


def test_a_stream_reads_one_array_at_a_time() -> None:
    read: list[int] = []

    def numbers() -> Iterator[np.ndarray[tuple[int], np.dtype[np.int64]]]:
        for n in range(5):
            read.append(n)
            yield np.arange(n)

    sums = A.stream(total, numbers())
    assert read == []
    assert next(sums) == 0
    assert read == [0]
    assert [int(found) for found in sums] == [0, 2, 6, 12]


def test_a_stream_of_a_compiled_function_and_of_other_types() -> None:
    def twice(xs: A.Acc[A.Array[Any, Any]]) -> A.Acc[A.Array[Any, Any]]:
        return A.map(lambda x: x + x, xs)

    compiled = untyped.runN(twice)
    arrays: list[Any] = [np.ones(3, np.float32), np.ones((2, 2), np.int8), np.float64(4), np.zeros((0,))]
    for given, found in zip(arrays, A.stream(compiled, arrays), strict=True):
        np.testing.assert_array_equal(found, given + given)
        assert found.dtype == given.dtype


def test_a_stream_refuses_other_things_at_once() -> None:
    stream: Callable[..., object] = A.stream
    with pytest.raises(A.AccelTypeError, match="stream takes an iterable of arrays, got the Python int 3"):
        stream(total, 3)
    with pytest.raises(A.AccelTypeError, match="stream takes a function of one array"):
        stream(lambda xs, ys: xs, [XS])
    with pytest.raises(A.AccelTypeError, match="runN takes a function over Accs"):
        stream(XS, [XS])
