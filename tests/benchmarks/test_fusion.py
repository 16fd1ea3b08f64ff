"""The command line, end to end."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from accel.ilp.problem.options import Options
from benchmarks import fusion
from benchmarks.fusion_graph import graph_of
from benchmarks.fusion_measure import measure
from benchmarks.fusion_random import random_drawing
from benchmarks.fusion_suite import everything
from benchmarks.fusion_table import cost_text, gap_text, number
from tests.benchmarks.graph_files import node, two_maps, write
from tests.marks import long

ROOT = Path(__file__).parents[2]


def run(*given: str) -> subprocess.CompletedProcess[str]:
    """The command, as a user gives it."""
    command = [sys.executable, "-m", "benchmarks.fusion", *given]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@long
def test_a_tiny_file(tmp_path: Path) -> None:
    fields = two_maps()
    fields["nodes"] += [node("c", "map", "b"), node("d", "fold", "b", shape="scalar")]
    done = run(str(write(tmp_path, fields)), "--cost", "reads_writes", "--solver", "cbc")
    assert (done.returncode, done.stderr) == (0, "")
    head, costs, ours, published, robinson = done.stdout.splitlines()[2:7]
    assert head == "graph: 3 operations, 3 edges"
    assert costs == "  reads_writes: unfused 6, greedy 4, best 4; greedy reaches it"
    assert re.fullmatch(r"    accel        cbc +4      -       - +[\d.]+ +[\d.]+", ours)
    assert re.fullmatch(r"    published    cbc +4 +\d+ +\d+ +[\d.]+ +[\d.]+", published)
    assert re.fullmatch(r"    robinson     cbc +4 +\d+ +\d+ +[\d.]+ +[\d.]+", robinson)
    assert "9.77 s" in done.stdout


def test_malformed_files_end_it_before_it_begins(tmp_path: Path) -> None:
    good = write(tmp_path, two_maps())
    bad = tmp_path / "bad.json"
    bad.write_text("{", encoding="utf-8")
    done = run(str(good), str(bad), str(tmp_path / "none.json"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"{bad}: it is not JSON: line 1, column 2: Expecting property name enclosed in double quotes",
        f"{tmp_path / 'none.json'}: it cannot be read: No such file or directory",
    ]


@pytest.mark.parametrize(
    "given",
    [["--solver", "glpk"], ["--cost", "money"], ["--formulation", "other"], ["--seconds", "0"], ["--repeat", "0"]],
)
def test_a_wrong_command_line_is_no_traceback(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        fusion.main(given)
    assert caught.value.code == 2
    assert "python -m benchmarks.fusion: error:" in capsys.readouterr().err


def test_only_some_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    fusion.main(["--only", "multigrid epilogue", "--solver", "cbc", "--cost", "reads_writes", "--formulation", "accel"])
    printed = capsys.readouterr().out
    assert re.findall(r"^\S.*: \d+ operations", printed, re.MULTILINE) == ["multigrid epilogue_l2norm: 5 operations"]


def test_a_measurement_counts_the_programs_that_are_solved() -> None:
    graph = graph_of(random_drawing(25, 25))
    found = measure(graph, Options(cost="reads_writes"), repeat=2)
    assert found.answer.proved
    assert found.trouble == ""
    assert min(found.rows, found.columns) > 20
    assert found.first is not None
    assert found.seconds > 0


def test_without_time_there_is_no_proof_and_no_first() -> None:
    found = measure(graph_of(random_drawing(50, 50)), Options(cost="reads_writes", time_limit=1e-6))
    assert not found.answer.proved
    assert found.first is None
    assert "gave no proved answer" in found.trouble


def test_the_default_run_has_all_graphs() -> None:
    names = [subject.name for subject in everything()]
    assert len(set(names)) == len(names) == 29
    assert {"lulesh", "multigrid", "flashattention", "attention tiled", "rand200", "ladder100"} <= set(names)


def test_names_that_cannot_be_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = {"nodes": [node("a\x1b", "use"), node("\ud800\n", "gather", {"from": "a\x1b", "how": "gather-source"})]}
    path = write(tmp_path, {**fields, "outputs": [], "extra_graphs": {"\ud800": {**fields, "outputs": []}}})
    fusion.main([str(path), "--solver", "cbc", "--cost", "reads_writes"])
    assert "graph \\ud800: 1 operations, 1 edges" in capsys.readouterr().out


def test_numbers() -> None:
    assert [number(count) for count in (0, 999_999, 1_000_000, 12_901_683_200, 10**18)] == [
        "0",
        "999999",
        "1M",
        "12.9G",
        "1E",
    ]
    assert cost_text((94_220, 3, 4)) == "94220/3/4"
    assert gap_text((5, 2), (5, 2)) == "greedy reaches it"
    assert gap_text((110, 2), (100, 3)) == "greedy is 10 % above it"
    assert gap_text((5, 2), (5, 0)) == "greedy is 2 above it in level 2"
