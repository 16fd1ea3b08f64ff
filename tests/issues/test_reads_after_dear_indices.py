"""A read waits for what its index is made of also where a cheap statement stands between, such as the check of the index.

Random programs found it (seed 8000790): the read stood in a phase before the one that makes its coordinates, and went by what
the stack held.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import accel as A
from tests import untyped

EXTENTS = (2, 1, 3, 2, 1, 2, 3, 2)


def _next(i: A.Exp[np.int64]) -> A.Exp[np.int64]:
    """i + 1, by an elementary function: such numbers have a phase of their own, and eight remainders another."""
    return i + A.truncate(A.exp(A.toFloating(i * 0, np.float64)), np.int64)


def test_coordinates_of_dear_numbers() -> None:
    data = np.arange(np.prod(EXTENTS)).reshape(EXTENTS)
    xs: Any = A.use(data)  # Any: mypy knows ranks up to 5
    coordinates: Any = A.unlift(xs.shape)
    line: Any = A.backpermute((600,), lambda ix: A.index(*[ix[0] % extent for extent in coordinates]), xs)
    found = untyped.run(A.backpermute((300,), lambda ix: A.index(_next(ix[0])), line))
    at = np.arange(300) + 1
    assert np.array_equal(found, data[tuple(at % extent for extent in EXTENTS)])
