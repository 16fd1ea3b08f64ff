"""Handwritten digits recognised by their nearest neighbours: the five most alike of known digits vote.

The squares of differences are never an array: each distance is folded in the loop that computes them. `topK` then finds the
nearest of each row, and where these stand says what digits they are. NumPy's text is half as long, since it broadcasts: here
what a pair of points makes is a function with a name, and it is never stored.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import accel as A

Floats: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Ints: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
Points: TypeAlias = A.Acc[A.Matrix[np.float64]]
Labels: TypeAlias = A.Acc[A.Vector[np.int64]]

NEIGHBOURS, DIGITS = 5, 10


def distances(points: Points, known: Points) -> Points:
    """The square of the distance of each point (a row) to each known one."""
    n, dimensions = A.unindex(points.shape)
    k, _ = A.unindex(known.shape)

    def square(ix: A.Exp[tuple[int, int, int]]) -> A.Exp[np.float64]:
        i, j, d = A.unindex(ix)
        difference = points[i, d] - known[j, d]
        return difference * difference

    return A.sum(A.generate(A.index(n, k, dimensions), square))


def recognised(points: Points, known: Points, labels: Labels) -> Labels:
    """For each point the label that most of its nearest neighbours have, the least of equals."""
    n, _ = A.unindex(points.shape)
    _, places = A.topK(NEIGHBOURS, A.map(lambda x: -x, distances(points, known)))
    found = A.gather(places, labels)

    def votes(ix: A.Exp[tuple[int, int, int]]) -> A.Exp[np.int64]:
        i, digit, neighbour = A.unindex(ix)
        return A.boolToInt(found[i, neighbour] == digit)

    return A.argmax(A.sum(A.generate(A.index(n, DIGITS, NEIGHBOURS), votes)))


def recognised_numpy(points: Floats, known: Floats, labels: Ints) -> Ints:
    """The same in NumPy."""
    squares = ((points[:, None, :] - known[None, :, :]) ** 2).sum(axis=2)
    places = np.argsort(squares, axis=1, kind="stable")[:, :NEIGHBOURS]
    counts = (labels[places][:, None, :] == np.arange(DIGITS)[None, :, None]).sum(axis=2)
    found: Ints = counts.argmax(axis=1)
    return found


def inputs(unknown: int = 297) -> tuple[Floats, Floats, Ints, Ints]:
    """Digits to recognise, digits that are known, and the labels of these and of those; all of 8 by 8 pixels."""
    digits: Any = load_digits()  # a dictionary with attributes
    data, target = digits.data.astype(np.float64), digits.target.astype(np.int64)
    return data[-unknown:], data[:-unknown], target[:-unknown], target[-unknown:]


def main() -> None:
    """Recognise the last digits by the others, compare with NumPy and scikit-learn, and show what was fused."""
    points, known, labels, truth = inputs()
    found = A.run(recognised(A.use(points), A.use(known), A.use(labels)))
    np.testing.assert_array_equal(found, recognised_numpy(points, known, labels))
    peer = KNeighborsClassifier(NEIGHBOURS, algorithm="brute").fit(known, labels)
    np.testing.assert_array_equal(found, peer.predict(points))
    print(f"{(found == truth).sum()} of {len(truth)} digits recognised")
    written, fused = (A.explain(recognised, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"loops: {written} as written, {fused} fused, and a sort")


if __name__ == "__main__":
    main()
