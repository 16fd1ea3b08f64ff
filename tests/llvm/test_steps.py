"""How much of a loop runs before a nest looks for signals: the sizes of steps, and how often whole programs look."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import accel as A
from accel import execution
from accel.backends.llvm.loops import steps
from accel.backends.llvm.loops.durations import FAR, Duration
from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES, host
from accel.backends.llvm.threads.pool import pool
from accel.calling import building
from accel.labelled.meaning.order import BLOCK
from accel.support import waiting
from accel.support.cache import Cache
from tests import untyped
from tests.marks import one_in
from tests.untyped import accel as U

pytestmark = pytest.mark.solver


@pytest.mark.parametrize(
    "each", [Duration(0.01, 0), Duration(0.02, 8), Duration(0.5, 4), Duration(70.0, 8), Duration(2e3, 0)]
)
def test_a_step_takes_some_milliseconds(each: Duration) -> None:
    longest, found = max(each.instructions, each.bytes / FAR), steps.iterations(each)
    assert found % BLOCK == 0
    assert found & (found - 1) == 0
    assert found == BLOCK or found * longest <= steps.STEP_TIME
    assert found == steps.MOST or 2 * found * longest > steps.STEP_TIME


ROWS, LENGTH = 3, 5 * BLOCK + 100
Host = np.ndarray[Any, Any]


def _saturated(x: Any, y: Any) -> Any:
    return A.min(x + y, 10_000.0)


def _counted(x: Any, y: Any) -> Any:
    return A.while_(lambda i: i < 0, lambda i: i + 1, x + y)


def _sums(x: Host) -> Host:
    return np.add.accumulate(x, -1)


CASES: Mapping[str, tuple[Callable[[Any], Any], Callable[[Host], Host], type, tuple[int, ...]]] = {
    "a fold in an order": (lambda x: U.fold(U.add, 0.0, x), lambda x: x.sum(-1), np.float32, (ROWS, LENGTH)),
    "a fold in any order": (lambda x: U.fold(U.max, -1, x), lambda x: x.max(-1), np.int32, (ROWS, LENGTH)),
    "a fold by a function": (
        lambda x: U.fold(_saturated, 0.0, x), lambda x: np.minimum(x.sum(-1), 10_000), np.float32, (ROWS, LENGTH),
    ),
    "a fold in scalars": (lambda x: U.fold(_counted, 0, x), lambda x: x.sum(-1), np.int64, (ROWS, LENGTH)),
    "a scan in an order": (lambda x: U.scanl1(U.add, x), _sums, np.float32, (ROWS, LENGTH)),
    "a scan in any order": (lambda x: U.scanl1(U.add, x), _sums, np.int32, (ROWS, LENGTH)),
    "a scan in scalars": (lambda x: U.scanl1(_counted, x), _sums, np.int64, (ROWS, LENGTH)),
    "places": (lambda x: U.argmax(x), lambda x: x.argmax(-1), np.float32, (ROWS, LENGTH)),
    "a search": (
        lambda x: U.or_(U.map(lambda v: v > 9_999, x)), lambda x: np.logical_or.reduce(x > 9_999, -1), np.float32,
        (ROWS, LENGTH),
    ),
    "rows of rows": (
        lambda x: U.fold(U.add, 0.0, U.fold(U.max, -1.0, x)), lambda x: x.max(-1).sum(-1), np.float32, (ROWS, 700, 30),
    ),
    "columns": (
        lambda x: U.transpose(U.scanl1(U.add, U.transpose(x))), lambda x: np.add.accumulate(x, 0), np.float32, (2000, 32),
    ),
    "one row for each of some": (
        lambda x: U.fold(U.add, 0.0, U.zipWith(U.mul, x, U.replicate((x.shape[0], U.All), U.fold(U.max, 0.0, U.transpose(x))))),
        lambda x: (x * x.max(0)).sum(-1), np.float32, (16, LENGTH),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, CASES))
def test_long_rows_look_once_for_each_step(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they come to is what it is without steps."""
    program, expected, type_, shape = CASES[name]
    monkeypatch.setattr(execution, "_REBUILT", Cache(1))  # what other tests have compiled looks elsewhere
    monkeypatch.setattr(building, "_COMPILED", Cache(1))
    monkeypatch.setattr(steps, "MOST", BLOCK)
    looks = ctypes.c_int64()
    library = load([host().compile(_COUNTING, quick=True)], ["accel_poll"], {"looks": ctypes.addressof(looks)})
    monkeypatch.setattr(pool(), "symbols", {**pool().symbols, "accel_poll": library.addresses["accel_poll"]})
    xs: Host = np.random.default_rng(5).integers(0, 2, shape).astype(type_)
    found = untyped.run(program(A.use(xs)), backend="llvm", threads=1)
    np.testing.assert_array_equal(found, expected(xs))
    rows = xs.reshape(-1, LENGTH) if shape[-1] == LENGTH else xs.reshape(1, -1)
    assert looks.value >= len(rows) * (rows.shape[1] // BLOCK - 1)


@pytest.mark.parametrize("type_", [np.int32, np.int64, np.float32])
def test_loops_in_vectors_that_look_keep_what_their_lanes_hold(type_: type[np.generic]) -> None:
    """Also above the lower half of a register: code that is called may clear that."""

    def counted(limit: Any) -> Any:
        return A.while_(lambda i: i < limit, lambda i: i + 1, A.constant(0, type_))

    limits = np.arange(300_000, 300_067).astype(type_)
    found = untyped.run(A.map(counted, A.use(limits)), backend="llvm", threads=1)
    np.testing.assert_array_equal(found, limits)


_COUNTING = f"""
@looks = external global i8
define i64 @accel_poll(ptr %stop) #0 {{
  %before = load i64, ptr @looks
  %after = add i64 %before, 1
  store i64 %after, ptr @looks
  ret i64 0
}}
{HOST_ATTRIBUTES}"""


def test_rows_that_are_known_to_be_short_have_no_steps() -> None:
    def program(xs: Any) -> Any:
        return A.scanl1(A.add, A.generate((A.length(xs), 100), lambda ix: A.indexHead(ix)))

    assert "accel_poll" not in A.explain(program, np.ones(3)).stages["llvm"]


@pytest.mark.parametrize("shape", [(), (0,), (7,), (1, 100), (33, 3), (3, 1, 50), (2, 0, 5)])
def test_copies_are_made_part_by_part(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LONG", 8)
    source = np.random.default_rng(6).random(shape)
    for given in (source, source.T):
        target = np.zeros(given.shape)
        waiting.copy(target, given)
        np.testing.assert_array_equal(target, given)


def test_long_work_raises_what_it_raises_and_ends_with_what_a_handler_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LONG", 8)
    made: list[int] = []
    waiting.interruptibly(8, lambda: made.append(1))
    assert made == [1]
    with pytest.raises(ZeroDivisionError):
        waiting.interruptibly(8, lambda: made.append(1 // 0))
