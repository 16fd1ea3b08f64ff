"""Folds and scans of columns and rows beside NumPy and a pass over memory: `python -m benchmarks.columns [threads]`.

Both run in one process: some calls of the one, then as many of the other, for some rounds, each once no thread of the process
runs any more. Figures are minima of a call's time on the clock, and of the time of all processors.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

import accel as A
from benchmarks.peers.rest import rest

ROUNDS = 3
CALLS = 10
"""Of each in a round."""

Floats = NDArray[np.float32]
Vector = A.Acc[A.Vector[np.float32]]
Matrix = A.Acc[A.Matrix[np.float32]]
Cube = A.Acc[A.Array[tuple[int, int, int], np.float32]]


def column_sums(m: Matrix) -> Vector:
    """`m.sum(axis=0)`."""
    return A.sum(A.transpose(m))


def column_maxima(m: Matrix) -> Vector:
    """`m.max(axis=0)`."""
    return A.fold1(A.max, A.transpose(m))


def vector_times_matrix(v: Vector, m: Matrix) -> Vector:
    """`v @ m`."""
    _, columns = A.unlift(m.shape)
    return A.sum(A.zipWith(A.mul, A.transpose(m), A.replicate((columns, A.All), v)))


def middle_sums(t: Cube) -> Matrix:
    """`t.sum(axis=1)`."""
    return A.sum(A.transposeOn(-2, -1, t))


def outer_sums(t: Cube) -> Vector:
    """`t.sum(axis=(0, 2))`."""
    return A.sum(A.sum(A.transposeOn(-3, -2, t)))


def variances(m: Matrix) -> Vector:
    """Of each column."""
    rows, _ = A.unlift(m.shape)
    count = A.cast(rows, np.float32)
    means = A.map(lambda total: total / count, column_sums(m))
    distances = A.zipWith(A.sub, m, A.replicate((rows, A.All), means))
    return A.map(lambda total: total / count, column_sums(A.map(lambda d: d * d, distances)))


@dataclass(frozen=True, slots=True)
class Row:
    """A program, for a shape: milliseconds on the clock and of processors, accel's and NumPy's."""

    name: str
    shape: tuple[int, ...]
    clock: tuple[float, float]
    processors: tuple[float, float]


def running_sums(m: Matrix) -> Matrix:
    """`np.cumsum(m, axis=0)`."""
    return A.transpose(A.scanl1(A.add, A.transpose(m)))


def matrix_times_vector(m: Matrix, v: Vector) -> Vector:
    """`m @ v`."""
    rows, _ = A.unlift(m.shape)
    return A.sum(A.zipWith(A.mul, m, A.replicate((rows, A.All), v)))


def all_of_it(m: Matrix) -> A.Acc[A.Scalar[np.float32]]:
    """`m.sum()`."""
    return A.sum(A.flatten(m))


def inner_sums(t: Cube) -> Matrix:
    """`t.sum(axis=2)`."""
    return A.sum(t)


def floats(*shape: int) -> Floats:
    """Numbers in 0 .. 1."""
    return np.random.default_rng(0).random(shape, dtype=np.float32)


def rows(matrices: list[tuple[int, int]], cubes: list[tuple[int, int, int]], calls: int, threads: int) -> Iterator[Row]:
    """One for each program and shape, with so many calls in a round."""
    sums, maxima = A.runN(column_sums, threads=threads), A.runN(column_maxima, threads=threads)
    product, spread = A.runN(vector_times_matrix, threads=threads), A.runN(variances, threads=threads)
    running, times = A.runN(running_sums, threads=threads), A.runN(matrix_times_vector, threads=threads)
    inner, whole = A.runN(inner_sums, threads=threads), A.runN(all_of_it, threads=threads)
    middle, outer = A.runN(middle_sums, threads=threads), A.runN(outer_sums, threads=threads)
    for shape in matrices:
        m, v = floats(*shape), floats(shape[0])
        yield _row("column sums", shape, calls, partial(sums, m), partial(np.sum, m, axis=0))
        yield _row("column maxima", shape, calls, partial(maxima, m), partial(np.max, m, axis=0))
        yield _row("vector x matrix", shape, calls, partial(product, v, m), partial(np.matmul, v, m))
        w = floats(shape[1])
        yield _row("matrix x vector", shape, calls, partial(times, m, w), partial(np.matmul, m, w))
        yield _row("a pass over it", shape, calls, partial(whole, m), partial(np.sum, m))
        yield _row("running sums", shape, calls, partial(running, m), partial(np.cumsum, m, axis=0))
        yield _row("variances", shape, calls, partial(spread, m), partial(np.var, m, axis=0))
    for cube in cubes:
        t = floats(*cube)
        yield _row("sums of a middle dimension", cube, calls, partial(middle, t), partial(np.sum, t, axis=1))
        yield _row("sums of the inner dimension", cube, calls, partial(inner, t), partial(np.sum, t, axis=2))
        yield _row("sums of the outer two", cube, calls, partial(outer, t), partial(np.sum, t, axis=(0, 2)))


def _row(name: str, shape: tuple[int, ...], calls: int, own: Callable[[], Floats], other: Callable[[], object]) -> Row:
    np.testing.assert_allclose(own(), np.asarray(other()), rtol=1e-3)
    clock, processors = [np.inf, np.inf], [np.inf, np.inf]
    candidates: list[Callable[[], object]] = [own, other]
    for place, candidate in list(enumerate(candidates)) * ROUNDS:
        rest()
        for _ in range(calls):
            started, used = time.perf_counter(), time.process_time()
            candidate()
            clock[place] = min(clock[place], time.perf_counter() - started)
            processors[place] = min(processors[place], time.process_time() - used)
    return Row(name, shape, (clock[0] * 1e3, clock[1] * 1e3), (processors[0] * 1e3, processors[1] * 1e3))


def main(arguments: list[str]) -> int:
    """Prints one line for each program and shape."""
    threads = int(arguments[0]) if arguments else 0
    matrices = [(4096, 4096), (4000, 5000), (20000, 500), (1_000_000, 8), (2048, 2048)]
    print(f"{'':28}{'':16}{'accel':>10}{'NumPy':>10}{'ratio':>8}   ms on the clock, and of processors")
    for row in rows(matrices, [(200, 200, 50), (64, 512, 512)], CALLS, threads):
        for each in (row.clock, row.processors):
            named = each is row.clock
            title = f"{row.name if named else '':28}{'x'.join(map(str, row.shape)) if named else '':16}"
            print(f"{title}{each[0]:10.2f}{each[1]:10.2f}{each[0] / each[1]:8.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
