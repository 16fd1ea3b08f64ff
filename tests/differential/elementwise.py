"""Operations that work element by element, and those that make arrays."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import BOOL, I64
from tests.differential.forms import Form, form_of
from tests.differential.programs import ArrayType, Dim, Node, Ref, Types, require
from tests.differential.scalars import check, function_text, index_parameter, parameter
from tests.differential.world import World, dims

HOLLOW = 5
"""The layout of an argument whose rows are all the same memory: it may have more elements than memory holds."""

LAYOUTS = (0, 1, 2, 3, 4, 6, 7, 8)
"""The others, which `laid_out` in `data.py` makes."""

PARAMETERS = ("p", "q", "r", "s", "u", "v", "w", "y", "z")


def name_of(ref: Ref) -> str:
    """The variable that holds a result."""
    return f"t{ref.node}" if ref.result == 0 else f"t{ref.node}_{ref.result}"


def shape_text(extents: tuple[int, ...]) -> str:
    """A shape as a Python tuple."""
    return f"({', '.join(map(str, extents))}{',' if len(extents) == 1 else ''})"


@dataclass(frozen=True, slots=True)
class Input:
    """An argument of the program. numbers: the seed of its data, its layout, its extents."""

    name: str = "input"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        require(len(node.element) == 1)
        require((node.numbers[1] == HOLLOW) >= ArrayType(node.element, dims(*node.numbers[2:])).is_hollow)
        return (ArrayType(node.element, dims(*node.numbers[2:])),)

    def source(self, node: Node) -> str:
        raise NotImplementedError("an input is a parameter of the printed function")


@dataclass(frozen=True, slots=True)
class Map:
    """`map`, `imap`, `zipWith`, `izipWith`, those of 3 to 9 arrays; `nzip`. numbers: 1 if the function takes the index."""

    name: str = "map"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        arrays = [types(ref) for ref in node.arguments]
        require(all(array.dims == arrays[0].dims for array in arrays))
        leaves = [parameter(name, array.element) for name, array in zip(PARAMETERS, arrays, strict=False)]
        if node.numbers[0]:
            leaves.insert(0, index_parameter("ix", arrays[0].rank))
        require(check(node.functions[0], node.element, leaves))
        return (ArrayType(node.element, arrays[0].dims),)

    def source(self, node: Node) -> str:
        count = len(node.arguments)
        plain = "map" if count == 1 else "zipWith" if count == 2 else f"zipWith{count}"
        plain = self.name if self.name == "nzip" else plain
        arguments = ", ".join(map(name_of, node.arguments))
        return f"A.{'i' * node.numbers[0]}{plain}({function_text(node.functions[0], name_of)}, {arguments})"


def propose_map(world: World) -> Node | None:
    """One to nine arrays of equal extents."""
    first = world.array(lambda array: True)
    if first is None:
        return None
    arrays = [first]
    for _ in range(world.draw.pick((0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8))):
        other = world.array(lambda array: array.dims == first[1].dims)
        arrays.append(other or first)
    parameters = [(name, parameter(name, array.element)) for name, (_, array) in zip(PARAMETERS, arrays, strict=False)]
    name = "nzip" if world.draw.chance(5) else "map"
    indexed = int(name == "map" and world.draw.chance(20))
    if indexed:
        parameters.insert(0, ("ix", index_parameter("ix", first[1].rank)))
    element = world.element()
    return Node(Map(name), tuple(ref for ref, _ in arrays), (world.function(parameters, element),), (indexed,), element)


@dataclass(frozen=True, slots=True)
class Zip:
    """`zip`, `zip3` to `zip9` of arrays of scalars."""

    name: str = "zip"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        arrays = [types(ref) for ref in node.arguments]
        require(all(array.dims == arrays[0].dims and len(array.element) == 1 for array in arrays))
        return (ArrayType(tuple(array.element[0] for array in arrays), arrays[0].dims),)

    def source(self, node: Node) -> str:
        suffix = "" if len(node.arguments) == 2 else str(len(node.arguments))
        return f"A.zip{suffix}({', '.join(map(name_of, node.arguments))})"


def propose_zip(world: World) -> Node | None:
    """Two or three arrays of scalars, now and then up to nine."""
    first = world.array(lambda array: len(array.element) == 1)
    if first is None:
        return None
    others = [
        world.array(lambda array: array.dims == first[1].dims and len(array.element) == 1) or first
        for _ in range(world.draw.pick((1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8)))
    ]
    return Node(Zip(), (first[0], *(ref for ref, _ in others)))


@dataclass(frozen=True, slots=True)
class Unzip:
    """The parts of an array of tuples: `unzip`, `unzip3` to `unzip9`."""

    name: str = "unzip"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(len(array.element) == node.results and 2 <= node.results <= 9)
        require(form_of(array.element) is Form.PLAIN)
        return tuple(ArrayType((leaf,), array.dims) for leaf in array.element)

    def source(self, node: Node) -> str:
        return f"A.unzip{node.results if node.results > 2 else ''}({name_of(node.arguments[0])})"


def propose_unzip(world: World) -> Node | None:
    """An array of tuples."""
    array = world.array(lambda array: 2 <= len(array.element) <= 9 and form_of(array.element) is Form.PLAIN)
    return None if array is None else Node(Unzip(), (array[0],), results=len(array[1].element))


@dataclass(frozen=True, slots=True)
class Generate:
    """`generate`; numbers: the extents, or none for the shape of the argument."""

    name: str = "generate"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        shape: tuple[Dim, ...] = types(node.arguments[0]).dims if node.arguments else dims(*node.numbers)
        require(check(node.functions[0], node.element, [index_parameter("ix", len(shape))]))
        return (ArrayType(node.element, shape),)

    def source(self, node: Node) -> str:
        shape = f"{name_of(node.arguments[0])}.shape" if node.arguments else shape_text(node.numbers)
        return f"A.generate({shape}, {function_text(node.functions[0], name_of)})"


def propose_generate(world: World) -> Node | None:
    """Of a new shape or that of another array."""
    like = world.array(lambda array: True) if world.draw.chance(50) else None
    numbers = () if like else world.extents_of(world.draw.pick((0, 1, 1, 1, 1, 2, 2, 2, 3, 4 + world.draw.below(5))))
    rank = like[1].rank if like else len(numbers)
    element = world.element()
    function = world.function([("ix", index_parameter("ix", rank))], element)
    return Node(Generate(), (like[0],) if like else (), (function,), numbers, element)


@dataclass(frozen=True, slots=True)
class Enumeration:
    """`enumFromN`, `enumFromStepN` of scalars; functions: the start, the step; numbers: the extents."""

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        require(len(node.element) == 1 and node.element[0] is not BOOL)
        require(all(check(function, node.element, []) for function in node.functions))
        return (ArrayType(node.element, dims(*node.numbers)),)

    def source(self, node: Node) -> str:
        values = ", ".join(function_text(function, name_of) for function in node.functions)
        return f"A.{self.name}({shape_text(node.numbers)}, {values})"


def propose_enumeration(world: World) -> Node | None:
    """Of rank 0 to 2."""
    element = (world.draw.pick(world.scalars),)
    numbers = tuple(world.extent() for _ in range(world.draw.pick((0, 1, 1, 2))))
    steps = world.draw.below(2)
    values = tuple(world.value(element) for _ in range(1 + steps))
    return Node(Enumeration("enumFromStepN" if steps else "enumFromN"), (), values, numbers, element)


@dataclass(frozen=True, slots=True)
class Indexed:
    """`indexed` of a vector of scalars: pairs."""

    name: str = "indexed"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array = types(node.arguments[0])
        require(array.rank == 1 and len(array.element) == 1)
        return (ArrayType((I64, *array.element), array.dims),)

    def source(self, node: Node) -> str:
        return f"A.map(lambda p: A.lift(A.indexHead(A.fst(p)), A.snd(p)), A.indexed({name_of(node.arguments[0])}))"


def propose_indexed(world: World) -> Node | None:
    """A vector of scalars."""
    array = world.array(lambda array: array.rank == 1 and len(array.element) == 1)
    return None if array is None else Node(Indexed(), (array[0],))


@dataclass(frozen=True, slots=True)
class Fill:
    """`fill` of a shape, `unit` of none."""

    name: str = "fill"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        require(check(node.functions[0], node.element, []))
        return (ArrayType(node.element, dims(*node.numbers)),)

    def source(self, node: Node) -> str:
        value = function_text(node.functions[0], name_of)
        return f"A.fill({shape_text(node.numbers)}, {value})" if node.numbers else f"A.unit({value})"


def propose_fill(world: World) -> Node | None:
    """Of rank 0 to 2."""
    numbers = tuple(world.extent() for _ in range(world.draw.below(3)))
    element = world.element()
    return Node(Fill(), (), (world.value(element),), numbers, element)


@dataclass(frozen=True, slots=True)
class Compute:
    """`compute`: a fusion barrier."""

    name: str = "compute"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        return (types(node.arguments[0]),)

    def source(self, node: Node) -> str:
        return f"A.compute({name_of(node.arguments[0])})"


@dataclass(frozen=True, slots=True)
class OnTheHost:
    """`atrace`; `foreign_acc` of what does nothing; `assert_` of what holds, or, with a function, of that."""

    name: str = "atrace"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        require(not types(node.arguments[0]).is_hollow)
        require(all(check(function, (BOOL,), []) for function in node.functions))
        return (types(node.arguments[0]),)

    def source(self, node: Node) -> str:
        array = name_of(node.arguments[0])
        if self.name == "assert_":
            tests = [function_text(function, name_of) for function in node.functions]
            return f"A.assert_({tests[0] if tests else f'A.size({array}) < {1 << 50}'}, 'asked', {array})"
        if self.name == "atrace":
            return f"A.atrace('traced', {array})"
        return f"A.foreign_acc(lambda x: x, lambda x: x, {array})"


def propose_on_the_host(world: World) -> Node | None:
    """One of them."""
    array = world.array(lambda array: not array.is_hollow)
    if array is None:
        return None
    name = world.draw.pick(("atrace", "foreign_acc", "assert_", "assert_"))
    tests = (world.value((BOOL,)),) if name == "assert_" and world.faulty else ()
    return Node(OnTheHost(name), (array[0],), tests)


def propose_compute(world: World) -> Node | None:
    """Any array."""
    array = world.array(lambda array: True)
    return None if array is None else Node(Compute(), (array[0],))
