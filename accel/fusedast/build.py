"""From a labelled program and its plan to fusion trees: the one place where the program and the ILP's answer meet.

The tree of a cluster is the earliest operation against the rest, as in [vB20 Listing 2]: `Diagonal(map, Horizontal(fold,
Vertical(scan, fold)))`. Where the rest would fall apart without the earliest, its parts join one after the other. Every node is
built by `rules.join`, so a plan that no tree realises is refused here.
"""

from __future__ import annotations

from collections.abc import Mapping

from accel.errors import AccelInternalError
from accel.fusedast.nodes import (
    LeafOfCluster,
    Node,
    Port,
    Program,
    RootOfCluster,
    Tree,
    Unfused,
    UnfusedAcond,
    UnfusedAwhile,
)
from accel.fusedast.rules import join, leaf
from accel.ilp.problem.clustering import Cluster, Plan
from accel.labelled import nodes as labelled
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Acond, Awhile, Binding, Copy
from accel.labelled.operations import Kind, describe
from accel.labelled.programs import Orders, consumed, orders
from accel.support.union_find import UnionFind


def build(program: labelled.Program, plan: Plan) -> Program:
    """The fusion trees of `plan`. Raises `AccelInternalError` if the plan is not one of this program, or not legal."""
    by_label = {binding.label: binding for binding in program.bindings}
    planned = sorted(label for cluster in plan.clustering.clusters for label in cluster.labels)
    if planned != sorted(by_label):
        raise AccelInternalError(f"the plan is for labels {planned}, the program has {sorted(by_label)}")
    users, own = _users(program), orders(program.bindings)
    inner = dict(plan.inner)
    nodes = tuple(_node(cluster, by_label, users, own, inner) for cluster in plan.clustering.clusters)
    return Program(program.parameters, nodes, program.results, program.own_shapes, program.equalities)


RESULT: Label = -1
"""Stands for the caller among an array's users."""


def _users(program: labelled.Program) -> Mapping[Array, frozenset[Label]]:
    """Which operations use each array, sub-programs counted with the operation that holds them."""
    users: dict[Array, set[Label]] = {}
    for binding in program.bindings:
        for array in consumed(binding.operation):
            users.setdefault(array, set()).add(binding.label)
    for array in program.results:
        users.setdefault(array, set()).add(RESULT)
    return {array: frozenset(labels) for array, labels in users.items()}


def _node(
    cluster: Cluster,
    by_label: Mapping[Label, Binding],
    users: Mapping[Array, frozenset[Label]],
    own: Orders,
    inner: Mapping[Label, tuple[Plan, Plan]],
) -> Node:
    if len(cluster.labels) == 1:
        binding = by_label[cluster.labels[0]]
        match binding.operation:
            case Acond(condition, then, orelse):
                plans = inner[binding.label]
                return UnfusedAcond(binding, condition, build(then, plans[0]), build(orelse, plans[1]))
            case Awhile(condition, body, initial):
                plans = inner[binding.label]
                return UnfusedAwhile(binding, build(condition, plans[0]), build(body, plans[1]), initial)
            case Copy():
                pass  # a loop, also where nothing fuses with it
            case operation if describe(operation).kind is Kind.BARRIER:
                return Unfused(binding)
            case _:
                pass
    members = sorted(zip(cluster.labels, cluster.traversals, strict=True))
    leaves = [leaf(by_label[label], traversal, own.of.get(label)) for label, traversal in members]
    return root(leaves, users, own.whole)


def root(
    leaves: list[LeafOfCluster], users: Mapping[Array, frozenset[Label]], whole: frozenset[Label] = frozenset()
) -> RootOfCluster:
    """The cluster of some operations, given in rising order of labels. `users`: of each array, in the whole program.
    `whole`: the orders of gathers that visit all.

    Raises `AccelInternalError` if they do not hang together or an output's order depends on a gather [vB24 section 3.3].
    """
    own = frozenset(each.binding.label for each in leaves)
    arrays = [array for each in leaves for array in each.binding.arrays]
    needed = frozenset(array for array in arrays if not users.get(array, frozenset()) <= own)
    tree = _tree(leaves, needed)
    for port in tree.signature.outputs:
        order = None if port.traversal is None else port.traversal.gather
        if order is not None and port.array in needed and order not in whole:
            raise AccelInternalError(f"%{port.array.label} is needed whole, but made in the order of a gather")
    return RootOfCluster(tree, tuple(array for array in arrays if array in needed))


def _tree(leaves: list[LeafOfCluster], needed: frozenset[Array]) -> Tree:
    """Operations are taken from the last to the first; each is joined with the parts that hang on it, in their order.

    So each step leaves exactly the parts into which the operations from there on fall. All that read an array at one
    order are in one part: so what an operation makes is bound in one join, which also decides whether it is discarded.
    """
    parts: dict[Label, Tree] = {}  # by their first operation
    reader: dict[Port, Label] = {}  # an operation of the part that reads it in that order
    firsts = UnionFind[Label]()  # the first operation of each part
    for each in reversed(leaves):
        label = each.binding.label
        links = [port for port in (*each.signature.outputs, *each.signature.inputs) if port.traversal is not None]
        hanging = sorted({firsts.find(reader[port]) for port in links if port in reader})
        tree: Tree = each
        for first in hanging:
            tree = join(tree, parts.pop(first), needed)
            firsts.unite(first, label)
        parts[label] = tree
        reader |= dict.fromkeys((port for port in each.signature.inputs if port.traversal is not None), label)
    if len(parts) != 1:
        raise AccelInternalError(f"the parts of a cluster that start at {sorted(parts)} have nothing in common")
    return next(iter(parts.values()))
