"""Stencils of something expensive, planned with recomputation and without: `python -m benchmarks.stencils [elements]`.

What is expensive is stored once; what is cheap is stored or recomputed of it at every point, as the plan says. Both plans run
in turn in one process; figures are minima.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import accel as A

Floats = np.ndarray[tuple[int], np.dtype[np.float32]]
Column = A.Acc[A.Vector[np.float32]]
Number = A.Exp[np.float32]


def tone(x: Number) -> Number:
    """A polynomial: 36 operations."""
    y = x
    for power in range(18):
        y = y * x + 1 / (power + 1)
    return y


def around(xs: Column, weigh: Callable[[Number, Number, Number], Number]) -> Column:
    """A stencil of three points, clamped to the border."""
    last = A.size(xs) - 1

    def element(ix: A.Exp[tuple[int]]) -> Number:
        (i,) = A.unindex(ix)
        return weigh(xs[A.index(A.max(i - 1, 0))], xs[ix], xs[A.index(A.min(i + 1, last))])

    return A.generate(xs.shape, element)


def parts(xs: Column) -> Column:
    """A stencil of three linear functions of what is expensive."""
    tones = A.map(tone, xs)
    last = A.size(xs) - 1
    linear = A.map(lambda t: A.lift(t * 2 + 1, t * 3 - 2, 1 - t), tones)

    def element(ix: A.Exp[tuple[int]]) -> Number:
        (i,) = A.unindex(ix)
        before, here, after = (A.unlift(linear[A.index(j)]) for j in (A.max(i - 1, 0), i, A.min(i + 1, last)))
        return before[0] * after[1] + here[2] * (before[2] - after[0]) + here[0] * here[1]

    return A.generate(xs.shape, element)


def blurred(xs: Column) -> Column:
    """A blur of a blur of what is expensive."""

    def weigh(a: Number, b: Number, c: Number) -> Number:
        return a * 0.25 + b * 0.5 + c * 0.25

    return around(around(A.map(tone, xs), weigh), weigh)


@dataclass(frozen=True, slots=True)
class Row:
    """A program's bytes, as its plan counts them, and milliseconds: with recomputation, and without."""

    name: str
    bytes: tuple[int, int]
    milliseconds: tuple[float, float]


def rows(count: int, repeat: int) -> Iterator[Row]:
    """One for each program."""
    xs: Floats = np.linspace(0, 1, count, dtype=np.float32)
    for program in (parts, blurred):
        one = A.runN(program, duplicate=True)
        other = A.runN(program, duplicate="gathers")
        np.testing.assert_array_equal(one(xs), other(xs))
        planned = (A.explain(program, duplicate=True), A.explain(program, duplicate="gathers"))
        best = [float("inf")] * 2
        for _ in range(repeat):
            for place, run in enumerate((one, other)):
                start = time.perf_counter()
                run(xs)
                best[place] = min(best[place], time.perf_counter() - start)
        yield Row(program.__name__, (planned[0].cost[0], planned[1].cost[0]), (best[0] * 1e3, best[1] * 1e3))


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 25
    print(f"{count} elements; bytes are of 1024; times in ms: recomputed, stored")
    for row in rows(count, 15):
        more, less = row.milliseconds[1], row.milliseconds[0]
        print(
            f"{row.name:10} bytes {row.bytes[0]:6} {row.bytes[1]:6}   ms {less:8.1f} {more:8.1f}   x {more / less:.2f}"
        )


if __name__ == "__main__":
    main()
