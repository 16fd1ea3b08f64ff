"""Programs of which each is one nest, or two, with data that has blocks, lanes and tails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import accel as A
from accel import settings
from accel.ast.tree.leaves import to_host
from accel.explanation.explain import subject
from accel.ir import nodes as ir
from accel.ir.mentions import nests
from accel.labelled.meaning.evaluate import HostArray

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time


@dataclass(frozen=True)
class Example:
    """A loop program and its arguments."""

    loops: ir.Program
    arguments: Sequence[HostArray]

    @property
    def nests(self) -> list[ir.Nest]:
        """Its nests, in order."""
        return list(nests(self.loops))


def lowered(function: Callable[..., object], *arrays: HostArray) -> Example:
    """A function of arrays, planned without a solver, in as few loops as bytes allow."""
    found = subject(function, arrays, settings.changed({"strategy": "greedy", "cost": "memory"}))
    assert found.data is not None
    return Example(found.staged.loops, [to_host(leaf) for leaf in found.data])


def floats(*shape: int, kind: type[np.floating[Any]] = np.float32) -> HostArray:  # Any: NumPy's precision
    """Numbers whose sums are rounded."""
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(kind)


def dot(n: int = 4200) -> Example:
    """One ordered fold, of two blocks."""
    return lowered(lambda xs, ys: A.fold(A.add, 0, A.zipWith(A.mul, xs, ys)), floats(n), floats(n)[::-1].copy())


def matmul(n: int = 5, m: int = 7, k: int = 140) -> Example:
    """Two maps around a fold."""

    def product(a: Handle, b: Handle) -> object:
        left, right = A.replicate((A.All, m, A.All), a), A.replicate((n, A.All, A.All), A.transpose(b))
        return A.fold(A.add, 0.0, A.zipWith(A.mul, left, right))

    return lowered(product, floats(n, k, kind=np.float64), floats(k, m, kind=np.float64))


def shortest(n: int = 5, m: int = 7, k: int = 40) -> Example:
    """The product of (min, +), which any order serves."""

    def product(a: Handle, b: Handle) -> object:
        left, right = A.replicate((A.All, m, A.All), a), A.replicate((n, A.All, A.All), A.transpose(b))
        return A.fold1(A.min, A.zipWith(A.add, left, right))

    return lowered(product, floats(n, k), floats(k, m))


def rounded(n: int = 4200) -> Example:
    """An ordered fold whose elements are no products."""
    return lowered(lambda xs: A.fold(A.add, 0, A.map(lambda x: x + 1, xs)), floats(n))


def columns(n: int = 300, m: int = 4) -> Example:
    """A fold down columns."""
    return lowered(lambda xs: A.fold(A.add, 0, A.transpose(xs)), floats(n, m))


def rows(n: int = 3, m: int = 200) -> Example:
    """Folds of rows, and a map of what they give."""

    def function(xs: Handle) -> object:
        return A.map(lambda x: x * 0.5, A.fold(A.add, 0, xs)), A.fold1(A.max, xs)

    return lowered(function, floats(n, m))


def transposed(n: int = 9, m: int = 10) -> Example:
    """A map of a matrix and of another one's transpose."""
    return lowered(lambda xs, ys: A.zipWith(lambda x, y: x * 2 + y, xs, A.transpose(ys)), floats(n, m), floats(m, n))


def nearest(n: int = 150, m: int = 5) -> Example:
    """Folds of what short rows come to."""

    def function(xs: Handle) -> object:
        least = A.fold1(A.min, xs)
        return A.fold(A.add, 0, least), A.fold1(A.max, A.map(lambda x: x * 0.5, least))

    return lowered(function, floats(n, m))


def highest(n: int = 5, m: int = 150) -> Example:
    """A fold of what columns come to."""
    return lowered(lambda xs: A.fold(A.add, 0, A.fold(A.add, 0, A.transpose(xs))), floats(n, m))


def batch(n: int = 2, m: int = 3, k: int = 4) -> Example:
    """Products of several small matrices."""

    def product(a: Handle, b: Handle) -> object:
        left, right = A.replicate((A.All, A.All, 5, A.All), a), A.replicate((A.All, m, A.All, A.All), b)
        return A.map(lambda x: x + 1, A.fold(A.add, 0.0, A.zipWith(A.mul, left, right)))

    return lowered(product, floats(n, m, k), floats(n, 5, k))


def middle(n: int = 3, m: int = 70, k: int = 5) -> Example:
    """A fold of the dimension in the middle."""
    return lowered(lambda xs: A.fold(A.add, 0, A.transposeOn(1, 2, xs)), floats(n, m, k))


def whole(n: int = 70, m: int = 90) -> Example:
    """A fold of all elements of a matrix."""
    return lowered(lambda xs: A.foldAll(A.add, 0, xs), floats(n, m))


def choice(n: int = 4200) -> Example:
    """A fold that does not commute, next to one that does."""

    def function(xs: Handle) -> object:
        return A.fold(lambda a, b: a * 0.5 + b, 1.0, xs), A.fold(A.mul, 1.0, xs)

    return lowered(function, floats(n, kind=np.float64))


def runs(n: int = 4200) -> Example:
    """A fold that does not commute."""
    return lowered(lambda xs: A.fold(lambda a, b: a * 0.5 + b, 1.0, xs), floats(n, kind=np.float64))


def scans(n: int = 4, m: int = 90) -> Example:
    """A scan from the right of each row."""
    return lowered(lambda xs: A.scanr(A.add, 0, xs), floats(n, m))


def kept(n: int = 300) -> Example:
    """A fold behind a filter, and a filter."""

    def function(xs: Handle) -> object:
        some, _ = A.filter(lambda x: x > 0, xs)
        return some, A.fold(A.add, 0, some)

    return lowered(function, floats(n))


def histogram(n: int = 500) -> Example:
    """A scatter that any order serves, and a map next to it."""

    def function(places: Handle, xs: Handle) -> object:
        return A.scatterWith(A.add, A.fill((10,), 0), A.zip(places, xs)), A.map(lambda x: x + 1, xs)

    return lowered(function, np.arange(n) * 7 % 10, np.arange(n))


def totals(n: int = 9000) -> Example:
    """A scan and a scan of its results, and folds beside them: two rounds of totals."""

    def function(xs: Handle) -> object:
        once = A.scanl1(A.add, xs)
        return A.scanl1(A.add, once), A.fold(A.add, 0, xs), A.fold(A.max, -9.0, once)

    return lowered(function, floats(n))


def counts(n: int = 9000) -> Example:
    """An exact scan, and a fold that is not."""
    return lowered(lambda xs: (A.scanl1(A.max, xs), A.fold(A.add, 0, xs)), floats(n))


def powers(n: int = 70, m: int = 60) -> Example:
    """Greatest elements of all, of which none shows an order, and of rows."""
    return lowered(lambda xs: (A.fold1All(A.max, xs), A.foldAll(A.min, 9, xs)), floats(n, m))


MAPS_AND_FOLDS = (dot, rounded, shortest, matmul, columns, transposed, batch, middle, rows)


def phases(n: int = 1300) -> Example:
    """A random read, much that is computed of it, and a sum of that: one after the other for some elements."""

    def program(places: Handle, xs: Handle) -> object:
        return A.fold(A.add, 0, A.map(lambda x: (((x * x + 1) * x + 2) * x + 3) * x + 4, A.gather(places, xs)))

    return lowered(program, np.random.default_rng(n).permutation(n), floats(n))


def scanned_phases(n: int = 1300) -> Example:
    """The same before a scan."""

    def program(xs: Handle) -> object:
        return A.scanl1(A.add, A.map(lambda x: (((x * x + 1) * x + 2) * x + 3) * x + 4, xs))

    return lowered(program, floats(n))


def lines(rows: int = 5, columns: int = 12) -> Example:
    """A stencil whose columns share sums across rows."""

    def across(n: Any, k: int) -> Any:  # Any: a neighbourhood, an expression
        return n(-2, k) + n(-1, k) * 0.7 + n(1, k) - n(2, k)

    def program(xs: Handle) -> object:
        grid = A.compute(A.generate((rows, columns), lambda ix: xs[A.toIndex(A.index(rows, columns), ix) % 29]))
        return A.stencil(lambda n: n(0, 1) * across(n, -1) - across(n, 0) * across(n, 1), A.boundary.wrap, grid)

    return lowered(program, floats(29))


def windows(rows: int = 4, columns: int = 10) -> Example:
    """Windows of two dimensions, which are folded as one row."""

    def program(xs: Handle, weights: Handle) -> object:
        def element(ix: Any) -> Any:  # Any: an index, and an element
            i, j, a, b = A.unindex(ix)
            return xs[i + a, j + b] * weights[a, b]

        return A.fold(A.add, 0, A.generate(A.index(rows, columns, 2, 3), element), dims=2)

    return lowered(program, floats(rows + 1, columns + 2), floats(2, 3))


def segments(columns: int = 5) -> Example:
    """Segments of rows of memory, one of them without elements, one longer than a block's lanes."""

    def program(xs: Handle, lengths: Handle) -> object:
        return A.foldSeg(A.add, 1, A.transpose(xs), lengths)

    lengths = np.array([3, 0, 70, 1])
    return lowered(program, floats(int(lengths.sum()), columns), lengths)


def pixels(rows: int = 40) -> Example:
    """Rows of three elements, of which each is made of all three."""

    def program(xs: Handle) -> object:
        def element(ix: Any) -> Any:  # Any: an index, and an element
            i, c = A.unindex(ix)
            return A.cond(c == 0, xs[i, 1] + xs[i, 2], xs[i, c] * xs[i, (c + 1) % 3])

        return A.generate(A.index(rows, 3), element)

    return lowered(program, floats(rows, 3))


EXAMPLES = (
    *MAPS_AND_FOLDS, nearest, highest, whole, choice, runs, scans, totals, counts, powers, kept, histogram, phases,
    scanned_phases, lines, windows, segments, pixels,
)  # fmt: skip
