"""One tool in a process of its own: `python -m benchmarks.peers.worker NAME`. It waits for orders and runs when told.

Orders and answers are lines of JSON on standard input and output. What a tool prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.compare import difference
from benchmarks.peers.peer import BY_NAME, Runnable
from benchmarks.peers.rest import rest
from benchmarks.peers.workloads import Cell, cell

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A workload that is ready to be timed; None: the tool lacks it. `wrong` says why it may not be."""

    call: Call | None
    wrong: str = ""


def prepare(tool: Runnable, of: Cell, folder: Path) -> Prepared:
    """The workload, run twice: what is compiled is compiled, and the result is compared."""
    inputs = tuple(np.load(path) for path in sorted(folder.glob("input*.npy")))
    call = tool.prepared(of, inputs)
    if call is None:
        return Prepared(None)
    call()
    found = tool.arrays(call())
    sizes = json.loads((folder / "sizes.json").read_text())
    expected = [np.load(path) for path in sorted(folder.glob("expected*.npy"))]
    return Prepared(call, difference(of, found, sizes, expected) if found else "")


def burst(call: Call, seconds: float) -> float:
    """The least time of a call, of as many as fit, and of one at least."""
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        call()
        now = time.perf_counter()
        best = min(best, now - start)
        if now >= end:
            return best


def main() -> None:
    """Answer orders until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    tool: Runnable | None = None
    prepared = Prepared(None)
    for line in sys.stdin:
        order: Mapping[str, str] = json.loads(line)
        try:
            if order["do"] == "prepare":
                prepared = Prepared(None)  # its memory is free before more is taken
                tool = tool or BY_NAME[sys.argv[1]].tool()
                of = cell(order["workload"], order["size"], order["element"])
                prepared = prepare(tool, of, Path(order["folder"]))
                answer: object = {"has": prepared.call is not None, "wrong": prepared.wrong}
            else:
                assert prepared.call is not None
                answer = {"seconds": burst(prepared.call, float(order["seconds"]))}
        except Exception as error:  # a tool may raise anything; the others go on
            prepared = Prepared(None)
            answer = {"has": True, "wrong": f"{type(error).__name__}: {error}"[:300]}
        rest()
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
