"""Huge extents, and what is computed from them: counts of elements, sizes of arrays."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import BOOL, I8, I64, U8
from tests.differential.draw import Draw
from tests.differential.elementwise import HOLLOW, Input, name_of
from tests.differential.programs import NEW, ArrayType, Dim, Node, Types, require
from tests.differential.scalars import check, function_text, index_parameter
from tests.differential.world import World

HUGE = (1 << 31, (1 << 31) + 1, 1 << 40, (1 << 46) - 1, 1 << 46, 1 << 46, (1 << 47) - 1, 1 << 47, 1 << 47)
"""Extents that nobody has memory for, up to the greatest that accel takes."""

REFUSED = ((1 << 47) + 1, 1 << 48, 1 << 59, (1 << 62) - 3, 1 << 62, (1 << 63) - 1)
"""Extents that accel does not take."""


def huge_input(draw: Draw) -> Node:
    """An argument without elements but with huge extents, or one whose many rows are one row's memory.

    Elements of one byte: NumPy has no array whose bytes, without the empty dimension, are more than an int64 counts.
    """
    refused = draw.chance(16)
    extent = draw.pick(REFUSED if refused else HUGE)
    element, seed = (draw.pick((BOOL, I8, U8)),), draw.below(1 << 16)
    if draw.chance(40):
        return Node(Input(), numbers=(seed, HOLLOW, extent, 1), element=element)
    shapes = ((0, extent), (extent, 0), (0, extent), (0, extent, 1), (0, 1 if refused else 3, extent))
    return Node(Input(), numbers=(seed, 0, *draw.pick(shapes)), element=element)


CUTS = ("take", "drop", "slit", "takeOn", "dropOn", "slitOn")


@dataclass(frozen=True, slots=True)
class Cut:
    """The family of `take` with computed counts; functions: the counts; numbers: the axis."""

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        axis = node.numbers[0]
        own = self.name.endswith("On")
        require(axis < array.rank and (own or axis == array.rank - 1) and not array.is_huge)
        require(all(check(function, (I64,), []) for function in node.functions))
        # Only running tells how many there are.
        return (ArrayType(array.element, (*array.dims[:axis], Dim(0, NEW), *array.dims[axis + 1 :])),)

    def source(self, node: Node) -> str:
        counts = [function_text(function, name_of) for function in node.functions]
        axis = [str(node.numbers[0])] if self.name.endswith("On") else []
        return f"A.{self.name}({', '.join([*axis, *counts, name_of(node.arguments[0])])})"


def propose_cut(world: World) -> Node | None:
    """A part of an array; how much is computed."""
    array = world.array(lambda array: array.rank > 0 and not array.is_huge)
    if array is None:
        return None
    name = world.draw.pick(CUTS)
    axis = world.draw.below(array[1].rank) if name.endswith("On") else array[1].rank - 1
    counts = tuple(world.value((I64,)) for _ in range(2 if name.startswith("slit") else 1))
    return Node(Cut(name), (array[0],), counts, (axis,))


MOST = 70
"""The elements of a computed number that are computed."""

UNBOUNDED = 1 << 62
"""Stands for an extent that may be anything."""


@dataclass(frozen=True, slots=True)
class Sized:
    """`generate` of a computed extent. numbers: 1 if it may be any, so that only the shape may be used."""

    name: str = "generate"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        require(check(node.functions[0], (I64,), []))
        require(check(node.functions[1], node.element, [index_parameter("ix", 1)]))
        return (ArrayType(node.element, (Dim(UNBOUNDED if node.numbers[0] else 0, NEW),)),)

    def source(self, node: Node) -> str:
        count = function_text(node.functions[0], name_of)
        if not node.numbers[0]:
            count = f"A.max(A.min({count}, A.constant({MOST}, np.int64)), A.constant(0, np.int64))"
        return f"A.generate(({count},), {function_text(node.functions[1], name_of)})"


def propose_sized(world: World) -> Node | None:
    """A vector of a computed extent."""
    element = world.element()
    function = world.function([("ix", index_parameter("ix", 1))], element)
    is_any = int(bool(world.sizes) and world.draw.chance(40))
    return Node(Sized(), (), (world.value((I64,)), function), (is_any,), element)
