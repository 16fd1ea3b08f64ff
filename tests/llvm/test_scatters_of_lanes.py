"""Scatters beside much that is computed: that is computed in lanes, which then scatter one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.untyped import run, runN

Program = Callable[[Any], Any]
SHAPES = ((0,), (1,), (7,), (64,), (4099,), (70_000,), (300, 3), (5, 40), (3, 1, 50))
PLACES = 6


def place(x: Any) -> Any:
    """Somewhere in a few, after an elementary function."""
    return A.truncate(A.exp(x)) % PLACES


def counts(xs: Any) -> Any:
    """Any order serves."""
    return A.permute(A.add, A.fill((PLACES,), 0), lambda ix: A.just(A.index(place(xs[ix]))), A.fill(A.shape(xs), 1))


def sums(xs: Any) -> Any:
    """The order shows; some elements go nowhere."""

    def to(ix: Any) -> Any:
        return A.cond(xs[ix] > 1, A.nothing(), A.just(A.index(place(xs[ix]))))

    return A.permute(A.add, A.fill((PLACES,), 0.1), to, A.map(lambda x: A.exp(x) / 3, xs))


def last(xs: Any) -> Any:
    """The last one wins, of several arrays; narrow ones among them."""
    values = A.map(lambda x: A.lift(A.exp(x) > 2, A.cast(place(x), np.uint8), A.mkComplex(x, A.exp(x))), A.flatten(xs))
    zero = A.lift(False, A.constant(0, np.uint8), A.mkComplex(0.0, 0.0))
    return A.scatter(A.map(place, A.flatten(xs)), A.fill((PLACES,), zero), values)


def beside(xs: Any) -> Any:
    """Folds in an order and in any, a scan and what is stored, in the same loop."""
    made = A.map(A.exp, A.flatten(xs))
    grouped = A.scatterWith(A.add, A.fill((PLACES,), 0.0), A.map(lambda e: A.lift(A.truncate(e) % PLACES, e), made))
    return grouped, made, A.fold(A.add, 0, made), A.maximum(A.append(A.fill((1,), 0.0), made)), A.scanl1(A.add, made)


def turned(xs: Any) -> Any:
    """Where it goes is found in a loop."""

    def to(ix: Any) -> Any:
        halves = A.while_(lambda s: s[0] > 0.1, lambda s: A.lift(s[0] / 2, s[1] + 1), A.lift(A.abs(xs[ix]), 0))[1]
        return A.just(A.index(A.min(halves, PLACES - 1)))

    return A.permute(A.add, A.fill((PLACES,), 0.0), to, xs)


def divided(xs: Any) -> Any:
    """Where it goes is a quotient and a remainder by numbers of the program, of which one may be 0."""
    whole = A.map(A.truncate, A.map(lambda x: x * 1e6, A.flatten(xs)))
    by = A.unit(A.length(whole) % 5)
    places = A.map(lambda i: A.abs(i // A.the(by) - i % (A.the(by) + 2)) % PLACES, whole)
    return A.permute(A.add, A.fill((PLACES,), 0.5), lambda ix: A.just(A.index(places[ix])), A.flatten(xs))


PROGRAMS: tuple[Program, ...] = (counts, sums, last, beside, turned, divided)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("threads", [1, 3])
def test_bits_are_those_of_one_after_the_other(program: Program, threads: int) -> None:
    fast = runN(program, backend="llvm", threads=threads)
    for shape in SHAPES:
        xs = np.random.default_rng(8).standard_normal(shape)
        results = fast(xs)
        # Without fusion scatters stand alone, in scalar code.
        apart = run(program(A.use(xs)), backend="llvm", strategy="none", threads=1)
        for found, wanted in zip(
            np.atleast_1d(results) if isinstance(results, np.ndarray) else results, apart, strict=True
        ):
            assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes(), shape
        if xs.size < 100:
            wanted = run(program(A.use(xs)), backend="interpreter")
            for found, other in zip(results, wanted, strict=True):
                np.testing.assert_allclose(found, other, rtol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_lanes_compute(program: Program) -> None:
    assert "whole, serial" not in A.explain(program, np.ones(5)).stages["schedule"]


def test_little_work_stays_in_scalars() -> None:
    """There iterations read before others scatter, and take turns with copies of the targets."""
    digits = A.explain(
        lambda xs: A.scatterWith(A.add, A.fill((9,), 0), A.map(lambda x: A.lift(x % 9, x), xs)), np.ones(5, int)
    )
    assert "whole, serial" in digits.stages["schedule"]


def test_divisions_by_what_is_no_constant_are_much() -> None:
    def digits(xs: Any, by: Any) -> Any:
        return A.scatterWith(A.add, A.fill((9,), 0), A.map(lambda x: A.lift(x % A.the(by), x), xs))

    assert "whole, serial" not in A.explain(digits, np.ones(5, int), np.array(9)).stages["schedule"]


def test_targets_out_of_bounds() -> None:
    def far(xs: Any) -> Any:
        pairs = A.map(lambda x: A.lift(A.truncate(A.exp(x)), 1), xs)
        return A.scatterWith(A.add, A.fill((PLACES,), 0), pairs)

    assert runN(far)(np.zeros(20)).tolist() == [0, 20, 0, 0, 0, 0]
    with pytest.raises(A.AccelIndexError, match="7"):
        runN(far)(np.array([0.0] * 19 + [2.0]))


def test_what_the_loop_itself_reads_is_read_in_turn() -> None:
    """Of two scatters into one array the second stands behind the first, whatever is computed for it."""

    def twice(xs: Any) -> Any:
        once = A.scatterWith(A.add, A.fill((PLACES,), 0.0), A.map(lambda x: A.lift(place(x), A.exp(x)), xs))
        return A.scatterWith(A.add, once, A.map(lambda x: A.lift(place(x + 1), once[place(x)] + A.exp(x)), xs))

    xs = np.random.default_rng(9).standard_normal(500)
    apart = run(twice(A.use(xs)), strategy="none")
    assert np.asarray(runN(twice)(xs)).tobytes() == np.asarray(apart).tobytes()
