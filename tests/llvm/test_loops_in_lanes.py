"""Loops of scalar code in lanes: what is the same in all of them is a scalar, also where lanes leave the loop one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.untyped import runN

SIZE = 37
"""Of several vectors and a rest."""


def xs() -> np.ndarray[Any, Any]:
    return np.random.default_rng(5).integers(0, 9, SIZE).astype(np.float32)


def table() -> np.ndarray[Any, Any]:
    return np.random.default_rng(6).random((6, 3), np.float32)


def counted(t: Any, x: Any) -> Any:
    """A number of turns that is known, and a row of the table in each."""
    return A.iiterate(6, lambda k, s: s * t[k, 0] + x * t[k, 2], A.cast(x, np.float32))


def apart(t: Any, x: Any) -> Any:
    """Lanes leave it in different turns, and the number of the last one is asked for."""
    going = A.while_(
        lambda s: (s[0] < 6) & (s[1] < x),
        lambda s: A.lift(s[0] + 1, s[1] + 2 * t[s[0], 1]),
        A.lift(0, A.constant(0, np.float32)),
    )
    return going[1] + A.toFloating(going[0], np.float32) * 10


def after(t: Any, x: Any) -> Any:
    """A loop that begins with the turn in which each lane has left another one."""
    left = A.while_(lambda s: (s < 6) & (t[A.min(s, 5), 1] * 4 < x), lambda s: s + 1, A.constant(0, np.int64))
    return A.toFloating(A.iiterate(3, lambda k, s: 3 * s + k, left), np.float32)


def nested(t: Any, x: Any) -> Any:
    """A loop in a loop, whose turns depend on the table alone, after one that lanes leave apart."""
    first = A.while_(lambda s: s[0] * 2 < x, lambda s: A.lift(s[0] + 1, s[1] + 1), A.lift(A.constant(0, np.float32), 0))

    def row(k: Any, s: Any) -> Any:
        turned = A.while_(lambda p: p[0] < 1, lambda p: A.lift(p[0] + t[k, 0] + 0.25, p[1] + 1), A.lift(t[k, 1], s))
        return turned[1] + A.toFloating(first[1], np.float32)

    return A.iiterate(6, row, x)


def branches(t: Any, x: Any) -> Any:
    """What chooses is the same in all lanes: between numbers, loads, and numbers that all lanes share."""

    def turn(k: Any, s: Any) -> Any:
        total, row, place = A.unlift(s)
        place = A.cond(t[k, 2] < 0.5, A.min(place + 1, 5), place)
        row = A.cond(t[k, 1] < 0.5, t[place, 0], row)
        return A.lift(A.cond(A.even(place), total + row * x, total - row), row, place)

    return A.iiterate(6, turn, A.lift(x, A.constant(0, np.float32), 0))[0]


def guarded(t: Any, x: Any) -> Any:
    """Loops that only some lanes run, in some vectors none; the second would not end for the others."""
    start = A.cond(x < 0, 6, 2)

    def loop() -> Any:
        return A.while_(
            lambda s: t[s[0], 0] < 2, lambda s: A.lift(s[0] + A.boolToInt(s[0] < 5), s[1] + 1), A.lift(start, 0)
        )

    bounded = A.while_(lambda s: s[0] < 6, lambda s: A.lift(s[0] + 1, s[1] + t[s[0], 0]), A.lift(start, x))
    return A.cond(x > 100, A.toFloating(loop()[1], np.float32), bounded[1])


PROGRAMS: tuple[Callable[[Any, Any], Any], ...] = (counted, apart, after, nested, branches, guarded)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("threads", [1, 3])
def test_every_lane_has_its_own_bits(program: Callable[[Any, Any], Any], threads: int) -> None:
    def mapped(t: Any, xs: Any) -> Any:
        return A.map(lambda x: program(t, x), xs)

    fast, reference = runN(mapped, backend="llvm", threads=threads), runN(mapped, backend="interpreter")
    for size in (1, 7, SIZE):
        assert fast(table(), xs()[:size]).tobytes() == reference(table(), xs()[:size]).tobytes()


def test_rows_of_the_table_are_read_by_scalars() -> None:
    text = A.explain(lambda t, xs: A.map(lambda x: counted(t, x), xs), table(), xs()).stages["llvm"]
    assert "masked.gather" not in text
    text = A.explain(lambda t, xs: A.map(lambda x: apart(t, x), xs), table(), xs()).stages["llvm"]
    assert "masked.gather" not in text


def test_rows_that_lanes_share_are_read_as_vectors() -> None:
    """A sparse matrix times a dense one: where a row of the first begins and ends is the same for all columns."""

    def product(starts: Any, columns: Any, values: Any, dense: Any) -> Any:
        def element(ix: Any) -> Any:
            i, j = A.unindex(ix)

            def add(s: Any) -> Any:
                return A.lift(s[0] + 1, s[1] + values[s[0]] * dense[columns[s[0]], j])

            return A.while_(lambda s: s[0] < starts[i + 1], add, A.lift(starts[i], 0.0))[1]

        return A.generate((A.length(starts) - 1, A.unlift(A.shape(dense))[1]), element)

    random = np.random.default_rng(7)
    lengths = random.integers(0, 4, 50)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns, values = random.integers(0, 20, starts[-1]), random.integers(1, 9, starts[-1]).astype(np.float64)
    dense = random.integers(1, 9, (20, 35)).astype(np.float64)
    whole = np.zeros((50, 20))
    np.add.at(whole, (np.repeat(np.arange(50), lengths), columns), values)
    assert np.array_equal(runN(product)(starts, columns, values, dense), whole @ dense)
    columns[-1] = 20
    with pytest.raises(A.AccelIndexError):
        runN(product)(starts, columns, values, dense)


def test_only_lanes_that_run_must_be_in_bounds() -> None:
    def behind(ts: Any, xs: Any) -> Any:
        def summed(x: Any) -> Any:
            return A.while_(lambda s: s[0] < x, lambda s: A.lift(s[0] + 1, s[1] + ts[s[0]]), A.lift(0, 0))[1]

        return A.map(summed, xs)

    ts = np.arange(5)
    assert runN(behind)(ts, np.array([0, 5, 3] * 9)).tolist() == [0, 10, 3] * 9
    with pytest.raises(A.AccelIndexError):
        runN(behind)(ts, np.array([0, 5, 3, 6] * 9))
    assert (
        runN(
            lambda ts, xs: A.map(
                lambda x: A.cond(x < 9, A.iiterate(x, lambda k, s: s + ts[k], A.constant(0, np.int64)), x), xs
            )
        )(ts, np.array([0, 9, 3, 9] * 9)).tolist()
        == [0, 9, 3, 9] * 9
    )
