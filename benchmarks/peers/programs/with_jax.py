"""The workloads in JAX: compiled by `jax.jit`, but for those whose results have sizes that depend on values."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, TypeAlias

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from benchmarks.peers.peer import Program, Tool
from benchmarks.peers.workloads import ITERATIONS

Array: TypeAlias = Any  # Any: JAX need not be installed


def dot(x: Array, y: Array) -> Array:
    """A dot product."""
    return jnp.dot(x, y)


def saxpy(x: Array, y: Array) -> Array:
    """One map."""
    return 2.5 * x + y


def mapchain(x: Array) -> Array:
    """Six maps."""
    for _ in range(3):
        x = x * 1.5
        x = x + 0.25
    return x


def blackscholes(price: Array, strike: Array, time: Array) -> tuple[Array, Array]:
    """Prices by Black and Scholes."""

    def normal(z: Array) -> Array:
        return jax.scipy.special.erfc(z * -0.7071067811865476) * 0.5

    deviation = jnp.sqrt(time) * 0.3
    d1 = (jnp.log(price / strike) + time * 0.065) / deviation
    d2 = d1 - deviation
    discounted = strike * jnp.exp(time * -0.02)
    call = price * normal(d1) - discounted * normal(d2)
    return call, discounted * normal(-d2) - price * normal(-d1)


def normalise2(x: Array) -> tuple[Array, Array]:
    """With `cumsum`."""
    return x / x.sum(), x / jnp.cumsum(x).sum()


def normfilter(x: Array) -> tuple[Array, Array]:
    """A `where` in place of the filter."""
    return x / x.sum(), x / jnp.where(x > 0, x, 0).sum()


def singleloop(x: Array) -> Array:
    """Two maps added to the reverse."""
    tripled = x * 3 + 1
    return x[::-1] + tripled + (tripled - 7)


def gather(places: Array, x: Array) -> Array:
    """By indexing."""
    return x[places]


def hist256(keys: Array) -> Array:
    """By `bincount`."""
    return jnp.bincount(keys, length=256)


def hist1e6(keys: Array) -> Array:
    """By `bincount`."""
    return jnp.bincount(keys, length=10**6)


def prefixsum(x: Array) -> Array:
    """By `cumsum`."""
    return jnp.cumsum(x)


def compact(x: Array) -> Array:
    """By a mask; not compiled."""
    return x[x > 0]


def softmax(x: Array) -> Array:
    """By JAX's own."""
    return jax.nn.softmax(x, axis=1)


def jacobi1(x: Array) -> Array:
    """By slices."""
    return x.at[1:-1, 1:-1].set((x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * 0.25)


def jacobi20(x: Array) -> Array:
    """By a loop."""
    return lax.fori_loop(0, 20, lambda _, y: jacobi1(y), x)


def mandelbrot(real: Array, imaginary: Array) -> Array:
    """All points take every step."""

    def step(_: int, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        x, y, counts = state
        near = x * x + y * y <= 4
        stepped = x * x - y * y + real, 2 * x * y + imaginary
        return jnp.where(near, stepped[0], x), jnp.where(near, stepped[1], y), counts + near

    start = jnp.zeros_like(real), jnp.zeros_like(real), jnp.zeros(real.shape, jnp.int32)
    return lax.fori_loop(0, ITERATIONS, step, start)[2]


def nbody(x: Array, y: Array, z: Array, masses: Array) -> tuple[Array, Array, Array]:
    """All pairs."""
    dx, dy, dz = (v[None, :] - v[:, None] for v in (x, y, z))
    square = dx * dx + dy * dy + dz * dz + 0.01
    weights = masses[None, :] / (square * jnp.sqrt(square))
    return (weights * dx).sum(axis=1), (weights * dy).sum(axis=1), (weights * dz).sum(axis=1)


def matmul(left: Array, right: Array) -> Array:
    """The product."""
    return left @ right


def rowcol(x: Array) -> tuple[Array, Array]:
    """Two sums."""
    return x.sum(axis=1), x.sum(axis=0)


def meanvar(x: Array) -> tuple[Array, Array]:
    """By JAX's own."""
    return x.mean(), x.var()


def hull(x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
    """By a mask; not compiled."""
    distance = y * 2 - x
    above = distance > 0
    farthest = jnp.argmax(distance)
    return x[farthest], y[farthest], x[above], y[above]


EAGER = (compact, hull)


def _compiled(program: Program) -> Program:
    faster = program if program in EAGER else jax.jit(program)
    return lambda *arrays: jax.block_until_ready(faster(*arrays))


def tool(variant: str) -> Tool:
    """JAX on the processor, with 64-bit types; a call ends when its results are there."""
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    programs = (
        dot, saxpy, mapchain, blackscholes, normalise2, normfilter, singleloop, gather, hist256, hist1e6, prefixsum,
        compact, softmax, jacobi1, jacobi20, mandelbrot, nbody, matmul, rowcol, meanvar, hull,
    )  # fmt: skip
    named = MappingProxyType({program.__name__: _compiled(program) for program in programs})
    return Tool(named, given=jnp.asarray, taken=np.asarray)
