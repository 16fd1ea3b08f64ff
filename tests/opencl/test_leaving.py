"""A call may end while the device is still at work: by an error, by Ctrl-C anywhere, or since nobody asks for what is left.

From then on the caller may free what the call was given, and the next call takes the buffers that this one had.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.opencl.backend import memory
from accel.backends.opencl.machine import memory as machine_memory
from accel.backends.opencl.machine import sizes, staging
from accel.backends.opencl.machine.devices import device
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.machine.sizes import Leaving
from tests.marks import one_in
from tests.opencl.platforms import ROWS, each_platform

if TYPE_CHECKING:
    from _typeshed import TraceFunction

pyopencl = pytest.importorskip("pyopencl")

Floats: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]

N = 1 << 13


def arguments() -> tuple[Floats, Floats]:
    """An array that processors use where it lies, and the one that has its memory."""
    whole = np.arange(N + 64.0)
    start = -whole.ctypes.data % 128 // 8
    return whole[start : start + N], whole


def twice(xs: Any) -> Any:
    """A nest by itself, which cannot fail."""
    return A.compute(A.map(lambda x: x * 2, xs))


def compiled(program: Callable[..., Any], platform: str) -> Any:
    """None of its nests is fused with another."""
    return A.runN(program, backend=f"opencl:{ROWS[platform]}", strategy="none")


def of_another_size(platform: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Floats], object]:
    return compiled(lambda xs: A.reshape(A.index(7, 3), twice(xs)), platform)  # type: ignore[no-any-return]  # a function


def of_nothing(platform: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Floats], object]:
    run, none = compiled(lambda xs, places: A.gather(places, twice(xs)), platform), np.zeros(0, np.int64)
    return lambda xs: run(xs, none)


def failing(
    name: str, error: type[BaseException], **how: bool
) -> Callable[[str, pytest.MonkeyPatch], Callable[[Floats], object]]:
    """A program at whose end a method of the memory fails."""

    def made(platform: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Floats], object]:
        run = compiled(lambda xs: A.map(lambda x: x + 1, twice(xs)), platform)

        def fail(*_: object) -> object:
            raise error

        def call(xs: Floats) -> object:
            with monkeypatch.context() as patch:
                patch.setattr(Memory, name, fail)
                return run(xs, **how)

        return call

    return made


WAYS = {
    "sizes differ": of_another_size,
    "nothing is asked for": of_nothing,
    "no memory for what is kept": failing("settled", MemoryError, keep=True),
    "Ctrl-C before what is kept": failing("settled", KeyboardInterrupt, keep=True),
    "Ctrl-C before results": failing("download", KeyboardInterrupt),
}


@contextlib.contextmanager
def closed(on: Memory) -> Iterator[threading.Event]:
    """The device begins with nothing until this is set, which it is soon."""
    begin, begun = pyopencl.UserEvent(on.context), threading.Event()

    def start() -> None:
        begun.set()
        begin.set_status(pyopencl.command_execution_status.COMPLETE)

    on.enqueued("its work", lambda: pyopencl.enqueue_barrier(on.queue, wait_for=[begin]))
    timer = threading.Timer(0.1, start)
    timer.start()
    yield begun
    timer.join()
    on.finish()


def see(begun: threading.Event, freed: list[bool]) -> None:
    """Called when an array is freed."""
    freed.append(begun.is_set())


@each_platform
@pytest.mark.parametrize("way", WAYS)
def test_no_argument_is_freed_before_it_was_read(platform: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on, call = memory(ROWS[platform]), WAYS[way](platform, monkeypatch)
    if not on.unified:
        pytest.skip("the device has copies")
    for _ in range(3):  # the first time it is compiled
        with closed(on) as begun:
            freed: list[bool] = []
            xs, whole = arguments()
            weakref.finalize(whole, see, begun, freed)
            del whole
            with contextlib.suppress(A.AccelError, KeyboardInterrupt):
                call(xs)
            left = begun.is_set()
            del xs
            gc.collect()
        assert left
        assert freed == [True]


@each_platform
def test_an_argument_stays_that_is_dropped_too_early(platform: str) -> None:
    """If the wait for the kernels was interrupted, too."""
    on = Memory(device(ROWS[platform]), ROWS[platform])
    xs, whole = arguments()
    held = on.upload(xs)
    if held.stays:
        pytest.skip("the device has copies")
    with closed(on) as begun:
        freed: list[bool] = []
        weakref.finalize(whole, see, begun, freed)
        del whole, xs, held
        gc.collect()
        assert freed == []
    assert freed == [True]


class Interrupt:
    """Raises `KeyboardInterrupt` before an instruction of Python's in the code of some files, as Ctrl-C does between two."""

    def __init__(self, at: int, files: tuple[str, ...]) -> None:
        self._left = at
        self._files = files
        self.came = False

    def __enter__(self) -> Interrupt:
        self._before = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        sys.settrace(self._before)
        return kind is KeyboardInterrupt

    def _enter(self, frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        if not frame.f_code.co_filename.endswith(self._files):
            return None
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, frame: FrameType, event: str, argument: object) -> TraceFunction:
        if event == "opcode":
            self._left -= 1
            if self._left == 0:
                self.came = True
                raise KeyboardInterrupt
        return self._step


EACH = 16


@each_platform
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it may come to a finaliser
@pytest.mark.parametrize("first", one_in(EACH, range(1, EACH + 1)))
def test_the_next_call_is_right_wherever_one_was_interrupted(platform: str, first: int) -> None:
    """What Ctrl-C loses between the list of what is free and whoever takes it is nobody else's."""
    run = compiled(lambda xs: A.map(lambda x: x + 1, twice(xs)), platform)
    given = [arguments()[0] for _ in range(2)]
    for keep in (False, True):
        for xs in given:
            np.testing.assert_array_equal(np.asarray(run(xs, keep=keep)), xs * 2 + 1)
        at, came = first, True
        while came:
            with Interrupt(at, (machine_memory.__file__,)) as interrupt:
                run(given[0], keep=keep)
            for xs in given:
                np.testing.assert_array_equal(np.asarray(run(xs, keep=keep)), xs * 2 + 1)
            at, came = at + EACH, interrupt.came


@each_platform
@pytest.mark.parametrize("first", one_in(EACH, range(1, EACH + 1)))
def test_no_interrupt_takes_the_pieces_of_copies_away(
    platform: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of copies to and from a device with memory of its own; and the next copies are right."""
    monkeypatch.setattr(staging, "PIECE", 1 << 10)
    on = Memory(device(ROWS[platform]), ROWS[platform], unified=False)
    pieces: Any = on._staging
    given = np.arange(1 << 9)

    def copied() -> None:
        there = on.upload(given)
        np.testing.assert_array_equal(on.download(there, ScalarType.I64, given.shape), given)

    at, came = first, True
    while came:
        with Interrupt(at, (staging.__file__,)) as interrupt:
            copied()
        held: list[object] = []
        while len(held) < staging.PAIRS:
            held.append(pieces._taken())
        assert None not in held
        assert pieces._taken() is None
        held.clear()
        copied()
        at, came = at + EACH, interrupt.came


@each_platform
def test_nobody_shares_the_pieces_of_copies(platform: str) -> None:
    on: Any = Memory(device(ROWS[platform]), ROWS[platform], unified=False)
    held: list[object] = []
    while len(held) < staging.PAIRS:
        held.append(on._staging._taken())
    assert len({id(pair) for pair in held}) == staging.PAIRS
    assert on._staging._taken() is None
    held.pop()
    assert on._staging._taken() is not None


def test_what_waits_longer_outlives_an_interrupt() -> None:
    """At each instruction of what lets go of the others."""
    at, came = 1, True
    while came:
        leaving = Leaving()
        freed: list[int] = []
        leaving.add(1, Freed())
        for number in range(3):
            late = Freed()
            weakref.finalize(late, freed.append, number)
            leaving.add(9, late)
        del late
        with Interrupt(at, (sizes.__file__,)) as interrupt:
            leaving.done(1)
        gc.collect()
        assert freed == []
        leaving.done(1)
        assert len(leaving._waiting) == 3
        leaving.done(9)
        gc.collect()
        assert sorted(freed) == [0, 1, 2]
        at, came = at + 1, interrupt.came


class Freed:
    """Something of which it is seen that it goes."""


def test_a_buffer_that_ctrl_c_kept_from_being_one_goes_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    Held.__new__(Held)  # its `__init__` was interrupted before its first line
    assert not said
