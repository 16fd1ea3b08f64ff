"""Wrong programs that once ended in an error of Python or NumPy, or in none: each is one of accel's, at the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A

# Any: these programs are wrong on purpose.
vector: Any = A.use(np.ones(3))
pair: Any = A.lift(1, 2)
array: Any = np.ones(3)
point: Any = A.index()
line: Any = A.index(1)


def assign() -> None:
    vector[0] = 1.0


def add_in_place() -> None:
    changed = vector
    changed += 1


WRONG: dict[str, tuple[type[A.AccelError], Callable[[], object]]] = {
    "toIndex of two ranks": (A.AccelTypeError, lambda: A.toIndex(A.index(3, 4), line)),
    "intersect of two ranks": (A.AccelTypeError, lambda: A.intersect(A.index(3, 4), line)),
    "indexHead of no index": (A.AccelTypeError, lambda: A.indexHead(point)),
    "indexTail of no index": (A.AccelTypeError, lambda: A.indexTail(point)),
    "toIndex of floats": (A.AccelTypeError, lambda: A.toIndex(A.lift(1.5, 2.5), A.lift(0.5, 1.5))),
    "shapeSize of floats": (A.AccelTypeError, lambda: A.shapeSize(A.lift(1.5, 2.5))),
    "unindex of floats": (A.AccelTypeError, lambda: A.unindex(A.lift(1.5, 2.5))),
    "shape of a tuple": (A.AccelTypeError, lambda: A.shape((2, 3))),  # type: ignore[arg-type]  # wrong on purpose
    "size of an array of the host": (A.AccelTypeError, lambda: A.size(array)),
    "null of a list": (A.AccelTypeError, lambda: A.null([])),  # type: ignore[arg-type]  # wrong on purpose
    "linearIndex of an array of the host": (A.AccelTypeError, lambda: A.linearIndex(array, 0)),
    "linearIndex of an Exp": (A.AccelTypeError, lambda: A.linearIndex(pair, 0)),
    "a record of no class": (A.AccelTypeError, lambda: A.Record(pair)),  # type: ignore[call-arg]  # wrong on purpose
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
    "use of an Acc": (A.AccelTypeError, lambda: A.use(vector)),
    "a record without fields": (A.AccelTypeError, lambda: A.use(np.zeros(3, np.dtype([])))),
    "an array as a strategy": (A.AccelValueError, lambda: A.run(vector, strategy=array)),
    "an array as a cost": (A.AccelValueError, lambda: A.run(vector, cost=array)),
    "a wrong setting for runN": (A.AccelValueError, lambda: A.runN(lambda xs: xs, strategy=array)),
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
