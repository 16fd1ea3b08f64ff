"""Random schedules: rules that are drawn, of which those are kept that are allowed."""

from __future__ import annotations

import random

from accel.ir import mentions
from accel.ir.flow import made
from accel.ir.nodes import Nest
from accel.schedule import rules
from accel.schedule.nodes import (
    AccelScheduleError,
    Accumulation,
    Carry,
    Flatten,
    Flip,
    Keep,
    Kind,
    Margin,
    Packed,
    Parameter,
    Reverse,
    Rule,
    Run,
    Schedule,
    Share,
    Split,
    Subdivide,
)

PARAMETERS = {
    "few": 4,
    "many": 12,
    "chunk": 8192,
    "rows": 2,
    "columns": 3,
    "depth": 16,
    "strip": 3,
    "edge": 4,
    "group": 2,
    "turns": 5,
    "segments": 4,
}
"""Sizes at launch."""

_SIZES = (1, 2, 3, 5, 8, 16, 32, 64, Parameter("few", 2), Parameter("many", 6))

_MARGINS = (0, 0, 1, 2, 5)


def drawn(draw: random.Random, nest: Nest, attempts: int) -> Schedule:
    """The nest's own order, and what `attempts` random rules make of it; then perhaps packs."""
    schedule = rules.original(nest)
    for _ in range(attempts):
        schedule = _tried(schedule, _rule(draw, schedule))
    streams = [stream.name for statement in mentions.statements(nest) for stream in made(statement)]
    for _ in range(draw.randrange(3) if streams and schedule.pieces else 0):
        schedule = _tried(schedule, Packed((draw.choice(streams),), draw.randrange(len(schedule.pieces))))
    return schedule


def _tried(schedule: Schedule, rule: Rule) -> Schedule:
    try:
        return rules.apply(schedule, rule)
    except AccelScheduleError:
        return schedule


def _rule(draw: random.Random, schedule: Schedule) -> Rule:
    at = draw.randrange(max(1, len(schedule.pieces)))
    states = [name for name, _ in schedule.accumulations]
    every: list[Rule] = [
        Subdivide(at, draw.choice(_SIZES)),
        Subdivide(at, draw.choice(_SIZES)),
        Carry(at, draw.choice((*_SIZES, 4096, Parameter("chunk", 4096)))),
        Flip(at),
        Flip(at),
        Flip(at),
        Flatten(at),
        Reverse(at),
        Run(at, draw.choice(list(Kind))),
        Share(),
        Split(
            tuple(
                Margin(depth, draw.choice(_MARGINS), draw.choice(_MARGINS))
                for depth in sorted(draw.sample(range(5), 2))
            )
        ),
    ]
    if states:
        every.append(Keep(draw.choice(states), draw.choice(list(Accumulation))))
    return draw.choice(every)
