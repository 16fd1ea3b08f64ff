"""Tuples, indices and choices among scalars.

In: `Exp`s and numbers. Out: `Exp`s. A bare Python tuple is never an expression, but where a shape is due: `lift` makes one,
`unlift` takes it apart.
`lift`, `unlift`, `index` and `unindex` are typed for each number of items in `accel/ast/combinators/overloads.pyi`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, TypeVarTuple, overload

import numpy as np

from accel.ast.handles import operations
from accel.ast.handles.acc import Num, Sh
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.function import call
from accel.ast.handles.habits.calls import require_elements
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import definite, describe, natural_type, typed, untyped, whole_number, whole_typed
from accel.ast.handles.records import Record
from accel.ast.tree.nodes import Literal, Parameter, Project, ScalarNode, ShapeOf, While
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64, ComplexType, ScalarType, TupleType, index_type, number_type
from accel.errors import AccelTypeError, Where, here
from accel.support.shown import shown

Ix = TypeVarTuple("Ix")
E1 = TypeVar("E1")
E2 = TypeVar("E2")
F = TypeVar("F")
G = TypeVar("G", bound=np.generic)
R = TypeVar("R", bound=Record)
Fl = TypeVar("Fl", bound=np.inexact[Any])
Cx = TypeVar("Cx", bound=np.complexfloating[Any, Any])


def lift(*xs: object) -> Exp[Any]:
    """The tuple of expressions and numbers.

    >>> A.run(A.map(A.snd, A.map(lambda x: A.lift(x, x * x), A.use(np.arange(4)))))
    array([0, 1, 4, 9])
    """
    return lift_items(xs)


def unlift(p: Exp[Any]) -> tuple[Exp[Any], ...]:
    """The items of a tuple, as a Python tuple.

    >>> A.run(A.map(lambda p: A.add(*A.unlift(p)), A.zip(A.use(np.arange(3)), A.use(np.arange(3)))))
    array([0, 2, 4])
    """
    return unlift_items("unlift", p)


def index(*coordinates: object) -> Exp[Any]:
    """The index with these coordinates, outermost first.

    >>> A.run(A.unit(A.use(np.arange(6).reshape(2, 3))[A.index(1, 2)]))
    array(5)
    """
    return index_of(coordinates)


def unindex(ix: Exp[Any]) -> tuple[Exp[np.int64], ...]:
    """The coordinates of an index, as a Python tuple, outermost first.

    >>> A.run(A.generate((2, 3), lambda ix: A.unindex(ix)[0] * 10 + A.unindex(ix)[1]))
    array([[ 0,  1,  2],
           [10, 11, 12]])
    """
    return index_items("unindex", ix)


def lift_items(items: Sequence[object]) -> Exp[Any]:
    """The tuple of expressions and numbers."""
    where = here()
    return Exp(untyped(tuple(raw(item) for item in items), "lift", where))


def unlift_items(name: str, p: object) -> tuple[Exp[Any], ...]:
    """The items of a tuple, as a Python tuple."""
    node = _tuple(name, p)
    assert isinstance(node.type, TupleType)
    where = here()
    return tuple(Exp(operations.project(node, i, where)) for i in range(len(node.type.items)))


def index_items(name: str, ix: object) -> tuple[Exp[np.int64], ...]:
    """The coordinates of an index or the extents of a shape. Raises `AccelTypeError` for anything but a tuple of i64."""
    node = _tuple(name, ix, "`A.index(…)`")
    assert isinstance(node.type, TupleType)
    if node.type != index_type(len(node.type.items)):
        hint = "an index is a tuple of i64: `A.index(i, j)`"
        raise AccelTypeError(f"{name} takes an index or a shape, got {node.type}", here(), hint=hint)
    return unlift_items(name, ix)


def index_of(coordinates: Sequence[object]) -> Exp[Any]:
    """The index with these coordinates, outermost first."""
    return Exp(
        typed(whole_number(tuple(raw(c) for c in coordinates)), index_type(len(coordinates)), "the index", here())
    )


def fst(p: Exp[tuple[E1, E2]]) -> Exp[E1]:
    """The first item of a pair.

    >>> A.run(A.map(A.fst, A.zip(A.use(np.arange(3)), A.use(np.ones(3)))))
    array([0, 1, 2])
    """
    return Exp(operations.project(_pair("fst", p), 0, here()))


def snd(p: Exp[tuple[E1, E2]]) -> Exp[E2]:
    """The second item of a pair.

    >>> A.run(A.map(A.snd, A.zip(A.use(np.arange(3)), A.use(np.ones(3)))))
    array([1., 1., 1.])
    """
    return Exp(operations.project(_pair("snd", p), 1, here()))


def indexHead(ix: Exp[tuple[*Ix, int]]) -> Exp[np.int64]:
    """The innermost coordinate of an index.

    >>> A.run(A.generate((2, 3), A.indexHead))
    array([[0, 1, 2],
           [0, 1, 2]])
    """
    return _some_items("indexHead", ix)[-1]


def indexTail(ix: Exp[tuple[*Ix, int]]) -> Exp[tuple[*Ix]]:
    """An index without its innermost coordinate.

    >>> A.run(A.generate((2, 3), lambda ix: A.indexHead(A.indexTail(ix))))
    array([[0, 0, 0],
           [1, 1, 1]])
    """
    return index_of(_some_items("indexTail", ix)[:-1])


def toIndex(sh: Exp[Sh] | Sh, ix: Exp[Sh] | Sh) -> Exp[np.int64]:
    """The position of index `ix` in the row-major order of shape `sh`.

    >>> A.run(A.unit(A.toIndex((2, 3), A.index(1, 2))))
    array(5)
    """
    position: Exp[np.int64] = Exp(Literal(I64, 0, here()))
    for axis, (extent, coordinate) in enumerate(_item_pairs("toIndex", sh, ix)):
        position = coordinate if axis == 0 else position * extent + coordinate
    return position


def fromIndex(sh: Exp[Sh] | Sh, position: Num) -> Exp[Sh]:
    """The index at `position` in the row-major order of shape `sh`; the inverse of `toIndex`.

    >>> A.run(A.unit(A.indexHead(A.fromIndex((2, 3), 4))))
    array(1)
    """
    rest: Exp[np.int64] = Exp(whole_typed(raw(position), "the position of fromIndex", here()))
    extents = _shape_items("fromIndex", sh)
    coordinates: list[Exp[np.int64]] = []
    for axis in reversed(range(len(extents))):
        coordinates.append(rest if axis == 0 else _remainder(rest, extents[axis]))
        rest = _quotient(rest, extents[axis])
    return index_of(coordinates[::-1])


def intersect(a: Exp[Sh] | Sh, b: Exp[Sh] | Sh) -> Exp[Sh]:
    """The largest shape that fits into both.

    >>> A.run(A.unit(A.shapeSize(A.intersect((2, 5), (3, 4)))))
    array(8)
    """
    where = here()
    pairs = _item_pairs("intersect", a, b)
    return index_of([Exp(operations.apply(Operator.MIN, x.node, y.node, where=where)) for x, y in pairs])


def shapeSize(sh: Exp[Sh] | Sh) -> Exp[np.int64]:
    """The number of elements of a shape: the product of its extents, 0 if one is negative.

    >>> A.run(A.unit(A.shapeSize((2, 3))))
    array(6)
    """
    extents = [_at_least_0(extent) for extent in _shape_items("shapeSize", sh)]
    size: Exp[np.int64] = extents[0] if extents else Exp(Literal(I64, 1, here()))
    for extent in extents[1:]:
        size = size * extent
    return size


# Constants and choices.


@overload
def constant(v: G) -> Exp[G]: ...
@overload
def constant(v: float | np.integer[Any] | np.floating[Any] | np.bool_, dtype: type[G]) -> Exp[G]: ...
@overload
def constant(v: bool) -> Exp[np.bool_]: ...  # type: ignore[overload-overlap]  # True is an int, too: bool comes first
@overload
def constant(v: int) -> Exp[np.int64]: ...
@overload
def constant(v: float) -> Exp[np.float64]: ...
@overload
def constant(v: complex) -> Exp[np.complex128]: ...
@overload
def constant(v: complex | np.complexfloating[Any, Any], dtype: type[Cx]) -> Exp[Cx]: ...
def constant(v: object, dtype: object = None) -> Exp[Any]:
    """A number as an expression of type `dtype`; without it, of a NumPy scalar's own, else int64, float64, complex128, bool.

    With `dtype` a NumPy scalar is what it counts, as a Python number. Raises `AccelTypeError` for what does not fit.

    >>> A.run(A.map(lambda x: x + A.constant(1, np.int8), A.use(np.zeros(2, np.int8))))
    array([1, 1], dtype=int8)
    """
    where = here()
    if dtype is None:
        return Exp(typed(raw(v), natural_type(v, "the constant", where), "the constant", where))
    value = v.item() if isinstance(v, np.generic) else raw(v)
    return Exp(typed(value, target_type(dtype, "constant", where), "the constant", where))


@overload
def cond(c: Exp[np.bool_], a: R, b: R) -> Exp[R]: ...
@overload
def cond(c: Exp[np.bool_], a: R, b: Exp[R]) -> Exp[R]: ...
@overload
def cond(c: Exp[np.bool_], a: Exp[R], b: R) -> Exp[R]: ...
@overload
def cond(c: Exp[np.bool_], a: Exp[E], b: Exp[E] | E | int) -> Exp[E]: ...
@overload
def cond(c: Exp[np.bool_], a: Exp[Fl], b: float) -> Exp[Fl]: ...
@overload
def cond(c: Exp[np.bool_], a: E | int, b: Exp[E]) -> Exp[E]: ...
@overload
def cond(c: Exp[np.bool_], a: float, b: Exp[Fl]) -> Exp[Fl]: ...
@overload
def cond(c: Exp[np.bool_], a: Exp[Cx], b: complex) -> Exp[Cx]: ...
@overload
def cond(c: Exp[np.bool_], a: complex, b: Exp[Cx]) -> Exp[Cx]: ...
@overload
def cond(c: Exp[np.bool_], a: G, b: G | int) -> Exp[G]: ...
@overload
def cond(c: Exp[np.bool_], a: bool, b: bool) -> Exp[np.bool_]: ...  # type: ignore[overload-overlap]  # as for constant
@overload
def cond(c: Exp[np.bool_], a: int, b: int) -> Exp[np.int64]: ...
@overload
def cond(c: Exp[np.bool_], a: float, b: float) -> Exp[np.float64]: ...
@overload
def cond(c: Exp[np.bool_], a: complex, b: complex) -> Exp[np.complex128]: ...
def cond(c: object, a: object, b: object) -> Exp[Any]:
    """`a` if `c` else `b`; only the one that is chosen is evaluated.

    >>> A.run(A.unit(A.cond(A.constant(True), 1, 2)))
    array(1)
    """
    where = here()
    require_elements("cond", (c, a, b), where)
    return Exp(operations.choose(raw(c), raw(a), raw(b), where, "cond"))


@overload
def select(c: Exp[np.bool_], a: R, b: R) -> Exp[R]: ...
@overload
def select(c: Exp[np.bool_], a: R, b: Exp[R]) -> Exp[R]: ...
@overload
def select(c: Exp[np.bool_], a: Exp[R], b: R) -> Exp[R]: ...
@overload
def select(c: Exp[np.bool_], a: Exp[E], b: Exp[E] | E | int) -> Exp[E]: ...
@overload
def select(c: Exp[np.bool_], a: Exp[Fl], b: float) -> Exp[Fl]: ...
@overload
def select(c: Exp[np.bool_], a: E | int, b: Exp[E]) -> Exp[E]: ...
@overload
def select(c: Exp[np.bool_], a: float, b: Exp[Fl]) -> Exp[Fl]: ...
@overload
def select(c: Exp[np.bool_], a: Exp[Cx], b: complex) -> Exp[Cx]: ...
@overload
def select(c: Exp[np.bool_], a: complex, b: Exp[Cx]) -> Exp[Cx]: ...
@overload
def select(c: Exp[np.bool_], a: G, b: G | int) -> Exp[G]: ...
@overload
def select(c: Exp[np.bool_], a: bool, b: bool) -> Exp[np.bool_]: ...  # type: ignore[overload-overlap]  # as for constant
@overload
def select(c: Exp[np.bool_], a: int, b: int) -> Exp[np.int64]: ...
@overload
def select(c: Exp[np.bool_], a: float, b: float) -> Exp[np.float64]: ...
@overload
def select(c: Exp[np.bool_], a: complex, b: complex) -> Exp[np.complex128]: ...
def select(c: object, a: object, b: object) -> Exp[Any]:
    """`a` if `c` else `b`; both are evaluated. Faster than `cond` where both are cheap.

    >>> A.run(A.unit(A.select(A.constant(True), 1, 2)))
    array(1)
    """
    where = here()
    require_elements("select", (c, a, b), where)
    choice = operations.choose(raw(c), raw(a), raw(b), where, "select")
    return Exp(operations.select(choice.condition, choice.then, choice.orelse, where))


def while_(p: Callable[[Exp[E]], Exp[np.bool_]], f: Callable[[Exp[E]], Exp[E]], x: Exp[E]) -> Exp[E]:
    """From `x`, `f` applied as long as `p` holds. Several values are carried in one `lift`ed tuple.

    Where that never ends, Ctrl-C ends the call; on a GPU that copies and computes at once, as those of NVIDIA do. A number of
    turns in the tuple, which `p` asks for, ends it everywhere.

    >>> A.run(A.map(lambda x: A.while_(lambda y: y < 100, lambda y: y * 2, x), A.use(np.array([3, 200]))))
    array([192, 200])
    """
    where = here()
    if is_function(x):
        hint = "the functions come first: `A.while_(p, f, x)`"
        raise AccelTypeError(f"while_ starts from a value, got {describe(x)}", where, hint=hint)
    initial = definite(raw(x), "the start of while_", where)
    parameter = Parameter(initial.type, where)
    condition = call(p, (parameter,), "the condition of while_", where, result=BOOL)
    body = call(f, (parameter,), "the step of while_", where, result=initial.type)
    return Exp(While(parameter, condition, body, initial, initial.type, where))


def target_type(dtype: object, name: str, where: Where | None) -> ScalarType | ComplexType:
    """The scalar type that a conversion is asked for: a NumPy scalar class or dtype."""
    if isinstance(dtype, np.dtype) or (isinstance(dtype, type) and issubclass(dtype, np.generic)):
        try:
            found = number_type(np.dtype(dtype))
        except TypeError:  # a class of several types, such as `np.floating`
            found = None
        if found is not None:
            return found
        kind = dtype.__name__ if isinstance(dtype, type) else dtype
        hint = "write one of `np.bool_`, `np.int64`, `np.float32`, `np.complex64` and their like"
        raise AccelTypeError(f"{name}: accel has no element type for NumPy's {kind}", where, hint=hint)
    names = {int: "np.int64", float: "np.float64", bool: "np.bool_", complex: "np.complex128"}
    hint = f"write `{names[dtype]}`" if isinstance(dtype, type) and dtype in names else "write `np.float32`"
    given = dtype.__name__ if isinstance(dtype, type) else shown(dtype)
    raise AccelTypeError(f"{name} needs a NumPy type as its target, got {given}", where, hint=hint)


def _tuple(name: str, p: object, made_by: str = "`A.lift(…)`") -> ScalarNode:
    if isinstance(p, Exp) and isinstance(p.node.type, TupleType):
        return p.node
    hint = f"one is made by {made_by}"
    raise AccelTypeError(f"{name} takes an expression of a tuple, got {describe(raw(p))}", here(), hint=hint)


def _some_items(name: str, ix: object) -> tuple[Exp[np.int64], ...]:
    """The coordinates of an index that has one at least."""
    items = index_items(name, ix)
    if not items:
        hint = "the index of a scalar has no coordinates; one of more is made by `A.index(i, j)`"
        raise AccelTypeError(f"{name} takes an index of rank 1 or more, got ()", here(), hint=hint)
    return items


def _shape_items(name: str, sh: object) -> tuple[Exp[np.int64], ...]:
    """The extents of a shape, or the coordinates of an index: an expression of a tuple, or a Python tuple of them."""
    return index_items(name, index_of(sh) if isinstance(sh, tuple) else sh)


def _at_least_0(extent: Exp[np.int64]) -> Exp[np.int64]:
    """An extent, 0 if it is negative; those of arrays are not."""
    match extent.node:
        case Project(ShapeOf()):
            return extent
        case Literal(_, number) if number >= 0:
            return extent
        case node:
            return Exp(operations.apply(Operator.MAX, node, Literal(I64, 0, node.where), where=here()))


def _item_pairs(name: str, a: object, b: object) -> Iterator[tuple[Exp[np.int64], Exp[np.int64]]]:
    """The coordinates of two indices of one rank, side by side."""
    left, right = _shape_items(name, a), _shape_items(name, b)
    if len(left) != len(right):
        hint = "one number for each dimension, in both: `A.index(i, j)`"
        message = f"{name} takes indices of one rank, got {len(left)} and {len(right)}"
        raise AccelTypeError(message, here(), hint=hint)
    return zip(left, right, strict=True)


def _pair(name: str, p: object) -> ScalarNode:
    node = _tuple(name, p)
    assert isinstance(node.type, TupleType)
    if len(node.type.items) != 2:
        raise AccelTypeError(f"{name} takes a pair, got {node.type}", here(), hint="write `p[0]`, `p[1]`, …")
    return node


def _quotient(x: Exp[np.int64], y: Exp[np.int64]) -> Exp[np.int64]:
    return Exp(operations.apply(Operator.QUOT, x.node, y.node, where=here()))


def _remainder(x: Exp[np.int64], y: Exp[np.int64]) -> Exp[np.int64]:
    return Exp(operations.apply(Operator.REM, x.node, y.node, where=here()))
