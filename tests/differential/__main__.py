"""The long run: `python -m tests.differential --count 20000 --seed 1`.

Programs run in processes of their own, a few hundred seeds each, so that a crash tells its seed and nothing is lost.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import subprocess
import sys
import time
from contextlib import nullcontext

from tests.differential.check import check, check_opencl, drawn
from tests.differential.generate import generate
from tests.differential.guard import guarding
from tests.differential.source import file_source

CHUNK = 200
BATCH = 20
TAIL = 12
"""Lines of what a process said last: where it stood in Python when it crashed."""

FAILED = 3
"""The exit status of a process that found failures; others mean that it crashed."""


def work(first: int, count: int, opencl: bool, guard: bool) -> int:
    """Check some seeds here; print complaints; give their number."""
    failed = 0
    for seed in range(first, first + count):
        print(f"at seed {seed}", file=sys.stderr, flush=True)
        with guarding(seed) if guard else nullcontext():
            for complaint in check([seed]):
                failed += 1
                print(complaint, flush=True)
    for start in range(first, first + count, BATCH) if opencl else ():
        print(f"at seed {start} on opencl", file=sys.stderr, flush=True)
        seeds = range(start, min(start + BATCH, first + count))
        with guarding(start // BATCH) if guard else nullcontext():
            for complaint in check_opencl(seeds, drawn(start // BATCH)):
                failed += 1
                print(complaint, flush=True)
    return failed


def isolated(first: int, count: int, options: list[str]) -> int:
    """Check some seeds in a process of its own; after a crash go on behind the seed that caused it."""
    end, failed = first + count, 0
    while first < end:
        command = [
            sys.executable,
            "-m",
            "tests.differential",
            "--here",
            "--seed",
            str(first),
            "--count",
            str(end - first),
        ]
        command += options
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(done.stdout, end="", flush=True)
        if done.returncode == 0:
            return failed
        failed += 1
        if done.returncode == FAILED:
            return failed
        reached = [line for line in done.stderr.splitlines() if line.startswith("at seed ")]
        last = int(reached[-1].split()[2]) if reached else first
        print(f"# seed {last} ended the process with {done.returncode}:\n{file_source(generate(last))}", flush=True)
        print(*done.stderr.splitlines()[-TAIL:], sep="\n", flush=True)
        if reached and reached[-1].endswith("on opencl"):
            return failed
        first = last + 1
    return failed


def main() -> int:
    """Run all seeds, chunk by chunk; the exit status is not 0 if any program failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many programs")
    parser.add_argument("--seed", type=int, default=1, help="the first program's seed")
    parser.add_argument("--no-opencl", action="store_true", help="leave OpenCL out")
    parser.add_argument("--guard", action="store_true", help="every array between pages that may not be touched")
    parser.add_argument("--here", action="store_true", help="in this process")
    given = parser.parse_args()
    os.environ["ACCEL_VERIFY"] = "1"  # here and in the processes that this one starts
    if given.here:
        faulthandler.enable()
        return FAILED if work(given.seed, given.count, not given.no_opencl, given.guard) else 0
    options = [*(["--no-opencl"] if given.no_opencl else []), *(["--guard"] if given.guard else [])]
    begin, failed, end = time.monotonic(), 0, given.seed + given.count
    for first in range(given.seed, end, CHUNK):
        count = min(CHUNK, end - first)
        failed += isolated(first, count, options)
        done, seconds = first + count - given.seed, time.monotonic() - begin
        print(f"# {done} programs in {seconds:.0f} s, {failed} processes with failures", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
