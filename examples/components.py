"""Connected components of a graph, and of a photograph, which is one, too: the coins on one of scikit-image's.

Each node points at a lower one of its component, or at itself. In a turn every node skips to what its target points at
(`gather`), and of the targets of an edge's ends the greater one points at the lesser (`scatterWith`), until nothing changes:
then all point at the least node of their component. The loop that pulls is exact and keeps edges in order, so the result is
the same on any number of threads. Text as long as NumPy's: it says the same, but for the turns. [After Shiloach and Vishkin,
An O(log n) parallel connectivity algorithm, 1982]
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy import ndimage
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from skimage import data, filters

import accel as A

Ints: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
Bools: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.bool_]]
Nodes: TypeAlias = A.Acc[A.Vector[np.int64]]
State: TypeAlias = tuple[Nodes, A.Acc[A.Scalar[np.bool_]]]


def components(nodes: A.Acc[A.Scalar[np.int64]], sources: Nodes, targets: Nodes) -> Nodes:
    """For each node the least that edges lead to, in whichever direction."""

    def turn(state: State) -> State:
        before = state[0]
        pointers = A.gather(before, before)
        left, right = A.gather(sources, pointers), A.gather(targets, pointers)
        after = A.scatterWith(A.min, pointers, A.zip(A.zipWith(A.max, left, right), A.zipWith(A.min, left, right)))
        return after, A.or_(A.zipWith(A.ne, before, after))

    start = A.enumFromN((A.the(nodes),), 0), A.unit(A.constant(True))
    pointers, _ = A.awhile(lambda state: state[1], turn, start)
    return pointers


def components_numpy(nodes: int, sources: Ints, targets: Ints) -> Ints:
    """The same in NumPy."""
    after, before = np.arange(nodes), np.full(nodes, -1)
    while not np.array_equal(before, after):
        before = after
        after = before[before]
        left, right = after[sources], after[targets]
        np.minimum.at(after, np.maximum(left, right), np.minimum(left, right))
    return after


def components_scipy(nodes: int, sources: Ints, targets: Ints) -> Ints:
    """The same by SciPy."""
    graph = csr_matrix((np.ones(len(sources)), (sources, targets)), shape=(nodes, nodes))
    count, labels = connected_components(graph, directed=False)
    least = np.full(count, nodes)
    np.minimum.at(least, labels, np.arange(nodes))
    return least[labels]


def neighbours(picture: Bools) -> tuple[Ints, Ints]:
    """Edges between pixels beside or below each other that are both set; pixels are numbered row by row."""
    numbers = np.arange(picture.size).reshape(picture.shape)
    across, down = picture[:, 1:] & picture[:, :-1], picture[1:] & picture[:-1]
    sources = np.concatenate([numbers[:, 1:][across], numbers[1:][down]])
    return sources, np.concatenate([numbers[:, :-1][across], numbers[:-1][down]])


def coins() -> Bools:
    """The pixels of 24 coins, and of some brighter ground."""
    picture = data.coins()
    opened: Bools = ndimage.binary_opening(picture > filters.threshold_otsu(picture), iterations=2)
    return opened


def generated(nodes: int = 100_000, edges: int = 100_000) -> tuple[Ints, Ints]:
    """The ends of edges between any two nodes: one large component, and many small ones."""
    sources, targets = np.random.default_rng(2026).integers(0, nodes, (2, edges))
    return sources, targets


def main() -> None:
    """Find the components of the graph and of the picture, compare both with SciPy, and show what was fused."""
    run, nodes = A.runN(components), 100_000
    edges = generated(nodes)
    found = run(np.int64(nodes), *edges)
    np.testing.assert_array_equal(found, components_scipy(nodes, *edges))
    print(f"{nodes} nodes, {len(edges[0])} edges: {len(np.unique(found))} components")
    picture = coins()
    found = run(np.int64(picture.size), *neighbours(picture))[picture.ravel()]
    labels, count = ndimage.label(picture)
    pairs = np.unique([found, labels[picture]], axis=1)
    assert len(np.unique(found)) == count == pairs.shape[1]
    print(f"coins: {count} components of {len(found)} pixels")
    written, fused = (A.explain(components, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
