"""Kernels of an OpenCL device as fractions of what it copies: `python -m benchmarks.gpu [--mb 256] [--only NAME] [--any]`.

Times are the device's own, so host copies and Python are apart. Each program is first compared with the interpreter, at a small
size. CuPy and PyTorch run beside it where they see the same GPU. It needs no llvmlite; without python-mip it fuses greedily.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np

import accel as A
from accel.backends.choose import backend
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.machine.devices import devices
from accel.ilp.solvers import is_installed
from accel.support.choices import Strategy
from benchmarks.gpu import others
from benchmarks.gpu.cases import CASES, Arrays, Case
from benchmarks.gpu.device import Span, copied, fastest

SMALL = 9000
"""Elements of the comparison with the interpreter."""

NO_GPU = "no OpenCL device here is a GPU: nothing was measured. --any has another device do (`python -m accel devices`)"


@dataclass(frozen=True, slots=True)
class Row:
    """One program. `percent`: of a copy; `others` by name. `bits`: `same`, `close` or `different`, beside the interpreter.
    each: milliseconds of each kernel's launches."""

    name: str
    megabytes: float
    milliseconds: float
    percent: float
    wanted: int | None
    kernels: int
    each: dict[str, float]
    bits: str
    build: float
    others: dict[str, float]


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The command line. Raises SystemExit if it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", metavar="opencl:N", help="the first GPU if not given")
    parser.add_argument("--any", action="store_true", help="measure on a device that is no GPU, too")
    parser.add_argument("--mb", type=float, default=256, help="megabytes of arguments (256)")
    parser.add_argument("--seconds", type=float, default=2, help="a program that takes longer gets less (2)")
    parser.add_argument("--rounds", type=int, default=5, help="calls of each (5)")
    parser.add_argument("--only", action="append", help="programs with this in their names; may be given again")
    parser.add_argument("--kernels", action="store_true", help="say what each kernel takes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    return parser.parse_args(given)


def rows(on: OpenCLBackend, copy: float, cases: Sequence[Case], found: argparse.Namespace) -> Iterator[Row]:
    """One for each program. `copy`: bytes in a second."""
    beside = others.present()
    strategy: Strategy = "ilp" if is_installed("cbc") else "greedy"
    for case in cases:
        program = A.runN(case.program, backend=on.name, strategy=strategy)
        small = case.arguments(SMALL)
        begin = time.perf_counter()
        got = program(*small)
        build = time.perf_counter() - begin
        bits = _compared(got, A.runN(case.program, backend="interpreter", strategy=strategy)(*small), case.exact)
        given, span = _measured(case, program, on.name, found)
        bytes_ = case.bytes(given)
        yield Row(
            case.name,
            sum(array.nbytes for array in given) / 2**20,
            span.seconds * 1e3,
            100 * bytes_ / span.seconds / copy,
            case.wanted,
            span.kernels,
            {name: seconds * 1e3 for name, seconds in span.each.items()},
            bits,
            build,
            {
                module.__name__: _beside(module, case, given, copy)
                for module in beside
                if case.other is not None and module.__name__ in case.beside
            },
        )


def _measured(case: Case, program: Callable[..., object], name: str, found: argparse.Namespace) -> tuple[Arrays, Span]:
    """The arguments, which lie on the device `name`, and the quickest call: of as many megabytes as were asked for, or fewer if
    that takes too long."""
    full = round(found.mb * 2**20) // _bytes_of_an_element(case)
    count = max(full // 64, SMALL)
    while True:
        given = case.arguments(count)
        call = partial(program, *(A.put(array, backend=name) for array in given))
        call()
        if count >= full or fastest(call, 1).seconds * 4 > found.seconds:
            return given, fastest(call, found.rounds)
        count = min(count * 4, full)


def _bytes_of_an_element(case: Case) -> int:
    given = case.arguments(SMALL)
    return sum(array.nbytes for array in given) // given[-1].size


def _beside(module: ModuleType, case: Case, given: Arrays, copy: float) -> float:
    assert case.other is not None, "only what others have is asked of them"
    return 100 * case.bytes(given) / others.seconds(module, case.other, given) / copy


def _compared(got: object, wanted: object, exact: bool) -> str:
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(_all(got), _all(wanted), strict=True)]
    if all(a.tobytes() == b.tobytes() for a, b in pairs):
        return "same"
    return "close" if not exact and all(np.allclose(a, b, rtol=1e-5) for a, b in pairs) else "different"


def _all(results: object) -> tuple[object, ...]:
    return results if isinstance(results, tuple) else (results,)


def chosen(found: argparse.Namespace) -> OpenCLBackend | None:
    """The device to measure on; None without a GPU, unless another will do. Raises `AccelDeviceError` for a wrong number."""
    kinds = {row.backend: row.kind for row in devices()}
    name = found.device or next((name for name, kind in kinds.items() if kind == "gpu" or found.any), None)
    if name is None or (kinds.get(name, "gpu") != "gpu" and not found.any):
        return None
    on = backend(name, 0)
    return on if isinstance(on, OpenCLBackend) else None


def main(given: Sequence[str]) -> int:
    """Print the table; 1 if there is no GPU."""
    found = arguments(given)
    on = chosen(found)
    if on is None:
        print(NO_GPU)
        return 1
    on.memory.keep_times()
    copy = copied(on, min(round(found.mb * 2**20), int(on.device.max_mem_alloc_size) // 2))
    what = "a GPU" if on.features.gpu else "no GPU, but what its processors do"
    print(
        f"{on.processor.strip()}, driver {on.device.driver_version}: {what}. It copies {copy / 1e9:.1f} GB/s, read and written"
    )
    print(
        f"{'program':28}{'MB':>7}{'ms':>10}{'% of copy':>11}{'wanted':>8}{'kernels':>9}{'build s':>9}  bits       others, %"
    )
    wanted = [case for case in CASES if not found.only or any(part in case.name for part in found.only)]
    cases = [case for case in wanted if on.features.gpu or not case.sorts]
    measured = []
    for row in rows(on, copy, cases, found):
        beside = ", ".join(f"{name} {percent:.0f}" for name, percent in row.others.items())
        print(
            f"{row.name:28}{row.megabytes:7.0f}{row.milliseconds:10.3f}{row.percent:11.1f}{row.wanted or '':>8}"
            f"{row.kernels:9}{row.build:9.2f}  {row.bits:9}  {beside}",
            flush=True,
        )
        if found.kernels:
            print(
                "".join(f"    {name} {milliseconds:.3f}\n" for name, milliseconds in row.each.items()),
                end="",
                flush=True,
            )
        measured.append(row)
    if found.json is not None:
        about = {"device": on.processor.strip(), "driver": on.device.driver_version, "copy": copy}
        found.json.write_text(json.dumps({**about, "programs": [asdict(row) for row in measured]}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
