"""The benchmark of nests in tiles: its programs give what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.tiles import Row, rows

pytestmark = pytest.mark.llvm

SMALL = list(rows(32, 40))


@pytest.mark.parametrize("row", SMALL, ids=[row.name for row in SMALL])
def test_numpy_finds_the_same(row: Row) -> None:
    own = np.asarray(row.own(*row.arguments))
    for name, (other, _) in row.others.items():
        if name.startswith("NumPy"):
            found = np.asarray(other(*row.arguments))
            np.testing.assert_allclose(own[: len(found)], found, rtol=1e-4, atol=1e-4)
