"""Stencils of one and of two arrays, with every boundary."""

from __future__ import annotations

from dataclasses import dataclass

from tests.differential.elementwise import name_of
from tests.differential.programs import ArrayType, Element, Node, Types, Variable, require
from tests.differential.scalars import check, function_text, index_parameter, parameter
from tests.differential.world import World

BOUNDARIES = ("clamp", "mirror", "wrap", "constant", "function")
OFFSETS = (0, 0, 0, 1, 1, -1, -1, 2, -2, 3, -5, 9)
NAMES = ("n", "m")


def sites(name: str, element: Element, offsets: tuple[int, ...], rank: int) -> tuple[Variable, ...]:
    """The neighbours at some offsets, one after the other, as variables."""
    found: list[Variable] = []
    for first in range(0, len(offsets), rank):
        text = f"{name}({', '.join(map(str, offsets[first : first + rank]))})"
        found += parameter(text, element)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Stencil:
    """`stencil`, `stencil2`. functions: the stencil's, then what is outside of each array.

    numbers: the rank, a boundary for each array, then offsets, of the same sites in each.
    """

    name: str = "stencil"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        arrays = [types(ref) for ref in node.arguments]
        rank, *numbers = node.numbers
        boundaries, offsets = numbers[: len(arrays)], tuple(numbers[len(arrays) :])
        require(rank > 0 and len(offsets) % rank == 0)
        require(all(array.rank == rank and array.dims == arrays[0].dims for array in arrays))
        require(all(0 <= number < len(BOUNDARIES) for number in boundaries))
        leaves = [sites(name, array.element, offsets, rank) for name, array in zip(NAMES, arrays, strict=False)]
        require(check(node.functions[0], node.element, leaves))
        for outside, array in zip(node.functions[1:], arrays, strict=True):
            require(check(outside, array.element, [index_parameter("ix", rank)]))
        return (ArrayType(node.element, arrays[0].dims),)

    def source(self, node: Node) -> str:
        (rank, *numbers), count = node.numbers, len(node.arguments)
        parts = [function_text(node.functions[0], name_of)]
        for ref, number, outside in zip(node.arguments, numbers, node.functions[1:], strict=False):
            boundary, body = BOUNDARIES[number], function_text(outside, name_of)
            if boundary == "constant":  # at one place, so that it depends on no index
                text = f"A.boundary.constant(({body})(A.index({', '.join(['0'] * rank)})))"
            else:
                text = f"A.boundary.function({body})" if boundary == "function" else f"A.boundary.{boundary}"
            parts += [text, name_of(ref)]
        return f"A.stencil{'' if count == 1 else count}({', '.join(parts)})"


def propose_stencil(world: World) -> Node | None:
    """One array or two of equal extents, at one to three sites."""
    first = world.array(lambda array: array.rank > 0)
    if first is None:
        return None
    arrays = [first]
    if world.draw.chance(30):
        arrays.append(world.array(lambda array: array.dims == first[1].dims) or first)
    rank = first[1].rank
    offsets = tuple(world.draw.pick(OFFSETS) for _ in range(rank * world.draw.pick((1, 2, 2, 3))))
    element = world.element()
    parameters = [
        (name, sites(name, array.element, offsets, rank)) for name, (_, array) in zip(NAMES, arrays, strict=False)
    ]
    functions = [world.function(parameters, element)]
    functions += [world.function([("ix", index_parameter("ix", rank))], array.element) for _, array in arrays]
    numbers = (rank, *(world.draw.below(len(BOUNDARIES)) for _ in arrays), *offsets)
    return Node(Stencil(), tuple(ref for ref, _ in arrays), tuple(functions), numbers, element)
