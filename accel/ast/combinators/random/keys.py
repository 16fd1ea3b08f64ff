"""Keys of random numbers: 128 bits from which all numbers follow. Nothing is kept between calls.

In: seeds, keys. Out: keys, as `Exp`s of two u64, the low half first.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from accel.ast.handles.acc import Num
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.literals import describe, is_node, whole_number, whole_typed
from accel.ast.handles.operations import convert, project
from accel.ast.tree.nodes import Literal, MakeTuple, Operation, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import U64, TupleType
from accel.errors import AccelTypeError, AccelValueError, Where, here

Key: TypeAlias = Exp[tuple[np.uint64, np.uint64]]
"""What random numbers follow from."""

_KEY: Final = TupleType((U64, U64))
_CHILDREN: Final = 1 << 63
"""The first number that makes keys of a key, not random numbers: no array has as many elements."""


def key(seed: Num) -> Key:
    """The key of a seed: that of NumPy's `np.random.Philox(key=seed)`.

    A Python number may have 128 bits; others raise `AccelValueError`. An i64 below zero counts from 2**64.

    >>> import accel as A
    >>> A.run(A.random.bits(A.random.key(7), (2,)))
    array([16086915834549238692,  5448529601018347655], dtype=uint64)
    """
    where = here()
    value = raw(seed)
    zero = Literal(U64, 0, where)
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value < 1 << 128:
            hint = "as NumPy's: take a seed of the system by `secrets.randbits(128)`, or a number from 0"
            raise AccelValueError(f"the seed of random.key: {value} is not from 0 to 2**128 - 1", where, hint=hint)
        low, high = value & ((1 << 64) - 1), value >> 64
        return Exp(MakeTuple((Literal(U64, low, where), Literal(U64, high, where)), _KEY, where))
    node = whole_typed(value, "the seed of random.key", where)
    return Exp(MakeTuple((convert(Operator.CAST, node, U64, where, "random.key"), zero), _KEY, where))


def split(key: Key, n: int) -> tuple[Key, ...]:
    """`n` keys made of one: their numbers, and those of `key` itself, have nothing to do with each other.

    A key is made of the same key and the same place among the `n` only: `split(key, 3)` begins with `split(key, 2)`.
    Raises `AccelValueError` unless `n` is at least 1.

    >>> import accel as A
    >>> left, right = A.random.split(A.random.key(7), 2)
    >>> A.run((A.random.integers(left, (3,), 0, 10), A.random.integers(right, (3,), 0, 10)))
    (array([2, 3, 7]), array([5, 3, 1]))
    """
    where = here()
    count = whole_number(n)
    if not isinstance(count, int) or isinstance(count, bool):
        hint = "how many keys there are is known when the program is built: `left, right = A.random.split(key, 2)`"
        raise AccelTypeError(f"random.split takes a Python int, got {describe(raw(n))}", where, hint=hint)
    if count < 1:
        hint = "write how many keys there are to be: `left, right = A.random.split(key, 2)`"
        raise AccelValueError(f"random.split makes at least one key, not {count}", where, hint=hint)
    halves = key_halves("random.split", key, where)

    def word(position: int) -> Operation:
        return Operation(Operator.PHILOX, (*halves, Literal(U64, _CHILDREN + position, where)), U64, where)

    return tuple(Exp(MakeTuple((word(2 * i), word(2 * i + 1)), _KEY, where)) for i in range(count))


def key_halves(name: str, key: object, where: Where | None) -> tuple[ScalarNode, ScalarNode]:
    """The halves of the key that `name` was given. Raises `AccelTypeError` for what is none."""
    node = raw(key)
    if is_node(node) and node.type == _KEY:
        return project(node, 0, where), project(node, 1, where)
    hint = "make one of a number: `A.random.key(seed)`"
    raise AccelTypeError(f"{name} takes a key first, got {describe(node)}", where, hint=hint)
