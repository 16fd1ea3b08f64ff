"""The long run: `python -m tests.differential --count 20000 --seed 1`.

Programs run in processes of their own, a few hundred seeds each, so that a crash tells its seed and nothing is lost.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.differential.campaign import FAILED, Options, run, work


def main() -> int:
    """Run all seeds, chunk by chunk; the exit status is not 0 if any program failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many programs")
    parser.add_argument("--seed", type=int, default=1, help="the first program's seed")
    parser.add_argument("--lean", action="store_true", help="each program in one way, most often planned at random")
    parser.add_argument("--opencl", type=int, default=1, metavar="N", help="one batch in N on OpenCL, too; 0 is none")
    parser.add_argument("--guard", action="store_true", help="every array between pages that may not be touched")
    parser.add_argument("--log", type=Path, help="a file of what was done, after which the run goes on")
    parser.add_argument("--here", action="store_true", help="in this process")
    given = parser.parse_args()
    os.environ["ACCEL_VERIFY"] = "1"  # here and in the processes that this one starts
    options = Options(given.lean, given.opencl, given.guard)
    if given.here:
        return FAILED if work(given.seed, given.count, options) else 0
    total = run(given.seed, given.count, options, given.log)
    print(total.summary())
    return int(bool(total.complaints))


if __name__ == "__main__":
    sys.exit(main())
