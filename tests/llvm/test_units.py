"""Sums in tiles on processors with units of their own for these: the same bits, and on the units that are less busy."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import accel as A
from accel.backends.llvm.machine.processor import Registers
from tests.llvm.processors import compile_for, processor
from tests.llvm.test_tile import Rows, check, check_product, left, numbers, pairs, right


@pytest.mark.parametrize("extremes_add", [False, True])
def test_what_is_computed_inside_of_tiles_on_other_units(extremes_add: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Differences whose sign shows, of few elements and of many."""
    compile_for(monkeypatch, processor(adds_apart=True, extremes_add=extremes_add))
    for count in (16, 130):
        a, b = numbers((14, count), "float32"), numbers((21, count), "float32", 1)
        check(lambda x, y: A.fold(A.add, 0, pairs(A.sub, x, y)), a, b)
        check(lambda x, y: A.fold1(A.max, pairs(A.sub, x, y)), a, b)


@pytest.mark.parametrize("registers", [(32, 16), (64, 32)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_differences_of_one_element_in_each_lane(
    dtype: str, registers: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With AVX-512 every other row is added to from memory, and overwrites a copy of the columns."""
    compile_for(monkeypatch, processor(adds_apart=True, registers=Registers(*registers)))
    for count in (7, 8, 16, 32, 50, 64):
        a, b = numbers((14, count), dtype), numbers((37, count), dtype, 1)
        check(lambda x, y: A.fold(A.add, 0, pairs(lambda p, q: (p - q) * (p - q), x, y)), a, b)
        check(lambda x, y: A.fold(A.add, 0.5, pairs(A.sub, x, y)), a, b, threads=2)


@pytest.mark.parametrize(("dtype", "other"), [("float64", "int8"), ("float32", "float64"), ("float64", "float16")])
def test_differences_beside_columns_that_do_not_fill_a_register(
    dtype: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or that fill two: these have no register that LLVM could copy them to, and it ended the process."""
    compile_for(monkeypatch, processor(adds_apart=True, registers=Registers(64, 32)))

    def near(x: Rows, y: Rows, kinds: Rows, others: Rows) -> Rows:
        rows, columns = A.shape(x)[0], A.shape(y)[0]
        apart = A.zipWith(lambda p, q: (p - q) * (p - q), left(x, columns), right(y, rows))
        same = A.zipWith(lambda p, q: p == q, left(kinds, columns), right(others, rows))
        return A.fold(A.add, 0, A.zipWith(lambda square, equal: A.cond(equal, square, 0.25), apart, same))

    given = [numbers((rows, 32), kind, rows) for kind in (dtype, other) for rows in (14, 37)]
    check(near, *given[:2], *(each.clip(0, 1).round().astype(each.dtype) for each in given[2:]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_strips_of_several_lanes_where_units_are_half_as_wide_as_registers(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lanes of 2 to 17 elements, some with one more than others."""
    compile_for(monkeypatch, processor(half_units=True, registers=Registers(64, 32)))
    for rows, count, columns in ((9, 130, 70), (9, 300, 70), (5, 512, 70), (9, 1000, 35), (3, 1025, 70), (2, 4500, 35)):
        check_product(numbers((rows, count), dtype), numbers((count, columns), dtype, 1))


@pytest.mark.parametrize(
    ("operator", "extremes_add", "moved"),
    [(A.add, False, True), (A.min, False, False), (A.add, True, True), (A.min, True, True)],
)
def test_sums_are_products_that_are_added_where_that_helps(
    monkeypatch: pytest.MonkeyPatch, operator: Callable[..., Rows], extremes_add: bool, moved: bool
) -> None:
    """A comparison takes a unit of products, or of sums: what it compares is added by the others."""
    compile_for(monkeypatch, processor(adds_apart=True, extremes_add=extremes_add))
    a, b = A.use(numbers((14, 37), "float32")), A.use(numbers((21, 37), "float32", 1))
    text = A.explain(A.fold1(operator, pairs(A.sub, a, b))).stages["llvm"]
    kernel = text[text.index("define void @nest0_tile_kernel") :].split("\n}\n")[0]
    assert ("llvm.fma" in kernel) == moved
