"""Attention, softmax(Q Kᵀ) V, in the three ways of `benchmarks/graphs/flashattention.json`.

`naive` makes the whole matrix of scores; `by_rows` works on square blocks of rows, with a stable softmax; `tiled` is
Algorithm 1 of the FlashAttention paper: a loop over blocks of columns that never has more than one block of scores.
All queries, keys and values are matrices (N, d).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A

Table: TypeAlias = A.Acc[A.Matrix[np.float32]]
Cube: TypeAlias = A.Acc[A.Array[A.DIM3, np.float32]]
Counter: TypeAlias = A.Acc[A.Scalar[np.int64]]
State: TypeAlias = tuple[Cube, Table, Table, Counter]
Number: TypeAlias = A.Exp[np.float32]
Floats: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def product(left: Table, right: Table) -> Table:
    """Rows by rows: (m, d) and (n, d) make (m, n)."""
    m, _ = A.unlift(left.shape)
    n, _ = A.unlift(right.shape)
    pairs = A.zipWith(A.mul, A.replicate((A.All, n, A.All), left), A.replicate((m, A.All, A.All), right))
    return A.fold(A.add, 0, pairs)


def products(left: Cube, right: Cube) -> Cube:
    """`product`, block by block: (b, m, d) and (b, n, d) make (b, m, n)."""
    _, m, _ = A.unlift(left.shape)
    _, n, _ = A.unlift(right.shape)
    rows = A.replicate((A.All, A.All, n, A.All), left)
    columns = A.replicate((A.All, m, A.All, A.All), right)
    return A.fold(A.add, 0, A.zipWith(A.mul, rows, columns))


def along(rows: Table, like: Cube) -> Cube:
    """Every element of `rows` repeated as the innermost dimension of `like`."""
    _, _, count = A.unlift(like.shape)
    return A.replicate((A.All, A.All, count), rows)


def naive(q: Table, k: Table, v: Table) -> Table:
    """Without care for large scores: exp, divided by its sums."""
    exponentials = A.map(A.exp, product(q, k))
    _, count = A.unlift(exponentials.shape)
    sums = A.replicate((A.All, count), A.fold(A.add, 0, exponentials))
    weights = A.zipWith(lambda e, total: e / total, exponentials, sums)
    return product(weights, A.transpose(A.compute(v)))


def by_rows(q: Table, k: Table, v: Table) -> Table:
    """In blocks of d rows; N is a multiple of d. The greatest score of a row is subtracted from all."""
    n, d = A.unlift(q.shape)
    blocks = n // d
    scores = products(A.reshape((blocks, d, d), q), A.replicate((blocks, A.All, A.All), k))
    stable = A.zipWith(lambda s, top: s - top, scores, along(A.fold1(A.max, scores), scores))
    exponentials = A.map(A.exp, stable)
    factors = A.map(A.recip, A.fold(A.add, 0, exponentials))
    weights = A.zipWith(A.mul, exponentials, along(factors, exponentials))
    values = A.replicate((blocks, A.All, A.All), A.compute(A.transpose(v)))
    return A.reshape((n, d), products(weights, values))


def update(state: State, queries: Cube, keys: Cube, values: Cube) -> State:
    """One block of columns more: sums and outputs so far are scaled to the new greatest score of their row."""
    outputs, sums, tops, j = state
    blocks, _, _ = A.unlift(queries.shape)

    def current(all_blocks: Cube) -> Cube:
        return A.replicate((blocks, A.All, A.All), A.slice(all_blocks, (A.the(j), A.All, A.All)))

    def rescaled(total: Number, top: Number, new_top: Number, output: Number) -> Number:
        return total * A.exp(top - new_top) * output

    def together(top: Number, new_top: Number, total: Number, block_top: Number, block_total: Number) -> Number:
        return A.exp(top - new_top) * total + A.exp(block_top - new_top) * block_total

    scores = products(queries, current(keys))
    block_tops = A.fold1(A.max, scores)
    exponentials = A.zipWith(lambda top, s: A.exp(s - top), along(block_tops, scores), scores)
    block_sums = A.fold(A.add, 0, exponentials)
    new_tops = A.zipWith(A.max, tops, block_tops)
    new_sums = A.zipWith5(together, tops, new_tops, sums, block_tops, block_sums)
    kept = A.zipWith4(rescaled, along(sums, outputs), along(tops, outputs), along(new_tops, outputs), outputs)
    weights = A.zipWith3(
        lambda top, new_top, e: A.exp(top - new_top) * e,
        along(block_tops, scores),
        along(new_tops, scores),
        exponentials,
    )
    added = products(A.compute(weights), A.compute(A.transposeOn(1, 2, current(values))))
    unscaled = A.zipWith(A.add, kept, added)
    new_outputs = A.zipWith(lambda output, total: output / total, unscaled, along(new_sums, outputs))
    return new_outputs, new_sums, new_tops, A.map(lambda j: j + 1, j)


def tiled(q: Table, k: Table, v: Table, rows: int = 4, columns: int = 4) -> Table:
    """FlashAttention's Algorithm 1, by blocks of `rows` queries and `columns` keys, which divide N."""
    n, d = A.unlift(q.shape)
    row_blocks, column_blocks = n // rows, n // columns
    queries = A.reshape((row_blocks, rows, d), q)
    keys, values = A.reshape((column_blocks, columns, d), k), A.reshape((column_blocks, columns, d), v)
    start: State = (
        A.fill((row_blocks, rows, d), A.constant(0, np.float32)),
        A.fill((row_blocks, rows), A.constant(0, np.float32)),
        A.fill((row_blocks, rows), A.constant(-np.inf, np.float32)),
        A.unit(A.constant(0, np.int64)),
    )
    output, _, _, _ = A.awhile(
        lambda state: A.map(lambda j: j < column_blocks, state[3]),
        lambda state: update(state, queries, keys, values),
        start,
    )
    return A.reshape((n, d), output)


def attention_numpy(q: Floats, k: Floats, v: Floats) -> Floats:
    """The same in NumPy, in double precision."""
    scores = q.astype(np.float64) @ k.astype(np.float64).T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(weights @ v.astype(np.float64)).astype(np.float32)


def inputs(n: int, d: int, seed: int = 1) -> tuple[Floats, Floats, Floats]:
    """Random queries, keys and values."""
    random = np.random.default_rng(seed)
    q, k, v = (random.standard_normal((n, d)).astype(np.float32) for _ in range(3))
    return q, k, v
