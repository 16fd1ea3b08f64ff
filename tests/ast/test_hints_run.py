"""What errors tell a user of NumPy to write does what NumPy does. `tests/errors` runs what the others say to write."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import accel as A

RANKS = {
    "vector": np.array([3.0, -1.0, 2.0]),
    "matrix": np.array([[3.0, -1.0, 2.0], [0.5, 4.0, 0.0]]),
    "cube": np.arange(24.0).reshape(2, 3, 4) % 7,
}


def written(mistake: Callable[[], object]) -> str:
    """The code that the error of a mistake says to write."""
    with pytest.raises(A.AccelError) as caught:
        mistake()
    found = re.search(r"write `(.*?)`", caught.value.hint or "")
    assert found is not None, str(caught.value)
    return found.group(1)


def value(found: object) -> Any:  # an array, or whatever the code gives
    """What a program, an expression, or anything else comes to."""
    if isinstance(found, A.Exp):
        return A.run(A.unit(found), backend="interpreter")
    return A.run(found, backend="interpreter") if isinstance(found, (A.Acc, tuple)) else found


def along(reduction: Any, xs: object, axis: int | None) -> object:  # Any: a call that mypy refuses, too
    return reduction(xs, axis=axis)


@pytest.mark.parametrize("shape", RANKS)
@pytest.mark.parametrize("reduction", ["sum", "prod", "max", "min"])
def test_sums_along_axes_are_numpy_s(shape: str, reduction: str) -> None:
    array = RANKS[shape]
    xs: Any = A.use(array)  # Any: mypy refuses these calls, too
    ours: Any = {"sum": A.sum, "prod": A.product, "max": A.max, "min": A.min}[reduction]
    for axis in (None, *range(-array.ndim, array.ndim)):
        code = written(partial(along, ours, xs, axis))
        name = {"sum": "sum", "prod": "product", "max": "maximum", "min": "minimum"}[reduction]
        assert code.startswith(("A.transpose(A.", f"A.{name}("))
        expected = getattr(np, reduction)(array, axis=axis)
        np.testing.assert_allclose(value(eval(code, {"A": A, "xs": xs})), expected)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", [np.float32, np.int8, np.uint16])
def test_a_search_from_a_side_is_numpy_s(kind: type[np.number[Any]], side: Any) -> None:
    limits: Any = np.finfo(kind) if kind is np.float32 else np.iinfo(kind)
    given = np.array([limits.min, 1, 2, 2, 2, 5, limits.max, *([np.nan] if kind is np.float32 else [])], kind)
    xs, ys, search = A.use(given), A.use(given[::-1].copy()), A.searchsorted
    untyped: Any = search  # Any: mypy refuses the call, too
    code = written(lambda: untyped(xs, ys, side=side))
    found = value(eval(code, {"A": A, "xs": xs, "ys": ys}))
    np.testing.assert_array_equal(found, np.searchsorted(given, given[::-1], side=side))


def test_functions_at_whole_arrays_are_numpy_s() -> None:
    xs = RANKS["vector"]
    ys: Any = xs + 2
    us: Any = A.use(xs)  # Any: mypy refuses these calls, too
    scope = {"A": A, "np": np, "us": us, "ys": ys}
    np.testing.assert_allclose(value(eval(written(lambda: A.sub(us, ys)), scope)), xs - ys)
    np.testing.assert_allclose(value(eval(written(lambda: A.sub(2, us)), scope)), 2 - xs)
    np.testing.assert_allclose(value(eval(written(lambda: A.max(us, 1)), scope)), np.maximum(xs, 1))
    np.testing.assert_allclose(value(eval(written(lambda: A.floor(us, np.float64)), scope)), np.floor(xs))


def test_a_call_that_is_too_long_or_not_known_is_written_with_usual_names() -> None:
    source = "A.sqrt(A.map(lambda element: element * element + element * element, xs))"
    scope = {"A": A, "xs": A.use(RANKS["vector"])}
    assert written(lambda: eval(source, scope)) == "A.map(A.sqrt, xs)"
    vectors: Any = [scope["xs"]]
    assert written(lambda: A.sqrt(*vectors)) == "A.map(A.sqrt, xs)"


def test_a_variable_of_the_user_s_is_not_bound_again() -> None:
    xs: Any = A.use(RANKS["vector"])
    x, y = 2, 3
    assert written(lambda: A.add(xs, x + y)) == "A.map(lambda z: A.add(z, x + y), xs)"
    z = u = v = w = 1  # all names that hints have: no error of another kind, at least
    assert written(lambda: A.add(xs, x * y * z * u * v * w)).startswith("A.map(lambda ")


def test_other_calls_are_answered_by_what_the_function_is() -> None:
    untyped: Any = A.sum
    with pytest.raises(
        A.AccelTypeError, match=r"^sum\(\) got an unexpected keyword argument 'dtype'\n[^`]*`A.sum\(xs\)`$"
    ):
        untyped(A.use(RANKS["vector"]), dtype=np.float32)
    with pytest.raises(A.AccelTypeError, match=r"^sum\(\) missing 1 required positional argument: 'xs'\n"):
        untyped()
    assert list(inspect.signature(A.sum).parameters) == ["xs"]
