"""The complement of a maximum or minimum on OpenCL.

Intel's compiler for CPUs with AVX-512 loses complements of maxima in code that it does not make vectors of. Found by the
random programs, in a scatter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A

# Any: one function for all integers.
CHOICES: dict[str, Callable[[A.Exp[Any], A.Exp[Any]], A.Exp[Any]]] = {
    "complement of a maximum": lambda a, b: ~A.max(a, b),
    "complement of a minimum": lambda a, b: ~A.min(a, b),
    "complement of a choice": lambda a, b: ~A.cond(a < b, b, a),
    "minimum of complements": lambda a, b: A.min(~a, ~b),
    "complement within a count": lambda a, b: A.cond(A.countTrailingZeros(A.max(a, b)) == 0, a, ~A.max(a, b)),
}


@pytest.mark.parametrize("kind", [np.uint64, np.int64, np.uint32, np.int32, np.int16, np.uint8])
def test_in_a_scatter(kind: type[np.integer[Any]]) -> None:
    values, places = np.array([2, 9, 4], kind), np.array([0, 2, 1])

    def program(xs: Any, to: Any) -> Any:  # Any: the same for all kinds of integers
        return tuple(A.scatterWith(choose, xs, A.zip(to, xs)) for choose in CHOICES.values())

    expected = A.runN(program, backend="interpreter")(values, places)
    found = A.runN(program, backend="opencl")(values, places)
    for name, one, other in zip(CHOICES, found, expected, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
