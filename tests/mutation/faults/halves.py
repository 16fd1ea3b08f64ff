"""Faults of float16 on llvm: roundings, sorts, products."""

from __future__ import annotations

from tests.mutation.fault import Fault

_HALVES = "tests/scalar/test_halves.py::test_fma_has_the_bits_of_exact_fractions"
_FLOAT16 = "tests/run/test_float16.py"

FAULTS = (
    Fault(
        "64 bits are rounded twice on the way to 16",
        "backends/llvm/scalar_code/halves.py",
        'exact = code.emit(f"bitcast {whole} {odd} to',
        'exact = code.emit(f"bitcast {whole} {bits} to',
        (_HALVES,),
    ),
    Fault(
        "ties of 16 bits that are computed go to odd",
        "backends/llvm/scalar_code/halves.py",
        "code.emit(f'add {whole} {half}, {odd}')",
        "code.emit(f'sub {whole} {half}, {odd}')",
        (_HALVES,),
    ),
    Fault(
        "infinities of 16 bits sort as what is no number",
        "backends/llvm/sorting/radix_text.py",
        "%nan = icmp ugt i16 %magnitude, {0x7C00}",
        "%nan = icmp uge i16 %magnitude, {0x7C00}",
        (f"{_FLOAT16}::test_numpy_sorts_alike",),
    ),
    Fault(
        "products of 16 bits are added before they are rounded",
        "labelled/algebra.py",
        "if operator is Operator.ADD and kind in (F32, F64)]",
        "if operator is Operator.ADD and kind.is_float]",
        (f"{_FLOAT16}::test_products_of_matrices",),
    ),
)
