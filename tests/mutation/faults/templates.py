"""Faults of templates and their code: columns, row groups, blocks, short rows, chains, copies, series; and of layouts."""

from __future__ import annotations

from tests.mutation.fault import Fault

_COLUMNS = "tests/llvm/test_columns.py"
_SCANS = "tests/llvm/test_column_scans.py"
_GROUPS = "tests/llvm/test_row_groups.py"
_FOLDS_OF_STRIPS = "backends/llvm/templates/strips/folds.py"
_SCANS_OF_STRIPS = "backends/llvm/templates/strips/scans.py"
_ROW_GROUPS = "backends/llvm/templates/row_groups.py"

FAULTS = (
    Fault(
        "elements of small folds of a batch join in the order of their numbers",
        "backends/llvm/templates/tile/direct.py",
        'number = int(f"{place:0{bits}b}"[::-1], 2)',
        "number = place",
        ("tests/llvm/test_tile.py::test_batches_of_few_elements",),
    ),
    Fault(
        "elements that are not there are stored over the last one of a pack",
        "backends/llvm/templates/tile/packs.py",
        "in reversed([*enumerate(targets)])",
        "in enumerate(targets)",
        ("tests/llvm/test_tile.py::test_products_of_matrices",),
    ),
    Fault(
        "the whole tile begins a lane without elements",
        "backends/llvm/templates/tile/kernel.py",
        '("slt", UNEVEN[0])',
        '("slt", 0)',
        ("tests/llvm/test_tile.py::test_products_of_all_extents_are_what_the_order_defines",),
    ),
    Fault(
        "what stands where a lane has no element joins the lane before",
        "backends/llvm/templates/tile/kernel.py",
        "rest, mask = lane, there.get(lane)",
        "rest, mask = lane, None",
        ("tests/llvm/test_tile.py::test_lanes_without_elements_leave_others_as_they_are",),
    ),
    Fault(
        "a lane goes on with what stood in its row before",
        _FOLDS_OF_STRIPS,
        'self._together_at(rows, first, together, code.emit(f"icmp eq i64 {first}, {rows.start}"))',
        'self._together_at(rows, first, together, "false")',
        (f"{_COLUMNS}::test_sums",),
    ),
    Fault(
        "lanes of columns join that have no elements",
        "backends/llvm/templates/strips/accumulators.py",
        '"icmp slt i64 {self._lane(number)}, {present}"',
        '"icmp slt i64 {self._lane(number)}, {self._width}"',
        (f"{_COLUMNS}::test_sums",),
    ),
    Fault(
        "lanes of columns join in the order of their numbers",
        "backends/llvm/templates/strips/accumulators.py",
        'return code.emit(f"lshr i64 {reversed_}, {64 - self._bits}")',
        "return visited",
        (f"{_COLUMNS}::test_sums",),
    ),
    Fault(
        "the parts of a strip join from the second one on",
        "backends/llvm/templates/columns.py",
        'with routine.count("0", parts) as part:',
        'with routine.count("1", parts) as part:',
        (f"{_COLUMNS}::test_sums",),
    ),
    Fault(
        "columns are folded where another array runs across them",
        "schedule/templates/columns.py",
        "if any(place.varies for place in others) or not end.varies or end.folds:",
        "if not places:",
        (f"{_COLUMNS}::test_what_is_left_to_rows",),
    ),
    Fault(
        "a group of rows is scanned in steps of 1, 2 and 3",
        _SCANS_OF_STRIPS,
        "distance *= 2",
        "distance += 1",
        (f"{_SCANS}::test_running_sums",),
    ),
    Fault(
        "a block of columns goes on with the vectors of the one before",
        _SCANS_OF_STRIPS,
        "if self._neutral is not None and not self._any_order:",
        "if self._neutral is None and not self._any_order:",
        (f"{_SCANS}::test_running_sums",),
    ),
    Fault(
        "rows that stand for missing ones are written last",
        _SCANS_OF_STRIPS,
        "for row in reversed(written) if isinstance(statement, Write) else written:",
        "for row in written:",
        (f"{_SCANS}::test_forms",),
    ),
    Fault(
        "missing rows are scanned",
        _SCANS_OF_STRIPS,
        "limit = routine.least(end, bounds.get(self._guard(state), end))",
        'limit = routine.code.emit(f"add i64 {end}, 8")',
        (f"{_SCANS}::test_forms",),
    ),
    Fault(
        "scans from the right begin on the left",
        _SCANS_OF_STRIPS,
        "if self._loop.direction is LoopDirection.DOWN:",
        "if self._loop.direction is None:",
        (f"{_SCANS}::test_forms",),
    ),
    Fault(
        "results are laid out as others read them",
        "ir/lowering/layouts.py",
        "found.update(each.results, *each.parameters)",
        "found.update(*each.parameters)",
        (f"{_SCANS}::test_what_is_left_to_rows",),
    ),
    Fault(
        "arrays are laid out as their maker does not visit them",
        "ir/lowering/layouts.py",
        "return bool(reads) and all(access.index[-1] == indices[along] for access in reads)",
        "return bool(reads)",
        (f"{_SCANS}::test_what_is_left_to_rows",),
    ),
    Fault(
        "rows of a group take lanes of others",
        _ROW_GROUPS,
        "for left, right in zip(vectors[::2], vectors[1::2], strict=True)",
        "for right, left in zip(vectors[::2], vectors[1::2], strict=True)",
        (f"{_GROUPS}::test_rows_of_all_lengths",),
    ),
    Fault(
        "what is left of rows goes on into the next one",
        _ROW_GROUPS,
        "self._writer.first_lanes(left)",
        "self._writer.first_lanes(count)",
        (f"{_GROUPS}::test_rows_of_all_lengths",),
    ),
    Fault(
        "rows go on with what those before them came to",
        _ROW_GROUPS,
        "for fold in self._folds.values():\n            fold.begin()",
        "for fold in self._folds.values():\n            fold.step",
        (f"{_GROUPS}::test_rows_of_all_lengths",),
    ),
    Fault(
        "elements that are read from their end are transposed from their beginning",
        "backends/llvm/templates/tiles.py",
        "for vector in reversed(vectors) if self._across.back else vectors:",
        "for vector in vectors:",
        ("tests/llvm/test_blocks.py::test_reversed_ways",),
    ),
    Fault(
        "short rows join lanes that have no elements",
        "backends/llvm/states/row_folds.py",
        'pairs = routine.least(code.emit(f"sub i64 {present}, {distance}"), distance)',
        "pairs = distance",
        ("tests/llvm/test_short_rows.py::test_what_is_made_of_rows",),
    ),
    Fault(
        "runs join the other way round",
        "backends/llvm/states/staged_runs.py",
        "tools.merge(record, evens, odds)",
        "tools.merge(record, odds, evens)",
        ("tests/llvm/test_folds.py::test_folds_that_do_not_commute_beside_others",),
    ),
    Fault(
        "an odd run joins with what is not there",
        "backends/llvm/states/staged_runs.py",
        'whole = code.emit(f"ashr i64 {runs}, 1")',
        "whole = runs",
        (
            "tests/llvm/test_folds.py::test_sums",
            "tests/llvm/test_folds.py::test_folds_that_do_not_commute_beside_others",
        ),
    ),
    Fault(
        "strips do not know where a prefix ends",
        "backends/llvm/loops/vector_loop.py",
        "part = _Part(low, high, routine.least(high, full), start, extent)",
        "part = _Part(low, high, high, start, extent)",
        ("tests/llvm/test_phases.py::test_bits",),
    ),
    Fault(
        "a phase begins before what it needs is kept",
        "schedule/phases.py",
        "phase = max((made_in[maker] for maker in needs if maker in made_in), default=0)",
        "phase = 0",
        ("tests/llvm/test_phases.py::test_bits",),
    ),
    Fault(
        "what is cheap is there in every phase, whatever it needs",
        "schedule/phases.py",
        "            made_in[id(statement)] = phase\n            continue",
        "            continue",
        ("tests/issues/test_reads_after_dear_indices.py",),
    ),
    Fault(
        "a phase may have a statement before what it needs",
        "schedule/phases.py",
        "if any(stream in inside and stream not in found for stream in flow.needed(statement)):",
        "if any(stream not in inside for stream in found):",
        ("tests/schedule/test_phases.py",),
    ),
    Fault(
        "chunks of a scan that is not exact come to one total",
        "schedule/templates/chain.py",
        "return Chain(totals, any(not state.monoid.exact for state in running), counted)",
        "return Chain(totals, False, counted)",
        ("tests/llvm/test_chains.py::test_chunks_of_several_blocks",),
    ),
    Fault(
        "chunks of what a filter keeps begin with a block",
        "backends/llvm/states/pieces.py",
        'routine.store("i64", before, self._counter(routine, pointer))',
        'routine.store("i64", "0", self._counter(routine, pointer))',
        ("tests/llvm/test_pieces.py",),
    ),
    Fault(
        "blocks that chunks share have only their last elements",
        "backends/llvm/states/pieces.py",
        "self._copy(routine, self._last(routine, piece), own, self._open(routine, piece), ends)",
        "self._copy(routine, self._last(routine, piece), own, ends, ends)",
        ("tests/llvm/test_pieces.py",),
    ),
    Fault(
        "threads have copies of what is added up in order",
        "schedule/templates/copies.py",
        "not all(s.monoid.exact and s.monoid.neutral for s in scatters)",
        "not all(s.monoid.neutral for s in scatters)",
        ("tests/llvm/test_copies.py::test_sums_of_floats_have_no_copies",),
    ),
    Fault(
        "a series goes on where a check failed",
        "backends/llvm/templates/series.py",
        'routine.store("i64", "1", routine.offset("%frame", FAILED))',
        'routine.store("i64", "0", routine.offset("%frame", FAILED))',
        ("tests/llvm/test_series.py::test_checks_fail_as_they_do_one_after_the_other",),
    ),
)
