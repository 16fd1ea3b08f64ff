"""Ctrl-C ends loops that would never end, or in hours: on the calling thread, on the pool's, and where it holds the GIL."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.endless import HEAD, end_by_interrupt
from tests.marks import one_in, slow

PROGRAM = (
    HEAD
    + """
def scanned(limits):
    return A.scanl1(lambda x, y: turn(A.max(x, y)), limits)

def kept(limits):
    return A.filter(lambda limit: turn(limit) == 0, limits)[0]

limits = np.zeros({elements}, np.int64)
run = A.runN({function}, backend="llvm", threads={threads})
run(limits)
limits[{position}] = 2
print("ready", flush=True)
try:
    run(limits)
except KeyboardInterrupt:
    limits[:] = 0
    run(limits)  # the pool is as before
    print("interrupted", flush=True)
"""
)

CASES = [
    # One element: a small kernel, in which the calling thread holds the GIL.
    ("each", 1, 0, 1), ("summed", 3, 1, 1), ("scanned", 3, 1, 1), ("kept", 3, 1, 1),
    # Many: the loop that never ends is in the first chunk, the caller's, or in the last, which anybody takes.
    ("each", 1_000_000, 0, 1), ("each", 1_000_000, 0, 2), ("each", 1_000_000, -1, 2), ("summed", 1_000_000, -1, 2),
    ("scanned", 1_000_000, -1, 2), ("kept", 1_000_000, -1, 2),
]  # fmt: skip


@pytest.mark.parametrize(("function", "elements", "position", "threads"), one_in(12, CASES, kept=3))
def test_an_endless_loop_is_interrupted(function: str, elements: int, position: int, threads: int) -> None:
    end_by_interrupt(PROGRAM.format(function=function, elements=elements, position=position, threads=threads))


WAITING = (
    HEAD
    + """
def turns(limit):  # as many as the limit; compilers find no shorter way
    def turn(s):
        return A.lift(s[0] + 1, s[1] * 6364136223846793005 + 1442695040888963407)
    return A.while_(lambda s: s[0] < limit, turn, A.lift(A.constant(0, np.int64), limit))[1]

limits = np.zeros(65_536, np.int64)
run = A.runN(lambda limits: A.map(turns, limits), backend="llvm", threads=2)
run(limits)
limits[0], limits[32_768] = 10_000_000, 1 << 62
print("ready", flush=True)
try:
    run(limits)
except KeyboardInterrupt:
    limits[:] = 0
    run(limits)
    print("interrupted", flush=True)
"""
)


def test_an_interrupt_ends_what_the_caller_waits_for() -> None:
    """The loop of years is the worker's first element. It begins in the twentieth of a second of the caller's first one,
    who then does all else, and waits."""
    end_by_interrupt(WAITING, after=1.0)


ROWS = """
import signal
import numpy as np
import accel as A

signal.signal(signal.SIGINT, signal.default_int_handler)

def place(ix):
    return A.toFloating(A.indexHead(ix), np.float32)

def vectors(extent):
    return A.fold(A.add, 0.0, A.generate((2, extent), place))

def functions(extent):
    return A.fold(lambda x, y: A.min(x + y, x * y), 0.0, A.generate((2, extent), place))

def exact(extent):
    return A.fold(A.max, 0.0, A.generate((2, extent), lambda ix: A.sin(place(ix))))

def scalars(extent):
    return A.fold(lambda x, y: A.while_(lambda v: v < x, lambda v: v + 1, y), 0.0, A.generate((2, extent), place))

def inside(extent):
    return A.fold(A.add, 0.0, A.fold(A.add, 0.0, A.generate((2, extent, 3), place)))

run = A.runN(lambda extent: {function}(A.the(extent)), backend="llvm", threads={threads})
expected = run(np.array(1000))
print("ready", flush=True)
try:
    run(np.array(1 << 40))
except KeyboardInterrupt:
    assert (run(np.array(1000)) == expected).all()
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize(
    ("function", "threads"),
    one_in(5, [(name, count) for name in ("vectors", "functions", "exact", "scalars", "inside") for count in (1, 2)]),
)
def test_a_row_of_hours_is_interrupted(function: str, threads: int) -> None:
    """It is one iteration of the outermost loop."""
    end_by_interrupt(ROWS.format(function=function, threads=threads))


TURNS = """
import signal
import numpy as np
import accel as A

signal.signal(signal.SIGINT, signal.default_int_handler)

def launched(xs, turns):  # all that a turn does is to launch nests
    return A.iiterate(A.the(turns), lambda k, s: A.imap(lambda ix, x: x * 2 + s[5 - ix[0]] + k, s), xs)

def made(xs, turns):
    return A.iiterate(A.the(turns), lambda k, s: A.filter(lambda x: x >= 0, A.map(lambda x: x + k % 2, s))[0], xs)

run = A.runN({function}, backend="llvm", threads={threads})
expected = run(np.arange(6), np.array(9))
print("ready", flush=True)
try:
    run(np.arange(6), np.array(1 << 40))
except KeyboardInterrupt:
    assert (run(np.arange(6), np.array(9)) == expected).all()
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize(("function", "threads"), [("launched", 1), pytest.param("made", 2, marks=slow)])
def test_turns_of_hours_are_interrupted(function: str, threads: int) -> None:
    """None of their launches takes a microsecond."""
    end_by_interrupt(TURNS.format(function=function, threads=threads))


BESIDE = """
import os, threading
import numpy as np
import accel as A

turn = A.runN(lambda limits: A.map(lambda limit: A.while_(lambda i: i < limit, lambda i: (i + 1) % 2, 0), limits))
turn(np.zeros(1, np.int64))
begun = threading.Event()

def endless():
    begun.set()
    turn(np.full(1, 2))

threading.Thread(target=endless, daemon=True).start()
begun.wait()
print(turn(np.zeros(100_000, np.int64)).sum(), flush=True)
os._exit(0)  # nothing ends the thread
"""


@slow
def test_an_endless_loop_of_a_small_kernel_lets_other_threads_run() -> None:
    """It would keep the GIL, and the whole process would hang."""
    done = subprocess.run([sys.executable, "-c", BESIDE], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr
