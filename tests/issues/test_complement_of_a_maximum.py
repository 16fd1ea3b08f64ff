"""The complement of a maximum or minimum on OpenCL.

Intel's compiler for CPUs with AVX-512 loses complements in maxima, and of them, in code that it does not make vectors of,
however they are written. Found by the random programs, in a scatter and in a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped

# Any: one function for all integers.
CHOICES: dict[str, Callable[[A.Exp[Any], A.Exp[Any], A.Exp[Any]], A.Exp[Any]]] = {
    "complement of a maximum": lambda a, b, ones: ~A.max(a, b),
    "complement of a minimum": lambda a, b, ones: ~A.min(a, b),
    "complement of a choice": lambda a, b, ones: ~A.cond(a < b, b, a),
    "minimum of complements": lambda a, b, ones: A.min(~a, ~b),
    "minimum with all bits flipped": lambda a, b, ones: A.min(a, b ^ ones),
    "minimum with a difference from -1": lambda a, b, ones: A.min(a, ones - b),
    "maximum with a negated sum": lambda a, b, ones: A.max(-(b + 1), a),
    "maximum with a negation less 1": lambda a, b, ones: A.max(a, -b - 1),
    "choice of a difference from -1": lambda a, b, ones: A.cond(a < ones - b, a, ones - b),
    "choice of a negated sum": lambda a, b, ones: A.cond(-(b + 1) >= a, -(b + 1), a),
    "difference of a minimum from -1": lambda a, b, ones: ones - A.min(a, b),
    "choice, with something added": lambda a, b, ones: A.min(a, A.max(a, b) - b - 1),
    "complement within a count": lambda a, b, ones: A.cond(A.countTrailingZeros(A.max(a, b)) == 0, a, ~A.max(a, b)),
}


@pytest.mark.opencl
@pytest.mark.parametrize("kind", [np.uint64, np.int64, np.uint32, np.int32, np.int16, np.uint8])
def test_in_a_scatter(kind: type[np.integer[Any]]) -> None:
    values, places = np.array([2, 9, 4], kind), np.array([0, 2, 1])

    def program(xs: Any, to: Any) -> Any:  # Any: the same for all kinds of integers
        ones = A.constant(np.invert(kind(0)))
        chosen = [lambda a, b, choose=choose: choose(a, b, ones) for choose in CHOICES.values()]
        return tuple(A.scatterWith(choose, xs, A.zip(to, xs)) for choose in chosen)

    expected = untyped.runN(program, backend="interpreter")(values, places)
    found = untyped.runN(program, backend="opencl")(values, places)
    for name, one, other in zip(CHOICES, found, expected, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
