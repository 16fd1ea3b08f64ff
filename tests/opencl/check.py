"""Runs programs on a device and compares with the reference evaluator of loop programs, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.ast.tree.leaves import to_host
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.protocol import Executable, HostArray, compiled
from accel.compile import stages
from accel.ilp.problem.options import Options
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Program
from accel.labelled.construction.build import build
from tests.opencl.programs import ALL

Strategy: TypeAlias = Literal["greedy", "none"]

STRATEGIES: tuple[Strategy, ...] = ("greedy", "none")


def loops(strategy: Strategy, results: Sequence[A.Acc[Any]]) -> tuple[Program, list[HostArray]]:
    """The loop program of some arrays, and its arguments: the data that they use."""
    built = build([result.node for result in results], ())
    planned = stages(built.program, Options(strategy=strategy)).loops
    return planned, [to_host(array) for use in built.constants for array in use.data]


def same(got: Sequence[HostArray], expected: Sequence[HostArray]) -> None:
    """The same shapes, types and bits, NaN being equal to NaN."""
    assert len(got) == len(expected)
    for each, wanted in zip(got, expected, strict=True):
        assert each.dtype == wanted.dtype
        np.testing.assert_array_equal(each, wanted)
        if wanted.dtype.kind == "f":
            number = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(each[number]), np.signbit(wanted[number]))


@cache
def expected(name: str, size: int) -> list[HostArray]:
    """What the reference evaluator gives: slow, so asked once for all strategies and platforms."""
    case = ALL[name]
    return interpret(*loops("greedy", case.program(*map(use, case.data(size)))))


def on_device(on: OpenCLBackend, name: str) -> None:
    """Compile the case once for each strategy, and run it at every size."""
    case = ALL[name]
    for strategy in STRATEGIES:
        executable: Executable | None = None
        for size in case.sizes:
            planned, arguments = loops(strategy, case.program(*map(use, case.data(size))))
            executable = executable or compiled(on, planned)
            same(executable(arguments), expected(name, size))


def compiled_on(on: OpenCLBackend, function: Callable[..., A.Acc[Any]], *data: HostArray) -> Executable:
    """A function of arrays like these, as one program."""
    return compiled(on, loops("greedy", [function(*map(use, data))])[0])
