"""What a `runN` function's annotations demand of its arguments and its result."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F32, I64, TupleType
from accel.calling.annotations import ANYTHING, Demand, demands
from tests import untyped

N = TypeVar("N", bound=np.generic)
Vector = A.Acc[A.Vector[np.float32]]


class Scaling:
    """Functions that are not plain ones."""

    def method(self, xs: Vector, factor: A.Acc[A.Scalar[np.int64]]) -> Vector:
        return A.map(lambda x: x * A.toFloating(A.the(factor), np.float32), xs)


def of_any_element(xs: A.Acc[A.Vector[N]], ys: A.Acc[A.Matrix[np.floating]]) -> A.Acc[A.Vector[N]]:
    return xs


def of_pairs(xs: A.Acc[A.Array[tuple[int, ...], tuple[np.float32, np.int64]]]) -> A.Acc[A.Scalar[np.int64]]:
    return A.unit(A.size(xs))


def test_demands_are_read_from_annotations() -> None:
    assert demands(of_any_element) == [Demand(1, None), Demand(2, None)]
    assert demands(of_pairs) == [Demand(None, TupleType((F32, I64)))]
    assert demands(lambda xs, *rest: xs) == [ANYTHING]


def test_a_method_has_no_demand_on_self() -> None:
    assert demands(Scaling().method) == [Demand(1, F32), Demand(0, I64)]
    scaled = A.runN(Scaling().method)(np.ones(3, np.float32), np.array(2))
    assert scaled.tolist() == [2.0, 2.0, 2.0]


def test_names_that_python_cannot_resolve_demand_nothing() -> None:
    def function(xs: Unknown) -> None:  # type: ignore[name-defined]  # noqa: F821  # what is tested
        pass

    assert demands(function) == []


@pytest.mark.parametrize(("value", "what"), [(2.5, "the Python float 2.5"), ([1.0, 2.0], "a list")])
def test_an_argument_that_is_no_array_is_named(value: object, what: str) -> None:
    # Any: a wrong call. Once the message was that of `use`, whose hint does not help here.
    scaled: Any = untyped.runN(lambda xs, factor: A.map(lambda x: x * A.the(factor), xs))
    with pytest.raises(A.AccelTypeError) as caught:
        scaled(np.ones(3), value)
    assert caught.value.message == f"argument 1 of <lambda> must be an array, got {what}"
    assert caught.value.hint == "write `np.array(value, dtype=np.float64)`"
    assert scaled(np.ones(3), np.float64(2)).tolist() == [2.0, 2.0, 2.0]


def test_a_result_that_contradicts_the_annotation_is_named_at_the_call() -> None:
    def total(xs: Any) -> Vector:
        return A.sum(xs)

    compiled: Any = A.runN(total)
    line = test_a_result_that_contradicts_the_annotation_is_named_at_the_call.__code__.co_firstlineno + 7
    with pytest.raises(A.AccelTypeError) as caught:
        compiled(np.ones((2, 2)))
    assert caught.value.message == "the result of total has type f64[_], but is annotated with rank 1 and f32"
    assert caught.value.where is not None
    assert caught.value.where.line == line
    with pytest.raises(A.AccelTypeError, match=r"has type f32\[\], but is annotated with rank 1 and f32"):
        compiled(np.ones(2, np.float32))
    assert compiled(np.ones((2, 3), np.float32)).tolist() == [3.0, 3.0]


def test_each_item_of_a_tuple_of_results_has_its_annotation() -> None:
    def both(xs: Any) -> tuple[Vector, tuple[A.Acc[A.Scalar[np.float64]], Vector]]:
        return xs, (A.sum(xs), xs)

    def single(xs: Vector) -> tuple[Vector, Vector]:
        return xs  # type: ignore[return-value]  # what is tested

    def several(xs: Vector) -> Vector:
        return xs, xs  # type: ignore[return-value]  # what is tested

    xs = np.ones(3, np.float32)
    with pytest.raises(A.AccelTypeError, match=r"result of both\[1\]\[0\] has type f32\[\], but .* rank 0 and f64"):
        untyped.runN(both)(xs)
    with pytest.raises(A.AccelTypeError, match="result of single is one Acc, but is annotated with a tuple of 2"):
        A.runN(single)(xs)
    with pytest.raises(A.AccelTypeError, match="result of several is a tuple of 2, but is annotated with one Acc"):
        A.runN(several)(xs)


def test_open_annotations_of_results_demand_nothing() -> None:
    def of_variables(xs: A.Acc[A.Vector[N]]) -> tuple[A.Acc[A.Vector[N]], Any]:
        return xs, (xs, xs)

    def variadic(xs: Vector) -> tuple[Vector, ...]:
        return xs, xs

    def unresolved(xs: Any) -> Unknown:  # type: ignore[name-defined]  # noqa: F821  # what is tested
        return xs

    for function in (of_variables, variadic, unresolved, lambda xs: (xs, xs)):
        assert untyped.runN(function)(np.ones(3, np.float32)) is not None
