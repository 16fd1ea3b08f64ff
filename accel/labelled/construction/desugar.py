"""The combinators of the language as core operations, over leaves of equal shape.

In: one array node whose operands are bound. Out: its values, after emitting bindings. Nothing is simplified here: a `zip` is a
`map` that does nothing, and `simplify.py` removes it. Control flow is in `control.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from accel.ast.tree import nodes as ast
from accel.ast.tree.nodes import ScalarNode, ScanForm
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64, MaybeType, ScalarType, leaves
from accel.errors import Where
from accel.labelled import nodes
from accel.labelled.algebra import UNKNOWN
from accel.labelled.array import Array, Extent, Label, Shape
from accel.labelled.construction.flatten import Leaves
from accel.labelled.construction.scope import Scope, Value, typed
from accel.labelled.scalar import Block, Compute, Function, If, Load, Operand, Variable, constant
from accel.labelled.scalars.simplify import select_results, simplify

SCALAR: Shape = ()

Simple = (
    ast.Generate | ast.Map | ast.Backpermute | ast.Gather | ast.Append | ast.Permute | ast.ScatterWith | ast.Fold
    | ast.FoldSegments | ast.ScanSegments | ast.Scan | ast.Filter | ast.Replicate | ast.Slice | ast.Reshape | ast.Compute
    | ast.Sort | ast.Require | ast.HostCall
)  # fmt: skip
"""The combinators without parts."""


def desugar(node: Simple, scope: Scope) -> tuple[Value, ...]:
    """The results of a node. Raises `AccelShapeError` for shapes that cannot fit."""
    match node:
        case ast.Generate(shape, function):
            extents = scope.extents(node.name, [shape], node.where)
            return _one(scope, nodes.Generate(scope.function(function), node.name), node, extents)
        case ast.Map():
            return _map(node, scope)
        case ast.Backpermute(shape, function, array):
            extents, source = scope.extents(node.name, [shape], node.where), scope.value(array)
            moved = nodes.Backpermute(scope.function(function), source.leaves, node.shrinking, name=node.name)
            return _one(scope, moved, node, extents, source.after)
        case ast.Gather(indices, array):
            positions, source = scope.value(indices), scope.value(array)
            return _one(scope, nodes.Gather(positions.leaves, source.leaves), node, positions.shape)
        case ast.Append():
            return _append(node, scope)
        case ast.Permute():
            return _permute(node, scope)
        case ast.ScatterWith():
            return _scatter_with(node, scope)
        case ast.Fold(function, initial, array, dimensions):
            source, seed = scope.value(array), _seed(initial, scope)
            fold = nodes.Fold(scope.function(function), seed, source.leaves, UNKNOWN, node.name, dimensions)
            return _one(scope, fold, node, source.shape[:-dimensions])
        case ast.FoldSegments():
            return _fold_segments(node, scope)
        case ast.ScanSegments():
            return _scan_segments(node, scope)
        case ast.Scan():
            return _scan(node, scope)
        case ast.Filter():
            return _filter(node, scope)
        case ast.Replicate(spec, array):
            return _replicate(node, spec, scope.value(array), scope)
        case ast.Slice(array, spec):
            return _slice(node, spec, scope.value(array), scope)
        case ast.Reshape():
            return _reshape(node, scope)
        case ast.Sort(array, places, descending, name):
            source = scope.value(array)
            return _one(scope, nodes.Sort(source.leaves, places, descending, name), node, source.shape)
        case ast.Compute(array):
            source = scope.value(array)
            return _one(scope, nodes.Force(source.leaves), node, source.shape)
        case ast.Require():
            return _require(node, scope)
        case ast.HostCall():
            return _host_call(node, scope)
        case _:
            assert_never(node)


def scalar_array(root: ScalarNode, name: str, scope: Scope, where: Where | None) -> Array:
    """An array of rank 0 that holds a scalar of one leaf."""
    function = scope.scalars([root])
    (kind,) = leaves(root.type)
    return scope.emit(nodes.Generate(function, name), [(kind, SCALAR)], where)[0]


def stand_in(value: Value, name: str, scope: Scope) -> Leaves:
    """An array of zeros that has the shape of a value, whose elements are `()`: it has none of its own."""
    index = tuple([Variable(axis, I64) for axis in range(len(value.shape))])
    nothing = nodes.Generate(Function(index, Block((), (constant(I64, 0),))), name)
    return scope.emit(nothing, [(I64, value.shape)], value.where)


def _one(
    scope: Scope, operation: nodes.Operation, node: Simple, shape: Shape, after: tuple[Label, ...] = ()
) -> tuple[Value]:
    return (Value(_emit(scope, operation, typed(node, shape), node, after), shape, node.where),)


def _emit(
    scope: Scope,
    operation: nodes.Operation,
    types: Sequence[tuple[ScalarType, Shape]],
    node: Simple,
    after: tuple[Label, ...] = (),
) -> Leaves:
    """The arrays that an operation makes. Where elements are `()` there is none, and nothing to do."""
    return scope.emit(operation, types, node.where, after) if types else ()


def _map(node: ast.Map, scope: Scope) -> tuple[Value]:
    first, *others = [scope.value(array) for array in node.arrays]
    inputs: Leaves = first.leaves
    after: tuple[Label, ...] = ()
    for other in others:
        more, checks = scope.require(first, other, node.name, node.where)
        inputs, after = inputs + more, after + checks
    function = scope.function(node.function)
    if not node.indexed:
        function = _with_parameters(function, len(first.shape))
    return _one(scope, nodes.Map(function, inputs, node.name), node, first.shape, after)


def _with_parameters(function: Function, count: int) -> Function:
    """The function with `count` i64 parameters before its own, which it does not look at."""
    ignored = tuple([Variable(-1 - i, I64) for i in range(count)])
    return simplify(Function(ignored + function.parameters, function.body))


def _seed(initial: ScalarNode | None, scope: Scope) -> Function | None:
    return None if initial is None else scope.scalars([initial])


def _append(node: ast.Append, scope: Scope) -> tuple[Value]:
    """Each index finds its element in one of the two: the other is not read. Their extents but along the axis must agree."""
    left, right = scope.value(node.left), scope.value(node.right)
    axis = node.axis
    first, second = [Value((), side.shape[:axis] + side.shape[axis + 1 :], side.where) for side in (left, right)]
    _, after = scope.require(first, second, f"{node.name} (its own dimension aside)", node.where)
    shape = (*left.shape[:axis], *scope.extents(node.name, [node.extent], node.where), *left.shape[axis + 1 :])
    return _one(scope, nodes.Generate(_either(left, right, axis), node.name), node, shape, after)


def _either(left: Value, right: Value, axis: int) -> Function:
    """The elements of `left` at an index within it, those of `right` behind."""
    rank, count = len(left.shape), len(left.leaves)
    index = tuple([Variable(number, I64) for number in range(rank)])
    within, place = Variable(rank, BOOL), Variable(rank + 1, I64)
    extent = left.shape[axis]
    first: Operand = constant(I64, extent.offset) if extent.variable is None else extent
    behind = (*index[:axis], place, *index[axis + 1 :])
    variables = [Variable(rank + 2 + k, leaf.element) for k, leaf in enumerate(left.leaves * 3)]
    outs, theirs, mine = variables[:count], variables[count : 2 * count], variables[2 * count :]
    then = [Load(out, leaf, index, inside_block=True) for out, leaf in zip(theirs, left.leaves, strict=True)]
    orelse = [Load(out, leaf, behind, inside_block=True) for out, leaf in zip(mine, right.leaves, strict=True)]
    shifted = Compute(place, Operator.SUB, (index[axis], first))
    chosen = If(tuple(outs), within, Block(tuple(then), tuple(theirs)), Block((shifted, *orelse), tuple(mine)))
    return Function(index, Block((Compute(within, Operator.LT, (index[axis], first)), chosen), tuple(outs)))


def _permute(node: ast.Permute, scope: Scope) -> tuple[Value]:
    source, defaults = scope.value(node.array), scope.value(node.defaults)
    target = scope.function(node.function)
    always = target.body.results[0] == constant(BOOL, True)
    if always:
        target = select_results(target, range(1, len(target.body.results)))
    types: list[tuple[ScalarType, Shape]] = [(I64, source.shape)] * len(defaults.shape)
    if not always:
        types.insert(0, (BOOL, source.shape))
    places = scope.emit(nodes.Generate(target, "permute"), types, node.where) if types else ()
    keep, indices = (None, places) if always else (places[0], places[1:])
    combine = scope.function(node.combine)
    scatter = nodes.Scatter(combine, defaults.leaves, keep, indices, source.leaves, UNKNOWN, node.unique)
    return _one(scope, scatter, node, defaults.shape)


def _scatter_with(node: ast.ScatterWith, scope: Scope) -> tuple[Value]:
    pairs, defaults = scope.value(node.pairs), scope.value(node.defaults)
    rank = len(defaults.shape)
    combine = scope.function(node.combine)
    first = 1 if isinstance(node.pairs.types[0].element, MaybeType) else 0
    keep = pairs.leaves[0] if first else None
    indices, values = pairs.leaves[first : first + rank], pairs.leaves[first + rank :]
    scatter = nodes.Scatter(combine, defaults.leaves, keep, indices, values, UNKNOWN, node.unique)
    return _one(scope, scatter, node, defaults.shape)


def _fold_segments(node: ast.FoldSegments, scope: Scope) -> tuple[Value]:
    source = scope.value(node.array)
    starts, ends, after = _bounds(node, source, scope)
    function, seed = scope.function(node.function), _seed(node.initial, scope)
    fold = nodes.FoldSegments(function, seed, starts, ends, source.leaves, UNKNOWN, node.name)
    return _one(scope, fold, node, starts.shape, after)


def _scan_segments(node: ast.ScanSegments, scope: Scope) -> tuple[Value, ...]:
    source = scope.value(node.array)
    starts, ends, after = _bounds(node, source, scope)
    shape = source.shape
    if node.extent is not None:
        shape = (*shape[:-1], *scope.extents(node.name, [node.extent], node.where))
    function, seed = scope.function(node.function), _seed(node.initial, scope)
    scan = nodes.ScanSegments(
        function, seed, starts, ends, source.leaves, node.direction, node.form, UNKNOWN, node.name
    )
    types = typed(node, shape)
    if node.form is ScanForm.TOTAL:
        types += typed(node, starts.shape, 1)
    arrays, count = _emit(scope, scan, types, node, after), len(source.leaves)
    values = [Value(arrays[:count], shape, node.where)]
    if node.form is ScanForm.TOTAL:
        values.append(Value(arrays[count:], starts.shape, node.where))
    return tuple(values)


def _bounds(
    node: ast.FoldSegments | ast.ScanSegments, source: Value, scope: Scope
) -> tuple[Array, Array, tuple[Label, ...]]:
    """Where the segments of each row begin and end, and what must have been checked: each row has the same segments."""
    starts, ends = scope.value(node.starts), scope.value(node.ends)
    last, after = scope.require(starts, ends, node.name, node.where)
    shape = (*source.shape[:-1], *starts.shape)
    if len(shape) == 1:
        return starts.leaves[0], last[0], after
    index = tuple([Variable(axis, I64) for axis in range(len(shape))])
    repeat = Function(index, Block((), index[-1:]))
    first, last = (
        scope.emit(nodes.Backpermute(repeat, each, False, name=node.name), [(I64, shape)], node.where)
        for each in (starts.leaves, last)
    )
    return first[0], last[0], after


def _scan(node: ast.Scan, scope: Scope) -> tuple[Value, ...]:
    source, seed = scope.value(node.array), _seed(node.initial, scope)
    combine = scope.function(node.function)
    *outer, inner = source.shape
    longer = node.form is ScanForm.EXCLUSIVE
    shape = (*outer, Extent(inner.variable, inner.offset + 1) if longer else inner)
    types = typed(node, shape)
    if node.form is ScanForm.TOTAL:
        types += typed(node, tuple(outer), 1)
    scan = nodes.Scan(combine, seed, source.leaves, node.direction, node.form, UNKNOWN, node.name)
    arrays, count = _emit(scope, scan, types, node), len(source.leaves)
    values = [Value(arrays[:count], shape, node.where)]
    if node.form is ScanForm.TOTAL:
        values.append(Value(arrays[count:], tuple(outer), node.where))
    return tuple(values)


def _filter(node: ast.Filter, scope: Scope) -> tuple[Value, ...]:
    source = scope.value(node.array)
    kept: Shape = (Extent(scope.rigid(), 0),)
    types, predicate, inputs = typed(node, kept), scope.function(node.predicate), source.leaves
    if not inputs:  # so that there is something to count
        types, predicate, inputs = [(I64, kept)], _with_parameters(predicate, 1), stand_in(source, "filter", scope)
    filtered = nodes.Filter(predicate, inputs)
    arrays = scope.emit(filtered, [*types, (I64, source.shape[:-1])], node.where)
    return Value(arrays[: len(source.leaves)], kept, node.where), Value(arrays[-1:], source.shape[:-1], node.where)


def _replicate(node: ast.Replicate, spec: Sequence[ScalarNode | None], source: Value, scope: Scope) -> tuple[Value]:
    """New dimensions: the result's index without them is the source's."""
    new = iter(scope.extents("replicate", [item for item in spec if item is not None], node.where))
    old = iter(source.shape)
    shape = tuple([next(old) if item is None else next(new) for item in spec])
    index = [Variable(axis, I64) for axis in range(len(spec))]
    kept = tuple([variable for variable, item in zip(index, spec, strict=True) if item is None])
    function = Function(tuple(index), Block((), kept))
    return _one(scope, nodes.Backpermute(function, source.leaves, False, name="replicate"), node, shape)


def _slice(node: ast.Slice, spec: Sequence[ScalarNode | None], source: Value, scope: Scope) -> tuple[Value]:
    """Fixed dimensions: the source's index is the result's with the given positions put in."""
    fixed = scope.scalars([item for item in spec if item is not None])
    shape = tuple([extent for extent, item in zip(source.shape, spec, strict=True) if item is None])
    index = [Variable(-1 - axis, I64) for axis in range(len(shape))]
    given, free = iter(fixed.body.results), iter(index)
    position = tuple([next(free) if item is None else next(given) for item in spec])
    function = simplify(Function(tuple(index), Block(fixed.body.statements, position)))
    return _one(scope, nodes.Backpermute(function, source.leaves, True, name="slice"), node, shape)


def _require(node: ast.Require, scope: Scope) -> tuple[Value]:
    """Sizes that are required to be others. An assertion's are 1 where it holds: views come after that, all else after them."""
    found, needed = (scope.extents(node.name, each, node.where) for each in (node.found, node.needed))
    source = scope.value(node.array)
    if node.message is None:
        return (replace(source, after=(scope.check(found, needed, node.name, node.where, source.where),)),)
    scope.emit(nodes.RequireEqual(found, needed, node.name, message=node.message), (), node.where)
    after = (scope.bindings[-1].label,)
    return (Value(_views(source.leaves, source.shape, node, scope, after), source.shape, node.where),)


def _views(
    leaves_: Leaves, shape: Shape, node: ast.Require | ast.Reshape, scope: Scope, after: tuple[Label, ...] = ()
) -> Leaves:
    """One view per leaf, so that each can go its own way."""
    return tuple([scope.emit(nodes.Reshape((a,)), [(a.element, shape)], node.where, after)[0] for a in leaves_])


def _host_call(node: ast.HostCall, scope: Scope) -> tuple[Value, ...]:
    """The call, of the shapes of the fallback, of which nothing else is then used; or the fallback."""
    values = tuple([scope.value(array) for array in node.fallback])
    if not node.function.prints and not scope.building.host_calls:
        return values
    inputs = tuple([leaf for array in node.arguments for leaf in scope.value(array).leaves])
    leaves_ = [(leaf.element, leaf.shape) for value in values for leaf in value.leaves]
    arrays = iter(
        scope.emit(nodes.HostCall(node.function, inputs), [] if node.function.prints else leaves_, node.where)
    )
    if node.function.prints:
        return values
    return tuple([Value(tuple([next(arrays) for _ in value.leaves]), value.shape, node.where) for value in values])


def _reshape(node: ast.Reshape, scope: Scope) -> tuple[Value]:
    """Views. A size that is computed comes after what must have been checked; without one, views of the old shape do."""
    source = scope.value(node.array)
    shape = scope.extents(node.name, [node.shape], node.where, source.after)
    inputs = source.leaves
    if source.after and not scope.comes_after(shape, source.after):
        inputs = _views(inputs, source.shape, node, scope, source.after)
    return (Value(_views(inputs, shape, node, scope), shape, node.where),)
