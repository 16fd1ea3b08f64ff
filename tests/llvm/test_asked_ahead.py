"""Loops in vectors that ask the caches for what comes later: what they ask for, and that no result depends on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.llvm.processors import changed, compile_for, compiled_texts

pytestmark = pytest.mark.llvm

Column = A.Acc[A.Vector[np.float32]]

FAR = 4096


def asked(
    patch: pytest.MonkeyPatch, ahead: int, program: Callable[..., Any], *arguments: np.ndarray[Any, Any]
) -> tuple[int, Any]:
    """How many lines the program asks for in its text, and what it gives."""
    compile_for(patch, changed(asked_ahead=ahead))
    with patch.context() as within:
        within.setenv("ACCEL_CACHE_DIR", "")
        texts = compiled_texts(within)
        found = A.runN(program, backend="llvm", threads=1)(*arguments)
    return sum(text.count("call void @llvm.prefetch") for text in texts), found


def doubled(xs: Column) -> Column:
    return A.map(lambda x: x + x, xs)


def squared(xs: Column) -> Column:
    return A.zipWith(A.mul, xs, xs)


def from_the_right(xs: Column) -> Column:
    return A.scanr1(A.add, xs)


def neighbours(xs: Column) -> Column:
    return A.stencil(lambda n: n(-1) + n(0) + n(1), A.boundary.clamp, xs)


@pytest.mark.parametrize("program", [doubled, squared, from_the_right])
def test_bits_are_the_same(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for count in (1, 63, 1000, 5000):
        xs = np.arange(1, count + 1, dtype=np.float32)
        (none, expected), (some, found) = (asked(monkeypatch, ahead, program, xs) for ahead in (0, FAR))
        assert none == 0
        assert some > 0
        assert found.tobytes() == expected.tobytes()


def test_an_array_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    xs = np.ones(1000, np.float32)
    assert asked(monkeypatch, FAR, squared, xs)[0] == asked(monkeypatch, FAR, doubled, xs)[0]


def test_neighbours_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, FAR, neighbours, np.ones(1000, np.float32))[0] == 0


@pytest.mark.parametrize(("dtype", "lines"), [("uint8", 2), ("int16", 4), ("int32", 4), ("int64", 4)])
def test_vectors_share_lines(dtype: str, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four vectors stand side by side, of 32 bytes if elements are bytes, else of 64."""
    assert asked(monkeypatch, FAR, lambda xs: A.fold(A.max, 0, xs), np.ones(1000, dtype))[0] == lines
