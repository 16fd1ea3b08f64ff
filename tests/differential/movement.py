"""Operations that move elements: permutations of indices, gathers, scatters, changes of shape."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.types import BOOL, I64
from tests.differential.elementwise import name_of, shape_text
from tests.differential.programs import ArrayType, Dim, Function, Node, Types, require
from tests.differential.reductions import check_combiner
from tests.differential.scalars import check, function_text, index_parameter, text
from tests.differential.world import World, dims

ORDERS = ("reverse", "transpose", "take", "drop", "flatten", "init", "tail", "reverseOn")


@dataclass(frozen=True, slots=True)
class Reorder:
    """`reverse`, `transpose`, `take`, `drop`, `flatten`, `init`, `tail`, `reverseOn`. numbers: a count or an axis."""

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.rank > 0)
        inner = array.dims[-1]
        match self.name:
            case "reverse":
                require(array.rank == 1)
                shape = array.dims
            case "reverseOn":
                require(node.numbers[0] < array.rank)
                shape = array.dims
            case "transpose":
                require(array.rank == 2)
                shape = array.dims[::-1]
            case "flatten":
                require(array.is_known or array.rank == 1)
                shape = array.dims if array.rank == 1 else dims(array.size)
            case "init" | "tail":
                require(inner.rigid is None)
                shape = (*array.dims[:-1], Dim(max(inner.value - 1, 0)))
            case _:
                require(inner.rigid is None)
                taken = min(max(node.numbers[0], 0), inner.value)
                shape = (*array.dims[:-1], Dim(taken if self.name == "take" else inner.value - taken))
        return (ArrayType(array.element, shape),)

    def source(self, node: Node) -> str:
        count = f"{node.numbers[0]}, " if node.numbers else ""
        return f"A.{self.name}({count}{name_of(node.arguments[0])})"


def propose_reorder(world: World) -> Node | None:
    """One of the permutations of indices."""
    name = world.draw.pick(ORDERS)
    rank = {"reverse": 1, "transpose": 2}.get(name)
    array = world.array(lambda array: array.rank > 0 and rank in (None, array.rank))
    if array is None:
        return None
    if name == "reverseOn":
        return Node(Reorder(name), (array[0],), numbers=(world.draw.below(array[1].rank),))
    return Node(Reorder(name), (array[0],), numbers=(world.extent(),) if name in ("take", "drop") else ())


@dataclass(frozen=True, slots=True)
class Replicate:
    """`replicate` along one new dimension. numbers: its axis, its extent."""

    name: str = "replicate"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        axis, extent = node.numbers
        require(axis <= array.rank and array.rank < 4)
        return (ArrayType(array.element, (*array.dims[:axis], Dim(extent), *array.dims[axis:])),)

    def source(self, node: Node) -> str:
        axis, extent = node.numbers
        # The rank is not known here, so the spec is made by Python when the program runs.
        array = name_of(node.arguments[0])
        return f"A.replicate((*(A.All,) * {axis}, {extent}, *(A.All,) * ({array}.rank - {axis})), {array})"


def propose_replicate(world: World) -> Node | None:
    """A new dimension anywhere."""
    array = world.array(lambda array: array.rank < 3)
    return (
        None
        if array is None
        else Node(Replicate(), (array[0],), numbers=(world.draw.below(array[1].rank + 1), world.extent()))
    )


@dataclass(frozen=True, slots=True)
class Slice:
    """`slice` of one index of a dimension. numbers: the axis, the index."""

    name: str = "slice"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        axis, index = node.numbers
        require(axis < array.rank)
        require(array.dims[axis].rigid is None and array.dims[axis].value > index)
        return (ArrayType(array.element, array.dims[:axis] + array.dims[axis + 1 :]),)

    def source(self, node: Node) -> str:
        axis, index = node.numbers
        array = name_of(node.arguments[0])
        return f"A.slice({array}, (*(A.All,) * {axis}, {index}, *(A.All,) * ({array}.rank - {axis} - 1)))"


def propose_slice(world: World) -> Node | None:
    """One row, column or element."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    axis = world.draw.below(array[1].rank)
    dim = array[1].dims[axis]
    return Node(Slice(), (array[0],), numbers=(axis, world.draw.below(max(1, dim.value))))


@dataclass(frozen=True, slots=True)
class Reshape:
    """`reshape` to a known shape of the same size. numbers: its extents."""

    name: str = "reshape"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        result = ArrayType(array.element, dims(*node.numbers))
        require(array.is_known and result.size == array.size)
        return (result,)

    def source(self, node: Node) -> str:
        return f"A.reshape({shape_text(node.numbers)}, {name_of(node.arguments[0])})"


def propose_reshape(world: World) -> Node | None:
    """Two factors of the size."""
    array = world.array(lambda array: array.is_known)
    if array is None:
        return None
    size = array[1].size
    factors = [factor for factor in range(1, min(size, 70) + 1) if size % factor == 0] or [1]
    first = world.draw.pick(factors)
    return Node(Reshape(), (array[0],), numbers=(first, size // first))


def fillable(array: ArrayType) -> bool:
    """There is an index in bounds, whatever the data."""
    return array.is_known and array.size > 0 and array.rank > 0


def wrapped(function: Function, array: str) -> str:
    """The function with its results taken modulo the extents of an array: an index that is always in bounds."""
    parts = [f"{text(part, name_of)} % A.unlift({array}.shape)[{axis}]" for axis, part in enumerate(function.results)]
    return f"A.index({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class Backpermute:
    """`backpermute` by a random function, into bounds. numbers: the extents of the result."""

    name: str = "backpermute"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.is_known and array.size > 0 and array.rank > 0)
        require(check(node.functions[0], (I64,) * array.rank, [index_parameter("ix", len(node.numbers))]))
        return (ArrayType(array.element, dims(*node.numbers)),)

    def source(self, node: Node) -> str:
        array = name_of(node.arguments[0])
        return f"A.backpermute({shape_text(node.numbers)}, lambda ix: {wrapped(node.functions[0], array)}, {array})"


def propose_backpermute(world: World) -> Node | None:
    """Of rank 0 to 2."""
    array = world.array(fillable)
    if array is None:
        return None
    numbers = tuple(world.extent() for _ in range(world.draw.pick((0, 1, 1, 1, 2, 2))))
    function = world.function([("ix", index_parameter("ix", len(numbers)))], (I64,) * array[1].rank)
    return Node(Backpermute(), (array[0],), (function,), numbers)


def inside(indices: str, array: str, rank: int) -> str:
    """Indices into an array that are always in bounds, made of an array of integers."""
    parts = [f"(i + {axis}) % A.unlift({array}.shape)[{axis}]" for axis in range(rank)]
    return f"A.map(lambda i: {parts[0] if rank == 1 else 'A.index(' + ', '.join(parts) + ')'}, {indices})"


@dataclass(frozen=True, slots=True)
class Gather:
    """`gather` by an array of integers of any rank. numbers: 1 if the indices are taken as they are, of a vector."""

    name: str = "gather"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        indices, array = (types(ref) for ref in node.arguments)
        require(indices.element == (I64,) and array.rank > 0 and array.is_known)
        require(array.size > 0 or node.numbers[0] == 1)
        require(array.rank == 1 or (array.rank == node.numbers[1] and node.numbers[0] == 0))
        return (ArrayType(array.element, indices.dims),)

    def source(self, node: Node) -> str:
        indices, array = map(name_of, node.arguments)
        if node.numbers[0]:
            return f"A.gather({indices}, {array})"
        return f"A.gather({inside(indices, array, node.numbers[1])}, {array})"


def propose_gather(world: World) -> Node | None:
    """An array and indices."""
    indices = world.array(lambda array: array.element == (I64,))
    array = world.array(fillable)
    if indices is None or array is None:
        return None
    rank = array[1].rank
    return Node(Gather(), (indices[0], array[0]), numbers=(int(world.faulty and rank == 1), rank))


@dataclass(frozen=True, slots=True)
class Permute:
    """`permute` with a random target, into bounds; functions: combine, the index, whether to keep."""

    name: str = "permute"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        defaults, array = (types(ref) for ref in node.arguments)
        require(defaults.element == array.element and defaults.rank > 0 and defaults.is_known and defaults.size > 0)
        check_combiner(Node(self, (), node.functions[:1]), array, False)
        leaves = [index_parameter("ix", array.rank)]
        require(check(node.functions[1], (I64,) * defaults.rank, leaves) and check(node.functions[2], (BOOL,), leaves))
        return (defaults,)

    def source(self, node: Node) -> str:
        defaults, array = map(name_of, node.arguments)
        combine, target, keep = node.functions
        index = f"A.just({wrapped(target, defaults)})"
        choice = f"lambda ix: A.cond({text(keep.results[0], name_of)}, {index}, A.nothing())"
        return f"A.permute({function_text(combine, name_of)}, {defaults}, {choice}, {array})"


def propose_permute(world: World) -> Node | None:
    """Two arrays of one element type."""
    array = world.array(lambda array: True)
    if array is None:
        return None
    defaults = world.array(
        lambda other: other.element == array[1].element and other.is_known and other.size > 0 and other.rank > 0
    )
    if defaults is None:
        return None
    leaves = index_parameter("ix", array[1].rank)
    target = world.function([("ix", leaves)], (I64,) * defaults[1].rank)
    keep = world.function([("ix", leaves)], (BOOL,))
    return Node(Permute(), (defaults[0], array[0]), (world.combiner(array[1].element), target, keep))


@dataclass(frozen=True, slots=True)
class ScatterWith:
    """`scatterWith`; arguments: defaults, indices, values. numbers: the rank of the defaults."""

    name: str = "scatterWith"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        defaults, indices, values = (types(ref) for ref in node.arguments)
        require(defaults.rank == node.numbers[0] and fillable(defaults))
        require(indices.element == (I64,) and indices.dims == values.dims and defaults.element == values.element)
        check_combiner(node, values, False)
        return (defaults,)

    def source(self, node: Node) -> str:
        defaults, indices, values = map(name_of, node.arguments)
        pairs = f"A.zip({inside(indices, defaults, node.numbers[0])}, {values})"
        return f"A.scatterWith({function_text(node.functions[0], name_of)}, {defaults}, {pairs})"


def propose_scatter(world: World) -> Node | None:
    """Indices and values of equal extents, and an array of the values' type."""
    indices = world.array(lambda array: array.element == (I64,))
    if indices is None:
        return None
    values = world.array(lambda array: array.dims == indices[1].dims) or indices
    defaults = world.array(lambda array: array.element == values[1].element and fillable(array))
    if defaults is None:
        return None
    arguments = (defaults[0], indices[0], values[0])
    return Node(ScatterWith(), arguments, (world.combiner(values[1].element),), (defaults[1].rank,))
