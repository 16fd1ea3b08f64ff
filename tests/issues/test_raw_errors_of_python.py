"""Wrong programs that once ended in an error of Python or NumPy, or in none: each is one of accel's, at the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.untyped import accel as U

# Any: these programs are wrong on purpose.
vector: Any = A.use(np.ones(3))
pair: Any = A.lift(1, 2)
array: Any = np.ones(3)
point: Any = A.index()
line: Any = A.index(1)
missing: Any = None
boundary: Any = A.boundary.clamp
every: Any = A.All
kind: Any = type
expression: Any = A.Exp
kind32: Any = np.float32
boundaries: Any = A.boundary
tall: Any = (1,) * 65
alias: Any = A.Vector[np.float32]
several: Any = np.floating
nested: Any = ()
for _ in range(5000):
    nested = (nested,)


def assign() -> None:
    vector[0] = 1.0


def add_in_place() -> None:
    changed = vector
    changed += 1


WRONG: dict[str, tuple[type[A.AccelError], Callable[[], object]]] = {
    "toIndex of two ranks": (A.AccelTypeError, lambda: U.toIndex(U.index(3, 4), line)),
    "intersect of two ranks": (A.AccelTypeError, lambda: U.intersect(U.index(3, 4), line)),
    "indexHead of no index": (A.AccelTypeError, lambda: U.indexHead(point)),
    "indexTail of no index": (A.AccelTypeError, lambda: U.indexTail(point)),
    "toIndex of floats": (A.AccelTypeError, lambda: U.toIndex(U.lift(1.5, 2.5), U.lift(0.5, 1.5))),
    "shapeSize of floats": (A.AccelTypeError, lambda: U.shapeSize(U.lift(1.5, 2.5))),
    "unindex of floats": (A.AccelTypeError, lambda: U.unindex(U.lift(1.5, 2.5))),
    "shape of a tuple": (A.AccelTypeError, lambda: U.shape((2, 3))),
    "size of an array of the host": (A.AccelTypeError, lambda: U.size(array)),
    "null of a list": (A.AccelTypeError, lambda: U.null([])),
    "linearIndex of an array of the host": (A.AccelTypeError, lambda: U.linearIndex(array, 0)),
    "linearIndex of an Exp": (A.AccelTypeError, lambda: U.linearIndex(pair, 0)),
    "a record of no class": (A.AccelTypeError, lambda: U.Record(pair)),
    "an item by name": (A.AccelTypeError, lambda: pair["a"]),
    "a slice of a tuple": (A.AccelTypeError, lambda: pair[0:1]),
    "assignment to an array": (A.AccelTypeError, assign),
    "addition in place": (A.AccelTypeError, add_in_place),
    "NumPy's sum": (A.AccelTypeError, lambda: np.sum(vector)),
    "NumPy's exp": (A.AccelTypeError, lambda: np.exp(vector)),
    "an array of the host times an Acc": (A.AccelTypeError, lambda: array * vector),
    "a NumPy scalar times an Acc": (A.AccelTypeError, lambda: np.float64(2) * vector),
    "divmod of an Acc": (A.AccelTypeError, lambda: divmod(vector, 2)),
    "round of an Acc": (A.AccelTypeError, lambda: round(vector)),
    "use of an Acc": (A.AccelTypeError, lambda: U.use(vector)),
    "a record without fields": (A.AccelTypeError, lambda: U.use(np.zeros(3, np.dtype([])))),
    "an array as a strategy": (A.AccelValueError, lambda: U.run(vector, strategy=array)),
    "an array as a cost": (A.AccelValueError, lambda: U.run(vector, cost=array)),
    "a wrong setting for using, without with": (A.AccelValueError, lambda: U.using(backend="x")),
    "a wrong setting for a decorator": (A.AccelValueError, lambda: U.runN(strategy=array)),
    "None as a function": (A.AccelTypeError, lambda: U.runN(missing)),
    "None as a function of one array": (A.AccelTypeError, lambda: U.run1(missing)),
    "None as a function for many arrays": (A.AccelTypeError, lambda: U.stream(missing, [])),
    "a boundary that is called": (A.AccelTypeError, lambda: boundary()),
    "All that is called": (A.AccelTypeError, lambda: every()),
    "a setting that Python does not write": (A.AccelValueError, lambda: U.run(vector, threads=10**5000)),
    "a number that Python does not write": (A.AccelTypeError, lambda: U.constant(10**5000)),
    "more dimensions than NumPy has": (A.AccelTypeError, lambda: U.fill(tall, 0)),
    "a builtin of another number of arguments": (A.AccelTypeError, lambda: U.zipWith(kind, vector, vector)),
    "an alias of a class as a function": (A.AccelTypeError, lambda: U.map(alias, vector)),
    "a class of several types": (A.AccelTypeError, lambda: U.cast(U.constant(1), several)),
    "a class of NumPy's as the function of a stencil": (
        A.AccelTypeError,
        lambda: U.stencil(kind32, U.boundary.clamp, vector),
    ),
    "tuples in tuples for a compiled function": (A.AccelTypeError, lambda: U.runN(U.sum)(nested)),
    "an object without a text as a setting": (A.AccelValueError, lambda: U.run(vector, backend=boundaries)),
    "an Exp of an Exp": (A.AccelTypeError, lambda: U.map(expression, vector)),
    "an Exp as an item of a type": (A.AccelTypeError, lambda: A.Vector[pair]),
    "tuples in tuples": (A.AccelTypeError, lambda: U.run(nested)),
    "tuples in tuples, used": (A.AccelTypeError, lambda: U.use(nested)),
    "a wrong setting for runN": (A.AccelValueError, lambda: U.runN(lambda xs: xs, strategy=array)),
}


@pytest.mark.parametrize("name", WRONG)
def test_is_an_error_of_accel(name: str) -> None:
    expected, program = WRONG[name]
    with pytest.raises(expected) as caught:
        program()
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
    assert "^" in str(caught.value)


def test_digits_that_are_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """`"²".isdigit()` holds, `int("²")` raises."""
    monkeypatch.setenv("ACCEL_THREADS", "²")
    with pytest.raises(A.AccelValueError, match="ACCEL_THREADS='²' is no number of threads"):
        A.run(vector)


def test_advice_for_narrow_indices_does_not_exchange_them_in_silence() -> None:
    """Indices of i32 into numbers of i64: exchanged, the program would run and give something else."""
    narrow: Any = A.use(np.array([1, 0], np.int32))
    with pytest.raises(
        A.AccelTypeError, match=r"hint: convert them: .*fromIntegral.*; if the second array has the indices"
    ):
        A.gather(narrow, A.use(np.array([7, 8])))


def test_stored_arrays_may_be_a_tuple() -> None:
    """As for all that takes arrays and gives them back."""
    xs, ys = A.compute((vector, A.use(np.arange(2))))
    first, second = A.run((xs, ys), backend="interpreter")
    np.testing.assert_array_equal(first, np.ones(3))
    np.testing.assert_array_equal(second, np.arange(2))


@pytest.mark.llvm
@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_arrays_have_as_many_dimensions_as_in_numpy(backend: str) -> None:
    """On `llvm` one more ended the process."""
    shape: Any = (1,) * 63 + (2,)  # mypy knows shapes of up to five extents
    high = A.generate(shape, lambda ix: A.unindex(ix)[63])
    assert (
        untyped.run(A.map(lambda x: x + 1, high), backend=backend).tolist()
        == np.arange(1, 3).reshape((1,) * 63 + (2,)).tolist()
    )


def test_what_using_is_given_is_checked_once_more_when_it_begins() -> None:
    """It is a decorator, too."""

    @A.using(backend="interpreter")
    def total() -> object:
        return A.run(A.sum(vector))

    assert total() == 3.0
