"""[Rob] Listings 1.2 and 1.3 as a user of accel writes them: closest points and quadtree, one step of each recursion."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A

Floats: TypeAlias = A.Acc[A.Vector[np.float64]]
Float: TypeAlias = A.Acc[A.Scalar[np.float64]]
Point: TypeAlias = tuple[np.float64, np.float64]
Points: TypeAlias = A.Acc[A.Vector[Point]]


def initial_bounds(xs: Floats, ys: Floats) -> tuple[Float, Float, Float, Float]:
    """Listing 1.3, `initialBounds`: the least and the largest of both coordinates."""
    xs, ys = A.unzip(A.zip(xs, ys))
    return A.fold1(A.min, xs), A.fold1(A.max, xs), A.fold1(A.min, ys), A.fold1(A.max, ys)


def quadrants(xs: Floats, ys: Floats, middle_x: float, middle_y: float) -> tuple[Points, Points, Points, Points]:
    """Listing 1.3, `go`: the points in each quarter of a box."""
    points = A.zip(xs, ys)

    def inside(left: bool, low: bool) -> Points:
        def test(point: A.Exp[Point]) -> A.Exp[np.bool_]:
            x, y = point[0] < middle_x, point[1] < middle_y
            return (x if left else ~x) & (y if low else ~y)

        return A.filter(test, points)[0]

    return inside(True, True), inside(True, False), inside(False, True), inside(False, False)


LOOPS_OF_EXTERNALS = 2
"""`nearest` below visits its points once per call; there are two calls."""


def closest_points(xs: Floats, ys: Floats) -> Float:
    """Listing 1.2, one step; `nearest` stands for the recursive calls and, like them, needs its points complete."""
    points = A.zip(xs, ys)
    (size,) = A.unlift(points.shape)
    middle = A.the(A.fold(A.add, 0, ys)) / A.toFloating(size, np.float64)
    aboves, _ = A.filter(lambda p: p[1] >= middle, points)
    belows, _ = A.filter(lambda p: p[1] < middle, points)
    border = A.the(nearest(aboves)), A.the(nearest(belows))
    near = A.min(*border)
    above_border, _ = A.filter(lambda p: (p[1] >= middle) & (p[1] < middle + near), points)
    below_border, _ = A.filter(lambda p: (p[1] < middle) & (p[1] >= middle - near), points)
    (n,), (m,) = A.unlift(above_border.shape), A.unlift(below_border.shape)

    def pair(ix: A.Exp[tuple[int]]) -> A.Exp[tuple[np.float64, np.float64, np.float64, np.float64]]:
        k = A.unindex(ix)[0]
        p, q = above_border[k // m], below_border[k % m]
        return A.lift(p[0], p[1], q[0], q[1])

    merged = A.generate(A.index(n * m), pair)  # `cross`, a vector of pairs
    distances = A.map(lambda pq: A.hypot(pq[0] - pq[2], pq[1] - pq[3]), merged)
    return A.fold(A.min, near, distances)


def nearest(points: Points) -> Float:
    """The least distance of two points: the naive algorithm of `closestPointsNaive`."""
    points = A.compute(points)
    (n,) = A.unlift(points.shape)

    def others(p: A.Exp[Point], i: A.Exp[np.int64]) -> A.Exp[np.float64]:
        def step(j: A.Exp[np.int64], best: A.Exp[np.float64]) -> A.Exp[np.float64]:
            q = points[j]
            return A.cond(i == j, best, A.min(best, A.hypot(p[0] - q[0], p[1] - q[1])))

        start = A.lift(A.constant(0, np.int64), A.constant(np.inf, np.float64))
        found = A.while_(lambda s: s[0] < n, lambda s: A.lift(s[0] + 1, step(s[0], s[1])), start)
        return found[1]

    return A.fold(A.min, A.constant(np.inf, np.float64), A.imap(lambda ix, p: others(p, A.unindex(ix)[0]), points))
