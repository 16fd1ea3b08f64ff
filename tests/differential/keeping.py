"""Operations of which the data decide how much is left; and `permuteUnique`, `update`, `runFold`."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import BOOL, I64
from tests.differential.elementwise import name_of
from tests.differential.programs import NEW, ArrayType, Dim, Node, Types, require
from tests.differential.scalars import check, function_text, parameter
from tests.differential.world import World


@dataclass(frozen=True, slots=True)
class Compact:
    """`compact` by an array of bools; arguments: mask, array."""

    name: str = "compact"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        mask, array = (types(ref) for ref in node.arguments)
        require(mask.element == (BOOL,) and mask.dims == array.dims and array.rank > 0 and not array.has_many_rows)
        return (ArrayType(array.element, (Dim(0, NEW),)), ArrayType((I64,), array.dims[:-1]))

    def source(self, node: Node) -> str:
        return f"A.compact({', '.join(map(name_of, node.arguments))})"


def propose_compact(world: World) -> Node | None:
    """A mask and an array of its extents."""
    mask = world.array(lambda array: array.element == (BOOL,) and array.rank > 0)
    if mask is None:
        return None
    array = world.array(lambda array: array.dims == mask[1].dims) or mask
    return Node(Compact(), (mask[0], array[0]), results=2)


@dataclass(frozen=True, slots=True)
class Keep:
    """`justs` of what satisfies a predicate, and `partition` (named `A.partition(…)` with its first vector only)."""

    name: str = "justs"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.rank > 0 and not array.has_many_rows)
        require(check(node.functions[0], (BOOL,), [parameter("p", array.element)]))
        kept = ArrayType(array.element, (Dim(0, NEW),))
        return (kept, ArrayType((I64,), array.dims[:-1])) if self.name == "justs" else (kept,)

    def source(self, node: Node) -> str:
        array, predicate = name_of(node.arguments[0]), function_text(node.functions[0], name_of)
        if self.name == "partition":
            return f"A.partition({predicate}, {array})[{node.numbers[0]}]"
        holds = f"({predicate})(p)"
        return f"A.justs(A.map(lambda p: A.cond({holds}, A.just(p), A.nothing()), {array}))"


def propose_keep(world: World) -> Node | None:
    """A random predicate."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    predicate = world.function([("p", parameter("p", array[1].element))], (BOOL,))
    if world.draw.chance(50):
        return Node(Keep(), (array[0],), (predicate,), results=2)
    return Node(Keep("partition"), (array[0],), (predicate,), numbers=(world.draw.below(2),))


@dataclass(frozen=True, slots=True)
class Expand:
    """`expand` of a vector of i64: as many as an element is, modulo 4, each with its number added."""

    name: str = "expand"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.rank == 1 and array.element == (I64,) and not array.is_hollow)
        require(array.dims[0].value <= 300)
        return (ArrayType((I64,), (Dim(0, NEW),)),)

    def source(self, node: Node) -> str:
        return f"A.expand(lambda x: x % 4, lambda x, k: x * 10 + k, {name_of(node.arguments[0])})"


def propose_expand(world: World) -> Node | None:
    """A vector of i64."""
    array = world.array(lambda array: array.rank == 1 and array.element == (I64,))
    return None if array is None else Node(Expand(), (array[0],))


@dataclass(frozen=True, slots=True)
class PermuteUnique:
    """`permuteUnique` to the other end of each dimension, of elements whose first index is not a multiple of `numbers[0]`."""

    name: str = "permuteUnique"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        defaults, array = (types(ref) for ref in node.arguments)
        require(defaults.element == array.element and defaults.dims == array.dims and array.rank > 0)
        return (defaults,)

    def source(self, node: Node) -> str:
        defaults, array = map(name_of, node.arguments)
        places = [f"n - 1 - i for n, i in zip(A.unlift({array}.shape), A.unlift(ix))"]
        target = f"A.just(A.index(*[{places[0]}]))"
        kept = f"A.unlift(ix)[0] % {node.numbers[0]} != 0"
        return f"A.permuteUnique({defaults}, lambda ix: A.cond({kept}, {target}, A.nothing()), {array})"


def propose_unique(world: World) -> Node | None:
    """Two arrays of one type."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    defaults = world.array(lambda other: other == array[1]) or array
    return Node(PermuteUnique(), (defaults[0], array[0]), numbers=(world.draw.pick((1, 2, 3)),))


@dataclass(frozen=True, slots=True)
class Update:
    """`update` of rows by those of an array of the same type. numbers: the first row, how many; none: all, backwards."""

    name: str = "update"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array, values = (types(ref) for ref in node.arguments)
        require(array == values and array.rank > 0 and min((0, *node.numbers)) == 0)
        return (array,)

    def source(self, node: Node) -> str:
        array, values = map(name_of, node.arguments)
        if not node.numbers:
            return f"A.update({array}, (slice(None, None, -1),), {values})"
        first, count = node.numbers
        return f"A.update({array}, (slice({first}, {first + count}),), A.slitOn(0, {first}, {count}, {values}))"


def propose_update(world: World) -> Node | None:
    """Two arrays of one type."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    values = world.array(lambda other: other == array[1]) or array
    numbers = (world.draw.below(4), world.extent()) if world.draw.chance(70) else ()
    return Node(Update(), (array[0], values[0]), numbers=numbers)


@dataclass(frozen=True, slots=True)
class RunFold:
    """`runFold` of a sum and a greatest of i64."""

    name: str = "runFold"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.rank > 0 and array.element == (I64,))
        return (ArrayType((I64,), array.dims[:-1]),)

    def source(self, node: Node) -> str:
        total = "A.Fold(lambda x: x * 3, A.add, 0)"
        most = "A.Fold(lambda x: x, A.max, -5)"
        return f"A.runFold({total}.zipWith(lambda s, m: s - m, {most}), {name_of(node.arguments[0])})"


def propose_run_fold(world: World) -> Node | None:
    """Rows of i64."""
    array = world.array(lambda array: array.rank > 0 and array.element == (I64,))
    return None if array is None else Node(RunFold(), (array[0],))
