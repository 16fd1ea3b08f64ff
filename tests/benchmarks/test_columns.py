"""The benchmark of columns: its programs give NumPy's results, which it checks before it measures."""

from __future__ import annotations

import pytest

from benchmarks.columns import rows


@pytest.mark.llvm
@pytest.mark.long
def test_all_rows_are_made() -> None:
    found = list(rows([(70, 40)], [(3, 50, 20)], 1, 1))
    assert [row.shape for row in found] == [(70, 40)] * 7 + [(3, 50, 20)] * 3
    assert all(time > 0 for row in found for time in row.clock)
