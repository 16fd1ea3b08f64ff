"""`checks="all"`: integers divided by zero, and targets that are given twice, on every backend. NumPy says where they are."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.protocol import HostArray
from accel.errors import AccelError, AccelValueError, AccelZeroDivisionError
from tests import untyped
from tests.opencl.platforms import ROWS

Integers = A.Acc[A.Vector[np.int64]]
Program = Callable[..., Any]  # Any: results of different types

BACKENDS = ["llvm", "interpreter", *(f"opencl:{number}" for number in sorted(ROWS.values()))]
each_backend = pytest.mark.parametrize("backend", BACKENDS)

XS, YS = np.array([7, -7, 5, 0]), np.array([2, 3, 0, 4])


def found(program: Program, *arrays: HostArray, backend: str) -> AccelError:
    """The error that only all checks find."""
    untyped.runN(program, backend=backend)(*arrays)
    with pytest.raises(AccelError) as caught:
        untyped.runN(program, backend=backend, checks="all")(*arrays)
    return caught.value


def clean(program: Program, *arrays: HostArray, backend: str) -> None:
    """The program has no fault, and gives what it gives without being checked."""
    checked = untyped.runN(program, backend=backend, checks="all")(*arrays)
    np.testing.assert_array_equal(checked, untyped.runN(program, backend=backend)(*arrays))


def line(error: AccelError) -> str:
    """The user's line that an error names."""
    assert error.where is not None
    return error.where.written().text.strip()


@each_backend
@pytest.mark.parametrize(
    ("operator", "spelt"),
    [
        (lambda x, y: x // y, "5 // 0"),
        (lambda x, y: x % y, "5 % 0"),
        (A.quot, "quot(5, 0)"),
        (A.rem, "rem(5, 0)"),
    ],
)
def test_divisions(backend: str, operator: Program, spelt: str) -> None:
    error = found(lambda xs, ys: A.zipWith(operator, xs, ys), XS, YS, backend=backend)
    assert isinstance(error, AccelZeroDivisionError)
    assert error.message == f"an integer is divided by zero: {spelt}"
    assert line(error).startswith("error = found(")
    clean(lambda xs, ys: A.zipWith(operator, xs, ys), XS, YS + 10, backend=backend)


@each_backend
@pytest.mark.parametrize("guarded", [True, False])
def test_a_division_that_no_branch_needs(backend: str, guarded: bool) -> None:
    """Cheap branches are evaluated both, also where nobody checks; dear ones are not."""

    def program(xs: Integers, ys: Integers) -> Integers:
        def element(x: A.Exp[np.int64], y: A.Exp[np.int64]) -> A.Exp[np.int64]:
            quotient = x // y + 1
            if not guarded:
                for _ in range(100):
                    quotient = quotient * x + y
            return A.cond(y == 0, x, quotient)

        return A.zipWith(element, xs, ys)

    clean(program, XS, YS, backend=backend)
    clean(lambda xs, ys: A.zipWith(lambda x, y: (y != 0) & (x // y > 1), xs, ys), XS, YS, backend=backend)
    error = found(lambda xs, ys: A.zipWith(lambda x, y: x // y > 1, xs, ys), XS, YS, backend=backend)
    assert error.message == "an integer is divided by zero: 5 // 0"


@each_backend
def test_floats_and_constants(backend: str) -> None:
    floats = YS.astype(np.float64) + 1
    clean(lambda xs, ys: A.zipWith(lambda x, y: x / y, xs, ys), floats, floats, backend=backend)
    clean(lambda xs: A.map(lambda x: x // 3, xs), XS, backend=backend)
    infinite = untyped.runN(lambda ys: A.map(lambda y: 1 / y, ys), backend=backend, checks="all")(YS.astype(np.float64))
    assert infinite[2] == np.inf  # no NaN, so nothing is wrong


@each_backend
def test_folds_filters_and_loads(backend: str) -> None:
    error = found(lambda ys: A.fold(lambda x, y: x // y, 100, ys), YS, backend=backend)
    assert isinstance(error, AccelZeroDivisionError)
    error = found(lambda xs, ys: A.filter(lambda y: 10 % y > 2, ys)[0], XS, YS, backend=backend)
    assert error.message == "an integer is divided by zero: 10 % 0"
    error = found(lambda xs, ys: A.map(lambda y: xs[A.index(6 // y)], ys), XS, YS, backend=backend)
    assert error.message == "an integer is divided by zero: 6 // 0"
    error = found(
        lambda xs, ys: A.map(lambda y: A.while_(lambda i: i < 6 // y, lambda i: i + 1, y), ys), XS, YS, backend=backend
    )
    assert error.message == "an integer is divided by zero: 6 // 0"


@each_backend
def test_extents_that_are_computed(backend: str) -> None:
    def program(ys: Integers) -> Integers:
        return A.generate((6 // A.the(A.sum(ys)),), lambda ix: ix[0])

    error = found(program, np.array([2, -2]), backend=backend)
    assert error.message == "an integer is divided by zero: 6 // 0"
    assert line(error) == "return A.generate((6 // A.the(A.sum(ys)),), lambda ix: ix[0])"
    clean(program, np.array([1, 1]), backend=backend)


@each_backend
def test_control_flow(backend: str) -> None:
    def program(xs: Integers) -> Integers:
        return A.iterate(5, lambda vs: A.map(lambda v: 12 // v - 1, vs), xs)

    error = found(program, np.array([6, 4]), backend=backend)
    assert error.message == "an integer is divided by zero: 12 // 0"
    assert "A.map(lambda v: 12 // v - 1, vs)" in line(error)


@each_backend
def test_targets(backend: str) -> None:
    def program(places: Integers) -> Integers:
        return A.permuteUnique(A.fill((6,), 0), lambda ix: A.just(A.index(places[ix])), places)

    places = np.array([3, 1, 4, 1, 5, 4])
    error = found(program, places, backend=backend)
    assert isinstance(error, AccelValueError)
    unique, counts = np.unique(places, return_counts=True)
    assert set(unique[counts > 1].tolist()) == {1, 4}
    assert error.message == "two elements go to index (1,)"  # the first that comes a second time
    assert line(error).startswith("return A.permuteUnique(")
    clean(program, places[:3], backend=backend)


@each_backend
def test_targets_of_rows_and_of_what_is_dropped(backend: str) -> None:
    def program(places: Integers) -> A.Acc[A.Matrix[np.int64]]:
        def target(ix: A.Exp[tuple[int]]) -> Any:
            place = places[ix]
            return A.cond(place < 0, A.nothing(), A.just(A.index(place // 3, place % 3)))

        return A.permuteUnique(A.fill((2, 3), 0), target, places)

    clean(program, np.array([-1, 3, -1, 5, -1]), backend=backend)
    assert found(program, np.array([-1, 3, 5, -1, 5]), backend=backend).message == "two elements go to index (1, 2)"


@each_backend
def test_several_go_to_one_place_if_they_are_combined(backend: str) -> None:
    def program(places: Integers) -> Integers:
        return A.permute(A.add, A.fill((6,), 0), lambda ix: A.just(A.index(places[ix])), places)

    clean(program, np.array([3, 1, 4, 1, 5, 4]), backend=backend)


def test_the_setting() -> None:
    divided = untyped.runN(lambda ys: A.map(lambda y: 1 // y, ys))
    assert divided(YS)[2] == 0
    with A.using(checks="all"), pytest.raises(ZeroDivisionError):
        divided(YS)
    with A.using(checks="bounds"):
        assert divided(YS)[2] == 0


def test_the_error_survives_a_pickle() -> None:
    error = found(lambda ys: A.map(lambda y: 1 // y, ys), YS, backend="interpreter")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, AccelZeroDivisionError)
    assert str(again) == str(error)
    assert inspect.getdoc(AccelZeroDivisionError)
