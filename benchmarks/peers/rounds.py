"""Measures a cell: all workers prepare it, then run in turn, round after round; of each the least time counts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.compare import sample
from benchmarks.peers.peer import BY_NAME
from benchmarks.peers.processes import Worker
from benchmarks.peers.rest import rest
from benchmarks.peers.workloads import Cell


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell's least times in seconds, by the worker's name, and what was wrong with the others."""

    cell: Cell
    seconds: Mapping[str, float]
    wrong: Mapping[str, str]


def write(cell: Cell, folder: Path) -> None:
    """The inputs, and samples of what NumPy computes from them."""
    inputs = cell.inputs()
    for place, array in enumerate(inputs):
        np.save(folder / f"input{place}.npy", array)
    numpy = BY_NAME["numpy"].tool()
    call = numpy.prepared(cell, inputs)
    assert call is not None
    results = numpy.arrays(call())
    for place, array in enumerate(results):
        np.save(folder / f"expected{place}.npy", sample(array))
    (folder / "sizes.json").write_text(json.dumps([array.size for array in results]))


def measure(cell: Cell, workers: Sequence[Worker], rounds: int, seconds: float) -> Measured:
    """The cell by all workers that have it; a burst takes about so many seconds, or one call."""
    wrong: dict[str, str] = {}
    ready = []
    with tempfile.TemporaryDirectory() as folder:
        write(cell, Path(folder))
        rest()
        for worker in workers:
            worker.ask_to_prepare(cell, Path(folder))
        for worker in workers:
            answer = worker.answer()
            if answer["wrong"]:
                wrong[worker.name] = str(answer["wrong"])
            elif answer["has"]:
                ready.append(worker)
    best: dict[str, float] = {}
    for number in range(rounds):
        turn = [worker for worker in ready if worker.name not in wrong]
        for worker in turn if number % 2 == 0 else turn[::-1]:
            found = worker.time(seconds)
            if isinstance(found, str):
                wrong[worker.name] = found
            else:
                best[worker.name] = min(found, best.get(worker.name, found))
    return Measured(cell, {name: time for name, time in best.items() if name not in wrong}, wrong)
