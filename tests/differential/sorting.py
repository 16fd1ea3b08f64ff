"""Operations that sort, and that search in what is sorted."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import I64
from tests.differential.elementwise import name_of
from tests.differential.forms import Form, form_of
from tests.differential.programs import ArrayType, Dim, Node, Types, require
from tests.differential.scalars import check, function_text, parameter
from tests.differential.world import World


@dataclass(frozen=True, slots=True)
class Sorting:
    """`sort` and `argsort`; `sortBy`, whose functions are one: the key."""

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.rank > 0 and not array.has_many_rows)
        require(bool(node.functions) or form_of(array.element) is Form.PLAIN)
        for function in node.functions:
            require(check(function, node.element, [parameter("p", array.element)]))
        return (ArrayType((I64,), array.dims) if self.name == "argsort" else array,)

    def source(self, node: Node) -> str:
        functions = [function_text(function, name_of) for function in node.functions]
        return f"A.{self.name}({', '.join([*functions, name_of(node.arguments[0])])})"


def propose_sort(world: World) -> Node | None:
    """Of any rank but 0, by itself or by a key."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    name = world.draw.pick(("sort", "argsort", "sortBy"))
    if name != "sortBy":
        return Node(Sorting(name), (array[0],))
    element = world.plain()
    key = world.function([("p", parameter("p", array[1].element))], element)
    return Node(Sorting(name), (array[0],), (key,), (), element)


@dataclass(frozen=True, slots=True)
class TopK:
    """`topK`: values and places. numbers: k."""

    name: str = "topK"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array, (k,) = types(node.arguments[0]), node.numbers
        require(array.rank > 0 and not array.has_many_rows and form_of(array.element) is Form.PLAIN)
        require(array.dims[-1].rigid is None and 0 <= k <= array.dims[-1].value)
        shape = (*array.dims[:-1], Dim(k))
        return (ArrayType(array.element, shape), ArrayType((I64,), shape))

    def source(self, node: Node) -> str:
        return f"A.topK({node.numbers[0]}, {name_of(node.arguments[0])})"


def propose_top(world: World) -> Node | None:
    """A few, or all."""
    array = world.array(lambda array: array.rank > 0 and array.dims[-1].rigid is None)
    if array is None:
        return None
    extent = array[1].dims[-1].value
    return Node(TopK(), (array[0],), (), (min(extent, world.draw.pick((0, 1, 3, extent))),), results=2)


@dataclass(frozen=True, slots=True)
class Search:
    """`searchsorted` in a vector that is sorted before."""

    name: str = "searchsorted"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        table, array = (types(ref) for ref in node.arguments)
        require(table.rank == 1 and table.element == array.element and form_of(array.element) is Form.PLAIN)
        return (ArrayType((I64,), array.dims),)

    def source(self, node: Node) -> str:
        table, array = map(name_of, node.arguments)
        return f"A.searchsorted(A.sort({table}), {array})"


def propose_search(world: World) -> Node | None:
    """Elements of one array in another's."""
    table = world.array(lambda array: array.rank == 1)
    if table is None:
        return None
    array = world.array(lambda array: array.element == table[1].element)
    return None if array is None else Node(Search(), (table[0], array[0]))
