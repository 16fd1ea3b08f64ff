"""Rows of results that go past the caches and begin inside of a line: elements before the first whole one come under a mask."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.machine.processor import Processor, Registers
from accel.backends.llvm.machine.system import system
from accel.backends.llvm.threads.pool_text import pool_text
from accel.backends.llvm.threads.run_text import alone_text
from tests.llvm.processors import compile_for, compiled_texts, processor

Given = np.ndarray[Any, Any]
Program = Callable[[Any], Any]

PROCESSORS = {
    "host": processor(cached_bytes=1),
    "32 bytes": processor(cached_bytes=1, registers=Registers(32, 16), has_avx512=False, has_avx512dq=False),
}


def row_added(xs: Any) -> Any:
    """The first row, added to all."""
    return A.generate(xs.shape, lambda i: xs[i[0], i[1]] + xs[0, i[1]])


def around(xs: Any) -> Any:
    """Neighbours in both directions: rows have an inside and edges."""
    return A.stencil(lambda n: n(-1, 0) + n(1, 0) + n(0, -2) + n(0, 1) - n(0, 0), A.boundary.clamp, xs)


def beside(xs: Any) -> Any:
    """Rows in two pieces."""
    return A.concatOn(1, xs, xs)


def framed(xs: Any) -> Any:
    """Rows in three pieces, longer than those that are read."""
    rows, columns = A.unlift(xs.shape)
    return A.generate(
        (rows, columns + 2), lambda i: A.cond((i[1] > 0) & (i[1] <= columns), xs[i[0], i[1] - 1], xs[0, 0] * 0 + 7)
    )


def less_their_sums(xs: Any) -> Any:
    """A fold of each row before the row is written."""
    sums = A.sum(xs)
    return A.generate(xs.shape, lambda i: xs[i[0], i[1]] - sums[i[0]])


def running(xs: Any) -> Any:
    """Scans of rows: their vectors stand where the order has them."""
    return A.scanl1(A.add, xs)


def running_down(xs: Any) -> Any:
    """Scans of columns, whose rows are written eight at a time."""
    return A.transpose(A.scanl1(A.add, A.transpose(xs)))


def before_and_after(xs: Any) -> Any:
    """What a row comes to before each element, from its end on, and two results of one scan."""
    sums = A.scanl1(A.add, xs)
    return A.scanr1(A.add, xs), A.zipWith(A.add, sums, xs), sums


def from_the_end(xs: Given) -> Given:
    """Running sums of rows from their ends."""
    found: Given = np.cumsum(xs[:, ::-1], 1, dtype=xs.dtype)[:, ::-1]
    return found


def both(xs: Any) -> Any:
    """Two results, of which one has narrower elements."""
    return A.zipWith(lambda x, y: A.lift(x + y, x > y), xs, A.reverseOn(0, xs))


def clamped(xs: Given, rows: int, columns: int) -> Given:
    """`xs` so far away, its last rows and columns repeated."""
    row = np.clip(np.arange(xs.shape[0]) + rows, 0, xs.shape[0] - 1)
    column = np.clip(np.arange(xs.shape[1]) + columns, 0, xs.shape[1] - 1)
    found: Given = xs[row][:, column]
    return found


def neighbours(xs: Given) -> Given:
    """As `around`."""
    found: Given = clamped(xs, -1, 0) + clamped(xs, 1, 0) + clamped(xs, 0, -2) + clamped(xs, 0, 1) - xs
    return found


CASES: dict[str, tuple[Program, Callable[[Given], Any]]] = {
    "a row": (row_added, lambda xs: xs + xs[0]),
    "neighbours": (around, neighbours),
    "pieces": (beside, lambda xs: np.concatenate([xs, xs], 1)),
    "a frame": (framed, lambda xs: np.pad(xs, ((0, 0), (1, 1)), constant_values=7)),
    "sums": (less_their_sums, lambda xs: xs - xs.sum(1, keepdims=True, dtype=xs.dtype)),
    "scans": (running, lambda xs: np.cumsum(xs, 1, dtype=xs.dtype)),
    "scans of columns": (running_down, lambda xs: np.cumsum(xs, 0, dtype=xs.dtype)),
    "several": (
        before_and_after,
        lambda xs: (from_the_end(xs), np.cumsum(xs, 1, dtype=xs.dtype) + xs, np.cumsum(xs, 1, dtype=xs.dtype)),
    ),
    "two": (both, lambda xs: (xs + xs[::-1], xs > xs[::-1])),
}


@pytest.fixture(params=PROCESSORS, autouse=True)
def given(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Processor:
    """Every result goes past the caches."""
    found = PROCESSORS[request.param]
    compile_for(monkeypatch, found)
    return found


@pytest.mark.llvm
@pytest.mark.parametrize("width", [5, 16, 255, 257, 519, 1031, 9001])
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("case", CASES)
def test_rows_of_any_width(case: str, kind: type[np.number[Any]], width: int) -> None:
    """Rows begin everywhere in lines, and are the same on several threads. Floats are integers, whose sums are exact."""
    program, expected = CASES[case]
    xs = np.random.default_rng(width).integers(-99, 99, (37, width)).astype(kind)
    for threads in (1, 3):
        found = A.runN(program, backend="llvm", threads=threads)(xs)
        for mine, theirs in zip(
            *([each] if isinstance(each, np.ndarray) else each for each in (found, expected(xs))), strict=True
        ):
            assert mine.dtype == theirs.dtype
            assert (mine == theirs).all()


@pytest.mark.llvm
def test_whole_lines_go_past_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are such stores, of which each is aligned, or the process would end, and what they begin with is computed."""
    monkeypatch.setenv("ACCEL_CACHE_DIR", "")
    texts = compiled_texts(monkeypatch)
    xs = np.arange(9 * 515, dtype=np.int32).reshape(9, 515)
    assert (A.runN(row_added, backend="llvm")(xs) == xs + xs[0]).all()
    (body,) = [text for text in texts if "nontemporal" in text and "_body(" in text]
    before = re.search(r"(%v\d+) = sub i64 0, %v\d+\n  (%v\d+) = and i64 \1, (?:63|31)\n", body)
    assert before is not None
    assert f"udiv i64 {before[2]}, 4" in body


@pytest.mark.parametrize("x86", [True, False])
def test_other_threads_see_what_went_past_the_caches(x86: bool) -> None:
    """Such stores come in no order with others: each thread has a fence behind its part of a job, before it says that."""
    fence = "call void @llvm.x86.sse.sfence()" if x86 else "fence seq_cst"
    text = pool_text(system(), 202, x86=x86)
    (worker,) = (part for part in text.split("define ") if "@drain(i64 %me, ptr null)" in part)
    assert f"@drain(i64 %me, ptr null)\n  {fence}\n  br label %leave\nleave:\n  %after = atomicrmw" in worker
    for run in (text, alone_text(system(), x86=x86)):
        (caller,) = (part for part in run.split("define ") if part.startswith("i64 @accel_run("))
        assert re.search(rf"done:\n  %stop = phi .*\n  {re.escape(fence)}\n(.*\n)*  ret i64 %result", caller)


@pytest.mark.llvm
def test_an_index_out_of_bounds_is_that_of_the_same_element() -> None:
    """It is found under the mask, too, and nothing is read there."""
    xs = np.arange(9 * 515, dtype=np.int32).reshape(9, 515)
    at = np.zeros((9, 515), np.int64)
    at[4, 2] = 515
    program = A.runN(lambda xs, at: A.generate(xs.shape, lambda i: xs[i[0], at[i[0], i[1]]]), backend="llvm", threads=1)
    assert (program(xs, at * 0) == xs[:, :1]).all()
    with pytest.raises(A.AccelIndexError, match=r"\(4, 515\)"):
        program(xs, at)
