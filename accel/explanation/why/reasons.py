"""Why two operations, one reading what the other makes, do not share a loop.

In: a dependency graph, a clustering, the rule about repeated work. Out: a reason in plain words, with the rule of
docs/ilp.md. Either no rule allows the two in one loop, or sharing one would force other operations apart, or cost more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from accel.errors import Where
from accel.explanation.naming.source import short_place
from accel.explanation.naming.turns import is_iterate
from accel.ilp.legality.checker import cluster_refusal
from accel.ilp.legality.refusal import Refusal, Rule
from accel.ilp.legality.rules import CHEAP
from accel.ilp.problem.clustering import Cluster, Clustering
from accel.ilp.problem.graph import Edge, Graph, Node
from accel.ilp.problem.price import Prices
from accel.ilp.problem.traversals import assign
from accel.labelled.array import Label
from accel.labelled.nodes import Binding
from accel.labelled.operations import ORDERED, Kind, Role
from accel.labelled.places import name
from accel.labelled.scalar_text import shape_text
from accel.support.choices import Duplicate

RULES: Mapping[str, str] = MappingProxyType(
    {
        "barrier": "What is no loop (control flow, a change of shape, compute) shares none.",
        "D1": "A loop reads what it makes in the order in which it makes it; what is read at an index is complete before.",
        "D2": "What is stored is made whole, from one end to the other.",
        "D3": "Operations of one loop share arrays.",
        "D4": "Loops run one after the other; what must be done first is in an earlier one.",
        "D5": "Scans, filters, scatters and some folds run in one direction only, and not at the indices of a gather.",
        "E2": "No loop stands under the guard of a filter.",
        "E3": "No loop stands under the guard of a filter, at the indices of a gather either.",
        "E4": "The operations of a loop visit one shape, or the outer dimensions of it.",
        "E5": "A loop inside begins when its gather's index is known.",
        "E6": "Segments are divided among threads by elements: they wait for no scan but one that finds out where they are.",
        "W1": "A gather that may be larger than its source makes nothing expensive more than once.",
        "C1": f"What is recomputed is cheap: a generate or map without loops, of {CHEAP} scalar operations at most.",
        "C2": "What is recomputed reads what is in memory anyway, or takes fewer bytes, and is not in the way of anything.",
        "C3": "A reader does not recompute something more often than it was computed.",
        "C4": "Nothing is recomputed of what a recomputation reads.",
        "strategy": "The strategy chose otherwise.",
        "cost": "A clustering that costs less, or as much, keeps the two apart.",
    }
)  # fmt: skip
"""What each rule says, in a sentence; docs/ilp.md has them in full."""


_BARRIERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("sort", "argsort", "sortBy", "topK"), "a sort reads all of a row before it makes anything of it"
        ),
        "force": "the program asks for it in memory",
        "reshape": "it gets another shape, for which it must be in memory",
        "acond": "control flow finds its arrays in memory, and leaves its own there",
        "awhile": "control flow finds its arrays in memory, and leaves its own there",
    }
)


class WhyNot(str):
    """A line of a report, `map %3 (file.py:7): … [D1]`, that also holds its parts.

    rule: a key of `RULES`. reason: in words. reader: the operation that reads the array elsewhere. where, producer_where: the
    user's calls of the reader and of the array's producer.
    """

    rule: str
    reason: str
    reader: str
    where: Where | None
    producer_where: Where | None

    def __new__(
        cls, rule: str, reason: str, reader: str, where: Where | None = None, producer_where: Where | None = None
    ) -> WhyNot:
        """The line that has these parts."""
        place = short_place(where)
        line = super().__new__(cls, f"{reader}{place and f' ({place})'}: {reason} [{rule}]")
        line.rule, line.reason, line.reader, line.where, line.producer_where = (
            rule, reason, reader, where, producer_where
        )  # fmt: skip
        return line

    def __getnewargs__(self) -> tuple[str, str, str, Where | None, Where | None]:  # type: ignore[override]  # a str's is one
        return self.rule, self.reason, self.reader, self.where, self.producer_where


def operation_name(binding: Binding) -> str:
    """`fold %3`: the user's word and the label."""
    return f"{'iterate' if is_iterate(binding) else name(binding)} %{binding.label}"


Reason: TypeAlias = tuple[str, str]
"""A rule, and a reason in words."""


class Reasons:
    """The reasons of one program; what was found out about two clusters is remembered."""

    def __init__(
        self,
        graph: Graph,
        clustering: Clustering,
        strategy: str,
        duplicate: Duplicate,
        prices: Prices,
        levels: tuple[str, ...],
        bindings: Mapping[Label, Binding],
    ) -> None:
        self._graph, self._clustering, self._strategy, self._duplicate = graph, clustering, strategy, duplicate
        self._prices, self._levels, self._bindings = prices, levels, bindings
        self._before = frozenset(graph.before)
        self._cluster = {label: cluster for cluster in clustering.clusters for label in cluster.labels}
        self._known: dict[tuple[Label, Label], Reason] = {}
        self._followers: dict[Label, list[Label]] = {}
        self._leaders: dict[Label, list[Label]] = {}
        for earlier, later in graph.arcs:
            self._followers.setdefault(earlier, []).append(later)
            self._leaders.setdefault(later, []).append(earlier)

    def why_not(self, edge: Edge) -> WhyNot | None:
        """Why the maker of the edge's array and its reader are in different loops; None if they are in one."""
        maker, reader = self._graph.node[edge.array.label], self._graph.node[edge.consumer]
        if self._cluster[maker.label] is self._cluster[reader.label]:
            return None
        rule, reason = self._alone(edge) or self._with_others(maker, reader)
        places = (self._bindings[reader.label].where, self._bindings[maker.label].where)
        return WhyNot(rule, reason, self._name(reader), *places)

    def _alone(self, edge: Edge) -> Reason | None:
        """Why the maker of the edge's array and its reader could not share a loop by themselves."""
        maker, reader = self._graph.node[edge.array.label], self._graph.node[edge.consumer]
        for node in (maker, reader):
            if node.kind is Kind.BARRIER:
                return "barrier", _BARRIERS.get(node.name, f"{node.name} is no loop")
        if edge.role not in ORDERED:
            return "D1", _complete(edge)
        if maker.kind is Kind.SCATTER:
            return "D1", "a scatter writes in any order, so what it makes is complete only at its end"
        if (maker.label, reader.label) in self._before:
            return "D4", f"{self._name(maker)} must be done before {self._name(reader)} begins"
        pair = assign(self._graph, (maker.label, reader.label))
        if pair is None:
            return "D1", f"{self._name(reader)} reads it in two ways"
        alone = cluster_refusal(self._graph, pair, self._duplicate)
        return None if alone is None else self._of_pair(alone, pair, maker, reader)

    def _with_others(self, maker: Node, reader: Node) -> Reason:
        """Two operations could share a loop if they were alone: why they do not."""
        if self._strategy == "none":
            return "strategy", "the strategy none fuses nothing"
        first, second = self._cluster[maker.label], self._cluster[reader.label]
        key = first.labels[0], second.labels[0]
        if key not in self._known:
            self._known[key] = self._together(first, second)
        return self._known[key]

    def _of_pair(self, refusal: Refusal, pair: Cluster, maker: Node, reader: Node) -> Reason:
        """Why two operations alone could not share a loop."""
        order, read = pair.members[maker.label], pair.members[reader.label]
        if refusal.rule is Rule.D5 and order.gather is read.gather is None:
            way, other = ("backward", "forward") if order.backward else ("forward", "backward")
            if refusal.labels[0] == reader.label:
                return "D5", f"it is read {other} only, and {self._name(maker)} runs {way}"
            return "D5", f"it is read {way}, and {self._name(maker)} runs {other} only"
        if refusal.rule is Rule.E4:
            visited = shape_text(maker.iteration), shape_text(reader.iteration)
            differ = f"{self._name(maker)} visits {visited[0]}, {self._name(reader)} {visited[1]}"
            return "E4", f"their loops differ: {differ}"
        return self._plain(refusal)

    def _plain(self, refusal: Refusal) -> Reason:
        """The checker's reason, with operations named as in the report."""
        return refusal.rule.value, refusal.sentence(lambda label: self._name(self._graph.node[label]))

    def _name(self, node: Node) -> str:
        return operation_name(self._bindings[node.label])

    def _together(self, first: Cluster, second: Cluster) -> Reason:
        """What the rest of their clusters says about two operations."""
        return self._direct(first, second) or self._whole(first, second)

    def _direct(self, first: Cluster, second: Cluster) -> Reason | None:
        """An operation of the second cluster needs one of the first complete."""
        made = frozenset(first.labels)
        for label in second.labels:
            for edge in self._graph.inputs[label]:
                if edge.array.label in made and edge.role not in ORDERED:
                    names = self._name(self._graph.node[label]), self._name(self._graph.node[edge.array.label])
                    return "D1", f"their loops cannot become one: {names[0]} needs {names[1]} complete"
        for earlier in first.labels:
            for later in second.labels:
                if (earlier, later) in self._before:
                    names = self._name(self._graph.node[earlier]), self._name(self._graph.node[later])
                    return "D4", f"their loops cannot become one: {names[0]} must be done before {names[1]} begins"
        return None

    def _whole(self, first: Cluster, second: Cluster) -> Reason:
        whole = assign(self._graph, first.labels + second.labels)
        if whole is None:
            return self._apart(first, second) or ("D5", "their loops run in different orders")
        refusal = cluster_refusal(self._graph, whole, self._duplicate)
        if refusal is not None:
            rule, text = self._plain(refusal)
            return rule, f"their loops cannot become one: {text}"
        between = self._between(first, second)
        if between is not None:
            return "D4", f"{between} must run between their loops"
        return self._dearer(first, second, whole)

    def _apart(self, first: Cluster, second: Cluster) -> Reason | None:
        """Two other operations of the clusters could share no loop if they were alone."""
        made = frozenset(first.labels)
        for label in second.labels:
            for edge in self._graph.inputs[label]:
                refusal = self._alone(edge) if edge.array.label in made else None
                if (
                    refusal is not None and refusal[0] != "D2"
                ):  # what is read outside of a pair may be read within the whole
                    reader, maker = self._graph.node[label], self._graph.node[edge.array.label]
                    reads = f"{self._name(reader)} reads {self._name(maker)}"
                    return refusal[0], f"their loops cannot become one: {reads}, and {refusal[1]}"
        return None

    def _between(self, first: Cluster, second: Cluster) -> str | None:
        """An operation that needs the first of two clusters, and without which the second cannot run."""
        after = self._reachable(first, second, self._followers)
        before = self._reachable(second, first, self._leaders)
        found = after & before
        return self._name(self._graph.node[min(found)]) if found else None

    def _reachable(self, start: Cluster, avoided: Cluster, arcs: Mapping[Label, Sequence[Label]]) -> frozenset[Label]:
        """The operations of the clusters that arcs lead to, but for two."""
        seen: set[Label] = {*start.labels, *avoided.labels}
        found: set[Label] = set()
        pending = list(start.labels)
        while pending:
            for label in arcs.get(pending.pop(), ()):
                if label not in seen:
                    cluster = self._cluster[label].labels
                    seen.update(cluster)
                    found.update(cluster)
                    pending += cluster
        return frozenset(found)

    def _dearer(self, first: Cluster, second: Cluster, whole: Cluster) -> Reason:
        """Nothing forbids one loop for both: what it would cost."""
        costs = zip(self._levels, *map(self._prices, (whole, first, second)), strict=True)
        for level, together, *apart in costs:
            more = together - sum(apart)
            if more > 0:
                return "cost", f"one loop for both would cost {more:,} more ({level})"
            if more < 0:
                return "strategy", f"{self._strategy} did not find it: one loop would cost {-more:,} less ({level})"
        return "cost", "one loop for both would cost the same"


def _complete(edge: Edge) -> str:
    """Why what is read in no order must be complete."""
    if edge.role is Role.DESTINATION:
        return "it is written into, so it must be complete first"
    if not edge.array.shape:
        return "its value is needed from the start, so it must be complete first"
    return "it is read at an index, so it must be complete first"
