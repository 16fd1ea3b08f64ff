"""Values of programs by the reference interpreter of the next stage, for tests of what combinators mean."""

from __future__ import annotations

from typing import Any

import numpy as np

import accel as A
from accel.ast.tree.leaves import to_host
from accel.backends.protocol import HostArray
from accel.labelled.construction.build import build
from accel.labelled.meaning.interpret import interpret


def values(*arrays: A.Acc[Any]) -> list[HostArray]:
    """The arrays of a program, one per leaf."""
    built = build([array.node for array in arrays], ())
    return interpret(built.program, [to_host(leaf) for constant in built.constants for leaf in constant.data])


def value(array: A.Acc[Any]) -> HostArray:
    """The one array of a program."""
    (result,) = values(array)
    return result


def check(array: A.Acc[Any], expected: object) -> None:
    """The program's value is `expected`, of the same shape and, if that is an array, dtype; its known extents are right."""
    result = value(array)
    wanted = np.asarray(expected)
    assert result.shape == wanted.shape
    if isinstance(expected, np.ndarray):
        assert result.dtype == wanted.dtype
    np.testing.assert_array_equal(result, wanted)
    assert len(array.extents) == result.ndim
    assert all(known in (None, actual) for known, actual in zip(array.extents, result.shape, strict=True))
