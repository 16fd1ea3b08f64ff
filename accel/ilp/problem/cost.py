"""Cost models: what a clustering should have little of [vB24 section 4.1; Kri sections IV, VI; Rob section 1.4.4].

A model is a sequence of levels, compared lexicographically; each level is a weighted sum of things that can be counted.
The ILP minimises these sums and `price.py` counts them; both take the weights from here. A cost that is no such sum is a
function over one cluster: `cost_function.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from types import MappingProxyType

from accel.errors import AccelValueError, here
from accel.ilp.problem.clustering import Traversal
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.interference import interferences
from accel.labelled.array import Array, Label, Shape, SizeVariable, with_segments
from accel.support.choices import CostName
from accel.support.dataclass import dataclass
from accel.support.lazy import lazy
from accel.support.shown import shown

NOMINAL_EXTENT = 1024
"""What an extent counts that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLevel:
    """The weights of one sum, integers from 0.

    read: of a pair (array, order) that a cluster reads from memory; read_bytes: of each byte so read. write: of an array that
    an operation stores; write_bytes: of each of its bytes. intermediate: of a stored array that is no result. cluster: of a
    cluster. edge: of a pair of operations, one reading what the other makes, in different clusters. access: of two accesses
    to one array that are not fused with each other. interference: of each byte that operations of one cluster could move in the
    time that they lose to each other (`interference.py`). Raises `AccelValueError` for a weight that is no such integer.
    """

    read: int = 0
    read_bytes: int = 0
    write: int = 0
    write_bytes: int = 0
    intermediate: int = 0
    cluster: int = 0
    edge: int = 0
    access: int = 0
    interference: int = 0

    def __post_init__(self) -> None:
        for each in fields(self):
            weight: object = getattr(self, each.name)
            if not isinstance(weight, int) or isinstance(weight, bool) or weight < 0:
                hint = "a cost that rewards what others avoid is a function over clusters: see docs/ilp.md"
                raise AccelValueError(
                    f"The weight {each.name}={shown(weight)} is no integer from 0.", here(), hint=hint
                )

    @property
    def reads(self) -> bool:
        """Whether reads count."""
        return bool(self.read or self.read_bytes)

    @property
    def writes(self) -> bool:
        """Whether writes count."""
        return bool(self.write or self.write_bytes)

    @property
    def counts_pairs(self) -> bool:
        """Whether pairs of operations count: then a chain costs more than its last operation, and nothing is recomputed."""
        return bool(self.edge or self.access)

    def __str__(self) -> str:
        weights = [(each.name, getattr(self, each.name)) for each in fields(self)]
        return " + ".join(name if weight == 1 else f"{weight} {name}" for name, weight in weights if weight) or "0"


@dataclass(frozen=True, slots=True)
class CostModel:
    """Levels of weights, the first the most important: a clustering costs one number per level, compared in this order.

    meaning: its formula and where it comes from. Raises `AccelValueError` if there is no level, or something else.
    """

    levels: tuple[CostLevel, ...]
    name: str = ""
    meaning: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        levels: object = self.levels
        if not isinstance(levels, tuple) or not levels or not all(isinstance(level, CostLevel) for level in levels):
            hint = "write `A.CostModel((A.CostLevel(read=1, write=1),))`"
            message = f"A cost model is a tuple of one CostLevel or more, not {shown(levels)}."
            raise AccelValueError(message, here(), hint=hint)

    def __str__(self) -> str:
        return self.name or "; ".join(map(str, self.levels))


_CLUSTERS = CostLevel(cluster=1)
_INTERMEDIATES = CostLevel(intermediate=1)
_CONTRACT = CostLevel(write=1)
_LOCALITY = CostLevel(access=1)
_BYTES = CostLevel(read_bytes=1, write_bytes=1)
_TIME = CostLevel(read_bytes=1, write_bytes=1, interference=1)


def _named(name: CostName, levels: tuple[CostLevel, ...], meaning: str) -> tuple[str, CostModel]:
    return name, CostModel(levels, name, meaning)


MODELS: Mapping[str, CostModel] = MappingProxyType(
    dict(
        (
            _named(
                "default",
                (_TIME, _INTERMEDIATES, _CLUSTERS),
                "bytes and interference; then intermediates; then clusters: what moves least in loops that run well, in the "
                "fewest buffers and launches",
            ),
            _named(
                "memory",
                (_BYTES, _INTERMEDIATES, _CLUSTERS),
                "bytes; then intermediates; then clusters: the same, whatever shares a loop",
            ),
            _named(
                "clusters", (_CLUSTERS,), "|P|, the clusters of the partition P [vB24 section 4.1 (a)], counted exactly"
            ),
            _named("edges", (CostLevel(edge=1),), "the sum of x_ab over the edges (a, b) [vB24 section 4.1 (b)]"),
            _named(
                "intermediates",
                (_INTERMEDIATES,),
                "the sum of 1 - m_a over the arrays a that are no results: those that are stored [vB24 section 4.1 (c)]",
            ),
            _named(
                "reads",
                (CostLevel(read=1),),
                "the sum over clusters B of |{(a, order) : B reads a from memory in that order}| [vB24 section 4.1 (d)]",
            ),
            _named(
                "reads_writes",
                (CostLevel(read=1, write=1),),
                "reads + the arrays that are stored [vB24 section 4.1 (e)]",
            ),
            _named(
                "bytes",
                (_BYTES,),
                "the sum over clusters B of |ext[B]|: the bytes that B reads and writes [Kri Definition 13]",
            ),
            _named(
                "max_contract",
                (_CONTRACT,),
                "|new[A]| - the sum over clusters B of |new[B] ∩ del[B]|: the arrays that are stored [Kri Definition 19]",
            ),
            _named(
                "max_locality",
                (_LOCALITY,),
                "the sum over clusters B, f in B, f' outside of B of |ext[f] ∩ io[f']|, every pair once [Kri Definition 20]",
            ),
            _named(
                "robinson",
                (_LOCALITY, _CONTRACT, _CLUSTERS),
                "|P| + N max_contract + N² max_locality, which is: max_locality, then max_contract, then |P| "
                "[Kri Definition 21; Rob section 1.4.4]",
            ),
        )
    )
)
"""The models that have a name."""


def added(*costs: tuple[int, ...]) -> tuple[int, ...]:
    """The sums of costs, level by level."""
    return tuple(map(sum, zip(*costs, strict=True)))


@dataclass(frozen=True)
class Weights:
    """How much arrays count, for the sizes that are planned for."""

    graph: Graph
    sizes: Mapping[SizeVariable, int]

    @lazy
    def interference(self) -> Mapping[tuple[Label, Label], int]:
        """The bytes that pairs of operations, the lower label first, lose to each other in one cluster."""
        return dict(interferences(self.graph, self.sizes, self.elements))

    @lazy
    def interfering(self) -> frozenset[Label]:
        """The operations of these pairs."""
        return frozenset(label for pair in self.interference for label in pair)

    @lazy
    def _losses(self) -> Mapping[Label, Sequence[tuple[Label, int]]]:
        """For the lower labels of these pairs, the others and the bytes."""
        found: dict[Label, list[tuple[Label, int]]] = {}
        for (one, two), lost in self.interference.items():
            found.setdefault(one, []).append((two, lost))
        return found

    def lost(self, labels: Iterable[Label]) -> int:
        """The bytes that the operations of a cluster lose to each other."""
        loud = self.interfering.intersection(labels)
        return sum(lost for label in loud for other, lost in self._losses.get(label, ()) if other in loud)

    def elements(self, shape: Shape) -> int:
        """The number of elements of `shape`, unknown extents counting 1024."""
        count = 1
        for extent in with_segments(shape):
            variable = extent.variable
            count *= max(0, extent.offset + (0 if variable is None else self.sizes.get(variable, NOMINAL_EXTENT)))
        return count

    def loads(self, array: Array, traversal: Traversal) -> int:
        """The elements that a loop loads that reads `array` in `order`: in order l, as often as gather l runs."""
        shape = array.shape
        if traversal.gather is not None:
            shape = self.graph.node[traversal.gather].iteration + shape[self.graph.rank_of_sources(traversal.gather) :]
        return self.elements(shape)

    def write(self, level: CostLevel, array: Array) -> int:
        """What storing `array` counts in a level."""
        if not level.write_bytes:
            return level.write
        return level.write + level.write_bytes * self.elements(array.shape) * array.element.bytes

    def read(self, level: CostLevel, array: Array, traversal: Traversal) -> int:
        """What reading `array` in `order` counts in a level."""
        return self.read_of(level, array, self.loads(array, traversal) if level.read_bytes else 0)

    def read_of(self, level: CostLevel, array: Array, elements: int) -> int:
        """What reading so many elements of `array` counts in a level."""
        return level.read + level.read_bytes * elements * array.element.bytes
