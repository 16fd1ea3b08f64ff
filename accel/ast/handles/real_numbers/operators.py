"""Operators on floats that are formulas of others: powers to written exponents, quotients rounded down.

In: nodes of one float type. Out: a node of it. The formula is part of the program, so all backends give the same bits.
"""

from __future__ import annotations

import math

from accel.ast.handles.real_numbers.formulas import Real
from accel.ast.tree.nodes import Literal, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F16, ScalarType
from accel.errors import Where


def written_power(operands: tuple[ScalarNode, ...], where: Where | None) -> ScalarNode | None:
    """A power of a float to an exponent that is written in the program, where a few operations give it.

    To 0, 1, 2, -1 and 0.5 it is rounded once, as in NumPy; to 3 and 4 it is a product, and what rounding took from that. None
    for all others. What the exponent is must not follow from the planner's choices, so this is decided here, for all of them.
    """
    base, exponent = operands
    if not isinstance(exponent, Literal):
        return None
    kind = exponent.type
    x = Real(base, kind, where)
    match exponent.value:
        case 0.0:
            return x.like(1.0).node
        case 1.0:
            return base
        case 2.0:
            return (x * x).node
        case -1.0:
            return (1.0 / x).node
        case 0.5:
            # C's pow gives +0 for -0, and infinity for -infinity.
            root = (x + 0.0).apply(Operator.SQRT)
            return x.equals(-math.inf).choose(x.like(math.inf), root).node
        case 3.0 | 4.0 if kind is not F16:
            square = x * x
            lost = x.apply(Operator.FMA, x, -square)
            other, more = (x, lost * x) if exponent.value == 3.0 else (square, (square + square) * lost)
            product = square * other
            lost = square.apply(Operator.FMA, other, -product) + more
            is_usual = (abs(product) > 0.0) & (abs(product) < math.inf)
            return is_usual.choose(product + lost, product).node
        case _:
            return None


def floor_quotient(dividend: ScalarNode, divisor: ScalarNode, kind: ScalarType, where: Where | None) -> ScalarNode:
    """`dividend // divisor` as NumPy and Python compute it: from the exact remainder, so that it fits to that of `%`.

    By 0 it is the quotient, infinite or NaN. A quotient of 0 has the sign of `dividend / divisor`.
    """
    x, y = Real(dividend, kind, where), Real(divisor, kind, where)
    rest = abs(x).apply(Operator.MOD, abs(y)).with_sign(x)
    exact = (x - rest) / y
    differs = ~rest.equals(0.0) & ((rest < 0.0) & (y > 0.0) | (rest > 0.0) & (y < 0.0))
    quotient = differs.choose(exact - 1.0, exact)
    down = quotient.apply(Operator.FLOOR)
    near = (quotient - down > 0.5).choose(down + 1.0, down)
    ratio = x / y
    found = quotient.equals(0.0).choose(x.like(0.0).with_sign(ratio), near)
    return y.equals(0.0).choose(ratio, found).node
