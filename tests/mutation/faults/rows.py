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
    Fault(
        "what waits for the next vector is not stored at a row's end",
        "backends/llvm/emit/past_caches.py",
        "masked_store(code, self._kind, line, begin, self._writer.first_lanes(self._behind))",
        'masked_store(code, self._kind, line, begin, self._writer.first_lanes("0"))',
        _FROM_LINES,
    ),
    Fault(
        "a row's last vector, which begins earlier, is taken for the one behind the last",
        "backends/llvm/emit/past_caches.py",
        "if self.apart is None:",
        "if self.apart is not self:",
        _FROM_LINES,
    ),
    Fault(
        "the first line of a row is stored as a whole",
        "backends/llvm/emit/past_caches.py",
        "there = self._writer.without(None, self._writer.first_lanes(self._behind))",
        "there = self._writer.first_lanes(str(self._writer.lanes))",
        _FROM_LINES,
    ),
    Fault(
        "folds that are written out begin with another row's elements",
        "schedule/templates/cpu/side_by_side.py",
        "elements[number * share : (number + 1) * share]",
        "elements[:share]",
        ("tests/llvm/test_folded_rows.py::test_one_matrix_for_all",),
    ),
    Fault(
        "of rows that are loaded whole the neighbour of an element is taken",
        "backends/llvm/emit/lanes/interleaving.py",
        "place //= step",
        "place = place",
        ("tests/llvm/test_folded_rows.py::test_small_matrices",),
    ),
)
