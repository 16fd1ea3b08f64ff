"""What `topK` and `subdivide` ask of a row's length is checked when that is known: errors name what was asked, and the length.

Once: "index (4,) is out of bounds" and "an array of shape (4,) cannot be reshaped to (1, 3)"; none where there was no element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.untyped import accel as U

BACKENDS = ["interpreter", "llvm", "opencl"]

ROWS = np.arange(12.0).reshape(3, 4)


def number(value: int) -> Any:  # Any: for functions without types
    """What is known when the program runs."""
    return U.the(U.use(np.array(value)))


def kept(xs: Any, count: int) -> Any:
    """A vector of so many elements, which is known when the program runs."""
    return U.filter(lambda ix: U.indexHead(ix) < count, U.map(U.index, U.enumFromN((9,), 0)))[0]


LARGEST: dict[str, tuple[Callable[[], Any], str]] = {
    "of a vector": (lambda: U.topK(number(5), U.use(ROWS[0]))[0], "a row of 4 elements has no 5 largest"),
    "places alone": (lambda: U.topK(number(5), U.use(ROWS))[1], "a row of 4 elements has no 5 largest"),
    "of no rows": (lambda: U.topK(number(5), U.use(ROWS[:0]))[0], "a row of 4 elements has no 5 largest"),
    "of empty rows": (lambda: U.topK(number(1), U.use(ROWS[:, :0]))[0], "a row of 0 elements has no 1 largest"),
    "of maybes": (lambda: U.topK(number(5), U.map(U.just, U.use(ROWS)))[1], "a row of 4 elements has no 5 largest"),
    "that a filter keeps": (lambda: U.topK(5, kept(U, 4))[1], "a row of 4 elements has no 5 largest"),
}  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("checks", ["bounds", "all", "none"])
@pytest.mark.parametrize("what", LARGEST)
def test_rows_have_fewer_elements(what: str, checks: Any, backend: str) -> None:
    program, message = LARGEST[what]
    with A.using(checks=checks), pytest.raises(A.AccelValueError, match=f"^topK: {message}\n"):
        A.run(program(), backend=backend)


def after_as_many(k: Any, xs: Any) -> Any:
    """Blocks, behind as many numbers as there would be blocks."""
    return U.append(U.fill((U.quot(U.length(xs), k),), 1.0), U.flatten(U.subdivide(0, k, xs)))


BLOCKS: dict[str, tuple[Callable[[], Any], str]] = {
    "0": (lambda: U.subdivide(1, number(0), U.use(ROWS)), "needs blocks of 1 or more, got 0"),
    "negative": (lambda: U.subdivide(1, number(-2), U.use(ROWS)), "needs blocks of 1 or more, got -2"),
    "0 of nothing": (lambda: U.subdivide(0, number(0), U.use(ROWS[:0])), "needs blocks of 1 or more, got 0"),
    "larger": (
        lambda: U.subdivide(0, number(7), U.use(ROWS)), ": blocks of 7 do not divide extent 3 of dimension 0 of (3, 4)",
    ),
    "of no rows": (
        lambda: U.subdivide(1, number(3), U.use(ROWS[:0])), ": blocks of 3 do not divide extent 4 of dimension 1 of (0, 4)",
    ),
    "computed from constants": (
        lambda: U.subdivide(0, U.constant(9, np.int64) - 6, U.fill((4,), 1.0)),
        ": blocks of 3 do not divide extent 4 of dimension 0 of (4,)",
    ),
    "of a map that is folded": (
        lambda: U.fold(U.add, 0.0, U.subdivide(1, number(3), U.map(lambda x: x + 1, U.use(ROWS)))),
        ": blocks of 3 do not divide extent 4 of dimension 1 of (3, 4)",
    ),
    "of which the number was computed before": (
        lambda: after_as_many(number(3), U.use(ROWS[0])),
        ": blocks of 3 do not divide extent 4 of dimension 0 of (4,)",
    ),
    "of what a filter keeps": (
        lambda: U.subdivide(0, 2, kept(U, 5)), ": blocks of 2 do not divide extent 5 of dimension 0 of (5,)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("checks", ["bounds", "all", "none"])
@pytest.mark.parametrize("what", BLOCKS)
def test_blocks_do_not_divide(what: str, checks: Any, backend: str) -> None:
    program, message = BLOCKS[what]
    with A.using(checks=checks), pytest.raises(A.AccelShapeError) as caught:
        A.run(program(), backend=backend)
    assert caught.value.message in (f"subdivide{message}", f"subdivide {message}")


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_not_computed_asks_nothing(backend: str) -> None:
    xs = U.use(ROWS[0])
    for wrong in (
        U.topK(number(5), xs)[0],
        U.flatten(U.subdivide(0, number(3), xs)),
        U.take(0, U.topK(number(5), xs)[1]),
    ):
        chosen = U.acond(number(0) > 0, U.map(lambda x: U.toFloating(x, np.float64), wrong), xs)
        assert A.run(chosen, backend=backend).tolist() == ROWS[0].tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_calls_of_one_function_ask_anew(backend: str) -> None:
    """Also within a loop, whose turns take the size from what went before."""

    def totals(k: Any, xs: Any) -> Any:
        return U.fold(U.add, 0.0, U.map(lambda x: x + 1, U.subdivide(0, U.the(k), xs))), U.topK(U.the(k), xs)[0]

    run: Any = A.runN(totals, backend=backend)
    for block in (1, 2, 3, 2, 6):
        sums, largest = run(np.array(block), ROWS.ravel())
        assert sums.tolist() == (ROWS.reshape(-1, block) + 1).sum(1).tolist()
        assert largest.tolist() == ROWS.ravel()[::-1][:block].tolist()
        with pytest.raises(A.AccelShapeError, match="blocks of 5 do not divide extent 12"):
            run(np.array(5), ROWS.ravel())

    def halves(x: Any) -> Any:
        return U.slice(U.subdivide(0, 2, x), (A.All, 0))

    assert A.run(U.iterate(2, halves, U.use(ROWS.ravel())), backend=backend).tolist() == [0, 4, 8]
    with pytest.raises(A.AccelShapeError, match=r"blocks of 2 do not divide extent 3 of dimension 0 of \(3,\)"):
        A.run(U.iterate(3, halves, U.use(ROWS.ravel())), backend=backend)


def test_maps_are_fused_with_what_reads_blocks() -> None:
    def totals(k: Any, xs: Any) -> Any:
        return U.fold(U.add, 0.0, U.map(lambda x: x + 1, U.subdivide(0, U.the(k), U.map(lambda x: x * 2, xs))))

    assert A.explain(totals, np.array(2), ROWS.ravel()).loops == 1
