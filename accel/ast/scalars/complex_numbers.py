"""Complex numbers: made of their parts or of an angle, and taken apart.

In: `Exp`s of complex64 or complex128, or of the floats that these consist of. Out: `Exp`s. Operators and functions of
floats take complex numbers, too; what each means is in docs/scalars.md.

For mypy an `Exp[Any]` fits more than one overload, which is why it must be told that they overlap.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from accel.ast.handles import operations
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.habits.calls import require_elements
from accel.ast.handles.literals import describe, is_node, part_of, untyped
from accel.ast.tree.nodes import MakeTuple, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F16, ComplexType, ScalarType, complex_type
from accel.errors import AccelTypeError, here


@overload
def mkComplex(real: Exp[np.float32] | np.float32, imag: Exp[np.float32] | float) -> Exp[np.complex64]: ...  # type: ignore[overload-overlap]  # of Any
@overload
def mkComplex(real: Exp[np.float64] | np.float64, imag: Exp[np.float64] | float) -> Exp[np.complex128]: ...  # type: ignore[overload-overlap]  # of Any
@overload
def mkComplex(real: float, imag: Exp[np.float32] | np.float32) -> Exp[np.complex64]: ...  # type: ignore[overload-overlap]  # of Any
@overload
def mkComplex(real: float, imag: Exp[np.float64] | float) -> Exp[np.complex128]: ...
def mkComplex(real: object, imag: object) -> Exp[Any]:
    """The complex number with these parts: complex64 of float32, complex128 of float64. Accelerate's `:+`.

    `A.mkComplex(A.constant(1, np.float32), 2)` is 1+2j of complex64. Raises `AccelTypeError` for parts that are no such floats,
    or of two types; a Python number has the type of the other.

    >>> A.run(A.unit(A.mkComplex(A.constant(1.0), 2.0)))
    array(1.+2.j)
    """
    where = here()
    require_elements("mkComplex", (real, imag), where, floats=True)
    given = tuple(float(part) if type(part) is int else raw(part) for part in (real, imag))
    parts = operations.alike("mkComplex", given, where)
    return Exp(MakeTuple(parts, _of_parts("mkComplex", parts[0]), where))


@overload
def cis(angle: Exp[np.float32] | np.float32) -> Exp[np.complex64]: ...  # type: ignore[overload-overlap]  # of Any
@overload
def cis(angle: Exp[np.float64] | float) -> Exp[np.complex128]: ...
def cis(angle: object) -> Exp[Any]:
    """The complex number of magnitude 1 at an angle in radians, `cos(angle) + i * sin(angle)`. Accelerate's `cis`.

    `A.cis(A.constant(np.pi / 2))` is 6.1e-17+1j. Raises `AccelTypeError` for what is no float.

    >>> A.run(A.unit(A.cis(A.constant(0.5))))
    array(0.87758256+0.47942554j)
    """
    where = here()
    require_elements("cis", (angle,), where, floats=True)
    node = untyped(raw(angle), "the angle of cis", where)
    kind = _of_parts("cis", node)
    parts = (operations.apply(operator, node, where=where, name="cis") for operator in (Operator.COS, Operator.SIN))
    return Exp(MakeTuple(tuple(parts), kind, where))


@overload
def real(z: Exp[np.complex64]) -> Exp[np.float32]: ...  # type: ignore[overload-overlap]  # of Any
@overload
def real(z: Exp[np.complex128]) -> Exp[np.float64]: ...
def real(z: Exp[Any]) -> Exp[Any]:
    """The real part, a float of half the width: of 3+4j it is 3. Raises `AccelTypeError` for what is not complex.

    >>> A.run(A.unit(A.real(A.constant(1 + 2j))))
    array(1.)
    """
    return Exp(operations.project(_complex("real", z), 0, here()))


@overload
def imag(z: Exp[np.complex64]) -> Exp[np.float32]: ...  # type: ignore[overload-overlap]  # of Any
@overload
def imag(z: Exp[np.complex128]) -> Exp[np.float64]: ...
def imag(z: Exp[Any]) -> Exp[Any]:
    """The imaginary part, a float of half the width: of 3+4j it is 4. Raises `AccelTypeError` for what is not complex.

    >>> A.run(A.unit(A.imag(A.constant(1 + 2j))))
    array(2.)
    """
    return Exp(operations.project(_complex("imag", z), 1, here()))


@overload
def conjugate(z: Exp[np.complex64]) -> Exp[np.complex64]: ...  # type: ignore[overload-overlap]  # of Any
@overload
def conjugate(z: Exp[np.complex128]) -> Exp[np.complex128]: ...
def conjugate(z: Exp[Any]) -> Exp[Any]:
    """The number with the opposite imaginary part: of 3+4j it is 3-4j. Raises `AccelTypeError` for what is not complex.

    >>> A.run(A.unit(A.conjugate(A.constant(1 + 2j))))
    array(1.-2.j)
    """
    where = here()
    node = _complex("conjugate", z)
    opposite = operations.apply(Operator.NEG, operations.project(node, 1, where), where=where)
    assert isinstance(node.type, ComplexType)
    return Exp(MakeTuple((operations.project(node, 0, where), opposite), node.type, where))


@overload
def magnitude(z: Exp[np.complex64]) -> Exp[np.float32]: ...  # type: ignore[overload-overlap]  # of Any
@overload
def magnitude(z: Exp[np.complex128]) -> Exp[np.float64]: ...
def magnitude(z: Exp[Any]) -> Exp[Any]:
    """The distance from 0, a float, as `abs` gives it: of 3+4j it is 5. Raises `AccelTypeError` for what is not complex.

    >>> A.run(A.unit(A.magnitude(A.constant(3 + 4j))))
    array(5.)
    """
    return Exp(operations.apply(Operator.ABS, _complex("magnitude", z), where=here()))


@overload
def phase(z: Exp[np.complex64]) -> Exp[np.float32]: ...  # type: ignore[overload-overlap]  # of Any
@overload
def phase(z: Exp[np.complex128]) -> Exp[np.float64]: ...
def phase(z: Exp[Any]) -> Exp[Any]:
    """The angle in radians, from -pi to pi: of 1j it is pi/2. Raises `AccelTypeError` for what is not complex.

    >>> A.run(A.unit(A.phase(A.constant(1j))))
    array(1.57079633)
    """
    where = here()
    node = _complex("phase", z)
    parts = (operations.project(node, position, where) for position in (1, 0))
    return Exp(operations.apply(Operator.ATAN2, *parts, where=where))


def _of_parts(name: str, node: ScalarNode) -> ComplexType:
    """The type of complex numbers whose parts have the type of `node`. Raises `AccelTypeError` where there is none."""
    kind = node.type
    if kind is F16:
        hint = "convert first: `A.cast(e, np.float32)`"
        raise AccelTypeError(f"{name} takes floats of 32 or 64 bits, got {kind}", here(), hint=hint)
    if isinstance(kind, ScalarType) and kind.is_float:
        return complex_type(kind)
    hint = part_of(kind) or "a complex number has floats already: `A.real(z)`, `A.imag(z)`"
    if isinstance(kind, ScalarType):
        hint = "convert first: `A.toFloating(e, np.float64)`"
    raise AccelTypeError(f"{name} takes floats, got {kind}", here(), hint=hint)


def _complex(name: str, z: object) -> ScalarNode:
    where = here()
    require_elements(name, (z,), where)
    node = raw(z)
    if not is_node(node) and isinstance(node, (int, float, complex, np.generic)):
        node = untyped(node, f"operand of {name}", where)
    if is_node(node) and isinstance(node.type, ComplexType):
        return node
    hint = "one is made by `A.mkComplex(x, y)`, or `A.cast(x, np.complex128)`"
    raise AccelTypeError(f"{name} takes complex numbers, got {describe(node)}", where, hint=hint)
