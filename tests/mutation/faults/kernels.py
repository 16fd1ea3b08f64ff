"""Faults of the backend `llvm`: where extremes stand, copies that iterations take turns with, reciprocals."""

from __future__ import annotations

from tests.mutation.fault import Fault

FAULTS = (
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
