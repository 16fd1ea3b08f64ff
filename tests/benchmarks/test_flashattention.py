"""Plans of attention in three ways, beside those of the graphs that were transcribed from the CFAL benchmarks."""

from __future__ import annotations

from accel.ilp.plan import search
from accel.ilp.problem.options import Options
from benchmarks.fusion_graph import graph_of
from benchmarks.fusion_reader import read
from benchmarks.fusion_suite import FILES, attention


def test_plans_of_programs_and_transcriptions() -> None:
    """Array accesses of programs and of the files' graphs.

    The programs are shorter: they name no copies and no counter, index what the files replicate, and the tiled one scales
    outputs once for each block.
    """
    options = Options(cost="reads_writes")
    programs = [search(subject.graph, options) for subject in attention()]
    files = [search(graph_of(drawing), options) for drawing in read(FILES / "flashattention.json")]
    assert all(answer.proved for answer in (*programs, *files))
    tiled_file, by_rows_file, naive_file = files
    assert [answer.cost for answer in programs] == [(7,), (12,), (21,)]
    assert [answer.cost for answer in (naive_file, by_rows_file, tiled_file)] == [(10,), (14,), (28,)]
