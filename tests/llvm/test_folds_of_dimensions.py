"""Folds of all that several loops visit, as of windows of two dimensions: lanes of neighbours, in the bits of the order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.processor import Registers
from accel.backends.protocol import compiled
from accel.ir import mentions
from accel.ir.nodes import OneToOne, Program
from accel.labelled.array import Extent
from accel.labelled.meaning import order
from accel.labelled.meaning.evaluate import evaluate
from accel.schedule.templates.columns import columns
from tests.llvm import test_columns, test_windows
from tests.llvm.processors import changed, compile_for
from tests.llvm.test_columns import numbers, program
from tests.marks import one_in

Given: TypeAlias = Any  # one function for arrays of several types

fold: Given = A.fold  # of numbers of dimensions that mypy does not know


def both(x: Given, dims: int) -> Given:
    """Two folds at once, one of which has an order."""
    zero = (A.constant(0, x.dtype), A.constant(9, x.dtype))
    return fold(
        lambda p, q: A.lift(p[0] + q[0], A.min(p[1], q[1])), zero, A.map(lambda e: A.lift(e * e, e), x), dims=dims
    )


FOLDS: dict[str, Callable[[Given, int], Given]] = {
    "sum": lambda x, dims: fold(A.add, 0, x, dims=dims),
    "product": lambda x, dims: fold(A.mul, 2, x, dims=dims),
    "greatest": lambda x, dims: fold(A.max, -5, x, dims=dims),
    "both": both,
    "heavy": lambda x, dims: fold(
        A.add,
        0,
        A.map(lambda e: A.cond(e > 0, A.sqrt(A.abs(e) + 1) / (e * e + 2) + A.sqrt(e * e + 3), e / 3), x),
        dims=dims,
    ),
}

PLACES: dict[str, Callable[[Given, Given, Given, Given], tuple[Given, Given]]] = {
    "inside": lambda i, k, _, __: (i + k, True),
    "clamped": lambda i, k, count, n: (A.min(A.max(i + k - count // 2, 0), n - 1), True),
    "wrapped": lambda i, k, _, n: ((i + k) % n, True),
    "zero": lambda i, k, count, n: (i + k - count // 2, (i + k >= count // 2) & (i + k - count // 2 < n)),
}


def windows(name: str = "sum", place: str = "inside") -> Callable[[Given, Given], Given]:
    """Each result folds the products of weights and what is around."""

    def folded(x: Given, w: Given) -> Given:
        (high, wide), (rows, across) = A.unlift(x.shape), A.unlift(w.shape)
        less = (rows - 1, across - 1) if place == "inside" else (0, 0)

        def element(ix: Given) -> Given:
            i, j, a, b = A.unindex(ix)
            (row, above), (column, beside) = PLACES[place](i, a, rows, high), PLACES[place](j, b, across, wide)
            loaded = x[row, column] if place != "zero" else A.cond(above & beside, x[row, column], 0)
            return loaded * w[a, b]

        return FOLDS[name](A.generate(A.index(high - less[0], wide - less[1], rows, across), element), 2)

    return folded


SIZES = [(1, 1), (1, 7), (3, 3), (4, 4), (5, 5), (2, 16), (8, 9), (33, 2), (1, 65), (7, 37), (0, 3), (3, 0)]


def by_columns(given: Program) -> None:
    """The only nest runs in lanes of neighbouring results."""
    (nest,) = mentions.nests(given)
    found = columns(nest)
    assert found is not None
    assert found.positions


CASES = [(fold, kind) for fold in FOLDS for kind in ("f4", "f8", "i2") if (fold, kind) != ("heavy", "i2")]


@pytest.mark.parametrize(("name", "kind"), one_in(4, CASES))
def test_windows_of_two_dimensions(name: str, kind: str) -> None:
    """Kernels that are written out, those with an element for each lane of the order and more, and none."""
    given = program(windows(name)(A.use(numbers((9, 9), kind)), A.use(numbers((2, 2), kind))))
    by_columns(given)
    sets = [[numbers((a + 2, 90 + b), kind, a), numbers((a, b), kind, b)] for a, b in SIZES]
    with np.errstate(all="ignore"):
        test_windows.agree(given, *sets)


@pytest.mark.parametrize(("width", "number"), one_in(2, [(64, 32), (32, 16)]))
def test_all_sizes(width: int, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of up to a block's elements, each position has its own indices; of more, columns stream by. By the order's definition."""
    compile_for(monkeypatch, changed(registers=Registers(width, number)))

    def raised(x: Given, w: Given) -> Given:
        rows, across = A.unlift(w.shape)

        def element(ix: Given) -> Given:
            i, j, a, b = A.unindex(ix)
            return x[i + a, j + b] + w[a, b]

        high, wide = A.unlift(x.shape)
        return fold(A.add, 0, A.generate(A.index(high - rows + 1, wide - across + 1, rows, across), element), dims=2)

    given = compiled(LLVMBackend(1), program(raised(A.use(numbers((9, 9))), A.use(numbers((2, 2))))))
    for rows, across in ((63, 65), (64, 64), (4096, 1), (1, 4096), (2, 2047), (45, 91), (1365, 3), (65, 64), (3, 1366)):
        x, w = numbers((rows + 1, across + 139)), numbers((rows, across), seed=1)
        elements = [x[a : a + 2, b : b + 140] + w[a, b] for a in range(rows) for b in range(across)]
        (got,) = given([x, w])
        assert np.asarray(got).tobytes() == (0 + order.fold(elements, np.add, True, 64)).tobytes()


@pytest.mark.parametrize("place", one_in(2, [place for place in PLACES if place != "inside"]))
def test_borders(place: str) -> None:
    given = program(windows(place=place)(A.use(numbers((9, 9))), A.use(numbers((2, 2)))))
    by_columns(given)
    test_windows.agree(given, *[[numbers((5, 70), seed=a), numbers((a, b))] for a, b in SIZES if a * b])


def test_three_dimensions() -> None:
    """Divided twice; each result of what stands around and behind is taken in the same lanes."""

    def blurred(x: Given, w: Given) -> Given:
        (high, wide, long), sides = A.unlift(x.shape), A.unlift(w.shape)

        def element(ix: Given) -> Given:
            i, j, k, a, b, c = A.unindex(ix)
            return x[i + a, j + b, k + c] * w[a, b, c]

        inner = [extent - side + 1 for extent, side in zip((high, wide, long), sides, strict=True)]
        summed = fold(A.add, 1, A.generate(A.index(*inner, *sides), element), dims=3)
        return A.imap(lambda ix, e: e * 2 - x[ix], summed)

    given = program(blurred(A.use(numbers((4, 4, 4))), A.use(numbers((2, 2, 2)))))
    by_columns(given)
    shapes = ((1, 1, 1), (2, 2, 2), (3, 3, 3), (1, 5, 7), (4, 1, 9), (5, 6, 7))
    test_windows.agree(given, *[[numbers((a + 1, b + 2, 90 + c), seed=a), numbers((a, b, c))] for a, b, c in shapes])


def test_positions_stand_for_indices() -> None:
    """Code for strips divides in its own way; whoever reads the nest relies on what it says."""
    given = program(fold(A.add, 0, channels(A.use(numbers((2, 2, 2, 2)))), dims=3))
    (nest,) = mentions.nests(given)
    found = columns(nest)
    assert found is not None
    (positions,), (folded,) = found.positions, found.folds
    division = folded.body.before[0]
    assert isinstance(division, OneToOne)
    variables = [loop.extent.variable for loop in positions.loops if isinstance(loop.extent, Extent)]
    for shape in ((2, 3, 5), (1, 4, 1), (3, 1, 2)):
        known = {each: size for each, size in zip(variables, shape, strict=True) if each is not None}
        assert evaluate(positions.size.function, [], known.__getitem__, {}) == (int(np.prod(shape)),)
        for number, indices in enumerate(np.ndindex(shape)):
            assert evaluate(division.function, [number], known.__getitem__, {}) == indices


@pytest.mark.parametrize("inner", [True, False])
def test_folds_around_folds(inner: bool) -> None:
    """Of two dimensions inside of one, and of one inside of two, with a map in between."""

    def folded(x: Given, w: Given) -> Given:
        channels, rows, across = A.unlift(w.shape)
        _, high, wide = A.unlift(x.shape)

        def element(ix: Given) -> Given:
            i, j, *at = A.unindex(ix)
            channel, a, b = at
            return x[channel, i + a, j + b] * w[channel, a, b]

        every = A.generate(A.index(high - rows + 1, wide - across + 1, channels, rows, across), element)
        first = fold(A.max, -3, every, dims=2 if inner else 1)
        return fold(A.add, 0, A.map(lambda e: e * 2 + 1, first), dims=1 if inner else 2)

    given = program(folded(A.use(numbers((2, 9, 9))), A.use(numbers((2, 2, 2)))))
    by_columns(given)
    shapes = ((1, 1, 1), (2, 2, 2), (3, 5, 5), (7, 2, 9), (2, 9, 1))
    test_windows.agree(given, *[[numbers((c, a + 2, 90 + b), seed=a), numbers((c, a, b))] for c, a, b in shapes])


def test_windows_of_two_dimensions_are_folded_in_turn() -> None:
    """The loop around folds what windows come to, in blocks of results."""

    def total(x: Given, w: Given) -> Given:
        rows, across = A.unlift(w.shape)

        def element(ix: Given) -> Given:
            i, a, b = A.unindex(ix)
            return x[a, i + b] * w[a, b]

        every = A.generate(A.index(A.unlift(x.shape)[1] - across + 1, rows, across), element)
        return A.sum(A.map(lambda e: e * e, fold(A.add, 0, every, dims=2)))

    given = program(total(A.use(numbers((9, 9))), A.use(numbers((2, 2)))))
    by_columns(given)
    sizes = ((1, 1, 4097), (3, 3, 300), (5, 5, 5000), (8, 9, 4096))
    test_windows.agree(given, *[[numbers((a, n + b - 1)), numbers((a, b))] for a, b, n in sizes])


def channels(x: Given) -> Given:
    """The channels of images, which stand last."""
    images, rows, across, count = A.unlift(x.shape)
    return A.generate(A.index(count, images, rows, across), lambda ix: x[(*A.unindex(ix)[1:], A.unindex(ix)[0])])


@pytest.mark.parametrize("kind", one_in(2, ["f4", "f8", "i4"]))
def test_columns_of_several_dimensions(kind: str) -> None:
    """They stream by: all strips and parts."""

    def moments(x: Given) -> Given:
        return both(channels(x), 3)

    given = program(moments(A.use(numbers((2, 2, 2, 2), kind))))
    by_columns(given)
    shapes = (
        (1, 1, 1, 40),
        (2, 3, 5, 33),
        (3, 5, 9, 17),
        (5, 31, 33, 20),
        (17, 32, 24, 9),
        (2, 0, 3, 20),
        (0, 2, 2, 9),
    )
    sets = [[numbers(shape, kind, shape[0])] for shape in shapes]
    with np.errstate(all="ignore"):
        test_columns.agree(given, *sets)


def test_columns_that_do_not_commute() -> None:
    """Rows are taken in their order, across the ends of all dimensions."""

    def chosen(x: Given) -> Given:
        return fold(lambda a, b: a * 0.5 + b, 1, channels(x), dims=3)

    given = program(chosen(A.use(numbers((2, 2, 2, 2)))))
    by_columns(given)
    x = numbers((5, 31, 33, 20))
    test_columns.gives(
        given, [[x]], [[1 * np.float32(0.5) + np.asarray(order.fold(list(x.reshape(-1, 20)), halved, False, 64), "f4")]]
    )
    test_columns.agree(given, [numbers((1, 1, 1, 40))], [numbers((2, 3, 5, 33))], [numbers((0, 2, 2, 9))])


def halved(left: Given, right: Given) -> Given:
    """What does not commute."""
    return left * np.float32(0.5) + right


def test_what_stands_between_the_loops() -> None:
    """Something is computed in the outer loop of a fold."""

    def weighted(x: Given, w: Given) -> Given:
        rows, across = A.unlift(x.shape)
        scales = A.map(lambda e: A.sqrt(A.abs(e)) + 1, w)
        scaled = A.replicate((across, A.All, 2), scales)
        around = A.generate(A.index(across, rows, 2), lambda ix: x[A.unindex(ix)[1], A.unindex(ix)[0]])
        return fold(A.add, 0, A.zipWith(A.mul, around, scaled), dims=2)

    given = program(weighted(A.use(numbers((3, 3))), A.use(numbers((3,)))))
    by_columns(given)
    test_columns.agree(given, *[[numbers((rows, 50)), numbers((rows,))] for rows in (1, 5, 40, 2100)])
