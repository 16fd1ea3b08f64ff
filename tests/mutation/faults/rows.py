"""Faults of rows of vectors on llvm: where these begin, and how rows are cut into pieces."""

from __future__ import annotations

from tests.mutation.fault import Fault

_FROM_LINES = ("tests/llvm/test_rows_from_lines.py",)

FAULTS = (
    Fault(
        "vectors of a row begin a whole vector behind what comes under a mask",
        "backends/llvm/loops/vectors/loop.py",
        'routine.store("i64", end, position)',
        'routine.store("i64", routine.load("i64", position), position)',
        _FROM_LINES,
    ),
    Fault(
        "pieces of a row begin vectors where it begins",
        "backends/llvm/loops/vectors/pieces.py",
        "part.low if self._vectors.head is None else",
        "part.low if True else",
        _FROM_LINES,
    ),
)
