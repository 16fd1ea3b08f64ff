"""What comes out of the ILP: for every label its cluster and its order. Only labels cross from here to `fusedast`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import NamedTuple

from accel.errors import Where
from accel.ilp.problem.graph import Graph
from accel.labelled.array import Label
from accel.labelled.passes.recompute import Recomputed
from accel.support.dataclass import dataclass


class Traversal(NamedTuple):  # tuples are hashed without Python, and these are a lot
    """In which order an operation visits its result [vB24 section 3.1]: 0 forward, 1 backward, or that of a gather.

    `gather` is the label of the gather or backpermute at whose mapped index the operation runs, or of the first of the folds
    and scans of the same segments, at whose elements it runs; then `backward` is False.
    """

    gather: Label | None
    backward: bool

    def __str__(self) -> str:
        return f"l{self.gather}" if self.gather is not None else "1" if self.backward else "0"


FORWARD = Traversal(None, False)
BACKWARD = Traversal(None, True)


def own_order(graph: Graph, label: Label) -> Traversal:
    """The order in which a gather, or a fold or scan of segments, reads its sources."""
    return Traversal(graph.order[label], False)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Labels that share one loop nest, rising, and the order of each."""

    labels: tuple[Label, ...]
    traversals: tuple[Traversal, ...]

    @property
    def members(self) -> dict[Label, Traversal]:
        """The order of each operation."""
        return dict(zip(self.labels, self.traversals, strict=True))


def cluster_of(members: Mapping[Label, Traversal]) -> Cluster:
    """The cluster of operations in these orders."""
    rising = sorted(members)
    return Cluster(tuple(rising), tuple([members[label] for label in rising]))


@dataclass(frozen=True, slots=True)
class Clustering:
    """A partition of a program's bindings (sub-programs apart) into clusters that stand in dependency order.

    Operations that never fuse (`Use`, `BindSizes`, `Reshape`, `Acond`, ...) are clusters of one.
    """

    clusters: tuple[Cluster, ...]

    def renamed(self, new: Callable[[Label], Label]) -> Clustering:
        """The same with other labels, which may stand in another order."""

        def traversal(each: Traversal) -> Traversal:
            return each if each.gather is None else Traversal(new(each.gather), False)

        members = [{new(label): traversal(each) for label, each in c.members.items()} for c in self.clusters]
        return Clustering(tuple(map(cluster_of, members)))


@dataclass(frozen=True, slots=True)
class Asked:
    """What a plan asked for before it was realised: a graph, what to recompute in it, and clusters of what comes out."""

    graph: Graph
    clustering: Clustering
    recomputed: tuple[Recomputed, ...]


@dataclass(frozen=True, slots=True)
class Recomputation:
    """What a program recomputes instead of storing it.

    names: of the combinators, in order; several are a chain. where: the last one's call. original: the label of the
    operation itself, if somebody still reads it. made: the labels that do it, one for each name, of which the last is
    what `readers` read; none where they compute it in their scalar functions, for what was an index. asked: by what plan; there
    the operation is `producer`.
    """

    names: tuple[str, ...]
    where: Where | None
    original: Label | None
    made: tuple[Label, ...]
    readers: tuple[Label, ...]
    asked: Asked = field(repr=False)
    producer: Label


@dataclass(frozen=True, slots=True)
class Plan:
    """A clustering of one program, plans of its sub-programs, and how good they are.

    `recomputed`: what to recompute; as long as there is something, the clustering is one of the graph in which that is done
    (`recompute/graph.py`). `realise.py` does it in the program, and says in `recomputations` what it has done.

    `inner`: for each `Acond` its (then, orelse), for each `Awhile` its (condition, body). `cost` and `bound` hold one number
    per level of the cost model, for this program without its sub-programs; `proved`: no clustering costs less, with
    `duplicate="stencils"` none in which the same is recomputed; `recalled`: that and `bound` are an earlier process's word
    (`plan_cache.py`).
    """

    clustering: Clustering
    inner: tuple[tuple[Label, tuple[Plan, Plan]], ...]
    strategy: str
    cost_model: str
    solver: str | None
    cost: tuple[int, ...]
    bound: tuple[int, ...]
    proved: bool
    seconds: float
    recomputed: tuple[Recomputed, ...] = ()
    recomputations: tuple[Recomputation, ...] = ()
    recalled: bool = field(default=False, compare=False)
