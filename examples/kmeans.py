"""Lloyd's k-means on scikit-learn's handwritten digits.

The differences of all points and all centroids are never an array: they are squared and added up in the loop that
computes them, which runs in tiles, as a product of matrices. A second loop finds the nearest centroids. `permute`
adds every point to its centroid's sum. NumPy's text is a third as long, since it broadcasts: it makes an array of all
differences.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import accel as A

Floats: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Ints: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
Points: TypeAlias = A.Acc[A.Matrix[np.float64]]
Labels: TypeAlias = A.Acc[A.Vector[np.int64]]
State: TypeAlias = tuple[Points, Labels, A.Acc[A.Scalar[np.bool_]]]
Candidate: TypeAlias = A.Exp[tuple[np.float64, np.int64]]


def nearest(points: Points, centroids: Points) -> Labels:
    """For every point (a row) the number of the centroid at the least distance, the first of equals."""
    n, dimensions = A.unindex(points.shape)
    k, _ = A.unindex(centroids.shape)

    def difference(ix: A.Exp[tuple[int, int, int]]) -> A.Exp[np.float64]:
        i, c, d = A.unindex(ix)
        return points[i, d] - centroids[c, d]

    squares = A.map(lambda x: x * x, A.generate(A.index(n, k, dimensions), difference))
    distances = A.fold(A.add, 0, squares)
    numbered = A.imap(lambda ix, x: A.lift(x, A.unindex(ix)[1]), distances)

    def better(a: Candidate, b: Candidate) -> Candidate:
        return A.cond(b[0] < a[0], b, a)

    return A.map(lambda best: best[1], A.fold1(better, numbered))


def means(points: Points, labels: Labels, centroids: Points) -> Points:
    """The mean of the points of each label; a label without points keeps its centroid."""
    k, _ = A.unindex(centroids.shape)
    zeros = A.map(lambda c: c * 0, centroids)
    nobody = A.fill(A.index(k), A.constant(0, np.int64))
    sums = A.permute(A.add, zeros, lambda ix: A.just(A.index(labels[A.unindex(ix)[0]], A.unindex(ix)[1])), points)
    ones = A.map(lambda _: A.constant(1, np.int64), labels)
    counts = A.permute(A.add, nobody, lambda ix: A.just(A.index(labels[ix])), ones)

    def mean(ix: A.Exp[tuple[int, int]], pair: A.Exp[tuple[np.float64, np.float64]]) -> A.Exp[np.float64]:
        total, old = A.unlift(pair)
        count = counts[A.unindex(ix)[0]]
        return A.cond(count > 0, total / A.toFloating(count, np.float64), old)

    return A.imap(mean, A.zip(sums, centroids))


def kmeans(points: Points, start: Points) -> tuple[Points, Labels]:
    """Centroids and labels once no point changes its label."""

    def step(state: State) -> State:
        centroids, labels, _ = state
        moved = A.compute(means(points, labels, centroids))
        new = nearest(points, moved)
        changed = A.or_(A.zipWith(A.ne, labels, new))
        return moved, new, changed

    first: State = (start, nearest(points, start), A.unit(A.constant(True, np.bool_)))
    centroids, labels, _ = A.awhile(lambda state: state[2], step, first)
    return centroids, labels


def kmeans_numpy(points: Floats, start: Floats) -> tuple[Floats, Ints]:
    """The same in NumPy."""

    def assign(centroids: Floats) -> Ints:
        labels: Ints = np.argmin(((points[:, None, :] - centroids[None, :, :]) ** 2).sum(axis=2), axis=1)
        return labels

    centroids, labels = start, assign(start)
    while True:
        used = np.bincount(labels, minlength=len(start)) > 0
        centroids = np.array([points[labels == c].mean(axis=0) if used[c] else centroids[c] for c in range(len(start))])
        new = assign(centroids)
        if np.array_equal(new, labels):
            return centroids, labels
        labels = new


def inputs(clusters: int = 10) -> tuple[Floats, Floats]:
    """1797 pictures of digits, 8 by 8 pixels each, and the first `clusters` of them to start from."""
    points: Floats = load_digits().data.astype(np.float64)
    return points, points[:clusters].copy()


def main() -> None:
    """Cluster the digits; compare with NumPy and with scikit-learn from the same start."""
    points, start = inputs()
    centroids, labels = A.run(kmeans(A.use(points), A.use(start)))
    expected_centroids, expected_labels = kmeans_numpy(points, start)
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_allclose(centroids, expected_centroids, rtol=1e-12, atol=1e-12)
    peer = KMeans(len(start), init=start, n_init=1, tol=0, max_iter=1000).fit(points)
    inertia = float(((points - centroids[labels]) ** 2).sum())
    assert abs(inertia - peer.inertia_) <= 1e-6 * inertia, (inertia, peer.inertia_)
    print(f"{len(points)} digits in clusters of {np.bincount(labels).tolist()}, inertia {inertia:.1f}")
    written, fused = (A.explain(kmeans, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
