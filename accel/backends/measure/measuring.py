"""Programs whose nests run the way that was fastest: measured at the first call with arguments of a class of sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from accel.ast.tree.leaves import Leaf
from accel.backends.measure import timing
from accel.backends.measure.kept import keep, kept, key
from accel.backends.measure.size_class import size_class
from accel.backends.measure.timing import Timer, Times, Ways, beginning_with, ways_of
from accel.backends.protocol import Backend, Executable, HostArray
from accel.backends.residence import kept_results
from accel.ir.nodes import Nest, Program
from accel.schedule.templates.ways import ProgramSchedules
from accel.support.cache import Cache
from accel.support.dataclass import dataclass

GAIN = 0.05
"""The part of its time that another way than the model's must save: less is noise."""

_FOUND: Cache[bytes, tuple[tuple[float | None, ...], ...]] = Cache(1024)
"""What this process measured, or read from disk: for each nest with several ways, in order, the time of each."""

_Choice: TypeAlias = tuple[int, ...]


def forget() -> None:
    """Forget the measurements of this process; those on disk stay."""
    _FOUND.clear()


def fastest(seconds: Sequence[float | None]) -> int:
    """The number of the way to take; the first one's time is known."""
    first, *_ = seconds
    assert first is not None, "the model's way is always tried"
    least, best = min((each, number) for number, each in enumerate(seconds) if each is not None)
    return best if least < (1 - GAIN) * first else 0


@dataclass(frozen=True, slots=True)
class Measuring:
    """A program, and what chooses the ways of its nests: `timer` measures what is not known; None: `timing.times`."""

    backend: Backend
    program: Program
    schedules: ProgramSchedules
    timer: Timer | None = None

    @property
    def ways(self) -> Ways:
        """What there is to choose from."""
        return ways_of(self.backend, self.schedules)

    def times(self, arguments: Sequence[Leaf]) -> Times:
        """What each way takes: known, kept, or measured now. Raises what the program raises; then nothing is kept."""
        ways = self.ways
        if not ways:
            return {}
        at = key(self.backend, self.program, self.schedules, size_class(arguments))

        def find() -> tuple[tuple[float | None, ...], ...]:
            found = kept(at, ways)
            if found is None:
                found = (self.timer or timing.times)(self.backend, self.program, self.schedules, ways, arguments)
                keep(at, ways, found)
            return tuple([found[nest] for nest in ways])

        return dict(zip(ways, _FOUND.get(at, find), strict=True))

    def chosen(self, found: Times) -> ProgramSchedules:
        """The schedules, beginning with the fastest way of each nest."""
        return beginning_with(self.schedules, self.ways, choice(found))


def choice(found: Times) -> Mapping[Nest, int]:
    """The number of the fastest way of each nest."""
    return {nest: fastest(seconds) for nest, seconds in found.items()}


class Measured:
    """A compiled program that measures: see `accel.backends.protocol.Executable`."""

    def __init__(self, measuring: Measuring) -> None:
        self._measuring = measuring
        self._by_size: Cache[str, Executable] = Cache(64)
        self._by_choice: Cache[_Choice, Executable] = Cache(64)

    def __call__(self, arguments: Sequence[Leaf]) -> list[HostArray]:
        """Run; the first call with arguments of a class of sizes chooses first."""
        return self._for(arguments)(arguments)

    def kept(self, arguments: Sequence[Leaf]) -> list[Leaf]:
        """Run, and leave the results where they are: see `accel.backends.residence.Keeps`."""
        return kept_results(self._for(arguments), arguments)

    def _for(self, arguments: Sequence[Leaf]) -> Executable:
        return self._by_size.get(size_class(arguments), lambda: self._chosen(arguments))

    def _chosen(self, arguments: Sequence[Leaf]) -> Executable:
        measuring = self._measuring
        found = measuring.times(arguments)

        def compile() -> Executable:
            return measuring.backend.compile(measuring.program, measuring.chosen(found))

        return self._by_choice.get(tuple(choice(found).values()), compile)


def measured(backend: Backend, program: Program, schedules: ProgramSchedules) -> Executable:
    """The program, compiled now if there is nothing to choose."""
    measuring = Measuring(backend, program, schedules)
    return Measured(measuring) if measuring.ways else backend.compile(program, schedules)
