"""Plain passes over as many bytes as a workload must move, by NumPy: a copy into a reused output, or a sum.

What fits into cache is passed over by one thread, what does not by one for each core.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.peers.workloads import Array, Cell

CACHED = 4 << 20
"""Bytes that fit into cache."""


def copy(source: Array, target: Array) -> None:
    """One thread's part of a copy."""
    np.copyto(target, source)


def total(source: Array, target: Array) -> None:
    """One thread's part of a sum over twice as much."""
    source.sum()
    target.sum()


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass over all of two arrays, by parts."""

    part: Callable[[Array, Array], None]

    def prepared(self, cell: Cell, inputs: tuple[Array, ...]) -> Callable[[], object]:
        """A pass over the bytes of a cell."""
        count = max(cell.bytes // 8, 1)
        source, target = np.ones(count, np.float32), np.ones(count, np.float32)
        cores = len(os.sched_getaffinity(0)) if cell.bytes > CACHED else 1
        if cores == 1:
            return partial(self.part, source, target)
        sources, targets = np.array_split(source, cores), np.array_split(target, cores)
        pool = ThreadPoolExecutor(cores)
        return lambda: list(pool.map(self.part, sources, targets))

    def arrays(self, result: object) -> tuple[Array, ...]:
        """Nothing is computed."""
        return ()


def tool(variant: str) -> Pass:
    """The pass that the variant names."""
    return Pass({"copy": copy, "sum": total}[variant])
