"""Indices that are always in bounds: those of reverse, transpose, replicate, clamped neighbours need no check."""

from __future__ import annotations

from accel.labelled.nodes import Shape
from accel.labelled.ranges import Ranges
from accel.labelled.scalar import Compute, Function


def always_inside(function: Function, shape: Shape, bounds: Shape) -> bool:
    """Whether an index function, run for every index of `shape`, gives indices into `bounds` only."""
    ranges = Ranges(function.parameters, shape)
    for statement in function.body.statements:
        if isinstance(statement, Compute):
            ranges.learn(statement.out, statement.operator, statement.arguments)
    return ranges.inside(function.body.results, bounds)
