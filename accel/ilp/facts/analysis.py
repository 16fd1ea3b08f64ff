"""What can be known before solving: arcs that never fuse, what may be pushed where, which operations may share a read.

All cheap, iterated to a fixpoint. In: a graph. Out: everything from which `model.py` writes rows; notation as there. Facts
hold whatever is recomputed: an arc (maker, reader) may be absent, and is then no reason for anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from accel.ilp.facts.followers import followers
from accel.ilp.facts.reach import reach
from accel.ilp.facts.spaces import Spaces
from accel.ilp.legality.rules import fixed_direction, may_be_pushed, may_fuse
from accel.ilp.problem.graph import Edge, Graph
from accel.ilp.recompute.candidates import Candidates, nothing
from accel.labelled.array import Array, Label, Shape
from accel.labelled.operations import GATHERS, ORDERED, Kind, Role
from accel.support.choices import Duplicate
from accel.support.dataclass import dataclass
from accel.support.union_find import UnionFind

Arc = tuple[Label, Label]
_Use = tuple[Label, Role, tuple[Arc, ...]]


@dataclass(frozen=True, slots=True)
class Bundle:
    """Leaves of one maker that are read alike: they are fused, stored and read together."""

    label: Label
    arrays: tuple[Array, ...]
    readers: tuple[tuple[Label, Role], ...]
    """Operations that read in an order; by label."""
    only_if: tuple[tuple[Arc, ...], ...]
    """For each reader the recomputations of which one must be chosen for it to read; none if it reads anyway."""
    loaders: tuple[Label, ...]
    """Operations that read by index, unless they recompute the maker."""
    loaded_if: tuple[Arc, ...]
    """Recomputations that read by index."""
    result: bool
    stored: bool
    """Whether some reader can never be in the maker's cluster, or it is a result."""
    made_here: bool


@dataclass(frozen=True, slots=True)
class Loose:
    """`reader` comes after `label` only if one of these is recomputed: it reads what `label` makes, perhaps in one cluster."""

    label: Label
    reader: Label
    only_if: tuple[Arc, ...]
    fusible: bool


@dataclass(frozen=True, slots=True)
class Analysis:
    """The facts about `operations`. `pushable[v]`: to whose order v may be pushed; at most one gather that need not visit all.

    `direction[v]`: backward or not; operations that are missing may choose. `shares`: (k, i, j), i < j: readers i and j of
    bundle k may share a read. `parts`: strongly connected sets of operations, which can be clustered independently.
    `candidates`: what may be recomputed; `graph` has all edges that this may add.
    """

    graph: Graph
    operations: tuple[Label, ...]
    arcs: tuple[Arc, ...]
    streams: frozenset[Arc]
    infusible: frozenset[Arc]
    pushable: Mapping[Label, tuple[Label, ...]]
    direction: Mapping[Label, bool]
    bundles: tuple[Bundle, ...]
    shares: tuple[tuple[int, int, int], ...]
    parts: tuple[tuple[Label, ...], ...]
    candidates: Candidates
    separation: Separation
    loose: tuple[Loose, ...]
    """Dependences of recomputations that are none without them; `arcs` has all others."""

    def narrow(self, v: Label) -> Label | None:
        """The one gather that need not visit all to whose order v may be pushed."""
        return next((gather for gather in self.pushable.get(v, ()) if gather not in self.graph.whole), None)


@dataclass(frozen=True, slots=True)
class Separation:
    """Which operations are never in one cluster.

    `beyond[u]`: what is reached from u over at least one infusible arc, as a set of bits, of which v's is `bit[v]`.
    """

    bit: Mapping[Label, int]
    beyond: Mapping[Label, int]
    pushable: Collection[Label]
    spaces: Spaces

    def are_separate(self, u: Label, v: Label) -> bool:
        """Whether a path with an infusible arc connects the two, or their loops can never stand in one nest."""
        if self.beyond[u] & self.bit[v] or self.beyond[v] & self.bit[u]:
            return True
        return not (u in self.pushable or v in self.pushable) and self.spaces.never_together(u, v)


class _Facts:
    """The fixpoint: more infusible arcs allow less pushing, which makes more arcs infusible."""

    def __init__(self, graph: Graph, duplicate: Duplicate, optional: Collection[Arc], loose: Collection[Edge]) -> None:
        self.graph, self.duplicate, self.optional = graph, duplicate, optional
        self.spaces = Spaces(graph)
        firm = [edge for edge in graph.edges if edge not in loose] if loose else graph.edges
        self.operations = {node.label for node in graph.operations}
        self.edges_of: dict[Arc, list[Edge]] = {}
        for edge in firm:
            self.edges_of.setdefault((edge.array.label, edge.consumer), []).append(edge)
        self.outgoing: dict[Label, list[Edge]] = {label: [] for label in self.operations}
        for edge in graph.edges:
            if edge.array.label in self.operations:
                self.outgoing[edge.array.label].append(edge)
        # Arcs from and to barriers count: what stands on both sides of a barrier is separate.
        self.arcs = replace(graph, edges=tuple(firm)).arcs if loose else graph.arcs
        self.streams = {(edge.array.label, edge.consumer) for edge in firm if edge.role is Role.STREAM}
        self.after: dict[Label, list[Label]] = {node.label: [] for node in graph.nodes}
        for first, second in self.arcs:
            if (first, second) not in optional:
                self.after[first].append(second)
        self.infusible = set(graph.before)
        for arc in self.arcs:
            edges = self.edges_of.get(arc, [])
            if len({self._way(edge) for edge in edges}) != 1 or not all(may_fuse(graph, edge) for edge in edges):
                self.infusible.add(arc)
        self.pushable: dict[Label, tuple[Label, ...]] = {}
        self.beyond: dict[Label, int] = {}
        self.bit = {node.label: 1 << number for number, node in enumerate(graph.nodes)}
        size = -1
        while size != len(self.infusible):
            size = len(self.infusible)
            self._find_pushable()
            self._find_separate()
            self.infusible |= {arc for arc in self.arcs if arc not in self.infusible and self._cannot_fuse(arc)}

    def _way(self, edge: Edge) -> tuple[Role, bool]:
        """How an edge is read, and whether what is read is made in the order of a scan of segments."""
        maker = self.graph.node.get(edge.array.label)
        return edge.role, maker is not None and maker.places(edge.array)

    def _find_pushable(self) -> None:
        """v may be pushed to l iff all its readers are gather l, as a source, or may be pushed to l, as a stream; or if streams
        connect it with scans of segments whose order l is, which visits all."""
        found: dict[Label, tuple[Label, ...]] = {
            label: (gather,) for label, gather in self._pushed_by_readers().items()
        }
        fusible = {arc for arc in self.arcs if arc not in self.infusible} if self.graph.whole else set()
        for order in self.graph.whole:
            for label in followers(self.graph, order, fusible, self.operations):
                found[label] = (*found.get(label, ()), order)
        self.pushable = found

    def _pushed_by_readers(self) -> dict[Label, Label]:
        """To a gather that need not visit all."""
        pushable: dict[Label, Label] = {}
        graph = self.graph
        for label in sorted(self.operations, reverse=True):
            node = graph.node[label]
            if any(array in graph.results for array in node.arrays):
                continue
            targets: set[Label | None] = set()
            for edge in self.outgoing[label]:
                fusible = (label, edge.consumer) not in self.infusible
                to = graph.order[edge.consumer] if edge.role is Role.SOURCE else pushable.get(edge.consumer)
                targets.add(to if fusible and to not in graph.whole else None)
            target = targets.pop() if len(targets) == 1 else None
            if target is not None and may_be_pushed(graph, node, target, self.duplicate):
                pushable[label] = target
        return pushable

    def _find_separate(self) -> None:
        """`beyond` of `Separation`, as far as arcs are known to be infusible."""
        order = (node.label for node in reversed(self.graph.nodes))
        _, self.beyond = reach(order, self.bit, self.after.__getitem__, lambda u, v: (u, v) not in self.infusible)

    def _cannot_fuse(self, arc: Arc) -> bool:
        first, second = arc
        if self.separation.are_separate(first, second):
            return True
        ((role, placed),) = {self._way(edge) for edge in self.edges_of[arc]}
        if placed:
            return role is Role.STREAM and self.graph.order[first] not in self.pushable.get(second, ())
        return role is Role.SOURCE and self.graph.order[second] not in self.pushable.get(first, ())

    @property
    def separation(self) -> Separation:
        """What is separate, as far as is known."""
        return Separation(self.bit, self.beyond, self.pushable, self.spaces)

    def may_join(self, edge: Edge) -> bool:
        """Whether what `edge.consumer` recomputes may read in one cluster what is made there, in the order of all others."""
        maker, reader = edge.array.label, edge.consumer
        if edge.role is not Role.STREAM or not may_fuse(self.graph, edge) or (maker, reader) in self.infusible:
            return False
        moves = self.graph.node[reader].kind in GATHERS or maker in self.pushable or reader in self.pushable
        return not moves and not self.separation.are_separate(maker, reader)

    def may_share(self, first: tuple[Label, Role], second: tuple[Label, Role]) -> bool:
        """Whether two readers of an array might read it once, in one cluster and order."""
        (u, role_u), (v, role_v) = first, second
        if u == v or self.separation.are_separate(u, v):
            return False
        match role_u, role_v:
            case Role.SOURCE, Role.SOURCE:
                return self.graph.order[u] == self.graph.order[v]
            case Role.SOURCE, _:
                return self.graph.order[u] in self.pushable.get(v, ())
            case _, Role.SOURCE:
                return self.graph.order[v] in self.pushable.get(u, ())
            case _:
                directions = {fixed_direction(self.graph.node[u]), fixed_direction(self.graph.node[v])} - {None}
                return len(directions) < 2


def _bundles(facts: _Facts, optional: Mapping[Edge, tuple[Arc, ...]]) -> Iterator[Bundle]:
    """Arrays with the same maker, shape and readers, together. Arrays that are read in no order cost what they must."""
    graph, operations = facts.graph, facts.operations
    groups: dict[tuple[Label, Shape, tuple[_Use, ...], bool], list[Array]] = {}
    for array, edges in graph.readers.items():
        uses = tuple((edge.consumer, edge.role, optional.get(edge, ())) for edge in edges)
        if uses or array in graph.results:
            groups.setdefault((array.label, array.shape, uses, array in graph.results), []).append(array)
    for (label, _, uses, result), arrays in groups.items():
        ordered = sorted({use for use in uses if use[1] in ORDERED and use[0] in operations}, key=lambda use: use[0])
        real = [(label, consumer) for consumer, _, only_if in uses if not only_if]
        outside = any(arc in facts.infusible and arc not in facts.optional for arc in real)
        loaders = {
            consumer
            for consumer, role, only_if in uses
            if role not in ORDERED and not only_if and (label, consumer) in facts.optional
        }
        yield Bundle(
            label=label,
            arrays=tuple(arrays),
            readers=tuple((consumer, role) for consumer, role, _ in ordered),
            only_if=tuple(only_if for _, _, only_if in ordered),
            loaders=tuple(sorted(loaders)),
            loaded_if=tuple(dict.fromkeys(arc for _, role, arcs in uses if role not in ORDERED for arc in arcs)),
            result=result,
            stored=result or outside,
            made_here=label in operations,
        )


def _directions(facts: _Facts, sharing: Iterable[Arc]) -> dict[Label, bool]:
    """Fixed directions spread over fusible streams and shared reads; where both occur, free operations may choose."""
    together = UnionFind[Label]()
    links = [arc for arc in facts.arcs if arc in facts.streams and arc not in facts.infusible]
    for first, second in [*links, *sharing]:
        together.unite(first, second)
    fixed = {label: fixed_direction(facts.graph.node[label]) for label in facts.operations}
    seen: dict[Label, set[bool]] = {}
    for label, backward in fixed.items():
        if backward is not None:
            seen.setdefault(together.find(label), set()).add(backward)
    result: dict[Label, bool] = {}
    for label, backward in fixed.items():
        around = seen.get(together.find(label), {False})
        if backward is not None:
            result[label] = backward
        elif len(around) == 1:
            result[label] = next(iter(around))
    return result


def strong_components(nodes: Iterable[Label], after: Mapping[Label, Iterable[Label]]) -> list[tuple[Label, ...]]:
    """Strongly connected components (Tarjan, with a stack of our own), each rising."""
    index: dict[Label, int] = {}
    low: dict[Label, int] = {}
    stack: list[Label] = []
    waiting: set[Label] = set()
    found: list[tuple[Label, ...]] = []
    for start in nodes:
        work = [] if start in index else [(start, iter(after[start]))]
        if work:
            index[start] = low[start] = len(index)
            stack.append(start)
            waiting.add(start)
        while work:
            node, rest = work[-1]
            fresh = None
            for other in rest:
                if other not in index:
                    fresh = other
                    break
                if other in waiting:
                    low[node] = min(low[node], index[other])
            if fresh is not None:
                index[fresh] = low[fresh] = len(index)
                stack.append(fresh)
                waiting.add(fresh)
                work.append((fresh, iter(after[fresh])))
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                cut = stack.index(node)
                found.append(tuple(sorted(stack[cut:])))
                waiting.difference_update(stack[cut:])
                del stack[cut:]
    return found


def analyse(graph: Graph, duplicate: Duplicate, recomputing: Candidates | None = None) -> Analysis:
    """The facts about a graph, in which some pairs may be recomputed."""
    found = nothing(graph) if recomputing is None else recomputing
    graph, optional = found.extended(), found.optional()
    conditional = {
        edge: pairs
        for edge, pairs in optional.items()
        if all((edge.array.label, label) in found.reads for label, _ in pairs)
    }
    facts = _Facts(graph, duplicate, found.reads.keys(), conditional)
    loose = tuple(
        Loose(edge.array.label, edge.consumer, pairs, facts.may_join(edge)) for edge, pairs in conditional.items()
    )
    bundles = tuple(_bundles(facts, optional))
    shares = tuple(
        (number, i, j)
        for number, bundle in enumerate(bundles)
        for i, j in combinations(range(len(bundle.readers)), 2)
        if facts.may_share(bundle.readers[i], bundle.readers[j])
    )
    mixed: dict[Label, set[Label]] = {label: set(after) for label, after in facts.after.items()}
    sharing = [(bundles[number].readers[i][0], bundles[number].readers[j][0]) for number, i, j in shares]
    sharing += [(each.label, each.reader) for each in loose if each.fusible]
    for first, second in [*sharing, *found.pairs]:
        mixed[first].add(second)
        mixed[second].add(first)
    for first, second in facts.arcs:
        if (first, second) not in facts.infusible:
            mixed[second].add(first)
    ordered = {label: sorted(after) for label, after in mixed.items()}
    return Analysis(
        graph=graph,
        operations=tuple(node.label for node in graph.operations),
        arcs=facts.arcs,
        streams=frozenset(facts.streams - facts.infusible),
        infusible=frozenset(facts.infusible),
        pushable=facts.pushable,
        direction=_directions(facts, sharing),
        bundles=bundles,
        shares=shares,
        parts=tuple(part for part in strong_components(ordered, ordered) if len(part) > 1),
        candidates=found,
        separation=facts.separation,
        loose=loose,
    )


def restrict(facts: Analysis, part: tuple[Label, ...]) -> Analysis:
    """The facts about one part: no pair, no fusible arc and no cycle that matters reaches out of it."""
    inside = frozenset(part)
    bundles: list[Bundle] = []
    moved: dict[tuple[int, int], tuple[int, int]] = {}
    for number, bundle in enumerate(facts.bundles):
        kept = [k for k, (reader, _) in enumerate(bundle.readers) if reader in inside]
        if kept or bundle.label in inside:
            moved |= {(number, k): (len(bundles), position) for position, k in enumerate(kept)}
            readers, only_if = [bundle.readers[k] for k in kept], [bundle.only_if[k] for k in kept]
            bundles.append(replace(bundle, readers=tuple(readers), only_if=tuple(only_if)))
    shares = [(moved[k, i], moved[k, j]) for k, i, j in facts.shares if (k, i) in moved and (k, j) in moved]
    return replace(
        facts,
        operations=tuple(v for v in part if facts.graph.node[v].kind is not Kind.BARRIER),
        arcs=tuple((u, v) for u, v in facts.arcs if u in inside and v in inside),
        pushable={v: gathers for v, gathers in facts.pushable.items() if v in inside},
        bundles=tuple(bundles),
        shares=tuple((number, i, j) for (number, i), (_, j) in shares),
        parts=(part,),
        candidates=facts.candidates.inside(inside),
        loose=tuple(each for each in facts.loose if each.reader in inside),
    )
