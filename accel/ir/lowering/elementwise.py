"""Operations without states: map, generate, copy, gather, backpermute, scatter."""

from __future__ import annotations

from accel.ast.tree.types import BOOL
from accel.ilp.problem.clustering import Traversal
from accel.ir.lowering import names
from accel.ir.lowering.draft import Draft, draft
from accel.ir.lowering.frame import Frame
from accel.ir.lowering.names import element, elements
from accel.ir.lowering.streams import Placed, applied, copy, identity, reads, writes
from accel.ir.nodes import Guard, OneToMaybe, Operand, Remap, Scatter, Stream, Write
from accel.labelled import nodes as labelled
from accel.labelled.array import Array
from accel.labelled.nodes import Binding
from accel.labelled.passes.shapes.bounds import reads_inside
from accel.labelled.scalar import Function


def lower_map(
    binding: Binding, function: Function, inputs: tuple[Array, ...], traversal: Traversal, frame: Frame
) -> Draft:
    """`arrays[ix] := function(ix, inputs[ix])`; a generate has no inputs."""
    at = frame.point(binding.arrays[0].shape, traversal)
    arguments: tuple[Operand, ...] = (*at.index, *elements(inputs, traversal))
    value = applied(elements(binding.arrays, traversal), function, arguments, at.guard)
    return draft(
        [*at.needs, *reads(inputs, traversal, frame), (at.depth, value), *writes(binding.arrays, traversal, frame)]
    )


def lower_copy(binding: Binding, inputs: tuple[Array, ...], traversal: Traversal, frame: Frame) -> Draft:
    """`arrays[ix] := inputs[ix]`."""
    at = frame.point(binding.arrays[0].shape, traversal)
    value = copy(elements(binding.arrays, traversal), elements(inputs, traversal), at.guard)
    return draft(
        [*at.needs, *reads(inputs, traversal, frame), (at.depth, value), *writes(binding.arrays, traversal, frame)]
    )


def lower_backpermute(binding: Binding, operation: labelled.Backpermute, traversal: Traversal, frame: Frame) -> Draft:
    """`arrays[ix] := inputs[function(ix)]`: what makes the inputs runs at the mapped index."""
    at = frame.point(binding.arrays[0].shape, traversal)
    source = names.index(f"j{binding.label}", len(operation.inputs[0].shape))
    index = applied(source, operation.function, at.index, at.guard)
    statements = [*at.needs, (at.depth, index)] if source else [*at.needs]
    return _mapped(binding, source, operation.inputs, reads_inside(binding), statements, traversal, frame)


def lower_gather(binding: Binding, operation: labelled.Gather, traversal: Traversal, frame: Frame) -> Draft:
    """`arrays[ix] := inputs[indices[ix]]`."""
    source = elements(operation.indices, traversal)
    statements = reads(operation.indices, traversal, frame)
    return _mapped(binding, source, operation.inputs, False, statements, traversal, frame)


def _mapped(
    binding: Binding,
    source: tuple[Stream, ...],
    inputs: tuple[Array, ...],
    inside: bool,
    statements: list[Placed],
    traversal: Traversal,
    frame: Frame,
) -> Draft:
    """Reads at the index `source`, which is checked unless it is known to be `inside`; one of rank 0 needs nothing."""
    at = frame.point(binding.arrays[0].shape, traversal)
    mapped = Traversal(binding.label, False)
    outs = names.mapped_index(inputs[0], binding.label)
    if inside and outs:
        statements.append((at.depth, copy(outs, source, at.guard)))
    elif outs:
        statements.append((at.depth, Remap(outs, source, inputs[0].shape, at.guard, binding.where)))
    statements += reads(inputs, mapped, frame)
    value = copy(elements(binding.arrays, traversal), elements(inputs, mapped), at.guard)
    return draft([*statements, *at.needs, (at.depth, value), *writes(binding.arrays, traversal, frame)])


def lower_scatter(binding: Binding, operation: labelled.Scatter, traversal: Traversal, frame: Frame) -> Draft:
    """`arrays[indices[i]] := combine(values[i], arrays[...])`, in place, where `keep` holds."""
    ordered = (*operation.indices, *operation.values)
    if operation.keep is not None:
        ordered = (operation.keep, *ordered)
    at = frame.point(ordered[0].shape, traversal)
    statements = [*at.needs, *reads(ordered, traversal, frame)]
    guard = at.guard
    if operation.keep is not None:
        guard = names.kept(binding.label)
        kept = OneToMaybe(guard, identity([BOOL]), (element(operation.keep, traversal),), at.guard)
        statements.append((at.depth, kept))
    if operation.unique:
        return _written(binding, operation, guard, [*statements], traversal, frame)
    update = Scatter(
        binding.arrays,
        elements(operation.indices, traversal),
        elements(operation.values, traversal),
        operation.combine,
        operation.monoid,
        tuple(known for extent in ordered[0].shape for known in frame.capacity(extent)),
        guard,
        binding.where,
    )
    return draft([*statements, (at.depth, update)])


def _written(
    binding: Binding,
    operation: labelled.Scatter,
    guard: Guard,
    statements: list[Placed],
    traversal: Traversal,
    frame: Frame,
) -> Draft:
    """`arrays[indices[i]] := values[i]`, in place, where no two are one element: plain writes, in any order."""
    at = frame.point(operation.indices[0].shape if operation.indices else operation.values[0].shape, traversal)
    outs = names.mapped_index(binding.arrays[0], binding.label)
    if outs:
        index = elements(operation.indices, traversal)
        statements.append((at.depth, Remap(outs, index, binding.arrays[0].shape, guard, binding.where)))
    for array, value in zip(binding.arrays, elements(operation.values, traversal), strict=True):
        statements.append((at.depth, Write(array, outs, value, guard)))
    return draft(statements)
