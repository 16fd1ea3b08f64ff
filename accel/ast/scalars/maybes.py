"""Maybes among scalars: `just`, `nothing`, and what takes them apart.

In: `Exp`s and numbers. Out: `Exp`s. A `nothing()` takes its type from what it meets (`nothings.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from accel.ast.handles import operations
from accel.ast.handles.elements import Maybe
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.function import apply
from accel.ast.handles.literals import describe, untyped
from accel.ast.handles.nothings import NOTHING_YET, filled, zero
from accel.ast.handles.tuples import Cx, Fl
from accel.ast.tree.nodes import Literal, MakeTuple, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, MaybeType
from accel.errors import AccelTypeError, here

F = TypeVar("F")


def just(e: Exp[E]) -> Exp[Maybe[E]]:
    """The maybe that holds `e`.

    >>> A.run(A.map(lambda x: A.fromMaybe(0, A.cond(x > 1, A.just(x), A.nothing())), A.use(np.arange(4))))
    array([0, 0, 2, 3])
    """
    where = here()
    node = untyped(raw(e), "the value of just", where)
    return Exp(MakeTuple((Literal(BOOL, True, where), node), MaybeType(node.type), where))


def nothing() -> Exp[Maybe[Any]]:
    """The maybe that holds nothing; it takes its type from what it meets.

    >>> A.run(A.map(lambda x: A.isNothing(A.cond(x > 1, A.just(x), A.nothing())), A.use(np.arange(4))))
    array([ True,  True, False, False])
    """
    return Exp(zero(NOTHING_YET, here()))


def isJust(m: Exp[Maybe[E]]) -> Exp[np.bool_]:
    """Whether a maybe holds a value.

    >>> A.run(A.unit(A.isJust(A.just(A.constant(3)))))
    array(True)
    """
    return Exp(_maybe_part("isJust", m, 0))


def isNothing(m: Exp[Maybe[E]]) -> Exp[np.bool_]:
    """Whether a maybe holds nothing.

    >>> A.run(A.unit(A.isNothing(A.just(A.constant(3)))))
    array(False)
    """
    return Exp(operations.apply(Operator.NOT, _maybe_part("isNothing", m, 0), where=here()))


def fromJust(m: Exp[Maybe[E]]) -> Exp[E]:
    """The value of a maybe; zero (of each leaf) where it holds nothing.

    >>> A.run(A.unit(A.fromJust(A.just(A.constant(3)))))
    array(3)
    """
    return Exp(_maybe_part("fromJust", m, 1))


@overload
def fromMaybe(default: Exp[E] | E | int, m: Exp[Maybe[E]]) -> Exp[E]: ...
@overload
def fromMaybe(default: float, m: Exp[Maybe[Fl]]) -> Exp[Fl]: ...
@overload
def fromMaybe(default: complex, m: Exp[Maybe[Cx]]) -> Exp[Cx]: ...
def fromMaybe(default: object, m: Exp[Any]) -> Exp[Any]:
    """The value of a maybe, `default` where it holds nothing.

    >>> A.run(A.map(lambda x: A.fromMaybe(-1, A.cond(x > 1, A.just(x), A.nothing())), A.use(np.arange(4))))
    array([-1, -1,  2,  3])
    """
    flag, value = _maybe_part("fromMaybe", m, 0), _maybe_part("fromMaybe", m, 1)
    if _is_nothing(m):
        return Exp(untyped(raw(default), "the default of fromMaybe", here()))
    return Exp(operations.choose(flag, value, raw(default), here(), "fromMaybe"))


@overload
def maybe(default: Exp[F] | F | int, f: Callable[[Exp[E]], Exp[F]], m: Exp[Maybe[E]]) -> Exp[F]: ...
@overload
def maybe(default: float, f: Callable[[Exp[E]], Exp[Fl]], m: Exp[Maybe[E]]) -> Exp[Fl]: ...
def maybe(default: object, f: Callable[[Exp[Any]], Exp[Any]], m: Exp[Any]) -> Exp[Any]:
    """`f` of the value of a maybe, `default` where it holds nothing.

    >>> A.run(A.unit(A.maybe(0, lambda x: x * 2, A.just(A.constant(3)))))
    array(6)
    """
    where = here()
    flag, value = _maybe_part("maybe", m, 0), _maybe_part("maybe", m, 1)
    if _is_nothing(m):
        return Exp(untyped(raw(default), "the default of maybe", where))
    found: Exp[Any] = Exp(value)
    return Exp(
        operations.choose(flag, raw(apply(f, [found], "the function of maybe", where)), raw(default), where, "maybe")
    )


def _is_nothing(m: Exp[Any]) -> bool:
    """Whether a maybe is a `nothing()` that has met nothing: the default is what it meets, and its value."""
    return m.node.type == NOTHING_YET and filled(m.node, MaybeType(BOOL)) is not None


def _maybe_part(name: str, m: object, position: int) -> ScalarNode:
    where = here()
    if not isinstance(m, Exp) or not isinstance(m.node.type, MaybeType):
        raise AccelTypeError(
            f"{name} takes a maybe, got {describe(raw(m))}", where, hint="one is made by `A.just(e)` and `A.nothing()`"
        )
    return operations.project(m.node, position, where)
