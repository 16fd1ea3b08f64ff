"""Control that mypy accepts: `match`, `sfoldl`, `iiterate`. Each `assert_type` is a case."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import NamedTuple, TypeAlias, assert_type

import numpy as np
from numpy import bool_ as b1
from numpy import float32 as f4
from numpy import float64 as f8
from numpy import int64 as i8

import accel as A

V4: TypeAlias = np.ndarray[tuple[int], np.dtype[f4]]


def choices(n: A.Exp[i8], x: A.Exp[f4], p: A.Exp[tuple[i8, f4]], m: A.Exp[A.Maybe[i8]]) -> None:
    assert_type(A.match(n, (0, x), (lambda k: k > 3, x * 2), x + 1), A.Exp[f4])
    assert_type(A.match(n, (0, x), (1, 2), x), A.Exp[f4])
    assert_type(A.match(n, (0, x), 2.5), A.Exp[f4])
    assert_type(A.match(n, (0, 1), (n, 2), 3), A.Exp[i8])
    assert_type(A.match(n, (0, 1.5), (1, 2.5), 3.5), A.Exp[f8])
    assert_type(A.match(p, ((0, ...), n), ((..., 1.0), n + 1), n), A.Exp[i8])
    assert_type(A.match(m, (A.nothing(), n), (A.isJust, n + 1), n), A.Exp[i8])


def scalar_folds(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]], n: A.Exp[i8], ix: A.Exp[tuple[int]]) -> None:
    assert_type(A.sfoldl(A.add, 0, (), v), A.Exp[f4])
    assert_type(A.sfoldl(lambda a, x: a * x, 1.5, n, m), A.Exp[f4])
    assert_type(A.sfoldl(lambda a, x: a + A.boolToInt(x > 0), n, (n,), m), A.Exp[i8])
    assert_type(A.sfoldl(lambda a, x: a & (x > 0), A.constant(True), ix, m), A.Exp[b1])


def double(v: A.Acc[A.Vector[f4]]) -> A.Acc[A.Vector[f4]]:
    return A.map(lambda x: x * 2, v)


def entrances(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]], x: V4) -> None:
    assert_type(A.run1(double)(x), V4)
    assert_type(A.run1(backend="interpreter")(double)(x), V4)
    assert_type(A.runAsync(v), Future[V4])
    assert_type(A.runAsync((v, m)).result(), tuple[V4, np.ndarray[tuple[int, int], np.dtype[f8]]])
    assert_type(A.stream(double, [x, x]), Iterator[V4])
    assert_type(next(A.stream(A.runN(double), [x])), V4)
    assert_type(A.runN(double)(x, out=x.copy()), V4)
    assert_type(A.run1(double)(x, out=x.copy()), V4)


def assertions(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]]) -> None:
    assert_type(A.assert_(A.length(v) > 0, "empty", v), A.Acc[A.Vector[f4]])
    pair = A.assert_(A.length(v) > 0, "empty", (v, m))
    assert_type(pair, tuple[A.Acc[A.Vector[f4]], A.Acc[A.Matrix[np.float64]]])


def host_calls(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]]) -> None:
    assert_type(A.atrace("v", v), A.Acc[A.Vector[f4]])
    assert_type(A.atrace("both", (v, m)), tuple[A.Acc[A.Vector[f4]], A.Acc[A.Matrix[np.float64]]])
    assert_type(A.foreign_acc(np.cumsum, lambda xs: A.scanl1(A.add, xs), v), A.Acc[A.Vector[f4]])
    pair = A.foreign_acc(lambda p: p, lambda p: (p[1], A.sum(p[0])), (v, m))
    assert_type(pair, tuple[A.Acc[A.Matrix[np.float64]], A.Acc[A.Scalar[f4]]])


def loops(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]], n: A.Exp[i8]) -> None:
    assert_type(A.iiterate(n, lambda i, x: x * i, n), A.Exp[i8])
    assert_type(A.iiterate(3, lambda i, x: A.take(i, x), v), A.Acc[A.Vector[f4]])
    both = A.iiterate(3, lambda i, s: (A.take(i, s[0]), s[1]), (v, m))
    assert_type(both, tuple[A.Acc[A.Vector[f4]], A.Acc[A.Matrix[np.float64]]])
    nested = A.awhile(lambda s: A.map(lambda x: x < 3, A.sum(s[0])), lambda s: (s[0], (s[1][0], s[0])), (v, (m, v)))
    assert_type(nested, tuple[A.Acc[A.Vector[f4]], tuple[A.Acc[A.Matrix[np.float64]], A.Acc[A.Vector[f4]]]])


class State(NamedTuple):
    xs: A.Acc[A.Vector[f4]]
    turns: A.Acc[A.Scalar[i8]]


def more(s: State) -> State:
    return State(A.map(lambda x: x * 2, s.xs), A.map(lambda k: k + 1, s.turns))


Arrays = tuple[A.Acc[A.Vector[f4]], A.Acc[A.Matrix[np.float64]]]


def tuples_in_tuples(c: A.Exp[b1], v: A.Acc[A.Vector[f4]], p: Arrays, s: State) -> None:
    assert_type(A.acond(c, (v, p), (v, p)), tuple[A.Acc[A.Vector[f4]], Arrays])
    assert_type(A.acond(c, (p, v), (p, v)), tuple[Arrays, A.Acc[A.Vector[f4]]])
    assert_type(A.acond(c, (v, (v, (p, v))), (v, (v, (p, v))))[1][1][0], Arrays)
    assert_type(A.acond(c, (v, s, p), (v, more(s), p)), tuple[A.Acc[A.Vector[f4]], State, Arrays])


def named_tuples(c: A.Exp[b1], s: State, p: tuple[A.Acc[A.Vector[f4]], A.Acc[A.Scalar[i8]]]) -> None:
    assert_type(A.acond(c, s, more(s)), State)
    assert_type(A.acond(c, s, s).turns, A.Acc[A.Scalar[i8]])
    assert_type(A.acond(c, p, s), tuple[A.Acc[A.Vector[f4]], A.Acc[A.Scalar[i8]]])
    assert_type(A.awhile(lambda t: A.map(lambda k: k < 3, t.turns), more, s), State)
    assert_type(A.iterate(3, lambda t: more(t), s), State)
    assert_type(A.iiterate(3, lambda i, t: more(t), s).xs, A.Acc[A.Vector[f4]])
    assert_type(A.assert_(c, "no", A.compute(s)), State)


def ordered_maybes(m: A.Exp[A.Maybe[f4]], ms: A.Acc[A.Vector[A.Maybe[f4]]], c: A.Exp[b1]) -> None:
    assert_type((m < m, m >= A.nothing(), A.le(m, m)), tuple[A.Exp[b1], A.Exp[b1], A.Exp[b1]])
    assert_type(A.max(m, m), A.Exp[A.Maybe[f4]])
    assert_type(A.fold1(A.max, ms), A.Acc[A.Scalar[A.Maybe[f4]]])
    assert_type(A.sort(ms), A.Acc[A.Vector[A.Maybe[f4]]])
    assert_type(A.searchsorted(ms, ms), A.Acc[A.Vector[i8]])


def folds_of_dimensions(m: A.Acc[A.Matrix[f4]], c: A.Acc[A.Array[A.DIM3, f8]]) -> None:
    assert_type(A.fold(A.add, 0, m, dims=2), A.Acc[A.Scalar[f4]])
    assert_type(A.fold(lambda a, b: a * b, 1.5, c, dims=2), A.Acc[A.Vector[f8]])
    assert_type(A.fold(A.max, A.constant(0.0), c, dims=3), A.Acc[A.Scalar[f8]])
    assert_type(A.fold(A.max, 0, c, dims=1), A.Acc[A.Matrix[f8]])
