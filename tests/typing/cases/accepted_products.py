"""Programs of linear algebra that mypy accepts, with the types that it infers. Each `assert_type` is a case."""

from __future__ import annotations

from typing import Any, assert_type

from numpy import bool_ as b1
from numpy import float32 as f4
from numpy import float64 as f8
from numpy import int64 as i8

import accel as A


def products(v: A.Acc[A.Vector[f8]], m: A.Acc[A.Matrix[f8]], c: A.Acc[A.Array[A.DIM3, f8]]) -> None:
    assert_type(A.dot(v, v), A.Acc[A.Scalar[f8]])
    assert_type(A.dot(m, v), A.Acc[A.Vector[f8]])
    assert_type(A.dot(v, m), A.Acc[A.Vector[f8]])
    assert_type(A.dot(m, m), A.Acc[A.Matrix[f8]])
    assert_type(A.dot(m, c), A.Acc[A.Array[A.DIM3, f8]])
    assert_type(A.dot(c, c), A.Acc[A.Array[A.DIM4, f8]])
    assert_type(A.matmul(v, v), A.Acc[A.Scalar[f8]])
    assert_type(A.matmul(m, v), A.Acc[A.Vector[f8]])
    assert_type(A.matmul(v, c), A.Acc[A.Matrix[f8]])
    assert_type(A.matmul(c, v), A.Acc[A.Matrix[f8]])
    assert_type(A.matmul(c, m), A.Acc[A.Array[A.DIM3, f8]])
    assert_type(A.matmul(m, c), A.Acc[A.Array[A.DIM3, f8]])
    assert_type(A.matmul(c, c), A.Acc[A.Array[A.DIM3, f8]])
    assert_type(v @ v, A.Acc[A.Scalar[f8]])
    assert_type(m @ v, A.Acc[A.Vector[f8]])
    assert_type(v @ m, A.Acc[A.Vector[f8]])
    assert_type(m @ m, A.Acc[A.Matrix[f8]])
    assert_type(c @ m, A.Acc[A.Array[A.DIM3, f8]])
    assert_type(A.outer(v, m), A.Acc[A.Matrix[f8]])
    assert_type(A.tensordot(c, m), A.Acc[A.Vector[f8]])
    assert_type(A.tensordot(c, v, 1), A.Acc[A.Matrix[f8]])
    assert_type(A.tensordot(v, m, axes=0), A.Acc[A.Array[A.DIM3, f8]])
    assert_type(A.tensordot(m, m, ((0, 1), (1, 0))), A.Acc[A.Array[Any, f8]])
    assert_type(A.einsum("ij,j->i", m, v), A.Acc[A.Array[Any, f8]])
    assert_type(A.map(lambda x: x < 1, m) @ A.map(lambda x: x > 1, m), A.Acc[A.Matrix[b1]])


def first_below_last(*xs: A.Exp[f4]) -> A.Exp[b1]:
    return xs[0] < xs[-1]


def rearranged(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]], k: A.Acc[A.Matrix[i8]]) -> None:
    assert_type(A.nzip(lambda x: x + 1, v), A.Acc[A.Vector[f4]])
    assert_type(A.nzip(lambda x, i: A.lift(i, x), m, k), A.Acc[A.Matrix[tuple[i8, f4]]])
    assert_type(A.nzip(first_below_last, v, v, v, v, v, v), A.Acc[A.Vector[b1]])
    assert_type(A.rnz(A.add, A.mul, v, v, seed=0), A.Acc[A.Scalar[f4]])
    assert_type(A.rnz(A.max, lambda x, i: x, m, k), A.Acc[A.Vector[f4]])
    assert_type(A.rnz(A.min, lambda x, y: x + y, m, m, seed=0.5), A.Acc[A.Vector[f4]])
    assert_type(A.subdivide(0, 2, v), A.Acc[A.Matrix[f4]])
    assert_type(A.flatten(0, m), A.Acc[A.Vector[f4]])
    assert_type(A.flatten(1, A.subdivide(1, 2, m)), A.Acc[A.Matrix[f4]])
    assert_type(A.flatten(m), A.Acc[A.Vector[f4]])
    assert_type(A.flatten(xs=m), A.Acc[A.Vector[f4]])
    assert_type(A.flip(0, 1, m), A.Acc[A.Matrix[f4]])
