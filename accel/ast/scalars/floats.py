"""Functions of floats, some of complex numbers as well, and conversions between types.

In: `Exp`s of floats (of any scalar, for conversions). Out: `Exp`s. `sqrt`, `fma`, roundings and conversions are correctly
rounded, elementary functions within 4 ulp; what each means is fixed in `accel/ast/meaning/semantics.py`. `trigonometry.py` has
those of angles.
"""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np

from accel.ast.handles import operations
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.habits.calls import require_elements
from accel.ast.handles.literals import untyped
from accel.ast.handles.tuples import G, target_type
from accel.ast.scalars.conversions import Fl, I, O, Re, apply
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64, ComplexType, ScalarType
from accel.errors import AccelTypeError, here

F = TypeVar("F", bound=np.generic)
G8 = TypeVar("G8", np.int8, np.uint8)
G16 = TypeVar("G16", np.int16, np.uint16, np.float16)
G32 = TypeVar("G32", np.int32, np.uint32, np.float32)
G64 = TypeVar("G64", np.int64, np.uint64, np.float64)


def recip(x: Exp[Fl]) -> Exp[Fl]:
    """`1 / x`.

    >>> A.run(A.unit(A.recip(A.constant(4.0))))
    array(0.25)
    """
    require_elements("recip", (x,), here())
    return apply(Operator.DIV, "recip", 1.0, x)


def fma(x: Exp[Re] | Re | float, y: Exp[Re] | Re | float, z: Exp[Re] | Re | float) -> Exp[Re]:
    """`x * y + z` with one rounding.

    >>> A.run(A.unit(A.fma(A.constant(2.0), 3.0, 4.0)))
    array(10.)
    """
    return apply(Operator.FMA, "fma", x, y, z)


def sqrt(x: Exp[Fl]) -> Exp[Fl]:
    """The square root, correctly rounded; of a complex number, the one whose real part is not negative.

    >>> A.run(A.unit(A.sqrt(A.constant(2.0))))
    array(1.41421356)
    """
    return apply(Operator.SQRT, "sqrt", x)


def cbrt(x: Exp[Re]) -> Exp[Re]:
    """The cube root.

    >>> A.run(A.unit(A.cbrt(A.constant(27.0))))
    array(3.)
    """
    return apply(Operator.CBRT, "cbrt", x)


def hypot(x: Exp[Re] | Re | float, y: Exp[Re] | Re | float) -> Exp[Re]:
    """`sqrt(x*x + y*y)` without overflow on the way.

    >>> A.run(A.unit(A.hypot(A.constant(3.0), 4.0)))
    array(5.)
    """
    return apply(Operator.HYPOT, "hypot", x, y)


def exp(x: Exp[Fl]) -> Exp[Fl]:
    """e to the power of `x`.

    >>> A.run(A.unit(A.exp(A.constant(1.0))))
    array(2.71828183)
    """
    return apply(Operator.EXP, "exp", x)


def expm1(x: Exp[Re]) -> Exp[Re]:
    """`exp(x) - 1`, accurate for small `x`.

    >>> A.run(A.unit(A.expm1(A.constant(1e-10))))
    array(1.e-10)
    """
    return apply(Operator.EXPM1, "expm1", x)


def log(x: Exp[Fl]) -> Exp[Fl]:
    """The natural logarithm.

    >>> A.run(A.unit(A.log(A.constant(10.0))))
    array(2.30258509)
    """
    return apply(Operator.LOG, "log", x)


def log2(x: Exp[Fl]) -> Exp[Fl]:
    """The logarithm to base 2.

    >>> A.run(A.unit(A.log2(A.constant(8.0))))
    array(3.)
    """
    return apply(Operator.LOG2, "log2", x)


def log10(x: Exp[Fl]) -> Exp[Fl]:
    """The logarithm to base 10.

    >>> A.run(A.unit(A.log10(A.constant(1000.0))))
    array(3.)
    """
    return apply(Operator.LOG10, "log10", x)


def log1p(x: Exp[Re]) -> Exp[Re]:
    """`log(1 + x)`, accurate for small `x`.

    >>> A.run(A.unit(A.log1p(A.constant(1e-10))))
    array(1.e-10)
    """
    return apply(Operator.LOG1P, "log1p", x)


def logBase(base: Exp[Fl] | Fl | complex, x: Exp[Fl] | Fl | complex) -> Exp[Fl]:
    """The logarithm of `x` to base `base`.

    >>> A.run(A.unit(A.logBase(A.constant(2.0), 8.0)))
    array(3.)
    """
    where = here()
    require_elements("logBase", (base, x), where, floats=True)
    nodes = operations.alike("logBase", (raw(base), raw(x)), where)
    below, above = (apply(Operator.LOG, "logBase", Exp(node)) for node in nodes)
    return apply(Operator.DIV, "logBase", above, below)


def erf(x: Exp[Re]) -> Exp[Re]:
    """The error function.

    >>> A.run(A.unit(A.erf(A.constant(0.5))))
    array(0.52049988)
    """
    return apply(Operator.ERF, "erf", x)


def erfc(x: Exp[Re]) -> Exp[Re]:
    """`1 - erf(x)`, accurate for large `x`.

    >>> A.run(A.unit(A.erfc(A.constant(0.5))))
    array(0.47950012)
    """
    return apply(Operator.ERFC, "erfc", x)


def copysign(x: Exp[Re] | Re | float, y: Exp[Re] | Re | float) -> Exp[Re]:
    """`x` with the sign of `y`.

    >>> A.run(A.unit(A.copysign(A.constant(3.0), -1.0)))
    array(-3.)
    """
    return apply(Operator.COPYSIGN, "copysign", x, y)


def isNaN(x: Exp[Fl]) -> Exp[np.bool_]:
    """Whether a float, or a part of a complex number, is not a number.

    >>> A.run(A.unit(A.isNaN(A.constant(np.nan))))
    array(True)
    """
    return apply(Operator.IS_NAN, "isNaN", x)


def isInfinite(x: Exp[Fl]) -> Exp[np.bool_]:
    """Whether a float, or a part of a complex number, is infinite.

    >>> A.run(A.unit(A.isInfinite(A.constant(-np.inf))))
    array(True)
    """
    return apply(Operator.IS_INFINITE, "isInfinite", x)


# Roundings: to an integer type, saturating; to a float type, exact.


@overload
def floor(x: Exp[Re]) -> Exp[np.int64]: ...
@overload
def floor(x: Exp[Re], to: type[O]) -> Exp[O]: ...
def floor(x: Exp[Any], to: type[Any] = np.int64) -> Exp[Any]:
    """Rounded down.

    >>> A.run(A.unit(A.floor(A.constant(2.9))))
    array(2)
    """
    return _rounded(Operator.FLOOR, "floor", x, to)


@overload
def ceiling(x: Exp[Re]) -> Exp[np.int64]: ...
@overload
def ceiling(x: Exp[Re], to: type[O]) -> Exp[O]: ...
def ceiling(x: Exp[Any], to: type[Any] = np.int64) -> Exp[Any]:
    """Rounded up.

    >>> A.run(A.unit(A.ceiling(A.constant(2.1))))
    array(3)
    """
    return _rounded(Operator.CEIL, "ceiling", x, to)


@overload
def truncate(x: Exp[Re]) -> Exp[np.int64]: ...
@overload
def truncate(x: Exp[Re], to: type[O]) -> Exp[O]: ...
def truncate(x: Exp[Any], to: type[Any] = np.int64) -> Exp[Any]:
    """Rounded toward zero.

    >>> A.run(A.unit(A.truncate(A.constant(-2.9))))
    array(-2)
    """
    return _rounded(Operator.TRUNC, "truncate", x, to)


@overload
def round(x: Exp[Re]) -> Exp[np.int64]: ...
@overload
def round(x: Exp[Re], to: type[O]) -> Exp[O]: ...
def round(x: Exp[Any], to: type[Any] = np.int64) -> Exp[Any]:
    """Rounded to the nearest, halves to even.

    >>> A.run(A.unit(A.round(A.constant(2.5))))
    array(2)
    """
    return _rounded(Operator.ROUND, "round", x, to)


# Conversions.


def cast(x: Exp[F], to: type[G]) -> Exp[G]:
    """`x` as type `to`: integers wrap, floats to integers saturate (NaN gives 0), to bool `x != 0`.

    A real number becomes a complex one without imaginary part; a complex one becomes a real one by `real`.

    >>> A.run(A.unit(A.cast(A.constant(-1), np.uint8)))
    array(255, dtype=uint8)
    """
    return _converted(Operator.CAST, "cast", x, to)


def fromIntegral(x: Exp[I], to: type[G]) -> Exp[G]:
    """An integer as type `to`; it wraps if `to` is a narrower integer.

    >>> A.run(A.unit(A.fromIntegral(A.constant(300), np.uint8)))
    array(44, dtype=uint8)
    """
    require_elements("fromIntegral", (x, to), here())
    kind = _kind("fromIntegral", x)
    if not kind.is_integer:
        raise AccelTypeError(f"fromIntegral takes integers, got {kind}", here(), hint="see `A.cast`")
    return _converted(Operator.CAST, "fromIntegral", x, to)


def toFloating(x: Exp[O], to: type[Re]) -> Exp[Re]:
    """A real number or a bool as the float type `to`.

    >>> A.run(A.unit(A.toFloating(A.constant(3), np.float32)))
    array(3., dtype=float32)
    """
    where = here()
    target = target_type(to, "toFloating", where)
    if not isinstance(target, ScalarType) or not target.is_float:
        raise AccelTypeError("toFloating needs a float type as its target", where, hint="see `A.cast`, `A.truncate`")
    return _converted(Operator.CAST, "toFloating", x, to)


@overload
def bitcast(x: Exp[np.int8] | Exp[np.uint8], to: type[G8]) -> Exp[G8]: ...
@overload
def bitcast(  # type: ignore[overload-overlap]  # `Exp[Any]` fits all
    x: Exp[np.int16] | Exp[np.uint16] | Exp[np.float16], to: type[G16]
) -> Exp[G16]: ...
@overload
def bitcast(  # type: ignore[overload-overlap]  # `Exp[Any]` fits all
    x: Exp[np.int32] | Exp[np.uint32] | Exp[np.float32], to: type[G32]
) -> Exp[G32]: ...
@overload
def bitcast(x: Exp[np.int64] | Exp[np.uint64] | Exp[np.float64], to: type[G64]) -> Exp[G64]: ...
def bitcast(x: Exp[Any], to: type[Any]) -> Exp[Any]:
    """The bits of `x` as type `to` of equal width.

    >>> A.run(A.unit(A.bitcast(A.constant(1.0), np.int64)))
    array(4607182418800017408)
    """
    return _converted(Operator.BITCAST, "bitcast", x, to)


def boolToInt(x: Exp[np.bool_]) -> Exp[np.int64]:
    """1 or 0.

    >>> A.run(A.unit(A.boolToInt(A.constant(True))))
    array(1)
    """
    require_elements("boolToInt", (x,), here())
    kind = _kind("boolToInt", x)
    if kind is not BOOL:
        raise AccelTypeError(f"boolToInt takes a bool, got {kind}", here(), hint="see `A.cast`")
    return Exp(operations.convert(Operator.CAST, raw(x), I64, here(), "boolToInt"))


def _rounded(operator: Operator, name: str, x: Exp[Any], to: type[Any]) -> Exp[Any]:
    where = here()
    require_elements(name, (x,) if to is np.int64 else (x, to), where, floats=True)
    target = target_type(to, name, where)
    if isinstance(target, ComplexType):
        hint = f"of a complex number round its parts: `A.{name}(A.real(z))`"
        raise AccelTypeError(f"{name} gives integers or floats, not {target}", where, hint=hint)
    return Exp(operations.convert(Operator.CAST, apply(operator, name, x).node, target, where, name))


def _converted(operator: Operator, name: str, x: object, to: type[Any]) -> Exp[Any]:
    where = here()
    require_elements(name, (x, to), where)
    return Exp(operations.convert(operator, raw(x), target_type(to, name, where), where, name))


def _kind(name: str, x: object) -> ScalarType:
    where = here()
    kind = untyped(raw(x), f"the operand of {name}", where).type
    if isinstance(kind, ScalarType):
        return kind
    raise AccelTypeError(f"{name} takes a scalar, got {kind}", where, hint="take an item of it: `t[0]`")
