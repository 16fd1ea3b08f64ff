"""Folds and scans of segments: a loop over segments, and in it one over the elements of each.

Both ends of a segment and its length are checked as an index into `n + 1` each, all at once: then the loop inside reads
elements only.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.nodes import ScanForm
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.fusedast.nodes import LeafOfCluster
from accel.ilp.problem.clustering import Traversal
from accel.ir.lowering import names
from accel.ir.lowering.draft import Draft, draft
from accel.ir.lowering.frame import Frame, Point
from accel.ir.lowering.names import element, elements
from accel.ir.lowering.reductions import seeded, visiting
from accel.ir.lowering.streams import Placed, reads, writes
from accel.ir.nodes import Guard, ManyToOne, OneToOne, Operand, Remap, Segment, State, Stream, Within, Write
from accel.labelled.array import Extent, Label, SegmentLength
from accel.labelled.nodes import Binding, FoldSegments, ScanSegments
from accel.labelled.scalar import Block, Compute, Function, Variable, constant

_A, _B, _C = Variable(0, I64), Variable(1, I64), Variable(2, I64)
_MINUS = Function((_A, _B), Block((Compute(_C, Operator.SUB, (_A, _B)),), (_C,)))
_PLUS = Function((_A, _B), Block((Compute(_C, Operator.ADD, (_A, _B)),), (_C,)))


def lower_fold_segments(leaf: LeafOfCluster, operation: FoldSegments, frame: Frame) -> Draft:
    """A state of the loop over a segment, which is stepped with what is at the segment's elements."""
    binding, traversal = leaf.binding, leaf.traversal
    shape = binding.arrays[0].shape
    outer, inner = frame.point(shape, traversal), frame.point((*shape, operation.length), traversal)
    mapped = Traversal(leaf.own, False)
    initial, seeds = seeded(binding, operation.initial, binding.arrays, outer.depth, outer.guard)
    state = State(
        elements(binding.arrays, traversal), initial, operation.combine, operation.monoid, running=False, when=outer.guard,
        over=(*shape, Extent(None, 0)), products=operation.products, combinator=operation.name,
        where=binding.where, segment=outer.index[-1],
    )  # fmt: skip
    statements = [
        *outer.needs,
        *seeds,
        *_bounds(binding, operation, traversal, outer, frame),
        *inner.needs,
        *_place(leaf.own, operation, inner, None),
        *reads(operation.inputs, mapped, frame),
        (inner.depth, ManyToOne(state.name, elements(operation.inputs, mapped), when=inner.guard)),
        *writes(binding.arrays, traversal, frame),
    ]
    return draft(statements, [(outer.depth, state)])


def _bounds(
    binding: Binding, operation: FoldSegments | ScanSegments, traversal: Traversal, outer: Point, frame: Frame
) -> list[Placed]:
    """Where the segment begins and ends, checked."""
    start, end = element(operation.starts, traversal), element(operation.ends, traversal)
    length = _length(operation)
    first, last, count = names.segment(length)
    difference = Stream(f"{count.name}_n", I64)
    extent = Extent(length.of.variable, length.of.offset + 1)
    check = Remap(
        (first, last, count), (start, end, difference), (extent,) * 3, outer.guard, binding.where,
        Segment(operation.name, outer.index[-1]),
    )  # fmt: skip
    return [
        *reads((operation.starts, operation.ends), traversal, frame),
        (outer.depth, OneToOne((difference,), _MINUS, (end, start), outer.guard)),
        (outer.depth, check),
    ]


def _length(operation: FoldSegments | ScanSegments) -> SegmentLength:
    length = operation.length.variable
    assert isinstance(length, SegmentLength), "the loop over a segment runs to its length"
    return length


def _place(own: Label, operation: FoldSegments | ScanSegments, inner: Point, guard: Guard) -> list[Placed]:
    """The index of an element: those of the rows, and how far it stands behind the segment's start."""
    length = _length(operation)
    *rows, _, turn = inner.index
    before = 1 if length.longer and length.backward else 0
    outs = names.mapped_index(operation.inputs[0], own)
    summands = [names.segment(length)[0], turn, constant(I64, -before)][: 2 + before]
    return [(inner.depth, each) for each in _behind(outs, rows, summands, guard)]


def _behind(
    outs: tuple[Stream, ...], rows: Sequence[Operand], summands: Sequence[Operand], guard: Guard
) -> list[OneToOne]:
    """An index of rows, which are only named, and of a place that is a sum."""
    parameters = tuple([Variable(number, I64) for number in range(len(summands))])
    sums: list[Compute] = []
    for summand in parameters[1:]:
        last = sums[-1].out if sums else parameters[0]
        sums.append(Compute(Variable(len(parameters) + len(sums), I64), Operator.ADD, (last, summand)))
    place = OneToOne(outs[-1:], Function(parameters, Block(tuple(sums), (sums[-1].out,))), tuple(summands), guard)
    if not rows:
        return [place]
    named = tuple([Variable(number, I64) for number in range(len(rows))])
    return [OneToOne(outs[:-1], Function(named, Block((), named)), tuple(rows), guard), place]


def lower_scan_segments(leaf: LeafOfCluster, operation: ScanSegments, frame: Frame) -> Draft:
    """A running state of the loop over a segment, whose values are stored where the segment's elements are.

    That of an exclusive scan has one iteration more, without an element: the last one, or from the right the first.
    """
    binding, traversal = leaf.binding, leaf.traversal
    shape, count, length = operation.starts.shape, len(operation.inputs), _length(operation)
    outer, inner = frame.point(shape, traversal), frame.point((*shape, operation.length), traversal)
    mapped = Traversal(leaf.own, False)
    results, totals = elements(binding.arrays[:count], mapped), elements(binding.arrays[count:], traversal)
    finals = totals or tuple(Stream(f"s{out.name[1:]}", out.type) for out in results)
    initial, seeds = seeded(binding, operation.initial, operation.inputs, outer.depth, outer.guard)
    merge = visiting(operation.combine, operation.direction)
    state = State(finals, initial, merge, operation.monoid, running=True, when=outer.guard)
    inclusive = operation.form is ScanForm.INCLUSIVE
    before, after = ((), results) if inclusive else (results, ())
    guard = names.kept(leaf.own) if length.longer else inner.guard
    index = names.mapped_index(operation.inputs[0], leaf.own)
    more, place = _one_more(leaf, operation, outer, inner) if length.longer else ([], index)
    step = ManyToOne(state.name, elements(operation.inputs, mapped), before, after, guard)
    pairs = zip(binding.arrays[:count], results, strict=True)
    statements = [
        *outer.needs,
        *seeds,
        *_bounds(binding, operation, traversal, outer, frame),
        *inner.needs,
        *more,
        *_place(leaf.own, operation, inner, guard),
        *reads(operation.inputs, mapped, frame),
        (inner.depth, step),
        *((inner.depth, Write(array, place, value, inner.guard)) for array, value in pairs),
        *writes(binding.arrays[count:], traversal, frame),
    ]
    return draft(statements, [(outer.depth, state)])


def _one_more(
    leaf: LeafOfCluster, operation: ScanSegments, outer: Point, inner: Point
) -> tuple[list[Placed], tuple[Stream, ...]]:
    """How often the loop of an exclusive scan runs, where it has an element, and the index of its results."""
    length = _length(operation)
    first, _, count = names.segment(length)
    *rows, segment, turn = inner.index
    place = names.place(leaf.binding.arrays[0], leaf.own)
    turns, one, keep = names.turns(length), constant(I64, 1), names.kept(leaf.own)
    assert isinstance(turn, Stream), "the loop over a segment has an index"
    return [
        (outer.depth, OneToOne((turns,), _PLUS, (count, one), outer.guard)),
        (inner.depth, Within(keep, turn, 1 if length.backward else 0, count, inner.guard)),
        *((inner.depth, each) for each in _behind(place, rows, [first, segment, turn], inner.guard)),
    ], place
