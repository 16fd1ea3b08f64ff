"""Where a shared node of an expression graph is computed: the innermost region that serves all of its uses.

The user's programs are graphs (sharing is object identity), at the level of arrays as at that of scalars. Their control
flow has parts that run not at all or many times: the branches of a conditional, the condition and step of a loop. Every
part is a region; regions form a tree. A node stands in the deepest region that encloses all its uses, but
  * outside of a loop whose state it does not depend on (arrays: `invariants.py` moves them);
  * in each part separately, if it depends on a loop's state and is used by that loop's condition and step;
  * if it must not run unasked (a load, a loop: `demanding`), only where it is certain to be used, else once in each
    part that may use it.
Nothing here recurses; the work is linear in the graph for bounded nesting.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import field
from typing import Generic, Protocol, TypeVar

from accel.ast.tree.walk import postorder
from accel.errors import AccelStagingError, Where
from accel.support.dataclass import dataclass

MAXIMAL_DEPTH = 60
"""How deep control flow may nest; passes recurse on it."""


class Node(Hashable, Protocol):
    """Array or scalar nodes: compared by identity, with a place in the user's program."""

    @property
    def where(self) -> Where | None:
        """The user's call."""
        ...


N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class Shape(Generic[N]):
    """What placement asks of a kind of graph.

    `children`: what a node uses, and in which part of it (None: before it). `state`: the parameters that a loop binds
    (its part 0 is the condition, part 1 the step), None for what is no loop. `demanding`: must not run unasked.
    `strict`: branches that cannot fail may be computed always, where control flow is nested too deep. `hoists`: what a loop
    does not change leaves it, as long as it may run unasked; for arrays `invariants.py` does that, which knows more.
    """

    children: Callable[[N], Sequence[tuple[N, int | None]]]
    state: Callable[[N], Sequence[N] | None]
    demanding: Callable[[N], bool]
    strict: bool
    hoists: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Region(Generic[N]):
    """Part `part` of `owner` in region `parent`, or the whole program."""

    parent: Region[N] | None
    owner: N | None
    part: int
    depth: int
    loops: frozenset[N]
    is_loop: bool


@dataclass(slots=True)
class Placement(Generic[N]):
    """The nodes of each region in order of dependency, and all in order of first use."""

    root: Region[N]
    order: list[N]
    nodes: dict[Region[N], list[N]] = field(default_factory=dict)
    _inner: dict[tuple[N, Region[N], int], Region[N]] = field(default_factory=dict)

    def inner(self, owner: N, place: Region[N], part: int) -> Region[N]:
        """The region that is a part of `owner` where it stands in `place`; `place` itself for what is computed always."""
        return self._inner[owner, place, part]

    def enter(self, owner: N, place: Region[N], part: int, is_loop: bool, may_fail: bool) -> Region[N]:
        """As `inner`, made if it is not there. Raises `AccelStagingError` when too deep."""
        key = (owner, place, part)
        if key not in self._inner:
            if place.depth < MAXIMAL_DEPTH:
                loops = place.loops | {owner} if is_loop else place.loops
                self._inner[key] = Region(place, owner, part, place.depth + 1, loops, is_loop)
            elif may_fail:
                message = f"control flow is nested more than {MAXIMAL_DEPTH} deep"
                hint = "a choice among many is an index into an array, or made of `A.select`s, which compute both sides"
                raise AccelStagingError(message, owner.where, hint=hint)
            else:
                self._inner[key] = place
        return self._inner[key]


def place(roots: Iterable[N], shape: Shape[N]) -> Placement[N]:
    """Find a region, or several, for every node that `roots` need. Raises `AccelStagingError` for too deep nesting."""
    roots = list(roots)
    order = postorder(roots, lambda node: [child for child, _ in shape.children(node)])
    facts = _Facts(order, shape)
    whole: Region[N] = Region(None, None, 0, 0, frozenset(), False)
    placement = Placement(whole, order)
    demands: dict[N, dict[Region[N], None]] = {node: {} for node in order}
    for node in roots:
        demands[node][whole] = None
    placed: dict[N, list[Region[N]]] = {}
    for node in reversed(order):
        placed[node] = facts.settle(node, list(demands[node]))
        is_loop, may_fail = shape.state(node) is not None, not shape.strict or facts.demanding(node)
        for region in placed[node]:
            for child, part in shape.children(node):
                user = region if part is None else placement.enter(node, region, part, is_loop, may_fail)
                demands[child][user] = None
    for node in order:
        for region in placed[node]:
            placement.nodes.setdefault(region, []).append(node)
    return placement


class _Facts(Generic[N]):
    """For each node the loops whose state it depends on, and whether it must not run unasked."""

    def __init__(self, order: Sequence[N], shape: Shape[N]) -> None:
        self._needs: dict[N, frozenset[N]] = {}
        self._demanding: dict[N, bool] = {}
        self._hoists = shape.hoists
        owner = {parameter: node for node in order for parameter in shape.state(node) or ()}
        for node in order:
            children = [child for child, _ in shape.children(node)]
            needs: frozenset[N] = frozenset({owner[node]}) if node in owner else frozenset()
            for child in children:
                if not self._needs[child] <= needs:
                    needs |= self._needs[child]
            self._needs[node] = needs - {node}
            self._demanding[node] = shape.demanding(node) or any(self._demanding[child] for child in children)

    def demanding(self, node: N) -> bool:
        """Whether a node, or anything that it uses, must not run unasked."""
        return self._demanding[node]

    def settle(self, node: N, demands: list[Region[N]]) -> list[Region[N]]:
        """The regions in which `node` is computed, for the regions that need it."""
        pending, settled = [demands], []
        while pending:
            group = pending.pop()
            meet = _meet(group)
            if self._needs[node] <= meet.loops and (not self._demanding[node] or _certain(meet, group)):
                settled.append(self._hoist(node, meet))
                continue
            parts: dict[Region[N], list[Region[N]]] = {}
            for region in group:
                parts.setdefault(_below(meet, region), []).append(region)
            pending += parts.values()
        return settled

    def _hoist(self, node: N, region: Region[N]) -> Region[N]:
        while self._hoists and region.is_loop and region.parent is not None and region.owner not in self._needs[node]:
            if region.part and self._demanding[node]:
                break  # a loop's step may not run at all
            region = region.parent
        return region


def _meet(regions: Sequence[Region[N]]) -> Region[N]:
    """The deepest region that encloses all."""
    meet = regions[0]
    for region in regions[1:]:
        while meet is not region:
            deeper = meet if meet.depth >= region.depth else region
            parent = deeper.parent
            assert parent is not None, "regions of one program meet"
            meet, region = (parent, region) if deeper is meet else (meet, parent)
    return meet


def _below(outer: Region[N], region: Region[N]) -> Region[N]:
    """The part of `outer` in which `region` lies."""
    while region.parent is not outer:
        assert region.parent is not None, "the region lies within the other"
        region = region.parent
    return region


def _certain(meet: Region[N], demands: Sequence[Region[N]]) -> bool:
    """Whether every run of `meet` uses what `demands` need: directly, by a loop's condition, or by both branches."""
    certain: set[tuple[N | None, int, Region[N] | None]] = set()
    pending = list(demands)
    while pending:
        region = pending.pop()
        if region is meet:
            return True
        key = (region.owner, region.part, region.parent)
        if key in certain or region.parent is None:
            continue
        certain.add(key)
        other = (region.owner, 1 - region.part, region.parent)
        if (region.part == 0) if region.is_loop else (other in certain):
            pending.append(region.parent)
    return False
