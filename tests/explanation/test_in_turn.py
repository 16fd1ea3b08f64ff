"""A loop that runs one iteration after the other says why, in data, as text and on the page; one in lanes says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped

XS, AT = np.ones(9), np.zeros(9, np.int64)


def looked_up(xs: Any, at: Any) -> Any:
    return A.fold(lambda a, x: xs[A.truncate(a, np.int64) % 9] + x, 0, xs)


def counted(xs: Any, at: Any) -> Any:
    return A.permute(A.add, A.fill((9,), A.constant(0.0, np.float64)), lambda ix: A.just(A.index(at[ix])), xs)


def dear(xs: Any, at: Any) -> Any:
    """Lanes save more than they lose by scattering one after the other."""
    return counted(A.map(A.exp, xs), at)


def summed(xs: Any, at: Any) -> Any:
    return A.sum(xs)


REASONS = {
    looked_up: ["the function that combines elements loads from an array, or loops"],
    counted: ["lanes would scatter one after the other, and save little else"],
    dear: [],
    summed: [],
}


@pytest.mark.parametrize("program", REASONS)
def test_why_loops_are_not_in_lanes(program: Any, tmp_path: Path) -> None:
    explained = untyped.explain(program, XS, AT)
    reasons = [cluster.in_turn for cluster in explained.clusters if cluster.in_turn]
    assert reasons == REASONS[program]
    vector = "vector" in explained.stages["schedule"].split("\nschedule of")[-1]
    assert vector == (not reasons)
    lines = [line for line in str(explained).splitlines() if "one iteration after the other" in line]
    assert lines == [f"  one iteration after the other: {reason}" for reason in reasons]
    explained.to_html(tmp_path / "page.html")
    assert ("runs one iteration after the other" in (tmp_path / "page.html").read_text()) == bool(reasons)


def test_work_items_have_no_lanes_to_speak_of() -> None:
    assert all(not cluster.in_turn for cluster in untyped.explain(looked_up, XS, AT, backend="opencl").clusters)
