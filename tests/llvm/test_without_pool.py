"""Systems without futexes, and `ACCEL_POOL=0`: kernels run on the thread that calls them, and give the same bits."""

from __future__ import annotations

import platform
import re
import sys

import llvmlite.binding as llvm
import pytest

from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.system import System, known_system, processors, system
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES
from accel.backends.llvm.threads.pool import participants
from accel.backends.llvm.threads.run_text import alone_text
from accel.backends.llvm.threads.scratch_text import scratch_text
from accel.errors import AccelValueError
from tests.endless import end_by_interrupt
from tests.llvm.test_fork import HANDLER, program
from tests.llvm.test_interrupts import PROGRAM
from tests.marks import long, slow
from tests.work import in_a_process

on_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="/proc, signals and forks are those of Linux"
)

FAMILY = """
from hashlib import sha256
from pathlib import Path
import numpy as np
import accel as A

draw = np.random.default_rng(1)
floats = A.use(draw.standard_normal(700_001).astype(np.float32))
numbers = A.use(draw.integers(0, 1000, 700_001))
matrix = A.use(draw.standard_normal((300, 1000)))
zeros = A.use(np.zeros(1000, np.float32))

def kept(x):
    return (x > 0.5) | (x < -1)

def turns(number):
    return A.while_(lambda i: i < number, lambda i: i + 7, A.constant(0, np.int64))

family = {
    "fold": A.fold(A.add, 0, floats),
    "rows": A.fold(lambda x, y: x * 0.5 - y, 1, matrix),
    "columns": A.fold(A.max, 0, A.transpose(matrix)),
    "scan": A.scanl1(A.add, floats),
    "scan from the right": A.scanr(A.add, 0, numbers),
    "filter": A.filter(kept, floats)[0],
    "fold behind a filter": A.fold(A.add, 0, A.filter(kept, floats)[0]),
    "scatter": A.scatterWith(A.add, zeros, A.zip(numbers, floats)),
    "gather": A.gather(numbers, floats),
    "map": A.map(lambda x: A.exp(x) * A.sin(x) + A.sqrt(A.abs(x)), floats),
    "while": A.map(turns, numbers),
    "nothing": A.fold(A.add, 0, A.take(0, floats)),
}
for name, program in family.items():
    found = A.run(program, backend="llvm", threads=3)
    print(name, found.dtype, found.shape, sha256(found.tobytes()).hexdigest())
for wrong in (A.gather(A.map(lambda n: n + 699_500, numbers), floats), A.fold1(A.max, A.take(0, floats))):
    try:
        A.run(wrong, backend="llvm", threads=3)
    except A.AccelError as error:
        print(type(error).__name__, error)
"""

THREADS = """
tasks = Path("/proc/self/task")
before = len(list(tasks.iterdir()))
A.run(A.map(lambda x: x * 1.25, floats), backend="llvm", threads=64)
print("few" if len(list(tasks.iterdir())) < before + 8 else "many")
"""


@slow
def test_the_same_bits_and_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_POOL", "1")
    expected = in_a_process(FAMILY)
    monkeypatch.setenv("ACCEL_POOL", "0")
    assert in_a_process(FAMILY) == expected
    assert expected.count("\n") >= 14


@long
@on_linux
def test_no_workers_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_POOL", "0")
    assert in_a_process(FAMILY.partition("def kept")[0] + THREADS) == "few\n"


@long
@pytest.mark.parametrize(
    ("function", "elements", "position"),
    [("each", 1, 0), ("each", 1_000_000, 0), ("each", 1_000_000, -1), ("summed", 1_000_000, -1), ("kept", 3, 1)],
)
def test_an_endless_loop_is_interrupted(
    function: str, elements: int, position: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCEL_POOL", "0")
    end_by_interrupt(PROGRAM.format(function=function, elements=elements, position=position, threads=2))


@long
@on_linux
def test_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_POOL", "0")
    assert in_a_process(program(("run",), 1, 0, 1)) == "[0] 1\n"


@long
@on_linux
def test_the_child_of_a_handler_goes_on_with_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other thread has begun parts of it."""
    monkeypatch.setenv("ACCEL_POOL", "0")
    assert in_a_process(HANDLER) == "[0]\n"


@pytest.mark.parametrize(
    ("name", "processor", "has_pool"),
    [
        ("linux", "x86_64", True), ("linux", "aarch64", True), ("linux", "riscv64", False), ("linux", "i686", False),
        ("darwin", "arm64", False), ("darwin", "x86_64", False), ("win32", "AMD64", False), ("freebsd14", "amd64", False),
    ],
)  # fmt: skip
def test_which_systems_have_a_pool(name: str, processor: str, has_pool: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACCEL_POOL", raising=False)
    monkeypatch.setattr(sys, "platform", name)
    monkeypatch.setattr(platform, "machine", lambda: processor)
    assert (system().futex is not None) == has_pool
    assert participants(3) == (3 if has_pool else 1)
    assert participants(0) == (processors() if has_pool else 1)
    assert LLVMBackend(3).name == "llvm"
    monkeypatch.setenv("ACCEL_POOL", "0")
    assert participants(3) == 1


def test_other_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_POOL", "none")
    with pytest.raises(
        AccelValueError, match=r"ACCEL_POOL='none' is no setting\n(.*\n)*.*hint: 0 \(no pool of threads\) or 1"
    ):
        system()


PYTHON = {"PyErr_CheckSignals", "PyErr_Occurred", "PyEval_RestoreThread", "PyEval_SaveThread", "PyGILState_Check",
             "PyGILState_GetThisThreadState"}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "triple", "clock"),
    [
        ("darwin", "arm64-apple-darwin23", "clock_gettime"), ("darwin", "x86_64-apple-darwin23", "clock_gettime"),
        ("win32", "x86_64-pc-windows-msvc", "GetTickCount64"), ("freebsd14", "x86_64-unknown-freebsd14", "clock_gettime"),
        ("linux", "riscv64-unknown-linux-gnu", "clock_gettime"),
    ],
)  # fmt: skip
def test_other_systems_get_code_that_calls_nothing_of_linux(name: str, triple: str, clock: str) -> None:
    """It is compiled for them here. It runs only there."""
    x86 = triple.startswith("x86")
    text = alone_text(known_system(name, "another"), x86=x86)
    fences = {"llvm.x86.sse.sfence"} if x86 else set[str]()
    assert set(re.findall(r"^declare .*@([\w.]+)\(", text, re.MULTILINE)) == {*PYTHON, clock, *fences}
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(reloc="pic", codemodel="jitdefault", jit=True)
    module = llvm.parse_assembly(text + HOST_ATTRIBUTES)
    module.triple, module.data_layout = triple, str(machine.target_data)
    assert b"accel_run" in machine.emit_object(module)


def test_windows_objects_find_their_mark() -> None:
    """LLVM writes `_fltused` into every object with floats, and only static libraries of C have it."""
    assert known_system("win32", "AMD64") == System(None, None, marks=("_fltused",))


@pytest.mark.parametrize("name", ["linux", "darwin", "win32", "freebsd14"])
def test_packs_ask_for_huge_pages_where_the_system_has_them(name: str) -> None:
    called = set(re.findall(r"call \w+ @(malloc|madvise)\(", scratch_text(known_system(name, "another"))))
    assert called == ({"malloc", "madvise"} if name == "linux" else {"malloc"})
