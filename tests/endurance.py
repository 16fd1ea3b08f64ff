"""Deep programs, many calls, many programs, processes that are killed: `python -m tests.endurance --help`.

With `--rebuilt 100000 --programs 100000 --recalled 100000 --kills 1000` it takes about an hour on two cores.
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
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import accel as A
from tests import untyped
from tests.endurance_programs import check


def resident() -> int:
    """Bytes of this process that are in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def chain(length: int) -> None:
    """A chain of that many maps compiles and runs."""
    xs = A.use(np.arange(10.0))
    for number in range(length):
        xs = A.map((lambda x: x + 1) if number % 2 else (lambda x: x * 1), xs)
    np.testing.assert_array_equal(untyped.run(xs), np.arange(10.0) + length // 2)


def doubled(times: int) -> None:
    """`x = x + x` over and over is as many operations, not a power of two of them."""
    xs = A.use(np.arange(3.0))
    for _ in range(times):
        xs = A.zipWith(A.add, xs, xs)
    np.testing.assert_array_equal(untyped.run(xs), np.arange(3.0) * 2.0**times)


def calls(count: int) -> int:
    """Call one function that often; how many bytes that left behind."""

    def dotp(xs: A.Acc[A.Vector[np.float32]], ys: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.float32]]:
        return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))

    fast, small = untyped.runN(dotp), np.ones(4, np.float32)
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
    for number in range(warm):
        check(number)
    gc.collect()
    before = resident()
    for number in range(warm, warm + count):
        check(number)
        _report(number - warm + 1, before)
    gc.collect()
    return resident() - before


def recalled(count: int, kept: int = 1_000) -> int:
    """Run programs that often that an earlier process has compiled; how many bytes that left behind.

    kept: how many these are, in turn: more than a process remembers, so that each is taken from disk and linked again.
    """
    child = os.fork()
    if not child:
        for number in range(kept):
            check(number)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "the process that compiles has died"
    for number in range(kept):
        check(number)
    gc.collect()
    before = resident()
    for number in range(count):
        check(number % kept)
        _report(number + 1, before)
    gc.collect()
    assert "accel.calling.building" not in sys.modules, "a program was compiled again"
    return resident() - before


def _report(done: int, before: int) -> None:
    """Says every thousand programs how much more memory there is than at first, and in how many pieces."""
    if done % 1_000 == 0:
        gc.collect()
        pieces = len(Path("/proc/self/maps").read_text(encoding="utf-8").splitlines())
        print(f"{done:9,} programs, {(resident() - before) // 1024:,} KB more, {pieces} mappings", flush=True)


def rebuilt(count: int) -> int:
    """Build the same program that often and run it; how many bytes that left behind."""
    xs, ys = np.arange(100.0), np.ones(100)

    def one() -> None:
        assert float(untyped.run(A.fold(A.add, 0, A.zipWith(A.mul, A.use(xs), A.use(ys))))) == 4950

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
    total = untyped.runN(lambda xs: A.fold(A.add, 0, xs))

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

    def sums(ys: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
        return A.scanl1(A.add, A.map(lambda y: y * (number + 0.5), ys))

    run = untyped.runN(sums)
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


PARTS: Mapping[str, tuple[int, int, str]] = {
    "deep": (10_000, 0, "maps in a chain"),
    "callers": (10_000, 0, "calls of each of 16 threads"),
    "kills": (100, 0, "processes that are killed as they write"),
    "calls": (1_000_000, 1 << 20, "calls of one function"),
    "rebuilt": (10_000, 4 << 20, "times that one program is built again"),
    "programs": (5_000, 16 << 20, "programs that differ, each compiled"),
    "recalled": (5_000, 4 << 20, "programs that are taken from disk"),
}
"""What is done, each in a process of its own: how often, and how many bytes it may leave behind."""


def part(name: str, count: int) -> int:
    """Does one part; how many bytes that left behind."""
    match name:
        case "deep":
            chain(count)
            doubled(60)
        case "callers":
            at_once(count)
        case "kills":
            with tempfile.TemporaryDirectory() as directory:
                kills(count, Path(directory))
        case "calls":
            return calls(count)
        case "rebuilt":
            return rebuilt(count)
        case "programs":
            return programs(count)
        case "recalled":
            return recalled(count)
    return 0


def main() -> int:
    """Do it all; the exit status is 1 if memory grew, or a process died."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance", description=(__doc__ or "").split("\n")[0])
    for name, (count, _, what) in PARTS.items():
        parser.add_argument(f"--{name}", type=int, default=count, help=f"{what} ({count:,}); 0: not at all")
    parser.add_argument("--part", choices=PARTS, help="do this one only, in this process")
    wanted = vars(parser.parse_args())
    if wanted["part"] is not None:
        left = part(wanted["part"], wanted[wanted["part"]])
        print(f"{left:,} bytes more than before", flush=True)
        return int(left > PARTS[wanted["part"]][1])
    begin, outcome = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as directory:
        for name, (_, _, what) in PARTS.items():
            if wanted[name]:
                print(f"{time.monotonic() - begin:6.0f} s  {wanted[name]:,} {what}", flush=True)
                command = [sys.executable, "-X", "faulthandler", "-m", "tests.endurance", "--part", name]
                run = subprocess.run(
                    [*command, f"--{name}", str(wanted[name])],
                    env={**os.environ, "ACCEL_CACHE_DIR": f"{directory}/{name}"},
                    check=False,
                )
                if run.returncode:
                    outcome = 1
                    print(f"{time.monotonic() - begin:6.0f} s  FAILED with status {run.returncode}", flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
