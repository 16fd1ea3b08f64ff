"""Short rows in order, against NumPy's stable sort: all types and lengths, ties, NaNs, zeros of both signs, threads."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.llvm.sorting.networks import GROUPS, comparisons, network_sort, suits
from accel.backends.llvm.sorting.networks_frame import MOST
from tests import untyped
from tests.guard_pages import guarded_copy

pytestmark = pytest.mark.llvm

Host = np.ndarray[Any, np.dtype[Any]]
KINDS = [np.bool_, np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64]


def mixed(kind: Any, rows: int, length: int) -> Host:
    """Few different numbers, and of floats all that is special."""
    random = np.random.default_rng(length)
    if kind is np.bool_ or np.issubdtype(kind, np.unsignedinteger):
        top = 2 if kind is np.bool_ else int(np.iinfo(kind).max)
        return np.array([0, 1, top - 1, top]).astype(kind)[random.integers(0, 4, (rows, length))]
    found = random.integers(-4, 5, (rows, length)).astype(kind)
    special = [np.nan, -0.0, np.inf, -np.inf] if np.issubdtype(kind, np.floating) else [np.iinfo(kind).min]
    for number in special:
        found[random.random(found.shape) < 0.1] = number
    return found


def scalar(kind: Any) -> ScalarType:
    return next(each for each in ScalarType if each.dtype == kind)


def meant_places(rows: Host, descending: bool) -> Host:
    """By a stable sort; NaNs are the greatest, and equal to each other."""
    order = np.argsort(rows[..., ::-1] if descending else rows, -1, kind="stable")
    places: Host = rows.shape[-1] - 1 - order[..., ::-1] if descending else order
    return places


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_in_stable_order(kind: Any) -> None:
    for length, rows, threads in product((2, 3, 7, 16, 33, MOST), (1, 70), (1, 2)):
        source = guarded_copy(True, mixed(kind, rows, length))
        for descending in (False, True):
            places = guarded_copy(True, np.full(source.shape, -1))
            network_sort(places, source, scalar(kind), True, descending, length, threads)
            assert np.array_equal(places, meant_places(source, descending))
        elements = guarded_copy(True, np.zeros_like(source))
        network_sort(elements, source, scalar(kind), False, False, length, threads)
        meant = np.take_along_axis(source, meant_places(source, False), -1)
        assert np.array_equal(np.isnan(elements), np.isnan(meant))
        there = ~np.isnan(meant)
        assert elements[there].tobytes() == meant[there].tobytes()


def test_only_the_first_places_are_written() -> None:
    source = mixed(np.float64, 40, 9)
    result = np.full(source.shape, -1)
    network_sort(result, source, ScalarType.F64, True, True, 4, 1)
    assert np.array_equal(result[:, :4], meant_places(source, True)[:, :4])
    assert (result[:, 4:] == -1).all()


def test_every_network_sorts_zeros_and_ones() -> None:
    """Which sorts whatever there is [Knuth 5.2.2, theorem Z]; of longer rows some of what there may be."""
    for length in range(2, MOST + 1):
        numbers = np.arange(1 << length) if length <= 10 else np.random.default_rng(length).integers(0, 1 << 62, 200)
        rows = [(numbers >> min(place, 62)) & 1 for place in range(length)]
        for one, other in comparisons(length):
            rows[one], rows[other] = np.minimum(rows[one], rows[other]), np.maximum(rows[one], rows[other])
        assert all((before <= after).all() for before, after in pairwise(rows))


def test_few_rows_and_long_ones_are_sorted_otherwise() -> None:
    assert suits((16 * GROUPS, MOST), ScalarType.F32, False)
    assert not suits((16 * GROUPS - 1, MOST), ScalarType.F32, False)
    assert suits((8 * GROUPS, 2), ScalarType.F32, True)
    assert not suits((1000, MOST + 1), ScalarType.F32, False)
    assert not suits((1000, 1), ScalarType.F32, False)


def test_programs_sort_short_rows_in_networks() -> None:
    rows = mixed(np.float32, 600, 9).reshape(20, 30, 9)
    order = meant_places(rows, False)
    sorted_rows, places = untyped.run((A.sort(A.use(rows)), A.argsort(A.use(rows))))
    assert np.array_equal(sorted_rows, np.take_along_axis(rows, order, -1), equal_nan=True)
    assert np.array_equal(places, order)
    assert np.array_equal(untyped.run(A.topK(3, A.use(rows))[1]), meant_places(rows, True)[..., :3])
    padded = np.pad(rows[0], ((1, 1), (1, 1)), mode="edge")
    height, width = rows[0].shape
    windows = A.generate((height, width, 9), lambda ix: A.use(padded)[A.index(ix[0] + ix[2] // 3, ix[1] + ix[2] % 3)])
    medians = untyped.run(A.slice(A.sort(windows), (A.All, A.All, 4)))
    around = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).reshape(height, width, 9)
    assert np.array_equal(medians, np.sort(around)[..., 4], equal_nan=True)
