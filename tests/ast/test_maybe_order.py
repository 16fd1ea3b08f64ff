"""The order of maybes: Haskell's and Accelerate's, `Nothing` before every `Just`, also within tuples and each other."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from tests.untyped import run

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]

ORDERS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (operator.lt, A.lt),
    (operator.le, A.le),
    (operator.gt, A.gt),
    (operator.ge, A.ge),
]

Host: TypeAlias = Any  # Any: arrays of the host and what is in them


def maybes(values: list[int | None]) -> Host:
    """An array of maybes."""
    known = A.use(np.array([9 if value is None else value for value in values]))
    return A.zipWith(
        lambda there, value: A.cond(there, A.just(value), A.nothing()),
        A.use(np.array([value is not None for value in values])),
        known,
    )


def before(x: int | None, y: int | None) -> bool:
    """`x < y` as in Haskell."""
    return y is not None and (x is None or x < y)


def rank(x: int | None) -> tuple[bool, int]:
    """What Python orders as Haskell orders `x`."""
    return (x is not None, x or 0)


VALUES: list[int | None] = [None, 0, -3, 5]
PAIRS = [(x, y) for x in VALUES for y in VALUES]


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_is_less_than_every_value(backend: str) -> None:
    left, right = maybes([x for x, _ in PAIRS]), maybes([y for _, y in PAIRS])
    for order, function in ORDERS:
        expected = [order(rank(x), rank(y)) for x, y in PAIRS]
        for each in (order, function):
            assert run(A.zipWith(each, left, right), backend=backend).tolist() == expected
    assert run(A.zipWith(A.lt, left, right), backend=backend).tolist() == [before(x, y) for x, y in PAIRS]


def test_a_nothing_takes_its_type_from_the_other_side() -> None:
    xs = maybes([None, 1])
    assert run(A.map(lambda x: x > A.nothing(), xs), backend="interpreter").tolist() == [False, True]
    assert run(A.map(lambda x: A.nothing() >= x, xs), backend="interpreter").tolist() == [True, False]
    assert bool(run(A.unit(A.nothing() <= A.nothing()), backend="interpreter"))
    assert run(A.map(lambda x: A.isNothing(A.min(x, A.nothing())), xs), backend="interpreter").all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "python"), [(A.min, min), (A.max, max)])
def test_the_extreme_of_maybes(function: Callable[..., Any], python: Callable[..., Any], backend: str) -> None:
    values = [None if k % 3 == 1 else k for k in np.random.default_rng(5).integers(-9, 9, 100).tolist()]
    there, value = run(A.fold1(function, maybes(values)), backend=backend)
    assert (bool(there), int(value) if there else 0) == rank(python(values, key=rank))


@pytest.mark.parametrize("backend", BACKENDS)
def test_sorting(backend: str) -> None:
    """Of maybes, and of maybes of pairs within pairs; all sorts are stable."""
    values = [None if k % 4 == 1 else k for k in np.random.default_rng(6).integers(-5, 9, 60).tolist()]
    places = sorted(range(60), key=lambda k: rank(values[k]))
    xs = maybes(values)
    assert run(A.argsort(xs), backend=backend).tolist() == places
    there, found = run(A.sort(xs), backend=backend)
    assert [int(x) if t else None for t, x in zip(there, found, strict=True)] == [values[k] for k in places]
    (there, found), largest = run(A.topK(3, xs), backend=backend)
    assert there.all()
    assert found.tolist() == [values[k] for k in largest]
    assert largest.tolist() == sorted(range(60), key=lambda k: (*map(operator.neg, rank(values[k])), k))[:3]
    counts = [sum(before(y, x) for y in values) for x in values]
    assert run(A.searchsorted(A.sort(xs), xs), backend=backend).tolist() == counts
    seconds = np.arange(60)[::-1].copy()
    nested = A.zipWith(
        lambda m, k: A.lift(A.cond(A.isJust(m), A.just(A.lift(m, 1)), A.nothing()), k), xs, A.use(seconds)
    )
    expected = sorted(range(60), key=lambda k: (rank(values[k]), seconds[k]))
    assert run(A.argsort(nested), backend=backend).tolist() == expected
    assert run(A.searchsorted(A.sort(nested), nested), backend=backend).tolist() == [
        expected.index(k) for k in range(60)
    ]


def test_what_has_no_order_has_none_in_a_maybe() -> None:
    z: Any = A.just(A.constant(1j))
    with pytest.raises(A.AccelTypeError, match="takes numbers or bools, got c128"):
        z < z  # noqa: B015  # it raises
    with pytest.raises(A.AccelTypeError, match="must be maybe i64, got the Python int 3"):
        A.map(lambda m: m > 3, maybes([1]))
    zs: Any = A.map(lambda x: A.just(A.mkComplex(x, x)), A.use(np.zeros(2)))
    with pytest.raises(A.AccelTypeError, match="got maybe c128"):
        A.sort(zs)


def test_an_element_is_no_nothing_without_a_type() -> None:
    xs: Any = maybes([1])
    empty = A.just(A.index())  # a maybe of no items, which a nothing() beside it is, too
    for wrong in (
        lambda: A.map(lambda m: A.nothing(), xs),
        lambda: A.map(lambda m: A.lift(m, A.nothing()), xs),
        lambda: A.map(lambda m: A.cond(A.isJust(m), A.nothing(), A.nothing()), xs),
        lambda: A.generate((3,), lambda ix: A.just(A.nothing())),
        lambda: A.unit(A.nothing()),
        lambda: A.stencil(lambda n: A.nothing(), A.boundary.clamp, xs),
        lambda: A.map(lambda m: A.while_(lambda n: A.isJust(n), lambda n: n, A.nothing()), xs),
    ):
        with pytest.raises(A.AccelTypeError, match=r"is a nothing\(\) that has met no value"):
            wrong()
    assert str(A.map(lambda m: A.cond(A.isJust(m), empty, A.nothing()), xs).type) == "maybe ()[_]"
    assert str(A.map(lambda m: A.cond(A.isJust(m), A.nothing(), m), xs).type) == "maybe i64[_]"
    assert str(A.map(lambda m: empty, xs).type) == "maybe ()[_]"
