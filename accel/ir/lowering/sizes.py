"""Sizes that filters find out: which of them anybody needs once the filter's nest has run.

A vector that is fused away needs no size: the host then does not wait for a count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from accel.fusedast.nodes import Program, RootOfCluster
from accel.fusedast.walk import leaves
from accel.labelled.array import Array, SizeVariable
from accel.labelled.nodes import Binding, Filter
from accel.labelled.operations import parts
from accel.labelled.programs import extents_mentioned, reads


def found_size(binding: Binding) -> SizeVariable:
    """The size variable that a filter finds out."""
    variable = binding.arrays[0].shape[0].variable
    assert variable is not None, "a filter's extent is a size variable"
    return variable


def mentioned_sizes(program: Program) -> frozenset[SizeVariable]:
    """Every size that a program needs outside of the cluster that finds it out: in shapes, and in scalar functions."""
    found = set(_in_shapes(program.results))
    for node in program.nodes:
        if isinstance(node, RootOfCluster):
            bindings = [leaf.binding for leaf in leaves(node.tree)]
            own = {found_size(binding) for binding in bindings if isinstance(binding.operation, Filter)}
            found |= set(_mentioned(bindings)) - own
            found.update(_in_shapes(node.results))
        else:
            found.update(_mentioned([node.binding]))
    return frozenset(found)


def _mentioned(bindings: Iterable[Binding]) -> Iterator[SizeVariable]:
    """All sizes in operations, those of their sub-programs included."""
    pending = list(bindings)
    while pending:
        binding = pending.pop()
        yield from _in_shapes(binding.arrays)
        yield from _in_shapes(reads(binding.operation))
        yield from extents_mentioned(binding.operation)
        for part in parts(binding.operation):
            yield from _in_shapes(part.results)
            pending += part.bindings


def _in_shapes(arrays: Iterable[Array]) -> Iterator[SizeVariable]:
    return (extent.variable for array in arrays for extent in array.shape if extent.variable is not None)
