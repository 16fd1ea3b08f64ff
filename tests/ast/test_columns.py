"""Columns and tables of other libraries: pandas, Arrow and Polars, where they are installed, and what is like them."""

from __future__ import annotations

import array
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.ast.evaluation import check

XS = np.arange(3)


class Column:
    """A column that counts its nulls as Arrow does, or as Polars, and shows NaNs for them to NumPy, as both do."""

    def __init__(self, count: object) -> None:
        self.null_count = count

    def __array__(self, dtype: object = None, copy: object = None) -> Any:  # Any: as NumPy's protocol has it
        return XS if self.null_count in (0, None) else np.array([1.0, np.nan, 3.0])


class OfOwnType:
    """A column of a type that is not NumPy's, as those of pandas that know nulls."""

    dtype = SimpleNamespace(name="Int64")

    def __init__(self, missing: list[bool]) -> None:
        self.missing = missing

    def isna(self) -> list[bool]:
        return self.missing

    def fillna(self, value: object) -> OfOwnType:
        return OfOwnType([False])

    def __array__(self, dtype: object = None, copy: object = None) -> Any:  # Any: as NumPy's protocol has it
        return np.array([1.0, np.nan, 3.0]) if any(self.missing) else XS


def table(columns: list[object], rows: object) -> Any:  # Any: no type has it
    """A table as Arrow has it."""
    return type("Table", (), {"columns": columns, "__array__": lambda self, dtype=None, copy=None: rows})()


@pytest.mark.parametrize("given", [Column(0), Column(None), OfOwnType([False] * 3), table([Column(0)], XS)])
def test_without_nulls(given: Any) -> None:
    check(A.use(given), XS)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (Column(1), r"fill_null\(0\)"),
        (Column(lambda: np.array([[1, 0]])), "fill_null"),
        (OfOwnType([False, True, False]), r"fillna\(0\)"),
        (table([Column(0), Column(2)], np.ones((3, 2))), "fill_null"),
    ],
)
def test_nulls_are_no_numbers(given: Any, hint: str) -> None:
    with pytest.raises(A.AccelTypeError, match=rf"(?s)without nulls, got an? \w+ with [12]\n.*{hint}"):
        A.use(given)
    with pytest.raises(A.AccelTypeError, match="without nulls"):
        untyped.runN(lambda xs: xs, backend="interpreter")(given)


def test_a_count_that_fails_is_the_objects_fault() -> None:
    def count() -> int:
        raise RuntimeError("not counted")

    with pytest.raises(A.AccelTypeError, match="failed to give one: RuntimeError: not counted"):
        A.use(Column(count))


def both(library: str, make: Callable[[Any], tuple[object, object]]) -> tuple[Any, Any]:
    """Something without nulls, and the same with some; skipped where the library is not there."""
    return make(pytest.importorskip(library))


@pytest.mark.parametrize(
    ("library", "make"),
    [
        ("pandas", lambda pd: (pd.Series([0, 1, 2], dtype="Int64"), pd.Series([0, None, 2], dtype="Int64"))),
        ("pandas", lambda pd: (pd.Series([9, 0, 9, 1, 9, 2])[1::2], pd.Series([0.5, None], dtype="Float64"))),
        ("pandas", lambda pd: (pd.DataFrame({"a": XS})["a"], pd.DataFrame({"a": pd.array([None], "Int64")}))),
        ("pyarrow", lambda pa: (pa.array([9, 0, 1, 2])[1:], pa.array([1, None]))),
        ("pyarrow", lambda pa: (pa.chunked_array([[0, 1], [2]]), pa.table({"a": [1.5, None]}))),
        ("polars", lambda pl: (pl.Series([0, 1, 2]), pl.Series([1, None]))),
        ("polars", lambda pl: (pl.DataFrame({"a": XS})["a"], pl.DataFrame({"a": [1, None], "b": [1, 2]}))),
    ],
)
def test_libraries(library: str, make: Callable[[Any], tuple[object, object]]) -> None:
    whole, broken = both(library, make)
    check(A.use(whole), XS)
    with pytest.raises(A.AccelTypeError, match="without nulls"):
        A.use(broken)


def test_nans_of_numpys_own_types_are_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    check(A.use(pandas.Series([0.5, None])), np.array([0.5, np.nan]))
    check(A.use(pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, np.nan]})), np.array([[1.0, 3.0], [2.0, np.nan]]))


@pytest.mark.parametrize("backend", ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_memory_of_any_kind(backend: Any) -> None:
    """Byte-swapped, read-only, reversed, repeated, misaligned; all at once in a program that runs twice."""
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    packed = np.zeros(4, [("flag", "?"), ("x", np.float64)])
    packed["x"] = 1 + XS.sum()
    given = [
        frozen, np.arange(4, dtype=">f8"), np.arange(4.0)[::-1], np.broadcast_to(2.5, 4), packed["x"],
        np.arange(8.0)[::2], np.arange(8.0).reshape(4, 2)[:, 1], array.array("d", range(4)),
    ]  # fmt: skip
    function: Any = untyped.runN(
        lambda *arrays: tuple(A.map(lambda x: x + 1, xs) for xs in arrays[:5]), backend=backend
    )
    rest: Any = untyped.runN(lambda *arrays: tuple(A.scanl1(A.add, xs) for xs in arrays), backend=backend)
    for _ in range(2):
        for got, each in zip(function(*given), given, strict=False):
            np.testing.assert_array_equal(got, np.asarray(each) + 1)
        for got, each in zip(rest(*given[5:]), given[5:], strict=True):
            np.testing.assert_array_equal(got, np.cumsum(np.asarray(each)))
    np.testing.assert_array_equal(frozen, np.arange(4.0))
