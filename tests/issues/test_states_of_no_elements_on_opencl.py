"""States of folds and scans have a value on OpenCL before their first element.

A fold of rows that might be empty had none; its check reports the empty row and goes on. From a division by what came out,
PoCL's compiler concluded that there are elements, and lost the bound of the loop around: 64 results were written in place of
7, and the heap broken. Found by the random programs.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import accel as A
from tests import untyped

Ints = A.Acc[A.Vector[np.int64]]
Rows = A.Acc[A.Matrix[np.int64]]


def divided(xs: Ints, rows: Rows) -> tuple[A.Acc[A.Vector[np.int32]], A.Acc[A.Scalar[np.int64]]]:
    """What follows the fold of each row divides by it; a fold of all of `xs` is in the same loop."""
    folded = A.fold1(lambda a, b: a ^ b, rows)
    quotients = A.zipWith(
        lambda x, q: A.quot(A.shiftR(A.cast(x, np.int32), -x), A.cond(q != 0, A.cast(q, np.int32), 0)), xs, folded
    )
    rotated = A.zipWith(lambda p, q: A.min(A.rotateL(p, q), p % 2) % p, quotients, folded)
    return rotated, A.fold(lambda a, b: a & b, 31, xs)


def scanned(xs: Ints, rows: Rows) -> tuple[Ints, A.Acc[A.Scalar[np.int64]], Ints]:
    """All other states without a seed."""
    return A.scanl1(A.add, xs), A.fold1(lambda a, b: a - b, xs), A.fold1(lambda a, b: a - b, rows)


@pytest.mark.parametrize("program", [divided, scanned], ids=lambda program: program.__name__)
def test_every_state_has_a_first_value(program: object) -> None:
    xs, rows = np.arange(-3, 4), np.arange(49).reshape(7, 7) % 5 - 2
    text = A.explain(program, xs, rows).stages["opencl"]
    assert "state0" in text
    assert not re.findall(r"^ +state\d+ \w+;$", text, re.MULTILINE)


@pytest.mark.opencl
def test_results_end_where_they_end() -> None:
    xs, rows = np.arange(-3, 4), np.arange(49).reshape(7, 7) % 5 - 2
    expected = A.runN(divided, backend="interpreter")(xs, rows)
    for _ in range(20):  # once the heap is broken, it is a matter of time
        for one, other in zip(untyped.runN(divided, backend="opencl")(xs, rows), expected, strict=True):
            np.testing.assert_array_equal(one, other)
