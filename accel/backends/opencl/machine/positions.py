"""Positions: the numbers of work-items, of iterations, and of places in arrays, which kernels make themselves.

Kernels are written with one name for their type, `position_t`, and with `number_t` for that of a program's own int64. On CPUs
both are spelled `long`. On GPUs, which have instructions for 32 bits alone, one text gives two programs: in the narrow one
positions are of 32 bits, in the wide one of 64. What a program computes with int64 has 64 bits in both, and so have loops
whose length nobody knows. Which of the two a launch takes is decided here: in: what it counts, and a call's extents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TypeAlias

from accel.ast.tree.types import I32, I64, ScalarType
from accel.backends.opencl.machine.features import Features
from accel.ir import mentions
from accel.ir.nodes import Nest
from accel.labelled.array import Extent, SizeVariable

Product: TypeAlias = "tuple[Extent, ...]"

_CONSTANT = re.compile(r"\(position_t\)(\d+)L?")


def spelled(text: str, features: Features) -> str:
    """A text as it is handed to the device's compiler, but for `typedefs`."""
    if features.gpu:
        return text
    text = _CONSTANT.sub(r"\1L", text)
    return text.replace("(position_t)", "").replace("(number_t)", "").replace("position_t", "long")


def typedefs(features: Features, *, narrow: bool) -> list[str]:
    """What says how wide positions are: what stands before `spelled` texts."""
    if not features.gpu:
        return []
    return [f"typedef {'int' if narrow else 'long'} position_t;", "typedef long number_t;"]


def position_type(*, narrow: bool) -> ScalarType:
    """That of extents, as the host gives them to kernels."""
    return I32 if narrow else I64


def counted(nests: Iterable[Nest], axes: Iterable[Product]) -> frozenset[Product]:
    """Products of extents up to which kernels count: `axes`, elements of arrays, and every extent by itself. Of what nests make
    it is known how much there may be, not how much there is."""
    found = set(axes)
    for nest in nests:
        room = {output.array: tuple([e for each in output.capacity for e in each]) for output in nest.outputs}
        found.update(room.get(array, array.shape) for array in mentions.arrays(nest))
        found.update((extent,) for extent in mentions.extents(nest))
    return frozenset(found)


def is_narrow(
    products: Iterable[Product], others: Sequence[int], size: Callable[[SizeVariable], int], features: Features
) -> bool:
    """Whether positions of 32 bits serve in a launch. `others`: how many work-items it has, elements of its temporary buffers,
    and sizes that kernels are told."""
    limit = features.narrow_positions
    if limit is None or max(others, default=0) > limit:
        return False
    return all(elements(product, size) <= limit for product in products)


def elements(product: Product, size: Callable[[SizeVariable], int]) -> int:
    """The product of extents, with the sizes of a call."""
    return prod((e.offset if e.variable is None else size(e.variable) + e.offset) for e in product)
