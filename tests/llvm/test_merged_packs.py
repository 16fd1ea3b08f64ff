"""Convolutions and their gradients: packs take vectors within the rows of merged loops, and give the bits of the order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.processor import Registers
from accel.backends.protocol import compiled
from accel.ir.meaning.interpret import interpret
from accel.ir.mentions import nests
from accel.schedule.templates.tile import tile
from benchmarks.convolutions import by_input, by_weights, by_weights_of_last, forward, forward_of_last
from tests import untyped
from tests.llvm.processors import changed, compile_for
from tests.llvm.test_tile import Rows, check, defined, numbers, program
from tests.llvm.tiles import packed, turned_and_packed
from tests.marks import one_in

pytestmark = [pytest.mark.llvm, pytest.mark.solver]

index: Callable[..., Rows] = untyped.accel.index
fold: Callable[..., Rows] = untyped.accel.fold
WAYS = (packed, turned_and_packed)


def by_weights_at_once(x: Rows, y: Rows) -> Rows:
    """The gradient by weights as one function of all indices."""
    images, channels, rows, columns = A.unlift(x.shape)
    _, outs, high, wide = A.unlift(y.shape)

    def product(ix: Rows) -> Rows:
        o, c, a, b, n, i, j = A.unindex(ix)
        return x[n, c, i + a, j + b] * y[n, o, i, j]

    shape = index(outs, channels, rows - high + 1, columns - wide + 1, images, high, wide)
    return fold(A.add, 0, A.generate(shape, product), dims=3)


def every_second(x: Rows, w: Rows) -> Rows:
    """A convolution with strides of two, whose rows do not lie side by side."""
    images, channels, rows, columns = A.unlift(x.shape)
    _, _, high, wide = A.unlift(w.shape)

    def window(ix: Rows) -> Rows:
        n, i, j, c, a, b = A.unindex(ix)
        return x[n, c, 2 * i + a, 2 * j + b]

    shape = index(images, (rows - high) // 2 + 1, (columns - wide) // 2 + 1, channels, high, wide)
    return A.einsum("nijcab,ocab->noij", A.generate(shape, window), w)


CASES: list[tuple[Callable[[Rows, Rows], Rows], tuple[int, ...], tuple[int, ...]]] = [
    (forward, (2, 3, 9, 7), (5, 3, 3, 2)),
    (forward, (1, 2, 3, 40), (2, 2, 2, 3)),
    (by_weights, (2, 3, 6, 7), (2, 5, 4, 5)),
    (by_weights, (1, 2, 4, 38), (1, 3, 2, 36)),
    (by_weights_at_once, (2, 3, 6, 7), (2, 5, 4, 5)),
    (by_input, (2, 3, 5, 6), (3, 2, 3, 2)),
    (forward_of_last, (2, 6, 7, 3), (3, 2, 3, 5)),
    (forward_of_last, (1, 3, 4, 35), (2, 2, 35, 3)),
    (by_weights_of_last, (2, 6, 7, 3), (2, 4, 5, 5)),
    (by_weights_of_last, (1, 5, 4, 19), (1, 4, 3, 2)),
    (every_second, (2, 3, 9, 11), (4, 3, 3, 2)),
]


@pytest.mark.parametrize("dtype", one_in(2, ["float32", "int16", "float64", "int64"]))
@pytest.mark.parametrize(("function", "left", "right"), CASES)
def test_convolutions(
    function: Callable[[Rows, Rows], Rows], left: tuple[int, ...], right: tuple[int, ...], dtype: str
) -> None:
    """Rows that are shorter and longer than a vector, panels that are full and that are not."""
    for threads in (1, 2):
        check(function, numbers(left, dtype), numbers(right, dtype, 1), threads=threads, ways=WAYS)


@pytest.mark.parametrize("registers", [(16, 16), (32, 16)])
def test_on_other_processors(registers: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, changed(registers=Registers(*registers), has_avx512=False))
    for function, left, right in CASES[:8:2]:
        check(function, numbers(left, "float32"), numbers(right, "float32", 1), ways=WAYS)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_several_blocks(dtype: str) -> None:
    """4096 elements end within a row of an image: the next block begins there."""
    x, y = numbers((2, 2, 52, 51), dtype), numbers((2, 3, 51, 49), dtype, 1)
    windows = np.lib.stride_tricks.sliding_window_view(x, y.shape[2:], (2, 3)).transpose(0, 4, 5, 1, 2, 3)
    expected = defined(y.transpose(1, 0, 2, 3).reshape(3, -1), windows.reshape(-1, 2 * 2 * 3))
    found = np.asarray(A.runN(by_weights)(x, y))
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


def test_extremes_of_what_is_not_plain() -> None:
    """Packs look at what they pack, piece by piece: a NaN anywhere is found."""

    def greatest(x: Rows, w: Rows) -> Rows:
        images, channels, rows, columns = A.unlift(x.shape)
        outs, _, high, wide = A.unlift(w.shape)

        def element(ix: Rows) -> Rows:
            n, o, i, j, c, a, b = A.unindex(ix)
            return x[n, c, i + a, j + b] - w[o, c, a, b]

        shape = index(images, outs, rows - high + 1, columns - wide + 1, channels, high, wide)
        return fold(A.max, -np.inf, A.generate(shape, element), dims=3)

    x, w = numbers((2, 2, 6, 20), "float32"), numbers((5, 2, 2, 3), "float32", 1)
    for value in (0.5, np.nan, -0.0, np.inf):
        x[1, 1, 4, 18] = value
        given = program(greatest, x, w)
        (expected,) = interpret(given, [x, w])
        for way in WAYS:
            (found,) = compiled(LLVMBackend(1, way), given)([x, w])
            np.testing.assert_array_equal(found, expected)


def test_each_side_is_one_loop() -> None:
    """Weights are packed once for all images' rows, and windows once for all rows of weights."""
    x, y = numbers((2, 3, 6, 7), "float32"), numbers((2, 5, 4, 5), "float32", 1)
    for function in (by_weights, by_weights_at_once):
        (nest,) = nests(program(function, x, y))
        found = tile(nest)
        assert found is not None
        assert not found.batch
        assert {each.own is None for each in (found.rows, found.columns)} == {True, False}
        of_windows, of_gradients = sorted((found.rows, found.columns), key=lambda side: side.own is None)
        assert of_windows.by_extents
        assert of_gradients.along_fold


def test_gathers_out_of_bounds() -> None:
    """What is checked where a side is packed is an error there."""

    def further(x: Rows, y: Rows) -> Rows:
        images, rows, columns, channels = A.unlift(x.shape)
        _, high, wide, _ = A.unlift(y.shape)

        def place(ix: Rows) -> Rows:
            n, i, j, a, b, c = A.unindex(ix)
            return index(n, i + a, j + b + 1, c)

        shape = index(images, high, wide, rows - high + 1, columns - wide + 1, channels)
        return A.einsum("nijabc,nijo->abco", A.backpermute(shape, place, x), y)

    x, y = numbers((2, 12, 13, 3), "float32"), numbers((2, 10, 11, 5), "float32", 1)
    for backend in ("interpreter", "llvm"):
        with pytest.raises(A.AccelIndexError, match="13"):
            A.runN(further, backend=backend)(x, y)


def test_indices_that_users_divide() -> None:
    """A loop that runs further than there are positions, where the outermost digit stays: it stands for no others."""
    w, xs, ys = numbers((3, 5), "float32"), numbers((40, 60), "float32", 1), numbers((50, 60), "float32", 2)

    def held(ix: Rows) -> Rows:
        (i,) = A.unindex(ix)
        inner = A.rem(i, 5)
        return index(A.min(0 * inner + A.quot(i, 5), 2), inner)

    def function(w: Rows, xs: Rows, ys: Rows) -> Rows:
        factors = A.backpermute(index(40), held, w)
        spread = A.backpermute(index(40, 60), lambda ix: index(ix[0]), factors)
        return A.einsum("ik,ok->io", A.zipWith(A.mul, spread, xs), ys)

    rows = np.minimum(np.arange(40) // 5, 2)
    expected = defined(w[rows, np.arange(40) % 5][:, None] * xs, ys.T)
    for threads in (1, 2):
        found = np.asarray(A.runN(function, threads=threads)(w, xs, ys))
        assert found.tobytes() == np.ascontiguousarray(expected).tobytes()
