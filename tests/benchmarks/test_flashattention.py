"""Attention in three ways: the same as NumPy, whichever way it runs, and as good a plan as the transcribed graph's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import accel as A
from accel.ilp.plan import search
from accel.ilp.problem.options import Options
from accel.support.choices import Strategy
from benchmarks.flashattention import Floats, Table, attention_numpy, by_rows, inputs, naive, tiled
from benchmarks.fusion_graph import graph_of
from benchmarks.fusion_reader import read
from benchmarks.fusion_suite import FILES, attention
from tests.marks import one_in

WAYS = (naive, by_rows, tiled)
Way = Callable[[Table, Table, Table], Table]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: str(way.__name__))
@pytest.mark.parametrize(
    ("backend", "n", "d"), [("interpreter", 8, 4), ("llvm", 8, 4), ("llvm", 192, 16), ("llvm", 4, 4)]
)
def test_the_same_as_numpy(way: Way, backend: str, n: int, d: int) -> None:
    given = inputs(n, d)
    with A.using(backend=backend):
        found = A.runN(way)(*given)
    np.testing.assert_allclose(found, attention_numpy(*given), rtol=2e-5, atol=2e-6)


@pytest.mark.llvm
@pytest.mark.slow
def test_blocks_of_other_sizes() -> None:
    @A.runN
    def wide(q: Table, k: Table, v: Table) -> Table:
        return tiled(q, k, v, rows=2, columns=8)

    given = inputs(16, 4)
    np.testing.assert_allclose(wide(*given), attention_numpy(*given), rtol=2e-5, atol=2e-6)


@pytest.mark.llvm
@pytest.mark.slow
def test_large_scores_need_a_stable_softmax() -> None:
    q, k, v = inputs(16, 4)
    scaled: Floats = q * np.float32(100)
    want = attention_numpy(scaled, k, v)
    with np.errstate(over="ignore", invalid="ignore"):
        assert not np.isfinite(A.runN(naive)(scaled, k, v)).all()
    for way in (by_rows, tiled):
        np.testing.assert_allclose(A.runN(way)(scaled, k, v), want, rtol=2e-3, atol=2e-4)


@pytest.mark.llvm
@pytest.mark.parametrize("strategy", one_in(2, ["none", "greedy"]))
def test_other_strategies(strategy: Strategy) -> None:
    given = inputs(8, 4)
    for way in WAYS:
        with A.using(strategy=strategy):
            found = A.runN(way)(*given)
        np.testing.assert_allclose(found, attention_numpy(*given), rtol=2e-5, atol=2e-6)


def test_plans_of_programs_and_transcriptions() -> None:
    """Array accesses of programs and of the files' graphs.

    naive: the file copies `v` in order to force it, one read and one write; here that costs nothing. by rows: the same. tiled:
    the file replicates `mj` twice (`mjrep`, `mj_bc`), here that is one operation and its result is read by one cluster less;
    but the loop's condition is computed in its step here, and is one array more that is written.
    """
    options = Options(cost="reads_writes")
    programs = [search(subject.graph, options) for subject in attention()]
    files = [search(graph_of(drawing), options) for drawing in read(FILES / "flashattention.json")]
    assert all(answer.proved for answer in (*programs, *files))
    tiled_file, by_rows_file, naive_file = files
    assert [answer.cost for answer in programs] == [(8,), (14,), (28,)]
    assert [answer.cost for answer in (naive_file, by_rows_file, tiled_file)] == [(10,), (14,), (28,)]
