"""The papers' example programs, as a user of accel writes them.

[vB20 Fig. 4 and 6] `normalise2`, plain and expanded; [Rob] `normalize2`, `normalizeInc`, `filterMax`; [vB24] the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

import accel as A

Ints: TypeAlias = A.Acc[A.Vector[np.int64]]
Number: TypeAlias = A.Exp[np.int64]
Point: TypeAlias = tuple[np.float64, np.float64]
Annotated: TypeAlias = tuple[np.float64, np.float64, np.float64]


def normalise2(xs: Ints) -> tuple[Ints, Ints]:
    """[vB20 Fig. 4]: the scan has n + 1 results."""
    sum1 = A.the(A.fold(A.add, 0, xs))
    scn = A.scanl(A.add, 0, xs)
    sum2 = A.the(A.fold(A.add, 0, scn))
    return A.map(lambda x: x // sum1, xs), A.map(lambda x: x // sum2, xs)


def expanded_normalise2(ys: Ints) -> tuple[Ints, Ints]:
    """[vB20 Fig. 6]: `xs` is itself a map."""
    return normalise2(A.map(lambda y: y * 2 + 1, ys))


def normalize2(xs: Ints) -> tuple[Ints, Ints]:
    """[Rob section 1.1]: with a filter."""
    sum1 = A.the(A.fold(A.add, 0, xs))
    gts, _ = A.filter(lambda x: x > 0, xs)
    sum2 = A.the(A.fold(A.add, 0, gts))
    return A.map(lambda x: x // sum1, xs), A.map(lambda x: x // sum2, xs)


def normalizeInc(xs: Ints) -> Ints:
    """[Rob section 1.4]: reading `xs` twice is better than storing `incs`."""
    incs = A.map(lambda x: x + 1, xs)
    sum1 = A.the(A.fold(A.add, 0, xs))
    return A.map(lambda i: i // sum1, incs)


def filterMax(
    xs: A.Acc[A.Vector[np.float64]], ys: A.Acc[A.Vector[np.float64]]
) -> tuple[A.Acc[A.Scalar[Point]], A.Acc[A.Vector[Point]]]:
    """[Rob Listing 1.4], the core of quickhull: the farthest point from a line, and all points above it."""

    def annotate(x: A.Exp[np.float64], y: A.Exp[np.float64]) -> A.Exp[Annotated]:
        return A.lift(x, y, y * 2 - x)

    def farther(a: A.Exp[Annotated], b: A.Exp[Annotated]) -> A.Exp[Annotated]:
        return A.cond(b[2] > a[2], b, a)

    annotated = A.zipWith(annotate, xs, ys)
    maximum = A.fold1(farther, annotated)
    above, _ = A.filter(lambda p: p[2] > 0, annotated)
    return A.map(lambda p: A.lift(p[0], p[1]), maximum), A.map(lambda p: A.lift(p[0], p[1]), above)


def f(x: Number) -> Number:
    """The papers' `f`."""
    return x * 3 + 1


def g(x: Number) -> Number:
    """The papers' `g`."""
    return x - 7


def singleLoop(xs: Ints) -> Ints:
    """[vB24 section 1]."""
    bs = A.reverse(xs)
    cs = A.map(f, xs)
    ds = A.map(g, cs)
    return A.zipWith3(lambda b, c, d: b + c + d, bs, cs, ds)


def simple1(indices: Ints, xs: Ints) -> Ints:
    """[vB24 section 3.3]: a map before a gather."""
    return A.gather(indices, A.map(f, xs))


def simple2(is1: Ints, is2: Ints, xs: Ints) -> Ints:
    """Two gathers."""
    return A.gather(is2, A.gather(is1, xs))


def simple3(indices: Ints, xs: Ints) -> tuple[Ints, Ints]:
    """As `simple1`, but the array between is a result: it must be computed wholly."""
    mapped = A.map(f, xs)
    return mapped, A.gather(indices, mapped)


def simple4(indices: Ints, xs: A.Acc[A.Matrix[np.int64]]) -> Ints:
    """A fold before a gather."""
    return A.gather(indices, A.fold(A.add, 0, xs))


def simple5(indices: Ints, xs: Ints) -> Ints:
    """One array read in two orders."""
    return A.zipWith(lambda a, b: a * 2 + b, A.map(g, xs), A.gather(indices, xs))


def scatterExample(xs: Ints) -> Ints:
    """[vB24 section 3.4]: the pairs fuse with the scatter, the destination does not."""
    pairs = A.map(lambda x: A.lift(x * 2, x), xs)
    bs = A.map(lambda x: x + 1, xs)
    return A.scatterWith(A.add, bs, pairs)


def greedyBottomUpBad(xs: Ints, width: int = 1_000_000) -> Ints:
    """[vB24 section 5]: fusing upwards from the result makes `large` manifest."""
    (n,) = A.unlift(xs.shape)
    indices = A.generate(A.index(n, width), lambda ix: A.unindex(ix)[0])
    large = A.gather(indices, xs)
    ys = A.fold(A.add, 0, large)
    zs = A.fold(A.mul, 1, large)
    return A.map(lambda y: y + zs[0], ys)


def greedyTopDownBad(xs: Ints) -> A.Acc[A.Scalar[np.int64]]:
    """[vB24 section 5]: fusing downwards from the input makes `cs` manifest."""
    bs = A.map(lambda a: a * 2, xs)
    cs = A.map(lambda b: b + 1, bs)
    ds = A.generate(xs.shape, lambda ix: A.unindex(ix)[0] + bs[0])
    es = A.zipWith(A.add, cs, ds)
    return A.fold(A.add, 0, es)


OfInts: TypeAlias = Callable[[Ints], object]
"""A program over one vector."""


def contraction(es: Ints) -> Ints:
    """[Kri Fig. 21]: a fragment of Gao et al. 1993. There the first line copies; here it adds, or it would vanish."""
    a = A.map(lambda e: e + 1, es)
    b = A.map(lambda x: x * 2 + 3, a)
    c = A.map(lambda x: x + 99, b)
    d = A.zipWith(A.add, A.reverse(a), a)
    e = A.zipWith3(lambda x, y, z: x + y * z, b, c, d)
    f_ = A.map(lambda x: x * 4 + 2, e)
    g_ = A.map(lambda x: x * 8 - 3, e)
    last = A.length(e) - 1
    return A.zipWith(A.add, f_, A.imap(lambda ix, y: y * e[A.min(A.unindex(ix)[0] + 1, last)], g_))
