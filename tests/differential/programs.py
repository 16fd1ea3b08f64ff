"""What a random program is: nodes over nodes, typed by inference, so that every change of it can be checked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias, Union

from accel.ast.tree.types import I64, ScalarType
from tests.differential.forms import Form

Element: TypeAlias = tuple[ScalarType, ...]
"""The leaves of an element type; one leaf is a plain scalar, more are a tuple, or what `forms.py` says."""


class IllTyped(Exception):
    """A node does not fit its arguments: a change of the program was not allowed."""


def require(condition: bool) -> None:
    """Raise `IllTyped` unless the condition holds."""
    if not condition:
        raise IllTyped


@dataclass(frozen=True, slots=True)
class Dim:
    """An extent: a number, or what filter number `rigid` found plus `value`. Equal dims are equal extents."""

    value: int
    rigid: int | None = None

    def plus_one(self) -> Dim:
        return Dim(self.value + 1, self.rigid)


MOST_ELEMENTS = 1 << 20
"""Arrays of more elements are not computed."""


@dataclass(frozen=True, slots=True)
class ArrayType:
    """Element type and extents."""

    element: Element
    dims: tuple[Dim, ...]

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def is_known(self) -> bool:
        """All extents are numbers."""
        return all(dim.rigid is None for dim in self.dims)

    @property
    def size(self) -> int:
        """The number of elements; what a filter found counts as at most 64."""
        total = 1
        for dim in self.dims:
            total *= dim.value if dim.rigid is None else dim.value + 64
        return total

    @property
    def is_hollow(self) -> bool:
        """It has more elements than anybody could compute: only its extents may be used."""
        return self.size > MOST_ELEMENTS

    @property
    def is_huge(self) -> bool:
        """One of its extents is huge; it may have no elements."""
        return any(dim.value > MOST_ELEMENTS for dim in self.dims)

    @property
    def has_many_rows(self) -> bool:
        """There are too many rows to go through them, although they may be empty."""
        return ArrayType(self.element, self.dims[:-1]).is_hollow


@dataclass(frozen=True, slots=True)
class Ref:
    """One result of a node."""

    node: int
    result: int = 0


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    type: ScalarType
    value: bool | int | float


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter of a function, or one item of it; `text` is how it is written."""

    text: str
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator: `template` with the arguments put in."""

    template: str
    arguments: tuple[Expression, ...]
    type: ScalarType


class Clamp(Enum):
    """How an index is moved into bounds: at both ends, or only at the upper one, so that it may be negative."""

    BOTH = "both"
    UPPER = "upper"


@dataclass(frozen=True, slots=True)
class Load:
    """An element (leaf `leaf` of it) of an array; rank 0 is `the`.

    The index is taken modulo the extents; or, if `guarded`, as it is, in a branch that is taken only if it is in bounds;
    or moved into bounds, as `clamp` says.
    """

    array: Ref
    leaf: int | None
    index: tuple[Expression, ...]
    type: ScalarType
    guarded: bool = False
    clamp: Clamp | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """An extent of an array, which may be one that nobody could compute."""

    array: Ref
    axis: int
    type: ScalarType = I64


@dataclass(frozen=True, slots=True)
class Loop:
    """`count` times `value := body`, where `name[1]` is the value: a scalar while loop."""

    name: str
    count: int
    initial: Expression
    body: Expression
    type: ScalarType


Expression: TypeAlias = Union[Literal, Variable, Apply, Load, Extent, Loop]


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function: names of parameters, one expression per leaf of the result, and what the result is."""

    parameters: tuple[str, ...]
    results: tuple[Expression, ...]
    form: Form = Form.PLAIN


class Operation(Protocol):
    """Everything about one combinator: how to propose a node of it, its type, its source."""

    @property
    def name(self) -> str: ...

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        """The types of the results; raises `IllTyped`."""
        ...

    def source(self, node: Node) -> str:
        """A Python expression."""
        ...


@dataclass(frozen=True, slots=True)
class Node:
    """One combinator at work. What `numbers` and `element` mean is the operation's affair."""

    operation: Operation
    arguments: tuple[Ref, ...] = ()
    functions: tuple[Function, ...] = ()
    numbers: tuple[int, ...] = ()
    element: Element = ()
    results: int = field(default=1)


Types: TypeAlias = Callable[[Ref], ArrayType]


@dataclass(frozen=True, slots=True)
class Program:
    """Nodes in order, and which results come out."""

    nodes: tuple[Node, ...]
    outputs: tuple[Ref, ...]


def expressions(expression: Expression) -> Iterator[Expression]:
    """An expression and all inside of it."""
    yield expression
    for inner in children(expression):
        yield from expressions(inner)


def children(expression: Expression) -> tuple[Expression, ...]:
    """The parts of an expression."""
    match expression:
        case Apply(_, arguments, _):
            return arguments
        case Load(index=index):
            return index
        case Loop(_, _, initial, body, _):
            return (initial, body)
        case Literal() | Variable() | Extent():
            return ()


def loads(functions: Sequence[Function]) -> Iterator[Load]:
    """All loads in functions."""
    for function in functions:
        for result in function.results:
            yield from (inner for inner in expressions(result) if isinstance(inner, Load))


def extents(functions: Sequence[Function]) -> Iterator[Extent]:
    """All extents in functions."""
    for function in functions:
        for result in function.results:
            yield from (inner for inner in expressions(result) if isinstance(inner, Extent))


def uses(node: Node) -> tuple[Ref, ...]:
    """Everything that a node needs."""
    loaded = tuple(load.array for load in loads(node.functions))
    return node.arguments + loaded + tuple(extent.array for extent in extents(node.functions))


def check_functions(node: Node, types: Types) -> None:
    """Loads fit their arrays; those that are not guarded need an index in bounds to be there."""
    require(all(extent.axis < types(extent.array).rank for extent in extents(node.functions)))
    require(not any(types(ref).is_hollow for ref in node.arguments))
    for load in loads(node.functions):
        array = types(load.array)
        require(not array.is_hollow)
        require(array.rank == len(load.index) and (array.is_known or load.guarded))
        require(load.type == array.element[load.leaf or 0] and (load.leaf is None) == (len(array.element) == 1))
        require(load.guarded or all(dim.value > 0 for dim in array.dims))


def infer(program: Program) -> list[tuple[ArrayType, ...]]:
    """The types of all nodes; raises `IllTyped`."""
    found: list[tuple[ArrayType, ...]] = []
    for node in program.nodes:
        found.append(inferred(found, node))
    require(not any(found[ref.node][ref.result].is_hollow for ref in program.outputs))
    return found


def inferred(found: Sequence[tuple[ArrayType, ...]], node: Node) -> tuple[ArrayType, ...]:
    """The types of a node behind those whose types are `found`; raises `IllTyped`."""

    def types(ref: Ref) -> ArrayType:
        return found[ref.node][ref.result]

    check_functions(node, types)
    arrays = node.operation.infer(node, types)
    require(all(dim.value >= 0 for array in arrays for dim in array.dims))
    return tuple(_rigid(array, len(found)) for array in arrays)


NEW = -1
"""An operation names its own unknown extent so; inference puts the node's number."""


def _rigid(array: ArrayType, node: int) -> ArrayType:
    dims = tuple(Dim(dim.value, node) if dim.rigid == NEW else dim for dim in array.dims)
    return ArrayType(array.element, dims)


def live(program: Program) -> Program:
    """The program without the nodes that nobody needs."""
    needed = {ref.node for ref in program.outputs}
    for number in reversed(range(len(program.nodes))):
        if number in needed:
            needed |= {ref.node for ref in uses(program.nodes[number])}
    number_of = {old: new for new, old in enumerate(sorted(needed))}

    def renumber(ref: Ref) -> Ref:
        return Ref(number_of[ref.node], ref.result)

    nodes = tuple(rename(node, renumber) for number, node in enumerate(program.nodes) if number in needed)
    return Program(nodes, tuple(renumber(ref) for ref in program.outputs))


def rename(node: Node, renumber: Callable[[Ref], Ref]) -> Node:
    """The node with other references."""

    def inside(expression: Expression) -> Expression:
        match expression:
            case Literal() | Variable():
                return expression
            case Apply(template, arguments, kind):
                return Apply(template, tuple(inside(argument) for argument in arguments), kind)
            case Load(array, leaf, index, kind, guarded, clamp):
                return Load(renumber(array), leaf, tuple(inside(part) for part in index), kind, guarded, clamp)
            case Extent(array, axis):
                return Extent(renumber(array), axis)
            case Loop(name, count, initial, body, kind):
                return Loop(name, count, inside(initial), inside(body), kind)

    functions = tuple(
        Function(function.parameters, tuple(inside(result) for result in function.results), function.form)
        for function in node.functions
    )
    arguments = tuple(renumber(ref) for ref in node.arguments)
    return Node(node.operation, arguments, functions, node.numbers, node.element, node.results)


INDEX: Element = (I64,)
