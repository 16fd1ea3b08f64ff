"""Building a program: labels, sizes, and the bindings of one region at a time.

A `Building` is what all regions of one program share; a `Scope` collects the bindings of one region. Shapes are stated in the
variables that arrays were given at first; `build.py` resolves them when all requirements are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import assert_never

from accel.ast.handles.extents import require_extents, unequal
from accel.ast.tree.nodes import ArrayNode, ScalarNode
from accel.ast.tree.nodes import Function as AstFunction
from accel.ast.tree.types import ScalarType, leaves
from accel.errors import AccelInternalError, Where
from accel.labelled import nodes, rewrite
from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.construction import regions
from accel.labelled.construction.flatten import Leaves, flatten
from accel.labelled.nodes import Binding, Equality, Operation, RequireEqual
from accel.labelled.scalar import Constant, Function, Operand, Variable
from accel.labelled.scalar_text import extent_text
from accel.labelled.scalars.simplify import select_results
from accel.labelled.sizes import Sizes, Verdict
from accel.support.dataclass import dataclass

Region = regions.Region[ArrayNode]


@dataclass(frozen=True, slots=True)
class Value:
    """What an array node has become: its leaves, their shape, and the user's call. after: labels of what must have been checked
    before what `topK` and `subdivide` make of it."""

    leaves: Leaves
    shape: Shape
    where: Where | None
    after: tuple[Label, ...] = ()


@dataclass(slots=True)
class Building:
    """What the regions of a program share. `host_calls`: whether its runs may call functions of the host."""

    placement: regions.Placement[ArrayNode]
    host_calls: bool = True
    sizes: Sizes = field(default_factory=Sizes)
    equalities: list[Equality] = field(default_factory=list)
    values: dict[tuple[ArrayNode, Region], tuple[Value, ...]] = field(default_factory=dict)
    homes: dict[SizeVariable, Region] = field(default_factory=dict)
    computed: dict[Function, tuple[SizeVariable, Region]] = field(default_factory=dict)
    required: dict[tuple[str, Shape, Shape], tuple[Label, Region]] = field(default_factory=dict)
    after: dict[SizeVariable, tuple[Label, ...]] = field(default_factory=dict)
    labels: int = 0

    def checkpoint(self) -> Building:
        """A copy, to go back to."""
        return replace(
            self,
            sizes=self.sizes.snapshot(),
            equalities=list(self.equalities),
            computed=dict(self.computed),
            required=dict(self.required),
        )

    def go_back(self, before: Building) -> None:
        """Forget what was built since `before`, but for labels and variables that shall stay unique."""
        self.sizes.restore(before.sizes)
        self.equalities[:] = before.equalities
        self.computed, self.required = dict(before.computed), dict(before.required)

    def label(self) -> Label:
        """A label that nothing has yet."""
        self.labels += 1
        return self.labels - 1


class Scope:
    """The bindings of one region, in order."""

    def __init__(self, building: Building, region: Region, lazy: bool) -> None:
        self.building = building
        self.region = region
        self.lazy = lazy  # inside a branch: nothing may be required of the parameters
        self.bindings: list[Binding] = []

    def values(self, node: ArrayNode) -> tuple[Value, ...]:
        """The results of a node, which stands in this region or further out."""
        region: Region | None = self.region
        while region is not None:
            found = self.building.values.get((node, region))
            if found is not None:
                return found
            region = region.parent
        raise AccelInternalError(f"{type(node).__name__} at {node.where} has no value here")

    def value(self, node: ArrayNode) -> Value:
        """The result of a node that has one."""
        (value,) = self.values(node)
        return value

    def sees(self, variable: SizeVariable) -> bool:
        """Whether a size variable is known in this region."""
        home = self.building.homes.get(variable)
        return home is None or self._lies_in(home)

    def rigid(self) -> SizeVariable:
        """A size variable that a binding of this region finds out."""
        variable = self.building.sizes.fresh()
        self.building.homes[variable] = self.region
        return variable

    def emit(
        self,
        operation: Operation,
        types: Sequence[tuple[ScalarType, Shape]],
        where: Where | None,
        after: tuple[Label, ...] = (),
    ) -> Leaves:
        """Bind an operation; gives its arrays."""
        label = self.building.label()
        arrays = tuple([Array(label, i, element, shape) for i, (element, shape) in enumerate(types)])
        self.bindings.append(Binding(label, operation, arrays, after, where))
        return arrays

    def function(self, function: AstFunction) -> Function:
        """A scalar function over leaves; its arrays are bound before."""
        return flatten(function.parameters, [function.body], self._resolve)

    def scalars(self, results: Sequence[ScalarNode]) -> Function:
        """A function without parameters that gives these scalars."""
        return flatten((), results, self._resolve)

    def _resolve(self, node: ArrayNode) -> tuple[Leaves, Shape]:
        value = self.value(node)
        return value.leaves, self.building.sizes.resolve_shape(value.shape)

    def extents(
        self, name: str, results: Sequence[ScalarNode], where: Where | None, after: tuple[Label, ...] = ()
    ) -> Shape:
        """Scalars as extents of what `name` makes: symbolic where they are one, else computed on the host before it, `after`
        what must have been checked.

        Raises `AccelShapeError` for a constant that is negative or too large.
        """
        function = self.scalars(results)
        shape = tuple([self._extent(name, function, i, where, after) for i in range(len(function.body.results))])
        require_extents(tuple([extent.offset if extent.variable is None else None for extent in shape]), where, name)
        return shape

    def _extent(
        self, name: str, function: Function, position: int, where: Where | None, after: tuple[Label, ...]
    ) -> Extent:
        operand: Operand = function.body.results[position]
        match operand:
            case Extent():
                return operand
            case Constant():
                return Extent(None, int(operand.value))
            case Variable():
                return Extent(self._bind_size(name, select_results(function, [position]), where, after), 0)
            case _:
                assert_never(operand)

    def _bind_size(self, name: str, function: Function, where: Where | None, after: tuple[Label, ...]) -> SizeVariable:
        """The variable for a computed extent; equal computations share it."""
        sizes, computed = self.building.sizes, self.building.computed
        function = rewrite.rename(function, lambda o: sizes.resolve(o) if isinstance(o, Extent) else o)
        if function in computed and self._lies_in(computed[function][1]):
            return computed[function][0]
        variable = self.rigid()
        self.emit(nodes.BindSizes((variable,), function, name), (), where, after)
        computed[function] = (variable, self.region)
        self.building.after[variable] = after
        return variable

    def comes_after(self, shape: Shape, after: tuple[Label, ...]) -> bool:
        """Whether an extent is computed after what must have been checked, and so all that has it."""
        return any(set(after) <= set(self.building.after.get(e.variable, ())) for e in shape if e.variable is not None)

    def check(self, found: Shape, needed: Shape, name: str, where: Where | None, made: Where | None) -> Label:
        """The label of what checks that extents are those that `name` needs of an array `made` there; equal ones share it."""
        required, resolve = self.building.required, self.building.sizes.resolve_shape
        key = (name, resolve(found), resolve(needed))
        if key not in required or not self._lies_in(required[key][1]):
            self.emit(RequireEqual(found, needed, name, made), (), where)
            required[key] = (self.bindings[-1].label, self.region)
        return required[key][0]

    def _lies_in(self, outer: Region) -> bool:
        region: Region | None = self.region
        while region is not None and region is not outer:
            region = region.parent
        return region is not None

    def require(self, left: Value, right: Value, name: str, where: Where | None) -> tuple[Leaves, tuple[Label, ...]]:
        """The leaves of `right` with the shape of `left`, which `name` needs, and labels of what must have been checked.

        Extents of parameters are unified; an extent that is found out at run time is compared then. Raises
        `AccelShapeError` if the shapes are known to differ.
        """
        sizes, before = self.building.sizes, self.building.sizes.snapshot()
        pairs = list(zip(left.shape, right.shape, strict=True))
        verdicts = [sizes.compare(*pair) for pair in pairs]
        if Verdict.DIFFERENT in verdicts:
            texts = [_tuple_text(sizes.resolve_shape(value.shape)) for value in (left, right)]
            raise unequal(name, texts[0], texts[1], where, left.where, right.where)
        if all(verdict is Verdict.EQUAL for verdict in verdicts):
            return right.leaves, ()
        if not self.lazy and all(sizes.unify(*pair) is Verdict.EQUAL for pair in pairs):
            self._record(pairs, left, right, name, where)
            return right.leaves, ()
        sizes.restore(before)
        return self._check(left, right, name, where)

    def _record(
        self, pairs: Sequence[tuple[Extent, Extent]], left: Value, right: Value, name: str, where: Where | None
    ) -> None:
        flexible = self.building.sizes.flexible
        stated = [pair for pair in pairs if all(e.variable is None or e.variable in flexible for e in pair)]
        shapes = tuple([pair[0] for pair in stated]), tuple([pair[1] for pair in stated])
        self.building.equalities.append(Equality(*shapes, name, where, left.where, right.where))

    def _check(self, left: Value, right: Value, name: str, where: Where | None) -> tuple[Leaves, tuple[Label, ...]]:
        self.emit(RequireEqual(left.shape, right.shape, name, left.where, right.where), (), where)
        after = (self.bindings[-1].label,)
        leaves = [self.emit(nodes.Reshape((a,)), [(a.element, left.shape)], where, after)[0] for a in right.leaves]
        return tuple(leaves), after


def typed(node: ArrayNode, shape: Shape, result: int = 0) -> list[tuple[ScalarType, Shape]]:
    """The elements of a node's leaves, each with `shape`."""
    return [(element, shape) for element in leaves(node.types[result].element)]


def _tuple_text(shape: Shape) -> str:
    """A shape as Python would print it."""
    texts = [extent_text(extent) for extent in shape]
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
