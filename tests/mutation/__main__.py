"""Plant faults one at a time and see that tests notice: `python -m tests.mutation`.

The tests that are named run on the unchanged repository first, so that nothing is noticed by a test that always fails.
The exit status is not 0 if a fault survives.
"""

from __future__ import annotations

import argparse
import queue
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.copied import Copy, Outcome
from tests.mutation.fault import Fault
from tests.mutation.table import chosen, listed


@dataclass(frozen=True, slots=True)
class _Judged:
    stage: str
    fault: Fault
    outcome: Outcome

    @property
    def survived(self) -> bool:
        return self.outcome.by is None


class _Copies:
    """Copies of the repository, each used by one thread at a time."""

    def __init__(self, folder: Path, count: int, limit: float) -> None:
        self.count = count
        self._limit = limit
        self._free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(count):
            place = folder / str(number)
            place.mkdir()
            self._free.put(Copy(place))

    def unchanged(self, tests: Sequence[str]) -> Outcome:
        """The tests without any fault; they may take the limit each."""
        copy = self._free.get()
        try:
            return copy.run(tests, self._limit * len(tests))
        finally:
            self._free.put(copy)

    def judged(self, stage: str, fault: Fault) -> _Judged:
        """The fault's tests with the fault."""
        copy = self._free.get()
        try:
            with copy.planted(fault):
                found = _Judged(stage, fault, copy.run(fault.tests, self._limit))
        finally:
            self._free.put(copy)
        word = "SURVIVED" if found.survived else "caught"
        print(
            f"{stage:12} {fault.name:60} {word:8} {found.outcome.seconds:6.1f} s  {found.outcome.by or ''}", flush=True
        )
        return found


def _pass_without_faults(copies: _Copies, threads: ThreadPoolExecutor, faults: Sequence[Fault]) -> bool:
    tests = sorted({test for fault in faults for test in fault.tests})
    parts = [part for part in (tests[start :: copies.count] for start in range(copies.count)) if part]
    failed = [outcome for outcome in threads.map(copies.unchanged, parts) if outcome.by is not None]
    for outcome in failed:
        print(outcome.text, f"{outcome.by} fails without any fault", sep="\n")
    return not failed


def _summary(found: Sequence[_Judged]) -> None:
    print(f"\n{'stage':12} {'faults':>6} {'survived':>8}")
    for stage in dict.fromkeys(each.stage for each in found):
        survived = [each.survived for each in found if each.stage == stage]
        print(f"{stage:12} {len(survived):6} {sum(survived):8}")
    seconds = sum(each.outcome.seconds for each in found)
    print(f"{len(found)} faults in {seconds:.0f} s, of which {sum(each.survived for each in found)} survived")


def main() -> int:
    """Judge the faults that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], help="a stage, or a part of faults' names; may be repeated"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many faults at once")
    parser.add_argument("--limit", type=float, default=120, help="seconds for the tests of one fault")
    parser.add_argument("--list", action="store_true", help="only say which faults there are, and how many")
    given = parser.parse_args()
    pairs = [(stage, fault) for stage, faults in chosen(given.only).items() for fault in faults]
    if given.list:
        print(*listed(chosen(given.only)), sep="\n")
        return 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as threads:
        copies = _Copies(Path(folder), given.jobs, given.limit)
        if not _pass_without_faults(copies, threads, [fault for _, fault in pairs]):
            return 2
        found = list(threads.map(lambda pair: copies.judged(*pair), pairs))
    _summary(found)
    return int(any(each.survived for each in found))


if __name__ == "__main__":
    sys.exit(main())
