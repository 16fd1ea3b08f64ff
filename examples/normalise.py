"""Two ways to normalise a column of a real table, which share all they can: five or six array operations in two loops.

`normalise2` is the running example of van Balen's thesis [vB20, Figure 4], `normalise2_filter` the program by
Robinson that it comes from [Rob, section 1.1]. No array is written but the results: the sums, the scan and the filter
share the first loop, which reads the column once; both divisions share the second. NumPy's text is a line or three
shorter, and makes an array of each of its terms.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from sklearn.datasets import load_wine

import accel as A

Floats: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
Column: TypeAlias = A.Acc[A.Vector[np.float64]]


def normalise2(xs: Column) -> tuple[Column, Column]:
    """`xs` divided by its sum, and by the sum of its running sums."""
    sum1 = A.the(A.fold(A.add, 0, xs))
    sum2 = A.the(A.fold(A.add, 0, A.scanl(A.add, 0, xs)))
    return A.map(lambda x: x / sum1, xs), A.map(lambda x: x / sum2, xs)


def normalise2_filter(xs: Column) -> tuple[Column, Column]:
    """`xs` divided by its sum, and by the sum of its positive elements."""
    positive, _ = A.filter(lambda x: x > 0, xs)
    sum1 = A.the(A.fold(A.add, 0, xs))
    sum2 = A.the(A.fold(A.add, 0, positive))
    return A.map(lambda x: x / sum1, xs), A.map(lambda x: x / sum2, xs)


def normalise2_numpy(xs: Floats) -> tuple[Floats, Floats]:
    """`normalise2` in NumPy."""
    running = np.concatenate([np.zeros(1), np.cumsum(xs)])
    return xs / np.sum(xs), xs / np.sum(running)


def normalise2_filter_numpy(xs: Floats) -> tuple[Floats, Floats]:
    """`normalise2_filter` in NumPy."""
    return xs / np.sum(xs), xs / np.sum(xs[xs > 0])


def inputs(repetitions: int = 1) -> tuple[Floats]:
    """The proline content of 178 wines above the least one, in mg/l; repeated to make a long column."""
    table = load_wine()
    proline: Floats = table.data[:, table.feature_names.index("proline")].astype(np.float64)
    return (np.tile(proline - proline.min(), repetitions),)


def main() -> None:
    """Run both programs on the table's column and compare with NumPy."""
    (column,) = inputs()
    for program, reference in ((normalise2, normalise2_numpy), (normalise2_filter, normalise2_filter_numpy)):
        results = A.run(program(A.use(column)))
        for result, expected in zip(results, reference(column), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-12)
        print(f"{program.__name__}: the first of {column.size} elements {results[0][0]:.6f} and {results[1][0]:.6f}")
        print(A.explain(program(A.use(column))))


if __name__ == "__main__":
    main()
