"""Runs of a program under a clock, and the bandwidth of the machine: that of a program which does little else than move."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from accel.ast.combinators.overloads import use
from accel.ast.combinators.zips.functions import zipWith
from accel.ast.tree.leaves import Leaf
from accel.backends.protocol import Backend
from accel.explanation.explain import subject
from accel.ir.nodes import Program
from accel.profiling.clock import Clock, Tally
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.ways import ProgramSchedules
from accel.settings import Settings
from accel.support.cache import Cache
from accel.support.dataclass import dataclass

SECONDS = 0.5
"""As long a program runs again and again, after it ran once to warm up."""

FEWEST, MOST = 2, 100
"""How often it does so at least and at most, however long that takes."""

ELEMENTS = 1 << 25
"""Of each array of the program that the bandwidth is measured with: 128 MiB of float32, beyond most caches."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The least of several runs. seconds: of a whole run. loops: by the labels of the nests, each with its own least time."""

    runs: int
    seconds: float
    loops: Mapping[int, Tally]


def timed(loops: Program, data: Sequence[Leaf], target: Backend, schedules: ProgramSchedules) -> Timing:
    """Run the program several times. Raises what it raises."""
    clock = Clock(loops)
    executable = target.compile(loops, schedules, clock)
    clock.start()
    executable(data)  # memory is warm then, and kernels are built
    found: list[tuple[float, Mapping[int, Tally]]] = []
    begin = time.perf_counter()
    while len(found) < FEWEST or (len(found) < MOST and time.perf_counter() - begin < SECONDS):
        clock.start()
        start = time.perf_counter()
        executable(data)
        found.append((time.perf_counter() - start, clock.read()))
    _, last = found[-1]
    least = {
        label: replace(tally, seconds=min(loops[label].seconds for _, loops in found)) for label, tally in last.items()
    }
    return Timing(len(found), min(seconds for seconds, _ in found), least)


_BANDWIDTHS: Cache[tuple[str, int], float] = Cache(16)
"""Of each backend with each number of threads, measured once per process."""


def bandwidth(target: Backend, threads: int) -> float:
    """What this machine moves, in GB/s, when it adds a multiple of an array to another with these threads."""
    return _BANDWIDTHS.get((target.name, threads), lambda: _triad(target))


def _triad(target: Backend) -> float:
    xs, ys = np.ones(ELEMENTS, np.float32), np.ones(ELEMENTS, np.float32)
    found = subject(zipWith(lambda x, y: x + y * 3.0, use(xs), use(ys)), (), Settings())
    assert found.data is not None, "the program holds its arrays"
    loops = found.staged.loops
    (tally,) = timed(loops, found.data, target, program_schedules(loops, target.machine)).loops.values()
    return (tally.bytes_read + tally.bytes_written) / tally.seconds / 1e9
