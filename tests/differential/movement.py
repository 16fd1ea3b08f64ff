"""Operations that move elements: permutations of indices, gathers, scatters, changes of shape."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import BOOL, I64
from tests.differential.elementwise import name_of, shape_text
from tests.differential.programs import ArrayType, Dim, Function, Node, Types, require
from tests.differential.reductions import check_combiner
from tests.differential.scalars import check, function_text, index_parameter, text
from tests.differential.world import World, dims

ORDERS = (
    *("reverse", "transpose", "take", "drop", "flatten", "init", "tail"),
    *("reverseOn", "transposeOn", "takeOn", "dropOn", "initOn", "tailOn", "slit", "slitOn"),
    *("flip", "flattenOn", "subdivide"),
)
OF_AN_AXIS = ("flip", "subdivide")
"""What takes an axis beside those whose names say so."""


@dataclass(frozen=True, slots=True)
class Reorder:
    """`reverse`, `transpose`, `flatten`, the family of `take`, [Ber]'s views. numbers: an axis, then what the operation takes.

    `flattenOn` is `flatten` with an axis.
    """

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        axis, *numbers = node.numbers
        own = self.name.endswith("On") or self.name in OF_AN_AXIS
        require(array.rank > 0 and axis < array.rank and (own or axis == 0))
        at = axis if own else array.rank - 1
        extent = array.dims[at]
        match self.name.removesuffix("On"):
            case "reverse":
                require(own or array.rank == 1)
                return (array,)
            case "transpose" | "flip":
                other = numbers[0] if own else 1
                require(other < array.rank and (own or array.rank == 2))
                exchanged = {axis: array.dims[other], other: array.dims[axis]}
                shape = tuple(exchanged.get(number, dim) for number, dim in enumerate(array.dims))
                return (ArrayType(array.element, shape),)
            case "flatten" if own:
                require(at + 1 < array.rank and array.is_known and not array.is_huge)
                both = Dim(array.dims[at].value * array.dims[at + 1].value)
                return (ArrayType(array.element, (*array.dims[:at], both, *array.dims[at + 2 :])),)
            case "subdivide":
                require(extent.rigid is None and numbers[0] > 0 and extent.value % numbers[0] == 0 and array.rank < 8)
                parts = (Dim(extent.value // numbers[0]), Dim(numbers[0]))
                return (ArrayType(array.element, (*array.dims[:at], *parts, *array.dims[at + 1 :])),)
            case "flatten":
                require(array.is_known or array.rank == 1)
                return (array,) if array.rank == 1 else (ArrayType(array.element, dims(array.size)),)
        require(extent.rigid is None)
        one_less = max(extent.value - 1, 0)
        left = {"init": one_less, "tail": one_less}
        if self.name.removesuffix("On") not in left:
            first = min(max(numbers[0], 0), extent.value)
            rest = extent.value - first
            left |= {"take": first, "drop": rest, "slit": min(max(numbers[-1], 0), rest)}
        shape = (*array.dims[:at], Dim(left[self.name.removesuffix("On")]), *array.dims[at + 1 :])
        return (ArrayType(array.element, shape),)

    def source(self, node: Node) -> str:
        own = self.name.endswith("On") or self.name in OF_AN_AXIS
        name = "flatten" if self.name == "flattenOn" else self.name
        numbers = node.numbers if own else node.numbers[1:]
        return f"A.{name}({', '.join([*map(str, numbers), name_of(node.arguments[0])])})"


def propose_reorder(world: World) -> Node | None:
    """One of the permutations of indices."""
    name = world.draw.pick(ORDERS)
    rank = {"reverse": 1, "transpose": 2}.get(name)
    array = world.array(lambda array: array.rank > 0 and rank in (None, array.rank))
    if array is None:
        return None
    own = name.endswith("On") or name in OF_AN_AXIS
    axis = world.draw.below(array[1].rank) if own else 0
    plain = name.removesuffix("On")
    if plain in ("transpose", "flip"):
        more: tuple[int, ...] = (world.draw.below(array[1].rank),) if own else ()
    elif name == "subdivide":
        extent = array[1].dims[axis].value
        more = (world.draw.pick([block for block in range(1, min(extent, 70) + 1) if extent % block == 0] or [1]),)
    else:
        more = tuple(world.extent() - 1 for _ in range({"take": 1, "drop": 1, "slit": 2}.get(plain, 0)))
    return Node(Reorder(name), (array[0],), numbers=(axis, *more))


ALL = -1
"""In a specification, a dimension that the array has and keeps."""


def specification(numbers: tuple[int, ...]) -> str:
    """What `replicate` and `slice` take."""
    parts = ["A.All" if number == ALL else str(number) for number in numbers]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


@dataclass(frozen=True, slots=True)
class Replicate:
    """`replicate` along new dimensions. numbers: their extents, and `ALL` where the array's own stand."""

    name: str = "replicate"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(node.numbers.count(ALL) == array.rank and 0 < len(node.numbers) <= 8)
        own = iter(array.dims)
        return (ArrayType(array.element, tuple(next(own) if n == ALL else Dim(n) for n in node.numbers)),)

    def source(self, node: Node) -> str:
        return f"A.replicate({specification(node.numbers)}, {name_of(node.arguments[0])})"


def propose_replicate(world: World) -> Node | None:
    """One or two new dimensions anywhere."""
    array = world.array(lambda array: array.rank < 7)
    if array is None:
        return None
    numbers = [ALL] * array[1].rank
    for _ in range(world.draw.pick((1, 1, 2))):
        numbers.insert(world.draw.below(len(numbers) + 1), world.extents_of(array[1].rank + 1)[0])
    return Node(Replicate(), (array[0],), numbers=tuple(numbers))


@dataclass(frozen=True, slots=True)
class Slice:
    """`slice`. numbers: for each dimension an index, or `ALL`."""

    name: str = "slice"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(len(node.numbers) == array.rank > 0)
        pairs = list(zip(array.dims, node.numbers, strict=True))
        require(all(index == ALL or (dim.rigid is None and dim.value > index) for dim, index in pairs))
        return (ArrayType(array.element, tuple(dim for dim, index in pairs if index == ALL)),)

    def source(self, node: Node) -> str:
        return f"A.slice({name_of(node.arguments[0])}, {specification(node.numbers)})"


def propose_slice(world: World) -> Node | None:
    """A row, a column, a plane, an element."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    first = world.draw.below(array[1].rank)
    numbers = [
        world.draw.below(max(1, dim.value)) if axis == first or world.draw.chance(25) else ALL
        for axis, dim in enumerate(array[1].dims)
    ]
    return Node(Slice(), (array[0],), numbers=tuple(numbers))


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


@dataclass(frozen=True, slots=True)
class Scatter:
    """`scatter`; arguments: defaults, indices, values, all vectors."""

    name: str = "scatter"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        defaults, indices, values = (types(ref) for ref in node.arguments)
        require(defaults.rank == 1 and fillable(defaults) and defaults.element == values.element)
        require(indices.element == (I64,) and indices.rank == 1 and indices.dims == values.dims)
        return (defaults,)

    def source(self, node: Node) -> str:
        defaults, indices, values = map(name_of, node.arguments)
        return f"A.scatter({inside(indices, defaults, 1)}, {defaults}, {values})"


def propose_overwrite(world: World) -> Node | None:
    """Vectors of indices and values, and one of the values' type."""
    node = propose_scatter(world)
    return None if node is None else Node(Scatter(), node.arguments)
