"""What an element with eight corners is: scalar code over points, which are three numbers each.

Corners are numbered as LULESH does: 0, 1, 2, 3 around the lower face and 4, 5, 6, 7 above them. The formulas are those of
*Hydrodynamics Challenge Problem*, LLNL-TR-490254, in the order of operations of LULESH 2.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TypeAlias

import numpy as np

import accel as A

Number: TypeAlias = A.Exp[np.float64]
Point: TypeAlias = tuple[Number, Number, Number]
Corners: TypeAlias = Sequence[Point]
Triple: TypeAlias = tuple[np.float64, np.float64, np.float64]

SIDES = ((0, 1, 2, 3), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0), (4, 7, 6, 5))
"""The corners of each face, such that its normal points outwards."""

AREAS = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
"""The corners of each face, in the order in which their areas are taken."""

AROUND = (
    (1, 2, 3, 4, 5, 7),
    (2, 3, 0, 5, 6, 4),
    (3, 0, 1, 6, 7, 5),
    (0, 1, 2, 7, 4, 6),
    (7, 6, 5, 0, 3, 1),
    (4, 7, 6, 1, 0, 2),
    (5, 4, 7, 2, 1, 3),
    (6, 5, 4, 3, 2, 0),
)
"""For each corner the six others on which the derivative of the volume there depends."""

DIRECTIONS = (((1, 2, 6, 5), (0, 3, 7, 4)), ((3, 2, 6, 7), (0, 1, 5, 4)), ((4, 5, 6, 7), (0, 1, 2, 3)))
"""The corners at the end and at the beginning of each of the element's own axes xi, eta and zeta."""


def plus(a: Point, b: Point) -> Point:
    """The sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def minus(a: Point, b: Point) -> Point:
    """Their difference."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def times(a: Point, factor: Number | float) -> Point:
    """A vector, as many times as long."""
    return a[0] * factor, a[1] * factor, a[2] * factor


def total(points: Sequence[Point]) -> Point:
    """The sum of vectors, from the first on."""
    return reduce(plus, points)


def dot(a: Point, b: Point) -> Number:
    """The inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Point, b: Point) -> Point:
    """The outer product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def volume(p: Corners) -> Number:
    """The volume of an element whose faces are ruled surfaces."""

    def edge(a: int, b: int) -> Point:
        return minus(p[a], p[b])

    parts = (
        dot(plus(edge(3, 1), edge(7, 2)), cross(edge(6, 3), edge(2, 0))),
        dot(plus(edge(4, 3), edge(5, 7)), cross(edge(6, 4), edge(7, 0))),
        dot(plus(edge(1, 4), edge(2, 5)), cross(edge(6, 1), edge(5, 0))),
    )
    return (parts[0] + parts[1] + parts[2]) * (1 / 12)


def volume_derivatives(p: Corners) -> list[Point]:
    """For each corner the change of the volume with the place of that corner."""

    def at(corner: int) -> Point:
        a, b, c, d, e, f = (p[other] for other in AROUND[corner])
        first = plus(cross(plus(b, c), plus(a, b)), cross(plus(a, e), plus(d, e)))
        return times(minus(first, cross(plus(c, f), plus(d, f))), 1 / 12)

    return [at(corner) for corner in range(8)]


def shape_derivatives(p: Corners) -> tuple[list[Point], Number]:
    """The derivatives of the first four corners' shape functions in the middle, times the volume there, and that volume.

    Those of corners 6, 7, 4 and 5 are the same with the other sign.
    """
    a, b, c, d = minus(p[6], p[0]), minus(p[5], p[3]), minus(p[7], p[1]), minus(p[4], p[2])
    xi = times(minus(minus(plus(a, b), c), d), 0.125)
    eta = times(minus(plus(minus(a, b), c), d), 0.125)
    zeta = times(plus(plus(plus(a, b), c), d), 0.125)
    along_xi, along_eta, along_zeta = cross(eta, zeta), cross(zeta, xi), cross(xi, eta)
    up, down = plus(along_xi, along_eta), minus(along_xi, along_eta)
    derivatives = [
        minus(times(up, -1.0), along_zeta),
        minus(down, along_zeta),
        minus(up, along_zeta),
        minus(times(down, -1.0), along_zeta),
    ]
    return derivatives, dot(eta, along_eta) * 8.0


def normals(p: Corners) -> list[Point]:
    """For each corner a quarter of the normals of the three faces that meet there; normals are as long as faces are large."""
    sums: list[list[Point]] = [[] for _ in range(8)]
    for side in SIDES:
        a, b, c, d = (p[corner] for corner in side)
        first = times(minus(minus(plus(d, c), b), a), 0.5)
        second = times(minus(minus(plus(c, b), d), a), 0.5)
        area = times(cross(first, second), 0.25)
        for corner in side:
            sums[corner].append(area)
    return [total(areas) for areas in sums]


def characteristic_length(p: Corners, size: Number) -> Number:
    """The volume over the largest face."""
    largest = None
    for a, b, c, d in AREAS:
        one, other = minus(p[c], p[a]), minus(p[d], p[b])
        f, g = minus(one, other), plus(one, other)
        area = dot(f, f) * dot(g, g) - dot(f, g) * dot(f, g)
        largest = area if largest is None else A.max(largest, area)
    assert largest is not None
    return size * 4.0 / A.sqrt(largest)


def spans(p: Corners) -> list[Point]:
    """From the middle of a face to the middle of the face opposite, along xi, eta and zeta."""
    return [times(minus(total([p[i] for i in end]), total([p[i] for i in start])), 0.25) for end, start in DIRECTIONS]
