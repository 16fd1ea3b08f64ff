"""Faults of `llvm`: extremes, copies that iterations take turns with, reciprocals, how long nests take; of `opencl`: strips,
turns of loops."""

from __future__ import annotations

from tests.mutation.fault import Fault

_STRIPS = "tests/opencl/test_strips.py"

FAULTS = (
    Fault(
        "a turn takes buffers that a state is still in",
        "backends/opencl/turns.py",
        "if not taken[turn] or any(id(held) in used for held in taken[turn]):",
        "if not taken[turn]:",
        ("tests/opencl/test_turns.py::test_bits_are_the_references",),
    ),
    Fault(
        "both players of a loop have the same kernels",
        "backends/opencl/turns.py",
        "players = [self._turn.player(score, near=True) for _ in range(2)]",
        "players = [self._turn.player(score, near=True)] * 2",
        ("tests/opencl/test_turns.py::test_bits_are_the_references",),
    ),
    Fault(
        "kernels are not told of other buffers",
        "backends/opencl/scores.py",
        "if told.get(place) != id(buffer):",
        "if place not in told:",
        ("tests/opencl/test_turns.py::test_bits_are_the_references",),
    ),
    Fault(
        "straight code does the same whichever buffers are one",
        "backends/opencl/turns.py",
        "if each.before == sizes and each.pattern == entered)",
        "if each.before == sizes)",
        ("tests/opencl/test_turns.py::test_results_of_the_same_buffers_are_told_apart",),
    ),
    Fault(
        "the host reads what kernels still write",
        "backends/opencl/machine/memory.py",
        """        if self.busy:
            self.finish()
        epoch""",
        """        if not self.unified:
            self.finish()
        epoch""",
        ("tests/opencl/test_turns.py::test_bits_are_the_references",),
    ),
    Fault(
        "strips do not end with their row",
        "backends/opencl/code/kernel.py",
        "across = min(-(-each // self.vector) * self.vector, columns)",
        "across = min(each // self.vector * self.vector or each, columns)",
        (_STRIPS,),
    ),
    Fault(
        "strips begin at the first column, whatever the margins",
        "backends/opencl/loops/strips.py",
        'f"{found.margin.low} + " if found.margin.low',
        'f"{found.margin.low} * 0 + " if found.margin.low',
        (_STRIPS,),
    ),
    Fault(
        "a line is of any rows",
        "schedule/splitting/alike.py",
        "self._number((array, index[:-1]))",
        "self._number((array, len(index)))",
        ("tests/schedule/test_alike.py",),
    ),
    Fault(
        "a line is made for the column that asked first",
        "schedule/splitting/alike.py",
        "replace(each, index=(*each.index[:-1], column))",
        "replace(each, index=(*each.index[:-1], place))",
        ("tests/opencl/test_lines.py",),
    ),
    Fault(
        "columns by vectors begin in the margin",
        "backends/opencl/loops/lines.py",
        "lanes, found.margin.low, last,",
        "lanes, 0, last,",
        ("tests/opencl/test_lines.py",),
    ),
    Fault(
        "rows in the margins have no conditions either",
        "backends/opencl/loops/strips.py",
        """    if outer:
        with""",
        """    if outer and len(outer) < 0:
        with""",
        (f"{_STRIPS}::test_branches_at_edges_of_rows_and_columns",),
    ),
    Fault(
        "results are written where the first of several arrays has the right shape",
        "backends/llvm/calls/items.py",
        "for room in rooms:",
        "for room in rooms[:1]:",
        ("tests/run/test_outputs.py::test_nothing_is_written_where_a_second_shape_is_wrong",),
    ),
    Fault(
        "results are written before a check that may fail",
        "backends/llvm/calls/taken.py",
        "for item in items[_start(items, series) :]",
        "for item in items",
        ("tests/run/test_outputs.py::test_nothing_is_written_where_a_check_fails",),
    ),
    Fault(
        "a quotient by a reciprocal is not corrected by what is left",
        "backends/llvm/scalar_code/division/floats.py",
        '[rest, "%z", q]',
        '[rest, "%w", q]',
        ("tests/scalar/test_divisors.py",),
    ),
    Fault(
        "quotients of zeros by a reciprocal have no sign",
        "backends/llvm/scalar_code/division/floats.py",
        "{bits}, {sign}",
        "{bits}, {bits}",
        ("tests/scalar/test_divisors.py",),
    ),
    Fault(
        "numbers near the least one are divided by multiplying",
        "backends/llvm/scalar_code/division/floats.py",
        "LEAST_EXPONENT, MOST_EXPONENT = -600, 700",
        "LEAST_EXPONENT, MOST_EXPONENT = -1022, 700",
        ("tests/scalar/test_divisors.py",),
    ),
    Fault(
        "a nest takes as long as the shorter of its instructions and its bytes",
        "backends/llvm/loops/durations.py",
        "fcmp ogt double {moving}, {computing}",
        "fcmp olt double {moving}, {computing}",
        ("tests/llvm/test_durations.py",),
    ),
    Fault(
        "an element at an index that is data comes alone",
        "backends/llvm/loops/durations.py",
        "if id(statement) in at_data or isinstance(statement, Scatter):",
        "if isinstance(statement, Scatter):",
        ("tests/llvm/test_durations.py",),
    ),
    Fault(
        "short jobs wake workers only if they come late",
        "backends/llvm/threads/pool_text.py",
        "icmp slt i64 %gone, {SOON}",
        "icmp sge i64 %gone, {SOON}",
        ("tests/llvm/test_durations.py",),
    ),
    Fault(
        "a block is remembered that is beaten",
        "backends/llvm/loops/extremes.py",
        "BOOL, [values[0], before]",
        "BOOL, [before, values[0]]",
        ("tests/llvm/test_extremes.py::test_long_vectors",),
    ),
    Fault(
        "a NaN in every other vector is overlooked",
        "backends/llvm/loops/extremes.py",
        "{writer.every(one)}, {writer.every(other)}",
        "{writer.every(one)}, {writer.every(one)}",
        ("tests/llvm/test_extremes.py::test_the_first_nan_and_zeros_of_both_signs",),
    ),
    Fault(
        "a second NaN takes the place of the first where lanes have rows",
        "backends/llvm/states/row_places.py",
        "[nan, first])",
        "[nan, nan])",
        ("tests/llvm/test_extremes.py::test_rows_of_any_length_with_their_extremes",),
    ),
    Fault(
        "the place of rows of nothing but the worst is not theirs",
        "backends/llvm/states/row_places.py",
        "Fixed(constant(I64, 0))",
        "Fixed(constant(I64, I64.maximum))",
        ("tests/llvm/test_extremes.py::test_rows_of_any_length_with_their_extremes",),
    ),
    Fault(
        "a fold by the same operator takes an extreme of either sign that is zero",
        "backends/llvm/loops/extremes.py",
        "if not self._kind.is_float:\n            self._step_alone",
        "if self._kind.is_float:\n            self._step_alone",
        ("tests/llvm/test_extremes.py::test_rows_of_any_length_with_their_extremes",),
    ),
    Fault(
        "integers are packed with their places although one bit does not fit",
        "backends/first_places.py",
        "1 << 63 - _place_bits(rows)",
        "1 << 65 - _place_bits(rows)",
        ("tests/backends/test_first_places.py::test_wide_integers_that_are_near_to_each_other",),
    ),
    Fault(
        "the second one that comes behind an element does not move",
        "backends/llvm/sorting/kept.py",
        'shl {bits} {behind}, 1"',
        'shl {bits} {behind}, 2"',
        ("tests/llvm/test_selections.py::test_first_places_of_rows",),
    ),
    Fault(
        "what is equal to the bound is not wanted",
        "backends/llvm/sorting/selection_text.py",
        'i1 {worse}, i1 true")',
        'i1 {worse}, i1 false")',
        ("tests/llvm/test_selections.py::test_first_places_of_rows",),
    ),
    Fault(
        "groups of which a lane holds nothing have a best",
        "backends/llvm/sorting/selection_text.py",
        "self._vectors.both(active, better) or better",
        "better",
        ("tests/llvm/test_selections.py::test_first_places_of_rows",),
    ),
    Fault(
        "one of the copies that iterations take turns with is forgotten",
        "backends/llvm/loops/targets.py",
        "for places in made:\n                join",
        "for places in made[1:]:\n                join",
        ("tests/llvm/test_turns.py::test_counts",),
    ),
    Fault(
        "reciprocals of short integers are rounded to nearest",
        "backends/llvm/scalar_code/division/reciprocals.py",
        "if signed else (0,))), 1)",
        "if signed else (0,))), 0)",
        ("tests/scalar/test_divisors.py::test_all_of_8_bits",),
    ),
    Fault(
        "reciprocals of long integers are rounded up",
        "backends/llvm/scalar_code/division/reciprocals.py",
        "_DOWN = 8",
        "_DOWN = -8",
        ("tests/scalar/test_divisors.py::test_by_one",),
    ),
    Fault(
        "a multiplier is rounded down",
        "backends/llvm/scalar_code/division/multipliers.py",
        "%result = add i64 %more, 1",
        "%result = add i64 %more, 0",
        ("tests/scalar/test_divisors.py::test_multipliers",),
    ),
    Fault(
        "what a table of AVX2 moves to the front is what is not kept",
        "backends/llvm/emit/packing.py",
        "key=lambda lane: not mask >> lane & 1",
        "key=lambda lane: mask >> lane & 1",
        ("tests/llvm/test_packing.py",),
    ),
)
