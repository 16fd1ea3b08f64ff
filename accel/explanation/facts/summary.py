"""What there is to say about a compiled program: its loops, their passes, the fate of every array.

In: a program in all its forms. Out: plain data. Sub-programs of `acond` and `awhile` count once each, however often they run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from typing import assert_never

from accel.ast.tree.nodes import ArrayNode
from accel.compile import Stages
from accel.explanation.facts.facts import (
    ArrayReport,
    ClusterReport,
    CopyReport,
    Flow,
    OperationReport,
    PassReport,
    UpdateReport,
    ViewReport,
)
from accel.explanation.facts.texts import code
from accel.explanation.naming.extents import extents
from accel.explanation.naming.names import Names, named
from accel.explanation.naming.turns import Counters, counters
from accel.explanation.naming.variables import Variables
from accel.explanation.why.costs import less, levels, prices
from accel.explanation.why.parts import Part, parts
from accel.explanation.why.passes import Sizes, bytes_of, count, totals
from accel.explanation.why.reasons import Reasons, WhyNot, operation_name
from accel.explanation.why.recomputation import NotRecomputed
from accel.fusedast.nodes import Diagonal, Horizontal, LeafOfCluster, RootOfCluster, Vertical
from accel.fusedast.text import tree_text
from accel.fusedast.walk import leaves, preorder
from accel.ilp.problem.build import build as build_graph
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.recompute_savings import recompute_savings
from accel.ir import mentions
from accel.ir.facts import Access, fills, is_loop, size_text, traffic
from accel.ir.nodes import Launch, Nest
from accel.labelled.array import Array, Extent, Label
from accel.labelled.nodes import Binding, Use
from accel.labelled.operations import Flag, describe
from accel.labelled.scalar_text import plain_name, shape_text
from accel.schedule.machine import Processor
from accel.schedule.nodes import Kind, Schedule
from accel.schedule.templates.rows import against_lanes
from accel.schedule.templates.ways import ProgramSchedules
from accel.support.dataclass import dataclass

_MOST_SAVINGS = 32
"""Of so many recomputations it is told what each saves, which takes time that is quadratic in their number."""


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
    extents: dict[str, str]


@dataclass(slots=True)
class _Found:
    """What is gathered part by part. made_in: the number of the loop of every operation that is in one; status: what becomes
    of every array that a loop makes.
    """

    counters: Counters
    names: Names

    clusters: list[ClusterReport] = field(default_factory=list)
    arrays: list[ArrayReport] = field(default_factory=list)
    operations: list[OperationReport] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    views: list[ViewReport] = field(default_factory=list)
    copies: list[CopyReport] = field(default_factory=list)
    made_in: dict[Label, int] = field(default_factory=dict)
    status: dict[Array, str] = field(default_factory=dict)


def summarise(
    staged: Stages, sizes: Sizes, options: Options, nodes: Sequence[ArrayNode] = (), parameters: Sequence[str] = ()
) -> Summary:
    """All loops and arrays, those of sub-programs where they stand.

    nodes: what was labelled. parameters: what the function calls its own, the first of the labelled program's.
    """
    programs = list(mentions.programs(staged.lowered))
    variables = Variables()
    counted = counters(staged.labelled, variables)
    running = {nest.label: nest for nest in mentions.nests(staged.loops)}
    in_turn = _in_turn(staged.schedules)
    found = _Found(counted, named(staged.labelled, nodes, parameters, counted, variables))
    nests = {step.nest.label: step.nest for program in programs for step in program.steps if isinstance(step, Launch)}
    every = list(parts(Part(staged.labelled, staged.fused, staged.plan), counted.turns))
    filled = frozenset[Array]().union(*map(fills, programs))
    roots = [(part, root, nests[min(_labels(root))]) for part in every for root in part.roots()]
    for part, root, nest in sorted(roots, key=lambda each: counted.only(each[2])):
        number = len(found.clusters) + 1
        found.status |= statuses(root, nest)
        made = code(running[nest.label], staged.schedules.machine)
        described = _cluster(root, nest, filled, sizes, counted, number, part.around, made)
        found.clusters.append(replace(described, in_turn=in_turn.get(nest.label, "")))
        found.made_in |= dict.fromkeys(_labels(root), number)
    graphs = [build_graph(part.program) for part in every]
    readers = _readers(every, graphs)
    for part, graph in zip(every, graphs, strict=True):
        _Described(part, graph, readers, sizes, options).into(found)
    return _summary(found, sum(map(is_loop, nests.values())), every)


def _summary(found: _Found, loops: int, every: Sequence[Part]) -> Summary:
    return Summary(
        loops=loops,
        reads=totals(cluster.reads for cluster in found.clusters),
        writes=totals(cluster.writes for cluster in found.clusters),
        bytes_read=sum(each.bytes for cluster in found.clusters for each in cluster.read_arrays),
        bytes_written=sum(each.bytes for cluster in found.clusters for each in cluster.written_arrays),
        clusters=tuple(found.clusters),
        arrays=tuple(found.arrays),
        operations=tuple(found.operations),
        flows=tuple(found.flows),
        views=tuple(found.views),
        copies=tuple(found.copies),
        extents=extents((binding for part in every for binding in part.program.bindings), found.names.arrays),
    )


def _in_turn(made: ProgramSchedules) -> dict[Label, str]:
    """Why loops of a program run one iteration after the other on a processor, however they may run."""
    if not isinstance(made.machine, Processor):
        return {}
    reasons = {
        each.nest.label: against_lanes(each.nest) for each in made.nests if not any(map(_has_lanes, each.schedules))
    }
    return {label: reason for label, reason in reasons.items() if reason is not None}


def _has_lanes(schedule: Schedule) -> bool:
    return any(piece.kind is Kind.VECTOR for piece in schedule.pieces)


def _readers(every: Sequence[Part], graphs: Sequence[Graph]) -> dict[Array, tuple[str, ...]]:
    """The operations that read each array, in all parts."""
    found: dict[Array, dict[str, None]] = {}
    for part, graph in zip(every, graphs, strict=True):
        names = {binding.label: operation_name(binding) for binding in part.program.bindings}
        for edge in graph.edges:
            found.setdefault(edge.array, {})[names[edge.consumer]] = None
    return {array: tuple(names) for array, names in found.items()}


def _over(nest: Nest) -> str:
    """What the loops of a nest visit."""
    extents = [level.loop.extent for level in mentions.levels(nest) if level.loop is not None]
    return size_text(extent for extent in extents if isinstance(extent, Extent))


def _labels(root: RootOfCluster) -> list[Label]:
    return [leaf.binding.label for leaf in leaves(root.tree)]


def _cluster(
    root: RootOfCluster,
    nest: Nest,
    filled: frozenset[Array],
    sizes: Sizes,
    counted: Counters,
    number: int,
    around: tuple[str, ...],
    made: Mapping[str, str],
) -> ClusterReport:
    status, found = statuses(root, nest), counted.without(traffic(nest, filled), nest)

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
        updates=tuple(UpdateReport(plain_name(old), plain_name(new)) for old, new in nest.in_place),
        counter=counted.only(nest),
        nest=nest.label,
        code=made,
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
        self._not_recomputed = NotRecomputed(graph, plan, options, self._bindings)

    def into(self, found: _Found) -> None:
        """Adds them."""
        found.views += self._views(found)
        found.copies += self._copies(found.made_in)
        copied = {label for each in self._part.plan.recomputations for label in each.made}
        for binding in self._part.program.bindings:
            where = found.made_in.get(binding.label)
            name = operation_name(binding)
            copy = binding.label in copied
            counter = binding.label in found.counters.operations
            variable = found.names.operations.get(binding.label, "")
            found.operations.append(
                OperationReport(name, variable, where, self._part.around, binding.where, copy, counter)
            )
            for array in binding.arrays:
                found.flows += self._flows(binding, array, found.made_in)
                if not _is_view(binding):
                    found.arrays.append(self._array(binding, array, found, where))

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
            saves = ""
            if len(repeated) <= _MOST_SAVINGS:
                saves = less(recompute_savings(each.asked, each.producer, self._options), self._levels)
            yield CopyReport(each.names, each.where, original, names(each.made), names(each.readers), len(loops), saves)

    def _views(self, found: _Found) -> Iterator[ViewReport]:
        def view(name: Array, of: Array, by: str, carried: bool) -> ViewReport:
            variable, counter = found.names.arrays.get(name, ""), self._part.counts or name in found.counters.arrays
            return ViewReport(plain_name(name), variable, plain_name(of), by, carried, counter)

        for parameter, array in zip(chain(*self._part.program.parameters), self._part.carried, strict=False):
            yield view(parameter, array, self._part.around[-1], carried=True)
        for binding in self._part.program.bindings:
            if _is_view(binding):
                for array, seen in zip(binding.arrays, describe(binding.operation).arrays, strict=True):
                    yield view(array, seen, operation_name(binding), carried=False)

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
                view=_is_view(binding),
            )

    def _array(self, binding: Binding, array: Array, found: _Found, cluster: int | None) -> ArrayReport:
        is_input = isinstance(binding.operation, Use)
        return ArrayReport(
            name=plain_name(array),
            variable=found.names.arrays.get(array, ""),
            type=f"{array.element}{shape_text(array.shape) if array.shape else ''}",
            status="input" if is_input else found.status.get(array, "stored"),
            producer=operation_name(binding),
            where=binding.where,
            why_not=() if is_input else self._why_not(array),
            why_not_again=() if is_input else self._why_not_again(array),
            readers=self._readers.get(array, ()),
            cluster=cluster,
            part=self._part.around,
            result=array in self._part.program.results,
            bytes=bytes_of(Access(array, array.shape), self._sizes),
            counter=array in found.counters.arrays,
        )

    def _why_not(self, array: Array) -> tuple[WhyNot, ...]:
        lines = [self._reasons.why_not(edge) for edge in self._graph.readers.get(array, ())]
        return tuple(dict.fromkeys(line for line in lines if line is not None))

    def _why_not_again(self, array: Array) -> tuple[WhyNot, ...]:
        apart = [edge for edge in self._graph.readers.get(array, ()) if self._reasons.why_not(edge) is not None]
        return tuple(dict.fromkeys(line for line in map(self._not_recomputed.why_not, apart) if line is not None))


def _is_view(binding: Binding) -> bool:
    return Flag.VIEW in describe(binding.operation).flags
