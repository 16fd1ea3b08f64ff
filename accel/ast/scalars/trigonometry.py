"""Functions of angles, and their inverses, of floats and complex numbers: within 4 ulp.

In: `Exp`s. Out: `Exp`s. Angles are in radians. What each means is fixed in `accel/ast/meaning/semantics.py`.
"""

from __future__ import annotations

from accel.ast.handles.exp import Exp
from accel.ast.scalars.conversions import Fl, Re, apply
from accel.ast.tree.operators import Operator


def sin(x: Exp[Fl]) -> Exp[Fl]:
    """The sine.

    >>> A.run(A.unit(A.sin(A.constant(0.5))))
    array(0.47942554)
    """
    return apply(Operator.SIN, "sin", x)


def cos(x: Exp[Fl]) -> Exp[Fl]:
    """The cosine.

    >>> A.run(A.unit(A.cos(A.constant(0.5))))
    array(0.87758256)
    """
    return apply(Operator.COS, "cos", x)


def tan(x: Exp[Fl]) -> Exp[Fl]:
    """The tangent.

    >>> A.run(A.unit(A.tan(A.constant(0.5))))
    array(0.54630249)
    """
    return apply(Operator.TAN, "tan", x)


def asin(x: Exp[Fl]) -> Exp[Fl]:
    """The arc sine.

    >>> A.run(A.unit(A.asin(A.constant(0.5))))
    array(0.52359878)
    """
    return apply(Operator.ASIN, "asin", x)


def acos(x: Exp[Fl]) -> Exp[Fl]:
    """The arc cosine.

    >>> A.run(A.unit(A.acos(A.constant(0.5))))
    array(1.04719755)
    """
    return apply(Operator.ACOS, "acos", x)


def atan(x: Exp[Fl]) -> Exp[Fl]:
    """The arc tangent.

    >>> A.run(A.unit(A.atan(A.constant(0.5))))
    array(0.46364761)
    """
    return apply(Operator.ATAN, "atan", x)


def atan2(y: Exp[Re] | Re | float, x: Exp[Re] | Re | float) -> Exp[Re]:
    """The angle of the point (x, y).

    >>> A.run(A.unit(A.atan2(A.constant(1.0), 1.0)))
    array(0.78539816)
    """
    return apply(Operator.ATAN2, "atan2", y, x)


def sinh(x: Exp[Fl]) -> Exp[Fl]:
    """The hyperbolic sine.

    >>> A.run(A.unit(A.sinh(A.constant(0.5))))
    array(0.52109531)
    """
    return apply(Operator.SINH, "sinh", x)


def cosh(x: Exp[Fl]) -> Exp[Fl]:
    """The hyperbolic cosine.

    >>> A.run(A.unit(A.cosh(A.constant(0.5))))
    array(1.12762597)
    """
    return apply(Operator.COSH, "cosh", x)


def tanh(x: Exp[Fl]) -> Exp[Fl]:
    """The hyperbolic tangent.

    >>> A.run(A.unit(A.tanh(A.constant(0.5))))
    array(0.46211716)
    """
    return apply(Operator.TANH, "tanh", x)


def asinh(x: Exp[Fl]) -> Exp[Fl]:
    """The inverse hyperbolic sine.

    >>> A.run(A.unit(A.asinh(A.constant(0.5))))
    array(0.48121183)
    """
    return apply(Operator.ASINH, "asinh", x)


def acosh(x: Exp[Fl]) -> Exp[Fl]:
    """The inverse hyperbolic cosine.

    >>> A.run(A.unit(A.acosh(A.constant(1.5))))
    array(0.96242365)
    """
    return apply(Operator.ACOSH, "acosh", x)


def atanh(x: Exp[Fl]) -> Exp[Fl]:
    """The inverse hyperbolic tangent.

    >>> A.run(A.unit(A.atanh(A.constant(0.5))))
    array(0.54930614)
    """
    return apply(Operator.ATANH, "atanh", x)
