"""The second half of a time step, where it looks at the nodes: volumes, strain rates, and gradients of the speed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A
from examples.lulesh.geometry import (
    Number,
    Triple,
    characteristic_length,
    cross,
    dot,
    minus,
    shape_derivatives,
    spans,
    times,
    volume,
)
from examples.lulesh.tables import Cell, packed, points

Change: TypeAlias = tuple[np.float64, np.float64, np.float64, np.float64, Triple, Triple]
"""Of an element: its relative volume and by how much that grew, its length, how fast it grows, and along xi, eta and zeta
how the speed changes and how long the element is."""

TINY = 1e-36
OPPOSITE = (6, 7, 4, 5)


def growth(cell: A.Exp[Cell], speed: A.Exp[Cell], dt: Number) -> Number:
    """How fast an element grows, per volume, in the middle of the time step."""
    v = points(speed)
    halfway = [minus(p, times(u, 0.5 * dt)) for p, u in zip(points(cell), v, strict=True)]
    derivatives, size = shape_derivatives(halfway)
    differences = [minus(v[corner], v[other]) for corner, other in enumerate(OPPOSITE)]
    rates = []
    for axis in range(3):
        parts = [d[axis] * u[axis] for d, u in zip(derivatives, differences, strict=True)]
        rates.append(1.0 / size * (parts[0] + parts[1] + parts[2] + parts[3]))
    return rates[0] + rates[1] + rates[2]


def gradients(cell: A.Exp[Cell], speed: A.Exp[Cell], size: Number) -> tuple[list[Number], list[Number]]:
    """How the speed changes along xi, eta and zeta, and how long the element is there."""
    axes, flows = spans(points(cell)), spans(points(speed))
    changes, lengths = [], []
    for k in range(3):
        across = cross(axes[(k + 1) % 3], axes[(k + 2) % 3])
        lengths.append(size / A.sqrt(dot(across, across) + TINY))
        changes.append(dot(times(across, 1.0 / (size + TINY)), flows[k]))
    return changes, lengths


def kinematics(cell: A.Exp[Cell], speed: A.Exp[Cell], initial: Number, before: Number, dt: Number) -> A.Exp[Change]:
    """All that is new about an element whose nodes have moved; `before` is its relative volume until now."""
    size = volume(points(cell))
    relative = size / initial
    changes, lengths = gradients(cell, speed, initial * relative)
    return A.lift(
        relative,
        relative - before,
        characteristic_length(points(cell), size),
        growth(cell, speed, dt),
        packed(changes),
        packed(lengths),
    )
