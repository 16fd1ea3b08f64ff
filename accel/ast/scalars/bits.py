"""Functions of the bits of integers.

In: `Exp`s of integers, amounts and positions as `int` or `Exp[np.int64]`. Out: `Exp`s. Bit 0 is the least significant; a
position outside of the width names no bit: testing it gives False, setting it changes nothing.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from accel.ast.handles import operations
from accel.ast.handles.acc import Num
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.habits.calls import require_elements
from accel.ast.handles.literals import typed, untyped
from accel.ast.scalars.conversions import I, apply
from accel.ast.tree.nodes import Operation, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import ScalarType
from accel.errors import AccelTypeError, here

B = TypeVar("B", bound="np.generic[int]")


def shiftL(x: Exp[I], amount: Num) -> Exp[I]:
    """`x << amount`; amounts outside of 0 to the width give 0.

    >>> A.run(A.unit(A.shiftL(A.constant(3), 2)))
    array(12)
    """
    return _shift(Operator.SHIFT_LEFT, "shiftL", x, amount)


def shiftR(x: Exp[I], amount: Num) -> Exp[I]:
    """`x >> amount`, keeping the sign; amounts outside of 0 to the width give 0, or -1 for negative `x`.

    >>> A.run(A.unit(A.shiftR(A.constant(12), 2)))
    array(3)
    """
    return _shift(Operator.SHIFT_RIGHT, "shiftR", x, amount)


def rotateL(x: Exp[I], amount: Num) -> Exp[I]:
    """The bits rotated to the left; the amount counts modulo the width.

    >>> A.run(A.unit(A.rotateL(A.constant(np.uint8(129)), 1)))
    array(3, dtype=uint8)
    """
    return _shift(Operator.ROTATE_LEFT, "rotateL", x, amount)


def rotateR(x: Exp[I], amount: Num) -> Exp[I]:
    """The bits rotated to the right; the amount counts modulo the width.

    >>> A.run(A.unit(A.rotateR(A.constant(np.uint8(129)), 1)))
    array(192, dtype=uint8)
    """
    return _shift(Operator.ROTATE_RIGHT, "rotateR", x, amount)


def popCount(x: Exp[I]) -> Exp[np.int64]:
    """The number of bits that are set.

    >>> A.run(A.unit(A.popCount(A.constant(7))))
    array(3)
    """
    return apply(Operator.POP_COUNT, "popCount", x)


def countLeadingZeros(x: Exp[I]) -> Exp[np.int64]:
    """The number of zero bits above the highest that is set; of 0, the width.

    >>> A.run(A.unit(A.countLeadingZeros(A.constant(1, np.int8))))
    array(7)
    """
    return apply(Operator.COUNT_LEADING_ZEROS, "countLeadingZeros", x)


def countTrailingZeros(x: Exp[I]) -> Exp[np.int64]:
    """The number of zero bits below the lowest that is set; of 0, the width.

    >>> A.run(A.unit(A.countTrailingZeros(A.constant(8))))
    array(3)
    """
    return apply(Operator.COUNT_TRAILING_ZEROS, "countTrailingZeros", x)


def testBit(x: Exp[I], position: Num) -> Exp[np.bool_]:
    """Whether a bit is set.

    >>> A.run(A.unit(A.testBit(A.constant(9), 3)))
    array(True)
    """
    return apply(Operator.NE, "testBit", apply(Operator.AND, "testBit", x, _bit("testBit", x, position)), 0)


def setBit(x: Exp[I], position: Num) -> Exp[I]:
    """`x` with a bit set.

    >>> A.run(A.unit(A.setBit(A.constant(8), 0)))
    array(9)
    """
    return apply(Operator.OR, "setBit", x, _bit("setBit", x, position))


def clearBit(x: Exp[I], position: Num) -> Exp[I]:
    """`x` with a bit cleared.

    >>> A.run(A.unit(A.clearBit(A.constant(9), 0)))
    array(8)
    """
    return apply(Operator.AND, "clearBit", x, apply(Operator.NOT, "clearBit", _bit("clearBit", x, position)))


def complementBit(x: Exp[I], position: Num) -> Exp[I]:
    """`x` with a bit inverted.

    >>> A.run(A.unit(A.complementBit(A.constant(9), 1)))
    array(11)
    """
    return apply(Operator.XOR, "complementBit", x, _bit("complementBit", x, position))


def xor(x: Exp[B] | B | int, y: Exp[B] | B | int) -> Exp[B]:
    """`x ^ y`, of integers or bools.

    >>> A.run(A.unit(A.xor(A.constant(6), 3)))
    array(5)
    """
    return apply(Operator.XOR, "xor", x, y)


def _shift(operator: Operator, name: str, x: object, amount: object) -> Exp[Any]:
    where = here()
    require_elements(name, (x, amount), where)
    return Exp(operations.shift(operator, raw(x), raw(amount), where, name))


def _bit(name: str, x: object, position: object) -> Exp[Any]:
    """The integer of `x`'s type with only that bit set; 0 if there is no such bit."""
    where = here()
    require_elements(name, (x, position), where)
    kind = untyped(raw(x), f"operand 1 of {name}", where).type
    if not isinstance(kind, ScalarType) or not kind.is_integer:
        raise AccelTypeError(f"{name} takes integers, got {kind}", where, hint="convert it: `A.cast(e, np.int64)`")
    one: ScalarNode = typed(1, kind, "one", where)
    node: Operation = operations.shift(Operator.SHIFT_LEFT, one, raw(position), where, name)
    return Exp(node)
