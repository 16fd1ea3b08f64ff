"""Calls as NumPy would take them, and choices as Python would make them; as `mistakes.py`, one to a function."""

from __future__ import annotations

from typing import Any

import numpy as np

import accel as A
from tests.ast.mistakes import b, i, m, s, untyped, v, x

t: Any = A.use(np.arange(24.0).reshape(2, 3, 4))
mask: Any = A.use(np.ones((3, 4), np.bool_))
j: Any = A.use(np.array([3, 1, 0, 1]))


def function_of_an_array() -> object:
    return A.sqrt(v)


def function_of_a_numpy_array() -> object:
    return A.sqrt(untyped(np.ones(4)))


def function_of_floats_at_integers() -> object:
    return A.sqrt(i)


def function_of_two_arrays() -> object:
    return A.add(v, v)


def function_of_three_arrays() -> object:
    return A.fma(v, v, v)


def function_of_an_array_and_a_number() -> object:
    return A.pow(v, 2)


def function_of_an_element_and_a_scalar_array() -> object:
    return A.max(x, s)


def conversion_of_an_array() -> object:
    return A.cast(v, np.float64)


def equality_of_arrays() -> object:
    return A.eq(v, v)


def choice_by_an_array() -> object:
    return A.cond(b, v, v)


def choice_of_arrays() -> object:
    return A.cond(x > 0, v, v)


def parity_of_an_array() -> object:
    return A.even(i)


def bits_of_an_array() -> object:
    return A.testBit(i, 2)


def greatest_of_an_array() -> object:
    return A.max(v)  # type: ignore[call-arg]  # the mistake


def least_along_an_axis() -> object:
    return A.min(m, axis=0)  # type: ignore[call-arg]  # the mistake


def greatest_of_one_number() -> object:
    return A.max(x)  # type: ignore[call-arg]  # the mistake


def sum_along_an_axis() -> object:
    return A.sum(m, axis=0)  # type: ignore[call-arg]  # the mistake


def sum_along_an_axis_by_position() -> object:
    return A.sum(m, 1)  # type: ignore[call-arg]  # the mistake


def sum_of_all() -> object:
    return A.sum(m, axis=None)  # type: ignore[call-arg]  # the mistake


def sum_along_the_first_of_three() -> object:
    return A.sum(t, axis=0)  # type: ignore[call-arg]  # the mistake


def sum_along_the_second_of_three() -> object:
    return A.sum(t, axis=1)  # type: ignore[call-arg]  # the mistake


def any_of_bools() -> object:
    return A.any(b)  # type: ignore[call-arg]  # the mistake


def all_of_bools_along_an_axis() -> object:
    return A.all(mask, axis=0)  # type: ignore[call-arg]  # the mistake


def any_of_numbers() -> object:
    return A.any(v)  # type: ignore[call-arg]  # the mistake


def maximum_of_two_arrays() -> object:
    return A.maximum(v, v)  # type: ignore[call-arg]  # the mistake


def minimum_of_two_elements() -> object:
    return A.minimum(x, 0)  # type: ignore[call-arg]  # the mistake


def array_before_the_count() -> object:
    return A.take(v, 2)  # type: ignore[arg-type]  # the mistake


def array_before_the_number_to_drop() -> object:
    return A.drop(v, 2)  # type: ignore[arg-type]  # the mistake


def array_before_the_shape() -> object:
    return A.reshape(m, (4, 3))  # type: ignore[call-overload]  # the mistake


def array_before_the_function_of_a_fold() -> object:
    return A.fold(v, A.add, 0)  # type: ignore[call-overload]  # the mistake


def array_before_the_seed() -> object:
    return A.scanl(A.add, v, 0)  # type: ignore[call-overload]  # the mistake


def array_before_the_predicate() -> object:
    return A.filter(v, lambda e: e > 0)  # type: ignore[arg-type]  # the mistake


def array_before_the_indices() -> object:
    return A.gather(v, j)


def array_before_its_copies() -> object:
    return A.replicate(v, (3, A.All))  # type: ignore[call-overload]  # the mistake


def parts_before_the_array() -> object:
    return A.slice((1, A.All), m)  # type: ignore[call-overload]  # the mistake


def value_before_the_shape() -> object:
    return A.fill(untyped(0), untyped((3,)))


def function_before_the_shape() -> object:
    return A.generate(untyped(lambda ix: ix[0]), untyped((3,)))


def chained_comparison() -> object:
    return 0 < x < 2


def least_by_python() -> object:
    return min(x, 1)


def greatest_of_three_by_python() -> object:
    return max(x, 1, x * 2)


def negation_by_python() -> object:
    return not x > 0


def membership_in_a_tuple() -> object:
    return x in (1, 2)


def list_for_an_annotated_parameter() -> object:
    def total(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Scalar[np.int64]]:
        return A.sum(xs)

    return A.runN(total)(untyped([1, 2]))


def floats_for_an_annotated_parameter() -> object:
    def total(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Scalar[np.int64]]:
        return A.sum(xs)

    data: Any = np.ones(3)
    return A.runN(total)(data)


def list_of_floats() -> object:
    return A.use(untyped([1.5, 2]))


def ragged_list() -> object:
    return A.use(untyped([[1, 2], [3]]))


def number_to_use() -> object:
    return A.use(untyped(3))


def integer_for_integers() -> object:
    return A.map(untyped(lambda e: 1), j)
