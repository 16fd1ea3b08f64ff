"""Scalar expressions to scalar code: graphs of typed nodes become let-bound blocks over machine scalars.

In: scalar nodes of `accel.ast` whose sharing is object identity and whose types are tuples. Out: a `Function`, simplified.
A tuple is its leaves and costs nothing. A shared node is computed once, in the innermost block that serves all its uses;
a load or a loop never runs where the user's laziness skips it (`regions.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, assert_never

from accel.ast.tree.nodes import (
    ArrayNode,
    Conditional,
    Index,
    Literal,
    MakeTuple,
    Operation,
    Parameter,
    Project,
    ScalarNode,
    ShapeOf,
    While,
)
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import ComplexType, ElementType, MaybeType, ScalarType, TupleType, leaves
from accel.ast.tree.walk import postorder
from accel.errors import AccelInternalError
from accel.labelled import scalar
from accel.labelled.array import Array, Shape
from accel.labelled.construction import regions
from accel.labelled.scalar import Block, Function, Operand, Statement, Variable
from accel.labelled.scalars.simplify import simplify

Leaves: TypeAlias = tuple[Array, ...]

Resolve: TypeAlias = Callable[[ArrayNode], tuple[Leaves, Shape]]
"""The leaves and the shape of an array that scalar code refers to."""

_Region: TypeAlias = regions.Region[ScalarNode]


def children(node: ScalarNode) -> tuple[tuple[ScalarNode, int | None], ...]:
    """What a scalar node uses, and in which of its parts: see `regions.Shape`."""
    match node:
        case Literal() | Parameter() | ShapeOf():
            return ()
        case Operation(_, items) | MakeTuple(items):
            return tuple([(item, None) for item in items])
        case Project(source) | Index(_, source):
            return ((source, None),)
        case Conditional(condition, then, orelse):
            return ((condition, None), (then, 0), (orelse, 1))
        case While(_, condition, body, initial):
            return ((initial, None), (condition, 0), (body, 1))
        case _:
            assert_never(node)


def arrays_used(roots: Iterable[ScalarNode]) -> tuple[dict[ArrayNode, None], dict[ArrayNode, None]]:
    """The arrays that scalar code loads from, and those whose shape it asks, in order of first use."""
    loaded: dict[ArrayNode, None] = {}
    measured: dict[ArrayNode, None] = {}
    for node in postorder(roots, lambda node: [child for child, _ in children(node)]):
        if isinstance(node, Index):
            loaded[node.array] = None
        elif isinstance(node, ShapeOf):
            measured[node.array] = None
    return loaded, measured


def flatten(parameters: Sequence[Parameter], results: Sequence[ScalarNode], resolve: Resolve) -> Function:
    """The function of the leaves of `parameters` that gives the leaves of `results`."""
    shape = regions.Shape(children, _state, lambda node: isinstance(node, Index | While), strict=True)
    code = _Code(regions.place(results, shape), resolve)
    variables = [variable for parameter in parameters for variable in code.bind(parameter)]
    statements = code.statements(code.placement.root)
    found = tuple([leaf for result in results for leaf in code.leaves(result, code.placement.root)])
    return simplify(Function(tuple(variables), Block(statements, found)))


def _state(node: ScalarNode) -> Sequence[ScalarNode] | None:
    return (node.parameter,) if isinstance(node, While) else None


def offset(of: ElementType, position: int) -> int:
    """Where the leaves of an item of a tuple start."""
    match of:
        case TupleType(items):
            return sum(len(leaves(item)) for item in items[:position])
        case MaybeType() | ComplexType():
            return position
        case ScalarType():
            raise AccelInternalError("a scalar has no items")
        case _:
            assert_never(of)


class _Code:
    """Emits statements region by region. It recurses on nested control flow only, whose depth `regions` bounds."""

    def __init__(self, placement: regions.Placement[ScalarNode], resolve: Resolve) -> None:
        self.placement = placement
        self._resolve = resolve
        self._count = 0
        self._values: dict[tuple[ScalarNode, _Region], tuple[Operand, ...]] = {}

    def fresh(self, element: ElementType) -> tuple[Variable, ...]:
        self._count += len(leaves(element))
        first = self._count - len(leaves(element))
        return tuple([Variable(first + i, kind) for i, kind in enumerate(leaves(element))])

    def bind(self, parameter: Parameter) -> tuple[Variable, ...]:
        variables = self.fresh(parameter.type)
        self._values[parameter, self.placement.root] = variables
        return variables

    def leaves(self, node: ScalarNode, region: _Region) -> tuple[Operand, ...]:
        """The value of a node as seen from a region: it stands there or further out."""
        place: _Region | None = region
        while place is not None:
            if (node, place) in self._values:
                return self._values[node, place]
            place = place.parent
        raise AccelInternalError(f"no value for {type(node).__name__} here: a parameter of another function?")

    def statements(self, region: _Region) -> tuple[Statement, ...]:
        statements: list[Statement] = []
        for node in self.placement.nodes.get(region, ()):
            if not isinstance(node, Parameter):  # bound by its function or loop
                self._values[node, region] = self._value(node, region, statements)
        return tuple(statements)

    def _value(self, node: ScalarNode, region: _Region, statements: list[Statement]) -> tuple[Operand, ...]:
        match node:
            case Literal(kind, value):
                return (scalar.constant(kind, value),)
            case Parameter():
                return self.leaves(node, region)
            case Operation(operator, arguments, kind):
                (out,) = self.fresh(kind)
                operands = tuple([self.leaves(argument, region)[0] for argument in arguments])
                statements.append(scalar.Compute(out, operator, operands))
                return (out,)
            case MakeTuple(items):
                return tuple([leaf for item in items for leaf in self.leaves(item, region)])
            case Project(source, position):
                start = offset(source.type, position)
                return self.leaves(source, region)[start : start + len(leaves(node.type))]
            case Conditional():
                return self._conditional(node, region, statements)
            case While():
                return self._while(node, region, statements)
            case Index(array, index):
                return self._index(node, array, self.leaves(index, region), statements)
            case ShapeOf(array):
                return self._resolve(array)[1]
            case _:
                assert_never(node)

    def _index(
        self, node: Index, array: ArrayNode, index: tuple[Operand, ...], statements: list[Statement]
    ) -> tuple[Operand, ...]:
        outs = self.fresh(node.type)
        for out, source in zip(outs, self._resolve(array)[0], strict=True):
            statements.append(scalar.Load(out, source, index, node.where))
        return outs

    def _conditional(self, node: Conditional, region: _Region, statements: list[Statement]) -> tuple[Operand, ...]:
        (condition,) = self.leaves(node.condition, region)
        outs = self.fresh(node.type)
        parts = [self.placement.inner(node, region, part) for part in (0, 1)]
        if region in parts:  # too deep: both were computed here
            pairs = zip(self.leaves(node.then, region), self.leaves(node.orelse, region), strict=True)
            for out, (then, orelse) in zip(outs, pairs, strict=True):
                statements.append(scalar.Compute(out, Operator.SELECT, (condition, then, orelse)))
        else:
            blocks = [self._block(root, part) for root, part in zip((node.then, node.orelse), parts, strict=True)]
            statements.append(scalar.If(outs, condition, *blocks))
        return outs

    def _while(self, node: While, region: _Region, statements: list[Statement]) -> tuple[Operand, ...]:
        state = self.fresh(node.type)
        blocks = []
        for part, root in enumerate((node.condition, node.body)):
            inner = self.placement.inner(node, region, part)
            self._values[node.parameter, inner] = state
            blocks.append(self._block(root, inner))
        outs = self.fresh(node.type)
        statements.append(scalar.While(outs, state, self.leaves(node.initial, region), *blocks))
        return outs

    def _block(self, root: ScalarNode, region: _Region) -> Block:
        statements = self.statements(region)
        return Block(statements, self.leaves(root, region))
