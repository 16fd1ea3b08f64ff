"""`checks="all"`: who made the first NaN, on every backend; where it is, NumPy says."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.protocol import HostArray
from accel.errors import AccelNaNError, AccelValueError
from tests import untyped
from tests.opencl.platforms import ROWS

Floats = A.Acc[A.Vector[np.float64]]
Program = Callable[..., Any]  # Any: results of different types

BACKENDS = ["llvm", "interpreter", *(f"opencl:{number}" for number in sorted(ROWS.values()))]
each_backend = pytest.mark.parametrize("backend", BACKENDS)


def found(program: Program, *arrays: HostArray, backend: str) -> AccelNaNError:
    """The error of a program that makes a NaN."""
    with pytest.raises(AccelNaNError) as caught:
        untyped.runN(program, backend=backend, checks="all")(*arrays)
    return caught.value


def line(error: AccelNaNError) -> str:
    """The user's line that an error names."""
    assert error.where is not None
    return error.where.written().text.strip()


def clean(program: Program, *arrays: HostArray, backend: str) -> None:
    """The program has no fault, and gives what it gives without being checked."""
    checked = untyped.runN(program, backend=backend, checks="all")(*arrays)
    np.testing.assert_array_equal(checked, untyped.runN(program, backend=backend)(*arrays))


def hidden(xs: Floats) -> A.Acc[A.Scalar[np.float64]]:
    """A sum without the NaN that a part of it is."""
    less = A.map(lambda x: x - 1, xs)
    roots = A.zipWith(lambda x, y: A.sqrt(y) + x, xs, less)
    return A.fold(A.add, 0, A.map(lambda r: A.cond(A.isNaN(r), 0.0, r), roots))


@each_backend
def test_a_nan_that_no_result_has(backend: str) -> None:
    xs = np.array([1.0, 2.0, 0.5, 3.0, 0.25])
    assert np.isfinite(untyped.run(hidden(A.use(xs)), backend=backend))
    error = found(hidden, xs, backend=backend)
    with np.errstate(invalid="ignore"):
        (first, *_), *_ = np.nonzero(np.isnan(np.sqrt(xs - 1) + xs))
    assert (
        error.message == f"zipWith makes a NaN at index ({first},) of operands that have none; there they are 0.5, -0.5"
    )
    assert line(error) == "roots = A.zipWith(lambda x, y: A.sqrt(y) + x, xs, less)"
    clean(hidden, xs + 1, backend=backend)


@each_backend
def test_the_whole_message(backend: str) -> None:
    error = found(lambda xs: A.map(A.log, xs), np.array([[1, 2], [3, -1]], np.float32), backend=backend)
    assert error.where is not None
    assert str(error).splitlines() == [
        "map makes a NaN at index (1, 1) of operands that have none; there they are -1.0",
        f"  {__file__}:{error.where.line} in <lambda>",
        "    error = found(lambda xs: A.map(A.log, xs), np.array([[1, 2], [3, -1]], np.float32), backend=backend)",
        "                             ^^^^^^^^^^^^^^^^",
        '  hint: where one is meant run it without `checks="all"`; else choose by `A.cond` what is computed there',
    ]


@each_backend
def test_arguments_may_have_nans(backend: str) -> None:
    xs = np.array([1.0, np.nan, -1.0])
    clean(lambda xs: A.map(lambda x: A.sqrt(x) + 1, xs), xs, backend=backend)

    def both(xs: Floats) -> tuple[Floats, Floats]:
        return A.map(lambda x: x + 1, xs), A.generate((2,), lambda ix: A.sqrt(-A.toFloating(ix[0], np.float64)))

    error = found(both, xs, backend=backend)
    assert error.message == "generate makes a NaN at index (1,)"


@each_backend
def test_folds_and_scans(backend: str) -> None:
    xs = np.array([[1.0, 2.0, 3.0], [np.inf, -np.inf, 1.0]])
    error = found(lambda xs: A.fold(A.add, 0, xs), xs, backend=backend)
    assert error.message == "fold makes a NaN at index (1,) of operands that have none"
    error = found(lambda xs: A.scanl1(A.add, xs), xs, backend=backend)
    assert error.message == "scanl1 makes a NaN at index (1, 1) of operands that have none"
    with np.errstate(invalid="ignore"):
        assert np.argwhere(np.isnan(np.cumsum(xs, axis=1)))[0].tolist() == [1, 1]
    assert found(lambda xs: A.sum(xs), xs[1], backend=backend).message == "sum makes a NaN of operands that have none"


@each_backend
def test_what_is_loaded_is_an_operand(backend: str) -> None:
    table, at = np.array([1.0, np.nan]), np.array([0, 1, 0])
    clean(lambda table, at: A.map(lambda i: A.sqrt(table[i]), at), table, at, backend=backend)
    error = found(lambda table, at: A.map(lambda i: A.sqrt(table[i]), at), -table[:1], at * 0, backend=backend)
    assert error.message == "map makes a NaN at index (0,) of operands that have none; there they are 0"


@each_backend
def test_scatters_write_over_what_they_read(backend: str) -> None:
    def added(old: Floats, new: Floats) -> Floats:
        return A.permute(A.add, old, lambda ix: A.just(A.index(ix[0] % 2)), new)

    old, new = np.array([np.inf, np.nan]), np.array([-np.inf, 1.0])
    clean(added, old, new, backend=backend)
    error = found(added, np.array([np.inf, 1.0]), new, backend=backend)
    assert error.message == "scatter makes a NaN at index (0,) of operands that have none"


@each_backend
def test_memory_behind_what_a_filter_keeps_is_not_looked_at(backend: str) -> None:
    """It may hold anything, such as what a program before it left there."""
    size = 200_000 if backend != "interpreter" else 100  # large blocks are used again
    untyped.run(A.map(lambda x: A.sqrt(x), A.use(np.full(size, -1.0))), backend=backend)
    clean(lambda xs: A.filter(lambda x: x > 0.5, xs)[0], np.linspace(0, 1, size), backend=backend)


@each_backend
def test_control_flow(backend: str) -> None:
    def until_it_breaks(xs: Floats) -> Floats:
        return A.iterate(5, lambda v: A.map(lambda x: A.sqrt(x) - 0.9, v), xs)

    error = found(until_it_breaks, np.array([4.0, 100.0]), backend=backend)
    assert error.message.startswith("map makes a NaN at index (0,)")
    assert "A.sqrt(x) - 0.9" in line(error)

    def one_branch(xs: Floats) -> Floats:
        return A.acond(A.the(A.sum(xs)) > 0, A.map(A.log, xs), A.map(A.sqrt, xs))

    assert found(one_branch, np.array([3.0, -1.0]), backend=backend).message.startswith("map makes a NaN at index (1,)")
    clean(one_branch, np.array([3.0, 1.0]), backend=backend)


@each_backend
def test_tuples(backend: str) -> None:
    error = found(lambda xs: A.map(lambda x: A.lift(x, A.log(x)), xs), np.array([2.0, -2.0]), backend=backend)
    assert error.message == "map makes a NaN at index (1,) of operands that have none; there they are -2.0"


@each_backend
def test_no_elements_and_no_floats(backend: str) -> None:
    clean(lambda xs: A.map(A.log, xs), np.zeros(0), backend=backend)
    clean(lambda xs: A.map(lambda x: x * 2, xs), np.arange(3), backend=backend)


@each_backend
def test_equal_programs_name_their_own_lines_and_combinators(backend: str) -> None:
    xs = np.array([np.inf, -np.inf])
    first = found(lambda xs: A.fold(A.add, 0, xs), xs, backend=backend)
    second = found(lambda xs: A.sum(xs), xs, backend=backend)
    assert (first.message.split()[0], second.message.split()[0]) == ("fold", "sum")
    assert first.where is not None
    assert second.where is not None
    assert second.where.line == first.where.line + 1


@each_backend
def test_the_first_in_the_order_of_the_program_is_named(backend: str) -> None:
    def two(xs: Floats) -> tuple[Floats, Floats]:
        first = A.map(lambda x: A.log(x), xs)
        second = A.map(lambda x: A.sqrt(x), xs)
        return second, first

    lines = [line(found(two, np.array([-1.0]), backend=each)) for each in (backend, "interpreter")]
    assert lines[0] == lines[1]


def test_it_is_a_setting() -> None:
    fast = untyped.runN(hidden)
    xs = np.array([0.5])
    assert np.isfinite(fast(xs))
    with A.using(checks="all"), pytest.raises(AccelNaNError):
        fast(xs)
    assert np.isfinite(fast(xs))
    with pytest.raises(FloatingPointError):
        untyped.runN(hidden, checks="all")(xs)
    with pytest.raises(AccelValueError, match="checks=1 is no setting"):
        untyped.run(hidden(A.use(xs)), checks=1)


def test_the_error_survives_a_pickle() -> None:
    error = found(hidden, np.array([0.5]), backend="llvm")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, AccelNaNError)
    assert str(again) == str(error)
    assert inspect.getdoc(AccelNaNError)
