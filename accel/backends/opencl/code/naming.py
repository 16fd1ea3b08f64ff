"""What a nest's kernels are given, and how everything is called in them.

All kernels of a nest have the same parameters: its arrays, the size variables that it mentions, its temporary buffers and,
where something is checked, the error record. Names are made of labels and numbers, never of anything that the user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import assert_never

from accel.ast.tree.types import I64
from accel.backends.opencl.code.spelling import c_type, constant
from accel.ir import mentions
from accel.ir.nodes import Nest, Operand, Stream
from accel.labelled.array import Array, Extent, Shape, SizeVariable
from accel.labelled.scalar import Constant
from accel.support.dataclass import dataclass

ERROR = "error"
"""The error record: 0 or 1 + the site that failed, then the offending index."""


def array_name(array: Array) -> str:
    """The parameter that points to the array."""
    return f"array{array.label}_{array.leaf}"


def size_name(variable: SizeVariable) -> str:
    """The parameter that holds the size variable."""
    return f"n{variable.number}"


def extent_text(extent: Extent) -> str:
    """The extent as an atom of the type of positions."""
    offset = f"(position_t){extent.offset}" if extent.offset >= 0 else f"-(position_t){-extent.offset}"
    if extent.variable is None:
        return offset if extent.offset >= 0 else f"({offset})"
    name = size_name(extent.variable)
    return f"({name} + {offset})" if extent.offset else name


def extent_number(extent: Extent) -> str:
    """The extent as a number that the program computes with: an atom of type `long`."""
    if extent.variable is None:
        return f"{extent.offset}L" if extent.offset >= 0 else f"({extent.offset}L)"
    name = f"(number_t){size_name(extent.variable)}"
    return f"({name} + {extent.offset}L)" if extent.offset else name


def stream_name(stream: Stream) -> str:
    """The variable that holds the stream."""
    return "v_" + re.sub(r"\W", "_", stream.name, flags=re.ASCII)


def operand_text(operand: Operand) -> str:
    """The operand as an atom, of its own type. Streams of int64 may be indices of loops, which are positions."""
    match operand:
        case Stream():
            return f"(number_t){stream_name(operand)}" if operand.type is I64 else stream_name(operand)
        case Constant():
            return constant(operand)
        case Extent():
            return extent_number(operand)
        case _:
            assert_never(operand)


def index_text(operand: Operand) -> str:
    """The operand as an atom that `linear_index` takes."""
    match operand:
        case Stream():
            return stream_name(operand)
        case Constant():
            return constant(operand)
        case Extent():
            return extent_text(operand)
        case _:
            assert_never(operand)


def linear_index(shape: Shape, index: Sequence[str]) -> str:
    """The row-major position of an index within the bounds of that shape, given as atoms, which may be of 64 bits."""
    if not index:
        return "0"
    first, *others = (f"(position_t){text.removeprefix('(number_t)')}" for text in index)
    position = first
    for extent, text in zip(shape[1:], others, strict=True):
        position = f"({position}) * {extent_text(extent)} + {text}"
    return position


def element(array: Array, index: Sequence[str]) -> str:
    """The element in memory."""
    return f"{array_name(array)}[{linear_index(array.shape, index)}]"


@dataclass(frozen=True, slots=True)
class Parameters:
    """What every kernel of one nest takes, in this order; temporaries and the error record, if any, follow."""

    arrays: tuple[Array, ...]
    aliased: frozenset[Array]
    sizes: tuple[SizeVariable, ...]

    @property
    def declarations(self) -> list[str]:
        """The parameters' declarations."""
        return [*self.pointers, *self.numbers]

    @property
    def pointers(self) -> list[str]:
        """The arrays' declarations."""
        return [self._pointer(array) for array in self.arrays]

    @property
    def numbers(self) -> list[str]:
        """The extents' declarations."""
        return [f"const position_t {size_name(variable)}" for variable in self.sizes]

    def _pointer(self, array: Array) -> str:
        restrict = "" if array in self.aliased else "restrict "
        return f"__global {c_type(array.element)}* {restrict}{array_name(array)}"


ADDRESSES = range(8, 101)
"""So many buffers have kernels that are told addresses: for fewer it is no gain, and all that a kernel is told may take 1 KB,
where OpenCL promises least."""


def told_addresses(name: str, head: str, buffers: Sequence[str], others: Sequence[str], body: str) -> str:
    """A kernel that is told the addresses of its buffers, in one argument. `head`: what stands before its name. `buffers`,
    `others`: how these are declared, and the other parameters.

    Each buffer takes a driver for processors a tenth of a microsecond at every launch, a number nothing. Pointers are
    restricted only if they are a function's parameters, which no kernel with local memory can have for its body.
    """
    types, names = zip(*(each.rsplit("*", 1) for each in buffers), strict=True)
    values = [f"({kind}*)told.each[{number}]" for number, kind in enumerate(types)]
    lines = [f"typedef struct {{ ulong each[{len(buffers)}]; }} {name}_told;"]
    start = f"__kernel {head}void {name}(" + ", ".join([f"const {name}_told told", *others]) + ") {"
    if "__local " in body:
        bound = [f"  {kind}*{each} = {value};" for kind, each, value in zip(types, names, values, strict=True)]
        return "\n".join([*lines, start, *bound, body, "}"])
    given = ", ".join([*values, *(each.split()[-1] for each in others)])
    lines += [f"static void {name}_body(\n    " + ",\n    ".join([*buffers, *others]) + ") {", body, "}"]
    return "\n".join([*lines, start, f"  {name}_body({given});", "}"])


def parameters(nests: Sequence[Nest], without: Collection[Array] = ()) -> Parameters:
    """What the nests mention, in a stable order, but for some arrays that are no parameters."""
    arrays = {array for nest in nests for array in mentions.arrays(nest)}.difference(without)
    aliased = frozenset(array for nest in nests for pair in nest.in_place for array in pair)
    extents = [extent for nest in nests for extent in mentions.extents(nest)]
    extents += [e for nest in nests for output in nest.outputs for product in output.capacity for e in product]
    return Parameters(tuple(sorted(arrays, key=lambda array: (array.label, array.leaf))), aliased, variables(extents))


def variables(extents: Iterable[Extent]) -> tuple[SizeVariable, ...]:
    """The size variables of some extents, in a stable order."""
    return tuple(sorted({extent.variable for extent in extents if extent.variable is not None}))
