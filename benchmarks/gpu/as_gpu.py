"""What GPUs are given, on a CPU device beside its own schedules: `python -m benchmarks.gpu.as_gpu [--rounds 8]`.

Both run in one process, in turn, and must give the same bits. Figures are the least processor time of a call, of all threads
together, which hardly depends on how many processors are free. Arguments are used where they lie;
results are copied to the host.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.machine.devices import devices
from accel.backends.protocol import Executable, compiled
from accel.compile import stages
from accel.ilp.problem.options import Options
from accel.labelled.construction.build import build
from benchmarks.gpu.cases import Arrays, histogram, keys, matrix, stencil, vector

CALLS: Final = 8
"""Of one figure, so that what a process does beside them hardly counts."""

ALIGNMENT: Final = 4096
"""Where arguments begin: drivers of CPU devices use them there, and need no copy."""

NO_DEVICE = "no OpenCL device here is a CPU: nothing was measured"


@dataclass(frozen=True, slots=True)
class Case:
    """A program, its arguments for about so many elements, and how many times as fast as the CPU's own it should be."""

    name: str
    program: Callable[..., A.Acc[Any]]
    arguments: Callable[[int], Arrays]
    wanted: float


CASES: Final = (
    Case("histogram of 256 places, int32", histogram, partial(keys, False), 5),
    Case("filter of float32, half stays", lambda xs: A.filter(lambda x: x > 0.5, xs)[0], vector, 2),
    Case("scan of float32", lambda xs: A.scanl1(A.add, xs), vector, 1.3),
    Case("stencil of five points, float32", stencil, partial(matrix, 2048), 2),
)


@dataclass(frozen=True, slots=True)
class Row:
    """Milliseconds of a call: with the device's own schedules, and with those of GPUs."""

    case: Case
    own: float
    as_gpu: float
    same: bool

    @property
    def ratio(self) -> float:
        """How many times as fast GPUs' schedules are."""
        return self.own / self.as_gpu


def rows(number: int, count: int, rounds: int) -> Iterator[Row]:
    """One for each case, of about so many elements, on the device with that number."""
    ways = [OpenCLBackend(number), OpenCLBackend(number)]
    ways[1].features = replace(ways[1].features, gpu=True)
    for case in CASES:
        arguments = [aligned(array) for array in case.arguments(count)]
        runs = [partial(_program(on, case, arguments), arguments) for on in ways]
        own, as_gpu = (run() for run in runs)
        same = all(a.tobytes() == b.tobytes() for a, b in zip(own, as_gpu, strict=True))
        times = [[_milliseconds(run) for run in runs] for _ in range(rounds)]
        yield Row(case, min(each[0] for each in times), min(each[1] for each in times), same)


def _program(on: OpenCLBackend, case: Case, arguments: Arrays) -> Executable:
    built = build([case.program(*map(use, arguments)).node], ())
    return compiled(on, stages(built.program, Options(strategy="greedy")).loops)


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that begins where a page does."""
    memory = np.empty(array.nbytes + ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % ALIGNMENT
    found = memory[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def _milliseconds(run: Callable[[], object]) -> float:
    started = time.process_time()
    for _ in range(CALLS):
        run()
    return (time.process_time() - started) / CALLS * 1e3


def main(given: Sequence[str]) -> int:
    """Print a line for each case; 1 if there is no CPU device, or if bits differ."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.as_gpu", description=(__doc__ or "").split("\n", maxsplit=1)[0]
    )
    parser.add_argument("--device", metavar="opencl:N", help="the first CPU if not given")
    parser.add_argument("--elements", type=int, default=1 << 22, help="of each argument, about (4194304)")
    parser.add_argument(
        "--rounds", type=int, default=8, help=f"figures of {CALLS} calls each, of which the least counts (8)"
    )
    found = parser.parse_args(given)
    every = list(devices())
    chosen = [number for number, row in enumerate(every) if found.device in (None, row.backend) and row.kind == "cpu"]
    if not chosen:
        print(NO_DEVICE)
        return 1
    print(f"{every[chosen[0]].name}, milliseconds of processor time")
    print(f"{'program':36}{'as a CPU':>10}{'as a GPU':>10}{'ratio':>8}{'wanted':>8}")
    same = True
    for row in rows(chosen[0], found.elements, found.rounds):
        bits = "" if row.same else "  OTHER BITS"
        print(
            f"{row.case.name:36}{row.own:10.2f}{row.as_gpu:10.2f}{row.ratio:8.2f}{row.case.wanted:8}{bits}", flush=True
        )
        same = same and row.same
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
