"""Labelled programs and plans written by hand, for tests of the stages after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from accel.ast.tree.nodes import Direction, ScanForm
from accel.ast.tree.operators import COMPARISONS, Operator
from accel.ast.tree.types import BOOL, F32, F64, I64, ScalarType
from accel.ilp.problem.clustering import BACKWARD, FORWARD, Cluster, Clustering, Plan, Traversal
from accel.labelled.algebra import Monoid, monoid_of
from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.nodes import (
    Backpermute,
    Binding,
    BindSizes,
    Copy,
    Filter,
    Fold,
    FoldSegments,
    Force,
    Gather,
    Generate,
    Map,
    Operation,
    Program,
    Reshape,
    Scan,
    ScanSegments,
    Scatter,
    Use,
)
from accel.labelled.scalar import Block, Compute, Constant, Function, Load, Operand, Statement, Variable, constant


def _monoid(combine: Function, kind: ScalarType) -> Monoid:
    """What is known of it; of floats nothing is exact, not even a maximum."""
    return replace(monoid_of(combine), exact=not kind.is_float)


class Body:
    """A scalar function under construction."""

    def __init__(self, *parameters: ScalarType) -> None:
        self.parameters = tuple(Variable(number, kind) for number, kind in enumerate(parameters))
        self._statements: list[Statement] = []

    def _fresh(self, kind: ScalarType) -> Variable:
        return Variable(len(self.parameters) + len(self._statements), kind)

    def op(self, operator: Operator, *arguments: Operand, kind: ScalarType | None = None) -> Variable:
        first = I64 if isinstance(arguments[0], Extent) else arguments[0].type
        out = self._fresh(kind or (BOOL if operator in COMPARISONS else first))
        self._statements.append(Compute(out, operator, arguments))
        return out

    def load(self, array: Array, *index: Operand) -> Variable:
        out = self._fresh(array.element)
        self._statements.append(Load(out, array, index))
        return out

    def gives(self, *results: Operand) -> Function:
        return Function(self.parameters, Block(tuple(self._statements), results))


def binary(operator: Operator, kind: ScalarType, rank: int = 0) -> Function:
    """`operator` of the last two parameters, after `rank` indices."""
    body = Body(*[I64] * rank, kind, kind)
    return body.gives(body.op(operator, body.parameters[rank], body.parameters[rank + 1]))


def affine(kind: ScalarType, rank: int, factor: float, summand: float) -> Function:
    """`x * factor + summand` of the parameter after `rank` indices."""
    body = Body(*[I64] * rank, kind)
    product = body.op(Operator.MUL, body.parameters[rank], number(kind, factor))
    return body.gives(body.op(Operator.ADD, product, number(kind, summand)))


def number(kind: ScalarType, value: float) -> Constant:
    return constant(kind, value if kind.is_float else int(value))


def always(value: Operand, rank: int = 0) -> Function:
    return Body(*[I64] * rank).gives(value)


class Hand:
    """A labelled program under construction: every method adds one operation."""

    def __init__(self, first_label: Label = 0, first_size: int = 0) -> None:
        self.bindings: list[Binding] = []
        self.parameters: list[tuple[Array, ...]] = []
        self.next = first_label
        self._sizes = first_size

    def size(self) -> Extent:
        self._sizes += 1
        return Extent(SizeVariable(self._sizes - 1), 0)

    def skip_to(self, label: Label, size: int) -> None:
        """Go on with these numbers: those between are a sub-program's."""
        self.next, self._sizes = label, size

    def add(self, operation: Operation, *types: tuple[ScalarType, Shape]) -> tuple[Array, ...]:
        arrays = self._arrays(*types)
        self.bindings.append(Binding(self.next - 1, operation, arrays))
        return arrays

    def _arrays(self, *types: tuple[ScalarType, Shape]) -> tuple[Array, ...]:
        self.next += 1
        return tuple(Array(self.next - 1, leaf, kind, shape) for leaf, (kind, shape) in enumerate(types))

    def given(self, kind: ScalarType, *shape: Extent) -> Array:
        """A parameter of a loop, which has no binding."""
        self.parameters.append(self._arrays((kind, shape)))
        return self.parameters[-1][0]

    def use(self, kind: ScalarType, *shape: Extent) -> Array:
        arrays = self.add(Use(len(self.parameters)), (kind, shape))
        self.parameters.append(arrays)
        return arrays[0]

    def generate(self, function: Function, *shape: Extent, kind: ScalarType = F64) -> Array:
        return self.add(Generate(function), (kind, shape))[0]

    def map(self, function: Function, *inputs: Array, kind: ScalarType | None = None) -> Array:
        return self.add(Map(function, inputs), (kind or inputs[0].element, inputs[0].shape))[0]

    def affine(self, array: Array, factor: float = 2, summand: float = 1) -> Array:
        return self.map(affine(array.element, len(array.shape), factor, summand), array)

    def zip(self, operator: Operator, left: Array, right: Array) -> Array:
        return self.map(binary(operator, left.element, len(left.shape)), left, right)

    def gather(self, indices: Array, *inputs: Array) -> Array:
        return self.add(Gather((indices,), inputs), *((a.element, indices.shape) for a in inputs))[0]

    def backpermute(self, function: Function, source: Array, *shape: Extent, shrinking: bool = True) -> Array:
        return self.add(Backpermute(function, (source,), shrinking), (source.element, shape))[0]

    def fold(
        self, array: Array, operator: Operator = Operator.ADD, seed: float | None = 0, dimensions: int = 1
    ) -> Array:
        kind = array.element
        initial = None if seed is None else always(number(kind, seed))
        name = "fold1" if initial is None else "fold"
        combine = binary(operator, kind)
        operation = Fold(combine, initial, (array,), _monoid(combine, kind), name, dimensions)
        return self.add(operation, (kind, array.shape[:-dimensions]))[0]

    def segments(
        self, starts: Array, ends: Array, array: Array, operator: Operator = Operator.ADD, seed: float | None = 0
    ) -> Array:
        kind = array.element
        combine, initial = binary(operator, kind), None if seed is None else always(number(kind, seed))
        operation = FoldSegments(combine, initial, starts, ends, (array,), _monoid(combine, kind))
        return self.add(operation, (kind, starts.shape))[0]

    def scan_segments(self, starts: Array, ends: Array, array: Array, operator: Operator = Operator.ADD) -> Array:
        kind = array.element
        combine = binary(operator, kind)
        operation = ScanSegments(
            combine, None, starts, ends, (array,), Direction.LEFT, ScanForm.INCLUSIVE, _monoid(combine, kind)
        )
        return self.add(operation, (kind, array.shape))[0]

    def scan(
        self,
        array: Array,
        form: ScanForm = ScanForm.EXCLUSIVE,
        direction: Direction = Direction.LEFT,
        operator: Operator = Operator.ADD,
    ) -> tuple[Array, ...]:
        kind, (*outer, inner) = array.element, array.shape
        initial = None if form is ScanForm.INCLUSIVE else always(number(kind, 1))
        combine = binary(operator, kind)
        operation = Scan(combine, initial, (array,), direction, form, _monoid(combine, kind))
        if form is ScanForm.TOTAL:
            return self.add(operation, (kind, array.shape), (kind, tuple(outer)))
        longer = Extent(inner.variable, inner.offset + (form is ScanForm.EXCLUSIVE))
        return self.add(operation, (kind, (*outer, longer)))

    def filter(self, array: Array, above: float = 0) -> tuple[Array, Array]:
        body = Body(array.element)
        predicate = body.gives(body.op(Operator.GT, body.parameters[0], number(array.element, above)))
        made = self.add(Filter(predicate, (array,)), (array.element, (self.size(),)), (I64, array.shape[:-1]))
        return made[0], made[1]

    def copy(self, array: Array) -> Array:
        return self.add(Copy((array,)), (array.element, array.shape))[0]

    def scatter(
        self,
        destination: Array,
        indices: Sequence[Array],
        values: Array,
        keep: Array | None = None,
        operator: Operator = Operator.ADD,
    ) -> Array:
        kind = values.element
        combine = binary(operator, kind)
        operation = Scatter(combine, (destination,), keep, tuple(indices), (values,), _monoid(combine, kind))
        return self.add(operation, (kind, destination.shape))[0]

    def force(self, array: Array) -> Array:
        return self.add(Force((array,)), (array.element, array.shape))[0]

    def reshape(self, array: Array, *shape: Extent) -> Array:
        return self.add(Reshape((array,)), (array.element, shape))[0]

    def sizes(self, function: Function, count: int = 1) -> tuple[Extent, ...]:
        fresh = tuple(self.size() for _ in range(count))
        self.add(BindSizes(tuple(each.variable for each in fresh if each.variable), function))
        return fresh

    def program(self, *results: Array) -> Program:
        own = tuple(parameter[0].shape for parameter in self.parameters)
        return Program(tuple(self.parameters), tuple(self.bindings), results, own)


def plan(
    program: Program,
    *clusters: Sequence[Label],
    orders: Mapping[Label, Traversal] | None = None,
    inner: tuple[tuple[Label, tuple[Plan, Plan]], ...] = (),
) -> Plan:
    """A plan: the clusters named, all other operations alone; by the first label of each."""
    named = {label for cluster in clusters for label in cluster}
    alone = [(binding.label,) for binding in program.bindings if binding.label not in named]
    every = sorted([*alone, *map(tuple, clusters)], key=max)
    known = orders or {}
    default = {binding.label: _order(binding) for binding in program.bindings}
    made = tuple(
        Cluster(tuple(labels), tuple(known.get(label, default[label]) for label in labels)) for labels in every
    )
    return Plan(Clustering(made), inner, "by hand", "none", None, (), (), False, 0.0)


def _order(binding: Binding) -> Traversal:
    operation = binding.operation
    right = isinstance(operation, Scan) and operation.direction is Direction.RIGHT
    return BACKWARD if right else FORWARD


def at(gather: Array) -> Traversal:
    """The order of a gather."""
    return Traversal(gather.label, False)


def dot_product() -> Program:
    """`fold add 0 (zipWith mul xs ys)`."""
    hand = Hand()
    n = hand.size()
    xs, ys = hand.use(F32, n), hand.use(F32, n)
    return hand.program(hand.fold(hand.zip(Operator.MUL, xs, ys)))
