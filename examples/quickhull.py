"""Quickhull, flattened: the convex hull of points in the plane, all of whose sides grow at once.

For each side of the hull so far there is a segment of the points outside of it, perhaps an empty one. A segmented fold finds
the farthest of each, which becomes a corner (`expand`), and scans say where the points outside of the two new sides go
(`permute`). So there are as many turns as the recursion is deep. The recursion takes ten lines of NumPy, fewer than these: it
visits one side after the other, and need not say where points go.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured, unstructured_to_structured
from scipy.spatial import ConvexHull
from skimage import data

import accel as A

Host: TypeAlias = np.ndarray[tuple[int], np.dtype[np.void]]
Number: TypeAlias = A.Exp[np.float64]
Index: TypeAlias = A.Exp[np.int64]

POINT = np.dtype([("x", np.float64), ("y", np.float64)])


class Point(A.Record):
    """In the plane."""

    x: A.Field[np.float64]
    y: A.Field[np.float64]


class Candidate(A.Record):
    """A point, and the number of the side that it is outside of."""

    point: A.Field[Point]
    side: A.Field[np.int64]


class Farthest(A.Record):
    """A point, and how far it is from a line."""

    point: A.Field[Point]
    distance: A.Field[np.float64]


Points: TypeAlias = A.Acc[A.Vector[Point]]
State: TypeAlias = tuple[Points, A.Acc[A.Vector[np.int64]], A.Acc[A.Vector[Candidate]]]


def outside(start: A.Exp[Point], end: A.Exp[Point], p: A.Exp[Point]) -> Number:
    """How far to the right of a line a point is, times the line's length."""
    return (Point.x(p) - Point.x(start)) * (Point.y(end) - Point.y(start)) - (Point.y(p) - Point.y(start)) * (
        Point.x(end) - Point.x(start)
    )


def before(p: A.Exp[Point], q: A.Exp[Point]) -> A.Exp[np.bool_]:
    """Whether a point is left of another, or below it."""
    return (Point.x(p) < Point.x(q)) | (Point.x(p) == Point.x(q)) & (Point.y(p) < Point.y(q))


def farther(a: A.Exp[Farthest], b: A.Exp[Farthest]) -> A.Exp[Farthest]:
    """The farther one; of equals one of the two at the ends of the line that they are on, for the others are no corners."""
    d, e = Farthest.distance(a), Farthest.distance(b)
    return A.cond((d < e) | (d == e) & before(Farthest.point(b), Farthest.point(a)), b, a)


def turn(state: State) -> State:
    """Each side that has points outside becomes two, with the farthest of these between them."""
    corners, sizes, candidates = state
    n = A.length(corners)
    starts = A.scanl(A.add, 0, sizes)

    def end(side: Index) -> A.Exp[Point]:
        return corners[A.cond(side + 1 < n, side + 1, 0)]

    def measured(c: A.Exp[Candidate]) -> A.Exp[Farthest]:
        point, side = Candidate.point(c), Candidate.side(c)
        return Farthest(point, outside(corners[side], end(side), point))

    farthest = A.foldSeg(farther, Farthest(Point(0.0, 0.0), 0.0), A.map(measured, candidates), sizes)
    grows = A.map(lambda f: A.boolToInt(Farthest.distance(f) > 0), farthest)
    numbers = A.imap(lambda ix, earlier: ix[0] + earlier, A.prescanl(A.add, 0, grows))

    def half(c: A.Exp[Candidate]) -> A.Exp[tuple[np.int64, np.int64]]:
        point, side = Candidate.point(c), Candidate.side(c)
        corner, grown = Farthest.point(farthest[side]), grows[side] > 0
        first = grown & (outside(corners[side], corner, point) > 0)
        second = grown & ~first & (outside(corner, end(side), point) > 0)
        return A.lift(A.boolToInt(first), A.boolToInt(second))

    halves = A.map(half, candidates)
    firsts, seconds = (A.scanl(A.add, 0, each) for each in A.unzip(halves))

    def place(ix: A.Exp[tuple[int]]) -> A.Exp[A.Maybe[tuple[int]]]:
        (i,) = A.unindex(ix)
        side, (first, second) = Candidate.side(candidates[i]), A.unlift(halves[i])
        in_first = firsts[i] + seconds[starts[side]]
        in_second = seconds[i] + firsts[starts[side + 1]]
        there = A.index(A.cond(first > 0, in_first, in_second))
        return A.cond(first + second > 0, A.just(there), A.nothing())

    def moved(c: A.Exp[Candidate], which: A.Exp[tuple[np.int64, np.int64]]) -> A.Exp[Candidate]:
        return Candidate(Candidate.point(c), numbers[Candidate.side(c)] + which[1])

    def part(side: Index, which: Index) -> A.Exp[tuple[Point, np.int64]]:
        first, second = (counts[starts[side + 1]] - counts[starts[side]] for counts in (firsts, seconds))
        return A.cond(which == 0, A.lift(corners[side], first), A.lift(Farthest.point(farthest[side]), second))

    nowhere = A.fill((firsts[A.size(candidates)] + seconds[A.size(candidates)],), Candidate(Point(0.0, 0.0), 0))
    parts = A.expand(lambda side: grows[side] + 1, part, A.enumFromN((n,), 0))
    return *A.unzip(parts), A.permuteUnique(nowhere, place, A.zipWith(moved, candidates, halves))


def quickhull(points: Points) -> Points:
    """The corners in counterclockwise order, from the leftmost one (of several the lowest); points are not all on one line."""
    first = A.the(A.fold1(lambda p, q: A.cond(before(q, p), q, p), points))
    last = A.the(A.fold1(lambda p, q: A.cond(before(p, q), q, p), points))
    below, others = A.partition(lambda p: outside(first, last, p) > 0, points)
    candidates = A.append(A.map(lambda p: Candidate(p, 0), below), A.map(lambda p: Candidate(p, 1), others))
    corners = A.generate((2,), lambda ix: A.cond(ix[0] == 0, first, last))
    sizes = A.generate((2,), lambda ix: A.cond(ix[0] == 0, A.length(below), A.length(others)))
    corners, _, _ = A.awhile(lambda state: A.unit(A.length(state[2]) > 0), turn, (corners, sizes, candidates))
    return corners


def inputs(size: int = 1_000_000) -> Host:
    """Points around the middle of the plane."""
    return unstructured_to_structured(np.random.default_rng(2026).standard_normal((size, 2)), POINT)


def outline() -> Host:
    """The pixels of scikit-image's horse."""
    return unstructured_to_structured(np.argwhere(~data.horse()), POINT)


def quickhull_scipy(points: Host) -> Host:
    """The same by Qhull."""
    corners = points[ConvexHull(structured_to_unstructured(points)).vertices]
    return np.roll(corners, -np.lexsort((corners["y"], corners["x"]))[0])


def main() -> None:
    """The hulls of a horse, and of a million points; compare with SciPy, and show what was fused."""
    run = A.runN(quickhull)
    for what, points in (("a horse's pixels", outline()), ("points", inputs())):
        corners = run(points)
        np.testing.assert_array_equal(corners, quickhull_scipy(points))
        print(f"{len(points)} {what}: {len(corners)} corners")
    written, fused = (A.explain(quickhull, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
