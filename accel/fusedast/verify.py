"""Whether a fusion program is well formed; run between all passes in tests, and under `ACCEL_VERIFY=1`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from accel.errors import AccelInternalError
from accel.fusedast.nodes import (
    Diagonal,
    Horizontal,
    LeafOfCluster,
    Program,
    RootOfCluster,
    Tree,
    Unfused,
    UnfusedAcond,
    UnfusedAwhile,
    Vertical,
)
from accel.fusedast.ports import signature
from accel.fusedast.rules import merge
from accel.fusedast.text import text, tree_text
from accel.fusedast.walk import leaves, postorder
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Binding, Scatter
from accel.labelled.programs import Orders, orders, reads


def verify(program: Program) -> None:
    """Raises `AccelInternalError` with the tree's text unless

    1. every array is made once, by a node before those that use it, and not used after it was fused away or destroyed;
    2. every inner node follows from the inference rules, and its signature is the one that they give;
    3. a cluster's results are made in order 0 or 1, in that of a scan of segments that visits all, or in none by a scatter.
    """
    pending: list[_Part] = [(program, frozenset(), frozenset())]
    while pending:
        pending += _verify_part(*pending.pop())


_Part: TypeAlias = tuple[Program, frozenset[Array], frozenset[Label]]
"""A program, the arrays that are there when it starts, and the operations that have run then."""


def _verify_part(program: Program, outer: frozenset[Array], before: frozenset[Label]) -> list[_Part]:
    visible = set(outer).union(*program.parameters)
    done = set(before)
    own = orders(_bindings(program))
    inner: list[_Part] = []
    for node in program.nodes:
        match node:
            case RootOfCluster(tree, results):
                bindings = [leaf.binding for leaf in leaves(tree)]
                _require_visible(bindings, visible, program)
                _verify_cluster(tree, results, own)
                visible -= {a for b in bindings if isinstance(b.operation, Scatter) for a in b.operation.destinations}
                visible.update(results)
            case Unfused(binding):
                bindings = [binding]
                _require_visible(bindings, visible, program)
                visible.update(binding.arrays)
            case UnfusedAcond(binding, _, then, orelse):
                bindings = [binding]
                _require_visible(bindings, visible, program)
                inner += [(part, frozenset(visible), frozenset(done)) for part in (then, orelse)]
                visible.update(binding.arrays)
            case UnfusedAwhile(binding, condition, body):
                bindings = [binding]
                _require_visible(bindings, visible, program)
                inner += [(part, frozenset(visible), frozenset(done)) for part in (condition, body)]
                visible.update(binding.arrays)
            case _:
                assert_never(node)
        _require_after(bindings, done, program)
        done.update(binding.label for binding in bindings)
    if not visible.issuperset(program.results):
        raise AccelInternalError(f"a result is never stored:\n{text(program)}")
    return inner


def _require_visible(bindings: Iterable[Binding], visible: set[Array], program: Program) -> None:
    own: set[Array] = set()
    for binding in bindings:
        missing = reads(binding.operation) - visible - own
        if missing:
            names = sorted((array.label, array.leaf) for array in missing)
            raise AccelInternalError(f"operation {binding.label} uses {names}, not there:\n{text(program)}")
        if not visible.union(own).isdisjoint(binding.arrays) and not _is_parameter(binding, program):
            raise AccelInternalError(f"operation {binding.label} makes an array again:\n{text(program)}")
        own.update(binding.arrays)


def _is_parameter(binding: Binding, program: Program) -> bool:
    return binding.arrays in program.parameters


def _require_after(bindings: Iterable[Binding], done: set[Label], program: Program) -> None:
    for binding in bindings:
        if not done.issuperset(binding.after):
            raise AccelInternalError(f"operation {binding.label} stands before {binding.after}:\n{text(program)}")


def _bindings(program: Program) -> list[Binding]:
    """A program's own operations, in rising order."""
    found: list[Binding] = []
    for node in program.nodes:
        found += [leaf.binding for leaf in leaves(node.tree)] if isinstance(node, RootOfCluster) else [node.binding]
    return sorted(found, key=lambda binding: binding.label)


def _verify_cluster(tree: Tree, results: tuple[Array, ...], own: Orders) -> None:
    for node in postorder(tree):
        problem = _problem(node, own)
        if problem is not None:
            raise AccelInternalError(f"{problem}:\n{tree_text(node)}")
    traversals = {port.array: port.traversal for port in tree.signature.outputs}
    for array in results:
        if array not in traversals:
            raise AccelInternalError(f"result {array.label}.{array.leaf} is not made:\n{tree_text(tree)}")
        traversal = traversals[array]
        if traversal is not None and traversal.gather is not None and traversal.gather not in own.whole:
            raise AccelInternalError(f"result {array.label}.{array.leaf} has order {traversal}:\n{tree_text(tree)}")


def _problem(node: Tree, own: Orders) -> str | None:
    if isinstance(node, LeafOfCluster):
        if node.own != own.of.get(node.binding.label, node.binding.label):
            return "a leaf reads its sources in an order that is not its operation's"
        fits = node.signature == signature(node.binding, node.traversal, node.own)
        return None if fits else "a leaf's signature is not its operation's"
    bound, shared, merged = merge(node.first.signature, node.second.signature)
    match node:
        case Vertical(arrays=arrays):
            named, gone = arrays, arrays
        case Diagonal(kept=kept, discarded=discarded):
            named, gone = (*kept, *discarded), discarded
            if not kept:
                return "a Diagonal keeps nothing"
        case Horizontal():
            named, gone = (), ()
            if node.shared != shared:
                return "a Horizontal shares other arrays than both read"
        case _:
            assert_never(node)
    if frozenset(named) != frozenset(bound):
        return "the arrays that flow are not those named"
    outputs = frozenset(port for port in merged.outputs if port.array not in gone)
    if (node.signature.inputs, node.signature.outputs) != (merged.inputs, outputs):
        return "the signature is not what the rules give"
    return None
