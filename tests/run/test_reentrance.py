"""Signal handlers, timers and finalisers may run programs, whatever the code that they interrupt was doing."""

from __future__ import annotations

import sys

import pytest

from tests.marks import one_in, slow
from tests.opencl.platforms import MISSING, ROWS
from tests.work import in_a_process

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals and forks are those of Linux")

HANDLER = """
import itertools, signal, time
from tests.work import WORK

numbers, handled = itertools.count(10 ** 6), []

def handler(*_):
    for kind in {inside}:
        WORK[kind](next(numbers))
    handled.append(1)
    signal.setitimer(signal.ITIMER_REAL, 0.001 + len(handled) % 13 * 0.003)

if {warm}:
    WORK["{kind}"](0)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, {warm} * 0.02 + 0.001)
number = 0
while len(handled) < {times}:
    number += 1
    WORK["{kind}"](number)
signal.setitimer(signal.ITIMER_REAL, 0)
print("right")
"""

OPENCL = pytest.mark.skipif(not ROWS, reason=MISSING)

CASES = [
    ("compile", ("compile", "run"), 10), ("solve", ("solve", "compile"), 20), ("run", ("run", "compile"), 10),
    ("long", ("run", "long"), 3), ("long", ("compile", "solve"), 3), ("compile", ("solve",), 10),
    pytest.param("opencl", ("opencl", "compile"), 5, marks=OPENCL),
]  # fmt: skip


@slow
@pytest.mark.parametrize(("kind", "inside", "times"), CASES)
def test_a_handler_runs_programs(kind: str, inside: tuple[str, ...], times: int) -> None:
    assert in_a_process(HANDLER.format(kind=kind, inside=inside, times=times, warm=True)) == "right\n"


@slow
@pytest.mark.parametrize("kind", ["compile", "solve", pytest.param("opencl", marks=OPENCL)])
def test_a_handler_interrupts_the_first_program_of_all(kind: str) -> None:
    """In the middle of imports, and of what is made once."""
    assert in_a_process(HANDLER.format(kind=kind, inside=(kind,), times=3, warm=False)) == "right\n"


FINALISER = """
import gc, itertools
from tests.work import WORK

numbers, ended = itertools.count(10 ** 6), []

class Cycle:
    def __init__(self):
        self.itself = self
    def __del__(self):
        WORK["{kind}"](next(numbers))
        ended.append(1)

WORK["{kind}"](0)
gc.set_threshold(200, 2, 2)
number = 0
while len(ended) < 6:
    number += 1
    Cycle()
    WORK["{kind}"](number)
gc.set_threshold(10 ** 6)
print("right")
"""


@slow
@pytest.mark.parametrize("kind", ["compile", "solve", "run"])
def test_a_finaliser_runs_programs(kind: str) -> None:
    assert in_a_process(FINALISER.format(kind=kind)) == "right\n"


TIMER = """
import itertools, threading
from tests.work import WORK

numbers, called = itertools.count(10 ** 6), []

def call():
    WORK["{kind}"](next(numbers))
    called.append(1)

number = 0
while len(called) < 5:
    timer = threading.Timer(0.01, call)
    timer.start()
    number += 1
    WORK["{kind}"](number)
    timer.join()
print("right")
"""


@pytest.mark.parametrize("kind", one_in(4, ["compile", "solve", "run", pytest.param("opencl", marks=OPENCL)]))
def test_a_timer_runs_programs(kind: str) -> None:
    assert in_a_process(TIMER.format(kind=kind)) == "right\n"
