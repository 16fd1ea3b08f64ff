"""The workloads in NumPy, as one writes them; Black-Scholes with SciPy's error function. What is right is what they give."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from scipy.special import erfc

from benchmarks.peers.peer import Tool
from benchmarks.peers.workloads import ITERATIONS, Array


def dot(x: Array, y: Array) -> Array:
    """By BLAS."""
    return np.asarray(np.dot(x, y))


def saxpy(x: Array, y: Array) -> Array:
    """Two passes."""
    return 2.5 * x + y


def mapchain(x: Array) -> Array:
    """Six passes."""
    for _ in range(3):
        x = x * 1.5
        x = x + 0.25
    return x


def blackscholes(price: Array, strike: Array, time: Array) -> tuple[Array, Array]:
    """Prices by Black and Scholes."""

    def normal(z: Array) -> Array:
        return erfc(z * -0.7071067811865476) * 0.5

    deviation = np.sqrt(time) * 0.3
    d1 = (np.log(price / strike) + time * 0.065) / deviation
    d2 = d1 - deviation
    discounted = strike * np.exp(time * -0.02)
    call = price * normal(d1) - discounted * normal(d2)
    return call, discounted * normal(-d2) - price * normal(-d1)


def normalise2(x: Array) -> tuple[Array, Array]:
    """With a pass for each operation."""
    return x / x.sum(), x / np.cumsum(x).sum()


def normfilter(x: Array) -> tuple[Array, Array]:
    """With a pass for each operation."""
    return x / x.sum(), x / x[x > 0].sum()


def singleloop(x: Array) -> Array:
    """Two maps added to the reverse."""
    tripled = x * 3 + 1
    found: Array = x[::-1] + tripled + (tripled - 7)
    return found


def gather(places: Array, x: Array) -> Array:
    """By advanced indexing."""
    found: Array = x[places]
    return found


def hist256(keys: Array) -> Array:
    """By bincount."""
    return np.bincount(keys, minlength=256)


def hist1e6(keys: Array) -> Array:
    """By bincount."""
    return np.bincount(keys, minlength=10**6)


def prefixsum(x: Array) -> Array:
    """By cumsum."""
    return np.cumsum(x)


def compact(x: Array) -> Array:
    """By a mask."""
    found: Array = x[x > 0]
    return found


def softmax(x: Array) -> Array:
    """Along rows."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    found: Array = e / e.sum(axis=1, keepdims=True)
    return found


def jacobi1(x: Array) -> Array:
    """By slices."""
    y = x.copy()
    y[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * 0.25
    return y


def jacobi20(x: Array) -> Array:
    """The same, 20 times."""
    for _ in range(20):
        x = jacobi1(x)
    return x


def mandelbrot(real: Array, imaginary: Array) -> Array:
    """All points that have not left yet take a step."""
    counts = np.zeros(real.size, np.int32)
    places = np.arange(real.size)
    a, b = real.ravel(), imaginary.ravel()
    x, y = np.zeros_like(a), np.zeros_like(b)
    for _ in range(ITERATIONS):
        near = x * x + y * y <= 4
        places, a, b, x, y = places[near], a[near], b[near], x[near], y[near]
        counts[places] += 1
        x, y = x * x - y * y + a, 2 * x * y + b
    return counts.reshape(real.shape)


def nbody(x: Array, y: Array, z: Array, masses: Array) -> tuple[Array, Array, Array]:
    """With matrices of all pairs."""
    dx, dy, dz = (v[None, :] - v[:, None] for v in (x, y, z))
    square = dx * dx + dy * dy + dz * dz + np.asarray(0.01, x.dtype)
    weights = masses[None, :] / (square * np.sqrt(square))
    return (weights * dx).sum(axis=1), (weights * dy).sum(axis=1), (weights * dz).sum(axis=1)


def matmul(left: Array, right: Array) -> Array:
    """By BLAS."""
    return np.asarray(left @ right)


def rowcol(x: Array) -> tuple[Array, Array]:
    """Two passes."""
    return x.sum(axis=1), x.sum(axis=0)


def meanvar(x: Array) -> tuple[Array, Array]:
    """By NumPy's own functions."""
    return x.mean(), x.var()


def hull(x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
    """The core of quickhull."""
    distance = y * 2 - x
    above = distance > 0
    farthest = np.argmax(distance)
    return x[farthest], y[farthest], x[above], y[above]


def tool(variant: str) -> Tool:
    """NumPy, which allocates every result."""
    programs = (
        dot, saxpy, mapchain, blackscholes, normalise2, normfilter, singleloop, gather, hist256, hist1e6, prefixsum,
        compact, softmax, jacobi1, jacobi20, mandelbrot, nbody, matmul, rowcol, meanvar, hull,
    )  # fmt: skip
    return Tool(MappingProxyType({program.__name__: program for program in programs}))
