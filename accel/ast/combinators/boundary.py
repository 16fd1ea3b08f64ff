"""What a stencil reads outside of its array: `clamp`, `mirror`, `wrap`, `constant`, `function`.

In: what the user says. Out: a `Boundary`, which `stencils.py` asks for the element at an index plus constant offsets. All is
scalar code, that of a boundary written by hand: which of it decides nothing in the inside of an array is found by ranges, for
both alike (`accel/schedule/splitting/inside.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, Never, TypeAlias, TypeVar, final, overload

import numpy as np

from accel.ast.handles.acc import Sh
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.function import apply, expect_exp
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe, typed
from accel.ast.scalars.conversions import max, min
from accel.ast.tree.nodes import ScalarNode
from accel.ast.tree.types import ElementType
from accel.errors import AccelTypeError, Where, here

Sh_contra = TypeVar("Sh_contra", contravariant=True)
E_co = TypeVar("E_co", covariant=True)
Number: TypeAlias = Exp[Any]
"""An i64 expression; Any, since operators of generic code need no check."""

_STEPS: Final = 3
"""Offsets up to this are mirrored step by step, by comparisons; others by a division."""


@final
class Boundary(Generic[Sh_contra, E_co]):
    """What a stencil reads outside of an array of shape `Sh` and elements `E`: see `A.boundary`.

    Of every shape is one of `object`, of every type of elements one of `Never`.
    """

    __slots__ = ("_name", "moved", "value")

    def __init__(
        self,
        name: str,
        moved: Callable[[Number, int, Number], Number] | None,
        value: Callable[[Exp[Any], ElementType, str, Where | None], ScalarNode] | None,
    ) -> None:
        self._name = name
        self.moved = moved
        """The coordinate inside that stands for a coordinate plus an offset, given the extent; None if a value does."""
        self.value = value
        """What stands for the element at an index outside: of the array's type of elements, for a combinator's call."""

    def __repr__(self) -> str:
        return f"A.boundary.{self._name}"

    if not TYPE_CHECKING:  # for mypy it is no function

        def __call__(self, *_: object, **__: object) -> Never:
            """Say that it stands for itself."""
            hint = f"write `{self}`, without parentheses"
            raise AccelTypeError(f"{self} is a boundary, not a function that gives one", here(), hint=hint)


def _clamped(i: Number, offset: int, extent: Number) -> Number:
    if offset == 0:
        return i
    return max(i + offset, 0) if offset < 0 else min(i + offset, extent - 1)


def _wrapped(i: Number, offset: int, extent: Number) -> Number:
    return i if offset == 0 else (i + offset) % extent


def _mirrored(i: Number, offset: int, extent: Number) -> Number:
    if offset == 0:
        return i
    last, at = extent - 1, i + offset
    period = last + last
    if -_STEPS <= offset <= _STEPS:
        # An array of two elements or more needs as many reflections as the offset is large: each leaves at least one less.
        for step in range(abs(offset)):
            at = max(at, 0 - at) if (step % 2 == 0) is (offset < 0) else min(at, period - at)
    else:
        turned = at % max(period, 1)
        at = min(turned, period - turned)
    return max(min(at, last), 0)  # which is 0 in an array of one element


@final
class Boundaries:
    """What a stencil reads outside of its array: `A.boundary.clamp`, `mirror`, `wrap`, `constant(v)` or `function(f)`.

    Accelerate's `Boundary`.
    """

    __slots__ = ()

    clamp: Final[Boundary[object, Never]] = Boundary("clamp", _clamped, None)
    """The nearest element inside: `a a a b c c c`."""

    mirror: Final[Boundary[object, Never]] = Boundary("mirror", _mirrored, None)
    """The array seen in mirrors that stand on its first and its last element, which are not repeated: `c b a b c b a`."""

    wrap: Final[Boundary[object, Never]] = Boundary("wrap", _wrapped, None)
    """The array again: `b c a b c a b`."""

    @overload
    @staticmethod
    def constant(v: Exp[E_co]) -> Boundary[object, E_co]: ...
    @overload
    @staticmethod
    def constant(v: float | np.generic | tuple[object, ...]) -> Boundary[object, Never]: ...
    @staticmethod
    def constant(v: object) -> Boundary[object, Any]:  # Any: a number has the type of what it meets
        """The same element everywhere outside. Another type than the array's elements is an `AccelTypeError` of the stencil.

        Accelerate writes `function (const v)`.

        >>> import numpy as np
        >>> import accel as A
        >>> A.run(A.stencil(lambda n: n(-1), A.boundary.constant(-1), A.use(np.array([1, 2, 3]))))
        array([-1,  1,  2])
        """

        def value(_: Exp[Any], kind: ElementType, name: str, where: Where | None) -> ScalarNode:
            return typed(raw(v), kind, f"the boundary of {name}", where)

        return Boundary("constant(…)", None, value)

    @staticmethod
    def function(f: Callable[[Exp[Sh]], Exp[E_co]]) -> Boundary[Sh, E_co]:
        """`f(index)` at an index outside. What `f` gives must be of the type of the array's elements (`AccelTypeError`).

        Raises `AccelTypeError` if `f` is no function.

        >>> import numpy as np
        >>> import accel as A
        >>> outside = A.boundary.function(lambda ix: A.unindex(ix)[0] * 10)
        >>> A.run(A.stencil(lambda n: n(1), outside, A.use(np.array([1, 2, 3]))))
        array([ 2,  3, 30])
        """
        if not is_function(f):
            hint = "the same element everywhere outside: `A.boundary.constant(v)`"
            message = f"boundary.function takes a function of an index, got {describe(raw(f))}"
            raise AccelTypeError(message, here(), hint=hint)

        def value(index: Exp[Any], kind: ElementType, name: str, where: Where | None) -> ScalarNode:
            what = f"the boundary function of {name}"
            found = expect_exp(apply(f, (index,), what, where), what, where, result=kind)
            return typed(found, kind, f"the result of {what}", where)

        return Boundary("function(…)", None, value)


boundary: Final = Boundaries()
