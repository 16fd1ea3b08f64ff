"""Arrays from functions and scalars: `unit`, `fill`, `generate`, `enumFromN`, all as `Generate` nodes.

In: shapes, functions, scalars. Out: handles. What a user's call gives is typed in `overloads.pyi`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from accel.ast.handles import operations
from accel.ast.handles.acc import Acc
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.function import forbid_nested, trace
from accel.ast.handles.literals import definite, typed
from accel.ast.handles.shapes import shape_of
from accel.ast.handles.tuples import toIndex
from accel.ast.tree.nodes import Generate, Parameter
from accel.ast.tree.operators import Operator
from accel.ast.tree.structure import scalar_function
from accel.ast.tree.types import BOOL, ComplexType, ScalarType, array_type, index_type
from accel.errors import AccelTypeError, here


def unit(e: object) -> Acc[Any]:
    """The array of rank 0 that holds `e`.

    >>> A.run(A.unit(3))
    array(3)
    """
    return filled("unit", (), e)


def fill(sh: object, e: object) -> Acc[Any]:
    """The array of shape `sh` that holds `e` everywhere. A negative extent raises `AccelShapeError`.

    >>> A.run(A.fill((2, 3), 7))
    array([[7, 7, 7],
           [7, 7, 7]])
    """
    return filled("fill", sh, e)


def generate(sh: object, f: Callable[[Any], object]) -> Acc[Any]:
    """`f(index)` at every index of shape `sh`. A negative extent raises `AccelShapeError`.

    >>> A.run(A.generate((2, 3), lambda ix: A.indexHead(ix) * 10))
    array([[ 0, 10, 20],
           [ 0, 10, 20]])
    """
    return generated("generate", sh, f)


def enumFromN(sh: object, e: object) -> Acc[Any]:
    """`e`, `e + 1`, … in row-major order. A negative extent raises `AccelShapeError`.

    >>> A.run(A.enumFromN((4,), 10))
    array([10, 11, 12, 13])
    """
    return _counted("enumFromN", sh, e, 1)


def enumFromStepN(sh: object, e: object, step: object) -> Acc[Any]:
    """`e + i * step` in row-major order, i being the position. A negative extent raises `AccelShapeError`.

    >>> A.run(A.enumFromStepN((4,), 1.0, 0.5))
    array([1. , 1.5, 2. , 2.5])
    """
    return _counted("enumFromStepN", sh, e, step)


def filled(name: str, sh: object, e: object) -> Acc[Any]:
    """`fill` for the combinator `name`, which errors and explanations call by its name."""
    where = here()
    shape, extents = shape_of(name, sh, where, e)
    value = definite(raw(e), f"the element of {name}", where)
    function = scalar_function((Parameter(index_type(len(extents)), where),), value)
    forbid_nested(name, (shape, function), where)
    kind = array_type(len(extents), value.type)
    return Acc(Generate(shape, function, name, (kind,), where), extents)


def generated(name: str, sh: object, f: Callable[[Any], object]) -> Acc[Any]:
    """`generate` for the combinator `name`, which errors and explanations call by its name."""
    where = here()
    shape, extents = shape_of(name, sh, where, f)
    function = trace(f, (index_type(len(extents)),), f"the function of {name}", where)
    forbid_nested(name, (shape, function), where)
    kind = array_type(len(extents), function.body.type)
    return Acc(Generate(shape, function, name, (kind,), where), extents)


def _counted(name: str, sh: object, start: object, step: object) -> Acc[Any]:
    where = here()
    kind = operations.common_type(name, (raw(start), raw(step)), where)
    if not isinstance(kind, ScalarType | ComplexType) or kind is BOOL:
        hint = "other elements are made by `A.generate(sh, lambda ix: …)`"
        raise AccelTypeError(f"{name} counts numbers, not {kind}", where, hint=hint)
    first = typed(raw(start), kind, f"the start of {name}", where)
    by = typed(raw(step), kind, f"the step of {name}", where)
    shape, _ = shape_of(name, sh, where)

    def element(ix: Exp[Any]) -> Exp[Any]:
        position = toIndex(Exp[Any](shape), ix)
        count = operations.convert(Operator.CAST, position.node, kind, where, name)
        return Exp(first) + Exp(count) * Exp(by)

    return generated(name, sh, element)
