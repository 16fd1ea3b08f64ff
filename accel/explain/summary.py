"""What there is to say about a compiled program: its loops, their passes, the fate of every array.

In: a program in all its forms. Out: plain data. Sub-programs of `acond` and `awhile` count once each, however often they run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from accel.compile import Stages
from accel.errors import Where
from accel.explain.edges import cluster_of, why_not
from accel.explain.passes import Pass, bytes_of, constant_fills, count, iteration, passes, size_text
from accel.fusedast import nodes as fusedast
from accel.fusedast.nodes import Diagonal, RootOfCluster, Unfused, UnfusedAcond, UnfusedAwhile, Vertical
from accel.fusedast.text import name, tree_text
from accel.fusedast.walk import leaves, preorder
from accel.ilp.build import build as build_graph
from accel.ilp.clustering import Plan
from accel.ilp.options import Duplicate
from accel.labelled import nodes as labelled
from accel.labelled.nodes import Array, Binding, Label, Shape, SizeVariable, Use
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
    everything = list(parts(Part(staged.labelled, staged.fused, staged.plan)))
    bindings = [binding for part in everything for binding in part.program.bindings]
    shapes = {binding.label: binding.arrays[0].shape for binding in bindings if binding.arrays}
    constant = constant_fills(bindings)
    reads: list[Pass] = []
    writes: list[Pass] = []
    clusters: list[ClusterReport] = []
    arrays: list[ArrayReport] = []
    for part in everything:
        for root in _roots(part.fused):
            found = passes(root, shapes, constant)
            reads += found.reads
            writes += found.writes
            clusters.append(_cluster(root, count(found.reads), count(found.writes)))
        arrays += _arrays(part, duplicate)
    return Summary(
        loops=sum(cluster.over != "1" for cluster in clusters),
        reads=_added(cluster.reads for cluster in clusters),
        writes=_added(cluster.writes for cluster in clusters),
        bytes_read=bytes_of(tuple(reads), sizes),
        bytes_written=bytes_of(tuple(writes), sizes),
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


def _roots(fused: fusedast.Program) -> Iterator[RootOfCluster]:
    return (node for node in fused.nodes if isinstance(node, RootOfCluster))


def _added(counts: Iterator[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def _over(root: RootOfCluster) -> Shape:
    """What the loop visits: the largest of what its operations visit."""
    return max((iteration(leaf.binding) for leaf in leaves(root.tree)), key=len)


def _cluster(root: RootOfCluster, reads: dict[str, int], writes: dict[str, int]) -> ClusterReport:
    status = statuses(root)
    return ClusterReport(
        operations=tuple(f"{name(leaf.binding)} %{leaf.binding.label}" for leaf in leaves(root.tree)),
        over=size_text(_over(root)),
        reads=reads,
        writes=writes,
        fused=tuple(plain_name(array) for array, found in status.items() if found == "fused"),
        kept=tuple(plain_name(array) for array, found in status.items() if found == "kept"),
        stored=tuple(plain_name(array) for array, found in status.items() if found == "stored"),
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
