"""Arithmetic of complex numbers: formulas of their parts, so that later stages know floats only (docs/scalars.md).

In: an operator, and nodes of one complex type. Out: a node: a complex number made of its parts, or a float or bool. Products
are the plain formula and quotients Smith's (Comm. ACM 5(8), 1962), as NumPy's; functions are in `functions.py`, those whose
formulas are made of these in `inverses.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from accel.ast.handles.complex_numbers import functions, inverses
from accel.ast.handles.complex_numbers.functions import Complex, chosen
from accel.ast.handles.real_numbers.formulas import Real
from accel.ast.tree.nodes import Literal, MakeTuple, Project, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import ComplexType, complex_type
from accel.errors import Where

MOST_PRODUCTS = 100
"""Powers to whole numbers of less magnitude are products, as NumPy's."""


def apply(operator: Operator, operands: Sequence[ScalarNode], where: Where | None) -> ScalarNode | None:
    """`operator` at operands of one complex type; None if it has no meaning there."""
    first, *others = [parts(operand, where) for operand in operands]
    match operator:
        case Operator.EQ | Operator.NE:
            both = first[0].equals(others[0][0]) & first[1].equals(others[0][1])
            return both.node if operator is Operator.EQ else (~both).node
        case Operator.IS_NAN:
            return (first[0].is_nan() | first[1].is_nan()).node
        case Operator.IS_INFINITE:
            return (first[0].is_infinite() | first[1].is_infinite()).node
        case Operator.ABS:
            return first[0].apply(Operator.HYPOT, first[1]).node
        case Operator.POW:
            return made(_power(first, others[0]), where)
        case _ if operator in _BINARY:
            return made(_BINARY[operator](first, others[0]), where)
        case _ if operator in _UNARY:
            return made(_UNARY[operator](first), where)
        case _:
            return None


def parts(node: ScalarNode, where: Where | None) -> Complex:
    """The real and the imaginary part of a complex number."""
    assert isinstance(node.type, ComplexType)
    kind = node.type.part
    if isinstance(node, MakeTuple):
        real, imaginary = node.items
    else:
        real, imaginary = (Project(node, position, kind, where) for position in (0, 1))
    return Real(real, kind, where), Real(imaginary, kind, where)


def made(value: Complex, where: Where | None) -> ScalarNode:
    """The complex number of two parts."""
    real, imaginary = value
    return MakeTuple((real.node, imaginary.node), complex_type(real.kind), where)


def _sum(z: Complex, w: Complex) -> Complex:
    return z[0] + w[0], z[1] + w[1]


def _difference(z: Complex, w: Complex) -> Complex:
    return z[0] - w[0], z[1] - w[1]


def _product(z: Complex, w: Complex) -> Complex:
    (a, b), (c, d) = z, w
    return a * c - b * d, a * d + b * c


def _quotient(z: Complex, w: Complex) -> Complex:
    """Smith's: the divisor's smaller part is divided by the larger one, so that no square overflows."""
    (a, b), (c, d) = z, w
    is_real = abs(c) >= abs(d)
    large, small = is_real.choose(c, d), is_real.choose(d, c)
    ratio = small / large
    scale = 1.0 / (large + small * ratio)
    x, y = is_real.choose(a, b), is_real.choose(b, a)
    imaginary = is_real.choose(y - x * ratio, x * ratio - y)
    by_zero = abs(c).equals(0.0) & abs(d).equals(0.0)
    return by_zero.choose(a / abs(c), (x + y * ratio) * scale), by_zero.choose(b / abs(c), imaginary * scale)


def _negated(z: Complex) -> Complex:
    return -z[0], -z[1]


def _power(z: Complex, w: Complex) -> Complex:
    """`z` to the `w`: products for small whole exponents, else `exp(w * log(z))`."""
    one: Complex = (z[0].like(1.0), z[0].like(0.0))
    exponent, imaginary = (part.node for part in w)
    if isinstance(exponent, Literal) and isinstance(imaginary, Literal) and imaginary.value == 0:
        value = float(exponent.value)
        if value.is_integer() and abs(value) < MOST_PRODUCTS:
            return _whole_power(z, int(value))
        return _general_power(z, w)
    magnitude = abs(w[0])
    products, square, rest = one, z, magnitude
    for _ in range((MOST_PRODUCTS - 1).bit_length()):
        half = (rest * 0.5).apply(Operator.FLOOR)
        is_odd = (rest - half * 2.0).equals(1.0)
        products = chosen(is_odd, _product(products, square), products)
        square, rest = _product(square, square), half
    products = chosen(w[0] < 0.0, _quotient(one, products), products)
    is_whole = w[1].equals(0.0) & w[0].apply(Operator.FLOOR).equals(w[0]) & (magnitude < float(MOST_PRODUCTS))
    return chosen(is_whole, products, _general_power(z, w))


def _whole_power(z: Complex, exponent: int) -> Complex:
    """By squaring, from the lowest bit."""
    one: Complex = (z[0].like(1.0), z[0].like(0.0))
    found: Complex | None = None
    square, rest = z, abs(exponent)
    while rest:
        if rest & 1:
            found = square if found is None else _product(found, square)
        rest >>= 1
        square = _product(square, square)
    found = one if found is None else found
    return _quotient(one, found) if exponent < 0 else found


def _general_power(z: Complex, w: Complex) -> Complex:
    """`exp(w * log(z))`; of zero it is 0 where the exponent's real part is positive, 1 for the exponent 0, else NaN."""
    found = functions.exp(_product(w, functions.log(z)))
    nothing, nan = z[0].like(0.0), z[0].like(float("nan"))
    is_zero = z[0].equals(0.0) & z[1].equals(0.0)
    of_zero = (w[0] > 0.0).choose(nothing, nan)
    found = chosen(is_zero, (of_zero, of_zero), found)
    return chosen(w[0].equals(0.0) & w[1].equals(0.0), (nothing.like(1.0), nothing), found)


_BINARY: Mapping[Operator, Callable[[Complex, Complex], Complex]] = {
    Operator.ADD: _sum,
    Operator.SUB: _difference,
    Operator.MUL: _product,
    Operator.DIV: _quotient,
}

_UNARY: Mapping[Operator, Callable[[Complex], Complex]] = {
    Operator.NEG: _negated,
    Operator.SIGNUM: functions.signum,
    Operator.SQRT: functions.sqrt,
    Operator.EXP: functions.exp,
    Operator.LOG: functions.log,
    Operator.SIN: functions.sin,
    Operator.COS: functions.cos,
    Operator.TAN: functions.tan,
    Operator.SINH: functions.sinh,
    Operator.COSH: functions.cosh,
    Operator.TANH: functions.tanh,
    Operator.ASIN: inverses.asin,
    Operator.ACOS: inverses.acos,
    Operator.ATAN: inverses.atan,
    Operator.ASINH: inverses.asinh,
    Operator.ACOSH: inverses.acosh,
    Operator.ATANH: inverses.atanh,
    Operator.LOG2: inverses.log2,
    Operator.LOG10: inverses.log10,
}
