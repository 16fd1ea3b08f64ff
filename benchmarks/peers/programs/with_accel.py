"""The workloads in accel: `run` compiles them, for f32 and f64."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

import accel as A
from accel.ast.tree.types import F32
from benchmarks.peers.peer import Tool
from benchmarks.peers.workloads import ITERATIONS

# Any: the elements are float32 or float64, as the inputs are.
Number: TypeAlias = A.Exp[Any]
Single: TypeAlias = A.Acc[A.Scalar[Any]]
Column: TypeAlias = A.Acc[A.Vector[Any]]
Table: TypeAlias = A.Acc[A.Matrix[Any]]
Keys: TypeAlias = A.Acc[A.Vector[np.int32]]


def dot(xs: Column, ys: Column) -> Single:
    """One fold over two vectors."""
    return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))


def saxpy(xs: Column, ys: Column) -> Column:
    """One map of two vectors."""
    return A.zipWith(lambda x, y: x * 2.5 + y, xs, ys)


def mapchain(xs: Column) -> Column:
    """Six operations, written as six maps."""
    for _ in range(3):
        xs = A.map(lambda x: x * 1.5, xs)
        xs = A.map(lambda x: x + 0.25, xs)
    return xs


def blackscholes(prices: Column, strikes: Column, years: Column) -> tuple[Column, Column]:
    """Prices by Black and Scholes, as in `examples/black_scholes.py`."""

    def normal(x: Number) -> Number:
        return A.erfc(x * -0.7071067811865476) * 0.5

    def option(price: Number, strike: Number, time: Number) -> A.Exp[Any]:
        deviation = A.sqrt(time) * 0.3
        d1 = (A.log(price / strike) + time * 0.065) / deviation
        d2 = d1 - deviation
        discounted = strike * A.exp(time * -0.02)
        call = price * normal(d1) - discounted * normal(d2)
        return A.lift(call, discounted * normal(-d2) - price * normal(-d1))

    return A.unzip(A.zipWith3(option, prices, strikes, years))


def normalise2(xs: Column) -> tuple[Column, Column]:
    """Divided by the sum, and by the sum of the running sums [vB20 Fig. 4]."""
    total = A.the(A.fold(A.add, 0, xs))
    running = A.the(A.fold(A.add, 0, A.scanl(A.add, 0, xs)))
    return A.map(lambda x: x / total, xs), A.map(lambda x: x / running, xs)


def normfilter(xs: Column) -> tuple[Column, Column]:
    """Divided by the sum, and by the sum of what is positive [Rob section 1.1]."""
    positive, _ = A.filter(lambda x: x > 0, xs)
    total = A.the(A.fold(A.add, 0, xs))
    part = A.the(A.fold(A.add, 0, positive))
    return A.map(lambda x: x / total, xs), A.map(lambda x: x / part, xs)


def singleloop(xs: Column) -> Column:
    """Two maps added to the reverse [vB24 section 1]."""
    tripled = A.map(lambda x: x * 3 + 1, xs)
    return A.zipWith3(lambda b, c, d: b + c + d, A.reverse(xs), tripled, A.map(lambda c: c - 7, tripled))


def gather(places: Keys, xs: Column) -> Column:
    """Elements at random places."""
    return A.gather(A.map(lambda place: A.fromIntegral(place, np.int64), places), xs)


def histogram(keys: Keys, targets: int) -> Keys:
    """How many there are of each."""
    ones = A.map(lambda key: A.constant(1, np.int32), keys)
    places = A.map(lambda key: A.fromIntegral(key, np.int64), keys)
    return A.scatterWith(A.add, A.fill((targets,), np.int32(0)), A.zip(places, ones))


def hist256(keys: Keys) -> Keys:
    """Of few."""
    return histogram(keys, 256)


def hist1e6(keys: Keys) -> Keys:
    """Of many."""
    return histogram(keys, 10**6)


def prefixsum(xs: Column) -> Column:
    """The inclusive scan."""
    return A.scanl1(A.add, xs)


def compact(xs: Column) -> Column:
    """A filter that keeps about half."""
    kept, _ = A.filter(lambda x: x > 0, xs)
    return kept


def softmax(xs: Table) -> Table:
    """Along rows."""
    _, columns = A.unlift(xs.shape)
    exponentials = A.map(A.exp, A.zipWith(A.sub, xs, A.replicate((A.All, columns), A.fold1(A.max, xs))))
    totals = A.replicate((A.All, columns), A.fold(A.add, 0, exponentials))
    return A.zipWith(lambda e, total: e / total, exponentials, totals)


def jacobi1(xs: Table) -> Table:
    """The mean of four neighbours; the border stays."""
    rows, columns = A.unlift(xs.shape)

    def point(place: A.Exp[tuple[int, int]]) -> Number:
        i, j = A.unindex(place)
        inner = (i > 0) & (i < rows - 1) & (j > 0) & (j < columns - 1)
        around = xs[A.index(i - 1, j)] + xs[A.index(i + 1, j)] + xs[A.index(i, j - 1)] + xs[A.index(i, j + 1)]
        return A.cond(inner, around * 0.25, xs[place])

    return A.generate(xs.shape, point)


def jacobi20(xs: Table) -> Table:
    """The same, 20 times."""
    return A.iterate(20, jacobi1, xs)


def mandelbrot(real: Table, imaginary: Table) -> A.Acc[A.Matrix[np.int32]]:
    """Steps until a point leaves."""

    def steps(a: Number, b: Number) -> A.Exp[np.int32]:
        def near(state: A.Exp[Any]) -> A.Exp[np.bool]:
            x, y, count = A.unlift(state)
            inside: A.Exp[np.bool] = (x * x + y * y <= 4) & (count < ITERATIONS)
            return inside

        def step(state: A.Exp[Any]) -> A.Exp[Any]:
            x, y, count = A.unlift(state)
            return A.lift(x * x - y * y + a, 2 * x * y + b, count + 1)

        start: A.Exp[Any] = A.lift(a * 0, b * 0, A.constant(0, np.int32))
        count: A.Exp[np.int32] = A.unlift(A.while_(near, step, start))[2]
        return count

    return A.zipWith(steps, real, imaginary)


def nbody(xs: Column, ys: Column, zs: Column, masses: Column) -> tuple[Column, Column, Column]:
    """The forces of all bodies on each, softened."""
    (count,) = A.unlift(xs.shape)

    def pairs(values: Column) -> Table:
        return A.zipWith(lambda here, there: there - here, A.replicate((A.All, count), values), along(values))

    def along(values: Column) -> Table:
        return A.replicate((count, A.All), values)

    def weigh(dx: Number, dy: Number, dz: Number, mass: Number) -> Number:
        square = dx * dx + dy * dy + dz * dz + 0.01
        return mass / (square * A.sqrt(square))

    differences = pairs(xs), pairs(ys), pairs(zs)
    weights = A.zipWith4(weigh, *differences, along(masses))
    fx, fy, fz = (A.fold(A.add, 0, A.zipWith(A.mul, weights, difference)) for difference in differences)
    return fx, fy, fz


def matmul(left: Table, right: Table) -> Table:
    """The product, as a fold of products."""
    rows, _ = A.unlift(left.shape)
    _, columns = A.unlift(right.shape)
    across = A.replicate((rows, A.All, A.All), A.transpose(right))
    return A.fold(A.add, 0, A.zipWith(A.mul, A.replicate((A.All, columns, A.All), left), across))


def rowcol(xs: Table) -> tuple[Column, Column]:
    """Sums of rows, and of columns."""
    return A.fold(A.add, 0, xs), A.fold(A.add, 0, A.transpose(xs))


def meanvar(xs: Column) -> tuple[Single, Single]:
    """Mean and variance, of the sum and the sum of squares."""

    def divided(total: Number) -> Number:
        size = A.size(xs)
        return total / (A.toFloating(size, np.float32) if total.type is F32 else A.toFloating(size, np.float64))

    mean = A.map(divided, A.fold(A.add, 0, xs))
    squares = A.fold(A.add, 0, A.map(lambda x: x * x, xs))
    return mean, A.zipWith(lambda s, m: divided(s) - m * m, squares, mean)


def hull(xs: Column, ys: Column) -> tuple[Single, Single, Column, Column]:
    """The core of quickhull: the farthest point from a line, and all above it [Rob Listing 1.4]."""

    def annotate(x: Number, y: Number) -> A.Exp[Any]:
        return A.lift(x, y, y * 2 - x)

    annotated = A.zipWith(annotate, xs, ys)
    farthest = A.fold1(lambda a, b: A.cond(b[2] > a[2], b, a), annotated)
    above, _ = A.filter(lambda p: p[2] > 0, annotated)
    fx, fy, _ = A.unzip3(A.map(lambda p: A.lift(p[0], p[1], p[2]), farthest))
    ax, ay = A.unzip(A.map(lambda p: A.lift(p[0], p[1]), above))
    return fx, fy, ax, ay


def tool(variant: str) -> Tool:
    """accel, with its own pool of threads and of memory."""
    programs: tuple[Callable[..., Any], ...] = (  # Any: mypy would look for what their types have in common
        dot, saxpy, mapchain, blackscholes, normalise2, normfilter, singleloop, gather, hist256, hist1e6, prefixsum,
        compact, softmax, jacobi1, jacobi20, mandelbrot, nbody, matmul, rowcol, meanvar, hull,
    )  # fmt: skip
    return Tool(MappingProxyType({program.__name__: A.runN(program) for program in programs}))
