"""`Exp[E]`: the typed handle of a scalar expression, with Python's operators.

In: nodes of `accel/ast/tree/nodes.py`. Out: the same; the handle only adds operators and static types. mypy never checks the
bound of a self type, so each operator takes `Of` an element type as its self, of `accel/ast/handles/elements.py`
(docs/ast.md, "Static types"): `bool + bool` and `int / int` are errors for mypy as well as at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, Self, TypeVar, overload

import numpy as np

from accel.ast.handles import operations
from accel.ast.handles.elements import (
    At0,
    At1,
    At2,
    At3,
    At4,
    At5,
    At6,
    At7,
    At8,
    Bits,
    Compared,
    Inexact,
    Integral,
    Number,
    Of,
    Real,
    Unknown,
)
from accel.ast.handles.habits import attributes
from accel.ast.handles.habits.values import Handle, WithoutValue
from accel.ast.tree.nodes import ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.text import scalar_text
from accel.ast.tree.types import DEEPEST, ElementType
from accel.errors import AccelTypeError, here
from accel.support.dataclass import dataclass

E = TypeVar("E")
T = TypeVar("T")
L = TypeVar("L", bound=complex)


def raw(value: object, depth: int = DEEPEST + 2) -> object:
    """What builders take: a handle's node, tuples item by item, anything else as it is; so are tuples too deep to be taken."""
    if isinstance(value, Exp):
        return value.node
    if type(value) is tuple and depth:
        return tuple([raw(item, depth - 1) for item in value])
    return value


def _binary(operator: Operator, left: object, right: object, name: str) -> Exp[Any]:
    a, b = raw(left), raw(right)
    return Exp(operations.apply(operator, a, b, where=here(skip=1), name=name))


@dataclass(frozen=True, eq=False, repr=False)
class Exp(WithoutValue, Of[E], Generic[E]):
    """A scalar expression of element type `E`: a NumPy scalar type, or a tuple of element types.

    It has no value yet: what needs one (`if`, `len`, iteration, `float`) raises `AccelStagingError` that says what to write.
    """

    __slots__ = ("node",)  # by hand: `slots=True` makes a second class, and then `Exp[Any](node)` fails

    node: ScalarNode

    __setattr__, __delattr__ = Handle.__setattr__, Handle.__delattr__  # else those of frozen dataclasses

    # NumPy would make `array * exp` an array of objects; None makes it ask `exp` instead.
    __array_ufunc__ = None

    @property
    def type(self) -> ElementType:
        """The element type."""
        return self.node.type

    def __repr__(self) -> str:
        shown = scalar_text(self.node)
        return f"Exp[{self.node.type}]{chr(10) if chr(10) in shown else ' '}{shown}"

    if not TYPE_CHECKING:  # for mypy they are missing; at run time their absence says what to write

        def __getattr__(self, name: str) -> NoReturn:
            raise attributes.of_an_exp(name, self.node.type)

        def __matmul__(self, other: object) -> NoReturn:
            """Say that it is one element."""
            hint = "of elements write `x * y`; of arrays, outside of scalar functions, `xs @ ys`"
            raise AccelTypeError("@ is of arrays, got an Exp", here(), hint=hint)

        __rmatmul__ = __matmul__

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Itself, too: nothing changes it, and what is one node is computed once."""
        return self

    # Arithmetic.

    def __add__(self: Number[L], other: Exp[E] | E | L) -> Exp[E]:
        return _binary(Operator.ADD, self, other, "+")

    def __radd__(self: Number[L], other: E | L) -> Exp[E]:
        return _binary(Operator.ADD, other, self, "+")

    def __sub__(self: Number[L], other: Exp[E] | E | L) -> Exp[E]:
        return _binary(Operator.SUB, self, other, "-")

    def __rsub__(self: Number[L], other: E | L) -> Exp[E]:
        return _binary(Operator.SUB, other, self, "-")

    def __mul__(self: Number[L], other: Exp[E] | E | L) -> Exp[E]:
        return _binary(Operator.MUL, self, other, "*")

    def __rmul__(self: Number[L], other: E | L) -> Exp[E]:
        return _binary(Operator.MUL, other, self, "*")

    def __truediv__(self: Inexact[L], other: Exp[E] | E | L) -> Exp[E]:
        return Exp(operations.divide(raw(self), raw(other), here()))

    def __rtruediv__(self: Inexact[L], other: E | L) -> Exp[E]:
        return Exp(operations.divide(raw(other), raw(self), here()))

    def __floordiv__(self: Real[L], other: Exp[E] | E | L) -> Exp[E]:
        return Exp(operations.floor_divide(raw(self), raw(other), here()))

    def __rfloordiv__(self: Real[L], other: E | L) -> Exp[E]:
        return Exp(operations.floor_divide(raw(other), raw(self), here()))

    def __mod__(self: Real[L], other: Exp[E] | E | L) -> Exp[E]:
        return _binary(Operator.MOD, self, other, "%")

    def __rmod__(self: Real[L], other: E | L) -> Exp[E]:
        return _binary(Operator.MOD, other, self, "%")

    def __divmod__(self: Real[L], other: Exp[E] | E | L) -> tuple[Exp[E], Exp[E]]:
        quotient = operations.floor_divide(raw(self), raw(other), here())
        return Exp(quotient), _binary(Operator.MOD, self, other, "%")

    def __rdivmod__(self: Real[L], other: E | L) -> tuple[Exp[E], Exp[E]]:
        quotient = operations.floor_divide(raw(other), raw(self), here())
        return Exp(quotient), _binary(Operator.MOD, other, self, "%")

    def __pow__(self: Number[L], other: Exp[E] | E | L, modulo: None = None) -> Exp[E]:
        return _binary(Operator.POW, self, other if modulo is None else operations.refuse_modulo(here()), "**")

    def __rpow__(self: Number[L], other: E | L) -> Exp[E]:
        return _binary(Operator.POW, other, self, "**")

    def __neg__(self: Number[Any]) -> Exp[E]:
        return Exp(operations.apply(Operator.NEG, raw(self), where=here(), name="-"))

    def __pos__(self: Number[Any]) -> Exp[E]:
        return Exp(operations.positive(raw(self), here()))

    @overload
    def __abs__(self: Exp[np.complex64]) -> Exp[np.float32]: ...  # type: ignore[overload-overlap]  # `Exp[Any]` fits all
    @overload
    def __abs__(self: Exp[np.complex128]) -> Exp[np.float64]: ...
    @overload
    def __abs__(self: Number[Any]) -> Exp[E]: ...
    def __abs__(self) -> Exp[Any]:
        return Exp(operations.apply(Operator.ABS, raw(self), where=here(), name="abs"))

    # Comparisons.

    @overload
    def __lt__(self: Real[L], other: Exp[E] | E | L) -> Exp[np.bool_]: ...
    @overload
    def __lt__(self: Compared, other: Exp[E] | E) -> Exp[np.bool_]: ...
    def __lt__(self, other: object) -> Exp[np.bool_]:
        return _binary(Operator.LT, self, other, "<")

    @overload
    def __le__(self: Real[L], other: Exp[E] | E | L) -> Exp[np.bool_]: ...
    @overload
    def __le__(self: Compared, other: Exp[E] | E) -> Exp[np.bool_]: ...
    def __le__(self, other: object) -> Exp[np.bool_]:
        return _binary(Operator.LE, self, other, "<=")

    @overload
    def __gt__(self: Real[L], other: Exp[E] | E | L) -> Exp[np.bool_]: ...
    @overload
    def __gt__(self: Compared, other: Exp[E] | E) -> Exp[np.bool_]: ...
    def __gt__(self, other: object) -> Exp[np.bool_]:
        return _binary(Operator.GT, self, other, ">")

    @overload
    def __ge__(self: Real[L], other: Exp[E] | E | L) -> Exp[np.bool_]: ...
    @overload
    def __ge__(self: Compared, other: Exp[E] | E) -> Exp[np.bool_]: ...
    def __ge__(self, other: object) -> Exp[np.bool_]:
        return _binary(Operator.GE, self, other, ">=")

    # `object` promises a bool from == and !=; an expression gives an expression.
    def __eq__(self, other: Exp[E] | E | complex) -> Exp[np.bool_]:  # type: ignore[override]
        return Exp(operations.equal(raw(self), raw(other), here()))

    def __ne__(self, other: Exp[E] | E | complex) -> Exp[np.bool_]:  # type: ignore[override]
        return Exp(operations.differ(raw(self), raw(other), here()))

    __hash__ = object.__hash__

    # Bits and bools.

    def __and__(self: Bits, other: Exp[E] | E | int) -> Exp[E]:
        return Exp(operations.conjunction(raw(self), raw(other), here()))

    def __rand__(self: Bits, other: E | int) -> Exp[E]:
        return Exp(operations.conjunction(raw(other), raw(self), here()))

    def __or__(self: Bits, other: Exp[E] | E | int) -> Exp[E]:
        return Exp(operations.disjunction(raw(self), raw(other), here()))

    def __ror__(self: Bits, other: E | int) -> Exp[E]:
        return Exp(operations.disjunction(raw(other), raw(self), here()))

    def __xor__(self: Bits, other: Exp[E] | E | int) -> Exp[E]:
        return _binary(Operator.XOR, self, other, "^")

    def __rxor__(self: Bits, other: E | int) -> Exp[E]:
        return _binary(Operator.XOR, other, self, "^")

    def __invert__(self: Bits) -> Exp[E]:
        return Exp(operations.apply(Operator.NOT, raw(self), where=here(), name="~"))

    def __lshift__(self: Integral, amount: Exp[np.int64] | int) -> Exp[E]:
        return Exp(operations.shift(Operator.SHIFT_LEFT, raw(self), raw(amount), here(), "<<"))

    def __rshift__(self: Integral, amount: Exp[np.int64] | int) -> Exp[E]:
        return Exp(operations.shift(Operator.SHIFT_RIGHT, raw(self), raw(amount), here(), ">>"))

    def __rlshift__(self: Exp[np.int64], number: int) -> Exp[np.int64]:
        return Exp(operations.shift(Operator.SHIFT_LEFT, raw(number), raw(self), here(), "<<"))

    def __rrshift__(self: Exp[np.int64], number: int) -> Exp[np.int64]:
        return Exp(operations.shift(Operator.SHIFT_RIGHT, raw(number), raw(self), here(), ">>"))

    # Items of tuples. An index or shape is a tuple of `int` for mypy, its items are i64.

    @overload
    def __getitem__(self: Exp[Unknown], position: int) -> Exp[Any]: ...
    @overload
    def __getitem__(self: At0[int], position: Literal[0]) -> Exp[np.int64]: ...
    @overload
    def __getitem__(self: At0[T], position: Literal[0]) -> Exp[T]: ...
    @overload
    def __getitem__(self: At1[int], position: Literal[1]) -> Exp[np.int64]: ...
    @overload
    def __getitem__(self: At1[T], position: Literal[1]) -> Exp[T]: ...
    @overload
    def __getitem__(self: At2[int], position: Literal[2]) -> Exp[np.int64]: ...
    @overload
    def __getitem__(self: At2[T], position: Literal[2]) -> Exp[T]: ...
    @overload
    def __getitem__(self: At3[int], position: Literal[3]) -> Exp[np.int64]: ...
    @overload
    def __getitem__(self: At3[T], position: Literal[3]) -> Exp[T]: ...
    @overload
    def __getitem__(self: At4[int], position: Literal[4]) -> Exp[np.int64]: ...
    @overload
    def __getitem__(self: At4[T], position: Literal[4]) -> Exp[T]: ...
    @overload
    def __getitem__(self: At5[int], position: Literal[5]) -> Exp[np.int64]: ...
    @overload
    def __getitem__(self: At5[T], position: Literal[5]) -> Exp[T]: ...
    @overload
    def __getitem__(self: At6[int], position: Literal[6]) -> Exp[np.int64]: ...
    @overload
    def __getitem__(self: At6[T], position: Literal[6]) -> Exp[T]: ...
    @overload
    def __getitem__(self: At7[int], position: Literal[7]) -> Exp[np.int64]: ...
    @overload
    def __getitem__(self: At7[T], position: Literal[7]) -> Exp[T]: ...
    @overload
    def __getitem__(self: At8[int], position: Literal[8]) -> Exp[np.int64]: ...
    @overload
    def __getitem__(self: At8[T], position: Literal[8]) -> Exp[T]: ...
    def __getitem__(self, position: int) -> Exp[Any]:
        return Exp(operations.item(self.node, raw(position), here()))
