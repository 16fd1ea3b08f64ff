"""The program as the user would write it: golden texts, and texts that stay short whatever is shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.text import text
from tests.marks import long, slow
from tests.untyped import accel as U

x = np.arange(4, dtype=np.float32)
m = np.ones((3, 4))


def shown(*results: A.Acc[Any]) -> str:
    return text([result.node for result in results])


def test_dotp(golden: Callable[[str], None]) -> None:
    golden(shown(A.fold(A.add, 0, A.zipWith(A.mul, A.use(x), A.use(x)))))


def test_shared_arrays_are_written_once(golden: Callable[[str], None]) -> None:
    xs = A.use(x)
    total = A.sum(xs)
    golden(shown(A.map(lambda v: v / A.the(total), xs), total))


def test_scalar_operators(golden: Callable[[str], None]) -> None:
    xs, ks = A.use(x), A.use(np.arange(4))
    golden(
        shown(
            A.map(lambda v: -(v**2.5) * (v - (v - 1)) / (v / 2) % 3, xs),
            A.map(lambda v: (v > 0) & (v < 1) | ~(v == 0.5) ^ A.isNaN(v), xs),
            A.map(lambda k: (k << 2 | k & 3) // 2 - A.quot(k, 3), ks),
            A.map(lambda k: A.cond(k > 0, A.cast(k, np.float32), A.sqrt(A.the(A.sum(xs)))), ks),
            A.map(lambda k: (k + 1) * (k + 1) + (k + 1), ks),
        )
    )


def test_tuples_and_maybes(golden: Callable[[str], None]) -> None:
    xs = U.use(x)
    pairs = U.zip(xs, U.map(lambda v: v > 1, xs))
    golden(
        shown(
            U.map(lambda p: U.lift(p[1], U.lift(p[0])), pairs),
            U.map(lambda p: U.fromMaybe(0, U.cond(p[1], U.just(p[0]), U.nothing())), pairs),
            U.unzip(U.indexed(xs))[0],
        )
    )


def test_loops(golden: Callable[[str], None]) -> None:
    xs = A.use(x)

    def inner(outer: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Vector[np.float32]]:
        return A.awhile(
            lambda s: A.map(lambda v: v < 9, A.sum(s)),
            lambda s: A.zipWith(A.add, s, outer),
            A.map(lambda v: v + 1, xs),
        )

    golden(
        shown(
            A.awhile(lambda s: A.map(lambda v: v < 99, A.sum(s)), inner, xs),
            A.map(lambda v: A.while_(lambda k: k < A.exp(v), lambda k: k * k + A.exp(v), v), xs),
        )
    )


def test_combinators(golden: Callable[[str], None]) -> None:
    ms, ks = A.use(m), A.use(np.arange(4))
    kept, counts = A.filter(lambda v: v > 0, ms)
    totals = A.scanlTotal(A.add, 0, ms)
    golden(
        shown(
            kept,
            counts,
            *totals,
            A.scanr1(A.max, ms),
            A.take(2, ms),
            A.reverse(A.transpose(ms)),
            A.replicate((2, A.All, 3), ks),
            A.slice(ms, (A.All, 1)),
            A.reshape((A.size(ms), 1), ms),
            A.gather(ks, A.flatten(ms)),
            A.permute(A.add, A.fill((4,), 0), lambda ix: A.just(A.index(3 - ix[0])), ks),
            A.scatterWith(A.add, A.fill((4,), 0), A.zip(ks, ks)),
            A.compute(A.generate((3,), lambda ix: A.toIndex(A.index(3), ix))),
            *A.acond(A.the(A.unit(True)), (ks, ms), (A.unzip(A.zip(ks, ks))[1], ms)),
        )
    )


def test_repr_of_handles(golden: Callable[[str], None]) -> None:
    xs = A.use(x)
    golden("\n\n".join(map(repr, [xs, A.map(A.sqrt, xs), A.constant(1, np.uint8) + 2, xs[1] * 2])))


def test_a_scatter_zips_its_indices_with_its_values(golden: Callable[[str], None]) -> None:
    golden(shown(A.scatter(A.use(np.arange(4)), A.use(x), A.map(lambda v: v + 1, A.use(x)))))


def test_sixty_doublings_are_sixty_lines() -> None:
    xs: A.Acc[Any] = A.use(x)
    for _ in range(60):
        xs = A.zipWith(A.add, xs, xs)
    assert len(repr(xs).splitlines()) == 60 + 3
    e: A.Exp[Any] = A.use(x)[0]
    for _ in range(60):
        e = e + e
    assert len(repr(e)) < 2000


@slow
@pytest.mark.parametrize("thousands", [2, pytest.param(10, marks=long)])
def test_thousands_of_combinators_and_operators(thousands: int) -> None:
    """The texts are linear in the program."""
    xs: A.Acc[Any] = A.use(x)
    e: A.Exp[Any] = A.the(A.sum(xs))
    for _ in range(1000 * thousands):
        xs = A.map(lambda v: v + 1, xs)
        e = e * 2 + 1
    assert len(repr(xs).splitlines()) == 1000 * thousands + 3
    assert len(repr(e)) < 100_000 * thousands
    assert len(repr(A.map(lambda v: v * e, xs))) < 200_000 * thousands
