"""Values that no call expects, as the text of Python expressions; their own classes are `W` in programs.

In: nothing. Out: `WRONG`. What a hostile object raises is `Own`: a user's error, which accel lets through or wraps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Never

import numpy as np


class Own(Exception):
    """An error that the user's own object raises."""


def _raise(*_: object, **__: object) -> Never:
    raise Own("mine")


class Hostile:
    """An object all of whose protocols raise."""

    __len__ = __iter__ = __getitem__ = __bool__ = __index__ = __int__ = __float__ = __call__ = _raise
    __array__ = __eq__ = __hash__ = __repr__ = __str__ = __add__ = __radd__ = __enter__ = __fspath__ = _raise

    def __getattr__(self, name: str) -> Never:
        raise Own(name)


class Liar:
    """An object all of whose protocols answer what they may not, or something that does not fit."""

    shape = (3, -1)
    dtype = "f8"
    __array_interface__ = 3
    __name__ = 7
    __signature__ = "none"

    def __len__(self) -> int:
        return 2**40

    def __array__(self, *_: object, **__: object) -> str:
        return "no array"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def __index__(self) -> int:
        return 2**80

    def __getitem__(self, _: object) -> Liar:
        return self

    def __bool__(self) -> bool:
        return False


class Compared:
    """An object whose comparisons give an array, as those of arrays do."""

    def __eq__(self, other: object) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:  # type: ignore[override]  # on purpose
        return np.ones(3, np.bool_)

    __hash__ = None  # type: ignore[assignment]  # on purpose


class Three(int):
    """An integer of a class of its own."""

    def __repr__(self) -> str:
        raise Own("repr")


def forever() -> Iterator[int]:
    """A generator that does not end."""
    while True:
        yield 1


def deep(depth: int = 5000) -> object:
    """A tuple within a tuple, and so on."""
    value: object = ()
    for _ in range(depth):
        value = (value,)
    return value


def endless(*arguments: object) -> object:
    """A function that calls itself without an end."""
    return endless(*arguments)


def circle() -> list[object]:
    """A list that is in itself."""
    value: list[object] = []
    value.append(value)
    return value


def generator(x: object) -> Iterator[object]:
    """What `yield` instead of `return` makes of a function."""
    yield x


async def coroutine(x: object) -> object:
    """A function that must be awaited."""
    return x


raises: Callable[..., Never] = _raise
half: Callable[..., object] = partial(max, 1)

_PLAIN = """
None
'text'
''
b'bytes'
...
NotImplemented
True
False
1j
float('nan')
float('inf')
1.5
-0.0
1e308
-1
0
1
3
-2147483648
2147483648
140737488355329
4611686018427387904
9223372036854775808
18446744073709551616
-9223372036854775809
int("9" * 400)
()
(1,)
(1, 2)
(2, None)
(-1, 3)
(1.5,)
(True, False)
[]
[1, 2]
[[1], [2, 3]]
{}
{1, 2}
{'a': 1}
range(3)
iter([1])
(i for i in (1, 2))
slice(1, 3)
object()
object
int
float
bool
str
type
print
len
max
sum
ValueError
ValueError('x')
memoryview(b'abcd')
bytearray(8)
"""

_FUNCTIONS = """
lambda: 1
lambda x: x
lambda x: 1
lambda x: True
lambda x: None
lambda x: x > 0
lambda x: x + 1
lambda x: (x, x)
lambda x: [x]
lambda x: 'text'
lambda x: x[0]
lambda x: x['a']
lambda x: (yield x)
lambda x: A.run(A.unit(x))
lambda x: A.map(lambda y: x, A.use(np.arange(3)))
lambda x: A.just(x)
lambda x: A.nothing()
lambda x, y: x
lambda x, y: x + y
lambda x, y: 0
lambda x, y: (y, x)
lambda x, y, z: x
lambda *xs: xs[0]
lambda *xs: xs
lambda **given: 1
lambda x, *, y: x
lambda x: float(x)
lambda x: 1 if x else 2
lambda x: np.sin(x)
lambda x: len(x)
lambda x: [y for y in x]
lambda x: A.cond(x, 1, 2.0)
lambda x: lambda y: x
np.add
np.sin
np.vectorize(lambda x: x)
W.raises
W.endless
W.generator
W.coroutine
W.half
"""

_NUMPY = """
np
np.float32
np.float64
np.int8
np.uint64
np.bool_
np.complex64
np.longdouble
np.str_
np.object_
np.number
np.dtype('f4')
np.dtype('>i4')
np.dtype([('a', 'f4'), ('b', 'i8')])
np.float16(1.5)
np.float32(2)
np.int8(-3)
np.uint64(18446744073709551615)
np.bool_(True)
np.complex64(1j)
np.longdouble(1)
np.str_('x')
np.datetime64('2020-01-01')
np.timedelta64(3)
np.array(3)
np.array(True)
np.arange(3)
np.ones(3)
np.ones((2, 3))
np.ones((1,) * 9)
np.zeros(0)
np.zeros((3, 0))
np.array(['a'])
np.array([None, 1])
np.array([1, 2], '>i4')
np.ones(3, np.float16)
np.array([1j])
np.ones(3, np.longdouble)
np.zeros(3, [('a', 'f4'), ('b', 'i8')])
np.ma.array([1, 2], mask=[0, 1])
np.array([True, False])
np.broadcast_to(1.0, (1099511627776,))
"""

_ACCEL = """
A
A.map
A.add
A.All
A.boundary
A.boundary.clamp
A.random
A.run
A.Maybe
A.Exp
A.Acc
A.Vector[np.float32]
A.constant(1)
A.constant(1.5)
A.constant(True)
A.constant(2, np.int8)
A.lift(1, 2.0)
A.lift()
A.index(1, 2)
A.index()
A.just(A.constant(1))
A.nothing()
A.unit(1)
A.unit(True)
A.use(np.arange(3))
A.use(np.ones(3))
A.use(np.ones((2, 3), np.float32))
A.use(np.zeros(0))
A.use(np.zeros((0, 3)))
A.use(np.array([True, False]))
A.use(np.array([1j, 2]))
A.use((np.ones(3), np.arange(3)))
A.use(np.ones((2, 1, 2)))
A.map(lambda x: A.just(x), A.use(np.arange(3)))
A.random.key(3)
(A.use(np.ones(3)), A.use(np.arange(2)))
A.runN(lambda xs: xs)
A.using(backend='llvm')
A.put(np.ones(3))
A.use(np.arange(3)).shape
A.use(np.arange(3))[7]
"""

_OBJECTS = """
W.Hostile()
W.Liar()
W.Compared()
W.Three(3)
W.forever()
W.deep()
W.circle()
W.Own
W
W.Hostile
(W.Hostile(), 1)
"""

WRONG = tuple(line for text in (_PLAIN, _FUNCTIONS, _NUMPY, _ACCEL, _OBJECTS) for line in text.splitlines() if line)
"""Expressions of `np`, `A` and `W`, which is this module."""

HUGE = ("2147483648", "1099511627776", "140737488355329", "4611686018427387904", "9223372036854775808", "'9' * 400")
"""What programs with one of these in them may compute for very long."""
