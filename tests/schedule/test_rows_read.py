"""Along which loops sides of products read rows, and where rows may join: convolutions, and what is only like them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ir.mentions import nests
from accel.schedule.splitting.bounds import without_checks
from accel.schedule.templates.tile import Side, tile
from benchmarks.convolutions import by_input, by_weights, by_weights_of_last, forward, forward_of_last
from tests import untyped
from tests.llvm.test_tile import Rows, numbers, program

pytestmark = [pytest.mark.llvm, pytest.mark.solver]

index: Callable[..., Rows] = untyped.accel.index


def sides(function: Callable[[Rows, Rows], Rows], left: tuple[int, ...], right: tuple[int, ...]) -> dict[str, Side]:
    """The side that reads windows, and the other one."""
    (nest,) = nests(program(function, numbers(left, "float32"), numbers(right, "float32")))
    found = tile(without_checks(nest, reads=True)[0])
    assert found is not None
    windows, other = sorted((found.rows, found.columns), key=lambda side: side.own is None)
    return {"windows": windows, "other": other}


FIRST, LAST = (2, 3, 6, 7), (2, 6, 7, 3)


def test_which_rows() -> None:
    """Of windows of channels that come first, rows of the image and of the weights; of channels that come last these."""
    found = sides(forward, FIRST, (5, 3, 3, 2)), sides(by_weights, FIRST, (2, 5, 4, 5))
    assert [each["windows"].by_extents for each in found] == [True, True]
    assert [each["other"].along_fold for each in found] == [True, True]
    assert sides(by_input, FIRST, (3, 2, 3, 2))["windows"].by_extents
    assert sides(forward_of_last, LAST, (3, 2, 3, 5))["windows"].along_fold
    last = sides(by_weights_of_last, LAST, (2, 4, 5, 5))["windows"]
    assert not last.along_fold
    assert not last.by_extents


def joined(side: Side) -> list[bool | None]:
    """Whether rows of the side's own loops may join, and those of the fold's; None where there are no such loops."""
    return [None if each is None else each.joins is not None for each in (side.own, side.of_fold)]


def test_where_rows_may_join() -> None:
    """Where two indices are added to the last two of what is read, each to one of them."""
    assert joined(sides(forward, FIRST, (5, 3, 3, 2))["windows"]) == [True, True]
    assert joined(sides(by_weights, FIRST, (2, 5, 4, 5))["other"]) == [None, True]
    assert joined(sides(forward_of_last, LAST, (3, 2, 3, 5))["windows"]) == [False, True]
    assert joined(sides(by_weights_of_last, LAST, (2, 4, 5, 5))["windows"]) == [True, False]
    assert joined(sides(by_input, FIRST, (3, 2, 3, 2))["windows"]) == [False, False]


@pytest.mark.parametrize(
    "element",
    [
        lambda x, i, j, a, b: x[i + a, 2 * j + b],
        lambda x, i, j, a, b: x[i + a, j + b - A.min(j, 2)],
        lambda x, i, j, a, b: x[j + a, i + b],
        lambda x, i, j, a, b: x[i + a, j + b] + A.cast(j, np.float32),
        lambda x, i, j, a, b: A.cond(j > 2, x[i + a, j + b], 0),
    ],
)
def test_where_they_may_not(element: Callable[..., Any]) -> None:
    """Whatever else is done with an index, the next row is not what comes when it counts on."""

    def windows(x: Rows, w: Rows) -> Rows:
        _, high, wide = A.unlift(w.shape)

        def window(ix: Rows) -> Rows:
            i, j, a, b = A.unindex(ix)
            return element(x, i, j, a, b)

        return A.einsum("ijab,oab->ijo", A.generate(index(4, 5, high, wide), window), w)

    found = joined(sides(windows, (12, 13), (3, 4, 5))["windows"])
    assert found[0] is False
