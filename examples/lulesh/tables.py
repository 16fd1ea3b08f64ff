"""How elements and nodes find each other: by gathers along the mesh's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

import accel as A
from examples.lulesh.geometry import Number, Point, Triple
from examples.lulesh.mesh import NOBODY

Eight: TypeAlias = tuple[np.int64, np.int64, np.int64, np.int64, np.int64, np.int64, np.int64, np.int64]
Six: TypeAlias = tuple[np.int64, np.int64, np.int64, np.int64, np.int64, np.int64]
Flags: TypeAlias = tuple[np.bool_, np.bool_, np.bool_]
Node: TypeAlias = tuple[np.float64, Flags]
"""Of a node: its mass, and whether it moves along x, y and z."""
Cell: TypeAlias = tuple[Triple, Triple, Triple, Triple, Triple, Triple, Triple, Triple]
Whole: TypeAlias = A.Acc[A.Vector[np.int64]]
Numbers: TypeAlias = A.Acc[A.Vector[np.float64]]
Points: TypeAlias = A.Acc[A.Vector[Triple]]
Cells: TypeAlias = A.Acc[A.Vector[Cell]]


def column(table: A.Acc[A.Vector[Eight]], k: int) -> Whole:
    """One of a table's eight columns."""
    return A.map(lambda row: A.unlift(row)[k], table)


def at_corners(corners: A.Acc[A.Vector[Eight]], xs: Points) -> Cells:
    """For every element what its eight nodes have."""
    return A.zip8(*[A.gather(column(corners, k), xs) for k in range(8)])


def gathered(places: Whole, xs: Numbers) -> Numbers:
    """`xs` at those places; zero where there is nobody."""
    nothing = A.map(lambda _: A.constant(0, np.float64), places)
    return A.gatherIf(places, places, lambda place: place != NOBODY, nothing, xs)


def gathered_points(places: Whole, xs: Points) -> Points:
    """The same of vectors."""
    nothing = A.map(lambda _: A.lift(*[A.constant(0, np.float64)] * 3), places)
    return A.gatherIf(places, places, lambda place: place != NOBODY, nothing, xs)


def point(p: A.Exp[Triple]) -> Point:
    """The items of a vector."""
    x, y, z = A.unlift(p)
    return x, y, z


def points(cell: A.Exp[Cell]) -> list[Point]:
    """The vectors at an element's corners."""
    return [point(p) for p in A.unlift(cell)]


def packed(p: Sequence[Number]) -> A.Exp[Triple]:
    """A vector as an element of an array."""
    x, y, z = p
    return A.lift(x, y, z)
