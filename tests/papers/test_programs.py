"""The papers' programs are fused as the papers say, counted at the level of the user's program.

A loop is a nest over at least one dimension; a read or write is a pass over an array; `1` counts single elements.
"""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from tests.papers import programs

INTS = np.arange(10)


def test_normalise2_is_two_loops_with_2n_plus_2_reads_and_writes() -> None:
    """[vB20 Fig. 12], left."""
    found = A.explain(programs.normalise2)
    assert (found.loops, dict(found.reads), dict(found.writes)) == (2, {"n0": 2, "1": 2}, {"1": 2, "n0": 2})
    assert found.proved


def test_normalise2_as_written_is_five_loops() -> None:
    """[vB20 Fig. 12]: 5n + 2 reads, of which the scan's result has n + 1 elements; 3n + 2 writes likewise."""
    found = A.explain(programs.normalise2, strategy="none")
    assert found.loops == 5
    assert dict(found.reads) == {"n0": 4, "n0+1": 1, "1": 2}
    assert dict(found.writes) == {"1": 2, "n0": 2, "n0+1": 1}


def test_expanded_normalise2_is_two_loops_and_keeps_its_map() -> None:
    """[vB20 Fig. 12], right: 2n + 2 reads, 3n + 2 writes; the map is fused diagonally."""
    found = A.explain(programs.expanded_normalise2)
    assert (found.loops, dict(found.reads), dict(found.writes)) == (2, {"n0": 2, "1": 2}, {"n0": 3, "1": 2})
    assert [array.producer.split()[0] for array in found.arrays if array.status == "kept"] == ["map"]
    assert [array.producer.split()[0] for array in found.arrays if array.status == "fused"] == ["scanl"]


def test_normalize2_with_a_filter_is_two_loops() -> None:
    """[Rob Fig. 1.1], middle."""
    found = A.explain(programs.normalize2)
    assert (found.loops, found.reads["n0"], found.writes["n0"]) == (2, 2, 2)


def test_normalizeInc_reads_twice_instead_of_storing() -> None:
    """[Rob Fig. 1.9]: three accesses per element rather than four."""
    found = A.explain(programs.normalizeInc)
    assert (found.loops, found.reads["n0"], found.writes["n0"]) == (2, 2, 1)


def test_filterMax_is_one_loop() -> None:
    """[Rob section 1.5.4]."""
    assert A.explain(programs.filterMax).loops == 1


def test_singleLoop_is_one_loop_without_intermediates() -> None:
    found = A.explain(programs.singleLoop, duplicate="published")
    assert (found.loops, dict(found.reads), dict(found.writes)) == (1, {"n0": 2}, {"n0": 1})


@pytest.mark.parametrize(
    ("program", "loops", "reads", "writes"),
    [
        (programs.simple1, 1, {"n0": 2}, {"n0": 1}),
        (programs.simple2, 1, {"n1": 3}, {"n1": 1}),
        (programs.simple3, 2, {"n0": 2, "n1": 1}, {"n0": 1, "n1": 1}),
        (programs.simple4, 1, {"n0": 1, "n0*n2": 1}, {"n0": 1}),
        (programs.simple5, 1, {"n0": 3}, {"n0": 1}),
    ],
)
def test_simple_programs(program: object, loops: int, reads: dict[str, int], writes: dict[str, int]) -> None:
    """[vB24 section 3.3], signatures `[is:0, xs:l | bs:0]` and so on: what is read at l counts the gather's size."""
    found = A.explain(program, duplicate="published")
    assert (found.loops, dict(found.reads), dict(found.writes)) == (loops, reads, writes)


def test_scatterExample_fuses_the_pairs_into_the_scatter() -> None:
    """[vB24 Fig. 3], right."""
    found = A.explain(programs.scatterExample, duplicate="published")
    assert [[operation.split()[0] for operation in cluster.operations] for cluster in found.clusters] == [
        ["map"],
        ["map", "scatter"],
    ]


def test_greedyBottomUpBad_does_not_store_the_large_array() -> None:
    found = A.explain(programs.greedyBottomUpBad, INTS, duplicate="published", cost="bytes", sizes="actual")
    (large,) = (array for array in found.arrays if array.producer.startswith("gather"))
    assert (found.loops, large.status) == (2, "fused")


def test_greedyTopDownBad_fuses_cs_with_es() -> None:
    found = A.explain(programs.greedyTopDownBad, duplicate="published")
    assert (found.loops, found.writes["n0"]) == (2, 1)
    assert len(found.clusters[0].operations) == 1
