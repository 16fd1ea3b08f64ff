"""What NumPy's users are told to write does what NumPy does; other unknown names are answered by the one that is like them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.support.numpy_names import ARRAY_ATTRIBUTES, NUMPY_FUNCTIONS, SCALAR_ATTRIBUTES, SHARED_NAMES

ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "xs": np.array([0.5, 2.0, -1.5, 2.0]),
    "ys": np.array([1.0, 2.0, 3.0, 0.25]),
    "i": np.array([3, 1, 8, 1]),
    "j": np.array([2, 3, 1, 5]),
    "p": np.array([True, False, True, False]),
    "q": np.array([True, True, False, False]),
    "zs": np.array([1 + 2j, -3j, -0.5]),
    "m": np.arange(12.0).reshape(3, 4),
    "s": np.arange(16.0).reshape(4, 4) ** 2,
}
PARTS = ("conj", "conjugate", "imag", "real")
"""Attributes of complex numbers."""
UNTYPED: Any = A  # mypy refuses names that accel lacks, too
OF_NUMPY: dict[str, object] = {"np": np, "n": 4, **ARRAYS}
OF_ACCEL: dict[str, Any] = {
    "np": np,
    "n": 4,
    "A": A,
    "mean": A.use(np.mean(ARRAYS["xs"])),
    "variance": A.use(np.var(ARRAYS["xs"])),
    **{name: A.use(array) for name, array in ARRAYS.items()},
}


@pytest.mark.parametrize("name", [*NUMPY_FUNCTIONS, *SHARED_NAMES])
def test_both_sides_give_the_same(name: str) -> None:
    spelling = {**NUMPY_FUNCTIONS, **SHARED_NAMES}[name]
    with np.errstate(all="ignore"):
        expected = eval(spelling.numpy, OF_NUMPY)
    found = eval(spelling.accel, OF_ACCEL)
    result = A.run(found, backend="interpreter") if isinstance(found, A.Acc) else found
    assert np.shape(result) == np.shape(expected)
    if name != "empty":  # of which NumPy says nothing but the shape
        np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.parametrize("name", NUMPY_FUNCTIONS)
def test_accel_lacks_the_name_and_says_what_to_write(name: str) -> None:
    assert hasattr(np, name)
    assert name not in A.__all__
    with pytest.raises(A.AccelAttributeError) as caught:
        getattr(A, name)
    assert f"write `{NUMPY_FUNCTIONS[name].accel}`" in str(caught.value)


@pytest.mark.parametrize("name", SHARED_NAMES)
def test_both_have_the_name(name: str) -> None:
    assert hasattr(np, name)
    assert name in A.__all__


@pytest.mark.parametrize("name", ["pi", "inf", "float32", "int64", "ndarray"])
def test_types_and_constants_are_numpy_s(name: str) -> None:
    with pytest.raises(A.AccelAttributeError, match=rf"(?s)has no attribute '{name}'.*hint: write `np\.{name}`$"):
        getattr(A, name)


def test_a_name_that_is_misspelt() -> None:
    with pytest.raises(
        A.AccelAttributeError, match=r"(?s)^module 'accel' has no attribute 'folld'.*hint: is `A.fold` meant\?$"
    ):
        _ = UNTYPED.folld
    with pytest.raises(
        A.AccelAttributeError, match=r"(?s)has no attribute 'qqqqqq'.*hint: `dir\(A\)` lists all names$"
    ):
        _ = UNTYPED.qqqqqq


def test_what_only_numpy_has() -> None:
    with pytest.raises(
        A.AccelAttributeError, match=r"NumPy's works on arrays of the host, before `A\.use` or after `A\.run`"
    ):
        _ = UNTYPED.kron


@pytest.mark.llvm
@pytest.mark.parametrize("name", ARRAY_ATTRIBUTES)
def test_attributes_of_arrays(name: str) -> None:
    scope = {**OF_ACCEL, "low": 0, "high": 1, "indices": A.use(np.array([1, 0])), "shape": (2, 2)}
    if name in ("T", "transpose", "swapaxes"):
        scope["xs"] = scope["m"]
    elif name in ("all", "any"):
        scope["xs"] = scope["p"]
    elif name in PARTS:
        scope["xs"] = scope["zs"]
    elif name == "item":
        scope["xs"] = scope["mean"]
    found = eval(ARRAY_ATTRIBUTES[name], scope)
    if isinstance(found, A.Acc):
        A.run(found, backend="interpreter")


@pytest.mark.llvm
@pytest.mark.parametrize("name", SCALAR_ATTRIBUTES)
def test_attributes_of_scalars(name: str) -> None:
    value: Any = A.constant(0.5j) if name in PARTS else A.constant(0.5, np.float32)
    eval(SCALAR_ATTRIBUTES[name], {**OF_ACCEL, "e": value, "low": 0, "high": 1})


def written(error: BaseException) -> str:
    """The code that an error says to write."""
    found = re.search(r"write `(.*?)`", str(error))
    assert found is not None, str(error)
    return found.group(1)


def test_attributes_are_answered_by_the_user_s_names_and_types() -> None:
    prices: Any = OF_ACCEL["xs"]  # Any: mypy refuses these attributes, too
    with pytest.raises(A.AccelAttributeError) as caught:
        prices.astype(np.int64)
    assert written(caught.value) == "A.map(lambda x: A.cast(x, np.int64), prices)"
    with pytest.raises(A.AccelAttributeError) as caught:
        prices.astype("int32").sum()
    assert written(caught.value) == "A.map(lambda x: A.cast(x, np.int32), prices)"
    price: Any = prices[0]
    with pytest.raises(A.AccelAttributeError) as caught:
        price.astype(float)
    assert written(caught.value) == "A.cast(price, np.float64)"
    assert not hasattr(prices[0], "nothing_of_the_kind")


def test_the_page_prints_the_table() -> None:
    """Rows of one expression on each side are the table's; those above it list several habits each."""
    page = (Path(__file__).parents[2] / "docs" / "numpy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(np\.[^`]*)` \| `([^`]*)` \|$", page, re.MULTILINE)
    tables = [
        sorted((each.numpy, each.accel.replace("|", r"\|")) for each in table.values())
        for table in (SHARED_NAMES, NUMPY_FUNCTIONS)
    ]
    assert rows == tables[0] + tables[1]
    assert len(rows) > 130
