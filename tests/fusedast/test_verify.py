"""Malformed fusion trees are refused, and fused-away arrays are gone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accel.ast.tree.types import F64
from accel.errors import AccelInternalError
from accel.fusedast.build import build
from accel.fusedast.interpret import interpret
from accel.fusedast.nodes import Diagonal, Program, RootOfCluster, Signature, Vertical
from accel.fusedast.verify import verify
from accel.labelled.nodes import Scatter
from tests.fusedast.examples import EXAMPLES, scatter_example
from tests.fusedast.hand import Hand, plan


def fused() -> Program:
    """A map that is fused away, and one that is not."""
    hand = Hand()
    xs = hand.use(F64, hand.size())
    program = hand.program(hand.affine(hand.affine(xs)))
    return build(program, plan(program, [1, 2]))


def cluster(program: Program) -> tuple[RootOfCluster, Vertical]:
    (root,) = [node for node in program.nodes if isinstance(node, RootOfCluster)]
    assert isinstance(root.tree, Vertical)
    return root, root.tree


def test_good_trees_pass() -> None:
    for example in EXAMPLES:
        made = example()
        verify(build(made.program, made.fused))


def test_a_use_before_its_node() -> None:
    program = fused()
    with pytest.raises(AccelInternalError, match="operation 1 uses"):
        verify(replace(program, nodes=program.nodes[::-1], parameters=()))


def test_a_signature_that_the_rules_do_not_give() -> None:
    program = fused()
    root, tree = cluster(program)
    wrong = replace(tree, signature=Signature(tree.signature.inputs, tree.first.signature.outputs))
    with pytest.raises(AccelInternalError, match="the signature is not what the rules give"):
        verify(replace(program, nodes=(program.nodes[0], replace(root, tree=wrong))))


def test_a_diagonal_that_keeps_nothing() -> None:
    program = fused()
    root, tree = cluster(program)
    wrong = Diagonal(tree.first, tree.second, (), tree.arrays, tree.signature)
    with pytest.raises(AccelInternalError, match="a Diagonal keeps nothing"):
        verify(replace(program, nodes=(program.nodes[0], replace(root, tree=wrong))))


def test_what_was_fused_away_is_not_visible() -> None:
    program = fused()
    _, tree = cluster(program)
    asking = replace(program, results=tree.arrays)
    with pytest.raises(AccelInternalError, match="a result is never stored"):
        verify(asking)
    with pytest.raises(KeyError):
        interpret(asking, [np.ones(3)])


def test_a_destination_is_gone_after_its_scatter() -> None:
    made = scatter_example()
    program = build(made.program, made.unfused)
    assert isinstance(made.program.bindings[-1].operation, Scatter)
    asking = replace(program, results=made.program.bindings[-1].operation.destinations)
    with pytest.raises(KeyError):
        interpret(asking, made.arguments)
