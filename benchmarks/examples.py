"""The examples beside NumPy's and SciPy's own: `OPENBLAS_NUM_THREADS=1 python -m benchmarks.examples`.

All candidates of a row run in turn in one process, accel on one thread; a time is the least of the processor's, so that what
else the machine does matters little. Compilation comes before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured
from scipy import ndimage
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg
from scipy.spatial import ConvexHull
from skimage import data
from skimage.exposure import equalize_hist

import accel as A
from examples import (
    components,
    conjugate_gradients,
    equalised,
    flashattention,
    life,
    nbody,
    nearest,
    quickhull,
    radix_sort,
    run_length,
)

ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Row:
    """One program on one input, and somebody else's."""

    program: str
    other: str
    ours: Callable[[], object]
    theirs: Callable[[], object]


def called(program: Callable[..., object], *arguments: object) -> Callable[[], object]:
    """A call of a program that is compiled for one thread."""
    run: Callable[..., object] = A.runN(program, threads=1)
    return lambda: run(*arguments)


def rows() -> Iterator[Row]:
    """All rows."""
    yield from numerical()
    yield from irregular()
    board = life.inputs(400, 800)
    steps = called(life.generations, board, np.int64(20))
    yield Row("20 generations of life, 400 × 800", "NumPy", steps, lambda: life.generations_numpy(board, 20))
    points, known, labels, _ = nearest.inputs()
    found = called(nearest.recognised, points, known, labels)
    yield Row(
        "5 nearest of 1,500 digits to each of 297",
        "NumPy",
        found,
        lambda: nearest.recognised_numpy(points, known, labels),
    )


def numerical() -> Iterator[Row]:
    """Attention, bodies, a system of equations."""
    q, k, v = flashattention.inputs(2048, 64)
    scaled = q / np.float32(8)
    for way in (flashattention.naive, flashattention.by_rows, flashattention.tiled):
        name = f"attention, {way.__name__}, 2048 × 64"
        yield Row(name, "NumPy, float32", called(way, scaled, k, v), lambda: softmax(scaled, k, v))
    for bodies, count in ((nbody.stars(), 10), (nbody.planets(), 1000)):
        moved = called(nbody.simulated, bodies, np.int64(count), np.float64(0.001))
        name = f"{count:,} steps of {len(bodies):,} bodies"
        yield Row(name, "NumPy", moved, partial(nbody.simulated_numpy, bodies, count, 0.001))
    matrix, b = conjugate_gradients.inputs()
    solved = called(conjugate_gradients.solve, matrix.indptr, matrix.indices, matrix.data, b)
    tolerance = conjugate_gradients.TOLERANCE
    yield Row("conjugate gradients, 16,384 rows", "SciPy's cg", solved, lambda: cg(matrix, b, rtol=tolerance))


def softmax(q: flashattention.Floats, k: flashattention.Floats, v: flashattention.Floats) -> flashattention.Floats:
    """Attention in NumPy, in single precision as accel's."""
    scores = q @ k.T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(weights @ v)


def irregular() -> Iterator[Row]:
    """Hulls, components, sorts, counts, runs."""
    for name, points in (("1,000,000 points", quickhull.inputs()), ("43,412 pixels of a horse", quickhull.outline())):
        table = structured_to_unstructured(points)
        yield Row(f"hull of {name}", "SciPy's Qhull", called(quickhull.quickhull, points), partial(ConvexHull, table))
    nodes, ends = 100_000, components.generated()
    graph = csr_matrix((np.ones(nodes), ends), shape=(nodes, nodes))
    labelled = called(components.components, np.int64(nodes), *ends)
    name = "components of 100,000 nodes and edges"
    yield Row(name, "NumPy", labelled, lambda: components.components_numpy(nodes, *ends))
    yield Row(name, "SciPy, from CSR", labelled, lambda: connected_components(graph, directed=False))
    picture = components.coins()
    coins = called(components.components, np.int64(picture.size), *components.neighbours(picture))
    yield Row("components of a picture, 303 × 384", "SciPy's label", coins, lambda: ndimage.label(picture))
    keys = radix_sort.inputs()
    ordered = called(radix_sort.radix_sort, keys)
    yield Row("radix sort of 1,000,000 int32", "the same in NumPy", ordered, lambda: radix_sort.radix_sort_numpy(keys))
    yield Row("radix sort of 1,000,000 int32", "np.sort", ordered, lambda: np.sort(keys))
    moon = data.moon()
    even = called(equalised.equalised, moon)
    yield Row("a picture equalised, 512 × 512", "NumPy", even, lambda: equalised.equalised_numpy(moon))
    yield Row("a picture equalised, 512 × 512", "scikit-image", even, lambda: equalize_hist(moon))
    xs = run_length.inputs()
    values, lengths = run_length.encode_numpy(xs)
    yield Row("runs of 1,000,000 bytes", "NumPy", called(run_length.encode, xs), lambda: run_length.encode_numpy(xs))
    back = called(run_length.decode, values, lengths)
    yield Row("1,000,000 bytes of runs", "np.repeat", back, lambda: np.repeat(values, lengths))


def least(row: Row) -> tuple[float, float]:
    """The least times of both in seconds, run in turn."""
    found = [math.inf, math.inf]
    for turn in range(ROUNDS + 1):
        for place, call in enumerate((row.ours, row.theirs)):
            begin = time.process_time()
            call()
            if turn:
                found[place] = min(found[place], time.process_time() - begin)
    return found[0], found[1]


def main() -> None:
    """Print a table."""
    print("| program | accel | other | it takes |\n| --- | --- | --- | --- |")
    for row in rows():
        ours, theirs = least(row)
        print(f"| {row.program} | {ours * 1e3:.3g} ms | {row.other} | {theirs / ours:.2g} times as long |", flush=True)


if __name__ == "__main__":
    main()
