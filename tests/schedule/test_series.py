"""Which nests of a program run together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

import accel as A
from accel import settings
from accel.backends.protocol import HostArray
from accel.errors import AccelInternalError
from accel.explanation.explain import subject
from accel.ir.nodes import Program
from accel.schedule.machine import PROCESSOR
from accel.schedule.nodes import Series
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.series import on_processor, verify_series
from accel.schedule.text import series_text
from tests.schedule.programs import floats, lowered

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time


def along(of_rows: Handle, xs: Handle) -> Handle:
    return A.replicate((A.All, A.unlift(xs.shape)[1]), of_rows)


def centred(xs: Handle) -> Handle:
    return A.zipWith(A.sub, xs, along(A.fold(A.add, 0, xs), xs))


def found_in(loops: Program) -> tuple[Series, ...]:
    return program_schedules(loops, PROCESSOR).series


def series(function: Callable[[Handle], object]) -> list[str]:
    """The texts of a function's series."""
    return list(map(series_text, found_in(lowered(function, floats(5, 7)).loops)))


def test_normalised_rows() -> None:
    """Three nests: what is passed is the middle one's matrix alone."""
    found = series(lambda xs: A.zipWith(A.div, centred(xs), along(A.fold1(A.max, centred(xs)), xs)))
    assert found == ["series of %1, %2, %5: rows of %0, %1, %3, %4, %6; passes %3"]


def test_results_are_not_passed() -> None:
    def both(xs: Handle) -> object:
        lifted = centred(xs)
        return lifted, A.fold1(A.max, A.zipWith(A.sub, lifted, along(A.fold1(A.max, lifted), xs)))

    (found,) = series(both)
    assert "passes" not in found


def test_arrays_that_two_folds_read_are_rows() -> None:
    assert len(series(lambda xs: (A.fold(A.add, 0, xs), A.scanr1(A.add, xs)))) <= 1


def other_row(xs: Handle) -> Handle:
    rows, columns = A.unlift(xs.shape)
    made = centred(xs)

    def following(place: Any) -> Any:
        i, j = A.unindex(place)
        return A.index((i + 1) % rows, j)

    return A.zipWith(A.mul, A.backpermute((rows, columns), following, made), along(A.fold1(A.max, made), xs))


def columns(xs: Handle) -> Handle:
    sums = A.fold(A.add, 0, A.transpose(xs))
    return A.zipWith(A.mul, xs, A.replicate((A.unlift(xs.shape)[0], A.All), sums))


def distances(xs: Handle) -> Handle:
    """Between the rows of a matrix."""
    rows = A.unlift(xs.shape)[0]
    pairs = A.zipWith(A.sub, A.replicate((A.All, rows, A.All), xs), A.replicate((rows, A.All, A.All), xs))
    return A.fold(A.add, 0, A.map(lambda v: v * v, pairs))


def apart(function: Callable[..., object], *arrays: HostArray) -> Program:
    """The loops of a function, in which those of products stand for themselves: they slow down what shares them."""
    return subject(function, arrays, settings.changed({"strategy": "greedy"})).staged.loops


def test_what_folds_the_rows_of_a_product() -> None:
    """The product runs in tiles, and is the first of the series."""
    found = found_in(apart(lambda xs: A.argmin(distances(xs)), floats(5, 7)))
    assert list(map(series_text, found)) == ["series of %1, %5: rows of %4, %6.1; passes %4"]


def test_products_are_first() -> None:
    """Behind one there is a series without it, for sizes of other tiles; before one there are none."""

    def shares(xs: Handle) -> Handle:
        lifted = centred(distances(centred(xs)))
        return A.matmul(A.zipWith(A.sub, lifted, along(A.fold1(A.max, lifted), lifted)), xs)

    assert list(map(series_text, found_in(apart(shares, floats(5, 7))))) == [
        "series of %1, %2: rows of %0, %1, %3",
        "series of %4, %8, %9: rows of %7, %8, %10, %11; passes %7",
        "series of %8, %9: rows of %7, %8, %10, %11",
    ]


def test_batches_of_products_are_in_no_series() -> None:
    def largest(xs: Handle, ys: Handle) -> Handle:
        scores: Handle = A.matmul(xs, ys)
        return A.fold1(A.max, scores)

    loops = apart(largest, floats(3, 5, 7), floats(3, 7, 4))
    assert not found_in(loops)


OTHERS: dict[str, Callable[[Handle], object]] = {
    "one nest": lambda xs: A.map(lambda x: x + 1, xs),
    "a fold of all rows": lambda xs: A.map(lambda x: x - A.the(A.foldAll(A.add, 0, xs)), xs),
    "columns": columns,
    "vectors": lambda xs: A.map(lambda x: x / A.the(A.fold(A.add, 0, A.flatten(xs))), A.flatten(xs)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_series(name: str) -> None:
    assert not series(OTHERS[name])


def test_rows_of_other_numbers_are_not_passed() -> None:
    """The nest that reads other rows stands in no series with the one that makes them."""
    loops = lowered(other_row, floats(5, 7)).loops
    for found in found_in(loops):
        made = {output.array for nest in found.nests for output in nest.outputs}
        assert made & set(loops.results) == set() or len(found.nests) < 3


def whole() -> Series:
    (found,) = found_in(lowered(lambda xs: centred(centred(xs)), floats(5, 7)).loops)
    return found


def test_what_is_found_holds() -> None:
    verify_series(whole(), on_processor)


def test_what_does_not_hold_is_found() -> None:
    found = whole()
    (other,) = lowered(lambda xs: A.fold(A.add, 0, A.transpose(xs)), floats(5, 7)).nests
    with pytest.raises(AccelInternalError, match="a series of"):
        verify_series(replace(found, nests=(*found.nests, other)), on_processor)
    with pytest.raises(AccelInternalError, match="makes what is needed before"):
        verify_series(replace(found, nests=found.nests[::-1]), on_processor)
    with pytest.raises(AccelInternalError, match="what is passed is not visited by rows"):
        verify_series(replace(found, rows=()), on_processor)
    (product,) = lowered(lambda xs: distances(xs), floats(5, 7)).nests
    with pytest.raises(AccelInternalError, match="does not run by rows"):
        verify_series(replace(found, nests=(*found.nests, product)), on_processor)
