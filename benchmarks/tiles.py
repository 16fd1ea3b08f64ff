"""Nests in tiles beside NumPy's way to the same, and beside accel's own product: `python -m benchmarks.tiles`.

Distances of all pairs of rows beside the formula by a product; least sums, the product of (min, +), beside broadcasting, of
which NumPy does a few rows; products with what is fused before and after them beside the product alone. One thread; set
`OPENBLAS_NUM_THREADS=1`. Candidates run in turn in one process; figures are least processor times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec

import numpy as np

import accel as A
from benchmarks.rearrange import in_turn

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Matrix = A.Acc[A.Matrix[np.float32]]
Vector = A.Acc[A.Vector[np.float32]]
Number = A.Exp[np.float32]

WIDTHS = (3, 16, 64)
"""Numbers in each of the rows whose distances are taken."""

BROADCAST_ROWS = 8
"""Of which NumPy makes all sums, before it finds the least of each; the time counts as if it had done all rows."""


@dataclass(frozen=True, slots=True)
class Row:
    """Arguments, accel's function of them, and others by name, each with how often its time counts."""

    name: str
    arguments: Sequence[Array]
    own: Callable[..., object]
    others: Mapping[str, tuple[Callable[..., object], float]] = field(default_factory=dict)


def product(x: Matrix, y: Matrix) -> Matrix:
    """The product alone."""
    return A.matmul(x, y)


def written_out(x: Matrix, y: Matrix) -> Matrix:
    """The product by `replicate`, `zipWith` and `fold` alone."""
    return A.fold(A.add, 0, pairs(A.mul, x, A.transpose(y)))


def distances(x: Matrix, y: Matrix) -> Matrix:
    """Squares of distances between rows of x and rows of y."""

    def square(a: Number, b: Number) -> Number:
        return (a - b) * (a - b)

    return A.fold(A.add, 0, pairs(square, x, y))


def least_sums(x: Matrix, y: Matrix) -> Matrix:
    """The product of (min, +), of x and the transpose of y."""
    return A.fold1(A.min, pairs(A.add, x, y))


def pairs(
    function: Callable[[Number, Number], Number], x: Matrix, y: Matrix
) -> A.Acc[A.Array[tuple[int, int, int], np.float32]]:
    """The function of x[i, k] and y[j, k] at [i, j, k]."""
    (rows, _), (columns, _) = A.unlift(x.shape), A.unlift(y.shape)
    return A.zipWith(function, A.replicate((A.All, columns, A.All), x), A.replicate((rows, A.All, A.All), y))


def activated(x: Matrix, y: Matrix, bias: Vector) -> Matrix:
    """A bias and a largest of that and 0 after the product."""
    rows, _ = A.unlift(x.shape)
    return A.map(lambda e: A.max(e, 0), A.zipWith(A.add, A.matmul(x, y), A.replicate((rows, A.All), bias)))


def exponential(x: Matrix, y: Matrix) -> Matrix:
    """`exp` of each element of the product."""
    return A.map(A.exp, A.matmul(x, y))


def nearest(x: Matrix, y: Matrix) -> A.Acc[A.Vector[np.int64]]:
    """For each row of x the row of y that is nearest."""
    return A.argmin(distances(x, y))


def greatest(x: Matrix, y: Matrix) -> Vector:
    """The greatest of each row of a product."""
    return A.fold1(A.max, A.matmul(x, y))


def weighted(x: Matrix, y: Matrix, weights: Vector) -> Matrix:
    """Each product of the sums times a weight."""
    return A.einsum("ij,jk,j->ik", x, y, weights)


def chained(x: Matrix, y: Matrix, z: Matrix) -> Matrix:
    """A product of three matrices, by `einsum`."""
    return A.einsum("ij,jk,kl->il", x, y, z)


def of_transposed(x: Matrix, y: Matrix) -> Matrix:
    """The product of both transposed."""
    return A.matmul(A.transpose(x), A.transpose(y))


def rows(size: int, size_of_distances: int) -> Iterator[Row]:
    """All rows: products of square matrices of `size`, distances of so many rows."""
    random = np.random.default_rng(18)

    def floats(*shape: int) -> Array:
        return random.random(shape, dtype=np.float32)

    def ours(function: Callable[..., object]) -> Callable[..., object]:
        return A.runN(function, threads=1)

    for width in WIDTHS:
        points = floats(size_of_distances, width), floats(size_of_distances, width)
        yield Row(f"distances of rows of {width}", points, ours(distances), {"NumPy by a product": (by_product, 1)})
    points = floats(4 * size_of_distances, 8), floats(4 * size_of_distances, 8)
    least = {"NumPy": (lambda x, y: by_product(x, y).argmin(1), 1.0)}
    yield Row("nearest of rows of 8", points, ours(nearest), {"own distances": (ours(distances), 1.0)} | least)
    for width in (8, 32):
        thin = floats(8 * size, width), floats(width, 8 * size)
        others = {"own product": (ours(product), 1.0), "NumPy": (lambda x, y: (x @ y).max(1), 1.0)}
        yield Row(f"greatest of rows, sums of {width}", thin, ours(greatest), others)
    x, y, bias = floats(size, size), floats(size, size), floats(size)
    alone = {"own product": (ours(product), 1.0)}
    by_hand = {"Numba": (compiled_loops, 1.0)} if find_spec("numba") else {}
    yield Row("least sums", (x, y), ours(least_sums), {"NumPy": (by_broadcasting, size / BROADCAST_ROWS)} | by_hand)
    yield Row("written out", (x, y), ours(written_out), alone)
    own_of_bias = {"own product": (lambda x, y, bias: alone["own product"][0](x, y), 1.0)}
    composed = {"NumPy": (lambda x, y, bias: np.maximum(x @ y + bias, 0), 1.0)}
    yield Row("bias and largest", (x, y, bias), ours(activated), own_of_bias | composed)
    by_einsum = {"NumPy": (lambda x, y, g: np.einsum("ij,jk,j->ik", x, y, g, optimize=True), 1.0)}
    yield Row("weighted", (x, y, bias), ours(weighted), own_of_bias | by_einsum)
    three = floats(size, size)
    theirs = {"NumPy": (lambda x, y, z: np.einsum("ij,jk,kl->il", x, y, z, optimize=True), 1.0)}
    yield Row("three factors", (x, y, three), ours(chained), theirs)
    yield Row("both transposed", (x, y), ours(of_transposed), {"NumPy": (lambda x, y: x.T @ y.T, 1.0)})
    long = floats(4 * size, 64), floats(64, 4 * size)
    yield Row("exp", long, ours(exponential), {"NumPy": (lambda x, y: np.exp(x @ y), 1.0)} | alone)


def by_product(x: Array, y: Array) -> Array:
    """Squares of distances as NumPy's users compute them."""
    found: Array = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
    return found


def by_broadcasting(x: Array, y: Array) -> Array:
    """The first rows of least sums."""
    found: Array = (x[:BROADCAST_ROWS, None] + y).min(2)
    return found


def compiled_loops(x: Array, y: Array) -> Array:
    """The same of all rows, by loops that Numba compiles."""
    found: Array = _compiled()(x, np.ascontiguousarray(y.T))
    return found


@cache
def _compiled() -> Callable[[Array, Array], Array]:
    import numba

    found: Callable[[Array, Array], Array] = numba.njit()(_least_sums_by_loops)
    return found


def _least_sums_by_loops(x: Array, y: Array) -> Array:
    """For rows of x and columns of y; the innermost loop runs along rows of memory."""
    found = np.full((x.shape[0], y.shape[1]), np.inf, x.dtype)
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            for j in range(y.shape[1]):
                found[i, j] = min(found[i, j], x[i, k] + y[k, j])
    return found


def main() -> None:
    """Prints the table."""
    print(f"{'':28} {'ms':>8}   what another takes over it")
    for row in rows(1024, 2048):
        own, *others = in_turn([row.own, *(other for other, _ in row.others.values())], *row.arguments)
        ratios = [
            f"{name} {seconds * weight / own:.2f}"
            for seconds, (name, (_, weight)) in zip(others, row.others.items(), strict=True)
        ]
        print(f"{row.name:28} {own * 1e3:8.2f}   {', '.join(ratios)}", flush=True)


if __name__ == "__main__":
    main()
