"""How many passes there are, and how many bytes they move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TypeAlias

from accel.ilp.problem.cost import NOMINAL_EXTENT
from accel.ir.facts import Access
from accel.labelled.array import Array, Shape, SizeVariable

Sizes: TypeAlias = Mapping[SizeVariable, int]


def totals(counts: Iterator[Mapping[str, int]]) -> dict[str, int]:
    """The passes of several loops together."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def count(accesses: Sequence[Access]) -> dict[str, int]:
    """How many passes there are of every size."""
    return dict(Counter(access.size for access in accesses))


def bytes_of(access: Access, sizes: Sizes) -> int:
    """How many bytes a pass moves, with these extents; those that are not known yet count as in the cost models.

    A pass that visits an array by index, at more places than it has elements, moves the whole array.
    """
    return min(_bytes(access.array, shape, sizes) for shape in (access.extents, access.array.shape))


def _bytes(array: Array, shape: Shape, sizes: Sizes) -> int:
    """The bytes of so many elements of an array."""
    return array.element.bytes * prod(
        e.offset + (0 if e.variable is None else sizes.get(e.variable, NOMINAL_EXTENT)) for e in shape
    )
