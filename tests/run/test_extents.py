"""Extents that no memory has room for: arrays without elements, arrays that repeat one, sizes that are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import accel as A
from accel.ast.handles.extents import LARGEST_EXTENT
from tests import untyped

AnyAcc = A.Acc[Any]  # programs of many types
Host = np.ndarray[Any, np.dtype[Any]]

BACKENDS = ("interpreter", "llvm", "opencl")
TOO_LARGE = [LARGEST_EXTENT + 1, 2**48, 2**58, 2**62 - 3, 2**62 - 10**8, 2**63 - 1]
XS = np.arange(10)


def hollow(extent: int) -> Host:
    return np.empty((0, extent), np.int8)


def repeated(extent: int) -> Host:
    return np.broadcast_to(np.zeros((1, 1), np.int8), (1, extent))


def strided(extent: int) -> Host:
    return as_strided(np.zeros(1, np.int8), (1, extent), (1, 0))


ARRAYS = (hollow, repeated, strided)


def clamped(i: A.Exp[np.int64], more: A.Exp[np.int64], xs: AnyAcc) -> A.Exp[np.int64]:
    """An index that is in bounds unless the sum wraps around."""
    return A.min(i + more + more + more, A.length(xs) - 1)


def load(xs: AnyAcc, more: A.Exp[np.int64]) -> AnyAcc:
    return A.imap(lambda ix, _: xs[clamped(A.unindex(ix)[0], more, xs)], xs)


def move(xs: AnyAcc, more: A.Exp[np.int64]) -> AnyAcc:
    return A.backpermute(A.index(A.length(xs)), lambda ix: A.index(clamped(A.unindex(ix)[0], more, xs)), xs)


def scatter(xs: AnyAcc, more: A.Exp[np.int64]) -> AnyAcc:
    return A.permute(A.add, xs, lambda ix: A.just(A.index(clamped(A.unindex(ix)[0], more, xs))), xs)


def take(xs: AnyAcc, more: A.Exp[np.int64]) -> AnyAcc:
    return A.take(A.length(xs) + more, xs)


USES = (load, move, scatter, take)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("extent", TOO_LARGE)
def test_an_argument_with_too_large_an_extent(extent: int, array: Callable[[int], Host], backend: str) -> None:
    for use in USES:
        with pytest.raises(
            A.AccelShapeError, match=rf"an extent is too large: \(\d, {extent}\); the largest is 2\*\*47"
        ):
            untyped.runN(lambda xs, h, use=use: use(xs, A.shape(h)[1]), backend=backend)(XS, array(extent))
        with pytest.raises(A.AccelShapeError, match="an extent is too large"):
            untyped.run(use(A.use(XS), A.shape(A.use(array(extent)))[1]), backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_later_call_with_too_large_an_extent(backend: str) -> None:
    """It does not go the way of the first call, which knows nothing of the program yet. The error is at its line."""
    run = untyped.runN(lambda xs, h: load(xs, A.shape(h)[1]), backend=backend)
    assert run(XS, hollow(0)).tolist() == XS.tolist()
    with pytest.raises(A.AccelShapeError, match="an extent is too large") as caught:
        run(XS, hollow(2**62 - 3))
    assert caught.value.where is not None
    assert caught.value.where.call() == "run(XS, hollow(2**62 - 3))"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("extent", [2**31, 2**40, 2**46, LARGEST_EXTENT])
def test_the_largest_extents_are_right(extent: int, array: Callable[[int], Host], backend: str) -> None:
    def run(use: Callable[[AnyAcc, A.Exp[np.int64]], AnyAcc]) -> Host:
        found: Host = untyped.runN(lambda xs, h: use(xs, A.shape(h)[1]), backend=backend)(XS, array(extent))
        return found

    assert run(load).tolist() == run(move).tolist() == [9] * 10
    assert run(take).tolist() == XS.tolist()
    scattered = XS.copy()
    scattered[9] += XS.sum()
    assert run(scatter).tolist() == scattered.tolist()


def of_a_dead_array(n: A.Exp[np.int64]) -> A.Exp[np.int64]:
    return A.length(A.fill((n,), A.constant(np.int8(0))))


def of_an_empty_array(n: A.Exp[np.int64]) -> A.Exp[np.int64]:
    return A.shape(A.fill((0, n), A.constant(np.int8(0))))[1]


def of_a_fused_array(n: A.Exp[np.int64]) -> A.Exp[np.int64]:
    return A.length(A.map(lambda i: i + 1, A.generate(A.index(n), lambda ix: A.unindex(ix)[0])))


def of_a_replicated_array(n: A.Exp[np.int64]) -> A.Exp[np.int64]:
    return A.shape(A.replicate((n, A.All), A.use(XS)))[0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [of_a_dead_array, of_an_empty_array, of_a_fused_array, of_a_replicated_array])
@pytest.mark.parametrize("extent", TOO_LARGE)
def test_a_computed_extent_that_is_too_large(
    extent: int, size: Callable[[A.Exp[np.int64]], A.Exp[np.int64]], backend: str
) -> None:
    for use in USES:
        run = untyped.runN(lambda xs, n, use=use: use(xs, size(A.the(n))), backend=backend)
        assert run(XS, np.array(0)).shape == (10,)
        with pytest.raises(A.AccelShapeError, match=rf"an extent is too large: {extent}; the largest is 2\*\*47"):
            run(XS, np.array(extent))


def test_a_written_extent_that_is_too_large() -> None:
    for shape, text in (((2**47 + 1,), "140737488355329"), ((3, 2**62), r"\(3, 4611686018427387904\)")):
        with pytest.raises(A.AccelShapeError, match=f"an extent is too large: {text}"):
            A.fill(shape, 1.0)
    with pytest.raises(A.AccelShapeError, match="an extent is too large: 4611686018427387904"):
        untyped.run(A.fill((A.constant(2**61) * 2,), 1.0))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sum_with_a_constant_wraps_as_numbers_do(backend: str) -> None:
    """`length + (2**63 - 1)` is negative, so nothing is taken: an extent with an offset knows how far it may go."""
    for more, count in ((2**63 - 1, 0), (2**62, 10), (2**21, 10)):
        assert len(untyped.run(A.take(A.length(A.use(XS)) + more, A.use(XS)), backend=backend)) == count
    grown = A.length(A.use(XS)) + (2**63 - 1)
    assert untyped.run(A.map(lambda x: A.cond(grown > 0, x, -x), A.use(XS)), backend=backend).tolist() == (-XS).tolist()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("turns", [0, 1])
def test_a_size_that_a_loop_does_not_change_is_computed_only_if_the_loop_runs(turns: int, backend: str) -> None:
    """The sum of two extents may be none."""

    def program(xs: AnyAcc, h: AnyAcc, n: AnyAcc) -> AnyAcc:
        more = A.length(A.fill((A.shape(h)[1] + A.shape(h)[1],), A.constant(np.int8(0))))
        longer = A.length(A.fill((more * 2,), A.constant(np.int8(0))))
        again = A.awhile(
            lambda state: A.map(lambda k: k > 0, state[1]),
            lambda state: (A.map(lambda x: x + longer, state[0]), A.map(lambda k: k - 1, state[1])),
            (xs, n),
        )
        return again[0]

    run = untyped.runN(program, backend=backend)
    assert run(XS, hollow(5), np.array(turns)).tolist() == (XS + 20 * turns).tolist()
    if turns:
        with pytest.raises(A.AccelShapeError, match="an extent is too large: 281474976710656"):
            run(XS, hollow(LARGEST_EXTENT), np.array(turns))
    else:
        assert run(XS, hollow(LARGEST_EXTENT), np.array(turns)).tolist() == XS.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rows", [2**31, 2**46])
def test_many_rows_without_elements_take_no_time(rows: int, backend: str) -> None:
    empty = np.empty((rows, 0), np.int8)
    programs: list[Callable[[AnyAcc], AnyAcc]] = [
        lambda xs: A.scanl1(A.add, xs),
        lambda xs: A.scanr1(A.max, A.map(lambda x: -x, xs)),
        lambda xs: A.map(lambda x: x + 1, xs),
        lambda xs: A.reverse(xs),
    ]
    for program in programs:
        assert untyped.run(program(A.use(empty)), backend=backend).shape == (rows, 0)
    assert untyped.run(A.foldAll(A.add, 3, A.use(empty)), backend=backend) == 3
