"""Products of few rows or columns, with the other loop in vectors, or without the loop of a single one, have the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.processor import Registers
from accel.backends.llvm.templates.tile.ways.single import single
from accel.backends.protocol import compiled
from accel.errors import AccelIndexError
from accel.ir import mentions
from accel.ir.verify import verify_nest
from accel.schedule.templates.tile import tile
from tests.llvm.processors import changed, compile_for
from tests.llvm.test_late import compilations
from tests.llvm.test_tile import Rows, check, defined, numbers, pairs, program
from tests.llvm.tiles import alone, along, tiled, turned, turned_and_packed
from tests.marks import one_in

__all__ = ["compilations"]

NAMES = (
    "nest0_column_nest_body",
    "nest0_others_nest_columns",
    "nest0_along_copy_body",
    "nest0_turned_kernel",
    "nest0_tile_kernel",
)
"""Functions of the code of a single column, of up to three rows, of two columns, of few columns and of few rows."""


def by_matrices(x: Rows, y: Rows) -> Rows:
    return A.matmul(x, y)


def by_rows(x: Rows, y: Rows) -> Rows:
    return A.matmul(x, A.transpose(y))


def by_columns(x: Rows, y: Rows) -> Rows:
    return A.matmul(A.transpose(x), y)


def across(x: Rows, y: Rows) -> Rows:
    return A.matmul(A.transpose(x), A.transpose(y))


SIDES = (by_matrices, by_rows, by_columns, across)


def sides(function: Callable[..., Rows], shape: tuple[int, int, int], dtype: str) -> list[np.ndarray]:
    """Two matrices of these rows, elements and columns, as they lie for a function of `SIDES`."""
    rows, count, columns = shape
    x, y = numbers((rows, count), dtype), numbers((count, columns), dtype, 1)
    return [
        np.ascontiguousarray(x.T) if function in (by_columns, across) else x,
        np.ascontiguousarray(y.T) if function in (by_rows, across) else y,
    ]


def product_of(function: Callable[..., Rows], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What the function comes to, by the order."""
    return defined(
        x.T if function in (by_columns, across) else x,
        y.T if function in (by_rows, across) else y,
    )


@pytest.mark.parametrize("dtype", one_in(3, ["float32", "float64", "int32", "int8", "float16", "uint64"]))
@pytest.mark.parametrize("function", SIDES)
def test_columns_in_lanes_of_what_has_few(function: Callable[..., Rows], dtype: str) -> None:
    for way, shapes in (
        (turned, [(70, 3, 3), (17, 16, 1), (5, 9, 2), (40, 64, 6), (33, 17, 4), (1, 1, 1), (3, 12, 70)]),
        (turned_and_packed, [(70, 3, 3), (131, 65, 2), (20, 33, 5), (9, 4097, 1)]),
    ):
        run = compiled(LLVMBackend(2, way), program(function, *sides(function, (4, 5, 6), dtype)))
        for shape in shapes:
            x, y = sides(function, shape, dtype)
            assert run([x, y])[0].tobytes() == product_of(function, x, y).tobytes(), shape


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", one_in(3, ["float32", "float64", "int32", "int8", "float16", "uint64"]))
@pytest.mark.parametrize("function", SIDES)
def test_few_rows_and_single_columns(function: Callable[..., Rows], dtype: str, threads: int) -> None:
    run = compiled(LLVMBackend(threads, alone), program(function, *sides(function, (4, 5, 6), dtype)))
    for shape in (
        (70, 3, 1),
        (1, 3, 70),
        (9, 4097, 1),
        (1, 4097, 9),
        (600, 70, 1),
        (1, 70, 600),
        (1, 65, 1),
        (4, 5, 6),
    ):
        x, y = sides(function, shape, dtype)
        assert run([x, y])[0].tobytes() == product_of(function, x, y).tobytes(), shape


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("registers", [(32, 16), (64, 32)])
def test_threads_share_the_columns_of_few_rows(
    registers: tuple[int, int], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of columns end within vectors of several, and the last one may be smaller than a vector."""
    compile_for(monkeypatch, changed(registers=Registers(*registers)))
    for way, function, shape in (
        (turned, by_matrices, (2500, 3, 3)),
        (turned, by_columns, (1025, 20, 2)),
        (tiled, by_matrices, (3, 5, 2049)),
        (tiled, by_matrices, (9, 40, 3100)),
        (tiled, by_rows, (2, 7, 1050)),
    ):
        x, y = sides(function, shape, "float32")
        run = compiled(LLVMBackend(threads, way), program(function, x, y))
        assert run([x, y])[0].tobytes() == product_of(function, x, y).tobytes(), shape


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", one_in(3, ["float32", "float64", "int32", "int8", "float16", "uint64"]))
@pytest.mark.parametrize("function", SIDES)
def test_columns_that_are_copied_along_the_fold(
    function: Callable[..., Rows], dtype: str, threads: int, compilations: list[str]
) -> None:
    """Where both sides would be read along the fold then; elsewhere rows run."""
    run = compiled(LLVMBackend(threads, along), program(function, *sides(function, (4, 5, 6), dtype)))
    for shape in ((9, 4097, 3), (2, 70, 40), (1, 1, 1), (40, 300, 17), (3, 5, 4), (5, 16385, 2)):
        x, y = sides(function, shape, dtype)
        assert run([x, y])[0].tobytes() == product_of(function, x, y).tobytes(), shape
    assert any("@nest0_along_copy_run(" in text for text in compilations) == (function is by_matrices)


def test_columns_that_lie_apart_or_are_rows_as_well_are_copied() -> None:
    x, wide = numbers((40, 40), "float32"), numbers((40, 60), "float32", 1)[::, 5:45]
    check(by_matrices, x, wide[::-1, :3], ways=(along,))
    check(by_matrices, x, wide, ways=(along,))
    check(lambda x: A.matmul(x, x), x, ways=(along,))  # what rows read as well is not copied
    check(lambda x, y: A.matmul(A.map(lambda e: e * y[3, 1], x), y), x, wide, ways=(along,))


def test_nothing_to_fold_or_to_do() -> None:
    run = compiled(LLVMBackend(1, alone), program(by_matrices, *sides(by_matrices, (4, 5, 6), "float32")))
    for rows, count, columns in ((5, 0, 1), (1, 0, 5), (0, 5, 1), (1, 5, 0), (1, 0, 1)):
        x, y = numbers((rows, count), "float32"), numbers((count, columns), "float32")
        assert run([x, y])[0].tobytes() == np.zeros((rows, columns), "float32").tobytes()


@pytest.mark.parametrize("shape", [(2, 70, 40, 1), (3, 1, 40, 70), (2, 30, 3, 1), (4, 1, 5, 33)])
def test_batches(shape: tuple[int, int, int, int]) -> None:
    batch, rows, count, columns = shape
    x, y = numbers((batch, rows, count), "float32"), numbers((batch, count, columns), "float32", 1)
    check(by_matrices, x, y, threads=2, ways=(turned, turned_and_packed, alone))


@pytest.mark.parametrize("shape", [(60, 40, 1), (1, 40, 60), (60, 3, 1), (37, 9, 3)])
def test_what_comes_before_and_after_is_fused(shape: tuple[int, int, int]) -> None:
    rows, count, columns = shape

    def biased(x: Rows, y: Rows, c: Rows) -> Rows:
        shifted = A.zipWith(
            A.add, A.matmul(A.map(lambda e: e * 2.0 + 1.0, x), y), A.replicate((A.All, A.shape(y)[1]), c)
        )
        return A.map(lambda e: A.max(e, 0.0), shifted)

    x, y = numbers((rows, count), "float32"), numbers((count, columns), "float32", 1)
    of_rows, of_columns = numbers((rows,), "float32", 2), numbers((columns,), "float32", 3)

    def layer(x: Rows, y: Rows, d: Rows, c: Rows) -> Rows:
        n, m = A.shape(x)[0], A.shape(y)[1]
        whole = A.matmul(A.map(lambda e: e * 2.0 + 1.0, x), A.imap(lambda ix, e: e + A.cast(ix[1], np.float32), y))
        shifted = A.zipWith(A.add, whole, A.replicate((n, A.All), d))
        return A.map(lambda e: A.max(e, 0.0), A.zipWith(A.mul, shifted, A.replicate((A.All, m), c)))

    check(layer, x, y, of_columns, of_rows, ways=(turned, turned_and_packed, alone))
    check(biased, x, y, of_rows, ways=(along, turned, alone))


@pytest.mark.parametrize("shape", [(41, 30, 1), (1, 30, 41), (41, 7, 3)])
def test_other_folds(shape: tuple[int, int, int]) -> None:
    """Least sums, squares of differences, and both at once."""
    rows, count, columns = shape
    a, b = numbers((rows, count), "float64"), numbers((columns, count), "float64", 1)

    def both(x: Rows, y: Rows) -> Rows:
        each = pairs(lambda p, q: A.lift((p - q) * (p - q), p + q), x, y)
        return A.fold(lambda p, q: A.lift(A.fst(p) + A.fst(q), A.max(A.snd(p), A.snd(q))), (0.5, 1.0), each)

    ways = (turned, turned_and_packed, alone)
    check(both, a, b, ways=ways)
    check(lambda x, y: A.fold1(A.min, pairs(A.add, x, A.transpose(y))), a, b.T.copy(), ways=(along,))
    check(lambda x, y: A.fold1(A.min, pairs(A.add, x, y)), a, b, ways=ways)


def test_rows_that_lie_apart() -> None:
    """Of one column of a wide matrix elements are not adjacent: it is read where it lies, and not as one row."""
    a, wide = numbers((40, 70), "float32")[::2, :35], numbers((70, 60), "float32", 1)[::-2]
    for b in (wide[:, 5:6], wide[:, 5:8]):
        check(by_matrices, a, b, ways=(turned, turned_and_packed, alone))


def test_an_index_that_is_out_of_bounds_is_named() -> None:
    def gathered(x: Rows, y: Rows, rows: Rows) -> Rows:
        chosen = A.backpermute((A.shape(rows)[0], A.shape(x)[1]), lambda i: A.index(rows[i[0]], i[1]), x)
        return A.matmul(chosen, y)

    x = numbers((30, 80), "float32")
    for columns in (1, 3):
        y = numbers((80, columns), "float32", 1)
        inside = gathered(A.use(x), A.use(y), A.use(np.arange(17)[::-1].copy()))
        assert A.run(inside, backend="llvm").tobytes() == A.run(inside, backend="interpreter").tobytes()
        with pytest.raises(AccelIndexError, match="30"):
            A.run(gathered(A.use(x), A.use(y), A.use(np.arange(30) * 2)), backend="llvm", threads=2)


def test_which_code_serves_which_shape(compilations: list[str]) -> None:
    """Each is compiled when a shape first asks for it."""

    run = A.runN(A.matmul, backend="llvm", threads=1)

    def makes(*shapes: tuple[int, int, int]) -> set[str]:
        before = len(compilations)
        for rows, count, columns in shapes:
            x, y = numbers((rows, count), "float32"), numbers((count, columns), "float32", 1)
            assert run(x, y).tobytes() == defined(x, y).tobytes()
        return {name for name in NAMES if any(f"@{name}(" in text for text in compilations[before:])}

    assert makes((5, 6, 1), (1, 6, 5), (3, 4, 5)) == set()
    for number, shape in enumerate([(200, 300, 1), (1, 300, 200), (200, 300, 2), (200, 300, 12), (4, 300, 200)]):
        assert makes(shape) == {NAMES[number]}
    assert makes((1, 60, 2000)) == set()  # it is read where it lies
    assert makes((300, 200, 1), (1, 99, 300), (199, 301, 3), (3, 99, 300), (5, 300, 300)) == set()


def test_a_nest_without_a_loop() -> None:
    """Its index is 0, and arrays of which it is the last index have a dimension less."""
    loops = program(by_matrices, *sides(by_matrices, (4, 5, 6), "float32"))
    (nest,) = mentions.nests(loops)
    found = tile(nest)
    assert found is not None
    column, row = (single(nest, side.loop) for side in (found.columns, found.rows))
    for each in (column, row):
        verify_nest(each.nest)
        assert sum(level.loop is not None for level in mentions.levels(each.nest)) == 2
        assert tile(each.nest) is None
    assert sorted(len(each.array.shape) for each in column.layouts.values()) == [1, 1]
    assert not row.layouts
