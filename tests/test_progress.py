"""The line about planning and compiling: when it is written, by whom, and what is left of it."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import ParamSpec, TextIO, TypeVar

import numpy as np
import pytest

import accel as A
from accel import compile as spine
from accel.backends.llvm import backend
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.module import load
from accel.ilp.solvers.linear import Linear, Variable
from accel.ilp.solvers.python_mip import PythonMip
from accel.ilp.views import best_realised
from accel.support import progress as written
from accel.support.progress import progress
from tests import untyped

P = ParamSpec("P")
R = TypeVar("R")

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="terminals are those of POSIX")


@dataclass(slots=True)
class Terminal:
    """Both ends of a terminal that is standard error, as far as the module knows."""

    end: int
    stream: TextIO

    def text(self) -> str:
        """All that was written so far."""
        os.set_blocking(self.end, False)
        found = b""
        try:
            while part := os.read(self.end, 4096):
                found += part
        except BlockingIOError:
            pass
        return found.decode()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    end, own = os.openpty()
    with os.fdopen(own, "w") as stream:
        monkeypatch.setattr(written, "sys", SimpleNamespace(stderr=stream))  # pytest sets the true one between steps
        monkeypatch.setattr(written, "INTERVAL", 0.02)
        monkeypatch.delenv("ACCEL_PROGRESS", raising=False)
        yield Terminal(end, stream)
    os.close(end)


def lines(text: str) -> list[str]:
    """What stood on the terminal's line, one after the other; each must replace the one before."""
    assert text.endswith("\r")
    return [part.rstrip() for part in text[:-1].split("\r")]


def test_a_line_stands_until_what_is_long_is_over(terminal: Terminal) -> None:
    with progress("planning 3 operations"):
        time.sleep(0.2)
    text = terminal.text()
    *before, last = lines(text)
    assert len(before) > 1
    assert set(before) == {"accel: planning 3 operations ... 0 s"}
    assert last == ""
    assert text.endswith(" " * len(before[-1]) + "\r")


@pytest.mark.slow
def test_the_seconds_are_counted(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "INTERVAL", 1.0)
    with progress("planning 3 operations"):
        time.sleep(1.3)
    assert lines(terminal.text()) == ["accel: planning 3 operations ... 1 s", ""]


def test_nothing_is_written_about_what_is_short(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "INTERVAL", 60.0)
    threads = threading.active_count()
    with progress("planning 3 operations"):
        pass
    assert terminal.text() == ""
    assert threading.active_count() == threads


def test_the_line_goes_when_an_exception_comes(terminal: Terminal) -> None:
    def failing() -> None:
        with progress("planning 3 operations"):
            time.sleep(0.1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert lines(terminal.text())[-1] == ""


def test_one_line_at_a_time(terminal: Terminal) -> None:
    with progress("planning 3 operations"):
        time.sleep(0.1)
        with progress("compiling 2 loops for llvm"):
            time.sleep(0.1)
    assert set(lines(terminal.text())) == {"accel: planning 3 operations ... 0 s", ""}


def test_a_warning_meanwhile_stands_at_the_beginning_of_the_line(terminal: Terminal) -> None:
    with progress("planning 3 operations"):
        time.sleep(0.1)
        print(
            "test.py:1: AccelSolverWarning: the solver needs more time than there is", file=terminal.stream, flush=True
        )
    before, warning, _ = terminal.text().partition("test.py:1")
    assert warning
    assert before.endswith("\r")


def test_it_is_off_when_it_is_asked_to_be(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_PROGRESS", "0")
    with progress("planning 3 operations"):
        time.sleep(0.1)
    assert terminal.text() == ""


def test_files_and_pipes_get_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    monkeypatch.setattr(written, "INTERVAL", 0.02)
    with os.fdopen(writer, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with progress("planning 3 operations"):
            time.sleep(0.1)
    assert os.read(reader, 100) == b""
    os.close(reader)


@pytest.mark.parametrize("stream", [None, object()])
def test_there_may_be_no_standard_error(stream: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress("planning 3 operations"):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_in_the_middle_ends_and_writes_nothing(terminal: Terminal) -> None:
    child = 0
    with progress("planning 3 operations"):
        time.sleep(0.1)
        child = os.fork()
        if not child:
            time.sleep(0.1)
    if not child:
        with progress("compiling 2 loops for llvm"):
            time.sleep(0.1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not [line for line in lines(terminal.text() + "\r") if "compiling" in line]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_forked_children_write_nothing(terminal: Terminal) -> None:
    """Many processes would write on one line."""
    child = os.fork()
    if not child:
        with progress("compiling 2 loops for llvm"):
            time.sleep(0.1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert terminal.text() == ""


def market_split(rows: int) -> tuple[list[Variable], list[Linear], Linear]:
    """A small program that solvers need very long for [Cornuejols, Dawande 1999]."""
    numbers = np.random.default_rng(1).integers(1, 100, (rows, 10 * (rows - 1)))
    count = numbers.shape[1]
    variables = [Variable(k, f"x{k}", True) for k in range(count)]
    slack = [Variable(count + k, f"s{k}", False, 10_000) for k in range(2 * rows)]
    found = []
    for row, coefficients in enumerate(numbers.tolist()):
        terms = {**dict(enumerate(coefficients)), count + 2 * row: 1, count + 2 * row + 1: -1}
        half = sum(coefficients) // 2
        found += [Linear(-half, terms), Linear(half, {key: -value for key, value in terms.items()})]
    return variables + slack, found, Linear(0, {each.number: 1 for each in slack})


@pytest.mark.solver
def test_the_line_is_written_while_a_solver_works(terminal: Terminal) -> None:
    """CBC is called on the thread that plans; it comes back after a second."""
    variables, rows, objective = market_split(4)
    session = PythonMip("cbc").session(variables, rows, relaxed=False)
    with progress("planning 3 operations"):
        session.minimise(objective, 1.0)
    assert len(lines(terminal.text())) > 3


@pytest.mark.llvm
@pytest.mark.slow
def test_the_line_is_written_while_llvm_works(terminal: Terminal) -> None:
    steps = "\n".join(f"  %v{k + 1} = call double @llvm.sin.f64(double %v{k})" for k in range(20_000))
    text = f"declare double @llvm.sin.f64(double)\ndefine double @f(double %v0) {{\n{steps}\n  ret double %v20000\n}}"
    with progress("compiling 1 loop for llvm"):
        host().compile(text)
    assert len(lines(terminal.text())) > 3


def slowly(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which takes its time."""

    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        time.sleep(0.1)
        return function(*args, **kwargs)

    return called


@pytest.mark.llvm
def test_programs_say_what_they_wait_for(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spine, "best_realised", slowly(best_realised))
    monkeypatch.setattr(backend, "load", slowly(load))
    untyped.run(A.map(lambda x: A.sin(x) * x + 17.25, A.use(np.arange(4.0))))
    found = list(dict.fromkeys(line.partition(" ...")[0] for line in lines(terminal.text())))
    assert found == ["accel: planning 2 operations", "", "accel: compiling 1 loop for llvm"]
