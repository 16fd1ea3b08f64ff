"""Conjugate gradients for a sparse matrix like SuiteSparse's `delaunay_n14`: neighbours in a triangulation of points.

The matrix is SciPy's, compressed by rows: the loop that loads and multiplies what a row asks for adds it up, segment by
segment. Two sums must be complete before what follows begins, so a turn is four loops. SciPy's own `cg` has as many lines,
because in both of them each line is a formula of the method.
"""

from __future__ import annotations

from itertools import permutations
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import cg
from scipy.spatial import Delaunay

import accel as A

Floats: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
Vector: TypeAlias = A.Acc[A.Vector[np.float64]]
Indices: TypeAlias = A.Acc[A.Vector[np.int32]]
Number: TypeAlias = A.Acc[A.Scalar[np.float64]]
Count: TypeAlias = A.Acc[A.Scalar[np.int64]]
State: TypeAlias = tuple[Vector, Vector, Vector, Number, Count]

TOLERANCE = 1e-8


def product(offsets: Indices, columns: Indices, values: Vector, xs: Vector) -> Vector:
    """The matrix of these rows times a vector."""
    asked = A.gather(A.map(lambda column: A.cast(column, np.int64), columns), xs)
    return A.foldSegOffsets(A.add, 0, A.zipWith(A.mul, values, asked), offsets)


def solve(offsets: Indices, columns: Indices, values: Vector, b: Vector) -> tuple[Vector, Count]:
    """The x that the matrix takes to `b`, but for a residual of `TOLERANCE` times `b`; and after how many turns."""

    def turn(state: State) -> State:
        x, residual, direction, square, turns = state
        image = product(offsets, columns, values, direction)
        step = A.the(square) / A.the(A.dot(direction, image))
        x = A.zipWith(lambda x, d: x + step * d, x, direction)
        residual = A.zipWith(lambda r, i: r - step * i, residual, image)
        new = A.dot(residual, residual)
        direction = A.zipWith(lambda r, d: r + A.the(new) / A.the(square) * d, residual, direction)
        return x, residual, direction, new, A.map(lambda n: n + 1, turns)

    square = A.dot(b, b)
    least = A.the(square) * TOLERANCE**2
    start: State = (A.map(lambda b: b * 0, b), b, b, square, A.unit(A.constant(0)))
    x, _, _, _, turns = A.awhile(lambda state: A.map(lambda square: square > least, state[3]), turn, start)
    return x, turns


def inputs(points: int = 1 << 14) -> tuple[csr_matrix, Floats]:
    """The Laplacian of the triangulation, with a hundredth more on its diagonal; and a right side."""
    random = np.random.default_rng(2026)
    triangles = Delaunay(random.random((points, 2))).simplices.astype(np.int64)
    sides = np.concatenate([triangles[:, pair] for pair in permutations(range(3), 2)])
    sources, targets = np.unique(sides, axis=0).T
    values = np.concatenate([np.full(len(sources), -1.0), np.bincount(sources) + 0.01])
    diagonal = np.arange(points)
    places = np.concatenate([sources, diagonal]), np.concatenate([targets, diagonal])
    return csr_matrix((values, places), shape=(points, points)), random.standard_normal(points)


def main() -> None:
    """Solve, compare with SciPy, and show what was fused."""
    matrix, b = inputs()
    x, turns = A.runN(solve)(matrix.indptr, matrix.indices, matrix.data, b)
    steps: list[Floats] = []
    expected, _ = cg(matrix, b, rtol=TOLERANCE, callback=steps.append)
    np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-6)
    assert abs(int(turns) - len(steps)) <= 1, (turns, len(steps))
    residual = np.linalg.norm(matrix @ x - b) / np.linalg.norm(b)
    print(f"{len(b)} rows, {matrix.nnz} elements: {turns} turns, residual {residual:.0e}")
    written, fused = (A.explain(solve, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
