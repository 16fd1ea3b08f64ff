"""Nests in tiles give the bits of the interpreter, whatever their shapes, strides, threads, and what is fused into them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as product_of
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.meaning.rounding import FUSED
from accel.ast.tree.types import F32, F64, scalar_type
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.loops.alternatives import Alternatives
from accel.backends.llvm.machine.processor import Registers
from accel.backends.protocol import compiled
from accel.errors import AccelIndexError
from accel.explanation.explain import subject
from accel.ir import mentions
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Program
from accel.labelled.meaning.order import fold_in_lanes, lanes
from accel.schedule.templates.tile import Tile, tile
from accel.settings import Settings
from tests.llvm import nests
from tests.llvm.processors import changed, compile_for, processor
from tests.llvm.tiles import packed, tiled
from tests.marks import long, one_in

Rows: TypeAlias = Any  # arrays of any rank and type: what is tested is values
Ways: TypeAlias = Sequence[Alternatives]


def left(a: Rows, columns: Rows) -> Rows:
    return A.replicate((A.All, columns, A.All), a)


def right(b: Rows, rows: Rows) -> Rows:
    return A.replicate((rows, A.All, A.All), b)


def product(a: Rows, b: Rows) -> Rows:
    """a[i, k] and b[k, j]."""
    return A.fold(A.add, 0, pairs(A.mul, a, A.transpose(b)))


def pairs(function: Callable[..., Rows], a: Rows, b: Rows) -> Rows:
    """The function of a[i, k] and b[j, k] at [i, j, k]."""
    return A.zipWith(function, left(a, A.shape(b)[0]), right(b, A.shape(a)[0]))


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray[Any, Any]:
    """Numbers of all signs; floats whose sums round."""
    return (np.random.default_rng(seed).standard_normal(shape) * 9).astype(dtype)


def program(function: Callable[..., Rows], *arguments: np.ndarray[Any, Any]) -> Program:
    """The loops of the function of these arrays."""
    return subject(function(*map(A.use, arguments)), (), Settings()).staged.loops


def check(
    function: Callable[..., Rows], *arguments: np.ndarray[Any, Any], threads: int = 1, ways: Ways = (tiled,)
) -> None:
    """Tiles against the interpreter, bit for bit."""
    given = program(function, *arguments)
    nests.each_has(given, Tile)
    expected = interpret(given, list(arguments))
    for way in ways:
        found = compiled(LLVMBackend(threads, way), given)(list(arguments))
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype
            assert one.tobytes() == np.ascontiguousarray(other).tobytes()


def check_product(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> None:
    """A product in tiles against the order by NumPy, bit for bit: sooner than by the interpreter, of many elements."""
    (found,) = compiled(LLVMBackend(1, tiled), program(product, x, y))([x, y])
    assert found.tobytes() == defined(x, y).tobytes()


SHAPES = [(1, 1, 1), (1, 70, 3), (5, 9, 31), (6, 16, 32), (7, 17, 33), (13, 33, 65), (12, 32, 64), (3, 5, 127)]


@pytest.mark.parametrize("dtype", one_in(2, ["float32", "int32", "float64", "int64", "uint8"]))
@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_matrices(shape: tuple[int, int, int], dtype: str) -> None:
    rows, columns, count = shape
    ways = (packed, tiled)
    check(product, numbers((rows, count), dtype), numbers((count, columns), dtype, 1), ways=ways)


@pytest.mark.parametrize("registers", [(16, 16), (32, 16), (16, 32), (64, 32)])
@pytest.mark.parametrize("count", one_in(2, [48, 80, 128, 600]))
def test_lanes_of_all_lengths(count: int, registers: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, changed(registers=Registers(*registers)))
    for rows, columns in ((4, 36), (2, 9)):
        check(product, numbers((rows, count), "float32"), numbers((count, columns), "float32", 1), ways=(packed,))


@pytest.mark.parametrize("registers", [(32, 16), (64, 32)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lanes_without_elements_leave_others_as_they_are(
    dtype: str, registers: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be computed there is no number, which no sum forgets. With masks, and with branches where these are slow."""
    compile_for(monkeypatch, changed(registers=Registers(*registers), has_avx512=registers[0] == 64))

    def ratios(x: Rows, y: Rows) -> Rows:
        return A.fold(A.add, 0, pairs(lambda p, q: p / q, x, y))

    for count in (9, 23, 33, 50, 63, 70):
        check(ratios, numbers((7, count), dtype), numbers((19, count), dtype, 1), ways=(packed,))
    for count in (3, 5, 7):
        check(ratios, numbers((13, count), dtype), numbers((70, count), dtype, 1), ways=(packed,))


@pytest.mark.parametrize("count", [4095, 4096, 4097, 8192, 3 * 4096 + 65])
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_of_the_order_join(count: int, threads: int) -> None:
    check(product, numbers((2, count), "float32"), numbers((count, 3), "float32", 1), threads=threads)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_several_chunks(threads: int) -> None:
    a, b = numbers((61, 20), "float32"), numbers((20, 150), "float32", 1)
    check(product, a, b, threads=threads, ways=(packed, tiled))


@pytest.mark.slow
def test_transposed_operands() -> None:
    a, b = numbers((19, 40), "float64"), numbers((23, 40), "float64", 1)
    check(lambda x, y: A.fold(A.add, 0, pairs(A.mul, x, y)), a, b)
    check(lambda x, y: A.fold(A.add, 0, pairs(A.mul, A.transpose(x), y)), a.T.copy(), b)
    check(lambda x, y: A.fold(A.add, 0, pairs(A.mul, A.transpose(x), A.transpose(y))), a.T.copy(), b.T.copy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_of_long_rows_are_held_for_fewer_of_them(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, changed(few_far_rows=True))
    for count, threads in ((5, 1), (20, 1), (64, 3)):
        x, y = numbers((53, count), dtype), numbers((count, 4100), dtype, 1)
        assert (
            A.runN(lambda x, y: A.matmul(x, y), backend="llvm", threads=threads)(x, y).tobytes()
            == defined(x, y).tobytes()
        )


def test_rows_that_lie_apart() -> None:
    a, b = numbers((40, 70), "float32")[::2, :35], numbers((70, 60), "float32", 1)[::-2, 5:47]
    check(product, a, b, ways=(packed, tiled))


@pytest.mark.slow
def test_batches() -> None:
    def batched(x: Rows, y: Rows) -> Rows:
        n, m = A.shape(x)[1], A.shape(y)[1]
        return A.fold(
            A.add,
            0,
            A.zipWith(A.mul, A.replicate((A.All, A.All, m, A.All), x), A.replicate((A.All, n, A.All, A.All), y)),
        )

    check(batched, numbers((5, 7, 33), "float32"), numbers((5, 18, 33), "float32", 1), threads=2)
    # The packs are too large for one thread's own memory.
    check(batched, numbers((2, 2, 4097), "float32"), numbers((2, 3, 4097), "float32", 1), threads=2)


@pytest.mark.parametrize("registers", [(32, 16), (64, 32)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", one_in(3, [4, 8, 16, 3, 20, 32, 63, 64]))
def test_batches_of_few_elements(
    count: int, dtype: str, registers: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read where they lie: with and without a whole vector of columns, and lanes of two elements of 8 bytes."""
    compile_for(monkeypatch, changed(registers=Registers(*registers), has_avx512=registers[0] == 64))
    for rows, columns in ((1, 1), (5, 9), (2, 37)):
        x, y = numbers((3, rows, count), dtype), numbers((3, count, columns), dtype, 1)
        check(lambda x, y: A.matmul(x, y), x, y, threads=2)
        check(lambda x, y: A.matmul(x, y), x[::-2], y[::2])


@pytest.mark.parametrize("masks", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_folds_of_which_some_lanes_have_no_element(dtype: str, masks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under masks, or by branches: products, and batches of them."""
    compile_for(monkeypatch, changed(has_avx512=masks))

    def multiplied(x: Rows, y: Rows) -> Rows:
        return A.matmul(x, y)

    for batch, rows, columns in (((3,), 19, 37), ((), 67, 69)):
        arguments = [
            (numbers((*batch, rows, count), dtype), numbers((*batch, count, columns), dtype, 1))
            for count in (3, 5, 23, 31, 33, 48, 63)
        ]
        run = compiled(LLVMBackend(1, packed), program(multiplied, *arguments[0]))
        for x, y in arguments:
            assert run([x, y])[0].tobytes() == defined(x, y).tobytes()


def defined(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The product as docs/order.md defines it, for all elements of the result at once."""
    kind = scalar_type(a.dtype)
    assert kind is not None
    fused: Any = np.frompyfunc(FUSED[kind], 3, 1) if kind in (F32, F64) else lambda x, y, z: x * y + z
    found = fold_in_lanes(
        [(a[..., :, k, None], b[..., None, k, :]) for k in range(a.shape[-1])],
        lambda pair: pair[0] * pair[1],
        lambda lane, pair: np.asarray(fused(*pair, lane), a.dtype),
        lambda left, right: left + right,
        lanes([kind]),
    )
    return np.asarray(a.dtype.type(0) + found)


@pytest.mark.parametrize("threads", one_in(2, [1, 3]))
@pytest.mark.parametrize("dtype", one_in(4, ["float32", "float16", "int8", "int64", "float64", "uint16", "uint32"]))
def test_products_of_all_extents_are_what_the_order_defines(dtype: str, threads: int) -> None:
    def multiplied(x: Rows, y: Rows) -> Rows:
        return A.matmul(x, y)

    ways = ((packed, [*range(1, 66), 127, 128, 129]), (tiled, [1, 2, 7, 29, 33, 64]))
    for batch, (way, counts) in product_of(((3,), ()), ways):
        x, y = numbers((*batch, 2, 3), dtype), numbers((*batch, 3, 4), dtype, 1)
        run = compiled(LLVMBackend(threads, way), program(multiplied, x, y))
        for count in counts:
            rows, columns = 1 + count % 7, 1 + 5 * count % 37
            x, y = numbers((*batch, rows, count), dtype), numbers((*batch, count, columns), dtype, 1)
            (found,) = run([x, y])
            assert found.tobytes() == defined(x, y).tobytes(), (batch, rows, count, columns)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", one_in(2, [64, 32, 16, 4]))
def test_batches_whose_last_tile_begins_where_others_end(count: int, dtype: str) -> None:
    def biased(x: Rows, y: Rows, c: Rows) -> Rows:
        return A.zipWith(A.add, A.matmul(x, y), c)

    for rows, columns in ((5, 19), (3, 33), (9, 16)):
        x, y = numbers((24, rows, count), dtype), numbers((24, count, columns), dtype, 1)
        c = numbers((24, rows, columns), dtype, 2)
        expected = defined(x, y) + c
        assert A.runN(biased, backend="llvm")(x, y, c).tobytes() == expected.tobytes()


def test_batches_of_few_elements_with_what_is_fused() -> None:
    def scaled(x: Rows, y: Rows) -> Rows:
        return A.map(lambda e: A.max(e, 0), A.matmul(A.map(lambda e: e * 2 + 1, x), A.map(A.abs, y)))

    def shared(x: Rows, y: Rows) -> Rows:
        return A.matmul(x, A.replicate((A.shape(x)[0], A.All, A.All), y))

    def gathered(x: Rows, y: Rows) -> Rows:
        """An index that is data: such a side is packed."""
        return A.matmul(x, A.imap(lambda ix, e: e + y[ix[0], A.cast(e, np.int64) * 0, ix[2]], y))

    x, y = numbers((5, 6, 8), "float32"), numbers((5, 8, 21), "float32", 1)
    check(scaled, x, y)
    check(shared, x, y[0])
    check(gathered, x, y)


def test_batches_that_share_a_side() -> None:
    def shared(x: Rows, y: Rows) -> Rows:
        batch, n, _ = A.unlift(A.shape(x))
        columns = A.replicate((batch, n, A.All, A.All), A.transpose(y))
        return A.fold(A.add, 0, A.zipWith(A.mul, A.replicate((A.All, A.All, A.shape(y)[1], A.All), x), columns))

    check(shared, numbers((4, 7, 40), "float32"), numbers((40, 19), "float32", 1), threads=2)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("dtype", "count"), [("float64", 37), ("float32", 37), ("float32", 130)])
def test_distances_and_least_sums(dtype: str, count: int, apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also on processors of which sums and products have units of their own."""
    compile_for(monkeypatch, processor(adds_apart=apart))
    a, b = numbers((14, count), dtype), numbers((21, count), dtype, 1)

    def distance(x: Rows, y: Rows) -> Rows:
        return (x - y) * (x - y)

    check(lambda x, y: A.fold(A.add, 0, pairs(distance, x, y)), a, b)
    check(lambda x, y: A.fold1(A.min, pairs(A.add, x, y)), a, b)


ODD = [np.nan, -0.0, np.inf, -np.inf]


@pytest.mark.parametrize("registers", [(32, 16), (64, 32)])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=long)])
def test_extremes_where_one_number_is_odd(
    side: int, registers: tuple[int, int], every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it stands, in one case of so many, and whichever way the sides are packed.

    All of the other side are 0.0, or what shows it.
    """
    compile_for(monkeypatch, changed(registers=Registers(*registers)))

    def nearest(x: Rows, y: Rows) -> Rows:
        return A.fold1(A.min, pairs(A.add, x, y))

    def farthest(x: Rows, y: Rows) -> Rows:
        return A.fold1(A.max, pairs(A.add, A.transpose(x), A.transpose(y)))

    def largest_difference(x: Rows, y: Rows) -> Rows:
        return A.fold(A.max, 0, pairs(lambda p, q: A.abs(p - q), x, A.transpose(y)))

    cases = ((nearest, (7, 21), (19, 21)), (farthest, (21, 7), (21, 19)), (largest_difference, (7, 21), (21, 19)))
    for function, *shapes in cases:
        given = [np.zeros(shape, "float32") for shape in shapes]
        run, loops = compiled(LLVMBackend(2, tiled), program(function, *given)), program(function, *given)
        places = (0, given[side].size // 2, given[side].size - 1)
        for odd, place, zero in list(product_of(ODD, places, (True, False)))[::every]:
            arrays = [each.copy() for each in given]
            arrays[side].flat[place] = odd
            arrays[1 - side].fill(0.0 if zero else -odd if np.isinf(odd) else odd)
            ((found,), (expected,)) = run(arrays), interpret(loops, arrays)
            np.testing.assert_array_equal(found, expected)
            there = ~np.isnan(expected)
            assert found[there].tobytes() == np.ascontiguousarray(expected)[there].tobytes()


def test_extremes_in_batches_of_which_one_is_odd() -> None:
    def nearest(x: Rows, y: Rows) -> Rows:
        n, m = A.shape(x)[1], A.shape(y)[1]
        columns = A.replicate((A.All, n, A.All, A.All), y)
        return A.fold1(A.min, A.zipWith(A.add, A.replicate((A.All, A.All, m, A.All), x), columns))

    x, y = np.zeros((5, 7, 33), "float32"), np.zeros((5, 18, 33), "float32")
    x[2, 3, 5], x[3, 1, 1], y[3, 1, 1] = np.nan, -0.0, -0.0
    (found,) = compiled(LLVMBackend(2, tiled), program(nearest, x, y))([x, y])
    assert np.isnan(found[2, 3]).all()
    assert np.isnan(found).sum() == 18
    assert np.signbit(found[3, 1, 1])
    assert np.signbit(found[~np.isnan(found)]).sum() == 1


def test_several_folds_at_once() -> None:
    a, b = numbers((14, 37), "float32"), numbers((21, 37), "float32", 1)

    def both(x: Rows, y: Rows) -> Rows:
        each = pairs(lambda p, q: A.lift(p * q, p + q), x, y)
        return A.fold(lambda p, q: A.lift(A.fst(p) + A.fst(q), A.max(A.snd(p), A.snd(q))), (0.5, 1.0), each)

    check(both, a, b)


def test_what_comes_before_and_after_is_fused() -> None:
    a, b = numbers((14, 37), "float32"), numbers((37, 21), "float32", 1)
    bias = numbers((21,), "float32", 2)

    def layer(x: Rows, y: Rows, c: Rows) -> Rows:
        whole = product(A.map(lambda e: e * 2.0 + 1.0, x), A.map(A.abs, y))
        return A.map(lambda e: A.max(e, 0.0), A.zipWith(A.add, whole, A.replicate((A.shape(x)[0], A.All), c)))

    check(layer, a, b, bias)


def test_narrow_factors_are_widened_once() -> None:
    def widened(x: Rows, y: Rows) -> Rows:
        return product(A.map(lambda e: A.fromIntegral(e, np.int32), x), A.map(lambda e: A.fromIntegral(e, np.int32), y))

    check(widened, numbers((9, 50), "int8"), numbers((50, 20), "int8", 1))


def test_a_gather_into_a_pack_is_checked() -> None:
    a, b = numbers((30, 20), "float32"), numbers((20, 40), "float32", 1)

    def gathered(x: Rows, y: Rows, rows: Rows) -> Rows:
        chosen = A.backpermute((A.shape(rows)[0], A.shape(x)[1]), lambda i: A.index(rows[i[0]], i[1]), x)
        return product(chosen, y)

    inside = gathered(A.use(a), A.use(b), A.use(np.arange(17)[::-1].copy()))
    assert "tile_kernel" in A.explain(inside).stages["llvm"]
    assert A.run(inside, backend="llvm", threads=2).tobytes() == A.run(inside, backend="interpreter").tobytes()
    with pytest.raises(AccelIndexError, match="30"):
        A.run(gathered(A.use(a), A.use(b), A.use(np.arange(17) * 2)), backend="llvm", threads=2)


def test_which_nests_can_be_tiled() -> None:
    a, b = numbers((4, 5), "float32"), numbers((5, 6), "float32")

    def can_be(function: Callable[..., Rows], *arguments: np.ndarray[Any, Any]) -> list[bool]:
        return [tile(nest) is not None for nest in mentions.nests(program(function, *arguments))]

    assert can_be(product, a, b) == [True]
    assert can_be(lambda x: A.fold(A.add, 0, x), a) == [False]
    assert can_be(A.transpose, a) == [False]
    # Matrices times vectors share nothing.
    assert can_be(lambda x, v: A.fold(A.add, 0, A.zipWith(A.mul, x, A.replicate((4, A.All), v))), a, a[0]) == [False]
