"""Programs that sort as compiled calls: the short way, what interrupts it, and what it does not take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel import execution
from accel.backends.sorting import sort_into
from tests import untyped

Given = Any  # functions and arrays of all types

RANDOM = np.random.default_rng(3)

PROGRAMS: dict[str, Callable[..., Given]] = {
    "sort": lambda xs: A.sort(xs),
    "argsort": lambda xs: A.argsort(xs),
    "the greatest": lambda xs: A.topK(3, xs),
    "the first places": lambda xs: A.take(2, A.argsort(xs)),
    "by pairs": lambda xs: A.sortBy(lambda x: A.lift(A.cast(x, np.int64) % 3, -x), xs),
    "several, between maps": lambda xs: (
        A.map(lambda x: x + 1, A.sort(A.map(A.abs, xs))),
        A.sum(A.sort(xs)),
        A.argsort(xs),
    ),
    "of a result": lambda xs: A.sort(A.scanl1(A.add, A.sort(xs))),
}
"""What is computed has the same bits everywhere."""

SHAPES = [(5,), (1,), (100,), (3, 7), (2, 300), (2100,), (3, 2500), (0,), (4, 0), (0, 4)]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with each call that takes the long way."""
    calls: list[int] = []
    general = execution.RunN._general

    def counting(self: Given, *args: object) -> object:
        calls.append(1)
        return general(self, *args)

    monkeypatch.setattr(execution.RunN, "_general", counting)
    return calls


def same_bits(found: Given, wanted: Given) -> None:
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            same_bits(one, other)
        return
    assert (found.dtype, found.shape, found.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kind", [np.float32, np.int64, np.float16])
def test_the_short_way(counted: list[int], name: str, kind: type[np.generic]) -> None:
    """Rows of few and of many elements, with equal ones, zeros of both signs and NaNs, to the interpreter's bits."""
    function = untyped.runN(PROGRAMS[name])
    meant = untyped.runN(PROGRAMS[name], backend="interpreter")
    for shape in SHAPES if "first" not in name else SHAPES[:7]:
        given = RANDOM.integers(-4, 5, shape).astype(kind)
        if given.dtype.kind == "f" and given.size:
            given[given == 1] = -0.0
            if kind is np.float32 and name != "by pairs":
                given[..., -1] = np.nan
        if name == "the greatest" and shape[-1] < 3:
            continue
        wanted = meant(given)
        function(given), function(given)
        before = len(counted)
        same_bits(function(given), wanted)
        assert len(counted) == before


def test_rows_with_gaps_and_apart() -> None:
    ordered = untyped.runN(lambda xs: (A.sort(xs), A.argsort(xs)))
    whole = RANDOM.random((6, 5000))
    for _ in range(4):
        for given in (whole[::2], whole[:, :40], whole[:, 7:3000], whole[:, ::2], whole[::-1, ::-1], whole.T[:50]):
            same_bits(ordered(given), (np.sort(given, -1), np.argsort(given, -1, kind="stable")))


def test_no_memory_is_said_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = untyped.runN(lambda xs: A.sort(xs))
    xs = RANDOM.random(9)
    for _ in range(3):
        ordered(xs)

    def fails(*given: object) -> None:
        raise MemoryError

    with monkeypatch.context() as within:
        for module in ("accel.backends.llvm.sorting.rows", "accel.backends.sorting"):
            within.setattr(f"{module}.sort_into", fails)
        with pytest.raises(A.AccelMemoryError, match=r"test_sorts_in_calls\.py"):
            ordered(xs)
    same_bits(ordered(xs), np.sort(xs))


def test_an_interrupt_ends_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = untyped.runN(lambda xs: A.map(lambda x: x + 1, A.sort(xs)))
    xs = RANDOM.random(9)
    for _ in range(3):
        ordered(xs)

    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as within:
        within.setattr("accel.backends.llvm.sorting.rows.sort_into", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ordered(xs)
    same_bits(ordered(xs), np.sort(xs) + 1)


def test_a_call_within_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a signal handler calls while rows are sorted, the same function as well, disturbs nothing."""
    ordered = untyped.runN(lambda xs: A.map(lambda x: x + 1, A.sort(xs)))
    xs, ys = RANDOM.random(9), RANDOM.random(9)
    for _ in range(3):
        ordered(xs)
    inner: list[Given] = []

    def calls(*given: Given) -> None:
        if not inner:
            inner.append(None)
            inner[0] = ordered(ys)
        sort_into(*given)

    monkeypatch.setattr("accel.backends.llvm.sorting.rows.sort_into", calls)
    same_bits(ordered(xs), np.sort(xs) + 1)
    same_bits(inner[0], np.sort(ys) + 1)
