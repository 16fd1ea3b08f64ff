"""The inference rules of [vB24 Fig. 2], one by one; trees that they build, and what they refuse."""

from __future__ import annotations

import re

import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F64, I64
from accel.errors import AccelInternalError
from accel.fusedast.build import build
from accel.fusedast.nodes import (
    Diagonal,
    Horizontal,
    LeafOfCluster,
    Port,
    RootOfCluster,
    Tree,
    Vertical,
)
from accel.fusedast.rules import join, leaf
from accel.ilp.problem.clustering import BACKWARD, FORWARD
from accel.labelled.array import Array
from accel.labelled.nodes import Program
from tests.fusedast.examples import normalise2_expanded
from tests.fusedast.hand import Hand, at, plan


def shape(tree: Tree) -> str:
    """The tree in one line: `Diagonal(1, Horizontal(2, Vertical(3, 4)))`."""
    if isinstance(tree, LeafOfCluster):
        return str(tree.binding.label)
    return f"{type(tree).__name__}({shape(tree.first)}, {shape(tree.second)})"


def only_cluster(program: Program, *labels: int) -> RootOfCluster:
    (root,) = [n for n in build(program, plan(program, labels)).nodes if isinstance(n, RootOfCluster)]
    return root


def refused(text: str) -> pytest.RaisesExc[AccelInternalError]:
    return pytest.RaisesExc(AccelInternalError, match=re.escape(text))


def test_listing_2() -> None:
    """[vB20 Listing 2]: `normalise2`, expanded."""
    made = normalise2_expanded()
    roots = [node for node in build(made.program, made.fused).nodes if isinstance(node, RootOfCluster)]
    assert [shape(root.tree) for root in roots] == ["Diagonal(1, Horizontal(2, Vertical(3, 4)))", "Horizontal(5, 6)"]


def test_a_vertical_discards_and_a_diagonal_keeps() -> None:
    hand = Hand()
    xs = hand.use(F64, hand.size())
    ys = hand.affine(xs)
    zs = hand.affine(ys)
    vertical = only_cluster(hand.program(zs), 1, 2)
    assert isinstance(vertical.tree, Vertical)
    assert vertical.tree.arrays == (ys,)
    assert vertical.results == (zs,)
    diagonal = only_cluster(hand.program(zs, ys), 1, 2)
    assert isinstance(diagonal.tree, Diagonal)
    assert (diagonal.tree.kept, diagonal.tree.discarded) == ((ys,), ())
    assert diagonal.results == (ys, zs)


def test_a_horizontal_shares_reads() -> None:
    hand = Hand()
    xs = hand.use(F64, hand.size())
    both = only_cluster(hand.program(hand.affine(xs), hand.fold(xs)), 1, 2).tree
    assert isinstance(both, Horizontal)
    assert both.shared == (Port(xs, FORWARD),)


def test_parts_that_fall_apart_are_joined_one_after_the_other() -> None:
    """Without operation 3, operations 4 and 5 have nothing in common."""
    hand = Hand()
    n = hand.size()
    xs, other = hand.use(F64, n), hand.use(F64, n)
    first = hand.affine(xs)
    ys = hand.affine(first)
    zs = hand.zip(Operator.ADD, first, other)
    program = hand.program(ys, zs, hand.affine(ys))
    assert shape(only_cluster(program, 2, 3, 4, 5).tree) == "Vertical(2, Diagonal(Horizontal(3, 4), 5))"


def pair(first: Array, second: Array, hand: Hand) -> tuple[LeafOfCluster, LeafOfCluster]:
    return leaf(hand.bindings[first.label], FORWARD), leaf(hand.bindings[second.label], FORWARD)


def test_nothing_in_common_is_refused() -> None:
    hand = Hand()
    n = hand.size()
    ys, zs = hand.affine(hand.use(F64, n)), hand.affine(hand.use(F64, n))
    with refused("neither VERTICAL, DIAGONAL nor HORIZONTAL applies"):
        join(*pair(ys, zs, hand), {ys, zs})


def test_the_second_half_may_not_make_what_the_first_reads() -> None:
    hand = Hand()
    xs = hand.use(F64, hand.size())
    ys = hand.affine(xs)
    zs = hand.zip(Operator.ADD, ys, xs)
    with refused("the first cluster reads what the second makes"):
        join(*pair(zs, ys, hand), {ys, zs})


def test_two_orders_of_what_is_made_are_refused() -> None:
    """[vB24 section 3.3]: a scan from the left feeds one from the right."""
    hand = Hand()
    xs = hand.affine(hand.use(F64, hand.size()))
    (ys,) = hand.scan(xs)
    first, second = leaf(hand.bindings[xs.label], FORWARD), leaf(hand.bindings[ys.label], BACKWARD)
    with refused("%1.0:1 is read at another order than it is made"):
        join(first, second, {ys})


def test_what_is_needed_whole_is_not_pushed() -> None:
    """[vB24 section 3.3], `simple3`."""
    hand = Hand()
    indices, xs = hand.use(I64, hand.size()), hand.use(F64, hand.size())
    middle = hand.affine(xs)
    bs = hand.gather(indices, middle)
    program = hand.program(middle, bs)
    with refused("%2 is needed whole, but made in the order of a gather"):
        build(program, plan(program, [2, 3], orders={2: at(bs)}))


def test_a_scatter_feeds_nobody_in_its_cluster() -> None:
    hand = Hand()
    n = hand.size()
    indices, xs = hand.use(I64, n), hand.use(F64, n)
    scattered = hand.scatter(hand.copy(xs), [indices], xs)
    program = hand.program(hand.zip(Operator.ADD, scattered, xs))
    with refused("%3.0:0 is read at another order than it is made"):
        build(program, plan(program, [3, 4]))


def test_a_plan_of_another_program_is_refused() -> None:
    hand = Hand()
    xs = hand.affine(hand.use(F64, hand.size()))
    short = hand.program(xs)
    longer = hand.program(hand.affine(xs))
    with refused("the plan is for labels [0, 1], the program has [0, 1, 2]"):
        build(longer, plan(short))
