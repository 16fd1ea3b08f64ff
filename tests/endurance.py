"""Deep programs, many calls, many programs: `python -m tests.endurance` does as many as the project promises."""

from __future__ import annotations

import gc
import resource
import sys
import time
from pathlib import Path

import numpy as np

import accel as A


def resident() -> int:
    """Bytes of this process that are in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def chain(length: int) -> None:
    """A chain of that many maps compiles and runs."""
    xs = A.use(np.arange(10.0))
    for number in range(length):
        xs = A.map((lambda x: x + 1) if number % 2 else (lambda x: x * 1), xs)
    np.testing.assert_array_equal(A.run(xs), np.arange(10.0) + length // 2)


def doubled(times: int) -> None:
    """`x = x + x` over and over is as many operations, not a power of two of them."""
    xs = A.use(np.arange(3.0))
    for _ in range(times):
        xs = A.zipWith(A.add, xs, xs)
    np.testing.assert_array_equal(A.run(xs), np.arange(3.0) * 2.0**times)


def calls(count: int) -> int:
    """Call one function that often; how many bytes that left behind."""

    def dotp(xs: A.Acc[A.Vector[np.float32]], ys: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.float32]]:
        return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))

    fast, small = A.runN(dotp), np.ones(4, np.float32)
    for _ in range(count // 10):  # what is allocated once
        fast(small, small)
    before = resident()
    for _ in range(count):
        fast(small, small)
    return resident() - before


def programs(count: int) -> int:
    """Compile, run and drop that many different programs; how many bytes that left behind."""

    def one(number: int) -> None:
        xs = A.use(np.arange(8, dtype=np.float64))
        ys = A.scanl1(A.add, A.map(lambda x: x * (number + 0.5), xs))
        assert float(A.run(A.fold(A.max, 0, ys))) == 28 * (number + 0.5)

    # As many as caches hold, before counting begins.
    warm = min(count, 600)
    for number in range(warm):
        one(number)
    gc.collect()
    before = resident()
    for number in range(warm, warm + count):
        one(number)
    gc.collect()
    return resident() - before


def main() -> int:
    """Do it all; the exit status is 1 if memory grew."""
    begin = time.monotonic()
    chain(10_000)
    doubled(60)
    print(f"deep programs: {time.monotonic() - begin:.0f} s")
    by_calls, by_programs = calls(50_000), programs(5_000)
    print(
        f"50,000 calls left {by_calls:,} bytes, 5,000 programs {by_programs:,} bytes, in {time.monotonic() - begin:.0f} s"
    )
    return int(by_calls > 1 << 20 or by_programs > 64 << 20)


if __name__ == "__main__":
    sys.exit(main())
