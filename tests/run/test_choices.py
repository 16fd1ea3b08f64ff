"""`match`, `sfoldl`, `iiterate` in scalar code; and what is not taken never runs, fused or not, in lanes or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.untyped import accel as U

AnyExp: TypeAlias = A.Exp[Any]
BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]
LONG = np.arange(1003)
"""Several vectors, and a rest."""
FEW = np.arange(10) * 3


def same(found: object, expected: object) -> None:
    np.testing.assert_array_equal(found, expected)


# match.


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_first_case_that_fits(backend: Any) -> None:
    def value(x: A.Exp[np.int64]) -> AnyExp:
        return A.match(x % 7, (0, 10), (lambda v: v > 4, x), (1, 20), (6, 30), (x % 3, 40), -1)

    rest = LONG % 7
    expected = np.select([rest == 0, rest > 4, rest == 1, rest == LONG % 3], [10, LONG, 20, 40], -1)
    same(untyped.run(A.map(value, A.use(LONG)), backend=backend), expected)


def test_a_table_of_pairs() -> None:
    """Accelerate's issue 551: equality of an enumeration, by patterns on a pair with a default."""

    def equal(ix: A.Exp[tuple[int, int]]) -> A.Exp[np.bool_]:
        cases = [((i, i), A.constant(True)) for i in range(9)]
        return A.match(ix, *cases, A.constant(False))

    same(untyped.run(A.generate((9, 9), equal), backend="interpreter"), np.eye(9, dtype=bool))


def test_patterns_of_tuples_and_maybes() -> None:
    def of(x: A.Exp[np.int64]) -> AnyExp:
        maybe = A.cond(x < 2, A.just(x), A.nothing())
        held = A.match(maybe, (A.nothing(), 100), (A.just(A.constant(1)), 101), (A.isJust, 102), 103)
        pair = A.match(A.lift(x, x * x), ((..., 1), 7), ((2, lambda square: square > 3), 8), (..., 9), 0)
        return A.lift(held, pair)

    held, pair = untyped.run(A.map(of, A.use(np.arange(4))), backend="interpreter")
    same(held, [102, 101, 100, 100])
    same(pair, [9, 7, 8, 9])


def test_values_take_one_type() -> None:
    x = A.the(A.use(np.array(1, np.uint8)))
    match: Callable[..., AnyExp] = A.match
    assert match(x, (0, 1), (1, np.float32(2)), 3).type == A.constant(0, np.float32).type
    assert A.match(x, (0, 1), 2).type == A.constant(0).type
    assert A.match(x, (0, 1), 2.5).type == A.constant(0.5).type
    assert A.match(x, (0, A.nothing()), A.just(x)).type == A.just(x).type
    assert untyped.run(A.unit(match(x, 5)), backend="interpreter") == 5


def test_what_is_no_case_is_refused() -> None:
    x: AnyExp = A.the(A.use(np.array(1)))
    match: Callable[..., object] = A.match
    with pytest.raises(A.AccelTypeError, match="match needs a value without a pattern as its last argument"):
        match(x, (0, 1))
    with pytest.raises(A.AccelTypeError, match="match needs a value without a pattern as its last argument"):
        match(x)
    with pytest.raises(A.AccelTypeError, match="case 0 of match must be a pair, got the Python int 3"):
        match(x, 3, 4)
    with pytest.raises(A.AccelTypeError, match="match needs values of one type, got i64 and f64"):
        match(x, (0, x), A.constant(1.0))
    with pytest.raises(A.AccelTypeError, match="the pattern of case 1 of match must be i64, got the Python float"):
        match(x, (0, 1), (0.5, 1), 2)
    with pytest.raises(
        A.AccelTypeError, match="the pattern of case 0 of match has 2 items, but what is matched is i64"
    ):
        match(x, ((0, 1), 1), 2)
    with pytest.raises(A.AccelTypeError, match="the result of the pattern of case 0 of match must be bool, got i64"):
        match(x, (lambda v: v + 1, 1), 2)


# sfoldl.


@pytest.mark.parametrize("backend", BACKENDS)
def test_sfoldl_goes_from_left_to_right(backend: Any) -> None:
    rows = np.random.default_rng(3).normal(size=(67, 19)).astype(np.float32)
    xs = A.use(rows)

    def difference(ix: AnyExp) -> AnyExp:
        return A.sfoldl(lambda a, x: a * np.float32(0.5) - x, 1, ix, xs)

    def count(ix: AnyExp) -> AnyExp:
        return A.sfoldl(lambda n, x: n + A.boolToInt(x > 0), A.constant(0), ix, xs)

    differences, counts = A.generate((67,), difference), A.generate((67,), count)
    found, positive = untyped.run((differences, counts), backend=backend)
    expected = np.ones(67, np.float32)
    for column in rows.T:
        expected = expected * np.float32(0.5) - column
    same(found, expected)
    same(positive, (rows > 0).sum(1))


def test_sfoldl_of_other_ranks() -> None:
    v, cube = A.use(np.arange(5)), A.use(np.arange(24).reshape(2, 3, 4))
    same(untyped.run(A.unit(A.sfoldl(A.sub, 0, (), v)), backend="interpreter"), -10)

    def folded(ix: AnyExp) -> AnyExp:
        return A.sfoldl(A.add, 0, (ix[0], ix[1]), cube)

    whole = A.generate((2, 3), folded)
    same(untyped.run(whole, backend="interpreter"), np.arange(24).reshape(2, 3, 4).sum(2))

    def following(a: AnyExp, p: AnyExp) -> AnyExp:
        return A.lift(p[1], a[0])

    pairs = A.sfoldl(following, A.lift(0, -1), (), A.indexed(v))
    assert untyped.run(A.unit(pairs), backend="interpreter") == (4, 3)
    empty: Any = A.use(np.zeros((2, 0), np.int64))
    assert untyped.run(A.unit(A.sfoldl(A.add, 7, 1, empty)), backend="interpreter") == 7
    with pytest.raises(A.AccelIndexError, match=r"index \(2, 0\) is out of bounds for an array of shape \(2, 3\)"):
        untyped.run(A.unit(A.sfoldl(A.add, 0, 2, A.use(np.ones((2, 3), np.int64)))), backend="interpreter")


def test_sfoldl_refuses_other_types() -> None:
    sfoldl: Callable[..., object] = A.sfoldl
    xs: Any = A.use(np.ones((2, 3)))
    with pytest.raises(A.AccelTypeError, match="the result of the function of sfoldl must be f64, got bool"):
        sfoldl(lambda a, x: x > a, 0, (0,), xs)
    with pytest.raises(A.AccelTypeError, match="sfoldl works along the innermost dimension, but the array has rank 0"):
        sfoldl(A.add, 0, (), A.unit(1))
    with pytest.raises(A.AccelTypeError, match="an index of 2 into an array of rank 1"):
        sfoldl(A.add, 0, (0, 1), xs)
    with pytest.raises(A.AccelTypeError, match="the function of sfoldl must take 2 arguments"):
        sfoldl(lambda a: a, 0, (0,), xs)


# iiterate.


@pytest.mark.parametrize("backend", BACKENDS)
def test_iiterate_counts_from_zero(backend: Any) -> None:
    xs = A.use(LONG)
    turns = A.the(A.use(np.array(3)))
    arrays = A.iiterate(turns, lambda i, x: A.map(lambda v: v * 10 + i, x), xs)
    grown = A.iiterate(3, lambda i, x: A.take(A.length(x) - i, x), xs)
    first, second = A.iiterate(turns, lambda i, s: (s[1], A.map(lambda v: v + i, s[0])), (xs, xs))
    scalars = A.map(lambda x: A.iiterate(x % 5, lambda i, y: y * i + 1, x), xs)
    found = untyped.run((arrays, grown, first, second, scalars), backend=backend)
    same(found[0], LONG * 1000 + 12)
    same(found[1], LONG[:-3])
    same(found[2], LONG + 1)
    same(found[3], LONG + 2)
    expected = LONG.copy()
    for i in range(4):
        expected = np.where(i < LONG % 5, expected * i + 1, expected)
    same(found[4], expected)


@pytest.mark.parametrize("turns", [0, -3])
def test_no_turn(turns: int) -> None:
    xs = A.use(FEW)
    none = A.iiterate(turns, lambda i, x: A.map(lambda v: v + 1, x), xs)
    scalar = A.unit(A.iiterate(turns, lambda i, x: x + i + 1, A.constant(5)))
    found, five = untyped.run((none, scalar), backend="interpreter")
    same(found, FEW)
    assert five == 5


def test_the_counter_of_iiterate_is_in_no_report() -> None:
    loop = A.iiterate(4, lambda i, x: A.map(lambda v: v * 10 + i, x), A.use(FEW))
    explanation = A.explain(loop)
    assert explanation.loops == 1
    assert "x 4 turns" in str(explanation)


def test_iiterate_refuses_a_function_of_one() -> None:
    iiterate: Callable[..., object] = A.iiterate
    with pytest.raises(A.AccelTypeError, match="the function of iiterate must take 2 arguments"):
        iiterate(3, lambda x: x, A.use(FEW))
    with pytest.raises(A.AccelTypeError, match="the function of iiterate must take 2 arguments"):
        iiterate(3, lambda x: x, A.constant(1))


# What is not taken does not run.


def endless(x: AnyExp) -> AnyExp:
    """A loop that ends for no number."""
    return A.while_(lambda s: s == s, lambda s: s + 1, x)


LAZY: dict[str, Callable[[AnyExp, A.Acc[Any]], AnyExp]] = {
    "cond": lambda i, xs: U.cond(i < 10, xs[i], -1),
    "cond of a shared load": lambda i, xs: (lambda value: U.cond(i < 10, value * 1, U.cond(i < 0, value, -1)))(xs[i]),
    "and": lambda i, xs: U.cond((i < 10) & (xs[i] >= 0), U.cond(i < 10, xs[i], 0), -1),
    "or": lambda i, xs: U.cond(~((i >= 10) | (xs[i] < 0)), U.cond(i < 10, xs[i], 0), -1),
    "match": lambda i, xs: U.match(i, (lambda v: v >= 10, -1), (lambda v: xs[v] < 0, -2), xs[i]),
    "maybe": lambda i, xs: U.maybe(-1, lambda j: xs[j], U.cond(i < 10, U.just(i), U.nothing())),
    "sfoldl": lambda i, xs: U.cond(i < 10, U.sfoldl(U.add, 0, i, U.reshape((10, 1), xs)), -1),
    "iterate": lambda i, xs: U.iterate(U.cond(i < 10, U.constant(1), 0), lambda s: s * 0 + xs[i], U.constant(-1)),
    "iiterate": lambda i, xs: U.iiterate(U.cond(i < 10, U.constant(1), 0), lambda j, s: xs[i + j], U.constant(-1)),
    "endless": lambda i, xs: U.cond(i < 0, endless(i), U.cond(i < 10, i * 3, -1)),
    "endless right side": lambda i, xs: U.cond((i < 10) | (i < 0) & (endless(i) > 0), i * 3, -1),
    "endless pattern": lambda i, xs: U.match(
        i, (lambda v: v < 10, i * 3), (lambda v: v > -1, -1), (endless(i), 5), U.constant(6)
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_not_taken_does_not_run(backend: Any) -> None:
    """Alone; after what fuses into it; in the combination of a fold, and of a scan; each in lanes, where these are taken."""
    xs = A.use(FEW)
    expected = np.where(LONG < 10, LONG * 3, -1)
    programs: list[Any] = []
    for take in LAZY.values():
        alone = A.map(lambda i, take=take: take(i, xs), A.use(LONG))  # type: ignore[misc]  # bound now
        made = A.imap(lambda ix, i, take=take: take(i - ix[0] + i, xs), A.map(lambda i: i + 0, A.use(LONG)))  # type: ignore[misc]
        total = A.fold(A.add, 0, A.map(lambda i, take=take: take(i, xs), A.use(LONG)))  # type: ignore[misc]
        programs.append((alone, made, total))
    found: Any = untyped.run(tuple(programs), backend=backend)
    for name, (alone, made, total) in zip(LAZY, found, strict=True):
        np.testing.assert_array_equal(alone, expected, err_msg=name)
        np.testing.assert_array_equal(made, expected, err_msg=name)
        assert total == expected.sum(), name


@pytest.mark.parametrize("backend", BACKENDS)
def test_combinations_are_lazy(backend: Any) -> None:
    """A load in the function of a fold or scan that is guarded there, and by a condition of the elements."""
    xs = A.use(FEW)

    def combine(a: AnyExp, b: AnyExp) -> AnyExp:
        return A.max(A.max(a, b), A.cond(b < 10, A.cond(b >= 0, xs[b], 0) * 0, 0))

    given = A.use(LONG)
    folded, scanned = untyped.run((A.fold(combine, 0, given), A.scanl1(combine, given)), backend=backend)
    assert folded == LONG.max()
    same(scanned, LONG)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_taken_raises(backend: Any) -> None:
    """The same programs, with an index that no condition keeps away."""
    xs = A.use(FEW)
    for late in (lambda i: A.cond(i < 1000, -1, xs[i]), lambda i: A.match(i, (lambda v: v < 1000, -1), xs[i])):
        with pytest.raises(A.AccelIndexError, match=r"index \(1000,\) is out of bounds for an array of shape \(10,\)"):
            untyped.run(A.map(late, A.use(LONG)), backend=backend)
