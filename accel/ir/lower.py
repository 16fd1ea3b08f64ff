"""From fusion trees to loop nests: each leaf becomes a nest, each inner node fuses two ([vB20 section 4.5, 5.2.2]).

In: `accel.fusedast` programs. Out: `accel.ir` programs. A cluster that no single nest can hold is refused with
`AccelInternalError`: never wrong code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from accel.ast.arrays import Direction as End
from accel.errors import AccelInternalError
from accel.fusedast import nodes as fusedast
from accel.fusedast.nodes import (
    Diagonal,
    Horizontal,
    LeafOfCluster,
    RootOfCluster,
    Tree,
    Unfused,
    UnfusedAcond,
    UnfusedAwhile,
    Vertical,
)
from accel.fusedast.walk import leaves, postorder
from accel.ir.arrange import arrange
from accel.ir.draft import Draft, fuse, without_reads, without_writes
from accel.ir.elementwise import lower_backpermute, lower_copy, lower_gather, lower_map, lower_scatter
from accel.ir.frame import Direction, Frame
from accel.ir.mentions import statements
from accel.ir.nodes import (
    Branch,
    Count,
    HostSizes,
    Launch,
    Nest,
    Order,
    Output,
    Program,
    Repeat,
    Require,
    Step,
    View,
    Write,
)
from accel.ir.reductions import lower_filter, lower_fold, lower_scan, total_array
from accel.ir.simplify import simplified
from accel.ir.sizes import found_size, mentioned_sizes
from accel.ir.streams import element
from accel.labelled.nodes import (
    Acond,
    Array,
    Awhile,
    Backpermute,
    Binding,
    BindSizes,
    Copy,
    Extent,
    Filter,
    Fold,
    Force,
    Gather,
    Generate,
    Label,
    Map,
    RequireEqual,
    Reshape,
    Scan,
    Scatter,
    Shape,
    SizeVariable,
    Use,
)


def lower(program: fusedast.Program) -> Program:
    """The loop program. Raises `AccelInternalError` for a cluster that needs two loops at one depth."""
    required = {
        node.binding.label: (node.binding.operation.left, node.binding.operation.right)
        for node in program.nodes
        if isinstance(node, Unfused) and isinstance(node.binding.operation, RequireEqual)
    }
    known = Known(required, mentioned_sizes(program))
    steps = tuple(step for node in program.nodes for step in _steps(node, known))
    return Program(program.parameters, steps, program.results, program.own_shapes, program.equalities)


@dataclass(frozen=True, slots=True)
class Known:
    """What a cluster must know of the rest of its program.

    `required`: shapes that must be equal, by the label that checks it. `mentioned`: sizes that are needed after the nest that
    finds them out.
    """

    required: Mapping[Label, tuple[Shape, Shape]]
    mentioned: frozenset[SizeVariable]


def _steps(node: fusedast.Node, known: Known) -> Iterator[Step]:
    match node:
        case RootOfCluster():
            yield Launch(lower_cluster(node, known))
        case UnfusedAcond(binding, condition, then, orelse):
            yield Branch(condition, lower(then), lower(orelse), binding.arrays)
        case UnfusedAwhile(binding, condition, body, initial):
            yield Repeat(lower(condition), lower(body), initial, binding.arrays)
        case Unfused(binding):
            yield from _host_step(binding)
        case _:
            assert_never(node)


def _host_step(binding: Binding) -> Iterator[Step]:
    match binding.operation:
        case Use():
            pass  # parameters are there from the start
        case Reshape(inputs) | Force(inputs):
            yield View(binding.arrays, inputs, binding.where)
        case BindSizes(variables, function):
            yield HostSizes(variables, function, binding.where)
        case RequireEqual(left, right, left_where, right_where):
            yield Require(left, right, binding.where, left_where, right_where)
        case _:
            raise AccelInternalError(f"operation {binding.label} is a loop, and stands outside of clusters")


def lower_cluster(root: RootOfCluster, known: Known) -> Nest:
    """One cluster as one nest."""
    members = list(leaves(root.tree))
    frame = _frame(members, known.required)
    filters = [each.binding for each in members if isinstance(each.binding.operation, Filter)]
    found = [(found_size(binding), total_array(binding)) for binding in filters]
    counts = tuple(Count(variable, array) for variable, array in found if variable in known.mentioned)
    counted_by = frozenset(count.array for count in counts)  # read by the host, whoever else needs it
    nest = _fused(root.tree, frame, counted_by)
    wanted = counted_by.union(root.results)
    unwanted = [array for each in members for array in each.binding.arrays if array not in wanted]
    body = arrange(simplified(without_writes(nest, unwanted)), frame.loops)
    in_place = tuple(
        pair
        for each in members
        if isinstance(each.binding.operation, Scatter)
        for pair in zip(each.binding.operation.destinations, each.binding.arrays, strict=True)
    )
    made = Nest(min(each.binding.label for each in members), body, (), in_place, counts)
    outputs = tuple(
        Output(each.array, tuple(map(frame.capacity, each.array.shape)))
        for each in sorted(
            (each for each in statements(made) if isinstance(each, Write)), key=lambda e: (e.array.label, e.array.leaf)
        )
    )
    return Nest(made.label, body, outputs, in_place, counts)


def _frame(members: list[LeafOfCluster], required: Mapping[Label, tuple[Shape, Shape]]) -> Frame:
    arrays = [
        (port.array, port.order)
        for each in members
        for port in (*each.signature.inputs, *each.signature.outputs)
        if port.order is not None
    ]
    checked = {label for each in members for label in each.binding.after}
    pairs = [pair for label in sorted(checked) if label in required for pair in zip(*required[label], strict=True)]
    directions = [direction for each in members for direction in _directions(each)]
    return Frame([(each.binding, each.order) for each in members], arrays, directions, _same(pairs))


def _same(pairs: list[tuple[Extent, Extent]]) -> dict[SizeVariable, Extent]:
    """Extents that were checked to be equal: variables to what stands for them (no cycles)."""
    same: dict[SizeVariable, Extent] = {}

    def canonical(extent: Extent) -> Extent:
        while extent.variable is not None and extent.variable in same:
            other = same[extent.variable]
            extent = Extent(other.variable, other.offset + extent.offset)
        return extent

    for left, right in pairs:
        left, right = canonical(left), canonical(right)
        if left.variable is None:
            left, right = right, left
        if left.variable is not None and left.variable != right.variable:
            same[left.variable] = Extent(right.variable, right.offset - left.offset)
    return same


def _directions(each: LeafOfCluster) -> Iterator[Direction]:
    """Which loops of an operation must run which way: docs/order.md counts elements in the array's own order."""
    binding, order = each.binding, each.order
    match binding.operation:
        case Fold(inputs=inputs, exact=False):
            yield Direction(Order.UP, inputs[0].shape, inputs[0].shape[:-1], order)
        case Scan(inputs=inputs, direction=end):
            way = Order.UP if end is End.LEFT else Order.DOWN
            yield Direction(way, inputs[0].shape, inputs[0].shape[:-1], order)
        case Filter(inputs=inputs):
            yield Direction(Order.UP, inputs[0].shape, (), order)
        case Scatter(indices=indices, values=values, exact=False):
            yield Direction(Order.UP, (*indices, *values)[0].shape, (), order)
        case _:
            pass


def _fused(tree: Tree, frame: Frame, stored: frozenset[Array]) -> Draft:
    """The nest of a tree: halves first; what a half makes for the other is not read again, nor stored if nobody else needs it.

    `stored`: arrays that are stored in any case.
    """
    done: list[Draft] = []
    for node in postorder(tree):
        if isinstance(node, LeafOfCluster):
            done.append(lower_leaf(node, frame))
            continue
        second, first = done.pop(), done.pop()
        match node:
            case Vertical(arrays=arrays):
                bound = _streams(node.first, arrays)
                gone = [array for array in arrays if array not in stored]
                done.append(fuse(without_writes(first, gone), without_reads(second, bound)))
            case Diagonal(kept=kept, discarded=discarded):
                bound = _streams(node.first, (*kept, *discarded))
                gone = [array for array in discarded if array not in stored]
                done.append(fuse(without_writes(first, gone), without_reads(second, bound)))
            case Horizontal():
                done.append(fuse(first, second))
            case _:
                assert_never(node)
    return done[0]


def _streams(first: Tree, arrays: tuple[Array, ...]) -> list[str]:
    """The names under which `first` makes arrays."""
    wanted = frozenset(arrays)
    return [
        element(port.array, port.order).name
        for port in first.signature.outputs
        if port.array in wanted and port.order is not None
    ]


def lower_leaf(leaf: LeafOfCluster, frame: Frame) -> Draft:
    """One operation as a nest."""
    binding, order = leaf.binding, leaf.order
    match binding.operation:
        case Generate(function):
            return lower_map(binding, function, (), order, frame)
        case Map(function, inputs):
            return lower_map(binding, function, inputs, order, frame)
        case Copy(inputs):
            return lower_copy(binding, inputs, order, frame)
        case Backpermute():
            return lower_backpermute(binding, binding.operation, order, frame)
        case Gather():
            return lower_gather(binding, binding.operation, order, frame)
        case Scatter():
            return lower_scatter(binding, binding.operation, order, frame)
        case Fold():
            return lower_fold(binding, binding.operation, order, frame)
        case Scan():
            return lower_scan(binding, binding.operation, order, frame)
        case Filter():
            return lower_filter(binding, binding.operation, order, frame)
        case Use() | Reshape() | Force() | BindSizes() | RequireEqual() | Acond() | Awhile():
            raise AccelInternalError(f"operation {binding.label} is no loop")
        case _:
            assert_never(binding.operation)
