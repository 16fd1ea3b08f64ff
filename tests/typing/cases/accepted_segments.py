"""Folds and scans of segments that mypy accepts, with the types that it infers. Each `assert_type` is a case."""

from __future__ import annotations

from typing import assert_type

from numpy import float32 as f4
from numpy import float64 as f8
from numpy import int32 as i4

import accel as A


def segments(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]], i: A.Acc[A.Vector[i4]]) -> None:
    assert_type(A.foldSeg(A.add, 0, m, i), A.Acc[A.Matrix[f8]])
    assert_type(A.foldSegOffsets(A.add, 0.5, v, i), A.Acc[A.Vector[f4]])
    assert_type(A.fold1Seg(A.max, m, i), A.Acc[A.Matrix[f8]])
    assert_type(A.fold1SegOffsets(A.min, v, i), A.Acc[A.Vector[f4]])
    assert_type(A.scanlSeg(A.add, 0, v, i), A.Acc[A.Vector[f4]])
    assert_type(A.scanrTotalSeg(A.add, 0.5, m, i), tuple[A.Acc[A.Matrix[f8]], A.Acc[A.Matrix[f8]]])
    assert_type(A.scanr1Seg(A.max, m, i), A.Acc[A.Matrix[f8]])
    assert_type(A.prescanlSeg(A.add, 0, v, i), A.Acc[A.Vector[f4]])
    assert_type(A.postscanrSeg(A.mul, 1, m, i), A.Acc[A.Matrix[f8]])
