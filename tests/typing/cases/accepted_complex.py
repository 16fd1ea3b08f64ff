"""Programs that mypy must accept: complex numbers, their parts, and what is made of them."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy import bool_ as b1
from numpy import complex64 as c8
from numpy import complex128 as c16
from numpy import float32 as f4
from numpy import float64 as f8

import accel as A


def elements(z: A.Exp[c8], w: A.Exp[c16], x: A.Exp[f4]) -> None:
    assert_type(z * z + 1j - 2.0 / z, A.Exp[c8])
    assert_type(1j * w**2 / (w - 1), A.Exp[c16])
    assert_type(z == 1j, A.Exp[b1])
    assert_type(A.exp(-z), A.Exp[c8])
    assert_type(A.acosh(z) + A.log10(z), A.Exp[c8])
    assert_type(A.logBase(2.0, w), A.Exp[c16])
    assert_type(A.logBase(z, 2j), A.Exp[c8])
    assert_type(abs(z), A.Exp[f4])
    assert_type(A.abs(w), A.Exp[f8])
    assert_type(A.phase(w) + A.imag(w) + A.magnitude(w), A.Exp[f8])
    assert_type(A.conjugate(z), A.Exp[c8])
    assert_type(A.mkComplex(x, 0), A.Exp[c8])
    assert_type(A.mkComplex(0, A.constant(1.0)), A.Exp[c16])
    assert_type(A.cis(x), A.Exp[c8])
    assert_type(A.cast(x, np.complex128), A.Exp[c16])
    assert_type(A.constant(1j), A.Exp[c16])
    assert_type(A.constant(1j, np.complex64), A.Exp[c8])
    assert_type(A.constant(np.complex128(1j), np.complex64), A.Exp[c8])
    assert_type(A.constant(np.int64(1), np.complex64), A.Exp[c8])
    assert_type(A.cond(x > 0, z, 1j), A.Exp[c8])


def arrays(a: np.ndarray[tuple[int, int], np.dtype[c8]], m: A.Acc[A.Matrix[c16]]) -> None:
    z = A.use(a)
    assert_type(z, A.Acc[A.Matrix[c8]])
    assert_type(A.run(A.sum(z)), np.ndarray[tuple[int], np.dtype[c8]])
    assert_type(A.fold(A.add, 1j, m), A.Acc[A.Vector[c16]])
    assert_type(A.scanl(lambda x, y: x * y, 1, m), A.Acc[A.Matrix[c16]])
    assert_type(A.map(lambda x: A.real(x), m), A.Acc[A.Matrix[f8]])
    assert_type(m @ A.transpose(m), A.Acc[A.Matrix[c16]])
    assert_type(A.fill((3,), 1j), A.Acc[A.Vector[c16]])
