"""The workloads of `python -m benchmarks`: each tool that is installed computes what NumPy does, at a tiny size."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers.compare import difference, sample
from benchmarks.peers.peer import BY_NAME, OURS, PEERS, Peer, Tool
from benchmarks.peers.processes import Worker
from benchmarks.peers.rounds import measure
from benchmarks.peers.workloads import WORKLOADS, Array, cell
from tests.marks import long, slow

SLOW = ("numba-1", "jax")
"""They take seconds to compile."""

LONG = ("numba", "numba-fast", "numba-1-fast", "torch-compile")
"""They take longer."""

PARTIAL = ("halide", "polars")
"""They have some of the workloads."""

TINY = [cell(workload.name, "tiny", element) for workload in WORKLOADS for element in workload.types]
PARTS = 3
"""A plain `pytest` takes one of so many."""


@pytest.mark.llvm
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=long) for part in range(1, PARTS))])
@pytest.mark.parametrize(
    "peer",
    [
        pytest.param(peer, id=peer.name, marks=[slow] if peer.name in SLOW else [long] if peer.name in LONG else [])
        for peer in PEERS
    ],
)
def test_results_are_those_of_numpy(peer: Peer, part: int) -> None:
    if not peer.installed():
        pytest.skip(f"{peer.package} is not installed")
    numpy, tool = BY_NAME["numpy"].tool(), peer.tool()
    wrong: dict[str, str] = {}
    computed, asked = 0, TINY[part::PARTS]
    for of in asked:
        inputs = of.inputs()
        reference, call = numpy.prepared(of, inputs), tool.prepared(of, inputs)
        assert reference is not None
        expected = numpy.arrays(reference())
        if call is not None:
            computed += 1
            wrong[str(of)] = difference(
                of, tool.arrays(call()), [array.size for array in expected], [sample(array) for array in expected]
            )
    assert not {name: why for name, why in wrong.items() if why}
    assert computed == len(asked) or peer.name in PARTIAL
    assert computed


def test_every_program_is_a_workload_s() -> None:
    for name in (OURS, "numpy"):
        tool = BY_NAME[name].tool()
        assert isinstance(tool, Tool)
        assert set(tool.programs) == {workload.name for workload in WORKLOADS}


def test_what_must_be_moved_are_the_inputs_and_the_results() -> None:
    """But for what is read twice, what is filtered, and bytes that are not the workload's: computed here from the arrays."""
    numpy = BY_NAME["numpy"].tool()
    for name in (
        "dot",
        "saxpy",
        "mapchain",
        "blackscholes",
        "prefixsum",
        "softmax",
        "jacobi1",
        "nbody",
        "matmul",
        "rowcol",
    ):
        of = cell(name, "small" if name != "blackscholes" else "tiny", "float32")
        inputs = of.inputs()
        call = numpy.prepared(of, inputs)
        assert call is not None
        arrays: list[Array] = [*inputs, *numpy.arrays(call())]
        moved = sum(array.nbytes for array in arrays if array.ndim)
        assert moved == of.bytes, name


def test_results_that_differ_are_noticed() -> None:
    of = cell("saxpy", "tiny", "float32")
    right = np.arange(1, 1001, dtype=np.float32)
    assert difference(of, (right,), [1000], [sample(right)]) == ""
    assert difference(of, (right * 1.01,), [1000], [sample(right)]).startswith("result 0: ")
    assert difference(of, (right[1:],), [1000], [sample(right)]) == "sizes [999], not [1000]"
    few = cell("mandelbrot", "tiny", "float32")
    counts = np.full(1000, 7, np.int32)
    other = counts.copy()
    other[:5] = 9
    assert difference(few, (other,), [1000], [counts]) == ""
    other[:50] = 9
    assert difference(few, (other,), [1000], [counts]) == "result 0: 5.0% differ, 9 for 7"


@long
@pytest.mark.llvm
def test_workers_measure_when_they_are_told() -> None:
    """Each in a process of its own; NumPy also with memory that is kept."""
    peers = [BY_NAME["accel"], BY_NAME["numpy"], BY_NAME["copy"]]
    workers = [*(Worker(peer, 1, False) for peer in peers), Worker(BY_NAME["numpy"], 1, True)]
    try:
        for name in ("dot", "compact"):
            found = measure(cell(name, "tiny", "float32"), workers, rounds=2, seconds=0.001)
            assert not found.wrong
            assert set(found.seconds) == {"accel", "numpy", "numpy kept", "copy"}
            assert all(0 < seconds < 10 for seconds in found.seconds.values())
    finally:
        for worker in workers:
            worker.stop()


@slow
def test_a_worker_that_dies_is_no_figure() -> None:
    gone = Worker(Peer("there is no such tool", "with_nothing", "numpy"), 1, False)
    numpy = Worker(BY_NAME["numpy"], 1, False)
    try:
        found = measure(cell("saxpy", "tiny", "float32"), [gone, numpy], rounds=1, seconds=0.001)
    finally:
        numpy.stop()
        gone.stop()
    assert found.wrong.keys() == {gone.name}
    assert found.seconds.keys() == {"numpy"}
