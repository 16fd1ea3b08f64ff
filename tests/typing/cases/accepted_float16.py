"""Programs that mypy must accept: floats of 16 bits."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy import bool_ as b1
from numpy import float16 as f2
from numpy import float32 as f4

import accel as A


def elements(h: A.Exp[f2], k: A.Exp[np.int16]) -> None:
    assert_type(h * h + 0.5 - 2 / h, A.Exp[f2])
    assert_type(h < 0.5, A.Exp[b1])
    assert_type(A.exp(-h), A.Exp[f2])
    assert_type(abs(h), A.Exp[f2])
    assert_type(A.fma(h, h, h), A.Exp[f2])
    assert_type(A.min(h, 0.5), A.Exp[f2])
    assert_type(A.floor(h), A.Exp[np.int64])
    assert_type(A.cast(h, np.float32), A.Exp[f4])
    assert_type(A.toFloating(k, np.float16), A.Exp[f2])
    assert_type(A.bitcast(h, np.int16), A.Exp[np.int16])
    assert_type(A.constant(0.5, np.float16), A.Exp[f2])
    assert_type(A.constant(np.float16(0.5)), A.Exp[f2])
    assert_type(A.cond(A.isNaN(h), 0.0, h), A.Exp[f2])


def arrays(a: np.ndarray[tuple[int, int], np.dtype[f2]], m: A.Acc[A.Matrix[f2]]) -> None:
    h = A.use(a)
    assert_type(h, A.Acc[A.Matrix[f2]])
    assert_type(A.run(A.sum(h)), np.ndarray[tuple[int], np.dtype[f2]])
    assert_type(A.fold(A.add, 0.5, m), A.Acc[A.Vector[f2]])
    assert_type(A.scanl(lambda x, y: x * y, 1, m), A.Acc[A.Matrix[f2]])
    assert_type(m @ A.transpose(m), A.Acc[A.Matrix[f2]])
    assert_type(A.sum(A.map(lambda x: A.cast(x, np.float32), m)), A.Acc[A.Vector[f4]])
    assert_type(A.sort(m), A.Acc[A.Matrix[f2]])
    assert_type(A.argmax(m), A.Acc[A.Vector[np.int64]])
