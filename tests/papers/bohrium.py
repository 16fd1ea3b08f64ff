"""[Kri]: array operations, partitions and their costs by the letter of Definitions 5, 6, 10, 11, 12, 13, 19, 20 and 21.

Written from the paper alone; `of_clustering` says what an accel clustering is in its terms. There an array is allocated by the
operation that makes it, and deleted in the block that holds all who use it, if there is one; a result is not deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from accel.ilp.problem.clustering import Clustering, Traversal
from accel.ilp.problem.graph import Graph
from accel.labelled.array import Array, Shape
from accel.labelled.operations import Kind, Role


@dataclass(frozen=True, slots=True)
class View:
    """Elements `first` to `last` of a base array, all in one order; two views are identical if they are equal."""

    base: str
    first: int
    last: int
    order: str = "0"
    item: int = 1

    def overlaps(self, other: View) -> bool:
        """Whether the two have an element in common."""
        return self.base == other.base and self.first < other.last and other.first < self.last

    @property
    def length(self) -> int:
        """‖x‖ of Definition 13."""
        return (self.last - self.first) * self.item


Views: TypeAlias = frozenset[View]


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One line of bytecode: in[f] and out[f] are views, new[f] and del[f] bases (Definition 10)."""

    name: str
    reads: Views = frozenset()
    writes: Views = frozenset()
    new: frozenset[str] = frozenset()
    deletes: frozenset[str] = frozenset()

    @property
    def touched(self) -> frozenset[str]:
        """The bases that it needs, makes or ends."""
        return frozenset(view.base for view in self.reads | self.writes) | self.deletes


Block: TypeAlias = frozenset[Operation]
Access: TypeAlias = tuple[str, View]
"""A view and whether it is read or written: the disjoint union of Definition 10 counts both."""


def external(block: Iterable[Operation]) -> frozenset[Access]:
    """ext[B] = (in[B] \\ new[B]) ⊔ (out[B] \\ del[B])."""
    block = list(block)
    new = frozenset[str]().union(*(f.new for f in block))
    deleted = frozenset[str]().union(*(f.deletes for f in block))
    read = {("in", view) for f in block for view in f.reads if view.base not in new}
    written = {("out", view) for f in block for view in f.writes if view.base not in deleted}
    return frozenset(read | written)


def length(accesses: Iterable[Access]) -> int:
    """‖x‖: bytes accessed; here elements, unless views say otherwise."""
    return sum(view.length for _, view in accesses)


def cost(partition: Iterable[Block]) -> int:
    """Definition 13."""
    return sum(length(external(block)) for block in partition)


def max_contract(partition: Iterable[Block]) -> int:
    """Definition 19: |new[A]| less the arrays that live and die within a block."""
    blocks = [(_new(block), _deleted(block)) for block in partition]
    return sum(len(new) for new, _ in blocks) - sum(len(new & deleted) for new, deleted in blocks)


def max_locality(partition: Iterable[Block]) -> int:
    """Definition 20, as printed: over ordered pairs of operations, so that every pair of accesses counts twice."""
    partition = list(partition)
    total = 0
    for block in partition:
        others = [f for other in partition if other is not block for f in other]
        for f in block:
            mine = {view for _, view in external([f])}
            total += sum(len(mine & (other.reads | other.writes)) for other in others)
    return total


def robinson(partition: Iterable[Block]) -> int:
    """Definition 21: |P| + N MaxContract + N² MaxLocality, N being the number of accessed arrays."""
    partition = [block for block in partition if any(f.reads or f.writes for f in block)]
    number = len({view.base for block in partition for f in block for view in f.reads | f.writes})
    return len(partition) + number * max_contract(partition) + number**2 * max_locality(partition)


def _new(block: Block) -> frozenset[str]:
    return frozenset[str]().union(*(f.new for f in block))


def _deleted(block: Block) -> frozenset[str]:
    return frozenset[str]().union(*(f.deletes for f in block))


def fusible(first: Operation, second: Operation) -> bool:
    """Definition 12, and section IV-A.1: one length. Deletions and synchronisations do not compute anything."""
    if not (first.reads | first.writes) or not (second.reads | second.writes):
        return True
    lengths = {view.length for f in (first, second) for view in f.reads | f.writes}
    clashes = [(o, i) for o in first.writes for i in second.reads | second.writes]
    clashes += [(i, o) for i in first.reads for o in second.writes]
    return len(lengths) == 1 and not any(a.overlaps(b) and a != b for a, b in clashes)


def depends(first: Operation, second: Operation) -> bool:
    """Whether `second`, later in the program, must run after `first`."""
    if first.deletes or second.deletes or second.name.startswith("SYNC") or first.name.startswith("SYNC"):
        return bool(first.touched & second.touched)
    writes = any(o.overlaps(view) for o in first.writes for view in second.reads | second.writes)
    return writes or any(i.overlaps(o) for i in first.reads for o in second.writes)


@dataclass(frozen=True)
class Problem:
    """A list of operations, with what Definition 5 asks of a partition."""

    operations: Sequence[Operation]
    before: frozenset[tuple[int, int]] = field(init=False)
    forbidden: frozenset[tuple[int, int]] = field(init=False)

    def __post_init__(self) -> None:
        pairs = list(combinations(range(len(self.operations)), 2))
        f = self.operations
        object.__setattr__(self, "before", frozenset((i, j) for i, j in pairs if depends(f[i], f[j])))
        object.__setattr__(self, "forbidden", frozenset((i, j) for i, j in pairs if not fusible(f[i], f[j])))

    def block(self, numbers: Iterable[int]) -> Block:
        """Operations by number."""
        return frozenset(self.operations[number] for number in numbers)

    def singleton(self) -> list[Block]:
        """⊥: every operation by itself."""
        return [self.block([number]) for number in range(len(self.operations))]

    def linear(self) -> list[Block]:
        """Section V-E: one operation after the other into the current block, as long as that is legal."""
        blocks: list[list[int]] = [[]]
        for number in range(len(self.operations)):
            if any((other, number) in self.forbidden for other in blocks[-1]):
                blocks.append([])
            blocks[-1].append(number)
        return [self.block(numbers) for numbers in blocks]

    def optimal_cost(self) -> int:
        """The least cost of a legal partition, over all orders in which blocks can follow each other."""
        least: dict[int, int] = {0: 0}
        everything = (1 << len(self.operations)) - 1
        for done in range(everything + 1):
            if done in least:
                for block in self._next(done):
                    members = [number for number in range(len(self.operations)) if block >> number & 1]
                    total = least[done] + length(external(self.operations[number] for number in members))
                    least[done | block] = min(total, least.get(done | block, total))
        return least[everything]

    def _next(self, done: int) -> Iterator[int]:
        """Every set of operations that can run as one block when those in `done` have run."""
        grown: list[int] = [0]
        for number in range(len(self.operations)):
            if done >> number & 1:
                continue
            needed = sum(1 << first for first, second in self.before if second == number)
            apart = sum(1 << first for first, second in self.forbidden if second == number)
            grown += [block | 1 << number for block in grown if not needed & ~(done | block) and not apart & block]
        yield from grown[1:]


def of_clustering(graph: Graph, clustering: Clustering) -> list[Block]:
    """An accel clustering as blocks; what is read by index is left out, as accel's cost models do."""
    operations: list[list[Operation]] = []
    for cluster in clustering.clusters:
        if any(graph.node[label].kind is Kind.BARRIER for label in cluster.labels):
            continue
        inside = set(cluster.labels)
        block = []
        for label, order in zip(cluster.labels, cluster.traversals, strict=True):
            made = [array for array in graph.node[label].arrays if array in graph.results or graph.readers[array]]
            reads = {
                _view(graph, edge.array, Traversal(label, False) if edge.role is Role.SOURCE else order)
                for edge in graph.inputs[label]
                if edge.role in (Role.STREAM, Role.SOURCE)
            }
            writes = frozenset(_view(graph, array, order) for array in made)
            block.append(Operation(str(label), frozenset(reads), writes, frozenset(map(_base, made))))
            dying = [
                array
                for array in made
                if array not in graph.results and all(edge.consumer in inside for edge in graph.readers[array])
            ]
            block += [Operation(f"DEL {_base(array)}", deletes=frozenset({_base(array)})) for array in dying]
        operations.append(block)
    return [frozenset(block) for block in operations]


def _base(array: Array) -> str:
    return f"%{array.label}.{array.leaf}"


def _view(graph: Graph, array: Array, order: Traversal) -> View:
    """An array in an order: in order l, what gather l visits and the extents beyond its sources' rank."""
    shape = array.shape
    if order.gather is not None:
        edges = graph.inputs[order.gather]
        rank = {len(edge.array.shape) for edge in edges if edge.role is Role.SOURCE}.pop()
        shape = graph.node[order.gather].iteration + shape[rank:]
    return View(_base(array), 0, elements(shape), str(order), array.element.bytes)


def elements(shape: Shape, sizes: Mapping[object, int] | None = None) -> int:
    """How many elements there are, unknown extents counting 1024."""
    count = 1
    for extent in shape:
        count *= extent.offset + (0 if extent.variable is None else (sizes or {}).get(extent.variable, 1024))
    return count
