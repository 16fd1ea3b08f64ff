"""Faults of windows, and of folds of what they or short rows come to: which nests fold some, in which order, how what they read
is loaded, and what is known of bounds."""

from __future__ import annotations

from tests.mutation.fault import Fault

_TEXT = "backends/llvm/templates/strips/window_text.py"
_WINDOWS = ("tests/llvm/test_windows.py",)
_BENT = ("tests/llvm/test_bent_places.py",)
_DIMENSIONS = ("tests/llvm/test_folds_of_dimensions.py",)
_CONDITIONS = ("tests/llvm/test_conditions_of_places.py",)
_NUMBERS = ("tests/llvm/test_outer_folds.py::test_numbers_of_rows_and_columns",)

FAULTS = (
    Fault(
        "windows of every step are neighbours",
        "schedule/templates/columns.py",
        "apart = apart or (end.folds and end.step not in (-1, 1))",
        "apart = False",
        ("tests/llvm/test_windows.py",),
    ),
    Fault(
        "an index that is squared is a window's",
        "schedule/templates/columns.py",
        "or (end.folds and end.step is None):",
        "or False:",
        ("tests/llvm/test_windows.py::test_what_moves_otherwise_is_left_to_rows",),
    ),
    Fault(
        "positions are divided by a reciprocal that is rounded down",
        "backends/llvm/templates/strips/statements.py",
        """made[_reciprocal(loop)] = Uniform(code.emit(f"add i64 {whole}, 1"), I64)""",
        "made[_reciprocal(loop)] = Uniform(whole, I64)",
        _DIMENSIONS,
    ),
    Fault(
        "positions that are written out are not divided",
        _TEXT,
        "quotient, rest = divmod(int(element), count)",
        "quotient, rest = 0, int(element)",
        _DIMENSIONS,
    ),
    Fault(
        "positions stand for the same element of each inner loop",
        "schedule/templates/cpu/merged_folds.py",
        "_computed(statements, Operator.REM, rest, extent, 1 + len(statements))",
        "_computed(statements, Operator.MIN, rest, extent, 1 + len(statements))",
        ("tests/llvm/test_folds_of_dimensions.py::test_positions_stand_for_indices",),
    ),
    Fault(
        "places under conditions never wrap",
        "backends/llvm/emit/writer.py",
        'right = self.scalar.emit(f"xor i1 {wrong}, true")',
        'right = "true"',
        _CONDITIONS,
    ),
    Fault(
        "the lane in which a condition on places fails is the other end's",
        "backends/llvm/emit/writer.py",
        "least, most = holds if rising else holds[::-1]",
        "most, least = holds if rising else holds[::-1]",
        _CONDITIONS,
    ),
    Fault(
        "one of two conditions holds where both do",
        "backends/llvm/emit/writer.py",
        'words = ("and", "or") if operator is Operator.AND else ("or", "and")',
        'words = ("and", "or")',
        _CONDITIONS,
    ),
    Fault(
        "the last lane of a later period may be the next one's first",
        "backends/llvm/emit/bends.py",
        "icmp slt i64 {greatest}, {period}",
        "icmp sle i64 {greatest}, {period}",
        _BENT,
    ),
    Fault(
        "places before the first period have a later one",
        "backends/llvm/emit/bends.py",
        'f"icmp sge i64 {low}, 0", ',
        "",
        _BENT,
    ),
    Fault(
        "clamps bend no vector",
        "backends/llvm/emit/bends.py",
        'end, relation = (high, "sle")',
        'end, relation = (low, "sle")',
        _BENT,
    ),
    Fault(
        "lanes of bent places never wrap",
        "backends/llvm/emit/bends.py",
        """self._code.emit(f"icmp sle i64 {low}, {high}")""",
        '"true"',
        _BENT,
    ),
    Fault(
        "what was bent before is not",
        "backends/llvm/emit/bends.py",
        "return _Place(base, stride, even)",
        'return _Place(base, stride, "true")',
        _BENT,
    ),
    Fault(
        "windows that bend lie apart",
        "schedule/templates/columns.py",
        "[int() as step, 0] | [0, int() as step]",
        "[0 as step, 0]",
        _BENT,
    ),
    Fault(
        "what a function loads at the indices of loops is there",
        "schedule/splitting/bounds.py",
        "if not load.inside:",
        "if False:",
        ("tests/schedule/test_bounds.py",),
    ),
    Fault(
        "an index that falls is least at its first iteration",
        "schedule/splitting/bounds.py",
        "if step * sign > 0:",
        "if sign > 0:",
        ("tests/schedule/test_bounds.py",),
    ),
    Fault(
        "what a condition guards is always loaded",
        "schedule/splitting/bounds.py",
        "if not always or not isinstance(statement, OneToOne) or statement.when is not None:",
        "if not always or not isinstance(statement, OneToOne):",
        ("tests/schedule/test_bounds.py",),
    ),
    Fault(
        "loops without iterations are out of bounds",
        "backends/llvm/loops/nest.py",
        "for extent in self.streams.values(bound.around):",
        "for extent in self.streams.values(()):",
        ("tests/schedule/test_bounds.py",),
    ),
    Fault(
        "lanes of windows join in the order of their numbers",
        _TEXT,
        "return self._merged(loop, subtree(lane, 2 * step), subtree(lane + step, 2 * step))",
        "return self._merged(loop, subtree(2 * lane, 2 * step), subtree(2 * lane + 1, 2 * step))",
        _WINDOWS,
    ),
    Fault(
        "few elements of windows join in the order of their numbers",
        _TEXT,
        "if step >= count:\n                return self._stepped(loop, here, str(lane), [{}] * len(here.vectors))",
        "if step >= count // 2:\n                return self._stepped(loop, here, str(lane), [{}] * len(here.vectors))",
        _WINDOWS,
    ),
    Fault(
        "subtrees of windows join with their neighbours only",
        _TEXT,
        "half //= 2",
        "half //= 4",
        _WINDOWS,
    ),
    Fault(
        "strips go on in the row in which they began",
        "backends/llvm/templates/strips/windows.py",
        "following = code.emit(f\"add i64 {index}, {code.emit(f'zext i1 {last} to i64')}\")",
        'following = code.emit(f"add i64 {index}, 0")',
        _WINDOWS,
    ),
    Fault(
        "two loops of other lengths have the code of these",
        "backends/llvm/templates/strips/windows.py",
        "number = code.emit(f\"add i64 {code.emit(f'mul i64 {number}, {WRITTEN + 1}')}, {count}\")",
        'number = code.emit(f"add i64 {number}, {count}")',
        _WINDOWS,
    ),
    Fault(
        "what a function of indices loads across rows is left to the function",
        "schedule/templates/choose.py",
        "found = read if blocks(read) is not None else unchecked",
        "found = unchecked",
        ("tests/llvm/test_blocks.py::test_transposes_by_functions_of_indices",),
    ),
    Fault(
        "what lies apart, and is the same for all that is folded, is in the way",
        "schedule/templates/columns.py",
        "and not any(place.folds for place in places):",
        "and False:",
        ("tests/llvm/test_outer_folds.py::test_what_lies_apart_is_loaded_before",),
    ),
    Fault(
        "what differs between elements that are folded is loaded before",
        "schedule/templates/cpu/loaded_before.py",
        "if not (isinstance(a, Stream) and a.name in own)}",
        "if True}",
        ("tests/llvm/test_outer_folds.py::test_what_lies_apart_is_loaded_before",),
    ),
    Fault(
        "short rows are folded in turn whatever folds them",
        "schedule/templates/short_rows.py",
        "return any_order(state) or in_lanes_of_order(state)",
        "return True",
        ("tests/llvm/test_outer_folds.py::test_what_does_not_run_in_lanes",),
    ),
    Fault(
        "columns are folded in turn whatever folds them",
        "schedule/templates/columns.py",
        "return joins and _steps_its_own(loop) and not others",
        "return _steps_its_own(loop) and not others",
        ("tests/llvm/test_outer_folds.py::test_what_does_not_run_in_lanes",),
    ),
    Fault(
        "each vector of short rows is the first of a block",
        "backends/llvm/templates/short_rows.py",
        "return self.outer.step(statement.state, values, active, at, start)",
        "return self.outer.step(statement.state, values, active, at, at)",
        _NUMBERS,
    ),
    Fault(
        "lanes without a row are folded",
        "backends/llvm/templates/short_rows.py",
        "return self.outer.step(statement.state, values, active, at, start)",
        "return self.outer.step(statement.state, values, None, at, start)",
        _NUMBERS,
    ),
    Fault(
        "lanes without a column are folded",
        _TEXT,
        "return self.outer.step(statement.state, values, mask, vector, start)",
        "return self.outer.step(statement.state, values, None, vector, start)",
        _NUMBERS,
    ),
    Fault(
        "what columns come to is folded as one block",
        "backends/llvm/states/outer_folds.py",
        "with self._routine.count(low, high, BLOCK) as start:",
        "with self._routine.count(low, high, 1 << 40) as start:",
        ("tests/llvm/test_outer_folds.py::test_what_is_computed_of_indices",),
    ),
    Fault(
        "tiles take sums of nothing",
        "backends/llvm/templates/tile/ways/alternative.py",
        "fcmp ogt double {own}, 0.0",
        "fcmp oge double {own}, 0.0",
        ("tests/ir/test_contractions.py::test_of_any_memory_and_extents",),
    ),
)
