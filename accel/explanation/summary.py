"""What there is to say about a compiled program: its loops, their passes, the fate of every array.

In: a program in all its forms. Out: plain data. Sub-programs of `acond` and `awhile` count once each, however often they run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import prod
from typing import assert_never

from accel.compile import Stages
from accel.explanation.again import Again
from accel.explanation.costs import less, levels, prices
from accel.explanation.facts import (
    ArrayReport,
    ClusterReport,
    CopyReport,
    Flow,
    OperationReport,
    PassReport,
    ViewReport,
)
from accel.explanation.parts import Part, loop_programs, parts
from accel.explanation.reasons import Reasons, WhyNot, operation_name
from accel.explanation.texts import code
from accel.fusedast.nodes import Diagonal, Horizontal, LeafOfCluster, RootOfCluster, Vertical
from accel.fusedast.text import tree_text
from accel.fusedast.walk import leaves, preorder
from accel.ilp.problem.build import build as build_graph
from accel.ilp.problem.cost import NOMINAL_EXTENT
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.recompute_savings import recompute_savings
from accel.ir import mentions
from accel.ir.facts import Access, Traffic, fills, is_loop, size_text, traffic
from accel.ir.nodes import Launch, Nest
from accel.labelled.array import Array, Extent, Label, SizeVariable
from accel.labelled.nodes import Binding, Force, Reshape, Use
from accel.labelled.scalar_text import plain_name, shape_text

Sizes = Mapping[SizeVariable, int]
_VIEWS = (Reshape, Force)


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole program; fields as in `Explanation`."""

    loops: int
    reads: dict[str, int]
    writes: dict[str, int]
    bytes_read: int
    bytes_written: int
    clusters: tuple[ClusterReport, ...]
    arrays: tuple[ArrayReport, ...]
    operations: tuple[OperationReport, ...]
    flows: tuple[Flow, ...]
    views: tuple[ViewReport, ...]
    copies: tuple[CopyReport, ...]


@dataclass(slots=True)
class _Found:
    """What is gathered part by part. made_in: the number of the loop of every operation that is in one; status: what becomes
    of every array that a loop makes.
    """

    clusters: list[ClusterReport] = field(default_factory=list)
    arrays: list[ArrayReport] = field(default_factory=list)
    operations: list[OperationReport] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    views: list[ViewReport] = field(default_factory=list)
    copies: list[CopyReport] = field(default_factory=list)
    made_in: dict[Label, int] = field(default_factory=dict)
    status: dict[Array, str] = field(default_factory=dict)


def summarise(staged: Stages, sizes: Sizes, options: Options) -> Summary:
    """All loops and arrays, those of sub-programs where they stand."""
    programs = list(loop_programs(staged.loops))
    filled = frozenset[Array]().union(*map(fills, programs))
    nests = {step.nest.label: step.nest for program in programs for step in program.steps if isinstance(step, Launch)}
    every = list(parts(Part(staged.labelled, staged.fused, staged.plan)))
    found = _Found()
    for part in every:
        for root in part.roots():
            labels = [leaf.binding.label for leaf in leaves(root.tree)]
            nest = nests[min(labels)]
            found.status |= statuses(root, nest)
            found.clusters.append(
                _cluster(root, nest, traffic(nest, filled), sizes, len(found.clusters) + 1, part.around)
            )
            found.made_in |= dict.fromkeys(labels, len(found.clusters))
    graphs = [build_graph(part.program) for part in every]
    readers = _readers(every, graphs)
    for part, graph in zip(every, graphs, strict=True):
        _Described(part, graph, readers, sizes, options).into(found)
    return Summary(
        loops=sum(map(is_loop, nests.values())),
        reads=_added(cluster.reads for cluster in found.clusters),
        writes=_added(cluster.writes for cluster in found.clusters),
        bytes_read=sum(each.bytes for cluster in found.clusters for each in cluster.read_arrays),
        bytes_written=sum(each.bytes for cluster in found.clusters for each in cluster.written_arrays),
        clusters=tuple(found.clusters),
        arrays=tuple(found.arrays),
        operations=tuple(found.operations),
        flows=tuple(found.flows),
        views=tuple(found.views),
        copies=tuple(found.copies),
    )


def _readers(every: Sequence[Part], graphs: Sequence[Graph]) -> dict[Array, tuple[str, ...]]:
    """The operations that read each array, in all parts."""
    found: dict[Array, dict[str, None]] = {}
    for part, graph in zip(every, graphs, strict=True):
        names = {binding.label: operation_name(binding) for binding in part.program.bindings}
        for edge in graph.edges:
            found.setdefault(edge.array, {})[names[edge.consumer]] = None
    return {array: tuple(names) for array, names in found.items()}


def _added(counts: Iterator[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def count(accesses: Sequence[Access]) -> dict[str, int]:
    """How many passes there are of every size."""
    return dict(Counter(access.size for access in accesses))


def bytes_of(access: Access, size: Sizes) -> int:
    """How many bytes a pass moves, with these extents; those that are not known yet count as in the cost models."""
    return access.array.element.bytes * prod(
        e.offset + (0 if e.variable is None else size.get(e.variable, NOMINAL_EXTENT)) for e in access.extents
    )


def _over(nest: Nest) -> str:
    """What the loops of a nest visit."""
    extents = [level.loop.extent for level in mentions.levels(nest) if level.loop is not None]
    return size_text(extent for extent in extents if isinstance(extent, Extent))


def _cluster(
    root: RootOfCluster, nest: Nest, found: Traffic, sizes: Sizes, number: int, around: tuple[str, ...]
) -> ClusterReport:
    status = statuses(root, nest)

    def names(wanted: str) -> tuple[str, ...]:
        return tuple(plain_name(array) for array, state in status.items() if state == wanted)

    def passes(accesses: Sequence[Access]) -> tuple[PassReport, ...]:
        return tuple(PassReport(plain_name(each.array), each.size, bytes_of(each, sizes)) for each in accesses)

    return ClusterReport(
        operations=tuple(operation_name(leaf.binding) for leaf in leaves(root.tree)),
        over=_over(nest) if is_loop(nest) else "1",
        reads=count(found.reads),
        writes=count(found.writes),
        fused=names("fused"),
        kept=names("kept"),
        stored=names("stored"),
        tree=tree_text(root.tree),
        number=number,
        part=around,
        read_arrays=passes(found.reads),
        written_arrays=passes(found.writes),
        code=code(nest),
    )


def statuses(root: RootOfCluster, nest: Nest) -> dict[Array, str]:
    """What becomes of every array that a cluster makes. What a filter counts is stored, for the sizes of what comes after."""
    needed = {*root.results, *(count.array for count in nest.counts)}
    consumed: set[Array] = set()
    for _, node in preorder(root.tree):
        match node:
            case Vertical(arrays=arrays):
                consumed.update(arrays)
            case Diagonal(kept=kept, discarded=discarded):
                consumed.update(kept, discarded)
            case Horizontal() | LeafOfCluster():
                pass
            case _:
                assert_never(node)
    found: dict[Array, str] = {}
    for leaf in leaves(root.tree):
        for array in leaf.binding.arrays:
            written = "kept" if array in consumed else "stored"
            found[array] = written if array in needed else "fused"
    return found


class _Described:
    """The operations and arrays of one part, in order of labels."""

    def __init__(
        self, part: Part, graph: Graph, readers: Mapping[Array, tuple[str, ...]], sizes: Sizes, options: Options
    ) -> None:
        self._part, self._graph, self._readers, self._sizes = part, graph, readers, sizes
        self._bindings = {binding.label: binding for binding in part.program.bindings}
        plan, self._options = part.plan, options
        self._levels = names = levels(options, plan.cost)
        self._reasons = Reasons(
            graph, plan.clustering, plan.strategy, options.duplicate, prices(graph, options), names, self._bindings
        )  # fmt: skip
        self._again = Again(graph, plan, options, self._bindings)

    def into(self, found: _Found) -> None:
        """Adds them."""
        found.views += self._views()
        found.copies += self._copies(found.made_in)
        copied = {label for each in self._part.plan.recomputations for label in each.made}
        for binding in self._part.program.bindings:
            where = found.made_in.get(binding.label)
            name = operation_name(binding)
            copy = binding.label in copied
            found.operations.append(OperationReport(name, where, self._part.around, binding.where, copy))
            for array in binding.arrays:
                found.flows += self._flows(binding, array, found.made_in)
                if not isinstance(binding.operation, _VIEWS):
                    found.arrays.append(self._array(binding, array, found.status.get(array, "stored"), where))

    def _copies(self, made_in: Mapping[Label, int]) -> Iterator[CopyReport]:
        def names(labels: Iterable[Label]) -> tuple[str, ...]:
            return tuple(operation_name(self._bindings[label]) for label in labels)

        repeated = self._part.plan.recomputations
        for each in repeated:
            own = [other for other in repeated if other.producer == each.producer]
            everyone = [
                *(label for other in own for label in other.readers),
                *((each.original,) if each.original else ()),
            ]
            loops = {made_in[label] for label in everyone if label in made_in}
            original = None if each.original is None else operation_name(self._bindings[each.original])
            saves = less(recompute_savings(each.asked, each.producer, self._options), self._levels)
            yield CopyReport(each.names, each.where, original, names(each.made), names(each.readers), len(loops), saves)

    def _views(self) -> Iterator[ViewReport]:
        for parameter, array in zip(chain(*self._part.program.parameters), self._part.carried, strict=False):
            yield ViewReport(plain_name(parameter), plain_name(array), self._part.around[-1], carried=True)
        for binding in self._part.program.bindings:
            match binding.operation:
                case Reshape(inputs) | Force(inputs):
                    for array, seen in zip(binding.arrays, inputs, strict=True):
                        yield ViewReport(plain_name(array), plain_name(seen), operation_name(binding))
                case _:
                    pass

    def _flows(self, binding: Binding, array: Array, made_in: Mapping[Label, int]) -> Iterator[Flow]:
        """Within this part: what sub-programs read, their `acond` or `awhile` reads."""
        own = made_in.get(binding.label)
        for edge in self._graph.readers.get(array, ()):
            yield Flow(
                array=plain_name(array),
                producer=operation_name(binding),
                reader=operation_name(self._bindings[edge.consumer]),
                way=edge.role.value,
                fused=own is not None and own == made_in.get(edge.consumer),
                view=isinstance(binding.operation, _VIEWS),
            )

    def _array(self, binding: Binding, array: Array, status: str, cluster: int | None) -> ArrayReport:
        is_input = isinstance(binding.operation, Use)
        return ArrayReport(
            name=plain_name(array),
            type=f"{array.element}{shape_text(array.shape) if array.shape else ''}",
            status="input" if is_input else status,
            producer=operation_name(binding),
            where=binding.where,
            why_not=() if is_input else self._why_not(array),
            why_not_again=() if is_input else self._why_not_again(array),
            readers=self._readers.get(array, ()),
            cluster=cluster,
            part=self._part.around,
            result=array in self._part.program.results,
            bytes=bytes_of(Access(array, array.shape), self._sizes),
        )

    def _why_not(self, array: Array) -> tuple[WhyNot, ...]:
        lines = [self._reasons.why_not(edge) for edge in self._graph.readers.get(array, ())]
        return tuple(dict.fromkeys(line for line in lines if line is not None))

    def _why_not_again(self, array: Array) -> tuple[WhyNot, ...]:
        apart = [edge for edge in self._graph.readers.get(array, ()) if self._reasons.why_not(edge) is not None]
        return tuple(dict.fromkeys(line for line in map(self._again.why_not, apart) if line is not None))
