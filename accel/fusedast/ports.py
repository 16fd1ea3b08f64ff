"""The signature of a single operation: Table 1 of [vB24], extended by scans with totals, filters and in-place scatters.

An operation at order d reads its inputs and makes its arrays at order d, except: a gather reads its sources at its own order;
what scalar functions index is read in no order; a scatter destroys its destinations and makes its results in no order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from accel.errors import AccelInternalError
from accel.fusedast.nodes import Port, Signature
from accel.ilp.problem.clustering import Traversal
from accel.labelled.nodes import (
    Acond,
    Awhile,
    Backpermute,
    Binding,
    BindSizes,
    Copy,
    Filter,
    Fold,
    Force,
    Gather,
    Generate,
    Map,
    RequireEqual,
    Reshape,
    Scan,
    Scatter,
    Use,
)
from accel.labelled.programs import functions, loaded


def signature(binding: Binding, traversal: Traversal) -> Signature:
    """`[I | O]` of an operation at `traversal`. Raises `AccelInternalError` for operations that are no loops."""
    if traversal.gather is not None and traversal.backward:
        raise AccelInternalError(f"operation {binding.label} has two orders: {traversal} and backward")
    made = None if isinstance(binding.operation, Scatter) else traversal
    outputs = frozenset(Port(array, made) for array in binding.arrays)
    return Signature(frozenset(_inputs(binding, traversal)), outputs)


def _inputs(binding: Binding, traversal: Traversal) -> Iterator[Port]:
    operation = binding.operation
    mapped = Traversal(binding.label, False)
    match operation:
        case Generate():
            pass
        case Map(inputs=inputs) | Copy(inputs) | Fold(inputs=inputs) | Scan(inputs=inputs) | Filter(inputs=inputs):
            yield from (Port(array, traversal) for array in inputs)
        case Backpermute(inputs=inputs):
            yield from (Port(array, mapped) for array in inputs)
        case Gather(indices, inputs):
            yield from (Port(array, traversal) for array in indices)
            yield from (Port(array, mapped) for array in inputs)
        case Scatter(destinations=destinations, keep=keep, indices=indices, values=values):
            ordered = (*indices, *values) if keep is None else (keep, *indices, *values)
            yield from (Port(array, traversal) for array in ordered)
            yield from (Port(array, None) for array in destinations)
        case Use() | Reshape() | Force() | BindSizes() | RequireEqual() | Acond() | Awhile():
            raise AccelInternalError(f"operation {binding.label} cannot be part of a cluster")
        case _:
            assert_never(operation)
    for function in functions(operation):
        yield from (Port(array, None) for array in loaded(function))
