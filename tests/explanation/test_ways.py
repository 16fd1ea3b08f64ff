"""What explanations and profiles say about the ways to run a loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.measure import measuring, timing
from accel.errors import AccelIndexError
from accel.explanation.facts.ways import WayReport
from accel.profiling import runs

Floats = A.Acc[A.Vector[np.float32]]


def column_sums(xs: A.Acc[A.Matrix[np.float32]]) -> Floats:
    return A.fold(A.add, 0, A.transpose(xs))


@pytest.fixture(autouse=True)
def _by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which rows are fastest."""
    measuring.forget()
    monkeypatch.setattr(runs, "SECONDS", 0.0)
    monkeypatch.setattr(runs, "ELEMENTS", 1000)

    def times(*given: Any) -> timing.Times:  # Any: what timers take
        return {nest: tuple(1.0 / (1 + k) for k in range(len(some))) for nest, some in given[3].items()}

    monkeypatch.setattr(timing, "times", times)


XS = np.ones((300, 70), np.float32)


def test_alternatives_with_their_times() -> None:
    found = A.explain(column_sums, XS, rearrange="measure")
    assert [(way.template, way.milliseconds, way.chosen) for way in found.clusters[0].ways] == [
        ("columns", 1000.0, False),
        ("rows", 500.0, True),
    ]
    lines = [line.strip() for line in str(found).splitlines()]
    columns, rows = found.clusters[0].ways
    assert f"by rows: predicted {rows.predicted:.3f} ms, measured 500.000 ms, chosen" in lines
    assert f"by columns: predicted {columns.predicted:.3f} ms, measured 1,000.000 ms" in lines


def test_without_arrays_nothing_is_measured() -> None:
    columns, rows = A.explain(column_sums, rearrange="measure").clusters[0].ways
    assert (columns.milliseconds, columns.chosen, rows.milliseconds, rows.chosen) == (None, True, None, False)
    assert str(columns) == "columns: not measured, chosen"


def test_the_model_has_nothing_to_say() -> None:
    assert A.explain(column_sums, XS).clusters[0].ways == ()
    assert A.explain(column_sums, XS, rearrange="measure", backend="interpreter").clusters[0].ways == ()


def test_the_page_and_the_profile(tmp_path: Path) -> None:
    found = A.profile(column_sums, XS, rearrange="measure")
    assert found.loops[0].ways == found.explanation.clusters[0].ways
    assert [way.chosen for way in found.loops[0].ways] == [False, True]
    line = f"by {found.loops[0].ways[1]}"
    assert line.endswith("measured 500.000 ms, chosen")
    assert f"    {line}" in str(found).splitlines()
    found.to_html(tmp_path / "page.html")
    assert f"<li>{line}</li>" in (tmp_path / "page.html").read_text()


def test_explain_raises_what_the_program_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    def wrong(xs: A.Acc[A.Matrix[np.float32]]) -> tuple[Floats, Floats]:
        return column_sums(xs), A.map(lambda i: xs[0, i], A.generate((71,), lambda i: i[0]))

    A.explain(wrong, XS)
    with pytest.raises(AccelIndexError):
        A.explain(wrong, XS, rearrange="measure")


def test_texts() -> None:
    assert str(WayReport("tile", None, 1234.5, chosen=True)) == "tile: measured 1,234.500 ms, chosen"
    assert str(WayReport("rows", 2.0, None, chosen=False)) == "rows: predicted 2.000 ms, not measured"
