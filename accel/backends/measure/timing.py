"""What each way of each nest takes: the program is compiled once for each way, and run with the real arguments.

Bits are equal whichever way runs, and every run gives fresh results, so that running again changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from accel.ast.tree.leaves import Leaf
from accel.backends.device import Device, Launcher, Slots
from accel.backends.protocol import Backend, Executable
from accel.ir.nodes import Nest, Program
from accel.labelled.array import SizeVariable
from accel.labelled.meaning import bind
from accel.schedule.prediction.predict import predicted
from accel.schedule.templates.ways import ProgramSchedules, Way
from accel.support.progress import progress

B = TypeVar("B")

SECONDS = 0.2
"""As long all ways of a program are run again and again."""

HOPELESS, LONG = 16.0, 0.5
"""A way is not tried for which so many times the least is predicted, if that is longer than so many seconds."""

MOST = 5
"""How often each is run at most; each is run once, however long that takes."""

Ways: TypeAlias = Mapping[Nest, tuple[Way, ...]]
"""Of each nest that has several, those that there are to choose from, the one that the model takes first."""

Times: TypeAlias = Mapping[Nest, tuple[float | None, ...]]
"""The seconds that each of these ways takes; None for one that was not tried, never the first."""

Timer: TypeAlias = Callable[[Backend, Program, ProgramSchedules, Ways, Sequence[Leaf]], Times]
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
    backend: Backend, program: Program, schedules: ProgramSchedules, ways: Ways, arguments: Sequence[Leaf]
) -> Times:
    """What the ways take: the least of several runs, all launches of a run together. Raises what the program raises."""
    watches: list[_Watch] = []
    runs: list[Executable] = []

    def add(first: Mapping[Nest, int]) -> None:
        watches.append(_Watch(ways))
        runs.append(backend.compile(program, beginning_with(schedules, ways, first), watches[-1]))

    with progress(f"measuring {len(ways)} loop{'s' * (len(ways) != 1)}"):
        add({})
        runs[0](arguments)  # memory is warm then, and the arguments fit
        sizes = bind.sizes(program.parameters, program.own_shapes, program.equalities, arguments)
        tried = {nest: worth_trying(some, sizes) for nest, some in ways.items()}
        for number in range(1, max(map(len, tried.values()))):
            add({nest: some[min(number, len(some) - 1)] for nest, some in tried.items()})
        begin = time.perf_counter()
        for turn in range(MOST):
            if turn and time.perf_counter() - begin > SECONDS:
                break
            for run, watch in zip(runs, watches, strict=True):
                watch.start()
                run(arguments)
                watch.stop()
    least = {nest: {way: watches[k].least[nest] for k, way in enumerate(some)} for nest, some in tried.items()}
    return {nest: tuple([least[nest].get(way) for way in range(len(some))]) for nest, some in ways.items()}


def worth_trying(ways: Sequence[Way], sizes: Mapping[SizeVariable, int]) -> list[int]:
    """The numbers of the ways that may be fastest; the first is one of them."""
    guesses = [predicted(way.schedules, sizes) for way in ways]
    least = min((guess for guess in guesses if guess is not None), default=0.0)
    return [
        number
        for number, guess in enumerate(guesses)
        if not number or guess is None or guess < LONG or guess < HOPELESS * least
    ]


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
