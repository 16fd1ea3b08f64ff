"""An argument that another thread writes to while the program runs is named as the cause, not called a bug of accel.

Once: "a check failed in a loop nest, but not when the nest ran again", as an `AccelInternalError`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.llvm import device
from accel.backends.opencl import launch
from accel.backends.opencl.machine.host_memory import FEW
from accel.backends.sites import NoSite, no_fault

Indices = np.ndarray[tuple[int], np.dtype[np.int64]]
Program = Callable[[A.Acc[A.Vector[np.int64]]], A.Acc[A.Vector[np.int64]]]

SECONDS: dict[str, tuple[Any, str]] = {
    "llvm": (device, "recording_text"),
    "opencl": (launch, "diagnosis"),
}
"""Any: modules. What is called between the first run of a nest and the second."""


def many(*first: int) -> Indices:
    """Where OpenCL devices that are CPUs read it where it lies: these and zeros, more than are copied at once."""
    return aligned(np.array([*first, *[0] * FEW], np.int64))


def aligned(values: Indices) -> Indices:
    """Where OpenCL devices that are CPUs may use it as it lies."""
    memory = np.empty(values.nbytes + 4096, np.uint8)
    start = -memory.ctypes.data % 4096
    found = memory[start : start + values.nbytes].view(np.int64)
    found[:] = values
    return found


def mended(backend: str, indices: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    """The indices become right before the nest runs again."""
    module, name = SECONDS[backend]
    original = getattr(module, name)

    def between(*arguments: Any) -> Any:  # Any: the original's
        indices[:] = 0
        return original(*arguments)

    monkeypatch.setattr(module, name, between)


def gathers(at: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
    return A.gather(at, A.use(np.arange(10)))


def by_another_nest(at: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
    """The nest whose check fails reads no argument."""
    return A.gather(
        A.compute(A.map(lambda i: i + 1, at)), A.compute(A.generate(A.index(10), lambda i: A.unindex(i)[0]))
    )


@pytest.mark.parametrize("shaped", [False, True])
@pytest.mark.parametrize("backend", SECONDS)
def test_the_argument_is_named(backend: str, shaped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the nest reads it under another shape."""

    def reshaped(at: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Matrix[np.int64]]:
        return A.gather(A.reshape(A.index(A.length(at) // 2, 2), at), A.use(np.arange(10)))

    indices = many(1, 99, 3, 4)
    mended(backend, indices, monkeypatch)
    function: Callable[[Indices], object] = A.runN(reshaped if shaped else gathers, backend=backend)
    with pytest.raises(A.AccelValueError) as caught:
        function(indices)
    error = caught.value
    assert error.message == (
        "an argument changed while the program ran: a check failed in a loop nest, but not when the nest ran again"
    )
    assert error.where is not None
    assert error.where.call() == "function(indices)"
    assert error.hint == "no other thread may write to an array while a program reads it; give the program a copy"


@pytest.mark.parametrize("backend", SECONDS)
def test_indices_of_the_programs_own_do_not_change(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    indices = aligned(np.array([1, 99, 3, 4]))
    mended(backend, indices, monkeypatch)
    with pytest.raises(A.AccelIndexError, match=r"index \(100,\)"):
        A.runN(by_another_nest, backend=backend)(indices)


@pytest.mark.parametrize("backend", SECONDS)
def test_copies_of_arguments_do_not_change(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not read in place was read before."""
    indices = aligned(np.array([1, 7, 99, 7, 3, 7]))
    mended(backend, indices, monkeypatch)
    with pytest.raises(A.AccelIndexError, match=r"index \(99,\)"):
        A.runN(gathers, backend=backend)(indices[::2])


@pytest.mark.parametrize("program", [gathers, by_another_nest])
@pytest.mark.parametrize("backend", SECONDS)
def test_without_an_argument_it_is_a_bug(backend: str, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run that never finds anything: whom the error blames depends on what the nest reads."""
    if backend == "llvm":
        monkeypatch.setattr(device, "_diagnosis", lambda *_: None)
    else:
        monkeypatch.setattr(launch.NestLauncher, "_diagnose", lambda *_: None)
    expected = A.AccelValueError if program is gathers else A.AccelInternalError
    with pytest.raises(expected, match="not when the nest ran again"):
        A.runN(program, backend=backend)(many(1, 99))


def test_the_error_that_launchers_raise_is_plain() -> None:
    assert NoSite([1, 2]).arrays == [1, 2]
    assert type(no_fault(False, None)) is A.AccelInternalError


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_a_thread_that_writes_all_the_time(backend: str) -> None:
    """Whatever is seen of it: a result, or one of the errors that say what happened."""
    indices = aligned(np.zeros(2000, np.int64))
    function = A.runN(gathers, backend=backend)
    function(indices)
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            indices[700] = 10_000_000
            indices[700] = 1

    writer = threading.Thread(target=write)
    writer.start()
    seen: set[str] = set()
    try:
        for _ in range(10 if backend == "interpreter" else 60):
            try:
                seen.update(map(str, function(indices).tolist()))
            except A.AccelError as error:
                seen.add(f"{type(error).__name__}: {error.message}")
    finally:
        done.set()
        writer.join()
    assert seen <= {
        "0",
        "1",
        "AccelIndexError: index (10000000,) is out of bounds for an array of shape (10,)",
        "AccelValueError: an argument changed while the program ran: "
        "a check failed in a loop nest, but not when the nest ran again",
    }
