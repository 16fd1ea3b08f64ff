"""Array control flow: `acond` with a map in a branch, `awhile` over one array and a counter."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import BOOL
from tests.differential.elementwise import name_of
from tests.differential.programs import NEW, ArrayType, Dim, Node, Types, require
from tests.differential.scalars import check, function_text, parameter, text
from tests.differential.world import World

STEPS = ("map", "zipWith", "scanl1", "reverse", "drop", "awhile", "acond", "iterate", "iiterate")


@dataclass(frozen=True, slots=True)
class Acond:
    """`acond(condition, map(f, x), y)`; functions: the condition, f."""

    name: str = "acond"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        then, orelse = (types(ref) for ref in node.arguments)
        require(then.dims == orelse.dims or (then.rank, orelse.rank) == (1, 1))
        require(check(node.functions[0], (BOOL,), []))
        require(check(node.functions[1], orelse.element, [parameter("p", then.element)]))
        # Vectors of different extents: only running tells which it is.
        return (orelse if then.dims == orelse.dims else ArrayType(orelse.element, (Dim(0, NEW),)),)

    def source(self, node: Node) -> str:
        then, orelse = map(name_of, node.arguments)
        condition = text(node.functions[0].results[0], name_of)
        return f"A.acond({condition}, A.map({function_text(node.functions[1], name_of)}, {then}), {orelse})"


def propose_acond(world: World) -> Node | None:
    """Two arrays of equal extents, or two vectors."""
    then = world.array(lambda array: True)
    if then is None:
        return None
    vectors = then[1].rank == 1 and world.draw.chance(50)
    orelse = world.array(lambda array: array.rank == 1 if vectors else array.dims == then[1].dims) or then
    function = world.function([("p", parameter("p", then[1].element))], orelse[1].element)
    return Node(Acond(), (then[0], orelse[0]), (world.value((BOOL,)), function))


@dataclass(frozen=True, slots=True)
class Awhile:
    """An `awhile` of a few turns. numbers: turns, which step; arguments: the start, and what `zipWith` takes beside it."""

    name: str = "awhile"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        start = types(node.arguments[0])
        step = STEPS[node.numbers[1]]
        leaves = [parameter("p", start.element)]
        if step == "zipWith":
            other = types(node.arguments[1])
            require(other.dims == start.dims)
            leaves.append(parameter("q", other.element))
        if step == "scanl1":
            require(start.rank > 0 and not start.has_many_rows)
            leaves = [parameter("a", start.element), parameter("b", start.element)]
        if step in ("reverse", "drop"):
            require(start.rank == 1)
        require(check(node.functions[0], start.element, leaves))
        return (ArrayType(start.element, (Dim(0, NEW),)) if step == "drop" else start,)

    def source(self, node: Node) -> str:
        turns, step = node.numbers
        function = function_text(node.functions[0], name_of)
        match STEPS[step]:
            case "zipWith":
                body = f"A.zipWith({function}, s[0], {name_of(node.arguments[1])})"
            case "reverse":
                body = f"A.reverse(A.map({function}, s[0]))"
            case "drop":
                body = f"A.drop(1, A.map({function}, s[0]))"
            case "awhile":
                inner = f"(A.map({function}, u[0]), A.map(lambda i: i - 1, u[1]))"
                body = f"A.awhile(lambda u: A.map(lambda i: i > 0, u[1]), lambda u: {inner}, (s[0], s[1]))[0]"
            case "acond":
                body = f"A.acond(A.the(s[1]) % 2 == 0, A.map({function}, s[0]), s[0])"
            case "iterate":
                body = f"A.iterate(A.the(s[1]), lambda u: A.map({function}, u), s[0])"
            case "iiterate":
                turned = f"A.acond(i == 0, A.map({function}, u), u)"
                body = f"A.iiterate(A.the(s[1]), lambda i, u: {turned}, s[0])"
            case other:
                body = f"A.{other}({function}, s[0])"
        condition = f"lambda s: A.map(lambda i: i < {turns}, s[1])"
        start = f"({name_of(node.arguments[0])}, A.unit(A.constant(0, np.int64)))"
        return f"A.awhile({condition}, lambda s: ({body}, A.map(lambda i: i + 1, s[1])), {start})[0]"


def propose_awhile(world: World) -> Node | None:
    """A loop around one operation."""
    start = world.array(lambda array: True)
    if start is None:
        return None
    step = world.draw.below(len(STEPS))
    element = start[1].element
    arguments = [start[0]]
    if STEPS[step] == "scanl1":
        function = world.combiner(element)
    else:
        leaves = [("p", parameter("p", element))]
        if STEPS[step] == "zipWith":
            other = world.array(lambda array: array.dims == start[1].dims) or start
            arguments.append(other[0])
            leaves.append(("q", parameter("q", other[1].element)))
        function = world.function(leaves, element)
    return Node(Awhile(), tuple(arguments), (function,), (world.draw.below(4), step))


@dataclass(frozen=True, slots=True)
class Pairs:
    """Control flow over two arrays of one type: an `awhile` that turns (x, y) into (y, f(x, y)), an `acond` that may swap."""

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        first, second = (types(ref) for ref in node.arguments)
        require(first == second)
        leaves = [parameter("p", first.element), parameter("q", first.element)] if self.name == "awhile2" else []
        require(check(node.functions[0], first.element if leaves else (BOOL,), leaves))
        return (first, first)

    def source(self, node: Node) -> str:
        first, second = map(name_of, node.arguments)
        if self.name == "acond2":
            condition = text(node.functions[0].results[0], name_of)
            return f"A.acond({condition}, ({first}, {second}), ({second}, {first}))"
        step = f"A.zipWith({function_text(node.functions[0], name_of)}, s[0], s[1])"
        count = "A.map(lambda i: i + 1, s[2])"
        condition = f"lambda s: A.map(lambda i: i < {node.numbers[0]}, s[2])"
        start = f"({first}, {second}, A.unit(A.constant(0, np.int64)))"
        return f"A.awhile({condition}, lambda s: (s[1], {step}, {count}), {start})[:2]"


def propose_pairs(world: World) -> Node | None:
    """Two arrays of one type, or one of them twice."""
    first = world.array(lambda array: True)
    if first is None:
        return None
    second = world.array(lambda array: array == first[1]) or first
    element = first[1].element
    if world.draw.chance(50):
        return Node(Pairs("acond2"), (first[0], second[0]), (world.value((BOOL,)),), results=2)
    function = world.function([("p", parameter("p", element)), ("q", parameter("q", element))], element)
    return Node(Pairs("awhile2"), (first[0], second[0]), (function,), (world.draw.below(4),), results=2)
