"""Iteration spaces: which loops an operation needs, and which two operations can never have them in one nest.

The model's side of docs/ilp.md, E1 to E5. Statically where nothing depends on the solution (`never_together`); for a
given solution otherwise (`conflict`, from which `cuts.py` makes rows).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from accel.ilp.problem.graph import Graph, Node
from accel.labelled.array import Extent, Label, Shape
from accel.labelled.operations import Kind, Role
from accel.support.dataclass import dataclass
from accel.support.union_find import UnionFind


@dataclass(frozen=True, slots=True)
class Conflict:
    """These operations cannot be in one cluster with these orders; `unless`: but for more operations in the cluster."""

    members: tuple[Label, ...]
    unless: bool


class Spaces:
    """The iteration spaces of the operations of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = self.graph = graph
        self._filter = {node.filtered: node for node in graph.nodes if node.filtered is not None}
        self._aligned = UnionFind[Extent]()
        for node in graph.nodes:
            if node.exclusive:
                source = next(edge.array for edge in graph.inputs[node.label] if edge.role is Role.STREAM)
                self._aligned.unite(node.iteration[-1], source.shape[-1])

    def agree(self, first: Shape, second: Shape) -> bool:
        """E4: one is a prefix of the other, or they differ in aligned inner extents only."""
        rank = min(len(first), len(second))
        if first[:rank] == second[:rank]:
            return True
        if len(first) != len(second) or first[:-1] != second[:-1]:
            return False
        return self._aligned.find(first[-1]) == self._aligned.find(second[-1])

    def filter_of(self, node: Node) -> Node | None:
        """The filter whose size `node` visits, in whatever form; its first one."""
        for extent in node.iteration:
            if extent.variable in self._filter:
                return self._filter[extent.variable]
        return None

    @staticmethod
    def is_plain(node: Node, maker: Node) -> bool:
        """Whether `node` visits just the vector that filter `maker` makes, so that it can run under its guard."""
        return maker.filtered is not None and node.iteration == (Extent(maker.filtered, 0),)

    def _possible(self, node: Node) -> Iterator[Shape]:
        """The shapes in which an operation that is not pushed may run: its own, its filter's, that one's filter's."""
        while True:
            yield node.iteration
            maker = self.filter_of(node)
            if maker is None or not self.is_plain(node, maker):
                return
            node = maker

    @staticmethod
    def _waits(segments: Node, scan: Node) -> bool:
        """E6: whether segments would wait in turn for a scan; not for an exact one from before them."""
        if segments.kind is not Kind.SEGMENTS or scan.kind is not Kind.SCAN:
            return False
        return not scan.exact or scan.label > segments.label

    def never_together(self, first: Label, second: Label) -> bool:
        """Whether two operations that are not pushed can be in no nest, whatever else is in it."""
        u, v = self._graph.node[first], self._graph.node[second]
        if any(self._waits(node, other) for node, other in ((u, v), (v, u))):
            return True
        if u.iteration == v.iteration:
            return False
        for node, other in ((u, v), (v, u)):
            maker = self.filter_of(node)
            if maker is not None and maker.label == other.label and not self.is_plain(node, maker):
                return True
        return not any(self.agree(a, b) for a in self._possible(u) for b in self._possible(v))

    def conflict(self, pushed: Mapping[Label, Label | None]) -> Conflict | None:
        """Why the keys of `pushed`, each pushed to its value or not at all, do not fit into one nest; None if they do."""
        shapes: dict[Label, Shape] = {}
        guard: dict[Label, Label] = {}
        open_filter, hosts = False, self._hosts(pushed)
        for label in sorted(label for label, gather in pushed.items() if gather is None):
            node = self._graph.node[label]
            shapes[label] = node.iteration
            maker = self.filter_of(node)
            if maker is None:
                continue
            if maker.label not in pushed:
                open_filter = True
            elif self.is_plain(node, maker):
                shapes[label], guard[label] = shapes[maker.label], maker.label
            else:
                return Conflict((maker.label, label), False)
        for label in sorted((label for label, gather in pushed.items() if gather is not None), reverse=True):
            gather = pushed[label]
            assert gather is not None
            beyond = self._graph.node[label].iteration[self._graph.rank_of_sources(gather) :]
            gather = hosts[gather]
            shapes[label] = shapes[gather] + beyond
            if gather in guard:
                guard[label] = guard[gather]
                if beyond:
                    return Conflict((*self._chain(pushed, label), guard[gather]), False)
        deepest = max(shapes, key=lambda label: len(shapes[label]))
        for label, shape in shapes.items():
            if not self.agree(shape, shapes[deepest]):
                ends = (*self._chain(pushed, label), *self._chain(pushed, deepest))
                guards = [guard[end] for end in ends if end in guard]
                return Conflict((*ends, *guards), open_filter)
        return self._return(pushed, shapes) or self._wait(pushed)

    def _hosts(self, members: Iterable[Label]) -> dict[Label, Label]:
        """For each order in which some operations read sources, one of those that do so."""
        return {self._graph.order[label]: label for label in members if label in self._graph.order}

    def _chain(self, pushed: Mapping[Label, Label | None], label: Label) -> list[Label]:
        """An operation, the gather to which it is pushed, the one to which that is pushed, and so on."""
        chain, gather, hosts = [label], pushed[label], self._hosts(pushed)
        while gather is not None:
            chain.append(hosts[gather])
            gather = pushed[hosts[gather]]
        return chain

    def _wait(self, pushed: Iterable[Label]) -> Conflict | None:
        """E6: segments and a scan for which they would wait, through whatever they are together."""
        nodes = [self._graph.node[label] for label in pushed]
        scans = [node for node in nodes if node.kind is Kind.SCAN]
        for node in nodes:
            for scan in scans:
                if self._waits(node, scan):
                    return Conflict((node.label, scan.label), False)
        return None

    def _return(self, pushed: Mapping[Label, Label | None], shapes: Mapping[Label, Shape]) -> Conflict | None:
        """E5: something needed at the start of a pushed loop that comes out of a loop at its depth."""
        hosts = self._hosts(pushed)
        for label, order in pushed.items():
            gather = None if order is None else hosts[order]
            if gather is None or len(shapes[label]) == len(shapes[gather]):
                continue
            depth = len(shapes[gather])
            indices = [e.array.label for e in self._graph.inputs[gather] if e.role is Role.STREAM]
            back: dict[Label, Label] = {maker: gather for maker in indices if maker in pushed}
            pending = list(back)
            while pending:
                maker = pending.pop()
                if len(shapes[maker]) > depth:
                    path = [maker]
                    while path[-1] != gather:
                        path.append(back[path[-1]])
                    return Conflict((*self._chain(pushed, label), *path), False)
                for edge in self._graph.inputs[maker]:
                    if edge.array.label in pushed and edge.array.label not in back:
                        back[edge.array.label] = maker
                        pending.append(edge.array.label)
        return None


def is_loop_free(node: Node) -> bool:
    """Whether an operation holds no loop of its own."""
    return node.kind not in (Kind.FOLD, Kind.SEGMENTS) and not node.loops
