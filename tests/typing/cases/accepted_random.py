"""Random numbers and sorts that mypy accepts, with the types that it infers. Each `assert_type` is a case."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy import float32 as f4
from numpy import float64 as f8
from numpy import int64 as i8

import accel as A


def random_numbers(seed: A.Acc[A.Scalar[i8]], m: A.Acc[A.Matrix[f8]]) -> None:
    key = A.random.key(A.the(seed))
    assert_type(key, A.random.Key)
    first, *others = A.random.split(A.random.key(7), 3)
    assert_type(others, list[A.random.Key])
    assert_type(A.random.bits(key, (3,)), A.Acc[A.Vector[np.uint64]])
    assert_type(A.random.uniform(first, m.shape, f4), A.Acc[A.Matrix[f4]])
    assert_type(A.random.normal(first, (), f8), A.Acc[A.Scalar[f8]])
    assert_type(A.random.integers(key, (3, A.size(m)), 0, A.size(m)), A.Acc[A.Matrix[i8]])


def sorts(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]], pairs: A.Acc[A.Vector[tuple[i8, f8]]]) -> None:
    assert_type(A.sort(v), A.Acc[A.Vector[f4]])
    assert_type(A.argsort(m), A.Acc[A.Matrix[i8]])
    assert_type(A.sortBy(lambda x: -x, m), A.Acc[A.Matrix[f8]])
    assert_type(A.sortBy(A.snd, pairs), A.Acc[A.Vector[tuple[i8, f8]]])
    assert_type(A.topK(2, m), tuple[A.Acc[A.Matrix[f8]], A.Acc[A.Matrix[i8]]])
    assert_type(A.searchsorted(v, A.sort(v)), A.Acc[A.Vector[i8]])
