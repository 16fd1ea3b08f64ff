"""Memory that cannot be had: the error names the combinator, nothing is lost, and the next run succeeds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.llvm.calls.call import Call
from accel.backends.llvm.machine.buffers import Buffers
from accel.backends.opencl.backend import memory
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.protocol import HostArray
from tests import untyped
from tests.marks import slow

XS = np.arange(1000.0)


def program(xs: A.Acc[A.Vector[np.float64]]) -> tuple[A.Acc[A.Vector[np.float64]], A.Acc[A.Scalar[np.float64]]]:
    """Several arrays, in several loops."""
    sums = A.compute(A.scanl1(A.add, xs))
    kept, _ = A.filter(lambda x: x > 10.0, A.zipWith(A.sub, sums, A.replicate((A.length(xs),), A.sum(sums))))
    return A.scatterWith(A.add, sums, A.imap(lambda ix, x: A.lift(ix[0], x), xs)), A.sum(kept)


class Failing:
    """Counts calls; from one of them on they find no memory."""

    def __init__(self) -> None:
        self.calls = 0
        self.failing = -1

    def count(self) -> None:
        self.calls += 1
        if 0 <= self.failing < self.calls:
            raise MemoryError("injected")

    def every(self, backend: str, patch: Callable[[], None], forget: Callable[[], None] = lambda: None) -> int:
        """Let each call fail in its turn, in a run of `program`; gives how many there were. forget: what is kept for the next
        run."""
        run = A.runN(program, backend=backend)
        expected = [each.tobytes() for each in run(XS)]
        patch()
        forget()
        assert [each.tobytes() for each in run(XS)] == expected
        number = self.calls
        for failing in range(number):
            self.calls, self.failing = 0, failing
            forget()
            with pytest.raises(A.AccelMemoryError, match=r"test_no_memory\.py"):
                run(XS)
            self.failing = -1
            assert [each.tobytes() for each in run(XS)] == expected
        return number


@pytest.mark.solver
def test_each_array_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the executor takes them."""
    monkeypatch.setattr(Call, "function", lambda self, otherwise, constants: otherwise)
    failing, take = Failing(), Buffers.take

    def counted(self: Buffers, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        failing.count()
        return take(self, element, shape)

    assert failing.every("llvm", lambda: monkeypatch.setattr(Buffers, "take", counted)) > 3


@pytest.mark.opencl
@pytest.mark.solver
def test_each_buffer_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    failing, take_all = Failing(), Memory.take_all

    def counted(self: Memory, sizes: Iterable[int]) -> list[Held]:
        taken: list[Held] = []
        for size in sizes:
            failing.count()
            taken += take_all(self, (size,))
        return taken

    def patch() -> None:
        monkeypatch.setattr(Memory, "take_all", counted)

    assert failing.every("opencl", patch, lambda: memory(0).lots.clear()) > 3


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_complex_results_and_records(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are copied together from their leaves."""
    numbers = np.array([1 + 2j, 3j])
    points = np.array([(1, 2.5), (3, 4.5)], [("n", np.int64), ("x", np.float64)])

    def missing(*given: object) -> HostArray:
        raise MemoryError("injected")

    for given in (numbers, points):
        expected = untyped.run(A.reverse(A.use(given)), backend=backend).tobytes()
        with monkeypatch.context() as without:
            without.setattr(np, "empty", missing)
            with pytest.raises(A.AccelMemoryError, match=r"injected\n.*test_no_memory\.py"):
                untyped.run(A.reverse(A.use(given)), backend=backend)
        assert untyped.run(A.reverse(A.use(given)), backend=backend).tobytes() == expected


@slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_less_and_less_memory() -> None:
    """In a process of its own, whose address space shrinks to what it has already."""
    script = dedent("""
        import resource
        import numpy as np
        import accel as A

        run = A.runN(lambda xs: A.scanl1(A.add, A.compute(A.map(lambda x: x + 1, xs))), backend="llvm")
        small = np.arange(10.0)
        larger = [np.zeros((1 << 22) + (k << 19)) for k in range(11)]  # freed blocks of other sizes are of no use
        expected = run(small).tolist()
        run(larger[0])
        failed = 0
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        for step, large in enumerate(larger):
            resource.setrlimit(resource.RLIMIT_AS, (used + ((10 - step) << 24), resource.RLIM_INFINITY))
            try:
                run(large)
            except A.AccelMemoryError:
                failed += 1
            assert run(small).tolist() == expected
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert run(large)[-1] == len(large)
        assert 0 < failed < 11, failed
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
