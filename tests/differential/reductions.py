"""Folds, scans and filters."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import BOOL, I64
from tests.differential.elementwise import name_of
from tests.differential.programs import NEW, ArrayType, Dim, Node, Types, require
from tests.differential.scalars import check, function_text, parameter
from tests.differential.world import World

FOLDS = ("fold", "fold1", "foldAll", "fold1All")
TWO = "fold of 2"
SCANS = (
    "scanl",
    "scanr",
    "scanl1",
    "scanr1",
    "scanlTotal",
    "scanrTotal",
    "prescanl",
    "postscanl",
    "prescanr",
    "postscanr",
)


def check_combiner(node: Node, array: ArrayType, seeded: bool) -> None:
    """The operator takes and gives elements; a seed is one."""
    element = array.element
    require(check(node.functions[0], element, [parameter("a", element), parameter("b", element)]))
    require(len(node.functions) == (2 if seeded else 1))
    require(not seeded or check(node.functions[1], element, []))


def call(name: str, node: Node) -> str:
    """The source of a fold or scan."""
    functions = ", ".join(function_text(function, name_of) for function in node.functions)
    return f"A.{name}({functions}, {name_of(node.arguments[0])})"


@dataclass(frozen=True, slots=True)
class Fold:
    """`fold`, also of two dimensions, `fold1`, `foldAll`, `fold1All`. numbers: 1 if one without a seed may meet empty rows."""

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        everything, seeded = self.name.endswith("All"), not self.name.startswith("fold1")
        require(array.rank > (self.name == TWO) or everything)
        check_combiner(node, array, seeded)
        if not seeded and not node.numbers[0]:
            folded = array.dims if everything else array.dims[-1:]
            require(all(dim.rigid is None and dim.value > 0 for dim in folded))
        return (ArrayType(array.element, () if everything else array.dims[: -2 if self.name == TWO else -1]),)

    def source(self, node: Node) -> str:
        return call("fold", node)[:-1] + ", dims=2)" if self.name == TWO else call(self.name, node)


def propose_fold(world: World) -> Node | None:
    """A fold along the innermost dimension."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    name = world.draw.pick(FOLDS if array[1].rank == 1 else (*FOLDS, TWO))
    element = array[1].element
    functions = [world.combiner(element), *([] if name.startswith("fold1") else [world.value(element)])]
    return Node(Fold(name), (array[0],), tuple(functions), (int(world.faulty),))


REDUCTIONS = ("sum", "product", "minimum", "maximum", "all", "any", "argmin", "argmax")
OF_BOOLS = ("and_", "or_")
UNSEEDED = ("minimum", "maximum", "argmin", "argmax")


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction of each row by the name of its operator. numbers: 1 if rows may be empty, of all but sums."""

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.rank > 0)
        if self.name in ("all", "any"):
            require(check(node.functions[0], (BOOL,), [parameter("p", array.element)]))
            return (ArrayType((BOOL,), array.dims[:-1]),)
        require(len(array.element) == 1 and (array.element[0] is BOOL) == (self.name in OF_BOOLS))
        if self.name in UNSEEDED and not node.numbers[0]:
            require(array.dims[-1].rigid is None and array.dims[-1].value > 0)
        return (ArrayType((I64,) if self.name.startswith("arg") else array.element, array.dims[:-1]),)

    def source(self, node: Node) -> str:
        return call(self.name, node) if node.functions else f"A.{self.name}({name_of(node.arguments[0])})"


def propose_reduction(world: World) -> Node | None:
    """A reduction along the innermost dimension by an operator that has a name."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    name = world.draw.pick((*OF_BOOLS, "all", "any") if array[1].element == (BOOL,) else REDUCTIONS)
    functions = (world.function([("p", parameter("p", array[1].element))], (BOOL,)),) if name in ("all", "any") else ()
    return Node(Reduction(name), (array[0],), functions, (int(world.faulty),))


@dataclass(frozen=True, slots=True)
class Scan:
    """The scans; those with totals have two results."""

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.rank > 0 and not array.has_many_rows)
        inclusive, total = self.name.endswith("1"), self.name.endswith("Total")
        check_combiner(node, array, not inclusive)
        if total:
            return (array, ArrayType(array.element, array.dims[:-1]))
        inner = (
            array.dims[-1] if inclusive or self.name.startswith(("prescan", "postscan")) else array.dims[-1].plus_one()
        )
        return (ArrayType(array.element, (*array.dims[:-1], inner)),)

    def source(self, node: Node) -> str:
        return call(self.name, node)


def propose_scan(world: World) -> Node | None:
    """A scan along the innermost dimension."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    name = world.draw.pick(SCANS)
    element = array[1].element
    functions = [world.combiner(element), *([] if name.endswith("1") else [world.value(element)])]
    return Node(Scan(name), (array[0],), tuple(functions), results=2 if name.endswith("Total") else 1)


@dataclass(frozen=True, slots=True)
class Filter:
    """`filter`: a vector of an extent that nothing else has, and the counts."""

    name: str = "filter"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.rank > 0 and not array.has_many_rows)
        require(check(node.functions[0], (BOOL,), [parameter("p", array.element)]))
        return (ArrayType(array.element, (Dim(0, NEW),)), ArrayType((I64,), array.dims[:-1]))

    def source(self, node: Node) -> str:
        return f"A.filter({function_text(node.functions[0], name_of)}, {name_of(node.arguments[0])})"


def propose_filter(world: World) -> Node | None:
    """A filter with a random predicate."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    predicate = world.function([("p", parameter("p", array[1].element))], (BOOL,))
    return Node(Filter(), (array[0],), (predicate,), results=2)
