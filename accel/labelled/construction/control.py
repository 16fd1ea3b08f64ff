"""Control flow over arrays: `acond` and `awhile`, whose parts become sub-programs.

A branch holds what only it uses; a loop's parts hold what depends on its state. The shape of a loop's state is found by a
fixpoint: it is assumed to keep its initial extents, the parts are built, and what turns out to change becomes rigid.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from accel.ast.tree.nodes import Acond, ArrayNode, Awhile
from accel.ast.tree.types import I64, ArrayType, ElementType, ScalarType, leaves
from accel.errors import Where
from accel.labelled import nodes
from accel.labelled.array import Array, Extent, Shape
from accel.labelled.construction.desugar import scalar_array, stand_in
from accel.labelled.construction.flatten import Leaves
from accel.labelled.construction.scope import Scope, Value
from accel.labelled.nodes import Program
from accel.support.dataclass import dataclass

Fill: TypeAlias = Callable[[Scope], None]
"""Emits all bindings of a scope's region."""


def acond(node: Acond, scope: Scope, fill: Fill) -> tuple[Value, ...]:
    """The results of one branch. Extents on which the branches do not agree become rigid variables."""
    condition = scalar_array(node.condition, "acond", scope, node.where)
    branches = []
    for part, results in enumerate((node.then, node.orelse)):
        inner = _part(node, part, scope, lazy=True)
        fill(inner)
        values = [inner.value(result) for result in results]
        carried = _leaves(values, "acond", inner)
        branches.append((Program((), tuple(inner.bindings), carried), values))
    (then, then_values), (orelse, orelse_values) = branches
    meet = _Meet(scope)
    shapes = [meet.shape(a.shape, b.shape) for a, b in zip(then_values, orelse_values, strict=True)]
    arrays = scope.emit(nodes.Acond(condition, then, orelse), _carried(node.types, shapes), node.where)
    return _values(arrays, [t.element for t in node.types], shapes, node.where)


class _Meet:
    """Extents for results that come from either of two branches; equal pairs get equal extents."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._fresh: dict[tuple[Extent, Extent], Extent] = {}

    def shape(self, left: Shape, right: Shape) -> Shape:
        return tuple([self._extent(a, b) for a, b in zip(left, right, strict=True)])

    def _extent(self, left: Extent, right: Extent) -> Extent:
        sizes = self._scope.building.sizes
        pair = sizes.resolve(left), sizes.resolve(right)
        if pair[0] == pair[1] and (pair[0].variable is None or self._scope.sees(pair[0].variable)):
            return pair[0]
        if pair not in self._fresh:
            self._fresh[pair] = Extent(self._scope.rigid(), 0)
        return self._fresh[pair]


def awhile(node: Awhile, scope: Scope, fill: Fill) -> tuple[Value, ...]:
    """The state after the loop."""
    initial = [scope.value(array) for array in node.initial]
    classes, body = _settle(node, initial, scope, fill)
    condition, _ = _loop_part(node, 0, [node.condition], _State(initial, classes), scope, fill)
    shapes = _State(initial, classes).shapes(scope)
    carried = _leaves(initial, "awhile", scope)
    arrays = scope.emit(nodes.Awhile(condition, body, carried), _carried(node.types, shapes), node.where)
    return _values(arrays, [t.element for t in node.types], shapes, node.where)


@dataclass(frozen=True, slots=True)
class _State:
    """The shapes of a loop's state: extents of class None stay as they are initially, those of one class change alike."""

    initial: Sequence[Value]
    classes: Sequence[Hashable]

    def shapes(self, scope: Scope) -> list[Shape]:
        """The shapes as seen in a region: with rigid variables of that region for what changes."""
        fresh: dict[Hashable, Extent] = {}
        remaining = iter(self.classes)
        shapes = []
        for value in self.initial:
            extents = []
            for extent in value.shape:
                found = next(remaining)
                if found is None:
                    extents.append(extent)
                elif found in fresh:
                    extents.append(fresh[found])
                else:
                    extents.append(fresh.setdefault(found, Extent(scope.rigid(), 0)))
            shapes.append(tuple(extents))
        return shapes


def _settle(node: Awhile, initial: Sequence[Value], scope: Scope, fill: Fill) -> tuple[Sequence[Hashable], Program]:
    """Which extents of the state change, in classes that change alike; and the body under that assumption.

    What is assumed to be constant or alike and is not becomes a class of its own; classes only ever split.
    """
    building, resolve = scope.building, scope.building.sizes.resolve
    before = building.checkpoint()
    classes: list[Hashable] = [None for value in initial for _ in value.shape]
    while True:
        body, values = _loop_part(node, 1, node.body, _State(initial, classes), scope, fill)
        start = [resolve(extent) for value in initial for extent in value.shape]
        after = [resolve(extent) for value in values for extent in value.shape]
        split: list[Hashable] = [
            None if known is None and old == new else (known, old, new)
            for known, old, new in zip(classes, start, after, strict=True)
        ]
        if _alike(split) == _alike(classes):
            return classes, body
        classes = _alike(split)
        building.go_back(before)


def _alike(classes: Sequence[Hashable]) -> list[Hashable]:
    """The same partition, with classes numbered in order."""
    numbers: dict[Hashable, int] = {}
    return [None if found is None else numbers.setdefault(found, len(numbers)) for found in classes]


def _loop_part(
    node: Awhile, part: int, results: Sequence[ArrayNode], state: _State, scope: Scope, fill: Fill
) -> tuple[Program, list[Value]]:
    inner = _part(node, part, scope, lazy=scope.lazy)
    parameters = []
    for parameter, shape in zip(node.parameters, state.shapes(inner), strict=True):
        label = scope.building.label()
        types = _carried(parameter.types, [shape])
        arrays = tuple([Array(label, i, element, shape) for i, (element, _) in enumerate(types)])
        elements = leaves(parameter.types[0].element)
        scope.building.values[parameter, inner.region] = (Value(arrays[: len(elements)], shape, parameter.where),)
        parameters.append(arrays)
    fill(inner)
    values = [inner.value(result) for result in results]
    carried = _leaves(values, "awhile", inner)
    return Program(tuple(parameters), tuple(inner.bindings), carried), values


def _part(node: Acond | Awhile, part: int, scope: Scope, lazy: bool) -> Scope:
    return Scope(scope.building, scope.building.placement.inner(node, scope.region, part), lazy)


def _leaves(values: Sequence[Value], name: str, scope: Scope) -> Leaves:
    """The arrays that parts of `name` hand on. Where elements are `()` there is none, and one of zeros has the shape."""
    return tuple([leaf for value in values for leaf in value.leaves or stand_in(value, name, scope)])


def _carried(types: Sequence[ArrayType], shapes: Sequence[Shape]) -> list[tuple[ScalarType, Shape]]:
    """The types and shapes of `_leaves`."""
    return [(e, s) for t, s in zip(types, shapes, strict=True) for e in leaves(t.element) or (I64,)]


def _values(
    arrays: Leaves, elements: Sequence[ElementType], shapes: Sequence[Shape], where: Where | None
) -> tuple[Value, ...]:
    """The arrays of several results, split by result; without those that only have a shape."""
    remaining, values = iter(arrays), []
    for element, shape in zip(elements, shapes, strict=True):
        own = [next(remaining) for _ in leaves(element) or (I64,)]
        values.append(Value(tuple(own[: len(leaves(element))]), shape, where))
    return tuple(values)
