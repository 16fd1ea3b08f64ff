"""Products that sum few elements read their factors where they lie, or a copy of some columns, and give the order's bits."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.processor import Registers
from accel.backends.protocol import compiled
from tests.llvm.processors import changed, compile_for, processor
from tests.llvm.test_tile import Rows, check, check_product, defined, numbers, program
from tests.llvm.tiles import packed, tiled
from tests.marks import one_in

Shape: TypeAlias = tuple[int, int, int]


def multiplied(x: Rows, y: Rows) -> Rows:
    return A.matmul(x, y)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("shape", "dtype"),
    one_in(
        2,
        [
            ((140, 33, 300), "float32"),  # blocks of 112 columns, and what is left
            ((33, 64, 129), "float32"),  # a column more than there is room for
            ((40, 5, 2000), "float64"),
            ((33, 96, 100), "float64"),
            ((35, 256, 50), "float32"),
        ],
    ),
)
def test_columns_are_copied_block_by_block(
    shape: Shape, dtype: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_for(monkeypatch, changed(registers=Registers(32, 16)))
    rows, count, columns = shape
    for batch in ((), (2,)):
        x, y = numbers((*batch, rows, count), dtype), numbers((*batch, count, columns), dtype, 1)
        (found,) = compiled(LLVMBackend(threads, tiled), program(multiplied, x, y))([x, y])
        assert found.tobytes() == defined(x, y).tobytes()


@pytest.mark.parametrize("registers", [(32, 16), (64, 32)])
@pytest.mark.parametrize(("count", "dtype"), [(68, "float32"), (256, "float32"), (33, "float64"), (128, "float64")])
def test_lanes_of_several_elements(
    count: int, dtype: str, registers: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_for(monkeypatch, changed(registers=Registers(*registers)))
    for rows, columns in ((1, 5), (7, 19), (3, 37)):
        check(multiplied, numbers((rows, count), dtype), numbers((count, columns), dtype, 1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", one_in(2, [5, 16, 17, 31, 33, 50, 64, 63]))
def test_columns_that_stay_in_registers_for_some_rows(count: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, changed(registers=Registers(64, 32)))
    for rows, columns in ((1, 5), (33, 16), (70, 37)):
        check(multiplied, numbers((rows, count), dtype), numbers((count, columns), dtype, 1))
    x, y = numbers((3, 35, count), dtype), numbers((3, count, 19), dtype, 1)
    check(lambda x, y: A.map(lambda e: A.max(e, 0), A.matmul(x, y)), x, y, threads=2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", one_in(3, [100, 65, 128, 97, 129, 250, 256]))
def test_columns_of_more_elements_are_copied_before_they_stay_in_registers(
    count: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_for(monkeypatch, processor(half_units=True, registers=Registers(64, 32), has_avx512=True))
    for rows, columns in ((1, 5), (17, 16), (19, 131)):
        check_product(numbers((rows, count), dtype), numbers((count, columns), dtype, 1))
    x, y = numbers((273, count), dtype), numbers((count, 131), dtype, 1)
    (one,), (other,) = (compiled(LLVMBackend(2, way), program(multiplied, x, y))([x, y]) for way in (packed, tiled))
    assert one.tobytes() == other.tobytes()
    x, y = numbers((2, 19, count), dtype), numbers((2, count, 131), dtype, 1)
    check(lambda x, y: A.map(lambda e: A.max(e, 0), A.matmul(x, y)), x, y, threads=2)


def test_columns_that_are_computed_and_stay_in_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, changed(registers=Registers(64, 32)))
    for count in (2, 7, 16):
        x, y = numbers((37, count), "float32"), numbers((count, 21), "float32", 1)
        check(lambda x, y: A.matmul(A.map(A.abs, x), A.map(lambda e: e * e - 1, y)), x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_a_row_or_two(dtype: str) -> None:
    run = A.runN(multiplied, backend="llvm")
    for shape in ((1, 64, 300), (1, 256, 50), (2, 40, 100), (3, 1, 33, 47), (90, 1, 5, 10), (1, 70, 100)):
        *around, count, columns = shape
        x, y = numbers((*around, count), dtype), numbers((*around[:-1], count, columns), dtype, 1)
        assert run(x, y).tobytes() == defined(x, y).tobytes(), shape


def test_what_is_fused_into_products_whose_columns_are_copied() -> None:
    def biased(x: Rows, y: Rows, c: Rows) -> Rows:
        return A.map(lambda e: A.max(e, 0), A.zipWith(A.add, A.matmul(x, y), c))

    x, y, c = numbers((45, 20), "float32"), numbers((20, 457), "float32", 1), numbers((45, 457), "float32", 2)
    expected = np.maximum(defined(x, y) + c, np.float32(0))
    for threads in (1, 2):
        (found,) = compiled(LLVMBackend(threads, tiled), program(biased, x, y, c))([x, y, c])
        assert found.tobytes() == expected.tobytes()


def test_rows_and_columns_that_lie_apart() -> None:
    x, y = numbers((80, 60), "float32")[::2, :25], numbers((50, 900), "float32", 1)[::-2, 5:447]
    (found,) = compiled(LLVMBackend(2, tiled), program(multiplied, x, y))([x, y])
    assert found.tobytes() == defined(x, y).tobytes()


def test_sums_of_which_none_is_a_product() -> None:
    def ratios(x: Any, y: Any) -> Any:
        left, right = (
            A.replicate((A.All, A.shape(y)[1], A.All), x),
            A.replicate((A.shape(x)[0], A.All, A.All), A.transpose(y)),
        )
        return A.fold(A.add, 0, A.zipWith(lambda p, q: p / q, left, right))

    for count in (9, 50, 63):
        check(ratios, numbers((13, count), "float64"), numbers((count, 21), "float64", 1))
