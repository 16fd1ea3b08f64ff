"""What `python -m benchmarks` prints of made-up times: ratios, which cells are behind, and which lack a reason."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.__main__ import arguments, chosen_cells, workers
from benchmarks.peers.plot import svg
from benchmarks.peers.rounds import Measured
from benchmarks.peers.table import HEADING, Row, columns, data, heads, markdown, reasons, summary, text, unexplained
from benchmarks.peers.workloads import BY_NAME, cell

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def row(name: str, seconds: dict[str, float], wrong: dict[str, str] | None = None) -> Row:
    return Row(Measured(cell(name, "large", "float32"), seconds, wrong or {}))


AHEAD = row("dot", {"accel": 0.001, "numpy": 0.004, "numpy kept": 0.002, "numba-fast": 0.0001, "copy": 0.0005})
BEHIND = row("compact", {"accel": 0.003, "numpy": 0.004, "numpy kept": 0.002, "polars": 0.0029, "sum": 0.0015})
WRONG = row("matmul", {"numpy": 0.004}, {"accel": "1 % differ"})


def test_ratios() -> None:
    assert AHEAD.best(False) == ("numpy", 0.004)
    assert AHEAD.best(True) == ("numpy", 0.002)
    assert row("dot", {"accel": 0.001, "polars": 0.004}).best(True) is None
    assert AHEAD.share(False) == pytest.approx(0.25)
    assert AHEAD.bound == pytest.approx(0.5)
    assert BEHIND.best(False) == ("polars", 0.0029)
    assert [found.behind for found in (AHEAD, BEHIND, WRONG)] == [False, True, True]


def test_the_table_has_a_line_for_each_cell() -> None:
    rows = [AHEAD, BEHIND, WRONG]
    lines = text(rows).splitlines()
    assert lines[0].split()[:6] == ["workload", "size", "elements", "accel", "ms", "numpy"]
    assert " ".join(lines[1].split()) == "dot large float32 1 4 0.1 numpy 0.25 numpy 0.5 0.5"
    assert lines[2].split()[-1] == "behind"
    assert len(markdown(rows).splitlines()) == 5
    assert {line.count("|") for line in markdown(rows).splitlines()} == {len(heads(columns(rows))) + 1}


def test_the_summary_names_what_lacks_a_reason() -> None:
    page = f"# Page\n\n{HEADING}\n\n* `matmul`: no tiles.\n\n# Next\n\n* `compact`: not a reason, being elsewhere.\n"
    assert [match["workload"] for match in reasons(page)] == ["matmul"]
    assert unexplained([AHEAD, BEHIND, WRONG], page) == [BEHIND]
    assert "without a reason in docs/benchmarks.md: compact large float32" in summary([AHEAD, BEHIND], page)
    assert "accel behind in 0 (more than 1.10 times the best), geometric mean of accel/best 0.25" in summary(
        [AHEAD], page
    )
    narrower = f"{HEADING}\n\n* `compact` large float64: another.\n* `matmul` small: another.\n"
    assert unexplained([BEHIND, WRONG], narrower) == [BEHIND, WRONG]


def test_the_page_s_reasons_are_of_workloads() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert HEADING in page
    items = page.partition(HEADING)[2].partition("\n## ")[0].count("\n* ")
    assert [match["workload"] for match in reasons(page) if match["workload"] not in BY_NAME] == []
    assert len(reasons(page)) == items


def test_the_plot_is_a_picture_with_a_dot_for_each_time() -> None:
    picture = ElementTree.fromstring(svg([AHEAD, BEHIND, WRONG]))
    titles = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["numpy: 4.00", "numba-fast: 0.10", "numpy: 1.33", "polars: 0.97"]


def test_data_is_json() -> None:
    (found,) = json.loads(json.dumps(data([AHEAD])))
    assert found["workload"] == "dot"
    assert found["seconds"]["numpy kept"] == 0.002
    assert found["bytes"] == 160_000_000


def test_the_command_line_chooses() -> None:
    found = arguments(["--quick", "--only", "dot", "--only", "hist256", "--sizes", "small"])
    assert [str(cell) for cell in chosen_cells(found)] == ["dot small float32", "hist256 small int32"]
    assert not [worker for worker in workers(found) if worker.kept]
    both = workers(arguments(["--peers", "numpy", "--memory", "both"]))
    assert [worker.name for worker in both] == ["accel", "numpy", "copy", "sum", "numpy kept"]
    with pytest.raises(SystemExit):
        arguments(["--threads", "0"])
