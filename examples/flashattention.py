"""Attention, softmax(Q Kᵀ) V, in the three ways of the CFAL benchmarks.

`naive` makes the whole matrix of scores; `by_rows` works on square blocks of rows, with a softmax that keeps large scores from
overflowing; `tiled` is Algorithm 1 of the FlashAttention paper: a loop over blocks of columns that has one block of scores at
a time. All queries, keys and values are matrices (N, d). Products are loops of their own, which run in tiles. NumPy says the
second way in three lines; the third, which saves memory, is longer in any language. [T. Dao et al., FlashAttention, 2022]
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A

Table: TypeAlias = A.Acc[A.Matrix[np.float32]]
Cube: TypeAlias = A.Acc[A.Array[A.DIM3, np.float32]]
State: TypeAlias = tuple[Cube, Table, Table]
Number: TypeAlias = A.Exp[np.float32]
Floats: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def along(rows: Table, like: Cube) -> Cube:
    """Every element of `rows` repeated as the innermost dimension of `like`."""
    _, _, count = A.unlift(like.shape)
    return A.replicate((A.All, A.All, count), rows)


def naive(q: Table, k: Table, v: Table) -> Table:
    """Without care for large scores: exp, divided by its sums."""
    exponentials = A.map(A.exp, A.einsum("id,jd->ij", q, k))
    sums = A.sum(exponentials)
    weights = A.imap(lambda ix, e: e / sums[ix[0]], exponentials)
    return A.einsum("ij,jd->id", weights, v)


def by_rows(q: Table, k: Table, v: Table) -> Table:
    """In blocks of d rows; N is a multiple of d. The greatest score of a row is subtracted from all."""
    n, d = A.unlift(q.shape)
    scores = A.einsum("bid,jd->bij", A.reshape((n // d, d, d), q), k)
    exponentials = A.zipWith(lambda s, top: A.exp(s - top), scores, along(A.maximum(scores), scores))
    factors = A.map(A.recip, A.sum(exponentials))
    weights = A.zipWith(A.mul, exponentials, along(factors, exponentials))
    return A.reshape((n, d), A.einsum("bij,jd->bid", weights, v))


def update(state: State, queries: Cube, keys: Table, values: Table) -> State:
    """One block of columns more: sums and outputs so far are scaled to the new greatest score of their row."""
    outputs, sums, tops = state
    scores = A.einsum("bid,jd->bij", queries, keys)
    block_tops = A.maximum(scores)
    new_tops = A.zipWith(A.max, tops, block_tops)
    weights = A.zipWith(lambda s, top: A.exp(s - top), scores, along(new_tops, scores))
    kept = A.zipWith3(lambda total, top, new_top: total * A.exp(top - new_top), sums, tops, new_tops)
    new_sums = A.zipWith(A.add, kept, A.sum(weights))
    added = A.einsum("bij,jd->bid", weights, values)
    new_outputs = A.zipWith4(
        lambda output, total, more, new: (output * total + more) / new,
        outputs,
        along(kept, outputs),
        added,
        along(new_sums, outputs),
    )
    return new_outputs, new_sums, new_tops


def tiled(q: Table, k: Table, v: Table, rows: int = 64, columns: int = 256) -> Table:
    """FlashAttention's Algorithm 1, by blocks of `rows` queries and `columns` keys, which divide N."""
    n, d = A.unlift(q.shape)
    queries = A.reshape((n // rows, rows, d), q)

    def turn(j: A.Exp[np.int64], state: State) -> State:
        keys, values = (A.slitOn(0, j * columns, columns, xs) for xs in (k, v))
        return update(state, queries, keys, values)

    start: State = (
        A.map(lambda x: x * 0, queries),
        A.fill((n // rows, rows), A.constant(0, np.float32)),
        A.fill((n // rows, rows), A.constant(-np.inf, np.float32)),
    )
    output, _, _ = A.iiterate(n // columns, turn, start)
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


def main() -> None:
    """All three ways on small scores, compared with NumPy; show what was fused."""
    q, k, v = inputs(1024, 64)
    expected = attention_numpy(q, k, v)
    for way in (naive, by_rows, tiled):
        np.testing.assert_allclose(A.run(way(A.use(q), A.use(k), A.use(v))), expected, rtol=1e-4, atol=1e-5)
        written, fused = (A.explain(way, q, k, v, strategy=strategy).loops for strategy in ("none", "ilp"))
        print(f"{way.__name__}, loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
