"""Deep programs, many calls, many programs, processes that are killed: `python -m tests.endurance --help`.

With `--calls 1000000 --rebuilt 100000 --programs 100000 --kills 1000` it takes about an hour on two cores.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
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


def programs(count: int, warm: int = 600) -> int:
    """Compile, run and drop that many different programs; how many bytes that left behind.

    warm: as many as caches hold, which run before.
    """

    def one(number: int) -> None:
        xs = A.use(np.arange(8, dtype=np.float64))
        ys = A.scanl1(A.add, A.map(lambda x: x * (number + 0.5), xs))
        assert float(A.run(A.fold(A.max, 0, ys))) == 28 * (number + 0.5)

    for number in range(warm):
        one(number)
    gc.collect()
    before = resident()
    for number in range(warm, warm + count):
        one(number)
    gc.collect()
    return resident() - before


def rebuilt(count: int) -> int:
    """Build the same program that often and run it; how many bytes that left behind."""
    xs, ys = np.arange(100.0), np.ones(100)

    def one() -> None:
        assert float(A.run(A.fold(A.add, 0, A.zipWith(A.mul, A.use(xs), A.use(ys))))) == 4950

    for _ in range(1_000):
        one()
    gc.collect()
    before = resident()
    for _ in range(count):
        one()
    gc.collect()
    return resident() - before


def at_once(count: int, callers: int = 16) -> None:
    """So many calls of each of some callers in threads of their own: all get the sum of their own numbers."""
    total = A.runN(lambda xs: A.fold(A.add, 0, xs))

    def calls_of(caller: int) -> bool:
        numbers = np.full(1_000 * (caller + 1), caller)
        return all(int(total(numbers)) == caller * numbers.size for _ in range(count))

    with ThreadPoolExecutor(callers) as pool:
        assert all(pool.map(calls_of, range(callers)))


def kills(count: int, directory: Path) -> None:
    """Kill that many processes while they write plans and compiled programs there; then another one reads what they left.

    It gives the right results and warns of nothing: an entry is whole, or not there.
    """
    random_ = random.Random(1)
    before = os.environ.get("ACCEL_CACHE_DIR")
    os.environ["ACCEL_CACHE_DIR"] = str(directory)
    try:
        numbered(0)  # the parent has loaded what children need
        for number in range(1, count + 1):
            child = os.fork()
            if not child:
                _write_until_killed(1_000 * number)
            time.sleep(random_.random() * 0.1)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            if number % 50 == 0 or number == count:
                _read(
                    [1_000 * each + program for each in range(max(1, number - 49), number + 1) for program in range(5)]
                )
    finally:
        if before is None:
            del os.environ["ACCEL_CACHE_DIR"]
        else:
            os.environ["ACCEL_CACHE_DIR"] = before


def numbered(number: int) -> None:
    """Run a program that no other number has."""
    xs = np.arange(8.0)
    run = A.runN(lambda ys: A.scanl1(A.add, A.map(lambda y: y * (number + 0.5), ys)))
    np.testing.assert_array_equal(run(xs), np.cumsum(xs) * (number + 0.5))


def _write_until_killed(number: int) -> None:
    while True:
        numbered(number)
        number += 1


def _read(numbers: list[int]) -> None:
    code = f"from tests.endurance import numbered\nfor number in {numbers}: numbered(number)"
    found = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert not found.stderr, found.stderr


def main() -> int:
    """Do it all; the exit status is 1 if memory grew."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--calls", type=int, default=1_000_000, help="of one function (1,000,000)")
    parser.add_argument("--rebuilt", type=int, default=10_000, help="times that one program is built again (10,000)")
    parser.add_argument("--programs", type=int, default=5_000, help="that differ (5,000)")
    parser.add_argument("--kills", type=int, default=100, help="processes that are killed as they write (100)")
    wanted = parser.parse_args()
    begin = time.monotonic()

    def says(what: str) -> None:
        print(f"{time.monotonic() - begin:6.0f} s  {what}", flush=True)

    chain(10_000)
    doubled(60)
    says("deep programs ran")
    at_once(10_000)
    says("16 threads called 10,000 times each")
    with tempfile.TemporaryDirectory() as directory:
        kills(wanted.kills, Path(directory))
    says(f"{wanted.kills:,} processes were killed")
    by_calls = calls(wanted.calls)
    says(f"{wanted.calls:,} calls left {by_calls:,} bytes")
    by_rebuilding = rebuilt(wanted.rebuilt)
    says(f"{wanted.rebuilt:,} times the same program left {by_rebuilding:,} bytes")
    by_programs = programs(wanted.programs)
    says(f"{wanted.programs:,} programs left {by_programs:,} bytes")
    return int(by_calls > 1 << 20 or by_rebuilding > 4 << 20 or by_programs > 64 << 20)


if __name__ == "__main__":
    sys.exit(main())
