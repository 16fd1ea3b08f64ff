"""Errors of functions and elements that are nearly right: what they say to write is what was meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A

UNTYPED: Any = A  # mypy refuses wrong programs, too
XS = A.use(np.arange(6))
BOOLS = A.use(np.arange(6) > 2)


def countdown(x: A.Exp[np.int64]) -> A.Exp[np.int64]:
    return A.cond(x < 1, 0, countdown(x - 1))


def shortened(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
    return A.acond(A.null(xs), xs, shortened(A.tail(xs)))


MAYBES = A.map(A.just, XS)
NOT_ALIKE = "`A.map(lambda m: A.fromMaybe(default, m), xs)`"

WRONG: dict[str, tuple[Callable[[], object], type[A.AccelError], str, str]] = {
    "append": (
        lambda: UNTYPED.append(XS, MAYBES),
        A.AccelTypeError,
        "append needs arrays of one element type, got i64 and maybe i64",
        NOT_ALIKE,
    ),
    "searchsorted": (
        lambda: UNTYPED.searchsorted(MAYBES, XS),
        A.AccelTypeError,
        "searchsorted needs arrays of one element type, got maybe i64 and i64",
        NOT_ALIKE,
    ),
    "compact": (
        lambda: UNTYPED.compact(XS, XS),
        A.AccelTypeError,
        "compact needs a mask of bools, got elements of type i64",
        "`A.map(lambda x: x != 0, mask)`",
    ),
    "cis of a tuple": (
        lambda: UNTYPED.cis(A.lift(XS[0], XS[1])),
        A.AccelTypeError,
        "cis takes floats, got (i64, i64)",
        "an item of a tuple is taken by `t[0]`",
    ),
    "cis of a complex number": (
        lambda: UNTYPED.cis(1j),
        A.AccelTypeError,
        "cis takes floats, got c128",
        "`A.real(z)`",
    ),
    "sort": (
        lambda: UNTYPED.sort(A.map(lambda x: A.mkComplex(x, x), A.use(np.ones(3)))),
        A.AccelTypeError,
        "sort takes numbers, bools, tuples and maybes of them, got c128",
        "`A.sortBy(A.magnitude, xs)`",
    ),
    "sort of maybes": (
        lambda: UNTYPED.sort(A.map(lambda x: A.just(A.mkComplex(x, x)), A.use(np.ones(3)))),
        A.AccelTypeError,
        "sort takes numbers, bools, tuples and maybes of them, got maybe c128",
        "`A.sortBy(lambda x: …, xs)`",
    ),
    "and_": (
        lambda: UNTYPED.and_(XS),
        A.AccelTypeError,
        "and_ takes an array of bools, got elements of type i64",
        "`A.all(lambda x: x != 0, xs)`",
    ),
    "or_": (
        lambda: UNTYPED.or_(XS),
        A.AccelTypeError,
        "or_ takes an array of bools, got elements of type i64",
        "`A.any(lambda x: x != 0, xs)`",
    ),
    "the": (
        lambda: A.iiterate(3, lambda i, xs: A.map(lambda x: x + UNTYPED.the(i), xs), XS),
        A.AccelTypeError,
        "the takes an Acc, got an Exp",
        "leave `A.the` out",
    ),
    "any": (
        lambda: UNTYPED.any(lambda x: x, XS),
        A.AccelTypeError,
        "the result of the predicate of any must be bool, got i64",
        "`lambda x: x != 0`",
    ),
    "all": (
        lambda: UNTYPED.all(lambda x: x, XS),
        A.AccelTypeError,
        "the result of the predicate of all must be bool, got i64",
        "`lambda x: x != 0`",
    ),
    "sum": (
        lambda: UNTYPED.sum(BOOLS),
        A.AccelTypeError,
        "sum takes an array of numbers, got elements of type bool",
        "`A.sum(A.map(A.boolToInt, xs))`",
    ),
    "product": (
        lambda: UNTYPED.product(BOOLS),
        A.AccelTypeError,
        "product takes an array of numbers, got elements of type bool",
        "`A.and_`",
    ),
    "an index of another rank": (
        lambda: UNTYPED.permute(A.add, A.fill((2, 3), 0), lambda ix: A.just(ix), XS),
        A.AccelTypeError,
        "must be maybe (i64, i64), got maybe (i64,)",
        "an index of that rank is `A.just(A.index(i, j))`",
    ),
    "recursion": (
        lambda: A.map(countdown, XS),
        A.AccelStagingError,
        "the function of map calls itself too deeply",
        "`A.while_` or `A.awhile`",
    ),
    "recursion over arrays": (
        lambda: A.runN(shortened)(np.arange(6)),
        A.AccelStagingError,
        "the function calls itself too deeply",
        "`A.while_` or `A.awhile`",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_error_says_what_was_meant(name: str) -> None:
    mistake, kind, message, hint = WRONG[name]
    with pytest.raises(kind) as caught:
        mistake()
    assert message in caught.value.message
    assert caught.value.hint is not None
    assert hint in caught.value.hint
    assert caught.value.where is not None
    assert caught.value.where.file == __file__


def test_what_they_say_to_write_runs() -> None:
    assert A.run(A.all(lambda x: x != 0, XS), backend="interpreter") == np.False_
    assert A.run(A.sum(A.map(A.boolToInt, BOOLS)), backend="interpreter") == 3


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (np.int64(3), np.float32),
        (np.float64(2.5), np.float32),
        (np.float32(2.5), np.float64),
        (np.int32(-3), np.int8),
        (np.uint8(200), np.complex64),
        (np.complex64(1 + 2j), np.complex128),
        (np.True_, np.bool_),
    ],
)
def test_a_constant_of_a_type_takes_numpy_s_scalars_of_any(given: Any, kind: Any) -> None:
    found = A.run(A.unit(A.constant(given, kind)), backend="interpreter")
    assert found.dtype == kind
    assert found == given


@pytest.mark.parametrize(
    ("given", "kind"),
    [(np.float64(2.5), np.int32), (np.int64(300), np.int8), (np.True_, np.int8), (np.float64(1e300), np.float32)],
)
def test_a_constant_that_does_not_fit_is_refused(given: Any, kind: Any) -> None:
    with pytest.raises(A.AccelTypeError, match="the constant"):
        A.constant(given, kind)


def test_errors_of_foreign_functions_say_whose_they_are() -> None:
    mine = KeyError("mine")

    def wrong(xs: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
        raise mine

    program = A.foreign_acc(wrong, lambda xs: A.map(A.neg, xs), XS)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine") as caught:
            A.run(program, backend="interpreter")
    (note,) = caught.value.__notes__
    assert note.startswith(f"raised by the function of foreign_acc at {__file__}:")
