"""`run` and `runN`: what goes in, what comes out, and that sizes do not compile anything again."""

from __future__ import annotations

import threading
from typing import assert_type

import numpy as np
import pytest

import accel as A
from accel.errors import AccelIndexError, AccelShapeError, AccelTypeError, AccelValueError
from tests import untyped

BACKENDS = ["interpreter", "llvm", "opencl"]


def dotp(xs: A.Acc[A.Vector[np.float32]], ys: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.float32]]:
    return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n", [0, 1, 2, 1000, 10_000])
def test_dot_product(backend: str, n: int) -> None:
    x = np.arange(n, dtype=np.float32) % 7
    y = np.arange(n, dtype=np.float32) % 5
    result = untyped.run(dotp(A.use(x), A.use(y)), backend=backend)
    assert result.shape == ()
    assert result.dtype == np.float32
    assert result == np.float32(np.dot(x.astype(np.float64), y))  # exact: small integers


@pytest.mark.parametrize("backend", BACKENDS)
def test_nested_tuples_come_back_as_nested_tuples(backend: str) -> None:
    xs = A.use(np.arange(5))
    pairs = A.map(lambda x: A.lift(x, x + 1), xs)
    whole, (ones, (lefts, rights)) = untyped.run((xs, (A.map(lambda x: x * 0 + 1, xs), pairs)), backend=backend)
    assert whole.tolist() == [0, 1, 2, 3, 4]
    assert ones.tolist() == [1] * 5
    assert lefts.tolist() == [0, 1, 2, 3, 4]
    assert rights.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_are_fresh_and_contiguous(backend: str) -> None:
    x = np.arange(12.0).reshape(3, 4)
    doubled = A.map(lambda e: e * 2, A.use(x))
    same, twice, again = untyped.run((A.use(x), doubled, A.use(x)), backend=backend)
    same[:] = -1
    again[:] = -2
    assert x[0, 1] == 1
    assert same[0, 0] == -1
    assert all(result.flags.c_contiguous and result.flags.writeable for result in (same, twice, again))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::-1], lambda x: x.T, lambda x: x[::2, 1::3], lambda x: x[:, :0], lambda x: np.broadcast_to(x[0], x.shape),
        lambda x: x.astype(">f8"), np.asfortranarray,
    ],
    ids=["reversed", "transposed", "strided", "empty", "broadcast", "big endian", "fortran"],
)  # fmt: skip
def test_any_strides_and_byte_order_go_in(backend: str, view: object) -> None:
    assert callable(view)
    x = view(np.arange(60.0).reshape(6, 10))
    x.flags.writeable = False
    added, summed = A.map(lambda e: e + 1, A.use(x)), A.fold(A.add, 0, A.use(x))
    result, sums = untyped.run((added, summed), backend=backend)
    np.testing.assert_array_equal(result, x + 1)
    np.testing.assert_array_equal(sums, x.sum(axis=-1))


@pytest.mark.parametrize("backend", BACKENDS)
def test_runn_serves_all_sizes(backend: str) -> None:
    fast = A.runN(dotp, backend=backend)
    for n in (4, 0, 1, 100, 4097):
        x = np.ones(n, np.float32)
        assert fast(x, x) == n


def test_runn_is_a_decorator() -> None:
    @A.runN
    def twice(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
        """Two of each."""
        return A.map(lambda x: x + x, xs)

    assert twice(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert twice.__doc__ == "Two of each."


def test_runn_is_a_decorator_with_settings() -> None:
    @A.runN(backend="interpreter", strategy="none")
    def thrice(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
        return A.map(lambda x: x * 3, xs)

    assert_type(thrice(np.array([1.0])), np.ndarray[tuple[int], np.dtype[np.float64]])
    assert thrice(np.array([1.0, 2.0])).tolist() == [3.0, 6.0]
    with pytest.raises(AccelValueError, match="cuda"):
        A.runN(backend="cuda")(dotp)(np.ones(2, np.float32), np.ones(2, np.float32))


def test_of_settings_of_runn_that_are_given_twice_the_later_ones_count() -> None:
    fast = A.runN(backend="opencl:99", strategy="none")(backend="interpreter")
    result = fast(dotp)(np.ones(2, np.float32), np.ones(2, np.float32))
    assert_type(result, np.ndarray[tuple[()], np.dtype[np.float32]])
    assert result == 2.0
    with pytest.raises(AccelValueError, match="cuda"):
        fast(dotp, backend="cuda")


def test_runn_compiles_again_for_another_dtype_unless_annotated() -> None:
    free = untyped.runN(lambda xs: A.map(lambda x: x + 1, xs))
    assert free(np.arange(3)).dtype == np.int64
    assert free(np.arange(3, dtype=np.uint8)).dtype == np.uint8
    assert free(np.ones((2, 2))).shape == (2, 2)
    fixed = A.runN(dotp)
    with pytest.raises(AccelTypeError, match="argument 1 of dotp has type f64"):
        fixed(np.ones(3, np.float32), np.ones(3))  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize("backend", BACKENDS)
def test_shapes_that_do_not_fit_name_both_lines(backend: str) -> None:
    fast = A.runN(dotp, backend=backend)
    with pytest.raises(AccelShapeError) as caught:
        fast(np.ones(3, np.float32), np.ones(4, np.float32))
    assert "zipWith needs arrays of equal shape, got (3,) and (4,)" in str(caught.value)
    assert "A.zipWith(A.mul, xs, ys)" in str(caught.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_index_out_of_bounds_names_the_line_and_the_index(backend: str) -> None:
    xs = A.use(np.arange(3.0))
    where = A.use(np.array([0, 1, 10, 2, 99]))
    with pytest.raises(AccelIndexError) as caught:
        A.run(A.map(lambda i: xs[i], where), backend=backend)
    assert "index (10,) is out of bounds for an array of shape (3,)" in str(caught.value)
    assert "A.run(A.map(lambda i: xs[i], where), backend=backend)" in str(caught.value)
    with pytest.raises(AccelIndexError) as caught:
        untyped.run(A.gather(where, xs), backend=backend)
    assert "index (10,) is out of bounds for an array of shape (3,)" in str(caught.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_fold1_of_nothing(backend: str) -> None:
    sums = untyped.runN(lambda xs: A.fold1(A.add, xs), backend=backend)
    assert sums(np.ones((2, 3))).tolist() == [3.0, 3.0]
    assert sums(np.ones((0, 3))).tolist() == []
    assert sums(np.ones((0, 0))).tolist() == []
    with pytest.raises(AccelValueError, match="fold1 of an empty row"):
        sums(np.ones((2, 0)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_after_an_error_the_next_call_is_right(backend: str) -> None:
    fast = untyped.runN(lambda xs, i: A.gather(i, xs), backend=backend)
    with pytest.raises(AccelIndexError):
        fast(np.arange(3), np.array([5]))
    assert fast(np.arange(3), np.array([2, 0])).tolist() == [2, 0]


def test_many_threads_may_call_one_function() -> None:
    fast = A.runN(dotp)
    wrong: list[int] = []

    def work(seed: int) -> None:
        for n in range(seed, 5000, 97):
            x = np.ones(n, np.float32)
            if fast(x, x) != n:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_control_flow(backend: str) -> None:
    xs = A.use(np.arange(6))
    doubled = A.awhile(lambda s: A.map(lambda t: t < 100, A.fold(A.add, 0, s)), lambda s: A.map(lambda x: x * 2, s), xs)
    chosen = A.acond(A.the(A.fold(A.add, 0, xs)) > 10, A.take(2, doubled), doubled)
    assert untyped.run((doubled, chosen), backend=backend)[0].tolist() == [0, 8, 16, 24, 32, 40]
    assert untyped.run(chosen, backend=backend).tolist() == [0, 8]
