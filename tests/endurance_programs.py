"""Small programs of which no two are the same, each with what NumPy makes of its array: for `tests.endurance`."""

from __future__ import annotations

from typing import Any

import numpy as np

import accel as A
from tests import untyped

COUNT = 8 * 120 * 5**4
"""So many there are: by element type, constant, and four operators."""

_TYPES = (np.float32, np.float64, np.int32, np.int64, np.int16, np.uint8, np.uint32, np.uint64)
_OPERATORS = ((A.add, np.add), (A.sub, np.subtract), (A.mul, np.multiply), (A.min, np.minimum), (A.max, np.maximum))
_KINDS = 7


def check(number: int) -> None:
    """Builds program `number`, runs it, and compares its result with NumPy's."""
    kind: Any = _TYPES[number % 8]  # Any: programs of all types
    constant = number // 8 % 120 + 1
    xs = np.arange(8).astype(kind)
    steps = [(_OPERATORS[number // 960 // 5**step % 5], kind(constant + step)) for step in range(4)]
    expected, program = xs, A.use(xs)
    for (_, apply), operand in steps:
        expected = apply(expected, operand)

    def computed(x: Any) -> Any:
        for (operator, _), operand in steps:
            x = operator(x, operand)
        return x

    ys: Any = A.map(computed, program)
    match number % _KINDS:
        case 0:
            ys, expected = A.scanl1(A.add, ys), np.add.accumulate(expected, dtype=kind)
        case 1:
            ys, expected = A.fold(A.max, kind(0), ys), np.maximum.reduce(expected, initial=kind(0))
        case 2:
            ys, expected = A.fold(A.add, kind(0), ys), np.add.reduce(expected, dtype=kind)
        case 3:
            ys, expected = A.zipWith(A.add, ys, program), expected + xs
        case 4:
            ys, expected = A.reverse(ys), expected[::-1]
    # Sums of floats may be taken in another order.
    np.testing.assert_allclose(untyped.run(ys), expected, rtol=1e-5)
