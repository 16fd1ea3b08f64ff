"""What `use` takes, and what becomes of it."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.leaves import to_host
from accel.ast.tree.nodes import Use
from accel.ast.tree.types import BOOL, F32, I64, ArrayType, ScalarType, TupleType
from tests.ast.evaluation import check, values


def data(xs: A.Acc[Any]) -> tuple[np.ndarray[Any, np.dtype[Any]], ...]:
    assert isinstance(xs.node, Use)
    return tuple([to_host(leaf) for leaf in xs.node.data])


@pytest.mark.parametrize("scalar", ScalarType)
def test_every_element_type(scalar: ScalarType) -> None:
    given = np.zeros((2, 3), scalar.dtype)
    xs = A.use(given)
    assert xs.type == ArrayType(2, scalar)
    assert xs.dtype == scalar.dtype
    assert data(xs)[0] is given


def test_other_byte_order_becomes_native() -> None:
    given = np.arange(4, dtype=">i4")
    (taken,) = data(A.use(given))
    assert taken.dtype == np.dtype(np.int32)
    np.testing.assert_array_equal(taken, given)


@pytest.mark.parametrize("view", [np.s_[::2], np.s_[::-1], np.s_[:, ::3], np.s_[1:1], np.s_[None, :, 0]])
def test_any_strides_without_a_copy(view: Any) -> None:
    given = np.arange(24.0).reshape(4, 6)[view]
    xs: A.Acc[Any] = A.use(given)
    assert data(xs)[0] is given
    assert xs.extents == given.shape
    check(xs, given)


def test_rank_0_and_numpy_scalars() -> None:
    assert A.use(np.array(3.5)).type.rank == 0
    check(A.use(np.float32(2.5)), np.array(2.5, np.float32))


def test_empty_arrays() -> None:
    check(A.use(np.zeros((3, 0))), np.zeros((3, 0)))


def test_tuples_are_arrays_of_tuples() -> None:
    x, y, z = np.arange(3, dtype=np.float32), np.arange(3), np.array([True, False, True])
    xs: A.Acc[Any] = A.use((x, (y, z)))
    assert xs.type == ArrayType(1, TupleType((F32, TupleType((I64, BOOL)))))
    assert xs.dtype == (np.dtype(np.float32), (np.dtype(np.int64), np.dtype(np.bool_)))
    for got, given in zip(values(xs), (x, y, z), strict=True):
        np.testing.assert_array_equal(got, given)


def test_a_field_that_is_an_array_is_no_element() -> None:
    """NumPy gives it more dimensions than the structured array has."""
    with pytest.raises(A.AccelTypeError, match=r"no element type for the field 'at'(.|\n)*hint: .*A\.use\(x\['at'\]\)"):
        A.use(np.zeros(3, [("at", "f4", (2,))]))


def test_structured_arrays_are_arrays_of_tuples() -> None:
    given = np.array([(1.0, 2), (3.0, 4)], dtype=[("x", ">f4"), ("y", "i8")])
    xs: A.Acc[Any] = A.use(given)
    assert xs.type == ArrayType(1, TupleType((F32, I64)))
    x, y = values(xs)
    assert x.tolist() == [1.0, 3.0]
    assert y.tolist() == [2, 4]


def test_fields_of_packed_records_are_copied_into_place() -> None:
    given = np.zeros(3, dtype=[("flag", "?"), ("x", "f8")])
    given["x"] = [1, 2, 3]
    _, x = data(A.use(given))
    assert x.flags.aligned
    assert x.strides == (8,)
    assert x.tolist() == [1, 2, 3]


class WithArray:
    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray[Any, np.dtype[Any]]:
        return np.arange(3)


class WithDLPack:
    def __init__(self) -> None:
        self.array = np.arange(3)

    def __dlpack__(self, **options: Any) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = self.array.__dlpack_device__()
        return int(kind), int(number)


@pytest.mark.parametrize("given", [WithArray(), WithDLPack(), array.array("q", [0, 1, 2]), np.arange(3).data])
def test_objects_that_numpy_can_see(given: Any) -> None:
    check(A.use(given), np.arange(3))


def test_handles_know_rank_and_extents() -> None:
    xs = A.use(np.zeros((2, 5)))
    assert (xs.rank, xs.extents) == (2, (2, 5))
    assert A.transpose(xs).extents == (5, 2)
    assert A.filter(lambda x: x > 0, xs)[0].extents == (None,)
