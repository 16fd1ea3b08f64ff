"""The first half of a time step: forces of elements on their corners, and how nodes move under them.

A force is the stress on the faces that meet in a corner, and what resists the twelve hourglass modes, by which an
element deforms without a change of its volume (Flanagan and Belytschko 1981).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A
from examples.lulesh.geometry import (
    Corners,
    Number,
    Point,
    Triple,
    dot,
    minus,
    normals,
    plus,
    shape_derivatives,
    times,
    total,
    volume,
    volume_derivatives,
)
from examples.lulesh.mesh import SUMMED
from examples.lulesh.tables import (
    Cell,
    Cells,
    Eight,
    Node,
    Numbers,
    Points,
    at_corners,
    column,
    gathered,
    gathered_points,
    packed,
    point,
    points,
)

Matter: TypeAlias = tuple[np.float64, np.float64, np.float64, np.float64, np.float64]
Elements: TypeAlias = A.Acc[A.Vector[Matter]]
"""Energy, pressure, viscosity, relative volume and speed of sound."""

HOURGLASS = 3.0
LEAST_SPEED = 1e-7

MODES = (
    (1, 1, -1, -1, -1, -1, 1, 1),
    (1, -1, -1, 1, -1, 1, 1, -1),
    (1, -1, 1, -1, 1, -1, 1, -1),
    (-1, 1, -1, 1, 1, -1, 1, -1),
)
"""The hourglass modes of one coordinate: how the corners move."""


def signed(p: Corners, signs: tuple[int, ...]) -> Point:
    """The sum of vectors with signs."""
    result = times(p[0], float(signs[0]))
    for one, sign in zip(p[1:], signs[1:], strict=True):
        result = plus(result, one) if sign > 0 else minus(result, one)
    return result


def resistance(p: Corners, speeds: Corners, size: Number, strength: Number) -> list[Point]:
    """For each corner the force against hourglass modes, in an element of that volume."""
    derivatives = volume_derivatives(p)
    inverse = 1.0 / size
    shares: list[list[Number]] = []
    for signs in MODES:
        mode = signed(p, signs)
        shares.append([float(sign) - inverse * dot(d, mode) for sign, d in zip(signs, derivatives, strict=True)])
    motions = [total([times(v, s) for v, s in zip(speeds, share, strict=True)]) for share in shares]
    return [
        times(total([times(m, share[corner]) for m, share in zip(motions, shares, strict=True)]), strength)
        for corner in range(8)
    ]


def corner_forces(
    cell: A.Exp[Cell], speed: A.Exp[Cell], matter: A.Exp[Matter], initial: Number
) -> A.Exp[tuple[Cell, np.bool_]]:
    """An element's forces on its corners, and whether its volume is positive."""
    _, pressure, viscosity, relative, sound = A.unlift(matter)
    p = points(cell)
    stress = -pressure - viscosity
    size = initial * relative
    strength = -HOURGLASS * 0.01 * sound * initial / A.cbrt(size)
    against = resistance(p, points(speed), size, strength)
    forces = [packed(plus(times(n, -stress), h)) for n, h in zip(normals(p), against, strict=True)]
    a, b, c, d, e, f, g, h = forces
    return A.lift(A.lift(a, b, c, d, e, f, g, h), shape_derivatives(p)[1] > 0)


def moved(
    place: A.Exp[tuple[Triple, Triple]], node: A.Exp[Node], forces: A.Exp[Cell], dt: Number
) -> A.Exp[tuple[Triple, Triple]]:
    """A node's place and speed after a time step under the forces of the elements around it."""
    position, speed = A.unlift(place)
    mass, moves = A.unlift(node)
    force = total(points(forces))
    new = []
    for f, v, free in zip(force, point(speed), A.unlift(moves), strict=True):
        after = v + A.select(free, f / mass, 0.0) * dt
        new.append(A.select(A.abs(after) < LEAST_SPEED, 0.0, after))
    return A.lift(packed([x + v * dt for x, v in zip(point(position), new, strict=True)]), packed(new))


def volumes(corners: A.Acc[A.Vector[Eight]], positions: Points) -> Numbers:
    """The volume of every element."""
    return A.map(lambda cell: volume(points(cell)), at_corners(corners, positions))


def masses(around: A.Acc[A.Vector[Eight]], initial: Numbers) -> Numbers:
    """The mass of every node: an eighth of each element around it, of density 1."""
    parts = [gathered(column(around, k), initial) for k in range(8)]
    return A.map(lambda found: sum(A.unlift(found)[1:], A.unlift(found)[0]) / 8.0, A.zip8(*parts))


def summed(around: A.Acc[A.Vector[Eight]], forces: Cells) -> Cells:
    """For every node the forces on it, of the elements around it in the order of their numbers."""

    def at(corner: int) -> Points:
        return A.map(lambda cell: A.unlift(cell)[corner], forces)

    return A.zip8(*[gathered_points(column(around, k), at(corner)) for k, corner in enumerate(SUMMED)])
