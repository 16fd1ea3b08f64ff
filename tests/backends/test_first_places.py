"""The first places of rows as the host finds them, against NumPy's stable sort: all types and their limits, both orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from accel.backends.first_places import AT_ONCE, LONG, every_place, first_places

Host = np.ndarray[Any, np.dtype[Any]]

KINDS: list[Any] = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FLOATS: list[Any] = [np.float16, np.float32, np.float64]


def drawn(kind: Any, length: int, most: int) -> Host:
    """Rows with ties, and with all that is special."""
    random = np.random.default_rng(length + most)
    rows = random.integers(0, most, (7, length)).astype(kind)
    if np.issubdtype(kind, np.floating):
        special = [np.inf, -np.inf, np.nan, -np.nan, 0.0, -0.0, np.finfo(kind).tiny / 2, np.finfo(kind).max]
        rows[1] -= most // 2
        rows[2:5] = random.choice(np.array(special, kind), (3, length))
        rows[5] = np.nan
    elif np.issubdtype(kind, np.integer):
        limits = np.iinfo(kind)
        rows[2:5] = random.choice(
            np.array([limits.min, limits.max, limits.max - 1, 0, limits.max // 2], kind), (3, length)
        )
    return rows


def meant(rows: Host, first: int, descending: bool) -> Host:
    return sorted_places(rows, descending)[..., :first]


def sorted_places(rows: Host, descending: bool) -> Host:
    last = rows.shape[-1] - 1
    order = np.argsort(rows[..., ::-1] if descending else rows, -1, kind="stable")
    return last - order[..., ::-1] if descending else order


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", KINDS + FLOATS)
def test_they_are_those_of_a_stable_sort(kind: Any, descending: bool) -> None:
    for length in (1, 2, 9, 100, 1000, AT_ONCE + 1, LONG):
        for most in (3, 120):
            rows = drawn(kind, length, most)
            places = sorted_places(rows, descending)
            assert np.array_equal(every_place(rows, descending), places)
            for first in {1, max(1, length // 9), length // 8} - {0}:
                assert np.array_equal(first_places(rows, first, descending), places[:, :first])
                assert np.array_equal(first_places(rows[0], first, descending), places[0, :first])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_wide_integers_that_are_near_to_each_other(kind: Any, descending: bool) -> None:
    """Up to the widest range in which differences and places are one number, at both ends of the type."""
    limits, random = np.iinfo(kind), np.random.default_rng(2)
    for range_ in (3, 1 << 40, 1 << 56, (1 << 56) + 1):
        away = random.integers(0, range_, (5, 100)).astype(kind)
        away[:, 7], away[:, 50:60] = range_ - 1, 0
        for rows in (away + kind(limits.min), kind(limits.max) - away):
            assert np.array_equal(every_place(rows, descending), sorted_places(rows, descending))
            assert np.array_equal(first_places(rows, 12, descending), meant(rows, 12, descending))


@pytest.mark.parametrize("kind", [np.int32, np.float64])
def test_rows_of_more_dimensions_with_gaps(kind: Any) -> None:
    rows = drawn(kind, 400, 50)[:6, ::2].reshape(2, 3, 200)[:, ::-1]
    assert np.array_equal(first_places(rows, 5, True), meant(rows, 5, True))
