"""How long nests are estimated to take, and whom jobs of such lengths wake."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.loops import durations, nest
from accel.backends.llvm.loops.chunks import SOME, average
from accel.backends.llvm.loops.durations import FAR, NEAR, NEAR_BYTES, Duration
from accel.backends.llvm.machine.loading import Library, load
from accel.backends.llvm.machine.processor import LINE
from accel.backends.llvm.machine.system import system
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES, host
from accel.backends.llvm.states.analysis import NestPlan
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.threads.pool import pool
from accel.backends.llvm.threads.pool_text import LONG
from accel.ir.nodes import Nest


def compiled(text: str, imports: dict[str, int] | None = None) -> tuple[Library, int]:
    library = load([host().compile(f"{text}\n{HOST_ATTRIBUTES}", quick=True)], ["f"], imports or {})
    return library, library.addresses["f"]


def test_the_longer_of_instructions_and_bytes() -> None:
    for duration in (Duration(0.5, 8), Duration(0.2, 8), Duration(0.01, 8), Duration(3.0, 0)):
        code = Code(1)
        result = duration.of(code, "%iterations")
        body = "\n".join(code.lines)
        library, address = compiled(f"define double @f(double %iterations) #0 {{\n{body}\n  ret double {result}\n}}")
        function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)
        for iterations in (0.0, 1.0, 1e3, NEAR_BYTES / 8, NEAR_BYTES / 8 + 1, 1e9, 1e30):
            moved = iterations * duration.bytes
            expected = max(iterations * duration.instructions, moved / (NEAR if moved <= NEAR_BYTES else FAR))
            assert function(iterations) == pytest.approx(expected)
        del library


def found(monkeypatch: pytest.MonkeyPatch, program: Callable[..., object], *arrays: np.ndarray) -> list[Duration]:
    """The durations of a program's nests."""
    seen: list[Duration] = []

    def noted(of: Nest, plan: NestPlan) -> Duration:
        seen.append(durations.duration(of, plan))
        return seen[-1]

    monkeypatch.setattr(nest, "duration", noted)
    A.explain(program, *arrays).stages["llvm"]
    return seen


def test_bytes_and_instructions_of_nests(monkeypatch: pytest.MonkeyPatch) -> None:
    size, places = 4, np.zeros(10, np.int64)
    xs = np.ones(10, np.float32)

    def one(program: Callable[..., object], *arrays: np.ndarray) -> Duration:
        return found(monkeypatch, program, *arrays)[0]

    copied = one(lambda ys: A.map(lambda y: y + 1, ys), xs)
    assert copied.bytes == 2 * size
    assert one(lambda ys, zs: A.fold(A.add, 0, A.zipWith(A.mul, ys, zs)), xs, xs).bytes == 2 * size
    assert one(A.gather, places, xs).bytes == 8 + LINE + size
    divided = one(lambda ys: A.map(lambda y: 1 / y, ys), xs)
    assert divided.instructions > 2 * copied.instructions
    assert one(lambda ys: A.map(A.exp, ys), xs).instructions > 3 * copied.instructions
    assert one(lambda ys: A.scanl1(A.add, ys), xs).instructions > copied.instructions
    kept = one(
        lambda ys: A.fold1(lambda a, b: A.cond(b[0] > a[0], b, a), A.zip(ys, ys)), xs
    )  # stored until they fill a block
    assert kept.instructions > 4 * copied.instructions


def test_elements_of_segments_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is gathered for them does not."""
    lengths, columns, xs = np.ones(10, np.int64), np.zeros(10, np.int64), np.ones(10, np.float32)
    assert found(monkeypatch, lambda ys, ns: A.foldSeg(A.add, 0, ys, ns), xs, lengths)[0].bytes == 4
    rows = found(monkeypatch, lambda ys, ns: A.foldSeg(A.add, 0, ys, ns), np.ones((3, 10), np.float32), lengths)
    assert rows[-1].bytes == 4
    sparse = found(monkeypatch, lambda ys, at, ns: A.foldSeg(A.add, 0, A.gather(at, ys), ns), xs, columns, lengths)
    assert sparse[0].bytes == 8 + LINE


def test_segments_have_as_many_elements_as_they_have_on_the_average() -> None:
    """Nothing is assumed of them, as it is of loops whose length is any other number that a loop finds out."""
    xs, lengths = np.ones(10, np.float32), np.ones(10, np.int64)
    text = str(A.explain(lambda ys, ns: A.foldSeg(A.add, 0, ys, ns), xs, lengths).stages["llvm"])
    assert "fdiv double" in text
    assert f"{SOME:e}" not in text


def test_the_average_of_no_segments_is_a_number() -> None:
    """By it time is multiplied: what takes no time is not shared among threads, which must have something to do."""
    code = Code(1)
    result = average(code, "%elements", "%segments")
    head, body = "define double @f(double %elements, double %segments) #0 {", "\n".join(code.lines)
    library, address = compiled(f"{head}\n{body}\n  ret double {result}\n}}")
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(address)
    cases = ((0, 0), (10, 0), (10, 1), (3, 2), (1, 2), (0, 2))
    assert [function(*case) for case in cases] == [1, 10, 10, 1.5, 1, 1]
    del library


def test_loops_of_scalars_count_as_often_as_they_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def turned(count: int) -> Duration:
        def element(x: A.Exp[np.float32]) -> A.Exp[np.float32]:
            return A.iterate(count, lambda y: y * x + 1, x)

        return found(monkeypatch, lambda ys: A.map(element, ys), np.ones(10, np.float32))[0]

    few, many = turned(100), turned(1000)
    assert 5 * few.instructions < many.instructions < 10 * few.instructions

    def halved(x: A.Exp[np.float32]) -> A.Exp[np.float32]:
        return A.while_(lambda y: y > 1, lambda y: y / 2, x)

    unknown = found(monkeypatch, lambda ys: A.map(halved, ys), np.ones(10, np.float32))[0]
    assert (
        unknown.instructions
        > found(monkeypatch, lambda ys: A.map(lambda y: y / 2, ys), np.ones(10, np.float32))[0].instructions
    )


def test_chunks_of_long_iterations_have_few() -> None:
    assert Duration(0.01, 4).light(64, 4096) == 4096
    assert Duration(2.0, 4).light(64, 4096) == 1024
    assert Duration(1e6, 4).light(64, 4096) == 64


def _workers() -> dict[str, int]:
    """How often each thread of this process went to sleep, but this one, by number."""
    counts = {}
    for task in Path("/proc/self/task").iterdir():
        if int(task.name) != os.getpid():
            lines = (task / "status").read_text(encoding="ascii").splitlines()
            counts[task.name] = next(int(line.split()[1]) for line in lines if line.startswith("voluntary"))
    return counts


@pytest.mark.skipif(system().futex is None, reason="there is no pool")
def test_short_jobs_wake_nobody_unless_they_come_in_a_row() -> None:
    library, address = compiled(
        """
declare i64 @accel_run(ptr, ptr, i64, i64, i64, double)
define internal void @nothing(ptr %frame, i64 %low, i64 %high) #0 {
  ret void
}
define i64 @f(double %time) #0 {
  %frame = alloca [8 x i64]
  store i64 0, ptr %frame
  %outcome = call i64 @accel_run(ptr @nothing, ptr %frame, i64 2, i64 1, i64 2, double %time)
  ret i64 %outcome
}""",
        dict(pool().symbols),
    )
    run = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_double)(address)

    def slept() -> dict[str, int]:
        """Once all workers sleep, which on a busy machine takes a while."""
        before: dict[str, int] = {}
        while before != (now := _workers()):
            before = now
            time.sleep(0.02)
        return now

    def wakes(*times: float) -> bool:
        before = slept()
        for each in times:
            assert run(each) == 0
        return slept() != before

    run(LONG)  # starts a worker, if there was none
    assert not any(wakes(LONG / 2) for _ in range(5))
    # On a busy machine a job may come late.
    assert any(wakes(*[LONG / 2] * 10) for _ in range(50))
    assert any(wakes(LONG) for _ in range(50))
    del library
