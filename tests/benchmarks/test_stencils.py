"""The stencils of the benchmark: results are equal, and a plan with recomputation moves fewer bytes."""

from __future__ import annotations

import pytest

from benchmarks.stencils import rows


@pytest.mark.llvm
def test_recomputation_halves_what_is_moved() -> None:
    """One array is stored and read again, not three; the input is read, and the result written. Two blurs are two loops."""
    found = {row.name: row.bytes for row in rows(1000, 1)}
    assert found == {"parts": (4 * 4096, 8 * 4096), "blurred": (6 * 4096, 6 * 4096)}
