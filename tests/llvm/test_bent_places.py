"""Places in lanes that are side by side but where something bends them, such as clamps: the interpreter's bits at both ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

import accel as A
from accel.explanation.explain import explain
from tests.marks import one_in

Row: TypeAlias = A.Acc[A.Vector[np.float32]]
Number: TypeAlias = A.Exp[np.int64]
Offset: TypeAlias = A.Acc[A.Scalar[np.int64]]
Place: TypeAlias = Callable[[Number, Number], Number]
"""From a place, which may lie outside, and an extent that is not 0."""

LENGTHS = [1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 100, 257]
OFFSETS = [0, 1, -1, 5, -16, 16, 40, -300, 300]

PLACES: dict[str, Place] = {
    "clamp": lambda i, n: A.min(A.max(i, 0), n - 1),
    "clamp the other way round": lambda i, n: A.max(0, A.min(n - 1, i)),
    "wrap": lambda i, n: i % n,
    "remainder": lambda i, n: A.max(A.rem(i, n), 0),
    "mirror below": lambda i, n: A.min(A.abs(i), n - 1),
    "choice": lambda i, n: A.min(A.max(A.cond(i < 0, i + n, i), 0), n - 1),
    "choice of choices": lambda i, n: (lambda j: A.cond(j >= n, j - n, j))(A.cond(i < 0, A.max(i + n, 0), i % n)),
    "behind a clamp": lambda i, n: A.min(A.max(i, 0), n - 1) // 2 + A.min(A.max(i - 1, 0), n - 1) // 2,
    "moved clamps": lambda i, n: A.max(A.min(A.max(i - 3, 0) + 2, n - 1) - 1, 0),
    "every second": lambda i, n: A.min(A.max(2 * i - 3, 0), n - 1),
    "every third, wrapped": lambda i, n: (3 * i + 1) % n,
    "every ninth": lambda i, n: A.min(A.max(9 * i, 0), n - 1),
    "from the end": lambda i, n: A.min(A.max(n - 1 - i, 0), n - 1),
    "mirror": lambda i, n: A.max(n - 1 - A.abs(n - 1 - A.abs(i)), 0),
    "twice a clamped one": lambda i, n: A.min(2 * A.max(A.min(i, n), 0), n - 1),
    "less than a clamped one": lambda i, n: A.max(n - 1 - A.max(A.min(i, n - 1), 0), 0),
    "deep": lambda i, n: A.min(deep(i, 12), n - 1),
}


def deep(place: Number, levels: int) -> Number:
    for level in range(levels):
        place = A.max(place, level - 20)
    return A.max(place, 0)


def moved(place: Place) -> Callable[[Row, Offset], Row]:
    """Each element and that at a place so much further, of which nothing is known before the launch."""

    def program(xs: Row, by: Offset) -> Row:
        n = A.length(xs)
        return A.imap(lambda ix, x: x + xs[place(ix[0] + A.the(by), n)], xs)

    return program


def windows(place: Place) -> Callable[[Row, Row], Row]:
    """Sums of products with the elements around each."""

    def program(xs: Row, ws: Row) -> Row:
        n, count = A.length(xs), A.length(ws)

        def product(ix: A.Exp[tuple[int, int]]) -> A.Exp[np.float32]:
            i, k = A.unindex(ix)
            return xs[place(i + k - count // 2, n)] * ws[k]

        return A.sum(A.generate((n, count), product))

    return program


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("length", one_in(3, LENGTHS))
def test_bits_of_moved_places(name: str, length: int) -> None:
    program = moved(PLACES[name])
    compiled, meant = A.runN(program), A.runN(program, backend="interpreter")
    x = np.random.default_rng(length).standard_normal(length).astype(np.float32)
    for offset in OFFSETS:
        np.testing.assert_array_equal(compiled(x, np.array(offset)), meant(x, np.array(offset)))


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("length", one_in(3, [*LENGTHS, 1000]))
def test_bits_of_windows(name: str, length: int) -> None:
    program = windows(PLACES[name])
    compiled, meant = A.runN(program), A.runN(program, backend="interpreter")
    numbers = np.random.default_rng(length)
    x = numbers.standard_normal(length).astype(np.float32)
    for count in (1, 3, 13, 40):
        w = numbers.standard_normal(count).astype(np.float32)
        np.testing.assert_array_equal(compiled(x, w), meant(x, w))


def test_places_near_the_greatest_number() -> None:
    """Lanes that wrap are not side by side: the least of a number beyond, which is negative, and the last place is negative."""

    def program(xs: Row, by: Offset) -> Row:
        n = A.length(xs)
        return A.imap(lambda ix, x: x + xs[A.max(A.min(ix[0] + A.the(by), n - 1), 0)], xs)

    x, greatest = np.arange(64, dtype=np.float32), np.iinfo(np.int64).max
    for offset in (greatest - 70, greatest - 5, greatest - 20, greatest):
        want = A.runN(program, backend="interpreter")(x, np.array(offset))
        np.testing.assert_array_equal(A.runN(program)(x, np.array(offset)), want)


def test_under_conditions_and_in_other_dimensions() -> None:
    def program(xs: A.Acc[A.Matrix[np.float64]], by: Offset) -> A.Acc[A.Matrix[np.float64]]:
        rows, columns = A.unlift(xs.shape)

        def element(ix: A.Exp[tuple[int, int]], x: A.Exp[np.float64]) -> A.Exp[np.float64]:
            i, j = A.unindex(ix)
            near = A.min(A.max(j + A.the(by), 0), columns - 1)
            across = A.min(A.max(j + A.the(by), 0), rows - 1)
            return A.cond(x > 0, xs[i, near] * 2, xs[across, A.min(i, columns - 1)])

        return A.imap(element, xs)

    for shape in ((3, 5), (9, 40), (40, 9)):
        x = np.random.default_rng(0).standard_normal(shape)
        for offset in (-3, 0, 2, 50):
            want = A.runN(program, backend="interpreter")(x, np.array(offset))
            np.testing.assert_array_equal(A.runN(program)(x, np.array(offset)), want)


def test_rows_from_the_right() -> None:
    """Lanes that fall are not side by side."""

    def program(xs: Row, by: Offset) -> Row:
        n = A.length(xs)
        ys = A.imap(lambda ix, x: x + xs[A.min(A.max(ix[0] + A.the(by), 0), n - 1)], xs)
        return A.scanr1(A.max, ys)

    x = np.random.default_rng(0).standard_normal(100).astype(np.float32)
    for offset in (-3, 0, 50):
        want = A.runN(program, backend="interpreter")(x, np.array(offset))
        np.testing.assert_array_equal(A.runN(program)(x, np.array(offset)), want)


@pytest.mark.parametrize("name", ["clamp", "wrap", "mirror below"])
def test_windows_that_bend_run_in_lanes_of_neighbouring_results(name: str) -> None:
    explanation = explain(windows(PLACES[name]), np.ones(100, np.float32), np.ones(5, np.float32))
    assert "columns" in explanation.stages["schedule"].splitlines()[0]


def test_elements_that_are_side_by_side_are_loaded_as_they_are() -> None:
    text = explain(moved(PLACES["clamp"]), np.ones(100, np.float32), np.array(1)).stages["llvm"]
    assert "load <16 x float>" in text or "load <8 x float>" in text
    assert "gather" in text or "extractelement" in text


def test_remainders_of_which_a_loop_may_have_many_periods_are_loaded_one_by_one() -> None:
    """They would ask in vain in all but the first."""

    def rows(place: Callable[[Number, Number, Number], Number]) -> int:
        program = lambda xs, by: A.generate(A.shape(xs), lambda ix: xs[place(ix[0], A.the(by), A.length(xs))])  # noqa: E731
        text = explain(program, np.ones(100, np.float32), np.array(7)).stages["llvm"]
        return sum(text.count(f"load <{lanes} x float>") for lanes in (8, 16))

    assert rows(lambda i, by, n: (i + by) % n) > 0
    assert rows(lambda i, by, n: i % by) == rows(lambda i, by, n: i % 7) == 0


@pytest.mark.parametrize("step", one_in(2, [1, -1, 2, -3]))
def test_remainders_in_all_periods(step: int) -> None:
    """Periods that are shorter than a vector, some vectors long, and longer than the loop; places that wrap."""

    def program(xs: Row, by: Offset) -> Row:
        return A.generate(A.index(700), lambda ix: xs[(ix[0] * step + A.the(by)) % A.length(xs)])

    compiled = A.runN(program)
    for length in (1, 5, 15, 16, 17, 31, 32, 33, 40, 47, 100, 150, 699, 2000):
        x = np.random.default_rng(length).standard_normal(length).astype(np.float32)
        for offset in (0, 3, -40, 5000, (1 << 63) - 1, (1 << 63) - 300, -(1 << 63), 100 - (1 << 63)):
            with np.errstate(over="ignore"):
                places = (np.arange(700) * step + np.array(offset)) % length
            np.testing.assert_array_equal(compiled(x, np.array(offset)), x[places])
