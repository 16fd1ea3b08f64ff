"""Scatters to places of which no two are one: written in lanes, by all threads, in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A


def moved(places: Any, xs: Any) -> Any:
    """Each element at its place, but for negative ones."""

    def place(ix: Any) -> Any:
        return A.cond(places[ix] >= 0, A.just(A.index(places[ix])), A.nothing())

    doubled = A.map(lambda x: x + x, xs)
    return A.permuteUnique(A.fill(xs.shape, -1), place, doubled)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 4097, 200_000])
@pytest.mark.parametrize("backend", ["llvm", "opencl"])
def test_permutations(count: int, backend: Any) -> None:
    generator = np.random.default_rng(count)
    places, xs = generator.permutation(count), generator.integers(0, 100, count)
    places[::7] = -1
    expected = np.full(count, -1)
    expected[places[places >= 0]] = (xs + xs)[places >= 0]
    for threads in (1, 3):
        np.testing.assert_array_equal(
            A.run(moved(A.use(places), A.use(xs)), backend=backend, threads=threads), expected
        )


def test_tuples_and_matrices() -> None:
    m = np.arange(70 * 33).reshape(70, 33)
    pairs = A.zip(A.use(m), A.use(m % 2 == 0))
    turned = A.permuteUnique(
        A.zip(A.fill((33, 70), 0), A.fill((33, 70), False)), lambda ix: A.just(A.index(ix[1], ix[0])), pairs
    )
    first, second = A.run(turned)
    np.testing.assert_array_equal(first, m.T)
    np.testing.assert_array_equal(second, m.T % 2 == 0)
    assert A.run(A.permuteUnique(A.unit(0.0), lambda ix: A.just(A.index()), A.unit(7.0))) == 7.0


def test_an_index_out_of_bounds_is_an_error() -> None:
    places = np.arange(50_000)
    places[31_000] = 50_000
    with pytest.raises(A.AccelIndexError, match=r"\(50000,\) is out of bounds"):
        A.run(moved(A.use(places), A.use(places)))


def test_the_loop_runs_in_lanes_on_all_threads() -> None:
    explained = A.explain(moved, np.arange(5), np.arange(5))
    assert explained.stages["schedule"].count("kind 1 vector; kind 0 parallel") == 2
    assert "scatter[unique]" in explained.stages["labelled"]


def test_of_pairs_of_which_one_half_is_needed() -> None:
    xs = np.arange(5.0)
    pairs = A.map(lambda x: A.lift(x, x * x), A.use(xs))
    zeros = A.zip(A.fill((5,), A.constant(0.0)), A.fill((5,), A.constant(1.0)))
    turned = A.permuteUnique(zeros, lambda ix: A.just(A.index(4 - ix[0])), pairs)
    for strategy in ("ilp", "none"):
        assert A.run(A.unzip(turned)[0], strategy=strategy).tolist() == xs[::-1].tolist()
