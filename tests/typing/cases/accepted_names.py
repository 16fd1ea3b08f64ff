"""Programs that mypy must accept: names that stand for several arities, ranks and kinds of elements."""

from __future__ import annotations

from typing import assert_type

from numpy import bool_ as b1
from numpy import float32 as f4
from numpy import int64 as i8

import accel as A


def joins(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]]) -> None:
    assert_type(A.append(v, v), A.Acc[A.Vector[f4]])
    assert_type(A.append(m, A.map(A.sqrt, m)), A.Acc[A.Matrix[f4]])
    assert_type(A.concatOn(0, m, m), A.Acc[A.Matrix[f4]])


def floats_and_tuples(x: A.Exp[f4], t: A.Exp[tuple[f4, i8]], v: A.Acc[A.Vector[f4]], k: A.Acc[A.Vector[i8]]) -> None:
    assert_type((x // 2, 1 // x, divmod(x, 0.5)), tuple[A.Exp[f4], A.Exp[f4], tuple[A.Exp[f4], A.Exp[f4]]])
    assert_type((t < t, A.le(t, t)), tuple[A.Exp[b1], A.Exp[b1]])
    assert_type(A.max(t, t), A.Exp[tuple[f4, i8]])
    assert_type(A.fold1(A.max, A.zip(v, k)), A.Acc[A.Scalar[tuple[f4, i8]]])


def arities(v: A.Acc[A.Vector[f4]], k: A.Acc[A.Vector[i8]], b: A.Acc[A.Vector[b1]]) -> None:
    assert_type(A.izipWith(lambda ix, x, y: A.cond(y, x, x + 1), v, b), A.Acc[A.Vector[f4]])
    assert_type(A.izipWith3(lambda ix, x, y, z: ix[0] + y, v, k, b), A.Acc[A.Vector[i8]])
    assert_type(A.zip6(v, k, b, v, k, b), A.Acc[A.Vector[tuple[f4, i8, b1, f4, i8, b1]]])
    assert_type(A.map(lambda t: t[5], A.zip6(v, k, b, v, k, b)), A.Acc[A.Vector[b1]])
    assert_type(A.unzip7(A.zip7(v, v, v, v, v, v, b))[6], A.Acc[A.Vector[b1]])
    assert_type(A.zipWith9(lambda p, q, r, s, t, u, w, x, y: p * y, v, k, b, v, k, b, v, k, v), A.Acc[A.Vector[f4]])
    assert_type(A.map(lambda t: A.unlift(t)[7], A.zip8(v, v, v, v, v, v, v, k)), A.Acc[A.Vector[i8]])


def masked(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]], k: A.Acc[A.Vector[i8]]) -> None:
    assert_type(A.gatherIf(k, v, lambda x: x > 0, v, v), A.Acc[A.Vector[f4]])
    at = A.map(lambda i: A.index(i, i), k)
    assert_type(A.gatherIf(at, k, A.even, v, m), A.Acc[A.Vector[f4]])
    assert_type(A.scatterIf(k, v, lambda x: x > 0, v, v), A.Acc[A.Vector[f4]])
    pairs = A.zipWith(lambda i, x: A.cond(i > 0, A.just(A.lift(A.index(i, i), x)), A.nothing()), k, v)
    assert_type(A.permuteWith(A.add, m, pairs), A.Acc[A.Matrix[f4]])


def kept(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]], k: A.Acc[A.Vector[i8]], b: A.Acc[A.Matrix[b1]]) -> None:
    assert_type(A.compact(b, m), tuple[A.Acc[A.Vector[f4]], A.Acc[A.Vector[i8]]])
    assert_type(A.partition(lambda x: x > 0, m), tuple[A.Acc[A.Vector[f4]], A.Acc[A.Vector[f4]]])
    maybes = A.map(lambda x: A.cond(x > 0, A.just(A.lift(x, x > 1)), A.nothing()), v)
    assert_type(A.justs(maybes), tuple[A.Acc[A.Vector[tuple[f4, b1]]], A.Acc[A.Scalar[i8]]])
    assert_type(A.expand(lambda x: x, lambda x, n: A.toFloating(x + n, f4), k), A.Acc[A.Vector[f4]])
    assert_type(A.permuteUnique(m, lambda ix: A.just(A.index(ix[0], 0)), v), A.Acc[A.Matrix[f4]])
    assert_type(A.argmax(m), A.Acc[A.Vector[i8]])
    assert_type(A.argmin(v), A.Acc[A.Scalar[i8]])


def updates(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]], n: A.Exp[i8]) -> None:
    assert_type(A.update(v, slice(None, None, -1), v), A.Acc[A.Vector[f4]])
    assert_type(A.update(m, (slice(n), slice(None)), A.takeOn(0, n, m)), A.Acc[A.Matrix[f4]])
    assert_type(A.update(m, n, v), A.Acc[A.Matrix[f4]])
    assert_type(A.update(m, (A.All, -1), v), A.Acc[A.Matrix[f4]])
    total, count = A.Fold.sum(f4), A.Fold.length(f4)
    assert_type(A.runFold(total / count, m), A.Acc[A.Vector[f4]])
    assert_type(A.runFold(2 * total - count, v), A.Acc[A.Scalar[f4]])
    assert_type(
        A.runFold(total.zipWith(lambda s, k: A.lift(s, k), A.Fold.length(i8)), v), A.Acc[A.Scalar[tuple[f4, i8]]]
    )
