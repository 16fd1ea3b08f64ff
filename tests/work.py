"""Kinds of work that forks and signal handlers meet in the middle, for tests that do them in processes of their own.

Each takes a number, so that no cache knows the answer, and fails unless its result is right.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

import accel as A
from accel.ilp.plan import search
from accel.ilp.problem.options import Options
from tests.ilp.random_graphs import draw

FloatArray: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
Floats: TypeAlias = A.Acc[A.Vector[np.float64]]
Ints: TypeAlias = A.Acc[A.Vector[np.int64]]


def compiled(number: int, backend: str = "llvm") -> None:
    """A program that is new, and small."""
    found = A.run(A.map(lambda v: v * (number + 0.5), A.use(np.ones(5))), backend=backend)
    assert found.tolist() == [number + 0.5] * 5


def solved(number: int) -> None:
    """A graph for which the solver is asked, however busy the machine is."""
    assert search(draw(number % 40, 30), Options(time_limit=50.0)).proved


def _near_zero(xs: Floats) -> Floats:
    return A.map(lambda x: A.sqrt(x * x + 1) - x, xs)


def _counted(xs: Ints) -> Ints:
    return A.map(lambda x: A.while_(lambda i: i < x, lambda i: i + 1, A.constant(0, np.int64)), xs)


@cache
def _kernel(threads: int, backend: str = "llvm") -> Callable[[FloatArray], FloatArray]:
    return A.runN(_near_zero, threads=threads, backend=backend)


def ran(number: int, elements: int = 300_000) -> None:
    """A kernel that the pool works on."""
    xs = np.full(elements, number % 100 + 0.5)
    assert np.allclose(_kernel(2)(xs), np.sqrt(xs * xs + 1) - xs)


def ran_long(number: int, turns_each: int = 2000) -> None:
    """A kernel that lets Python look for signals several times."""
    turns = np.full(1 << 16, turns_each + number % 7)
    step = A.runN(_counted, threads=2)
    assert (step(turns) == turns).all()


def on_opencl(number: int) -> None:
    """A new program and one that is known, on an OpenCL device."""
    compiled(number, "opencl")
    xs = np.full(1_000_000, number % 100 + 0.5)
    assert np.allclose(_kernel(0, "opencl")(xs), np.sqrt(xs * xs + 1) - xs)


WORK: Mapping[str, Callable[[int], None]] = MappingProxyType(
    {"compile": compiled, "solve": solved, "run": ran, "long": ran_long, "opencl": on_opencl}
)


def in_a_process(program: str, seconds: int = 100) -> str:
    """What a program prints in a process of its own; after some seconds it is ended, and says where its threads stood."""
    watch = f"import faulthandler; faulthandler.dump_traceback_later({seconds}, exit=True)\n"
    done = subprocess.run([sys.executable, "-c", watch + program], capture_output=True, text=True, timeout=seconds + 20)
    assert done.returncode == 0, done.stderr
    return done.stdout
