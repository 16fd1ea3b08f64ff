"""`A.random` of a program, by NumPy's generator."""

from __future__ import annotations

from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.differential.oracle.arrays import Array, extents_of, known
from tests.differential.oracle.values import Data, Fault, Value

CHILDREN = 1 << 61
"""The counter before the first that makes keys."""


def _generator(key: int, shape: object) -> tuple[np.random.Philox, int]:
    return np.random.Philox(key=key), prod(extents_of(shape))


def _split(key: int, count: int) -> tuple[int, ...]:
    bits = np.random.Philox(key=key, counter=CHILDREN).random_raw(2 * count).tolist()
    return tuple(low + (high << 64) for low, high in zip(bits[::2], bits[1::2], strict=True))


def _made(shape: object, data: Data) -> Array:
    return known(lambda: extents_of(shape), lambda: Value(data), "random")


def _bits(key: int, shape: object) -> Array:
    generator, count = _generator(key, shape)
    return _made(shape, generator.random_raw(count))


def _uniform(key: int, shape: object, dtype: Any) -> Array:  # Any: a class of NumPy
    generator, count = _generator(key, shape)
    return _made(shape, np.random.Generator(generator).random(count, dtype=dtype))


def _integers(key: int, shape: object, low: int, high: int) -> Array:
    generator, count = _generator(key, shape)
    words = generator.random_raw(count).tolist()
    return _made(shape, np.array([low + (word * (high - low) >> 64) for word in words], np.int64))


def _normal(key: int, shape: object, dtype: Any) -> Array:  # Any: as for `_uniform`
    """None: NumPy has other normal numbers (docs/random.md)."""

    def elements() -> Value:
        raise Fault("normal")

    return known(lambda: extents_of(shape), elements, "normal")


RANDOM = SimpleNamespace(
    key=lambda seed: seed, split=_split, bits=_bits, uniform=_uniform, integers=_integers, normal=_normal
)
"""The functions by their names."""
