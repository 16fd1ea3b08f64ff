"""The ways to run each loop of a program, and what they take: with `rearrange="measure"`, which runs the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from accel.backends.choose import backend
from accel.backends.interpreter.backend import InterpreterBackend
from accel.backends.measure.measuring import Measuring, fastest
from accel.backends.protocol import HostArray
from accel.compile import Stages
from accel.explanation.facts.ways import WayReport
from accel.labelled.array import Label
from accel.schedule.templates.ways import ProgramSchedules
from accel.settings import Settings


@dataclass(frozen=True, slots=True)
class Chosen:
    """The schedules with which a program runs, and the alternatives of nests that have some, by their labels."""

    schedules: ProgramSchedules
    ways: Mapping[Label, tuple[WayReport, ...]] = field(default_factory=dict)


def chosen(staged: Stages, data: Sequence[HostArray] | None, settings: Settings) -> Chosen:
    """What the settings choose; measured with `data`, if there is any. Raises what the program raises then."""
    if settings.rearrange == "model":
        return Chosen(staged.schedules)
    target = backend(settings.backend, settings.threads)
    if isinstance(target, InterpreterBackend):
        return Chosen(staged.schedules)
    measuring = Measuring(target, staged.loops, staged.schedules)
    times = {} if data is None else measuring.times(data)
    reports = {}
    for nest, ways in measuring.ways.items():
        seconds = times.get(nest)
        first = 0 if seconds is None else fastest(seconds)
        reports[nest.label] = tuple([
            WayReport(way.schedules[0].template.value, None if seconds is None else seconds[k] * 1e3, k == first)
            for k, way in enumerate(ways)
        ])  # fmt: skip
    return Chosen(measuring.chosen(times), reports)
