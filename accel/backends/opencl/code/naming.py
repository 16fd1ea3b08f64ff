"""What a nest's kernels are given, and how everything is called in them.

All kernels of a nest have the same parameters: its arrays, the size variables that it mentions, its temporary buffers and,
where something is checked, the error record. Names are made of labels and numbers, never of anything that the user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from accel.ast.tree.types import I64
from accel.backends.opencl.code.spelling import c_type, constant
from accel.ir import mentions
from accel.ir.nodes import Nest, Operand, Stream
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.scalar import Constant

ERROR = "error"
"""The error record: 0 or 1 + the site that failed, then the offending index."""


def array_name(array: Array) -> str:
    """The parameter that points to the array."""
    return f"array{array.label}_{array.leaf}"


def size_name(variable: SizeVariable) -> str:
    """The parameter that holds the size variable."""
    return f"n{variable.number}"


def extent_text(extent: Extent) -> str:
    """The extent as an atom of type `long`."""
    if extent.variable is None:
        return f"{extent.offset}L" if extent.offset >= 0 else f"({extent.offset}L)"
    name = size_name(extent.variable)
    return f"({name} + {extent.offset}L)" if extent.offset else name


def stream_name(stream: Stream) -> str:
    """The variable that holds the stream."""
    return "v_" + re.sub(r"\W", "_", stream.name, flags=re.ASCII)


def operand_text(operand: Operand) -> str:
    """The operand as an atom."""
    match operand:
        case Stream():
            return stream_name(operand)
        case Constant():
            return constant(operand)
        case Extent():
            return extent_text(operand)
        case _:
            assert_never(operand)


def linear_index(array: Array, index: Sequence[str]) -> str:
    """The row-major position of an index, given as atoms."""
    if not index:
        return "0"
    position = index[0]
    for extent, text in zip(array.shape[1:], index[1:], strict=True):
        position = f"({position}) * {extent_text(extent)} + {text}"
    return position


def element(array: Array, index: Sequence[str]) -> str:
    """The element in memory."""
    return f"{array_name(array)}[{linear_index(array, index)}]"


@dataclass(frozen=True, slots=True)
class Parameters:
    """What every kernel of one nest takes, in this order; temporaries and the error record, if any, follow."""

    arrays: tuple[Array, ...]
    aliased: frozenset[Array]
    sizes: tuple[SizeVariable, ...]

    @property
    def declarations(self) -> list[str]:
        """The parameters' declarations."""
        return [
            *(self._pointer(array) for array in self.arrays),
            *(f"const {c_type(I64)} {size_name(variable)}" for variable in self.sizes),
        ]

    def _pointer(self, array: Array) -> str:
        restrict = "" if array in self.aliased else "restrict "
        return f"__global {c_type(array.element)}* {restrict}{array_name(array)}"


def parameters(nest: Nest) -> Parameters:
    """What the nest mentions, in a stable order."""
    arrays = sorted(mentions.arrays(nest), key=lambda array: (array.label, array.leaf))
    aliased = frozenset(array for pair in nest.in_place for array in pair)
    capacities = (extent for output in nest.outputs for product in output.capacity for extent in product)
    return Parameters(tuple(arrays), aliased, variables([*mentions.extents(nest), *capacities]))


def variables(extents: Iterable[Extent]) -> tuple[SizeVariable, ...]:
    """The size variables of some extents, in a stable order."""
    return tuple(sorted({extent.variable for extent in extents if extent.variable is not None}))
