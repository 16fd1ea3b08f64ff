"""A user's own cost function: what it is shown of a cluster, and how its answer is taken.

Any Python function from a `CostCluster` to an integer, or to as many integers as it likes, compared lexicographically. What a
clustering costs is the sum over its clusters; numbers may be negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import index
from typing import TypeAlias

from accel.errors import AccelValueError, here
from accel.ilp.problem.accesses import fused_accesses, fused_arcs, reads, stored
from accel.ilp.problem.clustering import Cluster, Traversal
from accel.ilp.problem.cost import CostModel, Weights
from accel.ilp.problem.graph import Graph
from accel.labelled.array import Array, Label
from accel.support.dataclass import dataclass
from accel.support.shown import shown


@dataclass(frozen=True, slots=True)
class CostOperation:
    """One operation of a cluster.

    label: its number, as `explain` prints it. name: `map`, `zipWith`, `foldAll`, ...; kind: `generate`, `map`, `gather` (a
    backpermute, too), `scatter`, `fold`, `scan` or `filter`. elements: how many it visits. operations: its scalar operations
    for each; loops: whether there is a `while_` among them. order: `0` forward, `1` backward, `l7` at the index of gather 7.
    """

    label: int
    name: str
    kind: str
    elements: int
    operations: int
    loops: bool
    order: str


@dataclass(frozen=True, slots=True)
class CostArray:
    """One array in memory that a cluster reads or writes; an array of pairs is two.

    name: as `explain` prints it, `%3` or, of several leaves, `%3.1`. elements: of one pass: where it is read at the index of a
    gather, as many as the gather visits. element_bytes: of one of them. is_result: whether the program returns it. order: in
    which it is read, as in `CostOperation`; `0` where it is written.
    """

    name: str
    elements: int
    element_bytes: int
    is_result: bool
    order: str

    @property
    def bytes(self) -> int:
        """What one pass moves."""
        return self.elements * self.element_bytes


@dataclass(frozen=True, slots=True)
class CostCluster:
    """One loop nest of a clustering, as a cost function sees it.

    Extents that are not known count 1024 (`sizes="nominal"`) or what they are in the call (`sizes="actual"`).
    elements: the iterations of the nest. operations: what shares it, in the order of the program. reads: the arrays that it
    reads from memory, each once for every order; what is read by index or overwritten is the same in every clustering and
    left out. writes: the arrays that it stores. fused_edges: pairs of its operations of which one reads what the other makes.
    fused_accesses: pairs of accesses to one array that it makes in one order [Kri Definition 20]. interference: the bytes that
    could be moved in the time that operations lose to others because they share the nest.
    """

    elements: int
    operations: tuple[CostOperation, ...]
    reads: tuple[CostArray, ...]
    writes: tuple[CostArray, ...]
    fused_edges: int
    fused_accesses: int
    interference: int


CostFunction: TypeAlias = Callable[[CostCluster], int | tuple[int, ...]]

Cost: TypeAlias = CostModel | CostFunction
"""What clusters cost."""


def describe(graph: Graph, cluster: Cluster, weights: Weights) -> CostCluster:
    """What a cost function is shown of a cluster."""
    traversals = cluster.members
    operations = tuple(_operations(graph, traversals, weights))
    return CostCluster(
        elements=max(operation.elements for operation in operations),
        operations=operations,
        reads=tuple(_array(graph, array, weights.loads(array, o), str(o)) for array, o in reads(graph, traversals)),
        writes=tuple(
            _array(graph, array, weights.elements(array.shape), "0") for array in stored(graph, frozenset(traversals))
        ),
        fused_edges=fused_arcs(graph, frozenset(traversals)),
        fused_accesses=fused_accesses(graph, traversals),
        interference=weights.lost(traversals),
    )


def _operations(graph: Graph, traversals: dict[Label, Traversal], weights: Weights) -> Iterator[CostOperation]:
    for label, traversal in traversals.items():
        node = graph.node[label]
        shape = node.iteration
        if traversal.gather is not None:
            shape = graph.node[traversal.gather].iteration + shape[graph.rank_of_sources(traversal.gather) :]
        elements = weights.elements(shape)
        yield CostOperation(label, node.name, node.kind.value, elements, node.operations, node.loops, str(traversal))


def _array(graph: Graph, array: Array, elements: int, order: str) -> CostArray:
    maker = graph.node.get(array.label)
    several = array.leaf > 0 or (maker is not None and len(maker.arrays) > 1)
    name = f"%{array.label}.{array.leaf}" if several else f"%{array.label}"
    return CostArray(name, elements, array.element.bytes, array in graph.results, order)


def name_of(cost: Cost) -> str:
    """What a model or function is called."""
    if isinstance(cost, CostModel):
        return str(cost)
    name = getattr(cost, "__qualname__", None)
    return name if isinstance(name, str) else type(cost).__qualname__


ANSWER = (
    "a cost function returns an integer, or a tuple of as many for every cluster; it may be negative, but not a float"
)


def call(function: CostFunction, graph: Graph, cluster: Cluster, weights: Weights) -> tuple[int, ...]:
    """What the function says of a cluster. Raises `AccelValueError`, which names it, if it raises or says nothing sensible."""
    seen = describe(graph, cluster, weights)
    what = ", ".join(f"{operation.name} %{operation.label}" for operation in seen.operations)
    try:
        answer: object = function(seen)
    except Exception as error:
        message = f"The cost function {name_of(function)} raised {type(error).__name__} for the cluster {what}: {error}"
        raise AccelValueError(message, here(), hint=ANSWER) from error
    numbers = answer if isinstance(answer, tuple) else (answer,)
    try:
        if not numbers:
            raise TypeError
        return tuple(index(number) for number in numbers)
    except TypeError:
        message = f"The cost function {name_of(function)} returned {shown(answer)} for the cluster {what}."
        raise AccelValueError(message, here(), hint=ANSWER) from None
