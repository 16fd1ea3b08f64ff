"""The examples beside others: both run equally often, and nobody's first call counts."""

from __future__ import annotations

from benchmarks.examples import ROUNDS, Row, least


def test_both_run_in_turn() -> None:
    calls: list[str] = []
    row = Row("program", "other", lambda: calls.append("ours"), lambda: calls.append("theirs"))
    assert all(0 <= seconds < 1 for seconds in least(row))
    assert calls == ["ours", "theirs"] * (ROUNDS + 1)
