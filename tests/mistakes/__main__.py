"""`python -m tests.mistakes --count 20000 --seed 1`: wrong programs in other processes, which may end as they like."""

from __future__ import annotations

import argparse

from tests.mistakes.run import here, reports


def main() -> int:
    """The exit status: whether something was found."""
    parser = argparse.ArgumentParser(
        description="Run programs with mistakes; report all that does not end as it should."
    )
    parser.add_argument("--count", type=int, default=20000, help="how many programs")
    parser.add_argument("--seed", type=int, default=1, help="the first seed; each program has its own")
    parser.add_argument("--backends", default="llvm,interpreter", help="what must give the same, between commas")
    parser.add_argument("--here", action="store_true", help="in this process, which ends if a program ends it")
    given = parser.parse_args()
    backends = tuple(given.backends.split(","))
    if given.here:
        here(range(given.seed, given.seed + given.count), backends)
        return 0
    found = 0
    for report in reports(range(given.seed, given.seed + given.count), backends):
        found += 1
        print(report, flush=True)
    print(f"{given.count} programs, {found} complaints")
    return found > 0


if __name__ == "__main__":
    raise SystemExit(main())
