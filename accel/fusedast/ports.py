"""The signature of a single operation: Table 1 of [vB24], extended by scans with totals, filters and in-place scatters.

An operation at order d reads its inputs and makes its arrays at order d, except: a gather reads its sources at its own order,
which folds and scans of the same segments share (`accel/labelled/programs.py`), and in which such a scan makes its results;
what scalar functions index is read in no order; a scatter destroys its destinations and makes its results in no order.
"""

from __future__ import annotations

from collections.abc import Iterator

from accel.errors import AccelInternalError
from accel.fusedast.nodes import Port, Signature
from accel.ilp.problem.clustering import Traversal
from accel.labelled.array import Label
from accel.labelled.nodes import Binding, Copy, Scatter
from accel.labelled.operations import Kind, Role, describe
from accel.labelled.programs import loaded


def signature(binding: Binding, traversal: Traversal, own: Label) -> Signature:
    """`[I | O]` of an operation at `traversal`, which reads sources at the order of `own`.

    Raises `AccelInternalError` for operations that are no loops.
    """
    if traversal.gather is not None and traversal.backward:
        raise AccelInternalError(f"operation {binding.label} has two orders: {traversal} and backward")
    made = None if isinstance(binding.operation, Scatter) else traversal
    described = describe(binding.operation)
    placed = described.placed(binding.arrays)
    outputs = frozenset(Port(array, Traversal(own, False) if array in placed else made) for array in binding.arrays)
    return Signature(frozenset(_inputs(binding, traversal, own)), outputs)


def _inputs(binding: Binding, traversal: Traversal, own: Label) -> Iterator[Port]:
    described = describe(binding.operation)
    if described.kind is Kind.BARRIER and not isinstance(binding.operation, Copy):
        raise AccelInternalError(f"operation {binding.label} cannot be part of a cluster")
    at = {Role.STREAM: traversal, Role.SOURCE: Traversal(own, False)}
    yield from (Port(array, at.get(role)) for array, role in described.reads)
    for function in described.functions:
        yield from (Port(array, None) for array in loaded(function))
