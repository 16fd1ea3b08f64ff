"""Zips of four and five arrays, the parts of an index, `xor` as a function: against NumPy."""

from __future__ import annotations

import numpy as np

import accel as A
from tests.ast.evaluation import check

V = np.array([3, 1, 4, 1, 5, 9], np.int32)
W = np.arange(6.0)


def test_four_and_five_arrays() -> None:
    v, w = A.use(V), A.use(W)
    check(A.zipWith4(lambda a, b, c, d: a * b - c + d, v, v, v, v), V * V)
    check(A.zipWith5(lambda a, b, c, d, e: A.cond(e, b, d) + b, v, w, v, w, A.use(V > 2)), W + W)
    a, b, c, d = A.unzip4(A.zip4(v, w, v, w))
    check(A.zipWith(A.add, a, c), V + V)
    check(A.zipWith(A.add, b, d), W + W)
    a, b, c, d, e = A.unzip5(A.zip5(v, w, v, w, A.use(V > 2)))
    check(A.zipWith(A.add, a, c), V + V)
    check(A.zipWith(A.add, b, d), W + W)
    check(e, V > 2)


def test_tuples_keep_their_order() -> None:
    v, w = A.use(V), A.use(W)
    check(A.map(lambda t: t[3], A.zip4(v, w, v, w)), W)
    check(A.map(lambda t: t[4], A.zip5(v, w, v, w, A.use(V > 2))), V > 2)


def test_the_head_of_an_index_is_its_innermost_coordinate() -> None:
    xs = A.use(np.zeros((2, 3, 4)))
    check(A.generate((2,), lambda ix: A.indexTail(xs.shape)[0] * 10 + A.indexTail(xs.shape)[1]), np.array([23, 23]))
    check(A.unit(A.indexHead(xs.shape)), np.array(4))


def test_xor_is_the_operator() -> None:
    v = A.use(V)
    check(A.zipWith(A.xor, v, A.reverse(v)), V ^ V[::-1])
    check(A.map(lambda x: A.xor(x > 2, x > 3), v), (V > 2) ^ (V > 3))
