"""Operations with states: fold, scan, filter."""

from __future__ import annotations

from accel.ast.tree.nodes import Direction, ScanForm
from accel.ast.tree.types import I64
from accel.ilp.problem.clustering import Traversal
from accel.ir.counters import counter
from accel.ir.lowering import names
from accel.ir.lowering.draft import Draft, draft
from accel.ir.lowering.frame import Frame
from accel.ir.lowering.names import elements
from accel.ir.lowering.streams import Placed, applied, copy, reads, writes
from accel.ir.mentions import pruned
from accel.ir.nodes import Guard, ManyToOne, OneToMaybe, Operand, State, Stream, Write
from accel.labelled import nodes as labelled
from accel.labelled.array import Array, Extent
from accel.labelled.nodes import Binding
from accel.labelled.scalar import Function, constant


def seeded(
    binding: Binding, initial: Function | None, inputs: tuple[Array, ...], depth: int, guard: Guard
) -> tuple[tuple[Operand, ...] | None, list[Placed]]:
    """The seed's operands, and what makes them in the level that contains the loop."""
    if initial is None:
        return None, []
    outs = tuple(Stream(f"z{binding.label}" + (f"_{leaf}" if leaf else ""), a.element) for leaf, a in enumerate(inputs))
    return outs, [(depth, applied(outs, initial, (), guard))]


def lower_fold(binding: Binding, operation: labelled.Fold, traversal: Traversal, frame: Frame) -> Draft:
    """A state of the outermost of the folded loops, whose finals are the results around it."""
    inner = frame.point(operation.inputs[0].shape, traversal)
    outer = frame.point(binding.arrays[0].shape, traversal)
    initial, seeds = seeded(binding, operation.initial, binding.arrays, outer.depth, outer.guard)
    finals = elements(binding.arrays, traversal)
    state = State(
        finals,
        initial,
        operation.combine,
        operation.monoid,
        running=False,
        when=outer.guard,
        over=(*binding.arrays[0].shape, Extent(None, 0)),
        products=operation.products,
        combinator=operation.name,
        where=binding.where,
    )
    step = ManyToOne(state.name, elements(operation.inputs, traversal), when=inner.guard)
    statements = [
        *outer.needs,
        *seeds,
        *reads(operation.inputs, traversal, frame),
        (inner.depth, step),
        *writes(binding.arrays, traversal, frame),
    ]
    return draft(statements, [(outer.depth, state)])


def visiting(combine: Function, direction: Direction) -> Function:
    """`combine` with the operand that is visited earlier first: a scan from the right visits the right one first."""
    if direction is Direction.LEFT:
        return combine
    half = len(combine.parameters) // 2
    return Function((*combine.parameters[half:], *combine.parameters[:half]), combine.body)


def lower_scan(binding: Binding, operation: labelled.Scan, traversal: Traversal, frame: Frame) -> Draft:
    """A running state: inclusive results are its values after each step, the others those before."""
    shape, count = operation.inputs[0].shape, len(operation.inputs)
    inner, outer = frame.point(shape, traversal), frame.point(shape[:-1], traversal)
    initial, seeds = seeded(binding, operation.initial, operation.inputs, outer.depth, outer.guard)
    results = elements(binding.arrays[:count], traversal)
    if operation.form is ScanForm.TOTAL:
        finals = elements(binding.arrays[count:], traversal)
    else:
        finals = tuple(Stream(f"s{out.name[1:]}", out.type) for out in results)
    state = State(
        finals,
        initial,
        visiting(operation.combine, operation.direction),
        operation.monoid,
        running=True,
        when=outer.guard,
    )
    inclusive = operation.form is ScanForm.INCLUSIVE
    before, after = ((), results) if inclusive else (results, ())
    step = ManyToOne(state.name, elements(operation.inputs, traversal), before, after, inner.guard)
    statements = [
        *outer.needs,
        *seeds,
        *reads(operation.inputs, traversal, frame),
        (inner.depth, step),
        *writes(binding.arrays, traversal, frame),
    ]
    return draft(statements, [(outer.depth, state)])


def total_array(binding: Binding) -> Array:
    """The rank-0 array that holds how many elements a filter kept in all: the counts themselves for a vector."""
    counts = binding.arrays[-1]
    return Array(binding.label, len(binding.arrays), I64, ()) if counts.shape else counts


def lower_filter(binding: Binding, operation: labelled.Filter, traversal: Traversal, frame: Frame) -> Draft:
    """A guard, a running count that is the position of what is kept, and a count for each row.

    What is kept lives at the position, under the guard; a vector's count is the position's final value.
    """
    shape, label = operation.inputs[0].shape, binding.label
    inner, row = frame.point(shape, traversal), frame.point(shape[:-1], traversal)
    vectors, counts, total = binding.arrays[:-1], binding.arrays[-1], total_array(binding)
    keep, position = names.kept(label), names.position(label)
    sources = elements(operation.inputs, traversal)
    predicate, arguments = pruned(operation.predicate, sources)
    one = (constant(I64, 1),)
    position_state = counter(elements((total,), traversal)[0], True, None)
    states = [(0, position_state)]
    statements: list[Placed] = [
        *row.needs,
        *reads(operation.inputs, traversal, frame),
        (inner.depth, OneToMaybe(keep, predicate, arguments, inner.guard)),
        (inner.depth, ManyToOne(position_state.name, one, before=(position,), when=keep)),
        (inner.depth, copy(elements(vectors, traversal), sources, keep)),
        *writes(vectors, traversal, frame),
        *writes((counts,), traversal, frame),
    ]
    if total is not counts:
        count_state = counter(elements((counts,), traversal)[0], False, row.guard)
        states.append((row.depth, count_state))
        statements.append((inner.depth, ManyToOne(count_state.name, one, when=keep)))
        statements.append((0, Write(total, (), elements((total,), traversal)[0])))
    return draft(statements, states)
