"""A `nothing()` takes its type from what it meets, also inside of a tuple or of another maybe.

Once: "cond needs operands of one type, got (maybe i64, i64) and (maybe (), i64)".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped

I = np.int64  # noqa: E741  # the element type of all programs here
XS = np.arange(6)


def _in_a_tuple(x: A.Exp[I]) -> A.Exp[I]:
    pair = A.cond(x > 3, A.lift(A.just(x), x), A.lift(A.nothing(), x + 1))
    return A.fromMaybe(0, pair[0]) * 100 + pair[1]


def _in_either_branch(x: A.Exp[I]) -> A.Exp[I]:
    pair = A.cond(x > 3, A.lift(A.just(x), A.nothing()), A.lift(A.nothing(), A.just(x + 1)))
    return A.fromMaybe(0, pair[0]) * 100 + A.fromMaybe(0, pair[1])


def _in_a_maybe(x: A.Exp[I]) -> A.Exp[I]:
    outer = A.cond(x > 1, A.just(A.nothing()), A.cond(x > 0, A.just(A.just(x)), A.nothing()))
    return A.maybe(A.constant(-1), lambda inner: A.fromMaybe(-2, inner), outer)


def _in_nested_choices(x: A.Exp[I]) -> A.Exp[I]:
    none = A.cond(x > 2, A.lift(A.nothing(), 1), A.cond(x > 1, A.lift(A.nothing(), 2), A.lift(A.nothing(), 3)))
    pair = A.select(x > 4, A.lift(A.just(x), 4), none)
    return A.fromMaybe(0, pair[0]) * 10 + pair[1]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (_in_a_tuple, [1, 2, 3, 4, 404, 505]),
        (_in_either_branch, [1, 2, 3, 4, 400, 500]),
        (_in_a_maybe, [-1, 1, -2, -2, -2, -2]),
        (_in_nested_choices, [3, 3, 2, 1, 1, 54]),
    ],
)
def test_nothing_takes_its_type_from_the_other_branch(
    function: Callable[[A.Exp[I]], A.Exp[I]], expected: list[int]
) -> None:
    """Whichever branch it stands in, and however deep."""
    program = A.map(function, A.use(XS))
    assert untyped.run(program, backend="interpreter").tolist() == expected
    assert untyped.run(program).tolist() == expected


def test_a_seed_with_nothing_in_it() -> None:
    """The last element above 3, and how many there were: the seed is a tuple with a `nothing()`."""
    pairs = A.map(lambda x: A.cond(x > 3, A.lift(A.just(x), 1), A.lift(A.nothing(), 0)), A.use(XS))

    # Any: the type is what is tested.
    def later(p: A.Exp[Any], q: A.Exp[Any]) -> A.Exp[Any]:
        return A.lift(A.cond(A.isJust(q[0]), q[0], p[0]), p[1] + q[1])

    last = A.fold(later, A.lift(A.nothing(), 0), pairs)
    result = A.map(lambda p: A.lift(A.fromMaybe(-1, p[0]), p[1]), last)
    assert [int(part) for part in untyped.run(A.unzip(result))] == [5, 2]


def test_a_just_of_nothing_at_all_is_no_nothing() -> None:
    """`just(lift())` has a value, the empty tuple; it does not become another type."""
    unit: Any = A.lift()  # Any: mypy rejects it, too
    with pytest.raises(A.AccelTypeError, match="must be maybe i64, got maybe"):
        A.map(lambda x: A.cond(x > 3, A.just(x), A.just(unit)), A.use(XS))
