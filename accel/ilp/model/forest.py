"""The forest that counts clusters: operations minus its edges, where every edge joins two operations that are linked.

`joined(u,v) <= linked(u,v)`, and rows against circles, which are found when a solution closes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from accel.ilp.model.variables import Pair, pair
from accel.ilp.solvers.linear import Linear, total
from accel.labelled.array import Label
from accel.support.dataclass import dataclass
from accel.support.union_find import UnionFind

_Near = Mapping[Label, Sequence[Label]]


@dataclass(frozen=True, slots=True)
class Forest:
    """For each pair that may be linked: whether it is an edge of the forest, and how many links there are."""

    joined: Mapping[Pair, Linear]
    linked: Mapping[Pair, Linear]

    @property
    def counters(self) -> frozenset[int]:
        """The variables that count clusters."""
        return frozenset(number for join in self.joined.values() for number in join.terms)


NO_FOREST = Forest({}, {})
"""Of a model that counts no clusters."""


def plant(
    links: Mapping[Pair, Sequence[Linear]], variable: Callable[[str], Linear], require: Callable[[Linear], None]
) -> Forest:
    """The forest over pairs with their possible links, 0 or 1 each; its variables and first rows are added to a model."""
    linked = {edge: total(links[edge]) for edge in sorted(links)}
    joined = {(u, v): variable(f"joined_{u}_{v}") for u, v in linked}
    for edge, join in joined.items():
        require(linked[edge] - join)
    return Forest(joined, linked)


def tree_path(tree: _Near, start: Label, goal: Label) -> list[Label]:
    """The path between two labels of a forest."""
    return shortest_path(tree, start, goal, frozenset())


def shortest_path(near: _Near, start: Label, goal: Label, without: frozenset[Pair]) -> list[Label]:
    """The labels on a path with the fewest edges, none of them in `without`. Raises KeyError if there is none."""
    came = {goal: goal}
    pending = [goal]
    for label in pending:
        if start in came:
            break
        for other in near.get(label, ()):
            if other not in came and pair(label, other) not in without:
                came[other] = label
                pending.append(other)
    path = [start]
    while path[-1] != goal:
        path.append(came[path[-1]])
    return path


def row(forest: Forest, members: Iterable[Label]) -> Linear:
    """Among k operations a forest has at most k - 1 edges."""
    inside = frozenset(members)
    edges = [join for (u, v), join in forest.joined.items() if u in inside and v in inside]
    return len(inside) - 1 - total(edges)


def circles(forest: Forest, values: Mapping[int, float]) -> list[Linear]:
    """Where the edges of an integral solution close circles: rows about these, and about all circles that links close.

    Not all of these rows are violated, but of circles that are left out the next solution would choose another one.
    """
    closed = list(_closed(edge for edge, join in forest.joined.items() if join.value(values) > 0.5))
    if not closed:
        return []
    near: dict[Label, list[Label]] = {}
    for (u, v), linked in forest.linked.items():
        if linked.value(values) > 0.5:
            near.setdefault(u, []).append(v)
            near.setdefault(v, []).append(u)
    sets = dict.fromkeys(tuple(sorted(circle)) for circle in closed)
    for block in _blocks(near):
        sets[tuple(sorted({label for edge in block for label in edge}))] = None
        around = (shortest_path(near, u, v, frozenset({(u, v)})) for u, v in block)
        sets |= dict.fromkeys(tuple(sorted(path)) for path in around)
    return [row(forest, members) for members in sets]


def spanning(forest: Forest, values: Mapping[int, float]) -> dict[int, int]:
    """Values of the counters that count the clusters of an integral solution exactly: all edges that close no circle."""
    edges = [edge for edge, linked in forest.linked.items() if linked.value(values) > 0.5]
    trees = UnionFind[Label]()
    chosen = {edge for edge in edges if trees.unite(*edge)}
    return {number: int(edge in chosen) for edge, join in forest.joined.items() for number in join.terms}


def _closed(edges: Iterable[Pair]) -> Iterator[list[Label]]:
    """The circle that each edge closes with those before it."""
    tree: dict[Label, list[Label]] = {}
    trees = UnionFind[Label]()
    for u, v in edges:
        if trees.unite(u, v):
            tree.setdefault(u, []).append(v)
            tree.setdefault(v, []).append(u)
        else:
            yield tree_path(tree, u, v)


def _search(near: _Near) -> tuple[dict[Label, Label], dict[Label, int]]:
    """The parent and the depth of every label in some spanning forest; roots have no parent."""
    parent: dict[Label, Label] = {}
    depth: dict[Label, int] = {}
    for start in near:
        pending = [] if start in depth else [start]
        depth.setdefault(start, 0)
        for label in pending:
            for other in near[label]:
                if other not in depth:
                    depth[other], parent[other] = depth[label] + 1, label
                    pending.append(other)
    return parent, depth


def _blocks(near: _Near) -> list[list[Pair]]:
    """The edges of a graph that lie on circles, those on a common circle together."""
    parent, depth = _search(near)
    together = UnionFind[Pair]()
    found: dict[Pair, None] = {}
    for u in near:
        for v in near[u]:
            if u > v or parent.get(u) == v or parent.get(v) == u:
                continue
            deep, other = u, v
            while deep != other:
                if depth[deep] < depth[other]:
                    deep, other = other, deep
                together.unite(pair(deep, parent[deep]), (u, v))
                found |= dict.fromkeys(((u, v), pair(deep, parent[deep])))
                deep = parent[deep]
    blocks: dict[Pair, list[Pair]] = {}
    for edge in found:
        blocks.setdefault(together.find(edge), []).append(edge)
    return list(blocks.values())
