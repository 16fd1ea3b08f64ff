"""What a scalar function may give beside expressions: a number whose type is clear, by what is due or by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A

# Any: mypy asks for an `Exp`, so that it finds `not x` where a condition is due; numbers are for programs that it does not see.
floats: Any = A.use(np.array([1.0, 2.0, 3.0], np.float32))
number: Any = A.constant(1.0)
language: Any = A
Program = Callable[[], Any]

CLEAR: dict[str, tuple[Program, Any]] = {
    "a predicate that keeps all": (lambda: language.filter(lambda _: True, floats)[0], np.array([1, 2, 3], np.float32)),
    "a predicate that keeps none": (lambda: language.filter(lambda _: False, floats)[0], np.array([], np.float32)),
    "a fold of a number": (lambda: language.fold(lambda _, __: 7, 0, floats), np.array(7, np.float32)),
    "a step of a number": (lambda: A.unit(language.while_(lambda x: x < 2, lambda _: 5, number)), np.array(5.0)),
    "a loop that does not begin": (lambda: A.unit(language.while_(lambda _: False, lambda x: x, number)), np.array(1.0)),
    "a test of any": (lambda: language.any(lambda _: True, floats), np.array(True)),
    "a test of all": (lambda: language.all(lambda _: False, floats), np.array(False)),
    "a bool for each": (lambda: language.map(lambda _: True, floats), np.array([True, True, True])),
    "a NumPy scalar for each": (lambda: language.map(lambda _: np.int8(3), floats), np.array([3, 3, 3], np.int8)),
    "a NumPy bool for each": (lambda: language.map(lambda _: np.bool_(False), floats), np.array([False, False, False])),
    "a complex scalar": (lambda: language.generate((2,), lambda _: np.complex64(1j)), np.array([1j, 1j], np.complex64)),
    "a boundary function of a number": (
        lambda: language.stencil(lambda n: n(1), language.boundary.function(lambda _: 9), floats),
        np.array([2, 3, 9], np.float32),
    ),
    "a sequential fold of a number": (
        lambda: language.map(lambda _: language.sfoldl(lambda a, x: 4, 0.0, A.index(), floats), floats),
        np.full(3, 4, np.float32),
    ),
    "a case of a match": (
        lambda: language.map(lambda x: language.match(x, (lambda _: True, 1), 2), floats), np.array([1, 1, 1])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLEAR)
def test_a_number_whose_type_is_clear_is_taken(name: str) -> None:
    program, expected = CLEAR[name]
    found = A.run(program(), backend="interpreter")
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


UNCLEAR: dict[str, Program] = {
    "an integer for each": lambda: language.map(lambda _: 1, floats),
    "a float for each": lambda: language.generate((2,), lambda _: 1.0),
    "a number for a bool": lambda: language.filter(lambda _: 1, floats),
    "a bool for a number": lambda: language.fold(lambda _, __: True, 0, floats),
    "a NumPy scalar of another type": lambda: language.fold(lambda _, __: np.float64(1), 0, floats),
    "a number that does not fit": lambda: language.fold(lambda _, __: 300, 0, A.use(np.zeros(3, np.int8))),
    "a tuple": lambda: language.map(lambda x: (x, x), floats),
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_any_other_is_an_error(name: str) -> None:
    with pytest.raises(A.AccelTypeError) as caught:
        UNCLEAR[name]()
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
