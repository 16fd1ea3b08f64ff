"""Sedov's problem: an eighth of a cube with an explosion in its corner, cut into elements with eight corners each.

All that the program knows of how elements lie are tables of numbers: it would run on other meshes as well, as long as no node
is the same corner of two elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Ints: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
Bools: TypeAlias = np.ndarray[tuple[int], np.dtype[np.bool_]]

EDGE = 1.125
"""The length of the cube."""

ENERGY = 3.948746e7
"""What is released in the corner of a cube of 45 elements to a side."""

NOBODY = -1
"""In tables: there is no such element."""

SUMMED = (6, 7, 5, 4, 2, 3, 1, 0)
"""The corners of the elements around a node, so that the elements come in the order of their numbers."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """What does not change: `size` elements to a side.

    `corners`: the node at each of the eight corners of an element. `around`: for each corner in the order of `SUMMED`
    the element that has the node there, or `NOBODY`. `neighbours`: the element before and behind, along xi, eta and zeta;
    on a plane of symmetry that is the element itself, on a free surface `NOBODY`. `moves`: whether a node moves
    along x, y and z, as it does not across a plane of symmetry. `nodes`: x, y and z of each node at the beginning.
    `energy`: what is released in element 0.
    """

    size: int
    corners: tuple[Ints, ...]
    around: tuple[Ints, ...]
    neighbours: tuple[Ints, ...]
    moves: tuple[Bools, ...]
    nodes: tuple[Floats, ...]
    energy: float


def sedov(size: int) -> Mesh:
    """The mesh of a cube with `size` elements to a side, which is at least 1."""
    if size < 1:
        raise ValueError(f"a cube of {size} elements to a side has no elements")
    edge = size + 1
    z, y, x = np.meshgrid(*[np.arange(edge, dtype=np.int64)] * 3, indexing="ij")
    node = (z * edge + y) * edge + x
    lower = [node[:-1, :-1, :-1], node[:-1, :-1, 1:], node[:-1, 1:, 1:], node[:-1, 1:, :-1]]
    corners = tuple(np.ravel(part) for part in lower) + tuple(np.ravel(part) + edge * edge for part in lower)
    around = []
    for corner in SUMMED:
        table = np.full(edge**3, NOBODY, dtype=np.int64)
        table[corners[corner]] = np.arange(size**3)
        around.append(table)
    return Mesh(
        size=size,
        corners=corners,
        around=tuple(around),
        neighbours=_neighbours(size),
        moves=tuple(np.ravel(axis > 0) for axis in (x, y, z)),
        nodes=tuple(EDGE * np.ravel(axis).astype(np.float64) / size for axis in (x, y, z)),
        energy=ENERGY * (size / 45) ** 3,
    )


def _neighbours(size: int) -> tuple[Ints, ...]:
    """The tables of neighbours: planes of symmetry at the beginning of each axis, free surfaces at its end."""
    number = np.arange(size**3, dtype=np.int64)
    tables = []
    for stride in (1, size, size * size):
        place = number // stride % size
        tables.append(np.where(place == 0, number, number - stride))
        tables.append(np.where(place == size - 1, NOBODY, number + stride))
    return tuple(tables)
