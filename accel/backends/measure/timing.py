"""What each way of each nest takes: the program is compiled once for each way, and run with the real arguments.

Bits are equal whichever way runs, and every run gives fresh results, so that running again changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from accel.backends.device import Device, Launcher, Slots
from accel.backends.protocol import Backend, HostArray
from accel.ir.nodes import Nest, Program
from accel.schedule.templates.ways import ProgramSchedules, Way
from accel.support.progress import progress

B = TypeVar("B")

SECONDS = 0.2
"""As long all ways of a program are run again and again."""

MOST = 5
"""How often each is run at most; each is run once, however long that takes."""

Ways: TypeAlias = Mapping[Nest, tuple[Way, ...]]
"""Of each nest that has several, those that there are to choose from, the one that the model takes first."""

Times: TypeAlias = Mapping[Nest, tuple[float, ...]]
"""The seconds that each of these ways takes."""

Timer: TypeAlias = Callable[[Backend, Program, ProgramSchedules, Ways, Sequence[HostArray]], Times]
"""What finds them out."""


def ways_of(backend: Backend, schedules: ProgramSchedules) -> Ways:
    """What there is to choose from on this backend."""
    found = {each.nest: backend.ways(each) for each in schedules.nests}
    return {nest: ways for nest, ways in found.items() if len(ways) > 1}


def beginning_with(schedules: ProgramSchedules, ways: Ways, first: Mapping[Nest, int]) -> ProgramSchedules:
    """The schedules of a program without the ways before number `first` of each nest."""
    return replace(
        schedules,
        nests=tuple([
            replace(each, ways=ways[each.nest][first[each.nest] :]) if first.get(each.nest) else each
            for each in schedules.nests
        ]),
    )  # fmt: skip


def times(
    backend: Backend, program: Program, schedules: ProgramSchedules, ways: Ways, arguments: Sequence[HostArray]
) -> Times:
    """What the ways take: the least of several runs, all launches of a run together. Raises what the program raises."""
    count = max(map(len, ways.values()))
    watches = [_Watch(ways) for _ in range(count)]
    with progress(f"measuring {len(ways)} loop{'s' * (len(ways) != 1)}"):
        runs = []
        for number, watch in enumerate(watches):
            first = {nest: min(number, len(some) - 1) for nest, some in ways.items()}
            runs.append(backend.compile(program, beginning_with(schedules, ways, first), watch))
        runs[0](arguments)  # memory is warm then
        begin = time.perf_counter()
        for turn in range(MOST):
            if turn and time.perf_counter() - begin > SECONDS:
                break
            for run, watch in zip(runs, watches, strict=True):
                watch.start()
                run(arguments)
                watch.stop()
    return {nest: tuple([watch.least[nest] for watch in watches[: len(some)]]) for nest, some in ways.items()}


class _Watch:
    """What is done around the launches of one variant of a program: see `accel.backends.device.Around`."""

    def __init__(self, ways: Ways) -> None:
        self.least: dict[Nest, float] = dict.fromkeys(ways, float("inf"))
        self._run: dict[Nest, float] = {}
        self.start()

    def start(self) -> None:
        """Begin with a run."""
        self._run = dict.fromkeys(self.least, 0.0)

    def stop(self) -> None:
        """The run is done."""
        self.least = {nest: min(seconds, self._run[nest]) for nest, seconds in self.least.items()}

    def __call__(self, device: Device[B], nest: Nest, slots: Slots, launch: Launcher[B]) -> Launcher[B]:
        """The launch between two looks at the clock, where that is of interest."""
        if nest not in self.least:
            return launch

        def timed(buffers: list[B | None], sizes: list[int]) -> None:
            device.finish()
            begin = time.perf_counter()
            launch(buffers, sizes)
            device.finish()
            self._run[nest] += time.perf_counter() - begin

        return timed
