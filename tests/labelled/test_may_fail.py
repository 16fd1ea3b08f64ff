"""What may fail must not run unasked: "no" only where that is proved."""

from __future__ import annotations

import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F64, I64
from accel.labelled.array import Extent
from accel.labelled.passes.may_fail import may_fail
from tests.fusedast.hand import Body, Hand, number


@pytest.mark.parametrize(
    ("operator", "fails"), [(Operator.MIN, False), (Operator.MAX, False), (Operator.ADD, True), (Operator.SUB, True)]
)
def test_computed_sizes(operator: Operator, fails: bool) -> None:
    """One of two extents is an extent; a sum may be too large, a difference negative."""
    hand = Hand()
    n, m = hand.size(), hand.size()
    hand.use(F64, n, m)
    body = Body()
    hand.sizes(body.gives(body.op(operator, n, m)))
    assert may_fail(hand.bindings[-1], (), {}) is fails


def test_a_negative_constant_is_no_extent() -> None:
    hand = Hand()
    body = Body()
    hand.sizes(body.gives(body.op(Operator.ADD, Extent(None, 3), number(I64, -4))))
    assert may_fail(hand.bindings[-1], (), {})
