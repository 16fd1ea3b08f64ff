"""Records that mypy accepts: their constructors, and what reads their fields. Each `assert_type` is a case."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy import bool_ as b1
from numpy import float32 as f4
from numpy import int64 as i8

import accel as A


class Point(A.Record):
    x: A.Field[f4]
    n: A.Field[i8]


class Segment(A.Record):
    start: A.Field[Point]
    flags: A.Field[tuple[b1, f4]]


def moved(p: A.Exp[Point]) -> A.Exp[Point]:
    return Point(x=Point.x(p) + 1, n=Point.n(p))


def expressions(p: A.Exp[Point], s: A.Exp[Segment], v: A.Acc[A.Vector[f4]]) -> None:
    assert_type(Point.x(p), A.Exp[f4])
    assert_type(Point.n(p) + 1, A.Exp[i8])
    assert_type(Segment.start(s), A.Exp[Point])
    assert_type(Point.x(Segment.start(s)), A.Exp[f4])
    assert_type(Segment.flags(s)[0], A.Exp[b1])
    assert_type(Point.x(Point(1.5, 2)), A.Exp[f4])
    assert_type(Segment.flags(Segment(p, A.lift(Point.n(p) > 0, A.constant(1, f4)))), A.Exp[tuple[b1, f4]])
    assert_type(A.map(lambda x: Point.n(Point(x, 3)), v), A.Acc[A.Vector[i8]])


def control(c: A.Exp[b1], p: A.Exp[Point], ps: A.Acc[A.Vector[Point]]) -> None:
    assert_type(A.cond(c, p, p), A.Exp[Point])
    assert_type(A.cond(c, Point(1, 2), Point(3, 4)), A.Exp[Point])
    assert_type(A.cond(c, Point(1, 2), p), A.Exp[Point])
    assert_type(A.select(c, Point(1, 2), Point(3, 4)), A.Exp[Point])
    assert_type(A.while_(lambda q: Point.n(q) < 3, moved, p), A.Exp[Point])
    assert_type(A.iterate(3, moved, p), A.Exp[Point])
    assert_type(A.acond(c, ps, A.map(moved, ps)), A.Acc[A.Vector[Point]])
    assert_type(
        A.awhile(lambda qs: A.all(lambda q: Point.n(q) < 3, qs), lambda qs: A.map(moved, qs), ps),
        A.Acc[A.Vector[Point]],
    )


def arrays(ps: A.Acc[A.Vector[Point]], x: np.ndarray[tuple[int], np.dtype[np.void]]) -> A.Acc[A.Vector[Point]]:
    assert_type(A.map(Point.x, ps), A.Acc[A.Vector[f4]])
    assert_type(A.map(moved, ps), A.Acc[A.Vector[Point]])
    assert_type(A.fold(lambda a, b: A.cond(Point.n(a) > Point.n(b), a, b), ps[0], ps), A.Acc[A.Scalar[Point]])
    assert_type(A.sort(ps), A.Acc[A.Vector[Point]])
    assert_type(A.fold1(A.max, ps), A.Acc[A.Scalar[Point]])
    assert_type(A.map(lambda p: p < ps[0], ps), A.Acc[A.Vector[b1]])
    A.run(ps)["x"]
    return A.use(x)
