"""`Real`: a float expression with Python's operators, in which formulas of several nodes are written.

In: nodes of one float type. Out: operations on them. Nothing is checked: who writes a formula has checked its operands. A
`Real` that is used twice is computed once.
"""

from __future__ import annotations

import numpy as np

from accel.ast.tree.nodes import Literal, Operation, ScalarNode
from accel.ast.tree.operators import COMPARISONS, PREDICATES, Operator
from accel.ast.tree.types import BOOL, ScalarType
from accel.errors import Where
from accel.support.dataclass import frozen


@frozen
class Truth:
    """An expression of a bool."""

    node: ScalarNode
    where: Where | None

    def __and__(self, other: Truth) -> Truth:
        return Truth(Operation(Operator.AND, (self.node, other.node), BOOL, self.where), self.where)

    def __or__(self, other: Truth) -> Truth:
        return Truth(Operation(Operator.OR, (self.node, other.node), BOOL, self.where), self.where)

    def __invert__(self) -> Truth:
        return Truth(Operation(Operator.NOT, (self.node,), BOOL, self.where), self.where)

    def choose(self, then: Real, orelse: Real | float) -> Real:
        """`then` where it holds, `orelse` elsewhere; both are computed."""
        return Real(
            Operation(Operator.SELECT, (self.node, then.node, then.like(orelse).node), then.kind, self.where),
            then.kind,
            self.where,
        )


@frozen
class Real:
    """An expression of a float of type `kind`."""

    node: ScalarNode
    kind: ScalarType
    where: Where | None

    @property
    def limits(self) -> np.finfo[np.floating[np.typing.NBitBase]]:
        """What numbers the type has."""
        return np.finfo(self.kind.dtype.name)

    def like(self, value: Real | float) -> Real:
        """A number as a constant of this type."""
        if isinstance(value, Real):
            return value
        return Real(Literal(self.kind, float(value), self.where), self.kind, self.where)

    def apply(self, operator: Operator, *others: Real | float) -> Real:
        """`operator` at this and other operands."""
        operands = (self.node, *[self.like(other).node for other in others])
        return Real(Operation(operator, operands, self.kind, self.where), self.kind, self.where)

    def ask(self, operator: Operator, *others: Real | float) -> Truth:
        """A comparison or predicate."""
        assert operator in COMPARISONS or operator in PREDICATES
        operands = (self.node, *[self.like(other).node for other in others])
        return Truth(Operation(operator, operands, BOOL, self.where), self.where)

    def __add__(self, other: Real | float) -> Real:
        return self.apply(Operator.ADD, other)

    def __sub__(self, other: Real | float) -> Real:
        return self.apply(Operator.SUB, other)

    def __mul__(self, other: Real | float) -> Real:
        return self.apply(Operator.MUL, other)

    def __rmul__(self, other: float) -> Real:
        return self.like(other).apply(Operator.MUL, self)

    def __truediv__(self, other: Real | float) -> Real:
        return self.apply(Operator.DIV, other)

    def __rtruediv__(self, other: float) -> Real:
        return self.like(other).apply(Operator.DIV, self)

    def __neg__(self) -> Real:
        return self.apply(Operator.NEG)

    def __abs__(self) -> Real:
        return self.apply(Operator.ABS)

    def __lt__(self, other: Real | float) -> Truth:
        return self.ask(Operator.LT, other)

    def __gt__(self, other: Real | float) -> Truth:
        return self.ask(Operator.GT, other)

    def __ge__(self, other: Real | float) -> Truth:
        return self.ask(Operator.GE, other)

    def equals(self, other: Real | float) -> Truth:
        """Whether both are equal; -0.0 equals +0.0."""
        return self.ask(Operator.EQ, other)

    def is_nan(self) -> Truth:
        """Whether it is no number."""
        return self.ask(Operator.IS_NAN)

    def is_infinite(self) -> Truth:
        """Whether it is infinite."""
        return self.ask(Operator.IS_INFINITE)

    def with_sign(self, other: Real) -> Real:
        """With the sign of `other`."""
        return self.apply(Operator.COPYSIGN, other)
