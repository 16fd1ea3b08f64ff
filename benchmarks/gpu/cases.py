"""What is measured: a program, its arguments for a number of elements, and the bytes that nobody can do without.

Each input counts once, and each output. `other` is the same by CuPy or PyTorch, whose arrays it gets; None where they have no
such function. `wanted` is the percentage of a copy that a GPU should reach, as far as there is a goal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import accel as A

Arrays = Sequence[NDArray[Any]]  # Any: of any element type
Floats = A.Acc[A.Vector[np.float32]]
Matrix = A.Acc[A.Matrix[np.float32]]
Places = A.Acc[A.Vector[np.int64]]

BINS: Final = 256


@dataclass(frozen=True, slots=True)
class Case:
    """`arguments` for about so many elements; `bytes` moved, by arguments and results."""

    name: str
    program: Callable[..., object]
    arguments: Callable[[int], Arrays]
    bytes: Callable[[Arrays], int]
    wanted: int | None = None
    other: Callable[..., object] | None = None
    exact: bool = True
    """Whether the bits are the interpreter's; elementary functions belong to the device."""
    sorts: bool = False
    """Whether it sorts: that has no kernels on a device that is no GPU."""
    beside: tuple[str, ...] = ("cupy", "torch")
    """The modules that have `other`."""


def _random(count: int) -> NDArray[np.float32]:
    return np.random.default_rng(1).random(count, dtype=np.float32)


def vector(count: int) -> Arrays:
    """One of random numbers."""
    return [_random(count)]


def two(count: int) -> Arrays:
    """Two of them."""
    return [_random(count), _random(count)]


def integers(count: int) -> Arrays:
    """Small ones."""
    return [np.random.default_rng(1).integers(0, 100, count, dtype=np.int32)]


def spread(count: int) -> Arrays:
    """All that 32 bits hold."""
    return [np.random.default_rng(1).integers(-(2**31), 2**31, count).astype(np.int32)]


def matrix(columns: int, count: int) -> Arrays:
    """Rows of random numbers."""
    rows = max(count // columns, 1)
    return [_random(rows * columns).reshape(rows, columns)]


def keys(hot: bool, count: int) -> Arrays:
    """Numbers of bins: random, or all the same."""
    found = np.random.default_rng(1).integers(0, BINS, count, dtype=np.int32)
    return [found * 0 if hot else found]


def places(in_order: bool, count: int) -> Arrays:
    """Every place once, and what is read there."""
    found = np.arange(count) if in_order else np.random.default_rng(1).permutation(count)
    return [found.astype(np.int64), _random(count)]


def times(factor: float) -> Callable[[Arrays], int]:
    """So many times the bytes of the arguments."""
    return lambda arrays: round(factor * sum(array.nbytes for array in arrays))


def histogram(given: A.Acc[A.Vector[np.int32]]) -> A.Acc[A.Vector[np.int32]]:
    """How often each bin occurs."""
    none = A.fill(A.index(BINS), np.int32(0))
    return A.scatterWith(A.add, none, A.map(lambda k: A.lift(A.cast(k, np.int64), A.constant(1, np.int32)), given))


def softmax(m: Matrix) -> Matrix:
    """Of each row."""
    largest = A.fold1(A.max, m)
    powers = A.imap(lambda ix, x: A.exp(x - largest[ix[0]]), m)
    sums = A.sum(powers)
    return A.imap(lambda ix, x: x / sums[ix[0]], powers)


def stencil(m: Matrix) -> Matrix:
    """Five points, clamped to the border."""
    return A.stencil(lambda n: (n(0, 0) + n(-1, 0) + n(1, 0) + n(0, -1) + n(0, 1)) * 0.2, A.boundary.clamp, m)


def twenty(m: Matrix) -> Matrix:
    """As many of them, in a loop that counts."""
    return A.awhile(
        lambda s: A.map(lambda i: i < 20, s[0]),
        lambda s: (A.map(lambda i: i + 1, s[0]), stencil(s[1])),
        (A.unit(A.constant(0, np.int64)), m),
    )[1]


def float_sums(targets: A.Acc[A.Vector[np.int32]], values: Floats) -> Floats:
    """Of what comes to each bin, in order."""
    none = A.fill(A.index(BINS), np.float32(0))
    return A.scatterWith(A.add, none, A.zipWith(lambda k, x: A.lift(A.cast(k, np.int64), x), targets, values))


def binned(count: int) -> Arrays:
    """Numbers of bins, and what comes there."""
    return [*keys(False, count), _random(count)]


def short_segments(count: int) -> Arrays:
    """Elements, and lengths of 0 to 3 that divide them up."""
    lengths = np.random.default_rng(1).integers(0, 4, count * 2 // 3)
    return [lengths, _random(int(lengths.sum()))]


def middle_segments(count: int) -> Arrays:
    """The same with lengths of 500 to 1500."""
    lengths = np.random.default_rng(1).integers(500, 1501, max(count // 1000, 1))
    return [lengths, _random(int(lengths.sum()))]


def skewed_segments(count: int) -> Arrays:
    """The same with lengths of a power law: half of the segments have up to 3 elements, the longest one a million."""
    lengths = np.random.default_rng(1).pareto(1.2, max(count // 10, 1)) * 4
    lengths = np.minimum(lengths, 1e6).astype(np.int64)
    return [lengths, _random(int(lengths.sum()))]


def sparse(each: int, count: int) -> Arrays:
    """A square sparse matrix with so many elements in each row, at random columns: offsets, columns, a vector, values."""
    rows = max(count // each, 1)
    columns = np.sort(np.random.default_rng(1).integers(0, rows, (rows, each)), axis=1)
    return [np.arange(rows + 1) * each, columns.reshape(-1), _random(rows), _random(rows * each)]


def square(count: int) -> Arrays:
    """Two matrices to multiply."""
    side = max(round(count**0.5), 1)
    return [_random(side * side).reshape(side, side), _random(side * side).reshape(side, side)]


def _doubles(count: int) -> Arrays:
    return [_random(count).astype(np.float64)]


def _bytes(count: int) -> Arrays:
    return [np.random.default_rng(1).integers(0, 100, count, dtype=np.int8)]


def _rows(columns: int, wanted: int | None) -> Case:
    return Case(
        f"sums of rows of {columns}",
        A.sum,
        partial(matrix, columns),
        times(1 + 1 / columns),
        wanted,
        lambda other, m: m.sum(1),
    )


def _sparse(each: int) -> Case:
    def times_vector(offsets: Places, columns: Places, vector: Floats, values: Floats) -> Floats:
        return A.foldSegOffsets(A.add, 0, A.zipWith(A.mul, values, A.gather(columns, vector)), offsets)

    def other(module: Any, *given: Any) -> object:  # Any: a module and its arrays
        offsets, columns, vector, values = given
        return module.sparse_csr_tensor(offsets, columns, values, (len(vector), len(vector))) @ vector

    given = partial(sparse, each)
    return Case(f"sparse matrix, {each} a row", times_vector, given, times(1), None, other, beside=("torch",))


def _segments(name: str, arguments: Callable[[int], Arrays], factor: float = 1) -> Case:
    return Case(
        name,
        lambda lengths, xs: A.foldSeg(A.add, 0, xs, lengths),
        arguments,
        times(factor),
        None,
        lambda other, lengths, xs: other.segment_reduce(xs, "sum", lengths=lengths),
        beside=("torch",),
    )


def _softmax(module: ModuleType, m: Any) -> object:  # Any: an array of the module's
    if module.__name__ == "torch":
        return module.softmax(m, 1)
    powers = module.exp(m - m.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


CASES: Final = (
    Case("map", lambda xs: A.map(lambda x: x * 2 + 1, xs), vector, times(2), 85, lambda other, x: x * 2 + 1),
    Case("map of rows", lambda m: A.map(lambda x: x * 2 + 1, m), partial(matrix, 4096), times(2), 85),
    Case("transpose", lambda m: A.compute(A.transpose(m)), partial(matrix, 4096), times(2), None,
         lambda other, m: m.T + 0),
    Case("sum", A.sum, vector, times(1), 80, lambda other, x: x.sum()),
    Case("dot product", lambda xs, ys: A.sum(A.zipWith(A.mul, xs, ys)), two, times(1), 80, lambda other, x, y: x @ y),
    _rows(3, 35), _rows(32, 60), _rows(255, 70), _rows(1024, 75), _rows(4096, 80),
    Case("sums of columns", lambda m: A.sum(A.transpose(m)), partial(matrix, 4096), times(1), 60,
         lambda other, m: m.sum(0)),
    Case("scan", lambda xs: A.scanl1(A.add, xs), vector, times(2), 45, lambda other, x: x.cumsum(0)),
    Case("scan of integers", lambda xs: A.scanl1(A.add, xs), integers, times(2), 60, lambda other, x: x.cumsum(0)),
    Case("filter of half", lambda xs: A.filter(lambda x: x > 0.5, xs)[0], vector, times(1.5), 55,
         lambda other, x: x[x > 0.5]),
    Case("histogram", histogram, partial(keys, False), times(1), 60, lambda other, k: other.bincount(k, minlength=BINS)),
    Case("histogram of one bin", histogram, partial(keys, True), times(1), 30,
         lambda other, k: other.bincount(k, minlength=BINS)),
    Case("stencil", stencil, partial(matrix, 4096), times(2), 75),
    Case("twenty stencils in a loop", twenty, partial(matrix, 4096), times(40), 75),
    Case("gather in order", lambda at, xs: A.gather(at, xs), partial(places, True), times(4 / 3), 85,
         lambda other, at, xs: xs[at]),
    Case("gather at random", lambda at, xs: A.gather(at, xs), partial(places, False), times(4 / 3), None,
         lambda other, at, xs: xs[at]),
    Case("map of bytes", lambda xs: A.map(lambda x: x * 2 + 1, xs), _bytes, times(2), None, lambda other, x: x * 2 + 1),
    Case("sum of float64", A.sum, _doubles, times(1), None, lambda other, x: x.sum()),
    Case("scan of float64", lambda xs: A.scanl1(A.add, xs), _doubles, times(2), None, lambda other, x: x.cumsum(0)),
    Case("scans of rows of 4096", lambda m: A.scanl1(A.add, m), partial(matrix, 4096), times(2), None,
         lambda other, m: m.cumsum(1)),
    Case("sum of what a filter keeps", lambda xs: A.sum(A.filter(lambda x: x > 0.5, xs)[0]), vector, times(1), None,
         lambda other, x: x[x > 0.5].sum()),
    Case("largest of rows of 1024", A.argmax, partial(matrix, 1024), times(1 + 1 / 512), None,
         lambda other, m: m.argmax(1)),
    _segments("sums of short segments", short_segments, 1.2), _segments("sums of segments of 1000", middle_segments),
    _segments("sums of skewed segments", skewed_segments), _sparse(7), _sparse(60),
    Case("sums of floats in 256 bins", float_sums, binned, times(1), None,
         lambda other, k, x: other.bincount(k, x, minlength=BINS)),
    Case("scatter at random", lambda at, xs: A.scatter(at, A.fill(A.shape(xs), np.float32(0)), xs),
         partial(places, False), times(4 / 3), None),
    Case("softmax of rows of 128", softmax, partial(matrix, 128), times(2), None, _softmax, exact=False),
    Case("softmax of rows of 4096", softmax, partial(matrix, 4096), times(2), 60, _softmax, exact=False),
    Case("sort", A.sort, spread, times(2), None, lambda other, xs: other.sort(xs), sorts=True),
    Case("sort of rows of 1000", A.sort, partial(matrix, 1000), times(2), None, lambda other, m: other.sort(m), sorts=True),
    Case("places in order", A.argsort, spread, times(3), None, lambda other, xs: other.argsort(xs), sorts=True),
    Case("greatest hundred", lambda xs: A.topK(100, xs), vector, times(1), None, sorts=True),
    Case("matrix product", A.matmul, square, times(1.5), None, lambda other, a, b: a @ b),
)  # fmt: skip
