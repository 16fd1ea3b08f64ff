"""The minimum of 0 and an integer made from a float compiles.

Once: LLVM combined it to a conversion to an integer of no bits, and aborted the process. Found by the random programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A

# Any: each gives another integer type.
CASTS: dict[str, Callable[[A.Exp[np.float32]], A.Exp[Any]]] = {
    "np.uint8": lambda p: A.min(A.cast(p, np.uint8), A.constant(0, np.uint8)),
    "np.uint16": lambda p: A.min(A.constant(0, np.uint16), A.cast(p, np.uint16)),
    "np.uint32": lambda p: A.min(A.constant(0, np.uint32), A.cast(p, np.uint32)),
    "np.int32": lambda p: A.max(A.min(A.cast(p, np.int32), A.constant(0, np.int32)), A.constant(0, np.int32)),
    "quotient": lambda p: A.min(A.cast(p, np.uint16) // A.cast(p + 1, np.uint16), A.constant(0, np.uint16)),
}


@pytest.mark.parametrize("name", CASTS)
def test_minimum_of_zero_and_a_cast(name: str) -> None:
    xs = A.use(np.array([0.0, 3.5, 1e10, -2.0, np.nan] * 5, np.float32))
    assert A.run(A.map(CASTS[name], xs), backend="llvm").tolist() == [0] * 25
