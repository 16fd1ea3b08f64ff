"""Scans of narrow elements beside NumPy's `accumulate` and the memory bound: `python -m benchmarks.scans [elements]`.

All candidates of a row run in turn in one process, many times; figures are ratios of their minima, so that what else the
machine does matters little. The bound is the time to move a row's bytes (every input once, every output once) at the
speed of the faster of two plain passes over as much memory with a thread for each core: a copy into a reused output,
and a sum.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

import accel as A
from accel.backends.llvm.machine.system import processors

Floats = np.ndarray[tuple[int], np.dtype[np.float32]]
Bytes = np.ndarray[tuple[int], np.dtype[np.int8]]
Halves = np.ndarray[tuple[int], np.dtype[np.int16]]
Bools = np.ndarray[tuple[int], np.dtype[np.bool]]


def running_sum(xs: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Vector[np.float32]]:
    """The inclusive scan."""
    return A.scanl1(A.add, xs)


def running_bytes(xs: A.Acc[A.Vector[np.int8]]) -> A.Acc[A.Vector[np.int8]]:
    """The inclusive scan of sums that wrap."""
    return A.scanl1(A.add, xs)


def remaining_bytes(xs: A.Acc[A.Vector[np.int8]]) -> A.Acc[A.Vector[np.int8]]:
    """The exclusive scan from the right, of one result more."""
    return A.scanr(A.add, np.int8(0), xs)


def highest_so_far(xs: A.Acc[A.Vector[np.int16]]) -> A.Acc[A.Vector[np.int16]]:
    """The inclusive scan of maxima."""
    return A.scanl1(A.max, xs)


def parity(xs: A.Acc[A.Vector[np.bool]]) -> A.Acc[A.Vector[np.bool]]:
    """Whether the number of elements so far that are true is odd."""
    return A.scanl1(A.xor, xs)


@dataclass(frozen=True, slots=True)
class Row:
    """One program: accel's call, NumPy's, and the bytes of its elements."""

    name: str
    ours: Callable[[], object]
    numpy: Callable[[], object]
    width: int


def rows(count: int) -> Iterator[Row]:
    """All rows, at `count` elements."""
    random = np.random.default_rng(2)
    floats: Floats = random.standard_normal(count).astype(np.float32)
    small: Bytes = random.integers(-128, 128, count, np.int8)
    halves: Halves = random.integers(-32768, 32768, count, np.int16)
    bools: Bools = random.integers(0, 2, count, np.int8).astype(np.bool)
    fast_floats, fast_sums, fast_rests = A.runN(running_sum), A.runN(running_bytes), A.runN(remaining_bytes)
    fast_maxima, fast_parity = A.runN(highest_so_far), A.runN(parity)
    yield Row("scan float32", lambda: fast_floats(floats), lambda: np.cumsum(floats), 4)
    yield Row("scan int8", lambda: fast_sums(small), lambda: np.add.accumulate(small, dtype=np.int8), 1)
    yield Row("scanr int8", lambda: fast_rests(small), lambda: remaining_numpy(small), 1)
    yield Row("scan int16", lambda: fast_maxima(halves), lambda: np.maximum.accumulate(halves), 2)
    yield Row("scan bool", lambda: fast_parity(bools), lambda: np.logical_xor.accumulate(bools), 1)


def remaining_numpy(x: Bytes) -> Bytes:
    """The exclusive scan from the right, in NumPy."""
    found = np.zeros(len(x) + 1, np.int8)
    np.add.accumulate(x[::-1], dtype=np.int8, out=found[-2::-1])
    return found


def minima(candidates: Mapping[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """The least time of each, run in turn until the time is over, at least five times each."""
    best = dict.fromkeys(candidates, math.inf)
    end = time.perf_counter() + seconds
    turns = 0
    while turns < 5 or time.perf_counter() < end:
        for name, run in candidates.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
        turns += 1
    return best


def plain_passes(size: int) -> dict[str, Callable[[], object]]:
    """A copy and a sum of `size` bytes, by NumPy on all cores."""
    cores = processors()
    source, target = np.ones(size // 4, np.float32), np.ones(size // 4, np.float32)
    sources, targets = np.array_split(source, cores), np.array_split(target, cores)
    pool = ThreadPoolExecutor(cores)
    return {
        "copy": lambda: list(pool.map(np.copyto, targets, sources)),
        "sum": lambda: list(pool.map(np.sum, sources)),
    }


def main() -> None:
    """Print the table."""
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 20_000_000
    passes = {width: plain_passes(width * count) for width in (1, 2, 4)}
    print(f"{count} elements; times are minima")
    print(f"{'':14} {'accel':>10} {'numpy':>12} {'bound':>12}")
    for row in rows(count):
        best = minima({"accel": row.ours, "numpy": row.numpy, **passes[row.width]}, 3)
        bound = min(best["copy"], 2 * best["sum"])
        ours = best["accel"]
        print(f"{row.name:14} {ours * 1e3:8.2f}ms {best['numpy'] / ours:11.2f}x {bound / ours:11.2f}x", flush=True)
    print("columns after the first: their time by accel's; the bound's says how near to memory speed accel is")


if __name__ == "__main__":
    main()
