"""The long run: `python -m tests.differential --count 20000 --seed 1`.

Programs run in processes of their own, a few hundred seeds each, so that a crash tells its seed and nothing is lost.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from tests.differential.check import check, check_opencl

CHUNK = 200
BATCH = 20


def work(first: int, count: int, opencl: bool) -> int:
    """Check some seeds here; print complaints; give their number."""
    failed = 0
    for seed in range(first, first + count):
        print(f"at seed {seed}", file=sys.stderr, flush=True)
        for complaint in check([seed]):
            failed += 1
            print(complaint, flush=True)
    for start in range(first, first + count, BATCH) if opencl else ():
        print(f"at seed {start} on opencl", file=sys.stderr, flush=True)
        for complaint in check_opencl(range(start, min(start + BATCH, first + count)), start // BATCH):
            failed += 1
            print(complaint, flush=True)
    return failed


def main() -> int:
    """Run all seeds, chunk by chunk; the exit status is 1 if any program failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many programs")
    parser.add_argument("--seed", type=int, default=1, help="the first program's seed")
    parser.add_argument("--no-opencl", action="store_true", help="leave OpenCL out")
    parser.add_argument("--here", action="store_true", help="in this process")
    given = parser.parse_args()
    if given.here:
        return int(work(given.seed, given.count, not given.no_opencl) > 0)
    begin, failed = time.monotonic(), 0
    for first in range(given.seed, given.seed + given.count, CHUNK):
        count = min(CHUNK, given.seed + given.count - first)
        command = [sys.executable, "-m", "tests.differential", "--here", "--seed", str(first), "--count", str(count)]
        done = subprocess.run(command + ["--no-opencl"] * given.no_opencl, capture_output=True, text=True, check=False)
        print(done.stdout, end="")
        if done.returncode:
            failed += 1
            if done.returncode < 0 or not done.stdout:
                print(
                    f"the process ended with {done.returncode}; its last words:",
                    *done.stderr.splitlines()[-12:],
                    sep="\n",
                )
        seconds = time.monotonic() - begin
        print(f"{first + count - given.seed} programs in {seconds:.0f} s, {failed} chunks with failures", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
