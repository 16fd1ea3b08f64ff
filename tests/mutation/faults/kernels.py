"""Faults of the backend `llvm`: extremes, copies that iterations take turns with, reciprocals, how long nests take."""

from __future__ import annotations

from tests.mutation.fault import Fault

FAULTS = (
    Fault(
        "a quotient by a reciprocal is not corrected by what is left",
        "backends/llvm/scalar_code/quotients.py",
        '[rest, "%z", q]',
        '[rest, "%w", q]',
        ("tests/scalar/test_divisors.py",),
    ),
    Fault(
        "quotients of zeros by a reciprocal have no sign",
        "backends/llvm/scalar_code/quotients.py",
        "{bits}, {sign}",
        "{bits}, {bits}",
        ("tests/scalar/test_divisors.py",),
    ),
    Fault(
        "numbers near the least one are divided by multiplying",
        "backends/llvm/scalar_code/quotients.py",
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
        "for places in made:\n            join",
        "for places in made[1:]:\n            join",
        ("tests/llvm/test_turns.py::test_counts",),
    ),
    Fault(
        "reciprocals of short integers are rounded to nearest",
        "backends/llvm/scalar_code/reciprocals.py",
        "if signed else (0,))), 1)",
        "if signed else (0,))), 0)",
        ("tests/scalar/test_divisors.py::test_all_of_8_bits",),
    ),
    Fault(
        "reciprocals of long integers are rounded up",
        "backends/llvm/scalar_code/reciprocals.py",
        "_DOWN = 8",
        "_DOWN = -8",
        ("tests/scalar/test_divisors.py::test_by_one",),
    ),
)
