"""What several threads bring, next to what they bring to a copy: `python -m benchmarks.threads [elements] [seconds a row]`.

Each program runs on one thread and on all in turn, in one process; times are minima. A copy moves the memory that a thread can
move and computes nothing: what it gains is what the machine allows to programs that wait for memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import accel as A
from accel.backends.llvm.machine.system import processors
from benchmarks.scans import minima, running_sum

Column = A.Acc[A.Vector[np.float32]]
Whole = A.Acc[A.Vector[np.int32]]
Places = A.Acc[A.Vector[np.int64]]
Found = A.Acc[A.Vector[np.int32]]


def copied(xs: Column) -> Column:
    """One operation."""
    return A.map(lambda x: x + 1, xs)


def running_whole_sum(xs: Whole) -> Whole:
    """The inclusive scan of integers."""
    return A.scanl1(A.add, xs)


def running_exponentials(xs: Column) -> Column:
    """A scan of something that takes longer than the scan."""
    return A.scanl1(A.add, A.map(A.exp, xs))


def positive_whole_sum(xs: Whole) -> A.Acc[A.Scalar[np.int32]]:
    """A fold behind a filter, in any order."""
    kept, _ = A.filter(lambda x: x > 0, xs)
    return A.fold(A.add, np.int32(0), kept)


def positive_sum(xs: Column) -> A.Acc[A.Scalar[np.float32]]:
    """A fold behind a filter, in the order of the elements that are kept."""
    kept, _ = A.filter(lambda x: x > 0, xs)
    return A.fold(A.add, 0, kept)


def positive(xs: Column) -> Column:
    """About half of the elements."""
    kept, _ = A.filter(lambda x: x > 0, xs)
    return kept


def normalise2(xs: Column) -> tuple[Column, Column]:
    """A vector divided by its sum, and by its running sums [vB20 Fig. 12]."""
    total = A.the(A.fold(A.add, 0, xs))
    running, _ = A.scanlTotal(A.add, 0, xs)
    return A.map(lambda x: x / total, xs), A.zipWith(lambda x, s: x / (s + 1), xs, running)


def histogram(places: Places) -> Found:
    """How often each of 1000 numbers occurs."""
    ones = A.map(lambda _: A.constant(1, np.int32), places)
    return A.scatterWith(A.add, A.fill((1000,), np.int32(0)), A.zip(places, ones))


def programs(count: int) -> Iterator[tuple[str, Callable[[int], Callable[[], object]]]]:
    """Names, and what gives a run on a number of threads."""
    random = np.random.default_rng(1)
    floats = random.standard_normal(count).astype(np.float32)
    whole = random.integers(-5, 5, count).astype(np.int32)
    places = random.integers(0, 1000, count)
    yield "copy", lambda threads: partial(A.runN(copied, threads=threads), floats)
    yield "scan", lambda threads: partial(A.runN(running_sum, threads=threads), floats)
    yield "scan int32", lambda threads: partial(A.runN(running_whole_sum, threads=threads), whole)
    yield "scan of exp", lambda threads: partial(A.runN(running_exponentials, threads=threads), floats)
    yield "filter", lambda threads: partial(A.runN(positive, threads=threads), floats)
    yield "filtered sum", lambda threads: partial(A.runN(positive_sum, threads=threads), floats)
    yield "of int32", lambda threads: partial(A.runN(positive_whole_sum, threads=threads), whole)
    yield "histogram", lambda threads: partial(A.runN(histogram, threads=threads), places)
    yield "normalise2", lambda threads: partial(A.runN(normalise2, threads=threads), floats)


def main() -> None:
    """Print the table."""
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 20_000_000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3
    cores = processors()
    print(f"{count} elements; times are minima")
    print(f"{'':14} {'1 thread':>10} {f'{cores} threads':>12} {'gain':>8}")
    for name, program in programs(count):
        best = minima({"one": program(1), "all": program(cores)}, seconds)
        gain = best["one"] / best["all"]
        print(f"{name:14} {best['one'] * 1e3:8.2f}ms {best['all'] * 1e3:10.2f}ms {gain:7.2f}x", flush=True)


if __name__ == "__main__":
    main()
