"""Whether the chosen clustering is the fastest: `python -m benchmarks.exhaustive --help`.

All legal clusterings of thirty small programs are compiled and timed. The codes run in turn, forward and backward; the least
time of each counts; then the fastest three and the chosen one run again, for as long. A code's results stay until just before
it runs again, so that each code has memory of its own for them: where a result lies may matter more than how it is made.
"""

from __future__ import annotations

import argparse
import inspect
import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

import accel as A
from accel.backends.protocol import HostArray
from benchmarks.clusterings import Code, Codes, TooManyError, codes
from benchmarks.exhaustive_programs import PROGRAMS

Clock: TypeAlias = Callable[[], float]

COLUMNS = 1000
FINALISTS = 3


@dataclass(frozen=True, slots=True)
class Result:
    """A program: how many clusterings and codes it has, and seconds of the chosen code, the fastest and the slowest."""

    name: str
    clusterings: int
    codes: int
    chosen: float
    best: float
    worst: float
    costs: tuple[tuple[int, ...], tuple[int, ...]]
    """What the planner thinks that the chosen one and the fastest cost."""


def inputs(program: Callable[..., object], elements: int) -> list[HostArray]:
    """Arrays for the program's parameters, by their names: so many elements each."""
    random = np.random.default_rng(2026)

    def array(name: str) -> HostArray:
        if name == "places":
            return random.permutation(elements)
        numbers = random.standard_normal(elements, np.float32) + np.float32(0.05)
        table = program.__name__ in ("softmax", "rowcol") or name == "xss"
        return numbers[: elements // COLUMNS * COLUMNS].reshape(-1, COLUMNS) if table else numbers

    return [array(name) for name in inspect.signature(program).parameters]


def minima(
    candidates: Sequence[Code], arguments: Sequence[HostArray], rounds: int, clock: Clock = time.perf_counter
) -> list[float]:
    """The least time of each, in seconds of the clock."""
    best = [math.inf] * len(candidates)
    results: list[list[HostArray]] = [[] for _ in candidates]
    order = list(enumerate(candidates))
    for number in range(rounds + 1):
        for place, code in order if number % 2 == 0 else order[::-1]:
            results[place] = []
            start = clock()
            results[place] = code.run(arguments)
            taken = clock() - start
            if number:  # the first makes memory ready
                best[place] = min(best[place], taken)
    return best


def measure(name: str, found: Codes, rounds: int, clock: Clock = time.perf_counter) -> Result:
    """The times of a program's codes, of which the first is the chosen one."""
    first = minima(found.codes, found.arguments, rounds, clock)
    finalists = sorted({0, *sorted(range(len(first)), key=first.__getitem__)[:FINALISTS]})
    again = minima([found.codes[place] for place in finalists], found.arguments, rounds, clock)
    final = {place: min(first[place], seconds) for place, seconds in zip(finalists, again, strict=True)}
    fastest = min(final, key=final.__getitem__)
    costs = found.codes[0].cost, found.codes[fastest].cost
    return Result(name, found.clusterings, len(found.codes), final[0], final[fastest], max(first), costs)


def main() -> None:
    """Print a line for each program."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exhaustive", description=(__doc__ or "").split("\n")[0])
    names = tuple(program.__name__ for program in PROGRAMS)
    parser.add_argument("--only", action="append", choices=names, help="a program; may be given again")
    parser.add_argument("--elements", type=int, default=4_000_000, help="of each array (4,000,000)")
    parser.add_argument("--rounds", type=int, default=20, help="how often all codes run in turn (20)")
    parser.add_argument("--most", type=int, default=100, help="clusterings up to which a program is timed (100)")
    parser.add_argument(
        "--processor", action="store_true", help="one thread, and the processor's time: on machines that others use"
    )
    found = parser.parse_args(sys.argv[1:])
    with A.using(threads=1) if found.processor else nullcontext():
        _print(found.only or names, found, time.process_time if found.processor else time.perf_counter)


def _print(names: Sequence[str], found: argparse.Namespace, clock: Clock) -> None:
    print(
        f"{'program':18} {'clusterings':>11} {'codes':>6} {'chosen ms':>10} {'chosen/best':>12} {'worst/best':>11}  costs"
    )
    ratios = []
    for program in PROGRAMS:
        if program.__name__ not in names:
            continue
        try:
            made = codes(program, inputs(program, found.elements), found.most)
            result = measure(program.__name__, made, found.rounds, clock)
        except TooManyError:
            print(f"{program.__name__:18} more than {found.most} clusterings")
            continue
        ratios.append(result.chosen / result.best)
        costs = " ".join(map(str, result.costs)) if result.costs[0] != result.costs[1] else ""
        print(
            f"{result.name:18} {result.clusterings:11} {result.codes:6} {result.chosen * 1e3:10.2f} {ratios[-1]:12.2f}"
            f" {result.worst / result.best:11.2f}  {costs}",
            flush=True,
        )
    within = [sum(ratio <= limit for ratio in ratios) for limit in (1.05, 1.15)]
    print(f"of {len(ratios)} programs, {within[0]} within 5 % of the best, {within[1]} within 15 %")


if __name__ == "__main__":
    main()
