"""Programs of complex numbers: a Fourier transform, the Mandelbrot set, roots of polynomials."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from tests import untyped

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]

Signal: TypeAlias = A.Acc[A.Vector[np.complex128]]


def fourier(xs: Signal, bits: int) -> Signal:
    """The discrete Fourier transform of `2 ** bits` numbers: Cooley and Tukey's, in place order, one loop for each stage."""

    def mirrored(i: A.Exp[np.int64]) -> A.Exp[np.int64]:
        found = i & 0
        for bit in range(bits):
            found = found | A.shiftL(A.shiftR(i, bit) & 1, bits - 1 - bit)
        return found

    def stage(turn: A.Exp[np.int64], ys: Signal) -> Signal:
        half = A.shiftL(A.constant(1), turn)

        def butterfly(ix: A.Exp[tuple[int]]) -> A.Exp[np.complex128]:
            low = ix[0] & ~half
            angle = A.toFloating(low & (half - 1), np.float64) / A.toFloating(half, np.float64) * -np.pi
            product = ys[low + half] * A.cis(angle)
            return A.select(low == ix[0], ys[low] + product, ys[low] - product)

        return A.generate(ys.shape, butterfly)

    return A.iiterate(bits, stage, A.backpermute(xs.shape, lambda ix: A.index(mirrored(ix[0])), xs))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bits", [0, 1, 5])
def test_fourier_transforms(bits: int, backend: Any) -> None:
    random = np.random.default_rng(bits)
    signal = random.normal(size=1 << bits) + 1j * random.normal(size=1 << bits)
    found = A.run(fourier(A.use(signal), bits), backend=backend)
    np.testing.assert_allclose(found, np.fft.fft(signal), rtol=1e-12, atol=1e-12)


def turns(c: A.Exp[np.complex64]) -> A.Exp[np.int64]:
    """How many turns `z * z + c` stays near 0."""

    def goes_on(state: A.Exp[tuple[np.complex64, np.int64]]) -> A.Exp[np.bool_]:
        z = state[0]
        return (state[1] < 50) & (A.real(z * A.conjugate(z)) <= 4)

    def turn(state: A.Exp[tuple[np.complex64, np.int64]]) -> A.Exp[tuple[np.complex64, np.int64]]:
        return A.lift(state[0] * state[0] + c, state[1] + 1)

    return A.while_(goes_on, turn, A.lift(c * 0, A.constant(0)))[1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_mandelbrot_set(backend: Any) -> None:
    real, imaginary = np.meshgrid(np.linspace(-2, 0.5, 12, dtype=np.float32), np.linspace(-1, 1, 9, dtype=np.float32))
    points = real + np.complex64(1j) * imaginary
    x, y, counts = np.zeros_like(real), np.zeros_like(real), np.zeros(real.shape, np.int64)
    for _ in range(50):
        near = x * x + y * y <= 4
        moved = x * x - y * y + real, x * y + y * x + imaginary
        x, y = np.where(near, moved[0], x), np.where(near, moved[1], y)
        counts += near
    np.testing.assert_array_equal(A.run(A.map(turns, A.use(points)), backend=backend), counts)


@pytest.mark.parametrize("backend", BACKENDS)
def test_newton_finds_roots_of_one(backend: Any) -> None:
    starts = np.array([1 + 1j, -1 + 0.5j, -0.5 - 1j, 2 - 0.1j])

    def step(zs: Signal) -> Signal:
        return A.map(lambda z: z - (z**3 - 1) / (3 * z**2), zs)

    found = untyped.run(A.iterate(12, step, A.use(starts)), backend=backend)
    np.testing.assert_allclose(found**3, np.ones(4), rtol=1e-12, atol=1e-12)
