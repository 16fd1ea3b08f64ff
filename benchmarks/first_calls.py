"""How long first calls take: `python -m benchmarks.first_calls [PROGRAM ...]`.

Each program is run in a process of its own that has nothing on disk, and then in one that finds what the first has left there.
Both import accel and build the program before; the first program of a process imports the compiler as well, from bytecode, as
it is installed. Times are the processor's, the least of some rounds; of the larger programs there is one.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial, reduce
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

import accel as A
from benchmarks.peers.programs.with_accel import hist256, jacobi1, softmax
from examples import black_scholes, canny, kmeans, nbody, normalise, quickhull

Column: TypeAlias = A.Acc[A.Vector[np.float64]]
Run: TypeAlias = Callable[[], object]

ROUNDS = 3
LONG = 1000.0
"""Milliseconds from which on one round is enough."""


def repeated(step: Callable[[int, Column], Column], times: int) -> Run:
    """A step that is done so often, one after the other, to 64 numbers."""
    xs: Column = A.use(np.arange(64.0))
    for turn in range(times):
        xs = step(turn, xs)
    return lambda: A.run(xs)


def turned(_: int, xs: Column) -> Column:
    """A map, and the array backwards."""
    return A.reverse(A.map(lambda x: x + 1, xs))


def replaced(turn: int, xs: Column) -> Column:
    """One element replaced."""
    return A.update(xs, slice(turn % 64, turn % 64 + 1), A.use(np.ones(1)))


def summed(count: int) -> Run:
    """The sum of as many maps of one array, as a tree."""
    xs: Column = A.use(np.arange(64.0))
    found: list[Column] = [A.map(partial(lambda turn, x: x + float(turn), turn), xs) for turn in range(count)]
    while len(found) > 1:
        found = [
            A.zipWith(A.add, *found[k : k + 2]) if k + 1 < len(found) else found[k] for k in range(0, len(found), 2)
        ]
    return lambda: A.run(found[0])


def folded(count: int) -> Run:
    """The sum of as many folds of maps of one array."""
    xs: Column = A.use(np.arange(64.0))
    folds = [A.fold(A.add, 0, A.map(partial(lambda turn, x: x * float(turn), turn), xs)) for turn in range(count)]
    total = reduce(lambda one, two: A.zipWith(A.add, one, two), folds)
    return lambda: A.run(total)


def one_function(operations: int) -> Run:
    """A map whose function has so many operations."""

    def function(x: A.Exp[np.float64]) -> A.Exp[np.float64]:
        for turn in range(operations // 2):
            x = (x + float(turn)) * x if turn % 2 else (x - float(turn)) * 0.5
        return x

    return repeated(lambda _, xs: A.map(function, xs), 1)


def called(program: Callable[..., object], *arguments: object) -> Run:
    """A compiled function's call."""
    run: Callable[..., object] = A.runN(program)
    return lambda: run(*arguments)


def _gathers(times: int) -> Run:
    places = A.use(np.arange(64)[::-1].copy())
    return repeated(lambda _, xs: A.gather(places, xs), times)


def _segments(times: int) -> Run:
    halves = A.use(np.array([32, 32]))
    return repeated(lambda _, xs: A.scanl1Seg(A.add, xs, halves), times)


def _stencils(times: int) -> Run:
    return repeated(lambda _, xs: A.stencil(lambda n: n(-1) + n(0) + n(1), A.boundary.wrap, xs), times)


def _fold_of_map() -> Run:
    squares: Any = lambda xs: A.fold(A.add, 0, A.map(lambda x: x * x, xs))  # noqa: E731  # Any: of all floats
    return called(squares, np.arange(64.0))


def _sorts(program: Callable[..., object], *shape: int) -> Run:
    """A program that puts some numbers in order. (To draw them would import what a first call needs.)"""
    size = int(np.prod(shape))
    return called(program, (np.arange(size) * 2_654_435_761 % 1_000_003).astype(np.float32).reshape(shape))


PROGRAMS: Mapping[str, Callable[[], Run]] = MappingProxyType(
    {
        "a fold of a map": _fold_of_map,
        "a stencil": lambda: called(jacobi1, np.ones((16, 16), np.float32)),
        "a product of matrices": lambda: called(A.matmul, *2 * [np.ones((64, 64), np.float32)]),
        "a histogram": lambda: called(hist256, np.arange(256, dtype=np.int32)),
        "`sort`": lambda: _sorts(A.sort, 1 << 16),
        "`argsort`": lambda: _sorts(A.argsort, 1 << 16),
        "`topK`": lambda: _sorts(partial(A.topK, 10), 1 << 16),
        "`sort` of rows of 9": lambda: _sorts(A.sort, 4096, 9),
        "softmax": lambda: called(softmax, np.ones((8, 8), np.float32)),
        "Black-Scholes": lambda: called(black_scholes.black_scholes, *black_scholes.inputs(64)),
        "normalise2": lambda: called(normalise.normalise2, *normalise.inputs()),
        "bodies": lambda: called(nbody.simulated, nbody.planets(), np.int64(2), np.float64(0.001)),
        "Canny": lambda: called(canny.canny, *canny.inputs()),
        "k-means": lambda: called(kmeans.kmeans, *kmeans.inputs()),
        "quickhull": lambda: called(quickhull.quickhull, quickhull.inputs(100)),
        "10,000 maps": lambda: repeated(lambda _, xs: A.map(lambda x: x + 1, xs), 10_000),
        "5,000 maps and reverses": lambda: repeated(turned, 5000),
        "3,000 gathers": lambda: _gathers(3000),
        "300 scans of segments": lambda: _segments(300),
        "1,000 updates": lambda: repeated(replaced, 1000),
        "a sum of 2,000 maps": lambda: summed(2000),
        "a sum of 500 folds": lambda: folded(500),
        "300 sorts": lambda: repeated(lambda _, xs: A.sort(A.map(lambda x: -x, xs)), 300),
        "200 stencils": lambda: _stencils(200),
        "a map of 1,000 operations": lambda: one_function(1000),
        "a map of 20,000 operations": lambda: one_function(20_000),
    }
)
"""What is run, by its name in the table."""


class _Parts(logging.Handler):
    """What passes of one line of the compiler to the next, in milliseconds: planning, and writing and compiling code."""

    def __init__(self) -> None:
        super().__init__()
        self.planning = self.code = 0.0
        self._before = time.process_time()

    def emit(self, record: logging.LogRecord) -> None:
        """Each pass has a line, at its end, and so has the compiling of code, behind the last of them."""
        now = time.process_time()
        passed, self._before = (now - self._before) * 1e3, now
        if record.name == "accel.passes" and isinstance(record.args, tuple) and record.args[0] == "plan":
            self.planning += passed
        elif record.name == "accel.compile":
            self.code += passed


def measure(name: str) -> None:
    """Print how many milliseconds a first call takes in this process, and of these planning and code."""
    run = PROGRAMS[name]()
    parts = _Parts()
    log = logging.getLogger("accel")
    log.setLevel(logging.DEBUG)
    log.propagate = False
    for speaker in ("accel.passes", "accel.compile"):
        logging.getLogger(speaker).addHandler(parts)
    begin = time.process_time()
    run()
    print((time.process_time() - begin) * 1e3, parts.planning, parts.code)


def _process(name: str, cache: str, bytecode: str) -> list[float]:
    environment = {**os.environ, "ACCEL_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "benchmarks.first_calls", "--one", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(part) for part in done.stdout.split()]


def row(name: str, bytecode: str) -> tuple[list[float], float]:
    """The least first call with nothing on disk, with its parts, and the least with what it leaves there."""
    first, again = [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as cache:
            first.append(_process(name, cache, bytecode))
            again.append(_process(name, cache, bytecode)[0])
        if first[0][0] > LONG:
            break
    return min(first), min(again)


def main() -> None:
    """Print a table of all programs, or of those that are named."""
    given = sys.argv[1:]
    if given[:1] == ["--one"]:
        measure(given[1])
        return
    if unknown := [name for name in given if name not in PROGRAMS]:
        sys.exit(f"there is no program {unknown[0]!r}, but: {', '.join(map(repr, PROGRAMS))}")
    print("| program | first call, ms | planning | code | in another process |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as bytecode:
        _process("k-means", "", bytecode)
        _process("`topK`", "", bytecode)
        for name in given or PROGRAMS:
            (total, planning, code), again = row(name, bytecode)
            print(f"| {name} | {total:,.0f} | {planning:,.0f} | {code:,.0f} | {again:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
