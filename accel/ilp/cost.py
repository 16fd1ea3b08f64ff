"""Cost models: what a clustering should have little of [vB24 section 4.1; Kri sections IV, VI; Rob section 1.4.4].

A model is a sequence of levels, compared lexicographically; each level is a weighted sum of things that can be counted.
The ILP minimises these sums and `price.py` counts them; both take the weights from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from accel.ilp.clustering import Order
from accel.ilp.graph import Graph
from accel.labelled.nodes import Array, Shape, SizeVariable

NOMINAL_EXTENT = 1024
"""What an extent counts that is not known."""


class Unit(Enum):
    """How much one array counts."""

    NOTHING = 0
    ONE = 1
    BYTES = 2


@dataclass(frozen=True, slots=True)
class Level:
    """The weights of one sum.

    read: of a pair (array, order) that a cluster reads from memory. write: of an array that an operation stores.
    intermediate: of a stored array that is no result. cluster: of a cluster. edge: of a pair of operations, one reading what
    the other makes, in different clusters. access: of two accesses to one array that are not fused with each other.
    """

    name: str
    read: Unit = Unit.NOTHING
    write: Unit = Unit.NOTHING
    intermediate: int = 0
    cluster: int = 0
    edge: int = 0
    access: int = 0


_CLUSTERS = Level("clusters", cluster=1)
_INTERMEDIATES = Level("intermediates", intermediate=1)
_CONTRACT = Level("max_contract", write=Unit.ONE)
_LOCALITY = Level("max_locality", access=1)
_BYTES = Level("bytes", read=Unit.BYTES, write=Unit.BYTES)

MODELS: Mapping[str, tuple[Level, ...]] = MappingProxyType(
    {
        "default": (_BYTES, _INTERMEDIATES, _CLUSTERS),
        "clusters": (_CLUSTERS,),  # [vB24] (a)
        "edges": (Level("edges", edge=1),),  # (b)
        "intermediates": (_INTERMEDIATES,),  # (c)
        "reads": (Level("reads", read=Unit.ONE),),  # (d)
        "reads_writes": (Level("reads_writes", read=Unit.ONE, write=Unit.ONE),),  # (e)
        "bytes": (_BYTES,),  # [Kri] Def. 13
        "max_contract": (_CONTRACT,),  # [Kri] Def. 19
        "max_locality": (_LOCALITY,),  # [Kri] Def. 20, every pair once
        "robinson": (_LOCALITY, _CONTRACT, _CLUSTERS),  # [Kri] Def. 21: N², N, 1, which is lexicographic
    }
)


@dataclass(frozen=True)
class Weights:
    """How much arrays count, for the sizes that are planned for."""

    graph: Graph
    sizes: Mapping[SizeVariable, int]

    def elements(self, shape: Shape) -> int:
        """The number of elements of `shape`, unknown extents counting 1024."""
        count = 1
        for extent in shape:
            variable = extent.variable
            count *= max(0, extent.offset + (0 if variable is None else self.sizes.get(variable, NOMINAL_EXTENT)))
        return count

    def write(self, unit: Unit, array: Array) -> int:
        """What storing `array` counts."""
        return self.elements(array.shape) * array.element.bytes if unit is Unit.BYTES else int(unit is Unit.ONE)

    def read(self, unit: Unit, array: Array, order: Order) -> int:
        """What reading `array` in `order` counts: in order l, the loads that the loop of gather l executes."""
        if unit is not Unit.BYTES:
            return int(unit is Unit.ONE)
        shape = array.shape
        if order.gather is not None:
            shape = self.graph.node[order.gather].iteration + shape[self.graph.rank_of_sources(order.gather) :]
        return self.elements(shape) * array.element.bytes
