"""The multigrid benchmark MG of NAS: `python -m examples.multigrid --class A`.

Four V-cycles for Poisson's equation on a torus, with ten positive and ten negative charges where NPB's generator of
random numbers (`vranlc`) gives its greatest and its least ones. Each operator is a stencil, or reads another grid at
computed places; the norm of the residual (`norm2u3`) is compared with that of the benchmark. [D. Bailey et al., The
NAS Parallel Benchmarks] There is no text in NumPy beside it: it is held against the benchmark's own norms.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import log2
from operator import add
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

import accel as A

Grid: TypeAlias = A.Acc[A.Array[A.DIM3, np.float64]]
Around: TypeAlias = A.Neighbourhood[A.DIM3, np.float64]
Place: TypeAlias = A.Exp[tuple[int, int, int]]
Number: TypeAlias = A.Exp[np.float64]
Norm: TypeAlias = A.Acc[A.Scalar[np.float64]]
Bound: TypeAlias = A.Acc[A.Scalar[np.uint64]]

CLASSES = MappingProxyType(
    {"S": (32, 4, 0.5307707005734e-4), "W": (128, 4, 0.6467329375339e-5), "A": (256, 4, 0.2433365309069e-5)}
)
"""Points along each side, cycles, and the norm that the benchmark expects."""

POISSON = (-8 / 3, 0.0, 1 / 6, 1 / 12)
"""The operator A: what the point itself, its 6 faces, 12 edges and 8 corners weigh."""

SMOOTHER = (-3 / 8, 1 / 32, -1 / 64, 0.0)
RESTRICTION = (1 / 2, 1 / 4, 1 / 8, 1 / 16)

ROWS = tuple(tuple(row for row in product((-1, 0, 1), repeat=2) if sum(map(abs, row)) == differ) for differ in range(3))
"""The rows around that of a point, by how many of their coordinates differ from its own."""

SEED, FACTOR, BITS = 314159265, 5**13, 46
CHARGES = 10


def weighted(n: Around, weights: tuple[float, ...]) -> Number:
    """A sum over the points around one, whose weights depend on how many coordinates differ: first across rows."""

    def across(differ: int, k: int) -> Number:
        return reduce(add, [n(i, j, k) for i, j in ROWS[differ]])

    def sums(differ: int) -> list[Number]:
        own = [across(differ, 0)] if differ < len(ROWS) else []
        return [*own, *(across(differ - 1, k) for k in (-1, 1) if differ)]

    return reduce(add, [reduce(add, sums(differ)) * weight for differ, weight in enumerate(weights) if weight])


def residual(u: Grid, v: Grid) -> Grid:
    """`v - A u`."""
    return A.stencil2(lambda n, m: m(0, 0, 0) - weighted(n, POISSON), A.boundary.wrap, u, A.boundary.wrap, v)


def smoothed(r: Grid, u: Grid) -> Grid:
    """`u + S r`."""
    return A.stencil2(lambda n, m: m(0, 0, 0) + weighted(n, SMOOTHER), A.boundary.wrap, r, A.boundary.wrap, u)


def coarser(r: Grid, n: int) -> Grid:
    """The grid of half as many points along each side, each a mean around every second point of `n`: first of rows."""

    def near(p: A.Exp[np.int64]) -> list[A.Exp[np.int64]]:
        return [p * 2 + 1, p * 2, A.cond(p == n // 2 - 1, 0, p * 2 + 2)]

    def across(ix: Place) -> Number:
        i, j, k = A.unindex(ix)
        (x, *sides), (y, *ends) = near(i), near(j)
        edges = [*(r[side, y, k] for side in sides), *(r[x, end, k] for end in ends)]
        corners = [r[side, end, k] for side in sides for end in ends]
        return r[x, y, k] * RESTRICTION[0] + reduce(add, edges) * RESTRICTION[1] + reduce(add, corners) * RESTRICTION[2]

    rows = A.compute(A.generate((n // 2, n // 2, n), across))

    def point(ix: Place) -> Number:
        i, j, k = A.unindex(ix)
        middle, *sides = [rows[i, j, place] for place in near(k)]
        return middle + reduce(add, sides) * (RESTRICTION[1] / RESTRICTION[0])

    return A.generate((n // 2,) * 3, point)


def finer(u: Grid, n: int) -> Grid:
    """The grid of `n` points along each side between which those of `u` stand: means of the nearest ones, in rows first."""

    def near(p: A.Exp[np.int64]) -> list[A.Exp[np.int64]]:
        return [A.cond(p == 0, n // 2 - 1, (p - 1) >> 1), p >> 1]

    def along(ix: Place) -> Number:
        i, j, k = A.unindex(ix)
        return reduce(add, [u[i, j, place] for place in near(k)])

    rows = A.compute(A.generate((n // 2, n // 2, n), along))

    def point(ix: Place) -> Number:
        i, j, k = A.unindex(ix)
        return reduce(add, [rows[x, y, k] for x, y in product(near(i), near(j))]) * 0.125

    return A.generate((n,) * 3, point)


def cycle(u: Grid, v: Grid, n: int) -> Grid:
    """One V-cycle: the residual down to the coarsest grid, corrections from there up."""
    residuals = [residual(u, v)]
    for level in range(int(log2(n)) - 1):
        residuals.append(A.compute(coarser(residuals[-1], n >> level)))
    coarsest = residuals.pop()
    correction = A.stencil(lambda around: weighted(around, SMOOTHER), A.boundary.wrap, coarsest)
    for level, r in reversed(list(enumerate(residuals))):
        more = finer(correction, n >> level)
        if level == 0:
            more, r = A.zipWith(A.add, u, more), v
        more = A.compute(more)
        correction = smoothed(A.compute(residual(more, r)), more)
    return correction


def vranlc(n: int) -> A.Acc[A.Array[A.DIM3, np.uint64]]:
    """NPB's random numbers, before they are divided by 2**46: `x = 5**13 x mod 2**46`, each computed by itself."""
    mask = (1 << BITS) - 1
    squares = [pow(FACTOR, 1 << bit, 1 << BITS) for bit in range(3 * int(log2(n)) + 1)]

    def number(ix: Place) -> A.Exp[np.uint64]:
        step = A.toIndex(A.index(n, n, n), ix) + 1
        state = A.constant(SEED, np.uint64)
        for bit, square in enumerate(squares):
            state = A.cond(A.testBit(step, bit), state * A.constant(square, np.uint64), state)
        return state & mask

    return A.generate((n, n, n), number)


def charges(n: int) -> Grid:
    """1 where the ten greatest random numbers stand, -1 where the ten least do, 0 elsewhere."""
    numbers = A.compute(vranlc(n))

    def next_ones(state: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        greatest, least = A.the(state[0]), A.the(state[1])
        below = A.map(lambda x: A.cond(x < greatest, x, 0), numbers)
        above = A.map(lambda x: A.cond(x > least, x, 1 << BITS), numbers)
        return A.foldAll(A.max, 0, below), A.foldAll(A.min, 1 << BITS, above)

    start = A.unit(A.constant(1 << BITS, np.uint64)), A.unit(A.constant(0, np.uint64))
    greatest, least = map(A.the, A.iterate(CHARGES, next_ones, start))

    def charge(x: A.Exp[np.uint64]) -> Number:
        return A.cond(x >= greatest, A.constant(1.0), A.cond(x <= least, A.constant(-1.0), A.constant(0.0)))

    return A.map(charge, numbers)


def norm2u3(r: Grid, n: int) -> Norm:
    """The square root of the mean of squares."""
    return A.map(lambda s: A.sqrt(s / float(n**3)), A.foldAll(A.add, 0, A.map(lambda x: x * x, r)))


def multigrid(v: Grid, n: int, cycles: int) -> Norm:
    """The norm of the residual after some cycles."""
    start = A.map(lambda x: x * 0, v)
    u = A.iterate(cycles, lambda u: A.compute(cycle(u, v, n)), start)
    return norm2u3(residual(u, v), n)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a class of the benchmark, and compare with its norm."""
    parser = argparse.ArgumentParser(prog="examples.multigrid", description="NAS MG, a multigrid method")
    parser.add_argument("--class", dest="size", choices=sorted(CLASSES), default="S", help="of sizes")
    given = parser.parse_args(arguments)
    n, cycles, expected = CLASSES[given.size]
    v = A.run(charges(n))
    solve = A.runN(lambda v: multigrid(v, n, cycles))
    solve(v)  # compiles
    start = time.perf_counter()
    norm = float(solve(v))
    seconds = time.perf_counter() - start
    error = abs(norm - expected) / expected
    assert error < 1e-8, (norm, expected)
    print(f"class {given.size}: the residual's norm is {norm:.12e}, as expected but for {error:.0e}; {seconds:.3f} s")
    program = multigrid(A.use(v), n, cycles)
    written, fused = (A.explain(program, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
