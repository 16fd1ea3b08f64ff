"""Scalars that are asked of arrays, made arrays of one element; folds of rows in scalar code; arithmetic of indices."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import BOOL, I64
from tests.differential.elementwise import name_of, shape_text
from tests.differential.movement import fillable
from tests.differential.programs import ArrayType, Node, Types, require
from tests.differential.scalars import check, function_text, parameter
from tests.differential.world import World, dims

QUESTIONS = ("null", "size", "length", "shape", "linearIndex")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of an array. numbers: the position of `linearIndex`."""

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(self.name != "length" or array.rank == 1)
        match self.name:
            case "linearIndex":
                require(fillable(array) and node.numbers[0] < array.size)
                return (ArrayType(array.element, ()),)
            case "shape":
                require(array.rank > 0)
                return (ArrayType((I64,) * array.rank, ()),)
            case "null":
                return (ArrayType((BOOL,), ()),)
        return (ArrayType((I64,), ()),)

    def source(self, node: Node) -> str:
        array = name_of(node.arguments[0])
        if self.name == "shape":
            rank = node.numbers[0]
            parts = ", ".join(f"A.unindex(A.shape({array}))[{axis}]" for axis in range(rank))
            return f"A.unit({parts if rank == 1 else f'A.lift({parts})'})"
        position = f", {node.numbers[0]}" if self.name == "linearIndex" else ""
        return f"A.unit(A.{self.name}({array}{position}))"


def propose_question(world: World) -> Node | None:
    """Of any array."""
    name = world.draw.pick(QUESTIONS)
    array = world.array(lambda array: name != "linearIndex" or fillable(array))
    if array is None:
        return None
    position = world.draw.below(array[1].size) if name == "linearIndex" else array[1].rank
    return Node(Question(name), (array[0],), (), (position,))


@dataclass(frozen=True, slots=True)
class RowFold:
    """`sfoldl` of every row. functions: from what was made so far and an element; the seed. numbers: the outer extents."""

    name: str = "sfoldl"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.rank > 0 and not array.is_huge and array.dims[:-1] == dims(*node.numbers))
        require(check(node.functions[0], node.element, [parameter("a", node.element), parameter("b", array.element)]))
        require(check(node.functions[1], node.element, []))
        return (ArrayType(node.element, array.dims[:-1]),)

    def source(self, node: Node) -> str:
        step, seed = (function_text(function, name_of) for function in node.functions)
        return f"A.generate({shape_text(node.numbers)}, lambda ix: A.sfoldl({step}, {seed}, ix, {name_of(node.arguments[0])}))"


def propose_row_fold(world: World) -> Node | None:
    """An array whose outer extents are known."""
    array = world.array(lambda array: array.rank > 0 and all(dim.rigid is None for dim in array.dims[:-1]))
    if array is None:
        return None
    element = world.element()
    leaves = [("a", parameter("a", element)), ("b", parameter("b", array[1].element))]
    functions = (world.function(leaves, element), world.value(element))
    return Node(RowFold(), (array[0],), functions, tuple(dim.value for dim in array[1].dims[:-1]), element)


INDICES = {
    "toIndex": "A.toIndex({shape}, ix) * 3 - A.toIndex({shape}, ix)",
    "fromIndex": "A.unindex(A.fromIndex({shape}, A.toIndex({shape}, ix) // 2))[{last}]",
    "intersect": "A.unindex(A.intersect(ix, A.index({middle})))[{last}]",
    "shapeSize": "A.shapeSize(ix) - A.shapeSize({shape})",
    "indexTail": "A.unindex(A.indexTail(ix))[0] * 7 + A.indexHead(ix)",
}
"""Formulas over the index of an array."""


@dataclass(frozen=True, slots=True)
class Places:
    """An array of a formula of its indices. numbers: the extents."""

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        require(len(node.numbers) > (self.name == "indexTail"))
        return (ArrayType((I64,), dims(*node.numbers)),)

    def source(self, node: Node) -> str:
        shape = f"A.index({', '.join(map(str, node.numbers))})"
        middle = ", ".join(str(extent // 2) for extent in node.numbers)
        formula = INDICES[self.name].format(shape=shape, middle=middle, last=len(node.numbers) - 1)
        return f"A.generate({shape_text(node.numbers)}, lambda ix: {formula})"


def propose_places(world: World) -> Node | None:
    """Of rank 1 to 4."""
    return Node(Places(world.draw.pick(tuple(INDICES))), numbers=world.extents_of(world.draw.pick((1, 2, 2, 3, 4))))
