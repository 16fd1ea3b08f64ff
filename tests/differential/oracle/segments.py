"""Folds and scans of segments: each segment of each row as a row of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from tests.differential.oracle.arrays import Array, Function, computed, flat, rows
from tests.differential.oracle.reductions import Orders, fold
from tests.differential.oracle.spare import spare
from tests.differential.oracle.values import Fault, Tree, Value, joined, picked


def fold_segments(
    orders: Orders, f: Function, seed: Tree | None, array: Array, offsets: Callable[[], list[int]]
) -> Array:
    """The folds of the segments that begin and end at offsets."""

    def both() -> tuple[tuple[int, ...], Tree]:
        spare(seed)
        (*outer, extent), bounds = array.extents, list(pairwise(offsets()))
        found = [fold(orders, f, seed, _part(array, start, end)) for start, end in _checked(bounds, extent, outer)]
        if not found or 0 in outer:
            return (*outer, len(bounds)), picked(array.element, slice(0, 0))
        columns = [rows(each.element, (*outer, 1)) for each in found]
        return (*outer, len(bounds)), flat(joined(columns, -1))

    return computed(both, "segments")


def scan_segments(
    scans: Callable[[Array], Sequence[Array]], seed: object, array: Array, offsets: Callable[[], list[int]]
) -> list[Array]:
    """What some scans give of each segment, side by side; `scans` of a row that is a segment, from a seed if there is one."""

    def both(number: int) -> tuple[tuple[int, ...], Tree]:
        spare(seed)
        (*outer, extent), bounds = array.extents, list(pairwise(offsets()))
        if not all(0 <= start <= end <= extent for start, end in bounds):
            raise Fault("no segment of the array")
        found = [scans(_part(array, start, end))[number] for start, end in bounds]
        widths = [1 if number else each.extents[-1] for each in found]
        if not sum(widths):
            return (*outer, sum(widths)), picked(array.element, slice(0, 0))
        columns = [rows(each.element, (*outer, width)) for each, width in zip(found, widths, strict=True) if width]
        return (*outer, sum(widths)), flat(joined(columns, -1))

    return [computed(lambda: both(0), "segments"), computed(lambda: both(1), "segments")]


def _checked(bounds: list[tuple[int, int]], extent: int, outer: list[int]) -> list[tuple[int, int]]:
    if 0 not in outer and any(not 0 <= start <= end <= extent for start, end in bounds):
        raise Fault("no segment of the array")
    return [] if 0 in outer else bounds


def _part(array: Array, start: int, end: int) -> Array:
    def cut() -> tuple[tuple[int, ...], Tree]:
        return (*array.extents[:-1], end - start), flat(
            picked(rows(array.element, array.extents), (..., slice(start, end)))
        )

    return computed(cut, "a segment")


def whole(descriptor: Array) -> list[int]:
    """The numbers of a descriptor."""
    element = descriptor.element
    assert isinstance(element, Value)
    return [int(number) for number in element.data]


def summed(descriptor: Array) -> list[int]:
    """The offsets that lengths come to."""
    return [*accumulate(whole(descriptor), initial=0)]
