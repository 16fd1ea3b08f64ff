"""What is left of rows behind groups of vectors: the same bits whether vectors of it are whole, or all of them masked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from tests.llvm.processors import changed, compile_for

Rows: TypeAlias = Any  # arrays of any rank and type: what is tested is values


def roots(x: Rows) -> Rows:
    """A fold and what it folds, written out."""
    each = A.map(lambda e: A.sqrt(A.abs(e)) / 3, A.map(lambda e: A.fromIntegral(e, np.float32) / 50, x))
    return each, A.fold(A.add, 0, each)


PROGRAMS: dict[str, Callable[[Rows], Rows]] = {
    "scan": lambda x: A.scanl1(A.add, x),
    "scan with an initial value": lambda x: A.scanl(A.add, 3, x),
    "scan from the right": lambda x: A.scanr(A.max, -50, x),
    "scan beside what it comes to": lambda x: A.scanlTotal(A.add, 2, x),
    "roots": roots,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_rests_of_rows(program: Callable[[Rows], Rows], monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [
        np.random.default_rng(columns).integers(-99, 99, (5, columns)).astype(np.int32)
        for columns in (0, 1, 15, 16, 17, 40, 63, 64, 65, 100, 128, 200)
    ]
    found = []
    for masks in (True, False):
        compile_for(monkeypatch, changed(has_avx512=masks))
        compiled = A.runN(program, backend="llvm")
        found.append([np.asarray(part).tobytes() for source in sources for part in _parts(compiled(source))])
    interpreted = A.runN(program, backend="interpreter")
    expected = [np.asarray(part).tobytes() for source in sources for part in _parts(interpreted(source))]
    assert found == [expected, expected]


def _parts(results: Rows) -> tuple[Rows, ...]:
    return results if isinstance(results, tuple) else (results,)
