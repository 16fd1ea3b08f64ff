"""[Ber]'s expressions of linear algebra as a user of accel writes them; numbers are those of the paper's equations."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A

Row: TypeAlias = A.Acc[A.Vector[np.float64]]
Grid: TypeAlias = A.Acc[A.Matrix[np.float64]]
Number: TypeAlias = A.Acc[A.Scalar[np.float64]]


def rows_of(vector: Row, like: Grid) -> Grid:
    """`vector` as every row of a matrix with the rows of `like`."""
    return A.replicate((A.unlift(like.shape)[0], A.All), vector)


def eq_1(a: Grid, b: Grid, v: Row, u: Row) -> Row:
    """w_i = sum_j (A_ij + B_ij) (v_j + u_j)."""
    sums = A.zipWith(A.add, v, u)
    return A.fold(A.add, 0, A.zipWith(A.mul, A.zipWith(A.add, a, b), rows_of(sums, a)))


def eq_2(a: Grid, b: Grid, g: Row) -> Grid:
    """C_ik = sum_j A_ij B_jk g_j."""
    (rows, _), (_, columns) = A.unlift(a.shape), A.unlift(b.shape)
    over_columns = A.replicate((A.All, columns, A.All), a)
    over_rows = A.replicate((rows, A.All, A.All), A.transpose(b))
    weights = A.replicate((rows, columns, A.All), g)
    return A.fold(A.add, 0, A.zipWith3(lambda x, y, z: x * y * z, over_columns, over_rows, weights))


def eq_3_to_5(w: Grid, x: Grid, beta: Row) -> Grid:
    """A layer of a neural network: y = W x + beta over a batch, (y - E[y]) / sqrt(V[y]), then h(z) = max(z, 0)."""
    (batch, _), (outputs, _) = A.unlift(x.shape), A.unlift(w.shape)
    products = A.zipWith(A.mul, A.replicate((batch, A.All, A.All), w), A.replicate((A.All, outputs, A.All), x))
    y = A.zipWith(A.add, A.fold(A.add, 0, products), rows_of(beta, x))
    columns, count = A.transpose(y), A.toFloating(batch, np.float64)
    mean = A.map(lambda total: total / count, A.fold(A.add, 0, columns))
    square = A.map(lambda total: total / count, A.fold(A.add, 0, A.map(lambda v: v * v, columns)))
    z = A.zipWith3(lambda v, e, q: (v - e) / A.sqrt(q - e * e), y, rows_of(mean, x), rows_of(square, x))
    return A.map(lambda v: A.max(v, 0.0), z)


def eq_18(a: Grid, v: Row) -> Row:
    """The product of a matrix and a vector: map (r -> reduce (+) (zip (*) r v)) A."""
    return A.fold(A.add, 0, A.zipWith(A.mul, a, rows_of(v, a)))


def eq_25(xs: Row, ys: Row) -> Row:
    """A zip of zips is an nzip."""
    return A.zipWith3(lambda a, b, c: a + b * c, xs, A.zipWith(A.mul, xs, ys), A.map(lambda y: y + 1, ys))


def eq_29(u: Row, v: Row) -> Number:
    """The dot product, a reduction of a zip: rnz (+) (*) u v."""
    return A.fold(A.add, 0, A.zipWith(A.mul, u, v))


def eq_31(xs: Row, ys: Row) -> tuple[Row, Row]:
    """(map f x, map g y)."""
    return A.map(lambda x: x + 1, xs), A.map(lambda y: y * 2, ys)


def eq_32(xs: Row) -> tuple[Row, Row]:
    """(map f, map g) x = map (fanOut f g) x."""
    return A.map(lambda x: x + 1, xs), A.map(lambda x: x * 2, xs)


def eq_34(xs: Row) -> tuple[Number, Number]:
    """(reduce f x, reduce g x)."""
    return A.fold1(A.min, xs), A.fold1(A.max, xs)


def eq_35(v: Row, u: Row) -> Grid:
    """The dyadic product A_ij = v_i u_j."""
    (rows,), (columns,) = A.unlift(v.shape), A.unlift(u.shape)
    return A.zipWith(A.mul, A.replicate((A.All, columns), v), A.replicate((rows, A.All), u))


def eq_40(a: Grid, v: Row) -> Row:
    """`eq_18` by columns: each is multiplied by one element of the vector, then they are added."""
    columns = A.transpose(a)
    _, rows = A.unlift(columns.shape)
    scaled = A.zipWith(A.mul, columns, A.replicate((A.All, rows), v))
    return A.fold(A.add, 0, A.transpose(scaled))


def eq_47(a: Grid, v: Row, block: int) -> Row:
    """`eq_18` with rows and vector subdivided (1a of section 3)."""
    rows, columns = A.unlift(a.shape)
    blocks = A.reshape((rows, columns // block, block), a)
    pieces = A.replicate((rows, A.All, A.All), A.reshape((columns // block, block), v))
    return A.fold(A.add, 0, A.fold(A.add, 0, A.zipWith(A.mul, blocks, pieces)))


def eq_51(a: Grid, b: Grid) -> Grid:
    """The product of two matrices: map (r -> map (c -> rnz (+) (*) r c) B) A."""
    (rows, _), (_, columns) = A.unlift(a.shape), A.unlift(b.shape)
    left = A.replicate((A.All, columns, A.All), a)
    right = A.replicate((rows, A.All, A.All), A.transpose(b))
    return A.fold(A.add, 0, A.zipWith(A.mul, left, right))
