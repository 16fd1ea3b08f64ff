"""States that count: how often they are stepped, with a one at each step."""

from __future__ import annotations

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir.nodes import Guard, State, Stream
from accel.labelled.algebra import monoid_of
from accel.labelled.scalar import Block, Compute, Function, Variable, constant

_A, _B, _SUM = Variable(0, I64), Variable(1, I64), Variable(2, I64)
_COUNT = Function((_A, _B), Block((Compute(_SUM, Operator.ADD, (_A, _B)),), (_SUM,)))

ONE = (constant(I64, 1),)
"""The values of a step."""


def counter(final: Stream, running: bool, guard: Guard) -> State:
    """The state; `running`: it is read while its loop runs. `guard`: where it exists."""
    return State((final,), (constant(I64, 0),), _COUNT, monoid_of(_COUNT), running, when=guard)
