"""Arguments whose rows' elements are not adjacent: `python -m benchmarks.strides --help`.

Each program gets an array as it lies, the same elements in adjacent rows, and what NumPy's copy makes of the first: what a
library does that wants rows. Candidates run in turn, and the least time of each counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isqrt
from typing import Any

import numpy as np

import accel as A
from accel.backends.protocol import HostArray

WARM = 1 << 24
"""Elements that are copied, at most, before accel has code for how an argument lies."""


def vectors(count: int) -> dict[str, HostArray]:
    """Vectors in different ways."""
    memory = np.random.default_rng(1).standard_normal(3 * count, np.float32)
    return {
        "every second": memory[: 2 * count : 2],
        "every third": memory[::3],
        "backwards": memory[:count][::-1],
        "one element": np.broadcast_to(memory[:1], (count,)),
        "real parts": memory[: 2 * count].view(np.complex64).real,
    }


def matrices(count: int) -> dict[str, HostArray]:
    """Matrices in different ways."""
    rows = isqrt(count)
    memory = np.random.default_rng(1).standard_normal((rows, 2 * rows), np.float32)
    return {
        "transposed": memory[:, :rows].copy().T,
        "every second column": memory[:, ::2],
        "one column": np.broadcast_to(memory[:, :1], (rows, rows)),
    }


# Any: of every rank and element.
PROGRAMS: Mapping[str, Callable[[Any], Any]] = {
    "map": lambda xs: A.map(lambda x: x * 2 + 1, xs),
    "sums": lambda xs: A.fold(A.add, 0, xs),
    "sum of all": lambda xs: A.foldAll(A.add, 0, xs),
    "scan": lambda xs: A.scanl1(A.add, xs),
}


def minima(candidates: Sequence[Callable[[], object]], seconds: float) -> list[float]:
    """The least time of each, in seconds."""
    least = [float("inf")] * len(candidates)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number, candidate in enumerate(candidates):
            start = time.perf_counter()
            candidate()
            least[number] = min(least[number], time.perf_counter() - start)
    return least


def by_copy(function: Callable[..., object], array: HostArray) -> object:
    """What the function gives for the elements in rows."""
    return function(np.ascontiguousarray(array))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strides", description=__doc__)
    parser.add_argument("--elements", type=int, nargs="*", default=[1000, 100_000, 10_000_000])
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each row of the table")
    given = parser.parse_args()
    print(f"{'microseconds':32} {'adjacent':>10} {'as it lies':>10} {'by copy':>10}   as it lies / by copy")
    for count in given.elements:
        for lies, array in (vectors(count) | matrices(count)).items():
            for name, program in PROGRAMS.items():
                function = A.runN(program, threads=given.threads)
                adjacent = np.ascontiguousarray(array)
                expected = function(adjacent)
                for _ in range(2 + WARM // max(array.size, 1 << 14)):
                    np.testing.assert_array_equal(function(array), expected)
                candidates = (partial(function, adjacent), partial(function, array), partial(by_copy, function, array))
                least = [1e6 * each for each in minima(candidates, given.seconds)]
                numbers = " ".join(f"{each:10.1f}" for each in least)
                print(f"{array.size:9} {lies:>19} {name:>10} {numbers}   {least[1] / least[2]:.2f}", flush=True)


if __name__ == "__main__":
    main()
