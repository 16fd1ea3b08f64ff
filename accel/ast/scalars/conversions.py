"""Arithmetic by name, for passing along: `add`, `min`, `lt`, `gcd`, …

In: `Exp`s, where one may be a Python number. Out: `Exp`s. What each means is fixed in `accel/ast/meaning/semantics.py`;
Python's builtins of the same names are shadowed under `A.` only. Functions of floats stand in `floats.py`, those of
bits in `bits.py`.
"""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np

from accel.ast.handles import operations
from accel.ast.handles.elements import Maybe, Of, OrderedElement
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.habits.calls import require_elements
from accel.ast.handles.refusals import FLOATS
from accel.ast.handles.tuples import G, lift_items, while_
from accel.ast.tree.operators import Operator
from accel.errors import here

N = TypeVar("N", bound=np.number[Any])
I = TypeVar("I", bound=np.integer[Any])  # noqa: E741  # the letter of the integers
Fl = TypeVar("Fl", bound=np.inexact[Any])
Cx = TypeVar("Cx", bound=np.complexfloating[Any, Any])
Re = TypeVar("Re", bound=np.floating[Any])
Real = TypeVar("Real", bound="np.number[Any, float]")
Tp = TypeVar("Tp", bound=tuple[OrderedElement, ...])
P = TypeVar("P", bound=Of[Any])  # records
O = TypeVar("O", bound="np.generic[float]")  # noqa: E741  # real numbers and bools
Ordered = TypeVar("Ordered", bound=OrderedElement)


def apply(operator: Operator, name: str, *operands: object) -> Exp[Any]:
    """`operator` at what the user gave to the function `name`."""
    where = here(skip=1)
    nodes: list[object] = []
    for operand in operands:
        if isinstance(operand, Exp):
            nodes.append(operand.node)
        else:
            require_elements(name, operands, where, floats=operator in FLOATS)
            nodes.append(raw(operand))
    return Exp(operations.apply(operator, *nodes, where=where, name=name))


def add(x: Exp[N] | N | complex, y: Exp[N] | N | complex) -> Exp[N]:
    """`x + y`; integers wrap.

    >>> A.run(A.unit(A.add(A.constant(2), 3)))
    array(5)
    """
    return apply(Operator.ADD, "add", x, y)


def sub(x: Exp[N] | N | complex, y: Exp[N] | N | complex) -> Exp[N]:
    """`x - y`; integers wrap.

    >>> A.run(A.unit(A.sub(A.constant(2), 3)))
    array(-1)
    """
    return apply(Operator.SUB, "sub", x, y)


def mul(x: Exp[N] | N | complex, y: Exp[N] | N | complex) -> Exp[N]:
    """`x * y`; integers wrap.

    >>> A.run(A.unit(A.mul(A.constant(2), 3)))
    array(6)
    """
    return apply(Operator.MUL, "mul", x, y)


def div(x: Exp[N] | N | complex, y: Exp[N] | N | complex) -> Exp[N]:
    """`x / y` of floats, `x // y` (rounded down) of integers; integer division by zero gives 0.

    >>> A.run(A.unit(A.div(A.constant(-7), 2)))
    array(-4)
    """
    return apply(Operator.DIV, "div", x, y)


def mod(x: Exp[Real] | Real | float, y: Exp[Real] | Real | float) -> Exp[Real]:
    """`x % y`, with the sign of `y`; of integers, modulo zero gives 0.

    >>> A.run(A.unit(A.mod(A.constant(-7), 2)))
    array(1)
    """
    return apply(Operator.MOD, "mod", x, y)


def quot(x: Exp[I] | I | int, y: Exp[I] | I | int) -> Exp[I]:
    """Integer division rounded toward zero; by zero it gives 0.

    >>> A.run(A.unit(A.quot(A.constant(-7), 2)))
    array(-3)
    """
    return apply(Operator.QUOT, "quot", x, y)


def rem(x: Exp[I] | I | int, y: Exp[I] | I | int) -> Exp[I]:
    """The remainder of `quot`, with the sign of `x`; by zero it gives 0.

    >>> A.run(A.unit(A.rem(A.constant(-7), 2)))
    array(-1)
    """
    return apply(Operator.REM, "rem", x, y)


def pow(x: Exp[N] | N | complex, y: Exp[N] | N | complex) -> Exp[N]:
    """`x ** y`; of integers, a negative exponent gives the truncated true value.

    >>> A.run(A.unit(A.pow(A.constant(2), 10)))
    array(1024)
    """
    return apply(Operator.POW, "pow", x, y)


def neg(x: Exp[N]) -> Exp[N]:
    """`-x`.

    >>> A.run(A.unit(A.neg(A.constant(3))))
    array(-3)
    """
    return apply(Operator.NEG, "neg", x)


@overload
def abs(x: Exp[np.complex64]) -> Exp[np.float32]: ...  # type: ignore[overload-overlap]  # an `Exp[Any]` fits all
@overload
def abs(x: Exp[np.complex128]) -> Exp[np.float64]: ...
@overload
def abs(x: Exp[N]) -> Exp[N]: ...
def abs(x: Exp[Any]) -> Exp[Any]:
    """The absolute value; of the least integer, itself; of a complex number, its magnitude, a float.

    >>> A.run(A.unit(A.abs(A.constant(-3))))
    array(3)
    """
    return apply(Operator.ABS, "abs", x)


def signum(x: Exp[N]) -> Exp[N]:
    """-1, 0 or 1; zeros keep their sign, NaN stays. Of a complex number, the one of magnitude 1 in its direction.

    >>> A.run(A.unit(A.signum(A.constant(-3))))
    array(-1)
    """
    return apply(Operator.SIGNUM, "signum", x)


@overload
def min(x: Exp[Tp], y: Exp[Tp]) -> Exp[Tp]: ...
@overload
def min(x: Exp[P], y: Exp[P]) -> Exp[P]: ...
@overload
def min(x: Exp[Maybe[Ordered]], y: Exp[Maybe[Ordered]]) -> Exp[Maybe[Ordered]]: ...
@overload
def min(x: Exp[O] | O | float, y: Exp[O] | O | float) -> Exp[O]: ...
def min(x: object, y: object) -> Exp[Any]:
    """The lesser; NaN if either is, and -0.0 < +0.0. Of tuples and maybes `x` if `x <= y`, else `y`.

    >>> A.run(A.unit(A.min(A.constant(2), 3)))
    array(2)
    """
    return apply(Operator.MIN, "min", x, y)


@overload
def max(x: Exp[Tp], y: Exp[Tp]) -> Exp[Tp]: ...
@overload
def max(x: Exp[P], y: Exp[P]) -> Exp[P]: ...
@overload
def max(x: Exp[Maybe[Ordered]], y: Exp[Maybe[Ordered]]) -> Exp[Maybe[Ordered]]: ...
@overload
def max(x: Exp[O] | O | float, y: Exp[O] | O | float) -> Exp[O]: ...
def max(x: object, y: object) -> Exp[Any]:
    """The greater; NaN if either is, and -0.0 < +0.0. Of tuples and maybes `y` if `x <= y`, else `x`.

    >>> A.run(A.unit(A.max(A.constant(2), 3)))
    array(3)
    """
    return apply(Operator.MAX, "max", x, y)


# Comparisons.


@overload
def eq(x: Exp[E], y: Exp[E] | E | complex) -> Exp[np.bool_]: ...
@overload
def eq(x: G | complex, y: Exp[G]) -> Exp[np.bool_]: ...
def eq(x: object, y: object) -> Exp[np.bool_]:
    """`x == y`; of tuples, item by item; of maybes, whether both hold nothing or equal values.

    >>> A.run(A.unit(A.eq(A.constant(2), 3)))
    array(False)
    """
    require_elements("eq", (x, y), where := here())
    return Exp(operations.equal(raw(x), raw(y), where))


@overload
def ne(x: Exp[E], y: Exp[E] | E | complex) -> Exp[np.bool_]: ...
@overload
def ne(x: G | complex, y: Exp[G]) -> Exp[np.bool_]: ...
def ne(x: object, y: object) -> Exp[np.bool_]:
    """`x != y`; of tuples, whether any items differ; of maybes, the opposite of `==`.

    >>> A.run(A.unit(A.ne(A.constant(2), 3)))
    array(True)
    """
    require_elements("ne", (x, y), where := here())
    return Exp(operations.differ(raw(x), raw(y), where))


@overload
def lt(x: Exp[Tp], y: Exp[Tp]) -> Exp[np.bool_]: ...
@overload
def lt(x: Exp[P], y: Exp[P]) -> Exp[np.bool_]: ...
@overload
def lt(x: Exp[Maybe[Ordered]], y: Exp[Maybe[Ordered]]) -> Exp[np.bool_]: ...
@overload
def lt(x: Exp[O] | O | float, y: Exp[O] | O | float) -> Exp[np.bool_]: ...
def lt(x: object, y: object) -> Exp[np.bool_]:
    """`x < y`; of tuples by the first items that differ; of maybes nothing is less than any value.

    >>> A.run(A.unit(A.lt(A.constant(2), 3)))
    array(True)
    """
    return apply(Operator.LT, "lt", x, y)


@overload
def le(x: Exp[Tp], y: Exp[Tp]) -> Exp[np.bool_]: ...
@overload
def le(x: Exp[P], y: Exp[P]) -> Exp[np.bool_]: ...
@overload
def le(x: Exp[Maybe[Ordered]], y: Exp[Maybe[Ordered]]) -> Exp[np.bool_]: ...
@overload
def le(x: Exp[O] | O | float, y: Exp[O] | O | float) -> Exp[np.bool_]: ...
def le(x: object, y: object) -> Exp[np.bool_]:
    """`x <= y`; of tuples by the first items that differ; of maybes nothing is less than any value.

    >>> A.run(A.unit(A.le(A.constant(2), 3)))
    array(True)
    """
    return apply(Operator.LE, "le", x, y)


@overload
def gt(x: Exp[Tp], y: Exp[Tp]) -> Exp[np.bool_]: ...
@overload
def gt(x: Exp[P], y: Exp[P]) -> Exp[np.bool_]: ...
@overload
def gt(x: Exp[Maybe[Ordered]], y: Exp[Maybe[Ordered]]) -> Exp[np.bool_]: ...
@overload
def gt(x: Exp[O] | O | float, y: Exp[O] | O | float) -> Exp[np.bool_]: ...
def gt(x: object, y: object) -> Exp[np.bool_]:
    """`x > y`; of tuples by the first items that differ; of maybes nothing is less than any value.

    >>> A.run(A.unit(A.gt(A.constant(2), 3)))
    array(False)
    """
    return apply(Operator.GT, "gt", x, y)


@overload
def ge(x: Exp[Tp], y: Exp[Tp]) -> Exp[np.bool_]: ...
@overload
def ge(x: Exp[P], y: Exp[P]) -> Exp[np.bool_]: ...
@overload
def ge(x: Exp[Maybe[Ordered]], y: Exp[Maybe[Ordered]]) -> Exp[np.bool_]: ...
@overload
def ge(x: Exp[O] | O | float, y: Exp[O] | O | float) -> Exp[np.bool_]: ...
def ge(x: object, y: object) -> Exp[np.bool_]:
    """`x >= y`; of tuples by the first items that differ; of maybes nothing is less than any value.

    >>> A.run(A.unit(A.ge(A.constant(2), 3)))
    array(False)
    """
    return apply(Operator.GE, "ge", x, y)


# Integers.


def even(x: Exp[I]) -> Exp[np.bool_]:
    """Whether an integer is even.

    >>> A.run(A.unit(A.even(A.constant(4))))
    array(True)
    """
    require_elements("even", (x,), here())
    return apply(Operator.EQ, "even", apply(Operator.AND, "even", x, 1), 0)


def odd(x: Exp[I]) -> Exp[np.bool_]:
    """Whether an integer is odd.

    >>> A.run(A.unit(A.odd(A.constant(4))))
    array(False)
    """
    require_elements("odd", (x,), here())
    return apply(Operator.NE, "odd", apply(Operator.AND, "odd", x, 1), 0)


def gcd(x: Exp[I] | I | int, y: Exp[I] | I | int) -> Exp[I]:
    """The greatest common divisor, not negative; `gcd(0, 0)` is 0.

    >>> A.run(A.unit(A.gcd(A.constant(12), 18)))
    array(6)
    """
    # Euclid's algorithm. The least integer has no absolute value; it stays as it is.
    start = lift_items(_integers("gcd", x, y))
    pair: Exp[tuple[I, I]] = while_(lambda s: s[1] != 0, lambda s: lift_items((s[1], rem(s[0], s[1]))), start)
    return abs(pair[0])


def lcm(x: Exp[I] | I | int, y: Exp[I] | I | int) -> Exp[I]:
    """The least common multiple; 0 if either is 0. One that does not fit wraps, and then loses its sign.

    >>> A.run(A.unit(A.lcm(A.constant(4), 6)))
    array(12)
    """
    a, b = _integers("lcm", x, y)
    return abs(mul(quot(a, gcd(a, b)), b))  # quot by gcd(0, 0) gives 0


def _integers(name: str, *operands: object) -> tuple[Exp[Any], ...]:
    """The operands of `name` as expressions of one integer type."""
    where = here()
    require_elements(name, operands, where)
    nodes = operations.alike(name, tuple(raw(operand) for operand in operands), where)
    operations.apply(Operator.QUOT, *nodes, where=where, name=name)  # for its check of the type
    return tuple(Exp(node) for node in nodes)
