"""One cluster as one nest: each leaf becomes a nest, each inner node of the tree fuses two ([vB20 section 5.2.2])."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from accel.ast.tree.nodes import Direction
from accel.errors import AccelInternalError
from accel.fusedast.nodes import Diagonal, Horizontal, LeafOfCluster, RootOfCluster, Tree, Vertical
from accel.fusedast.walk import leaves, postorder
from accel.ir.lowering.arrange import arrange
from accel.ir.lowering.draft import Draft, fuse, without_reads, without_writes
from accel.ir.lowering.elementwise import lower_backpermute, lower_copy, lower_gather, lower_map, lower_scatter
from accel.ir.lowering.frame import Demand, Frame
from accel.ir.lowering.names import element
from accel.ir.lowering.reductions import lower_filter, lower_fold, lower_scan, total_array
from accel.ir.lowering.remainders import without_remainders
from accel.ir.lowering.segments import lower_fold_segments, lower_scan_segments
from accel.ir.lowering.simplify import simplified
from accel.ir.lowering.sizes import found_size
from accel.ir.nodes import Count, LoopDirection, Nest, Output, Stream, Write
from accel.labelled.algebra import Monoid
from accel.labelled.array import Array, SizeVariable
from accel.labelled.nodes import (
    Acond,
    Awhile,
    Backpermute,
    BindSizes,
    Copy,
    Filter,
    Fold,
    FoldSegments,
    Force,
    Gather,
    Generate,
    HostCall,
    Map,
    RequireEqual,
    Reshape,
    Scan,
    ScanSegments,
    Scatter,
    Sort,
    Use,
)


def lower_cluster(root: RootOfCluster, mentioned: frozenset[SizeVariable]) -> Nest:
    """The nest of a cluster. `mentioned`: sizes that are needed after the nest that finds them out.

    Raises `AccelInternalError` where it would take two loops at one depth.
    """
    members = list(leaves(root.tree))
    frame = _frame(members)
    filters = [each.binding for each in members if isinstance(each.binding.operation, Filter)]
    counts = tuple(
        Count(found_size(binding), total_array(binding)) for binding in filters if found_size(binding) in mentioned
    )
    counted = frozenset(count.array for count in counts)  # read by the host, whatever else needs it
    made = [*(array for each in members for array in each.binding.arrays), *map(total_array, filters)]
    in_place = _in_place(members)  # of a tuple, also what nobody needs: its destination is given up anyway
    fused_away = frozenset(made) - counted.union(root.results, [new for _, new in in_place])
    nest = without_writes(_fused(root.tree, frame), fused_away)
    bounds = [loop.turns for loop in frame.loops if isinstance(loop.turns, Stream)]
    body = without_remainders(arrange(simplified(nest, bounds), frame.loops))
    label = min(each.binding.label for each in members)
    return Nest(label, body, _outputs(nest, members, frame), in_place, counts)


def _in_place(members: list[LeafOfCluster]) -> tuple[tuple[Array, Array], ...]:
    return tuple(
        pair
        for each in members
        if isinstance(each.binding.operation, Scatter)
        for pair in zip(each.binding.operation.destinations, each.binding.arrays, strict=True)
    )


def _outputs(nest: Draft, members: list[LeafOfCluster], frame: Frame) -> tuple[Output, ...]:
    """What the nest stores, by label, with what it may be as large as."""
    where = {each.binding.label: each.binding.where for each in members}
    shared = {array for each in members if isinstance(each.binding.operation, Scatter) for array in each.binding.arrays}
    stores = [each for level in nest.levels for each in level.statements.values() if isinstance(each, Write)]
    written = [each.array for each in stores if each.array not in shared]
    written.sort(key=lambda array: (array.label, array.leaf))
    return tuple(Output(array, tuple(map(frame.capacity, array.shape)), where[array.label]) for array in written)


def _frame(members: list[LeafOfCluster]) -> Frame:
    arrays = [
        (port.array, port.traversal)
        for each in members
        for port in (*each.signature.inputs, *each.signature.outputs)
        if port.traversal is not None
    ]
    demands = [demand for each in members for demand in _demands(each)]
    return Frame(members, arrays, demands)


def _way(end: Direction) -> LoopDirection:
    return LoopDirection.UP if end is Direction.LEFT else LoopDirection.DOWN


def _demands(each: LeafOfCluster) -> Iterator[Demand]:
    """Which loops of an operation must run which way: docs/order.md counts elements in the array's own order."""
    binding, traversal = each.binding, each.traversal
    match binding.operation:
        case Fold(inputs=inputs, monoid=Monoid(exact=False)):
            yield Demand(LoopDirection.UP, inputs[0].shape, binding.arrays[0].shape, traversal)
        case FoldSegments(starts=starts) as fold:
            yield Demand(LoopDirection.UP, (*starts.shape, fold.length), starts.shape, traversal)
        case ScanSegments(starts=starts, direction=end) as scan:
            yield Demand(_way(end), (*starts.shape, scan.length), starts.shape, traversal)
        case Scan(inputs=inputs, direction=end):
            yield Demand(_way(end), inputs[0].shape, inputs[0].shape[:-1], traversal)
        case Filter(inputs=inputs):
            yield Demand(LoopDirection.UP, inputs[0].shape, (), traversal)
        case Scatter(indices=indices, values=values, monoid=Monoid(exact=False), unique=False):
            yield Demand(LoopDirection.UP, (*indices, *values)[0].shape, (), traversal)
        case _:
            pass


def _fused(tree: Tree, frame: Frame) -> Draft:
    """The nest of a tree: halves first; what a half makes for the other is stored, but not read again."""
    done: list[Draft] = []
    for node in postorder(tree):
        if isinstance(node, LeafOfCluster):
            done.append(lower_leaf(node, frame))
            continue
        second, first = done.pop(), done.pop()
        match node:
            case Vertical(arrays=arrays):
                bound = _streams(node.first, arrays)
            case Diagonal(kept=kept, discarded=discarded):
                bound = _streams(node.first, (*kept, *discarded))
            case Horizontal():
                bound = []
            case _:
                assert_never(node)
        done.append(fuse(first, without_reads(second, bound)))
    return done[0]


def _streams(first: Tree, arrays: tuple[Array, ...]) -> list[str]:
    """The names under which `first` makes arrays."""
    wanted = frozenset(arrays)
    return [
        element(port.array, port.traversal).name
        for port in first.signature.outputs
        if port.array in wanted and port.traversal is not None
    ]


def lower_leaf(leaf: LeafOfCluster, frame: Frame) -> Draft:
    """One operation as a nest."""
    binding, traversal = leaf.binding, leaf.traversal
    match binding.operation:
        case Sort() | HostCall():
            raise AccelInternalError(f"operation {binding.label} is no loop")
        case Generate(function):
            return lower_map(binding, function, (), traversal, frame)
        case Map(function, inputs):
            return lower_map(binding, function, inputs, traversal, frame)
        case Copy(inputs):
            return lower_copy(binding, inputs, traversal, frame)
        case Backpermute():
            return lower_backpermute(binding, binding.operation, traversal, frame)
        case Gather():
            return lower_gather(binding, binding.operation, traversal, frame)
        case Scatter():
            return lower_scatter(binding, binding.operation, traversal, frame)
        case Fold():
            return lower_fold(binding, binding.operation, traversal, frame)
        case FoldSegments():
            return lower_fold_segments(leaf, binding.operation, frame)
        case ScanSegments():
            return lower_scan_segments(leaf, binding.operation, frame)
        case Scan():
            return lower_scan(binding, binding.operation, traversal, frame)
        case Filter():
            return lower_filter(binding, binding.operation, traversal, frame)
        case Use() | Reshape() | Force() | BindSizes() | RequireEqual() | Acond() | Awhile():
            raise AccelInternalError(f"operation {binding.label} is no loop")
        case _:
            assert_never(binding.operation)
