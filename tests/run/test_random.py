"""`A.random`: NumPy's numbers bit for bit on every backend, made in the loops that read them; and their distributions."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.random import keys, numbers
from tests import untyped

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]
SEED = (3 << 64) + 77
SHAPES: list[Any] = [(), (0,), (67,), (5, 7), (2, 3, 5), (3, 0)]  # Any: of several ranks
KEY = A.random.key(SEED)


def philox(seed: int = SEED) -> np.random.Philox:
    return np.random.Philox(key=seed)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_numbers_are_numpy_s(backend: Any) -> None:
    programs = tuple(
        (A.random.bits(KEY, sh), A.random.uniform(KEY, sh, np.float64), A.random.uniform(KEY, sh, np.float32))
        for sh in SHAPES
    )
    for sh, (bits, wide, narrow) in zip(SHAPES, untyped.run(programs, backend=backend), strict=True):
        np.testing.assert_array_equal(bits, philox().random_raw(sh))
        np.testing.assert_array_equal(wide, np.random.Generator(philox()).random(sh))
        np.testing.assert_array_equal(narrow, np.random.Generator(philox()).random(sh, dtype=np.float32))


@pytest.mark.llvm
@pytest.mark.parametrize("threads", [1, 3])
def test_the_numbers_of_large_arrays(threads: int) -> None:
    """Lanes, ends of rows that are no whole vectors, positions that no counter begins at, chunks of several threads."""
    bits, narrow, last = untyped.run(
        (
            A.random.bits(KEY, (129, 1003)),
            A.random.uniform(KEY, (100_003,), np.float32),
            A.drop(3, A.random.bits(KEY, (50_000,))),
        ),
        threads=threads,
    )
    np.testing.assert_array_equal(bits, philox().random_raw((129, 1003)))
    np.testing.assert_array_equal(narrow, np.random.Generator(philox()).random(100_003, dtype=np.float32))
    np.testing.assert_array_equal(last, philox().random_raw(50_000)[3:])


@pytest.mark.llvm
@pytest.mark.parametrize(
    "order",
    [lambda i: 39_999 - i, lambda i: (i * 7919) % 40_000, lambda i: i // 3, lambda i: i ^ 5],
    ids=["backward", "scattered", "repeated", "exchanged"],
)
def test_numbers_in_any_order(order: Callable[[Any], Any]) -> None:
    count = 40_000
    numbers = A.random.bits(KEY, (count,))
    read = A.backpermute((count,), lambda ix: A.index(order(ix[0])), numbers)
    np.testing.assert_array_equal(untyped.run(read), philox().random_raw(count)[order(np.arange(count))])


@pytest.mark.llvm
@pytest.mark.parametrize("before", range(1, 18))
def test_numbers_behind_what_is_no_number(before: int) -> None:
    """The lanes before the first number have positions below 0, which nobody reads: they come to the end of all counters."""
    head = np.arange(before, dtype=np.uint64)
    found = untyped.run(A.append(A.use(head), A.random.bits(KEY, (100,))))
    np.testing.assert_array_equal(found, np.concatenate([head, philox().random_raw(100)]))


@pytest.mark.llvm
def test_a_bootstrap_gathers_and_draws_in_one_loop() -> None:
    """LLVM knows gathers under two signatures, and crashes where a module has both."""
    table = np.arange(1000.0)
    drawn = A.random.integers(KEY, (20_000,), 0, 1000)
    total = A.sum(A.gather(drawn, A.use(table)))
    places = [word * 1000 >> 64 for word in philox().random_raw(20_000).tolist()]
    assert untyped.run(total) == table[places].sum()
    assert A.explain(total).loops == 1


@pytest.mark.llvm
def test_every_element_may_have_its_own_key() -> None:
    def coins(seeds: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.uint64]]:
        return A.map(lambda seed: A.fst(A.random.split(A.random.key(seed), 1)[0]), seeds)

    seeds = np.arange(-20, 20)
    expected = [np.random.Philox(key=int(seed) % 2**64, counter=1 << 61).random_raw(1)[0] for seed in seeds]
    for backend in ("interpreter", "llvm"):
        np.testing.assert_array_equal(untyped.runN(coins, backend=backend)(seeds), np.array(expected, np.uint64))


@pytest.mark.llvm
def test_a_seed_may_be_an_argument() -> None:
    def drawn(seed: A.Acc[A.Scalar[np.int64]]) -> A.Acc[A.Vector[np.uint64]]:
        return A.random.bits(A.random.key(A.the(seed)), (1000,))

    run = untyped.runN(drawn)
    for seed in (0, 5, 1 << 62):
        np.testing.assert_array_equal(run(np.int64(seed)), philox(seed).random_raw(1000))


def test_a_key_makes_keys() -> None:
    made = A.random.split(KEY, 3)
    again = A.random.split(KEY, 2)
    words = [untyped.run(A.random.bits(key, (4,)), backend="interpreter").tolist() for key in (KEY, *made, *again)]
    assert words[1:3] == words[4:]
    assert len({word for each in words[:4] for word in each}) == 16


@pytest.mark.llvm
def test_a_mean_is_one_loop_that_stores_nothing() -> None:
    def pi(seed: A.Acc[A.Scalar[np.int64]]) -> A.Acc[A.Scalar[np.int64]]:
        first, second = A.random.split(A.random.key(A.the(seed)), 2)
        points = A.zip(
            A.random.uniform(first, (4_000_000,), np.float32), A.random.uniform(second, (4_000_000,), np.float32)
        )
        inside = A.map(lambda p: A.boolToInt(p[0] * p[0] + p[1] * p[1] < 1), points)
        return A.foldAll(A.add, 0, inside)

    explanation = A.explain(pi)
    assert explanation.loops == 1
    assert len(explanation.clusters) == 1
    assert dict(explanation.writes) == {"1": 1}
    inside = untyped.runN(pi)(np.int64(1))
    assert abs(inside / 1e6 - np.pi) < 0.005


@pytest.mark.parametrize("backend", BACKENDS)
def test_normal_numbers_are_quantiles(backend: Any) -> None:
    wide, narrow = untyped.run(
        (A.random.normal(KEY, (500,), np.float64), A.random.normal(KEY, (500,), np.float32)), backend=backend
    )
    words = philox().random_raw(500).tolist()
    halves = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)][:500]
    for found, bits, width, tolerance in ((wide, words, 64, 1e-14), (narrow, halves, 32, 2e-6)):
        tails = [(2 * (word >> 2) + 1) / 2**width for word in bits]
        sizes = [-NormalDist().inv_cdf(tail) for tail in tails]
        signs = [-1 if word & 1 else 1 for word in bits]
        np.testing.assert_allclose(found, np.multiply(sizes, signs), rtol=tolerance, atol=tolerance)


def test_the_ends_of_the_normal_distribution() -> None:
    """The smallest and the largest number of bits, in both signs: no infinity, and zero is as good as hit."""
    from accel.ast.combinators.random.normal import normal_of_word

    for small, width in ((False, 64), (True, 32)):
        dtype = np.dtype(np.int64) if small else np.dtype(np.uint64)
        words: Any = np.array([0, 1, 2**width - 2, 2**width - 1], dtype)  # of either type
        found = untyped.run(A.map(partial(normal_of_word, small=small), A.use(words)), backend="interpreter")
        largest = -NormalDist().inv_cdf(2.0**-width)
        np.testing.assert_allclose(found, [largest, -largest, 0, 0], rtol=1e-6, atol=1e-9)


@pytest.mark.llvm
@pytest.mark.opencl
@pytest.mark.parametrize("small", [False, True])
def test_tails_of_the_normal_distribution_have_the_same_bits_everywhere(small: bool) -> None:
    """They need a logarithm, which is made of operations that are rounded alike, not a backend's own."""
    from accel.ast.combinators.random.normal import normal_of_word

    words: Any = philox().random_raw(3000) >> np.arange(3000, dtype=np.uint64) % 60  # of either type, of all sizes
    if small:
        words = (words & 0xFFFFFFFF).astype(np.int64)
    program = A.map(partial(normal_of_word, small=small), A.use(words))
    found = [untyped.run(program, backend=backend).tobytes() for backend in ("interpreter", "llvm", "opencl")]
    assert found[0] == found[1] == found[2]


@pytest.mark.llvm
def test_moments_of_normal_numbers() -> None:
    for dtype in (np.float32, np.float64):
        xs = untyped.run(A.random.normal(A.random.key(5), (1_000_000,), dtype)).astype(float)
        moments = [float((xs**power).mean()) for power in (1, 2, 3, 4)]
        np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.02)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("low", "high"), [(1, 7), (-5, -4), (-(1 << 63), (1 << 63) - 1), (0, (1 << 62) + 3)])
def test_integers_are_scaled_bits(backend: Any, low: int, high: int) -> None:
    found = untyped.run(A.random.integers(KEY, (100,), low, high), backend=backend)
    expected = [low + (word * (high - low) >> 64) for word in philox().random_raw(100).tolist()]
    assert found.tolist() == expected


@pytest.mark.llvm
def test_limits_may_be_computed() -> None:
    limits = A.use(np.array([3, 3]))
    found = untyped.run(
        A.random.integers(KEY, (100,), limits[A.index(0)], limits[A.index(1)] - 10), backend="interpreter"
    )
    assert set(found.tolist()) == {3}


UNTYPED: Any = A.random  # mypy refuses these calls, too


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: A.random.key(-1), A.AccelValueError, "not from 0 to"),
        (lambda: A.random.key(1 << 128), A.AccelValueError, "not from 0 to"),
        (lambda: UNTYPED.key(1.5), A.AccelTypeError, "the seed of random.key must be i64"),
        (lambda: A.random.split(KEY, 0), A.AccelValueError, "at least one key"),
        (lambda: UNTYPED.split(KEY, A.constant(2)), A.AccelTypeError, "takes a Python int"),
        (lambda: UNTYPED.bits(7, (3,)), A.AccelTypeError, r"takes a key first(.|\n)*A\.random\.key\(seed\)"),
        (lambda: UNTYPED.bits(KEY, 3), A.AccelTypeError, "needs a shape"),
        (lambda: A.random.bits(KEY, (-1,)), A.AccelShapeError, "negative"),
        (lambda: UNTYPED.uniform(KEY, (3,), np.int64), A.AccelTypeError, "gives floats"),
        (lambda: A.random.integers(KEY, (3,), 5, 5), A.AccelValueError, "`high` above `low`"),
    ],
)
def test_what_cannot_work(call: Callable[[], object], error: type[A.AccelError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        call()
    assert "test_random.py" in str(caught.value)


@pytest.mark.llvm
@pytest.mark.parametrize("module", [keys, numbers], ids=["keys", "numbers"])
def test_the_examples_of_the_docstrings(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
