"""Stencils that mypy accepts, with the types that it infers."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy import bool_ as b1
from numpy import float32 as f4
from numpy import float64 as f8
from numpy import int32 as i4

import accel as A


def stencils(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]], c: A.Acc[A.Array[A.DIM3, i4]]) -> None:
    assert_type(A.stencil(lambda n: n(-1) + n(1), A.boundary.clamp, v), A.Acc[A.Vector[f4]])
    assert_type(A.stencil(lambda n: n(0, 1) > n(-1, 0), A.boundary.constant(0), m), A.Acc[A.Matrix[b1]])
    assert_type(A.stencil(lambda n: n(0, 1, -2), A.boundary.mirror, c), A.Acc[A.Array[A.DIM3, i4]])
    edge: A.Boundary[A.DIM2, f8] = A.boundary.function(lambda ix: A.toFloating(A.unindex(ix)[0], np.float64))
    assert_type(A.stencil(lambda n: n(0, 1), edge, m), A.Acc[A.Matrix[f8]])
    assert_type(
        A.stencil2(lambda n, k: n(0, 1) + k(1, 0), A.boundary.wrap, m, A.boundary.clamp, m), A.Acc[A.Matrix[f8]]
    )
