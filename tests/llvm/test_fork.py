"""A process may fork whatever its other threads do: the child compiles, solves and runs, or says why not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.marks import long, slow
from tests.opencl.platforms import MISSING, ROWS
from tests.work import in_a_process

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals and forks are those of Linux"),
    slow,
]

FORK = """
import os, signal, sys, threading, time
import accel as A
from tests.work import WORK, compiled, ran, solved

def child(number):
    signal.alarm(60)
    compiled(number + 10 ** 6)
    solved(number)
    ran(number)
    if {opencl}:
        try:
            WORK["opencl"](number + 10 ** 6)
        except A.AccelDeviceError as error:
            assert "this process was forked from one that had used OpenCL" in str(error), error
        else:
            raise AssertionError("it ran")

def forked(number, deep):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            child(number)
            code = 0 if not deep or forked(number, deep - 1) == 0 else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def working(kind):
    number = 0
    while True:
        number += 1
        WORK[kind](number)
        started.set()
"""

MEANWHILE = (
    FORK
    + """
for kind in {kinds}:
    started = threading.Event()
    threading.Thread(target=working, args=(kind,), daemon=True).start()
    started.wait()
codes = []
def forks(tries):
    for number in tries:
        codes.append(forked(number, {deep}))
        time.sleep(0.003)
others = [threading.Thread(target=forks, args=(range(k, {tries}, {threads}),)) for k in range(1, {threads})]
for other in others:
    other.start()
forks(range(0, {tries}, {threads}))
for other in others:
    other.join()
print(sorted(set(codes)), len(codes), flush=True)
os._exit(0)  # nothing ends the threads
"""
)


def program(kinds: tuple[str, ...], tries: int, deep: int, threads: int) -> str:
    return MEANWHILE.format(kinds=kinds, tries=tries, deep=deep, threads=threads, opencl="opencl" in kinds)


KINDS = [
    (("compile",), 2, 0, 1), pytest.param(("solve",), 5, 0, 1, marks=long), (("run",), 5, 0, 1),
    pytest.param(("long",), 3, 0, 1, marks=long), (("compile", "solve"), 3, 1, 1),
    pytest.param(("compile", "run"), 6, 0, 3, marks=long),
    pytest.param(("opencl",), 5, 0, 1, marks=[long, pytest.mark.skipif(not ROWS, reason=MISSING)]),
]  # fmt: skip


@pytest.mark.parametrize(("kinds", "tries", "deep", "threads"), KINDS)
def test_a_fork_while_other_threads_work(kinds: tuple[str, ...], tries: int, deep: int, threads: int) -> None:
    assert in_a_process(program(kinds, tries, deep, threads)) == f"[0] {tries}\n"


FIRST = (
    FORK
    + """
started = threading.Event()
threading.Thread(target=working, args=("{kind}",), daemon=True).start()
time.sleep({delay})
print(forked(1, 0), flush=True)
os._exit(0)
"""
)


@pytest.mark.parametrize("kind", ["compile", "solve"])
@pytest.mark.parametrize("delay", [0.0, pytest.param(0.05, marks=long), 0.15])
def test_a_fork_while_another_thread_imports(kind: str, delay: float) -> None:
    assert in_a_process(FIRST.format(kind=kind, delay=delay, opencl=False)) == "0\n"


POOL = """
import threading
from concurrent.futures import ProcessPoolExecutor
from tests.work import compiled, ran, solved

def task(number):
    compiled(number + 10 ** 6)
    solved(number)
    ran(number)
    return number

def working():
    number = 0
    while True:
        number += 1
        compiled(number)

if __name__ == "__main__":
    compiled(0)
    threading.Thread(target=working, daemon=True).start()
    with ProcessPoolExecutor(3) as pool:
        print(sum(pool.map(task, range(6))))
"""


def test_process_pools_in_their_default_context(tmp_path: Path) -> None:
    path = tmp_path / "pool_program.py"
    path.write_text(POOL)
    assert in_a_process(f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')") == "15\n"


HANDLER = """
import os, signal
from tests.work import compiled, ran, ran_long

parent = os.getpid()
children = []

def handler(*_):
    pid = os.fork()
    if pid:
        children.append(pid)
    else:
        signal.alarm(60)

ran_long(0)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)  # the kernel takes many times as long
code = 1
try:
    ran_long(1, 12_000)  # it compares its result
    if os.getpid() != parent:
        ran(1)
        compiled(1)
        code = 0
finally:
    if os.getpid() != parent:
        os._exit(code)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


def test_a_handler_that_forks_in_the_middle_of_a_kernel() -> None:
    """The parent's result is right, and so is its child's, which begins again: the parent's workers had begun parts of it."""
    assert in_a_process(HANDLER) == "[0]\n"
