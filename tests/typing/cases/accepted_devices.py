"""Arrays on a device, whose types are inferred from those of the arrays that they come from."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import accel as A
from accel import DeviceArray

f4, f8, i8 = np.float32, np.float64, np.int64
V4 = np.ndarray[tuple[int], np.dtype[np.float32]]


def total(xs: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.float32]]:
    return A.sum(xs)


def scaled(factor: A.Acc[A.Scalar[np.float32]], xs: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Vector[np.float32]]:
    return A.map(lambda x: x * A.the(factor), xs)


def several(
    xs: A.Acc[A.Vector[np.float32]], ys: A.Acc[A.Vector[np.float32]]
) -> tuple[A.Acc[A.Scalar[np.float32]], tuple[A.Acc[A.Vector[np.float32]], A.Acc[A.Vector[np.float32]]]]:
    return A.sum(xs), (xs, ys)


def placing(x: V4, shapeless: npt.NDArray[np.float32]) -> None:
    put = A.put(x, backend="llvm")
    assert_type(put, DeviceArray[tuple[int], np.float32])
    assert_type(put.get(), V4)
    assert_type(put.shape, tuple[int])
    assert_type(np.asarray(put).dtype, np.dtype[np.float32])
    assert_type(A.runN(total)(put), DeviceArray[tuple[()], np.float32])
    assert_type(A.runN(total)(x), np.ndarray[tuple[()], np.dtype[np.float32]])
    assert_type(A.runN(total)(shapeless), np.ndarray[tuple[()], np.dtype[np.float32]])
    assert_type(A.runN(total)(x, keep=True), DeviceArray[tuple[()], np.float32])
    assert_type(A.run1(total)(put), DeviceArray[tuple[()], np.float32])


def mixing(x: V4) -> None:
    put, of = A.put(x), A.runN(scaled, backend="interpreter")
    assert_type(of(np.float32(2), put), DeviceArray[tuple[int], np.float32])
    assert_type(of(A.runN(total)(put), x), DeviceArray[tuple[int], np.float32])
    assert_type(of(A.runN(total)(put), put), DeviceArray[tuple[int], np.float32])
    assert_type(of(np.float32(2), x), V4)
    both = A.runN(several)(put, x)
    assert_type(both[1][0], DeviceArray[tuple[int], np.float32])


def running(x: V4) -> None:
    put = A.put(x)
    assert_type(A.use(put), A.Acc[A.Vector[np.float32]])
    assert_type(A.run(total(A.use(put))), np.ndarray[tuple[()], np.dtype[np.float32]])
    assert_type(A.run(total(A.use(put)), keep=True), DeviceArray[tuple[()], np.float32])
    assert_type(A.run((total(A.use(put)), A.use(put)), keep=True)[1], DeviceArray[tuple[int], np.float32])
    assert_type(A.runAsync(total(A.use(put)), keep=True).result(), DeviceArray[tuple[()], np.float32])
    assert_type(next(A.stream(total, [put])), DeviceArray[tuple[()], np.float32])
    assert_type(next(A.stream(A.runN(total), [put])), DeviceArray[tuple[()], np.float32])
    assert_type(A.put((x, x)), tuple[Any, ...])
