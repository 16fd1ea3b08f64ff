"""Operations that put arrays together, and those that move elements where a mask or a maybe says so."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import BOOL, I64
from tests.differential.elementwise import name_of
from tests.differential.movement import fillable, inside
from tests.differential.programs import ArrayType, Dim, Node, Types, require
from tests.differential.reductions import check_combiner
from tests.differential.scalars import function_text
from tests.differential.world import World


@dataclass(frozen=True, slots=True)
class Append:
    """`append` and `concatOn`. numbers: the axis, for `concatOn`."""

    name: str = "append"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        left, right = (types(ref) for ref in node.arguments)
        require(left.rank == right.rank > 0 and left.element == right.element)
        axis = node.numbers[0] if node.numbers else left.rank - 1
        require(axis < left.rank and not left.is_hollow and not right.is_hollow)
        pairs = [*zip(left.dims, right.dims, strict=True)]
        require(all(one == other for at, (one, other) in enumerate(pairs) if at != axis))
        require(all(dim.rigid is None for dim in pairs[axis]))
        both = Dim(left.dims[axis].value + right.dims[axis].value)
        return (ArrayType(left.element, (*left.dims[:axis], both, *left.dims[axis + 1 :])),)

    def source(self, node: Node) -> str:
        return f"A.{self.name}({', '.join([*map(str, node.numbers), *map(name_of, node.arguments)])})"


def propose_append(world: World) -> Node | None:
    """Two arrays that agree in all dimensions but one."""
    left = world.array(lambda array: array.rank > 0)
    if left is None:
        return None
    rank = left[1].rank
    axis = world.draw.below(rank)

    def outer(array: ArrayType) -> tuple[Dim, ...]:
        return (*array.dims[:axis], *array.dims[axis + 1 :])

    right = (
        world.array(lambda a: a.rank == rank and a.element == left[1].element and outer(a) == outer(left[1])) or left
    )
    if axis == rank - 1 and world.draw.chance(50):
        return Node(Append(), (left[0], right[0]))
    return Node(Append("concatOn"), (left[0], right[0]), numbers=(axis,))


PREDICATES = ("lambda m: m", "lambda m: ~m")


@dataclass(frozen=True, slots=True)
class GatherIf:
    """`gatherIf`; arguments: indices, mask, defaults, source. numbers: the predicate, the source's rank."""

    name: str = "gatherIf"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        indices, mask, defaults, array = (types(ref) for ref in node.arguments)
        require(indices.element == (I64,) and mask.element == (BOOL,) and defaults.element == array.element)
        require(indices.dims == mask.dims == defaults.dims and fillable(array) and array.rank == node.numbers[1])
        return (defaults,)

    def source(self, node: Node) -> str:
        indices, mask, defaults, array = map(name_of, node.arguments)
        places = inside(indices, array, node.numbers[1])
        return f"A.gatherIf({places}, {mask}, {PREDICATES[node.numbers[0]]}, {defaults}, {array})"


def propose_gather_if(world: World) -> Node | None:
    """Indices, a mask and defaults of equal extents, and an array of the defaults' type."""
    mask = world.array(lambda array: array.element == (BOOL,))
    if mask is None:
        return None
    indices = world.array(lambda array: array.dims == mask[1].dims and array.element == (I64,))
    defaults = world.array(lambda array: array.dims == mask[1].dims)
    if indices is None or defaults is None:
        return None
    array = world.array(lambda other: other.element == defaults[1].element and fillable(other))
    if array is None:
        return None
    arguments = (indices[0], mask[0], defaults[0], array[0])
    return Node(GatherIf(), arguments, numbers=(world.draw.below(2), array[1].rank))


@dataclass(frozen=True, slots=True)
class ScatterIf:
    """`scatterIf`; arguments: indices, mask, defaults, values, all vectors. numbers: the predicate."""

    name: str = "scatterIf"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        indices, mask, defaults, values = (types(ref) for ref in node.arguments)
        require(defaults.rank == 1 and fillable(defaults) and defaults.element == values.element)
        require(indices.element == (I64,) and mask.element == (BOOL,))
        require(indices.rank == 1 and indices.dims == mask.dims == values.dims)
        return (defaults,)

    def source(self, node: Node) -> str:
        indices, mask, defaults, values = map(name_of, node.arguments)
        predicate = PREDICATES[node.numbers[0]]
        return f"A.scatterIf({inside(indices, defaults, 1)}, {mask}, {predicate}, {defaults}, {values})"


def propose_scatter_if(world: World) -> Node | None:
    """Indices, a mask and values of one extent, and a vector of the values' type."""
    mask = world.array(lambda array: array.element == (BOOL,) and array.rank == 1)
    if mask is None:
        return None
    indices = world.array(lambda array: array.dims == mask[1].dims and array.element == (I64,))
    values = world.array(lambda array: array.dims == mask[1].dims)
    if indices is None or values is None:
        return None
    defaults = world.array(lambda other: other.element == values[1].element and fillable(other) and other.rank == 1)
    if defaults is None:
        return None
    return Node(ScatterIf(), (indices[0], mask[0], defaults[0], values[0]), numbers=(world.draw.below(2),))


@dataclass(frozen=True, slots=True)
class PermuteWith:
    """`permuteWith`; arguments: defaults, indices, values. numbers: the rank of the defaults. Odd indices are dropped."""

    name: str = "permuteWith"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        defaults, indices, values = (types(ref) for ref in node.arguments)
        require(defaults.rank == node.numbers[0] and fillable(defaults))
        require(indices.element == (I64,) and indices.dims == values.dims and defaults.element == values.element)
        check_combiner(node, values, False)
        return (defaults,)

    def source(self, node: Node) -> str:
        defaults, indices, values = map(name_of, node.arguments)
        places = [f"(i + {axis}) % A.unlift({defaults}.shape)[{axis}]" for axis in range(node.numbers[0])]
        pair = f"A.cond(i % 2 == 0, A.just(A.lift(A.index({', '.join(places)}), v)), A.nothing())"
        pairs = f"A.zipWith(lambda i, v: {pair}, {indices}, {values})"
        return f"A.permuteWith({function_text(node.functions[0], name_of)}, {defaults}, {pairs})"


def propose_permute_with(world: World) -> Node | None:
    """Indices and values of equal extents, and an array of the values' type."""
    indices = world.array(lambda array: array.element == (I64,))
    if indices is None:
        return None
    values = world.array(lambda array: array.dims == indices[1].dims) or indices
    defaults = world.array(lambda array: array.element == values[1].element and fillable(array))
    if defaults is None:
        return None
    arguments = (defaults[0], indices[0], values[0])
    return Node(PermuteWith(), arguments, (world.combiner(values[1].element),), (defaults[1].rank,))
