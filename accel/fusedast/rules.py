"""The safe constructors of fusion trees: the inference rules of [vB24 Fig. 2], applied to signatures.

`join` merges two clusters, the first before the second, where the rules allow it and at least one array is fused
[vB24 section 3.4]; everything else is refused with the rule that does not hold. The rules, for `[I1 | O1]` and `[I2 | O2]`:

* VERTICAL, DIAGONAL: x:d in O1 and x:d in I2, and x in I2 at no other order (nor without one);
* HORIZONTAL: x:d in I1 and in I2;
* INTRO: an input of the first is no output of the second; an input of the second is no output of the first unless fused; an
  output is made by one of them only.
"""

from __future__ import annotations

from collections.abc import Collection

from accel.errors import AccelInternalError
from accel.fusedast.nodes import (
    Diagonal,
    Horizontal,
    LeafOfCluster,
    Port,
    Signature,
    Tree,
    Vertical,
)
from accel.fusedast.ports import signature
from accel.ilp.problem.clustering import Traversal
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Binding


def leaf(binding: Binding, traversal: Traversal, own: Label | None = None) -> LeafOfCluster:
    """A cluster of one operation [vB24 Table 1]. `own`: the order in which it reads sources, if that is another one's."""
    order = binding.label if own is None else own
    return LeafOfCluster(binding, traversal, order, signature(binding, traversal, order))


def join(first: Tree, second: Tree, needed: Collection[Array]) -> Tree:
    """Both clusters as one. Of the arrays that `second` consumes from `first`, `needed` are kept, the others discarded.

    Raises `AccelInternalError` where no rule of [vB24 Fig. 2] applies.
    """
    bound, shared, merged = merge(first.signature, second.signature)
    kept = tuple(array for array in bound if array in needed)
    discarded = tuple(array for array in bound if array not in needed)
    gone = frozenset(discarded)
    outputs = frozenset(port for port in merged.outputs if port.array not in gone) if gone else merged.outputs
    result = Signature(merged.inputs, outputs)
    if kept:
        return Diagonal(first, second, kept, discarded, result)
    if discarded:
        return Vertical(first, second, discarded, result)
    return Horizontal(first, second, shared, result)


def merge(first: Signature, second: Signature) -> tuple[tuple[Array, ...], tuple[Port, ...], Signature]:
    """The arrays bound by the first for the second, the shared reads, and the signature that keeps every output."""
    bound = first.outputs & second.inputs
    fused = {port.array for port in bound if port.traversal is not None}
    made = {port.array for port in first.outputs}
    for port in second.inputs - bound:
        if port.array in made:
            raise AccelInternalError(f"{_name(port)} is read at another order than it is made: VERTICAL does not apply")
    if len(fused) < len(bound):
        raise AccelInternalError("what is made in no order is read in the same cluster: INTRO does not apply")
    later = {port.array for port in second.outputs}
    if any(port.array in later for port in first.inputs):
        raise AccelInternalError("the first cluster reads what the second makes: INTRO does not apply")
    if not made.isdisjoint(later):
        raise AccelInternalError("both clusters make one array: INTRO does not apply")
    shared = frozenset(port for port in first.inputs & second.inputs if port.traversal is not None)
    if not fused and not shared:
        raise AccelInternalError("no array is fused: neither VERTICAL, DIAGONAL nor HORIZONTAL applies")
    inputs = first.inputs | (second.inputs - bound)
    ordered = _in_order(bound)
    return tuple(port.array for port in ordered), _in_order(shared), Signature(inputs, first.outputs | second.outputs)


def _in_order(ports: Collection[Port]) -> tuple[Port, ...]:
    return tuple(sorted(ports, key=lambda port: (port.array.label, port.array.leaf, str(port.traversal))))


def _name(port: Port) -> str:
    return f"%{port.array.label}.{port.array.leaf}:{port.traversal}"
