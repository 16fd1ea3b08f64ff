"""Operators on tuples, restricted to the components that somebody needs.

A fold of pairs of which only the first is used, and does not depend on the second, is a fold of numbers.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeAlias

from accel.ast.tree.nodes import ScanForm
from accel.labelled.algebra import by_component, monoid_of, monoid_of_fold
from accel.labelled.nodes import Filter, Fold, FoldSegments, Operation, Scan, ScanSegments
from accel.labelled.scalar import Function
from accel.labelled.scalar_text import variables_used
from accel.labelled.scalars.simplify import select_results, simplify

Reduction: TypeAlias = Fold | FoldSegments | Scan | ScanSegments


def needed_components(combine: Function, wanted: Collection[int]) -> list[int]:
    """The components of a combining function that those at `wanted` depend on, with them."""
    count = len(combine.body.results)
    needed = set(wanted)
    while True:
        used = variables_used(select_results(combine, sorted(needed)).body)
        found = {v.number % count for v in used if v.number < 2 * count}  # parameters are numbered first
        if found <= needed:
            return sorted(needed)
        needed |= found


def restrict_combining(combine: Function, kept: list[int]) -> Function:
    """The combining function of the components at `kept`, which depend on no others."""
    count = len(combine.body.results)
    function = select_results(combine, kept)
    parameters = [function.parameters[side * count + k] for side in (0, 1) for k in kept]
    return simplify(Function(tuple(parameters), function.body))


def restrict(operation: Operation, wanted: Collection[int]) -> tuple[Operation, list[int]] | None:
    """The operation with fewer components, and which of its arrays remain; None if all do, or it cannot be restricted."""
    match operation:
        case Filter():
            found = restrict_filter(operation, wanted)
            return None if found is None else (found[0], [*found[1], len(operation.inputs)])
        case Fold() | FoldSegments() | Scan() | ScanSegments():
            return restrict_reduction(operation, wanted)
        case _:
            return None


def restrict_reduction(operation: Reduction, wanted: Collection[int]) -> tuple[Reduction, list[int]] | None:
    """The reduction with fewer components, and which of its arrays remain; None if all are needed.

    `wanted` are places among its arrays: the components, and for scans with totals the components again.
    """
    count = len(operation.combine.body.results)
    kept = needed_components(operation.combine, {place % count for place in wanted})
    if len(kept) == count:
        return None
    combine = restrict_combining(operation.combine, kept)
    initial = None if operation.initial is None else select_results(operation.initial, kept)
    parts = by_component(operation.inputs, () if isinstance(operation, Scan | ScanSegments) else operation.products)
    inputs = tuple([array for k in kept for array in parts[k]])
    totals = isinstance(operation, Scan | ScanSegments) and operation.form is ScanForm.TOTAL
    places = kept + [count + k for k in kept] if totals else kept
    known = monoid_of(combine) if isinstance(operation, Scan | ScanSegments) else monoid_of_fold(combine)
    fewer = replace(operation, combine=combine, initial=initial, inputs=inputs, monoid=known)
    if not isinstance(fewer, Scan | ScanSegments):
        fewer = replace(fewer, products=tuple([place for place, k in enumerate(kept) if len(parts[k]) == 2]))
    return fewer, places


def restrict_filter(operation: Filter, wanted: Collection[int]) -> tuple[Filter, list[int]] | None:
    """The filter with only those leaves that are wanted or looked at, and their places; None if all are.

    One leaf stays in any case: the size of the result is found with it.
    """
    used = variables_used(operation.predicate.body)
    parameters = operation.predicate.parameters
    kept = [k for k, parameter in enumerate(parameters) if k in wanted or parameter in used] or [0]
    if len(kept) == len(parameters):
        return None
    predicate = simplify(Function(tuple([parameters[k] for k in kept]), operation.predicate.body))
    return Filter(predicate, tuple([operation.inputs[k] for k in kept])), kept
