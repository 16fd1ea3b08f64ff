"""The workloads in Halide, scheduled by hand: lanes, threads, stencils in strips. Buffers of results are used again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import halide as hl
import numpy as np

from benchmarks.peers.peer import Program
from benchmarks.peers.workloads import Array, Cell

Expression: TypeAlias = Any  # Any: Halide need not be installed

LANES = 16
STRIP = 1 << 16


def _kind(buffer: Expression) -> Expression:
    return buffer.type()


def _realised(outputs: tuple[Array, ...], *functions: Expression) -> Callable[[], tuple[Array, ...]]:
    """The functions, compiled once, written into the outputs at each call."""
    buffers = [hl.Buffer(output) for output in outputs]
    pipeline = hl.Pipeline(list(functions))
    pipeline.compile_jit(hl.get_jit_target_from_environment())
    target = buffers[0] if len(buffers) == 1 else buffers

    def run() -> tuple[Array, ...]:
        pipeline.realize(target)
        return outputs

    return run


def _elementwise(xs: Array, value: Callable[[Expression], Expression]) -> Callable[[], tuple[Array, ...]]:
    i, strip, inner = hl.Var("i"), hl.Var("strip"), hl.Var("inner")
    function = hl.Func("map")
    function[i] = value(i)
    function.split(i, strip, inner, min(STRIP, len(xs)), hl.TailStrategy.GuardWithIf)
    function.vectorize(inner, LANES).parallel(strip)
    return _realised((np.empty_like(xs),), function)


def dot(x: Array, y: Array) -> Callable[[], tuple[Array, ...]]:
    """Sums in lanes of strips, by `rfactor`."""
    a, b = hl.Buffer(x), hl.Buffer(y)
    steps = hl.RDom([(0, len(x))])
    total = hl.Func("dot")
    total[()] = hl.cast(_kind(a), 0)
    total[()] += a[steps.x] * b[steps.x]
    outer, inner, lane, strip, u = hl.RVar("outer"), hl.RVar("inner"), hl.RVar("lane"), hl.Var("strip"), hl.Var("u")
    update = total.update().split(steps.x, outer, inner, min(STRIP, len(x)), hl.TailStrategy.GuardWithIf)
    parts = update.rfactor(outer, strip)
    parts.compute_root().parallel(strip)
    lanes = parts.update().split(inner, inner, lane, LANES, hl.TailStrategy.GuardWithIf).rfactor(lane, u)
    lanes.compute_at(parts, strip).vectorize(u)
    lanes.update().vectorize(u)
    parts.update().parallel(strip)
    return _realised((np.empty((), x.dtype),), total)


def saxpy(x: Array, y: Array) -> Callable[[], tuple[Array, ...]]:
    """One map."""
    a, b = hl.Buffer(x), hl.Buffer(y)
    return _elementwise(x, lambda i: hl.cast(_kind(a), 2.5) * a[i] + b[i])


def mapchain(x: Array) -> Callable[[], tuple[Array, ...]]:
    """One map."""
    a = hl.Buffer(x)

    def value(i: Expression) -> Expression:
        found = a[i]
        for _ in range(3):
            found = found * hl.cast(_kind(a), 1.5) + hl.cast(_kind(a), 0.25)
        return found

    return _elementwise(x, value)


def _normal(z: Expression) -> Expression:
    """The normal distribution, by a polynomial [Abramowitz, Stegun 26.2.17]: Halide has no error function."""
    t = 1.0 / (1.0 + hl.f32(0.2316419) * hl.abs(z))
    weights = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
    total = hl.f32(0)
    for weight in reversed(weights):
        total = (total + hl.f32(weight)) * t
    tail = total * hl.f32(0.39894228) * hl.fast_exp(-0.5 * z * z)
    return hl.select(z > 0, 1.0 - tail, tail)


def blackscholes(price: Array, strike: Array, time: Array) -> Callable[[], tuple[Array, ...]]:
    """One loop, with Halide's own `exp` and `log`; float32 only."""
    prices, strikes, years = hl.Buffer(price), hl.Buffer(strike), hl.Buffer(time)
    i, strip, inner = hl.Var("i"), hl.Var("strip"), hl.Var("inner")
    deviation = hl.sqrt(years[i]) * hl.f32(0.3)
    d1 = (hl.log(prices[i] / strikes[i]) + years[i] * hl.f32(0.065)) / deviation
    n1, n2 = _normal(d1), _normal(d1 - deviation)
    discounted = strikes[i] * hl.exp(years[i] * hl.f32(-0.02))
    both = hl.Func("prices")
    both[i] = (prices[i] * n1 - discounted * n2, discounted * (1.0 - n2) - prices[i] * (1.0 - n1))
    both.split(i, strip, inner, min(STRIP, len(price)), hl.TailStrategy.GuardWithIf)
    both.vectorize(inner, LANES).parallel(strip)
    return _realised((np.empty_like(price), np.empty_like(price)), both)


def jacobi1(x: Array) -> Callable[[], tuple[Array, ...]]:
    """Rows in parallel, in lanes."""
    return _stencil(x, 1)


def jacobi20(x: Array) -> Callable[[], tuple[Array, ...]]:
    """Twenty pipelines between two buffers."""
    return _stencil(x, 20)


def _stencil(x: Array, times: int) -> Callable[[], tuple[Array, ...]]:
    results = np.empty_like(x), np.empty_like(x)
    first, there, back = _jacobi(x, results[0]), _jacobi(*results), _jacobi(*results[::-1])

    def run() -> tuple[Array, ...]:
        first()
        for number in range(1, times):
            there() if number % 2 else back()
        return (results[(times - 1) % 2],)

    return run


def _jacobi(source: Array, target: Array) -> Callable[[], tuple[Array, ...]]:
    a, i, j = hl.Buffer(source), hl.Var("i"), hl.Var("j")
    height, width = source.shape
    clamped = hl.BoundaryConditions.repeat_edge(a)
    function = hl.Func("jacobi")
    around = clamped[j, i - 1] + clamped[j, i + 1] + clamped[j - 1, i] + clamped[j + 1, i]
    inner = (i > 0) & (i < height - 1) & (j > 0) & (j < width - 1)
    function[j, i] = hl.select(inner, around * hl.cast(_kind(a), 0.25), clamped[j, i])
    function.vectorize(j, min(LANES, width), hl.TailStrategy.GuardWithIf).parallel(i, min(16, height))
    return _realised((target,), function)


def _called(call: Callable[[], object], inputs: tuple[Array, ...]) -> object:
    """A call while its inputs live: Halide's buffers do not hold the arrays that they show."""
    return call()


@dataclass(frozen=True, slots=True)
class Pipelines:
    """Programs that are compiled for their inputs."""

    programs: MappingProxyType[str, Program]

    def prepared(self, cell: Cell, inputs: tuple[Array, ...]) -> Callable[[], object] | None:
        """The workload, or None."""
        program = self.programs.get(cell.workload.name)
        if program is None or (cell.element == "float64" and program is blackscholes):
            return None
        call: Callable[[], object] = program(*inputs)
        return partial(_called, call, inputs)

    def arrays(self, result: Any) -> tuple[Array, ...]:  # Any: a tuple of arrays, of `_realised`
        """They are NumPy's already."""
        return tuple(np.asarray(array) for array in result)


def tool(variant: str) -> Pipelines:
    """Halide for the host's processor."""
    programs = (dot, saxpy, mapchain, blackscholes, jacobi1, jacobi20)
    return Pipelines(MappingProxyType({program.__name__: program for program in programs}))
