"""The ways to run each loop of a program, and what they take: with `rearrange="measure"`, which runs the program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from accel.ast.tree.leaves import Leaf
from accel.backends.choose import backend
from accel.backends.interpreter.backend import InterpreterBackend
from accel.backends.measure.measuring import Measuring, fastest
from accel.compile import Stages
from accel.explanation.facts.ways import WayReport
from accel.labelled.array import Label, SizeVariable
from accel.schedule.prediction.predict import predicted
from accel.schedule.templates.ways import ProgramSchedules, Way
from accel.settings import Settings
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Chosen:
    """The schedules with which a program runs, and the alternatives of nests that have some, by their labels."""

    schedules: ProgramSchedules
    ways: Mapping[Label, tuple[WayReport, ...]] = field(default_factory=dict)


def chosen(
    staged: Stages, data: Sequence[Leaf] | None, sizes: Mapping[SizeVariable, int], settings: Settings
) -> Chosen:
    """What the settings choose; measured with `data`, if there is any. Raises what the program raises then."""
    if settings.rearrange == "model":
        return Chosen(staged.schedules)
    target = backend(settings.backend, settings.threads)
    if isinstance(target, InterpreterBackend):
        return Chosen(staged.schedules)
    measuring = Measuring(target, staged.loops, staged.schedules)
    times = {} if data is None else measuring.times(data)
    reports = {nest.label: tuple(_reports(ways, times.get(nest), sizes)) for nest, ways in measuring.ways.items()}
    return Chosen(measuring.chosen(times), reports)


def _reports(
    ways: Sequence[Way], times: Sequence[float | None] | None, sizes: Mapping[SizeVariable, int]
) -> Iterator[WayReport]:
    first = 0 if times is None else fastest(times)
    for number, (way, seconds) in enumerate(zip(ways, times or [None] * len(ways), strict=True)):
        guess = predicted(way.schedules, sizes)
        template = way.schedules[0].template.value
        yield WayReport(template, _milliseconds(guess), _milliseconds(seconds), number == first)


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
