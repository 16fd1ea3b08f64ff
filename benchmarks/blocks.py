"""Transposes, and folds and maps of short rows beside NumPy's, and a plain copy: `python -m benchmarks.blocks`.

All candidates of a row run in turn in one process, many times; figures are minima. The copy is accel's own, of the same array,
into memory of the same kind.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import accel as A

Floats = np.ndarray[tuple[int, int], np.dtype[np.float32]]

ROUNDS = 15


@dataclass(frozen=True, slots=True)
class Row:
    """One program: accel's call, NumPy's, and a pass over the same elements."""

    name: str
    ours: Callable[[], object]
    numpy: Callable[[], object]
    copy: Callable[[], object]


def transposed(x: A.Acc[A.Matrix[np.float32]]) -> A.Acc[A.Matrix[np.float32]]:
    """The transpose."""
    return A.transpose(x)


def of_transposed(x: A.Acc[A.Matrix[np.float32]]) -> A.Acc[A.Matrix[np.float32]]:
    """A map of it."""
    return A.map(lambda e: e * 2 + 1, A.transpose(x))


def sums(x: A.Acc[A.Matrix[np.float32]]) -> A.Acc[A.Vector[np.float32]]:
    """The sum of each row."""
    return A.fold(A.add, 0, x)


def differences(x: A.Acc[A.Matrix[np.float32]]) -> A.Acc[A.Vector[np.float32]]:
    """A fold by an operator that does not commute."""
    return A.fold1(A.sub, x)


def with_a_row(x: A.Acc[A.Matrix[np.float32]]) -> A.Acc[A.Matrix[np.float32]]:
    """The first row added to each."""
    return A.zipWith(A.add, x, A.replicate((x.shape[0], A.All), A.slice(x, (0, A.All))))


def without_the_first(x: A.Acc[A.Matrix[np.float32]]) -> A.Acc[A.Matrix[np.float32]]:
    """Each row but the first, less the one before it."""
    return A.zipWith(A.sub, A.tailOn(0, x), A.initOn(0, x))


def copied(x: A.Acc[A.Matrix[np.float32]]) -> A.Acc[A.Matrix[np.float32]]:
    """A pass over all elements."""
    return A.map(lambda e: e + 1, x)


def rows() -> Iterator[Row]:
    """All rows."""
    transpose, mapped, add = A.runN(transposed), A.runN(of_transposed), A.runN(sums)
    subtract, copy = A.runN(differences), A.runN(copied)
    beside, behind = A.runN(with_a_row), A.runN(without_the_first)

    def row(name: str, x: Floats, ours: Callable[[Floats], object], numpy: Callable[[Floats], object]) -> Row:
        return Row(f"{name} {x.shape[0]} x {x.shape[1]}", lambda: ours(x), lambda: numpy(x), lambda: copy(x))

    for shape in ((4096, 4096), (4000, 5000), (1000, 1000)):
        x = np.ones(shape, np.float32)
        yield row("transpose", x, transpose, lambda x: np.ascontiguousarray(x.T))
        yield row("map of a transpose", x, mapped, lambda x: x.T * np.float32(2) + np.float32(1))
    for shape in ((1_000_000, 3), (1_000_000, 4), (1_000_000, 8), (40_000, 50)):
        x = np.ones(shape, np.float32)
        yield row("sums of rows", x, add, lambda x: x.sum(1))
        yield row("differences of rows", x, subtract, lambda x: np.subtract.reduce(x, 1))
    for shape in ((1_000_000, 1), (1_000_000, 2), (1_000_000, 3), (1_000_000, 5), (1_000_000, 8)):
        x = np.ones(shape, np.float32)
        yield row("a row added to all", x, beside, lambda x: x + x[0])
        yield row("less the row before", x, behind, lambda x: x[1:] - x[:-1])
        yield row("transpose of", np.ones(shape[::-1], np.float32), transpose, lambda x: x.T.copy())


def minima(candidates: Sequence[Callable[[], object]]) -> list[float]:
    """The least seconds of each, in turn."""
    best = [float("inf")] * len(candidates)
    for _ in range(ROUNDS):
        for place, candidate in enumerate(candidates):
            start = time.perf_counter()
            candidate()
            best[place] = min(best[place], time.perf_counter() - start)
    return best


def main() -> None:
    """Prints the table."""
    print(f"{'':40} {'accel ms':>9} {'copy ms':>9} {'NumPy ms':>9}")
    for row in rows():
        ours, numpy, copy = minima([row.ours, row.numpy, row.copy])
        print(f"{row.name:40} {ours * 1e3:9.2f} {copy * 1e3:9.2f} {numpy * 1e3:9.2f}")


if __name__ == "__main__":
    main()
