"""Scalars of many elements at once: an array of values, and where computing them failed.

An element that failed is an error only if it is demanded: `choose` drops what the other branch holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, Union, assert_never

import numpy as np

# Any: which element type an array has is known when the program runs.
Data: TypeAlias = np.ndarray[Any, np.dtype[Any]]

INT64: np.dtype[Any] = np.dtype(np.int64)
BOOL: np.dtype[Any] = np.dtype(np.bool_)


class Fault(Exception):
    """The program has no result for these arguments: an element that is demanded has no value, or shapes do not fit."""


class Value:
    """A scalar for each of many elements, of one type. `form` says, in an operator that is looked at, how it was made."""

    __slots__ = ("bad", "data", "form")

    def __init__(self, data: Data, bad: Data | bool = False, form: object = None) -> None:
        self.data = np.asarray(data)
        self.bad = bad
        self.form = form

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    def _made(self, name: str, *operands: object) -> Value:
        from tests.differential.oracle.scalars import operate  # the operators are defined on values

        return operate(name, *operands)

    def __add__(self, other: object) -> Value:
        return self._made("add", self, other)

    def __radd__(self, other: object) -> Value:
        return self._made("add", other, self)

    def __sub__(self, other: object) -> Value:
        return self._made("sub", self, other)

    def __rsub__(self, other: object) -> Value:
        return self._made("sub", other, self)

    def __mul__(self, other: object) -> Value:
        return self._made("mul", self, other)

    def __rmul__(self, other: object) -> Value:
        return self._made("mul", other, self)

    def __truediv__(self, other: object) -> Value:
        return self._made("div", self, other)

    def __floordiv__(self, other: object) -> Value:
        return self._made("floordiv", self, other)

    def __mod__(self, other: object) -> Value:
        return self._made("mod", self, other)

    def __neg__(self) -> Value:
        return self._made("neg", self)

    def __invert__(self) -> Value:
        return self._made("not", self)

    def __and__(self, other: object) -> Value:
        return self._made("and", self, other)

    def __or__(self, other: object) -> Value:
        return self._made("or", self, other)

    def __xor__(self, other: object) -> Value:
        return self._made("xor", self, other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]  # a comparison of every element
        return self._made("eq", self, other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]  # a comparison of every element
        return self._made("ne", self, other)

    def __lt__(self, other: object) -> Value:
        return self._made("lt", self, other)

    def __le__(self, other: object) -> Value:
        return self._made("le", self, other)

    def __gt__(self, other: object) -> Value:
        return self._made("gt", self, other)

    def __ge__(self, other: object) -> Value:
        return self._made("ge", self, other)

    __hash__ = None  # type: ignore[assignment]  # equality gives a value


class Nothing:
    """`nothing()`: no element, of any type."""

    __slots__ = ()


class Tuple(tuple["Tree", ...]):
    """Several elements as one; an index is one of int64. The first items that differ decide about their order."""

    __slots__ = ()

    def __lt__(self, other: object) -> Value:  # type: ignore[override]  # for each of many elements
        return _before(self, other, or_equal=False)

    def __le__(self, other: object) -> Value:  # type: ignore[override]  # for each of many elements
        return _before(self, other, or_equal=True)

    def __gt__(self, other: object) -> Value:  # type: ignore[override]  # for each of many elements
        return _before(other, self, or_equal=False)

    def __ge__(self, other: object) -> Value:  # type: ignore[override]  # for each of many elements
        return _before(other, self, or_equal=True)


class Complex(Tuple):
    """A complex number: its parts."""

    __slots__ = ()


class Maybe(Tuple):
    """Perhaps an element: a flag, and an element, which counts where the flag holds."""

    __slots__ = ()

    @property
    def flag(self) -> Value:
        found = self[0]
        assert isinstance(found, Value)
        return found

    @property
    def item(self) -> Tree:
        return self[1]


Tree: TypeAlias = Union[Value, Tuple, Nothing]
"""An element of any type."""


def either(*bad: Data | bool) -> Data | bool:
    """Where one of several operands failed."""
    failed = [one for one in bad if one is not False]
    if not failed:
        return False
    found: Data | bool = failed[0]
    for one in failed[1:]:
        found = np.logical_or(found, one)
    return found


def number(value: bool | int | float, dtype: np.dtype[Any]) -> Value:
    """A constant."""
    return Value(np.array(value, dtype))


def integer(value: int) -> Value:
    """An int64 constant."""
    return number(value, INT64)


def alike(*operands: object) -> list[Value]:
    """Operands of one type: plain Python numbers take the type of the values beside them."""
    types = [operand.dtype for operand in operands if isinstance(operand, Value)]
    found: list[Value] = []
    for operand in operands:
        if isinstance(operand, Value):
            found.append(operand)
        else:
            assert isinstance(operand, (bool, int, float))
            found.append(number(operand, types[0]))
    return found


def choose(condition: Value, then: Tree, orelse: Tree) -> Tree:
    """One of two elements, and what failed in that one."""
    match then, orelse:
        case Value(), Value():
            assert then.dtype == orelse.dtype
            bad: Data | bool = False
            if then.bad is not False or orelse.bad is not False:
                bad = np.where(condition.data, then.bad, orelse.bad)
            return Value(np.where(condition.data, then.data, orelse.data), either(condition.bad, bad), _no_form(then))
        case Tuple(), Tuple():
            return type(then)(choose(condition, one, other) for one, other in zip(then, orelse, strict=True))
        case Maybe(), Nothing():
            return choose(condition, then, each(_absent, then))
        case Nothing(), Maybe():
            return choose(condition, each(_absent, orelse), orelse)
        case Nothing(), Nothing():
            return then
    raise AssertionError("the branches have two types")


def _absent(leaf: Value) -> Value:
    """What stands in a maybe that holds nothing: zero, and false."""
    return Value(np.zeros((), leaf.dtype), False, leaf.form)


def _no_form(value: Value) -> object:
    return None if value.form is None else ("choice",)


def each(change: Callable[[Value], Value], tree: Tree) -> Tree:
    """The same change of all scalars of an element."""
    match tree:
        case Value():
            return change(tree)
        case Tuple():
            return type(tree)(each(change, item) for item in tree)
        case Nothing():
            return tree
        case _:
            assert_never(tree)


def leaves(tree: Tree) -> list[Value]:
    """The scalars of an element, in order."""
    match tree:
        case Value():
            return [tree]
        case Tuple():
            return [leaf for item in tree for leaf in leaves(item)]
        case Nothing():
            return []
        case _:
            assert_never(tree)


# Any: whatever NumPy takes between brackets.
def picked(tree: Tree, at: Any) -> Tree:
    """Some of the elements, as NumPy's indexing chooses them."""
    return each(lambda leaf: Value(leaf.data[at], leaf.bad if leaf.bad is False else np.asarray(leaf.bad)[at]), tree)


def joined(trees: list[Tree], axis: int) -> Tree:
    """Elements of several arrays, one after the other along an axis; all of them have values."""
    first = trees[0]
    if isinstance(first, Tuple):
        parts = [[tree[k] for tree in trees if isinstance(tree, Tuple)] for k in range(len(first))]
        return type(first)(joined(part, axis) for part in parts)
    return Value(np.concatenate([tree.data for tree in trees if isinstance(tree, Value)], axis))


def demanded(tree: Tree, shape: tuple[int, ...], what: str) -> Tree:
    """All elements of an array of this shape. Raises `Fault` if one of them failed."""

    def full(leaf: Value) -> Value:
        if leaf.bad is not False and np.broadcast_to(leaf.bad, shape).any():
            raise Fault(f"{what}: an element has no value")
        return Value(np.broadcast_to(leaf.data, shape))

    return each(full, tree)


def one(value: object) -> bool | int | float:
    """A scalar that must have its value now: an extent, a condition of arrays."""
    if not isinstance(value, Value):
        assert isinstance(value, (bool, int, float))
        return value
    if value.bad is not False and np.any(value.bad):
        raise Fault("a scalar has no value")
    found: bool | int | float = value.data.item()
    return found


def _before(one: object, other: object, *, or_equal: bool) -> Value:
    """Whether a tuple stands before another; items behind the first that differ are not looked at."""
    assert isinstance(one, Tuple)
    assert isinstance(other, Tuple)
    found: Tree = Value(np.asarray(or_equal))
    for x, y in zip(reversed(one), reversed(other), strict=True):
        assert isinstance(x, Value)
        found = choose(x < y, Value(np.asarray(True)), choose(x == y, found, Value(np.asarray(False))))
    assert isinstance(found, Value)
    return found
