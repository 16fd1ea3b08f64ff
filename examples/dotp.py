"""The dot product: the same program on the CPU and on an OpenCL device.

`zipWith` would write an array of products for `fold` to read again; fused, both are one loop that writes nothing but
the sum. NumPy's text is a line as well.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A

Floats: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float32]]


def dotp(xs: A.Acc[A.Vector[np.float32]], ys: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.float32]]:
    """The sum of the products of two vectors of equal length."""
    return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))


def dotp_numpy(xs: Floats, ys: Floats) -> np.float32:
    """The same in NumPy, as one writes it with array operations."""
    return np.sum(xs * ys, dtype=np.float32)


def inputs(size: int = 10_000_000) -> tuple[Floats, Floats]:
    """Two vectors of random numbers in [0, 1)."""
    random = np.random.default_rng(2026)
    return random.random(size, dtype=np.float32), random.random(size, dtype=np.float32)


def main() -> None:
    """Run the program on both backends and compare with NumPy in double precision."""
    xs, ys = inputs()
    exact = float(np.dot(xs.astype(np.float64), ys.astype(np.float64)))
    for backend in ("llvm", "opencl"):
        result = float(A.run(dotp(A.use(xs), A.use(ys)), backend=backend))
        assert abs(result - exact) <= 1e-6 * exact, (backend, result, exact)
        print(f"{backend}: {result:.2f}, in double precision {exact:.2f}")
    print(A.explain(dotp(A.use(xs), A.use(ys))))


if __name__ == "__main__":
    main()
