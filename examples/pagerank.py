"""PageRank on a real graph and on a generated one of a million edges.

A step gathers every edge's share from its source and adds it to its target: a `gather`, a `zip` and a `scatterWith`
in one loop over the edges. `awhile` repeats the step until the ranks settle. SciPy's text is half as long, since
there a step is the product of a sparse matrix and a vector.
"""

from __future__ import annotations

from typing import TypeAlias

import networkx as nx
import numpy as np
from scipy import sparse

import accel as A

Ints: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
Ranks: TypeAlias = A.Acc[A.Vector[np.float64]]
State: TypeAlias = tuple[Ranks, A.Acc[A.Scalar[np.float64]], A.Acc[A.Scalar[np.int64]]]

DAMPING = 0.85
TOLERANCE = 1e-12
STEPS = 200


def pagerank(
    nodes: A.Acc[A.Scalar[np.int64]], sources: A.Acc[A.Vector[np.int64]], targets: A.Acc[A.Vector[np.int64]]
) -> Ranks:
    """The rank of every node of a directed graph, given by its edges; ranks add up to 1."""
    n = A.the(nodes)
    size = A.toFloating(n, np.float64)
    everyone = A.index(n)
    zeros = A.fill(everyone, A.constant(0, np.float64))
    ones = A.map(lambda _: A.constant(1, np.float64), sources)
    degree = A.compute(A.scatterWith(A.add, zeros, A.zip(sources, ones)))

    def step(state: State) -> State:
        ranks, _, count = state
        share = A.compute(A.zipWith(lambda r, d: r / A.max(d, 1), ranks, degree))
        received = A.scatterWith(A.add, zeros, A.zip(targets, A.gather(sources, share)))
        # What nodes without outgoing edges hold is spread over all.
        lost = A.the(A.fold(A.add, 0, A.zipWith(lambda r, d: A.cond(d > 0, r * 0, r), ranks, degree)))
        base = (1 - DAMPING + lost * DAMPING) / size
        new = A.map(lambda r: base + r * DAMPING, received)
        change = A.fold(A.add, 0, A.zipWith(lambda a, b: A.abs(a - b), ranks, new))
        return new, change, A.map(lambda c: c + 1, count)

    start = (A.fill(everyone, 1 / size), A.unit(A.constant(1, np.float64)), A.unit(A.constant(0, np.int64)))
    ranks, _, _ = A.awhile(
        lambda state: A.zipWith(lambda change, count: (change > TOLERANCE) & (count < STEPS), state[1], state[2]),
        step,
        start,
    )
    return ranks


def pagerank_scipy(nodes: int, sources: Ints, targets: Ints) -> Floats:
    """The same by sparse matrix products."""
    degree = np.bincount(sources, minlength=nodes).astype(np.float64)
    links = sparse.csr_matrix((1 / degree[sources], (targets, sources)), shape=(nodes, nodes))
    ranks = np.full(nodes, 1 / nodes)
    for _ in range(STEPS):
        new = links @ ranks * DAMPING + (1 - DAMPING + ranks[degree == 0].sum() * DAMPING) / nodes
        change = np.abs(ranks - new).sum()
        ranks = new
        if change <= TOLERANCE:
            break
    return ranks


def karate_club() -> tuple[int, Ints, Ints]:
    """Zachary's karate club: 34 members and 78 friendships, each an edge in both directions."""
    graph = nx.karate_club_graph().to_directed()
    edges = np.array(list(graph.edges()), dtype=np.int64)
    return graph.number_of_nodes(), edges[:, 0].copy(), edges[:, 1].copy()


def generated(nodes: int = 100_000, edges: int = 1_000_000) -> tuple[int, Ints, Ints]:
    """A directed graph in which few nodes receive many edges; some nodes have no outgoing edge."""
    random = np.random.default_rng(2026)
    sources = random.integers(0, nodes * 9 // 10, edges)
    targets = np.floor(nodes * random.random(edges) ** 3).astype(np.int64)
    return nodes, sources, targets


def ranks_of(nodes: int, sources: Ints, targets: Ints) -> Floats:
    """Run the program."""
    return A.run(pagerank(A.use(np.array(nodes)), A.use(sources), A.use(targets)))


def main() -> None:
    """Rank both graphs; compare the first with networkx, the second with SciPy."""
    ranks = ranks_of(*karate_club())
    expected = nx.pagerank(nx.karate_club_graph(), alpha=DAMPING, tol=1e-14, weight=None)
    np.testing.assert_allclose(ranks, [expected[node] for node in range(ranks.size)], rtol=1e-9)
    first, second = np.argsort(-ranks)[:2]
    print(f"karate club: members {first} and {second} lead, with ranks {ranks[first]:.4f} and {ranks[second]:.4f}")
    graph = generated()
    ranks = ranks_of(*graph)
    np.testing.assert_allclose(ranks, pagerank_scipy(*graph), rtol=1e-6)
    print(f"{graph[1].size} edges: node {int(np.argmax(ranks))} leads with rank {ranks.max():.6f}")
    written, fused = (A.explain(pagerank, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
