"""The workloads in PyTorch: as they are, or by `torch.compile`."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import Any, TypeAlias

import torch

from benchmarks.peers.peer import Tool
from benchmarks.peers.workloads import ITERATIONS

Tensor: TypeAlias = Any  # Any: PyTorch need not be installed


def dot(x: Tensor, y: Tensor) -> Tensor:
    """A dot product."""
    return torch.dot(x, y)


def saxpy(x: Tensor, y: Tensor) -> Tensor:
    """By `add` with a factor."""
    return torch.add(y, x, alpha=2.5)


def mapchain(x: Tensor) -> Tensor:
    """Six maps."""
    for _ in range(3):
        x = x * 1.5
        x = x + 0.25
    return x


def blackscholes(price: Tensor, strike: Tensor, time: Tensor) -> tuple[Tensor, Tensor]:
    """Prices by Black and Scholes."""

    def normal(z: Tensor) -> Tensor:
        return torch.erfc(z * -0.7071067811865476) * 0.5

    deviation = torch.sqrt(time) * 0.3
    d1 = (torch.log(price / strike) + time * 0.065) / deviation
    d2 = d1 - deviation
    discounted = strike * torch.exp(time * -0.02)
    call = price * normal(d1) - discounted * normal(d2)
    return call, discounted * normal(-d2) - price * normal(-d1)


def normalise2(x: Tensor) -> tuple[Tensor, Tensor]:
    """With `cumsum`."""
    return x / x.sum(), x / torch.cumsum(x, 0).sum()


def normfilter(x: Tensor) -> tuple[Tensor, Tensor]:
    """A `clamp` in place of the filter."""
    return x / x.sum(), x / x.clamp(min=0).sum()


def singleloop(x: Tensor) -> Tensor:
    """Two maps added to the reverse."""
    tripled = x * 3 + 1
    return x.flip(0) + tripled + (tripled - 7)


def gather(places: Tensor, x: Tensor) -> Tensor:
    """By `index_select`."""
    return torch.index_select(x, 0, places)


def hist256(keys: Tensor) -> Tensor:
    """By `bincount`."""
    return torch.bincount(keys, minlength=256)


def hist1e6(keys: Tensor) -> Tensor:
    """By `bincount`."""
    return torch.bincount(keys, minlength=10**6)


def prefixsum(x: Tensor) -> Tensor:
    """By `cumsum`."""
    return torch.cumsum(x, 0)


def compact(x: Tensor) -> Tensor:
    """By a mask."""
    return x[x > 0]


def softmax(x: Tensor) -> Tensor:
    """By PyTorch's own."""
    return torch.softmax(x, 1)


def jacobi1(x: Tensor) -> Tensor:
    """By slices."""
    y = x.clone()
    y[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * 0.25
    return y


def jacobi20(x: Tensor) -> Tensor:
    """The same, 20 times."""
    for _ in range(20):
        x = jacobi1(x)
    return x


STEPS = 5
"""Of the Mandelbrot set, in one piece: of many, compilation takes minutes."""


def mandelbrot_steps(
    x: Tensor, y: Tensor, counts: Tensor, real: Tensor, imaginary: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """All points that are near take some steps."""
    for _ in range(STEPS):
        near = x * x + y * y <= 4
        x, y = torch.where(near, x * x - y * y + real, x), torch.where(near, 2 * x * y + imaginary, y)
        counts = counts + near
    return x, y, counts


def nbody(x: Tensor, y: Tensor, z: Tensor, masses: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """All pairs."""
    dx, dy, dz = x[None, :] - x[:, None], y[None, :] - y[:, None], z[None, :] - z[:, None]
    square = dx * dx + dy * dy + dz * dz + 0.01
    weights = masses[None, :] / (square * torch.sqrt(square))
    return (weights * dx).sum(1), (weights * dy).sum(1), (weights * dz).sum(1)


def matmul(left: Tensor, right: Tensor) -> Tensor:
    """By MKL or OpenBLAS."""
    return left @ right


def rowcol(x: Tensor) -> tuple[Tensor, Tensor]:
    """Two sums."""
    return x.sum(1), x.sum(0)


def meanvar(x: Tensor) -> tuple[Tensor, Tensor]:
    """By PyTorch's own."""
    variance, mean = torch.var_mean(x, correction=0)
    return mean, variance


def hull(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """By a mask."""
    distance = y * 2 - x
    above = distance > 0
    farthest = torch.argmax(distance)
    return x[farthest], y[farthest], x[above], y[above]


def tool(variant: str) -> Tool:
    """PyTorch; with the variant `compile`, compiled for the sizes that are given first."""
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.set_grad_enabled(False)
    compiled = "compile" in variant
    steps = torch.compile(mandelbrot_steps, dynamic=False) if compiled else mandelbrot_steps

    def mandelbrot(real: Tensor, imaginary: Tensor) -> Tensor:
        state = torch.zeros_like(real), torch.zeros_like(real), torch.zeros(real.shape, dtype=torch.int32)
        for _ in range(ITERATIONS // STEPS):
            state = steps(*state, real, imaginary)
        return state[2]

    programs = (
        dot, saxpy, mapchain, blackscholes, normalise2, normfilter, singleloop, gather, hist256, hist1e6, prefixsum,
        compact, softmax, jacobi1, jacobi20, nbody, matmul, rowcol, meanvar, hull,
    )  # fmt: skip
    if compiled:
        named = {program.__name__: torch.compile(program, dynamic=False) for program in programs}
    else:
        named = {program.__name__: program for program in programs}
    return Tool(
        MappingProxyType({**named, "mandelbrot": mandelbrot}),
        given=torch.from_numpy,
        taken=lambda tensor: tensor.numpy(),
    )
