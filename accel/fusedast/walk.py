"""Walks over fusion trees that do not recurse: a tree may be as deep as its cluster is large."""

from __future__ import annotations

from collections.abc import Iterator

from accel.fusedast.nodes import LeafOfCluster, Tree


def preorder(tree: Tree) -> Iterator[tuple[int, Tree]]:
    """Every node with its depth, a node before its halves, the first half before the second."""
    pending = [(0, tree)]
    while pending:
        depth, node = pending.pop()
        yield depth, node
        if not isinstance(node, LeafOfCluster):
            pending += [(depth + 1, node.second), (depth + 1, node.first)]


def postorder(tree: Tree) -> list[Tree]:
    """Every node, both halves before their node, the first half before the second."""
    reversed_order = []
    pending = [tree]
    while pending:
        node = pending.pop()
        reversed_order.append(node)
        if not isinstance(node, LeafOfCluster):
            pending += [node.first, node.second]
    return reversed_order[::-1]


def leaves(tree: Tree) -> Iterator[LeafOfCluster]:
    """The operations of a cluster, first half first."""
    return (node for _, node in preorder(tree) if isinstance(node, LeafOfCluster))
