"""All faults, by stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.mutation.fault import Fault
from tests.mutation.faults import (
    callers,
    clustering,
    execution,
    explanation,
    fused,
    gpu,
    halves,
    kernels,
    labelled,
    language,
    llvm,
    loops,
    measuring,
    opencl,
    ranges,
    rows,
    schedules,
    segments,
    shared,
    templates,
    threads,
    turns,
    windows,
)

STAGES: Mapping[str, tuple[Fault, ...]] = {
    "ast": language.FAULTS,
    "labelled": (*labelled.FAULTS, *ranges.FAULTS),
    "ilp": clustering.FAULTS,
    "fusedast": fused.FAULTS,
    "ir": loops.FAULTS,
    "schedule": schedules.FAULTS,
    "backends": (*shared.FAULTS, *measuring.FAULTS),
    "llvm": (
        *llvm.FAULTS,
        *kernels.FAULTS,
        *halves.FAULTS,
        *segments.FAULTS,
        *threads.FAULTS,
        *turns.FAULTS,
        *rows.FAULTS,
    ),
    "templates": (*templates.FAULTS, *windows.FAULTS),
    "opencl": (*opencl.FAULTS, *gpu.FAULTS),
    "execution": (*execution.FAULTS, *callers.FAULTS),
    "explanation": explanation.FAULTS,
}
"""Stages as in `CONTRIBUTING.md`; `backends` is what they share, `templates` those of schedules with
their code, `execution` settings, caches and errors, too."""


def chosen(words: list[str]) -> dict[str, tuple[Fault, ...]]:
    """The faults of the stages that are named, and those whose names contain another of the words; all if there are none."""
    parts = [word for word in words if word not in STAGES]
    return {
        stage: tuple(
            fault for fault in faults if not words or stage in words or any(part in fault.name for part in parts)
        )
        for stage, faults in STAGES.items()
    }


def listed(stages: Mapping[str, tuple[Fault, ...]]) -> Iterator[str]:
    """A line for each fault, then one for each stage: how many it has."""
    for stage, faults in stages.items():
        yield from (f"{stage:12} {fault.name:60} accel/{fault.file}" for fault in faults)
    yield f"\n{'stage':12} {'faults':>6}"
    for stage, faults in stages.items():
        if faults:
            yield f"{stage:12} {len(faults):6}"
