"""Elements of one byte or two wherever they stand, and one component of short rows: flush against unreadable pages."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from tests import untyped
from tests.guard_pages import guarded_copy

pytestmark = pytest.mark.llvm

Host = np.ndarray[Any, np.dtype[Any]]
NARROW = [kind for kind in ScalarType if kind.bytes <= 2]


def elements(kind: ScalarType, *shape: int) -> Host:
    return np.random.default_rng(shape[-1]).integers(0, 2 if kind is ScalarType.BOOL else 100, shape).astype(kind.dtype)


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("kind", NARROW)
def test_narrow_elements(kind: ScalarType, at_end: bool) -> None:
    """By places of 64 bits, of 32 and of 8, in vectors and matrices, that begin anywhere in a word."""
    random = np.random.default_rng(3)
    by_place = untyped.runN(lambda at, xs: A.map(lambda i: xs[A.cast(i, np.int64)], at))
    by_two = untyped.runN(lambda at, m: A.map(lambda i: m[A.index(i // 7, i % 7)], at))
    some = untyped.runN(lambda at, xs: A.map(lambda i: A.cond(i % 3 > 0, xs[A.abs(i)], xs[0]), at))
    for begin, at_type in product(range(4), (np.int64, np.int32, np.uint8)):
        xs = guarded_copy(at_end, elements(kind, 203))[begin : 203 - begin]
        at = random.integers(0, len(xs), 301).astype(at_type)
        at[0], at[-1] = len(xs) - 1, 0
        np.testing.assert_array_equal(by_place(at, xs), xs[at])
        np.testing.assert_array_equal(some(at.astype(np.int64), xs), np.where(at % 3 > 0, xs[at], xs[0]))
    m = guarded_copy(at_end, elements(kind, 5, 7))
    at = random.integers(0, 35, 301)
    np.testing.assert_array_equal(by_two(at, m), m.ravel()[at])


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("kind", [*NARROW, ScalarType.F32, ScalarType.I64])
def test_a_component_of_rows(kind: ScalarType, at_end: bool) -> None:
    """Rows of any number of elements have the same code."""
    last = untyped.runN(lambda m: A.generate((A.shape(m)[0],), lambda ix: m[ix[0], 1]))
    of_pixels = untyped.runN(lambda m: A.generate((A.shape(m)[0], A.shape(m)[1]), lambda ix: m[ix[0], ix[1], 1]))
    for width, rows in product((2, 3, 4, 5), (1, 31, 70, 301)):
        m = guarded_copy(at_end, elements(kind, rows, width))
        np.testing.assert_array_equal(last(m), m[:, 1])
        pixels = guarded_copy(at_end, elements(kind, 3, rows, width))
        np.testing.assert_array_equal(of_pixels(pixels), pixels[..., 1])
