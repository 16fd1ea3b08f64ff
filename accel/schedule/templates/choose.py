"""The schedules that are written for a nest: by the templates that suit it, the best first, and by rows, which suit every nest.

Which of them runs is found out at each launch, from extents and strides.
"""

from __future__ import annotations

from accel.ir import mentions
from accel.ir.nodes import Nest, Program
from accel.schedule.nodes import Kind, ProgramSchedules, Schedule
from accel.schedule.templates.blocks import blocks
from accel.schedule.templates.columns import columns
from accel.schedule.templates.derive import by_blocks, by_columns, by_short_rows, by_tiles
from accel.schedule.templates.rows import rows
from accel.schedule.templates.series import program_series, verify_series
from accel.schedule.templates.short_rows import short_rows
from accel.schedule.templates.tile import tile
from accel.schedule.verify import verify


def schedules(nest: Nest) -> tuple[Schedule, ...]:
    """Those of a nest; the last one is by rows. What can be tiled has no other."""
    last = rows(nest)
    if (in_tiles := tile(nest)) is not None:
        return by_tiles(nest, in_tiles), last
    found: list[Schedule] = []
    in_lanes = bool(last.pieces) and last.pieces[-1].kind is Kind.VECTOR
    if in_lanes and (blocked := blocks(nest)) is not None:
        found.append(by_blocks(nest, blocked))
    if (short := short_rows(nest)) is not None:
        found.append(by_short_rows(nest, short))
    if (in_columns := columns(nest)) is not None:
        found.append(by_columns(nest, in_columns))
    return *found, last


def program_schedules(program: Program) -> ProgramSchedules:
    """Those of all nests of a program, and its series."""
    every = dict.fromkeys(mentions.nests(program))
    return ProgramSchedules(tuple(s for nest in every for s in schedules(nest)), program_series(program))


def verify_schedules(made: ProgramSchedules) -> None:
    """Raises `AccelInternalError` unless all are well formed."""
    for schedule in made.nests:
        verify(schedule)
    for series in made.series:
        verify_series(series)
