"""Arrays of random numbers, each element computed by itself from a key and its position in row-major order.

In: keys, shapes. Out: handles. The numbers are those of Philox 4x64-10 (`accel/ast/meaning/philox.py`): they have no state, so
the loop that reads them computes them, in any order. They are the same bits on every backend, but for `normal` as far as
backends compute logarithms differently.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from accel.ast.combinators.construct import generated
from accel.ast.combinators.random.keys import Key, key_halves
from accel.ast.combinators.random.normal import normal_of_word
from accel.ast.handles.acc import Acc, Num
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.literals import typed, whole_number, whole_typed
from accel.ast.handles.tuples import select, target_type, toIndex
from accel.ast.scalars.bits import shiftR
from accel.ast.scalars.floats import cast
from accel.ast.tree.nodes import Operation
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F16, F32, U64, ScalarType
from accel.errors import AccelTypeError, AccelValueError, here

_LOW = (1 << 32) - 1


def bits(key: Key, sh: Any) -> Acc[Any]:
    """64 random bits for each element of shape `sh`: the numbers of `np.random.Philox(key=seed).random_raw`.

    They come in row-major order, whatever the shape. A negative extent raises `AccelShapeError`, what is no key
    `AccelTypeError`.

    >>> import accel as A
    >>> A.run(A.random.bits(A.random.key(7), (2, 2)))
    array([[16086915834549238692,  5448529601018347655],
           [ 7749434361382612120,  7478167007443709522]], dtype=uint64)
    """
    return generated("random.bits", sh, lambda ix: _word("random.bits", key, sh, ix))


def uniform(key: Key, sh: Any, dtype: Any) -> Acc[Any]:
    """Numbers in [0, 1), evenly distributed, as `np.random.Generator(np.random.Philox(key=seed)).random` gives them.

    `dtype` is `np.float64` or `np.float32`, and must be given. The first takes 53 bits of element i of `bits` for number i, the
    second 24 bits of one half of element i // 2, the low half first.

    >>> import accel as A, numpy as np
    >>> A.run(A.random.uniform(A.random.key(7), (3,), np.float64))
    array([0.87207345, 0.29536538, 0.42009768])
    """
    name = "random.uniform"
    small = _is_small(name, dtype)

    def element(ix: Exp[Any]) -> Exp[Any]:
        if small:
            return cast(shiftR(_half(name, key, sh, ix), 8), np.float32) * 2.0**-24
        return cast(cast(shiftR(_word(name, key, sh, ix), 11), np.int64), np.float64) * 2.0**-53

    return generated(name, sh, element)


def normal(key: Key, sh: Any, dtype: Any) -> Acc[Any]:
    """Numbers with the standard normal distribution: mean 0, variance 1.

    `dtype` is `np.float64` or `np.float32`, and must be given. Number i is the value below which a normal number lies with the
    probability that element i of `bits` says, for 32-bit floats one half of element i // 2. So it takes one number, as
    NumPy's do not, which are others. None is larger than 9.1 (6.2 in 32 bits).

    >>> import accel as A, numpy as np
    >>> A.run(A.random.normal(A.random.key(7), (3,), np.float64))
    array([ 0.16102532, -1.04642386,  0.8062518 ])
    """
    name = "random.normal"
    small = _is_small(name, dtype)
    return generated(name, sh, lambda ix: normal_of_word((_half if small else _word)(name, key, sh, ix), small))


def integers(key: Key, sh: Any, low: Num, high: Num) -> Acc[Any]:
    """Integers from `low` to `high - 1`, as i64.

    Number i is `low + (bits[i] * (high - low) >> 64)`: all come with the same probability, but for `high - low` parts in 2**64.
    Where `high` is not above `low` that raises `AccelValueError` if both are Python numbers, and gives `low` else.

    >>> import accel as A
    >>> A.run(A.random.integers(A.random.key(7), (8,), 1, 7))
    array([6, 2, 3, 3, 1, 5, 2, 4])
    """
    where = here()
    name = "random.integers"
    if isinstance(low, int) and isinstance(high, int) and low >= high:
        hint = "`high` is not among the numbers: from 1 to 6 are `A.random.integers(key, sh, 1, 7)`"
        raise AccelValueError(f"{name} needs a `high` above `low`, got {low} and {high}", where, hint=hint)
    first = Exp[np.int64](whole_typed(raw(low), f"the `low` of {name}", where))
    last = Exp[np.int64](whole_typed(raw(high), f"the `high` of {name}", where))

    def element(ix: Exp[Any]) -> Exp[Any]:
        count = select(last > first, cast(last - first, np.uint64), 0)
        return first + cast(_high_product(_word(name, key, sh, ix), count), np.int64)

    return generated(name, sh, element)


def _is_small(name: str, dtype: object) -> bool:
    """Whether floats have 32 bits."""
    where = here()
    kind = target_type(dtype, name, where)
    if not isinstance(kind, ScalarType) or not kind.is_float:
        raise AccelTypeError(f"{name} gives floats, not {kind}", where, hint="for integers see `A.random.integers`")
    if kind is F16:
        hint = "write `np.float32`, and `A.cast(e, np.float16)` where the numbers are used"
        raise AccelTypeError(f"{name} gives floats of 32 or 64 bits, not {kind}", where, hint=hint)
    return kind is F32


def _position(sh: Any, ix: Exp[Any]) -> Exp[np.uint64]:
    # The shape was checked before the function of an index is called.
    node = typed(whole_number(raw(sh)), ix.node.type, "the shape", here())
    return cast(toIndex(Exp[Any](node), ix), np.uint64)


def _number(name: str, key: Key, position: Exp[np.uint64]) -> Exp[np.uint64]:
    where = here()
    return Exp(Operation(Operator.PHILOX, (*key_halves(name, key, where), position.node), U64, where))


def _word(name: str, key: Key, sh: Any, ix: Exp[Any]) -> Exp[np.uint64]:
    """The 64 bits of an element."""
    return _number(name, key, _position(sh, ix))


def _half(name: str, key: Key, sh: Any, ix: Exp[Any]) -> Exp[np.int64]:
    """The 32 bits of an element, two of which share 64."""
    position = _position(sh, ix)
    word = _number(name, key, shiftR(position, 1))
    return cast(select((position & 1) == 1, shiftR(word, 32), word & _LOW), np.int64)


def _high_product(x: Exp[np.uint64], y: Exp[np.uint64]) -> Exp[np.uint64]:
    """The high half of the product, which has 128 bits."""
    low, high = y & _LOW, shiftR(y, 32)
    lowest = shiftR((x & _LOW) * low, 32)
    middle = shiftR(x, 32) * low + lowest
    rest = (x & _LOW) * high + (middle & _LOW)
    return shiftR(x, 32) * high + shiftR(middle, 32) + shiftR(rest, 32)
