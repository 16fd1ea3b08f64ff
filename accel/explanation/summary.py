"""What there is to say about a compiled program: its loops, their passes, the fate of every array.

In: a program in all its forms. Out: plain data. Sub-programs of `acond` and `awhile` count once each, however often they run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import assert_never

from accel.compile import Stages
from accel.errors import Where
from accel.explanation.edges import cluster_of, why_not
from accel.fusedast import nodes as fusedast
from accel.fusedast.nodes import Diagonal, RootOfCluster, Unfused, UnfusedAcond, UnfusedAwhile, Vertical
from accel.fusedast.text import name, tree_text
from accel.fusedast.walk import leaves, preorder
from accel.ilp.build import build as build_graph
from accel.ilp.clustering import Plan
from accel.ilp.cost import NOMINAL_EXTENT
from accel.ilp.options import Duplicate
from accel.ir import nodes as ir
from accel.ir.facts import Access, Traffic, fills, is_loop, size_text, traffic
from accel.ir.mentions import levels
from accel.ir.nodes import Branch, HostSizes, Launch, Nest, Repeat, Require, View
from accel.labelled import nodes as labelled
from accel.labelled.nodes import Array, Binding, Extent, Label, SizeVariable, Use
from accel.labelled.scalar_text import plain_name, shape_text


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """One loop. operations: in order, such as `fold %3`. over: what it visits. fused, kept, stored: names of arrays."""

    operations: tuple[str, ...]
    over: str
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    fused: tuple[str, ...]
    kept: tuple[str, ...]
    stored: tuple[str, ...]
    tree: str


@dataclass(frozen=True, slots=True)
class ArrayReport:
    """One array. status: `input`, `fused` (never written), `kept` (written and consumed in its own loop), `stored`.

    producer: such as `fold %3`. where: the user's call. why_not: for each reader in another loop, why it is there.
    """

    name: str
    type: str
    status: str
    producer: str
    where: Where | None
    why_not: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole program."""

    loops: int
    reads: dict[str, int]
    writes: dict[str, int]
    bytes_read: int
    bytes_written: int
    clusters: tuple[ClusterReport, ...]
    arrays: tuple[ArrayReport, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A program or sub-program in three forms."""

    program: labelled.Program
    fused: fusedast.Program
    plan: Plan


def summarise(staged: Stages, sizes: Mapping[SizeVariable, int], duplicate: Duplicate) -> Summary:
    """All loops and arrays, those of sub-programs where they stand."""
    programs = list(loop_programs(staged.loops))
    filled = frozenset[Array]().union(*map(fills, programs))
    nests = {step.nest.label: step.nest for program in programs for step in program.steps if isinstance(step, Launch)}
    reads: list[Access] = []
    writes: list[Access] = []
    clusters: list[ClusterReport] = []
    arrays: list[ArrayReport] = []
    for part in parts(Part(staged.labelled, staged.fused, staged.plan)):
        for root in _roots(part.fused):
            nest = nests[min(leaf.binding.label for leaf in leaves(root.tree))]
            found = traffic(nest, filled)
            reads += found.reads
            writes += found.writes
            clusters.append(_cluster(root, nest, found))
        arrays += _arrays(part, duplicate)
    return Summary(
        loops=sum(map(is_loop, nests.values())),
        reads=_added(cluster.reads for cluster in clusters),
        writes=_added(cluster.writes for cluster in clusters),
        bytes_read=bytes_of(reads, sizes),
        bytes_written=bytes_of(writes, sizes),
        clusters=tuple(clusters),
        arrays=tuple(arrays),
    )


def parts(whole: Part) -> Iterator[Part]:
    """The program, then its sub-programs in order, each before its own."""
    pending = [whole]
    while pending:
        part = pending.pop()
        yield part
        plans = dict(part.plan.inner)
        inner: list[Part] = []
        for node in part.fused.nodes:
            match node:
                case UnfusedAcond(binding, _, first, second) | UnfusedAwhile(binding, first, second):
                    programs = _programs(binding)
                    halves = zip(programs, (first, second), plans[binding.label], strict=True)
                    inner += [Part(program, fused, plan) for program, fused, plan in halves]
                case RootOfCluster() | Unfused():
                    pass
        pending += reversed(inner)


def _programs(binding: Binding) -> tuple[labelled.Program, labelled.Program]:
    match binding.operation:
        case labelled.Acond(_, then, orelse):
            return then, orelse
        case labelled.Awhile(condition, body):
            return condition, body
        case other:
            raise AssertionError(f"{type(other).__name__} has no sub-programs")


def loop_programs(whole: ir.Program) -> Iterator[ir.Program]:
    """The loop program and those of its branches and repetitions."""
    pending = [whole]
    while pending:
        program = pending.pop()
        yield program
        for step in program.steps:
            match step:
                case Branch(then=first, orelse=second) | Repeat(condition=first, body=second):
                    pending += (second, first)
                case Launch() | View() | HostSizes() | Require():
                    pass
                case _:
                    assert_never(step)


def _roots(fused: fusedast.Program) -> Iterator[RootOfCluster]:
    return (node for node in fused.nodes if isinstance(node, RootOfCluster))


def _added(counts: Iterator[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def count(accesses: Sequence[Access]) -> dict[str, int]:
    """How many passes there are of every size."""
    return dict(Counter(access.size for access in accesses))


def bytes_of(accesses: Sequence[Access], size: Mapping[SizeVariable, int]) -> int:
    """How many bytes the passes move, with these extents; those that are not known yet count as in the cost models."""

    def elements(access: Access) -> int:
        return prod(
            e.offset + (0 if e.variable is None else size.get(e.variable, NOMINAL_EXTENT)) for e in access.extents
        )

    return sum(access.array.element.bytes * elements(access) for access in accesses)


def _over(nest: Nest) -> str:
    """What the loops of a nest visit."""
    extents = [level.loop.extent for level in levels(nest) if level.loop is not None]
    return size_text(extent for extent in extents if isinstance(extent, Extent))


def _cluster(root: RootOfCluster, nest: Nest, found: Traffic) -> ClusterReport:
    status = statuses(root)

    def names(wanted: str) -> tuple[str, ...]:
        return tuple(plain_name(array) for array, state in status.items() if state == wanted)

    return ClusterReport(
        operations=tuple(f"{name(leaf.binding)} %{leaf.binding.label}" for leaf in leaves(root.tree)),
        over=_over(nest) if is_loop(nest) else "1",
        reads=count(found.reads),
        writes=count(found.writes),
        fused=names("fused"),
        kept=names("kept"),
        stored=names("stored"),
        tree=tree_text(root.tree),
    )


def statuses(root: RootOfCluster) -> dict[Array, str]:
    """What becomes of every array that a cluster makes."""
    consumed: set[Array] = set()
    for _, node in preorder(root.tree):
        match node:
            case Vertical(arrays=arrays):
                consumed.update(arrays)
            case Diagonal(kept=kept, discarded=discarded):
                consumed.update(kept, discarded)
    found: dict[Array, str] = {}
    for leaf in leaves(root.tree):
        for array in leaf.binding.arrays:
            written = "kept" if array in consumed else "stored"
            found[array] = written if array in root.results else "fused"
    return found


def _arrays(part: Part, duplicate: Duplicate) -> Iterator[ArrayReport]:
    """The arrays of one program in order of labels; views of other arrays are none of their own."""
    status = {array: found for root in _roots(part.fused) for array, found in statuses(root).items()}
    views = (labelled.Reshape, labelled.Force)
    graph = build_graph(part.program)
    clusters = cluster_of(part.plan.clustering)
    names: dict[Label, str] = {binding.label: name(binding) for binding in part.program.bindings}
    for binding in part.program.bindings:
        for array in () if isinstance(binding.operation, views) else binding.arrays:
            why = []
            for edge in graph.readers.get(array, ()) if not isinstance(binding.operation, Use) else ():
                if clusters[edge.consumer] is not clusters[binding.label]:
                    reason = why_not(graph, part.plan.clustering, edge, part.plan.strategy, duplicate)
                    why.append(f"{names[edge.consumer]} %{edge.consumer}: {reason}")
            yield ArrayReport(
                name=plain_name(array),
                type=f"{array.element}{shape_text(array.shape) if array.shape else ''}",
                status="input" if isinstance(binding.operation, Use) else status.get(array, "stored"),
                producer=f"{names[binding.label]} %{binding.label}",
                where=binding.where,
                why_not=tuple(dict.fromkeys(why)),
            )
