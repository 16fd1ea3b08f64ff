"""CPU speed beside NumPy, Numba (if installed) and the memory bound: `python -m benchmarks.cpu [elements]`.

All candidates of a row run in turn in one process, many times; figures are ratios of their minima, so that what else the
machine does matters little. The bound is the time to move a row's bytes (every input once, every output once) at the
speed of the fastest of two plain passes over as much memory with a thread for each core: a copy into a reused output,
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
from examples.black_scholes import black_scholes, black_scholes_numpy, inputs

Floats = np.ndarray[tuple[int], np.dtype[np.float32]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Bytes = np.ndarray[tuple[int], np.dtype[np.int8]]
Halves = np.ndarray[tuple[int], np.dtype[np.int16]]
Bools = np.ndarray[tuple[int], np.dtype[np.bool]]
Column = A.Acc[A.Vector[np.float32]]
Table = A.Acc[A.Matrix[np.float32]]


def dotp(xs: Column, ys: Column) -> A.Acc[A.Scalar[np.float32]]:
    """One fold over two vectors."""
    return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))


def chain(xs: Column) -> Column:
    """Six operations, written as six maps."""
    for _ in range(3):
        xs = A.map(lambda x: x * 1.5, xs)
        xs = A.map(lambda x: x + 0.25, xs)
    return xs


def normalise2(xs: Column) -> tuple[Column, Column]:
    """A vector divided by its sum, and by its running sums [vB20 Fig. 12]."""
    total = A.the(A.fold(A.add, 0, xs))
    running, _ = A.scanlTotal(A.add, 0, xs)
    return A.map(lambda x: x / total, xs), A.zipWith(lambda x, s: x / (s + 1), xs, running)


def softmax(xs: Table) -> Table:
    """Along rows."""
    _, columns = A.unlift(xs.shape)
    exponentials = A.map(A.exp, A.zipWith(A.sub, xs, A.replicate((A.All, columns), A.fold1(A.max, xs))))
    return A.zipWith(
        lambda e, total: e / total, exponentials, A.replicate((A.All, columns), A.fold(A.add, 0, exponentials))
    )


def running_sum(xs: Column) -> Column:
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


def positive(xs: Column) -> Column:
    """About half of the elements."""
    kept, _ = A.filter(lambda x: x > 0, xs)
    return kept


def softmax_numpy(x: Matrix) -> Matrix:
    """The same in NumPy."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def normalise2_numpy(x: Floats) -> tuple[Floats, Floats]:
    """The same in NumPy."""
    return x / x.sum(), x / (np.cumsum(x) - x + 1)


@dataclass(frozen=True, slots=True)
class Row:
    """One program: candidates by name, the bytes that it must move, and the bytes of its elements."""

    name: str
    candidates: Mapping[str, Callable[[], object]]
    bytes: int
    width: int = 4


def numba_rows(x: Floats, y: Floats, options: tuple[Floats, Floats, Floats]) -> dict[str, Callable[[], object]]:
    """Numba's parallel loops, by row; empty without Numba."""
    try:
        import numba
    except ImportError:
        return {}
    jit = numba.njit(parallel=True, fastmath=True)

    @jit
    def dot(x: Floats, y: Floats) -> np.float32:
        total = np.float32(0)
        for i in numba.prange(len(x)):
            total += x[i] * y[i]
        return total

    @jit
    def six(x: Floats) -> Floats:
        return (
            ((x * np.float32(1.5) + np.float32(0.25)) * np.float32(1.5) + np.float32(0.25)) * np.float32(1.5)
        ) + np.float32(0.25)

    @jit
    def price(prices: Floats, strikes: Floats, years: Floats) -> tuple[Floats, Floats]:
        call, put = np.empty_like(prices), np.empty_like(prices)
        half, root, one = np.float32(0.5), np.float32(-0.70710678), np.float32(1)
        for i in numba.prange(len(prices)):
            deviation = np.float32(math.sqrt(years[i])) * np.float32(0.3)
            d1 = (np.float32(math.log(prices[i] / strikes[i])) + years[i] * np.float32(0.065)) / deviation
            discounted = strikes[i] * np.float32(math.exp(years[i] * np.float32(-0.02)))
            n1 = np.float32(math.erfc(d1 * root)) * half
            n2 = np.float32(math.erfc((d1 - deviation) * root)) * half
            call[i] = prices[i] * n1 - discounted * n2
            put[i] = discounted * (one - n2) - prices[i] * (one - n1)
        return call, put

    found: dict[str, Callable[[], object]] = {
        "dot": lambda: dot(x, y),
        "map chain": lambda: six(x),
        "black_scholes": lambda: price(*options),
    }
    for run in found.values():
        run()
    return found


def rows(count: int) -> Iterator[Row]:
    """All rows, at `count` elements."""
    random = np.random.default_rng(1)
    x: Floats = random.standard_normal(count).astype(np.float32)
    y: Floats = random.standard_normal(count).astype(np.float32)
    table: Matrix = x[: count // 1000 * 1000].reshape(-1, 1000)
    options = inputs(min(count, 1_000_000))
    numba = numba_rows(x, y, options)
    fast_dot, fast_chain, fast_normalise = A.runN(dotp), A.runN(chain), A.runN(normalise2)
    fast_softmax, fast_scan, fast_filter = A.runN(softmax), A.runN(running_sum), A.runN(positive)
    fast_prices = A.runN(black_scholes)

    def row(name: str, ours: Callable[[], object], numpy: Callable[[], object], moved: int) -> Row:
        candidates = {"accel": ours, "numpy": numpy}
        if name in numba:
            candidates["numba"] = numba[name]
        return Row(name, candidates, moved)

    yield row("dot", lambda: fast_dot(x, y), lambda: np.dot(x, y), 8 * count)
    yield row("map chain", lambda: fast_chain(x), lambda: chain_numpy(x), 8 * count)
    yield row(
        "black_scholes", lambda: fast_prices(*options), lambda: black_scholes_numpy(*options), 20 * options[0].size
    )
    yield row("normalise2", lambda: fast_normalise(x), lambda: normalise2_numpy(x), 16 * count)
    yield row("softmax", lambda: fast_softmax(table), lambda: softmax_numpy(table), 8 * table.size)
    yield row("scan", lambda: fast_scan(x), lambda: np.cumsum(x), 8 * count)
    yield from narrow_scans(count)
    yield row("filter", lambda: fast_filter(x), lambda: x[x > 0], 6 * count)


def narrow_scans(count: int) -> Iterator[Row]:
    """Scans of elements of one and two bytes."""
    random = np.random.default_rng(2)
    small: Bytes = random.integers(-128, 128, count, np.int8)
    halves: Halves = random.integers(-32768, 32768, count, np.int16)
    bools: Bools = random.integers(0, 2, count, np.int8).astype(np.bool)
    fast_sums, fast_rests = A.runN(running_bytes), A.runN(remaining_bytes)
    fast_maxima, fast_parity = A.runN(highest_so_far), A.runN(parity)

    def row(name: str, ours: Callable[[], object], numpy: Callable[[], object], width: int) -> Row:
        return Row(name, {"accel": ours, "numpy": numpy}, 2 * width * count, width)

    yield row("scan int8", lambda: fast_sums(small), lambda: np.add.accumulate(small, dtype=np.int8), 1)
    yield row("scanr int8", lambda: fast_rests(small), lambda: remaining_numpy(small), 1)
    yield row("scan int16", lambda: fast_maxima(halves), lambda: np.maximum.accumulate(halves), 2)
    yield row("scan bool", lambda: fast_parity(bools), lambda: np.logical_xor.accumulate(bools), 1)


def remaining_numpy(x: Bytes) -> Bytes:
    """The same in NumPy."""
    found = np.zeros(len(x) + 1, np.int8)
    np.add.accumulate(x[::-1], dtype=np.int8, out=found[-2::-1])
    return found


def chain_numpy(x: Floats) -> Floats:
    """The same in NumPy."""
    for _ in range(3):
        x = x * np.float32(1.5)
        x = x + np.float32(0.25)
    return x


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
    print(f"{'':14} {'accel':>10} {'numpy':>12} {'numba':>12} {'bound':>12}")
    for row in rows(count):
        best = minima({**row.candidates, **passes[row.width]}, 3)
        size = row.width * count
        speed = max(2 * size / best["copy"], size / best["sum"])
        ours, bound = best["accel"], row.bytes / speed
        others = [f"{best[name] / ours:11.2f}x" if name in best else f"{'-':>12}" for name in ("numpy", "numba")]
        print(f"{row.name:14} {ours * 1e3:8.2f}ms {' '.join(others)} {bound / ours:11.2f}x", flush=True)
    print("columns after the first: their time by accel's; the bound's says how near to memory speed accel is")


if __name__ == "__main__":
    main()
