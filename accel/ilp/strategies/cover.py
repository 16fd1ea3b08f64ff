"""The cheapest cover of a part of the graph by legal clusters, whatever these cost.

The bound is the dual one of covering: every operation gets a share, so that no cluster costs less than the shares of its
members together. Any cover costs all shares and what its clusters cost beyond them, which is never negative: so a search
that adds clusters only gets more expensive, and clusters that cost too much beyond their shares are never tried.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from accel.ilp.problem.clustering import Cluster
from accel.ilp.strategies.candidates import Candidate, Neighbours, places
from accel.support.dataclass import dataclass

_ROUNDS = 20
"""How often shares are raised at most: after a few rounds hardly anything changes."""


@dataclass(frozen=True, slots=True)
class Cover:
    """The best cover that was found, and whether there is no cheaper one."""

    clusters: tuple[Cluster, ...]
    proved: bool


@dataclass(frozen=True, slots=True)
class _Option:
    """A candidate, and what it costs beyond the shares of its members, all levels in one number."""

    candidate: Candidate
    beyond: int


_Step: TypeAlias = tuple[int, int, tuple[_Option, ...], list[_Option]]
"""What is covered, what that costs beyond the shares, by which options, and which are left."""


def cover(near: Neighbours, legal: Sequence[Candidate], incumbent: Sequence[Cluster], deadline: float) -> Cover:
    """The cheapest cover by legal clusters that do not wait for each other, or the best that was found in time.

    `incumbent`: some such cover. Depth first, the cheapest options first.
    """
    everything = (1 << len(near.labels)) - 1
    options = _options(near, legal)
    known = {cluster.labels for cluster in incumbent}
    best = tuple(option for option in options if option.candidate.cluster.labels in known)
    assert len(best) == len(incumbent), "every legal cluster is a candidate"
    least = sum(option.beyond for option in best)
    stack = [_steps(near, (0, 0, (), options))]
    while stack and time.monotonic() <= deadline:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
            continue
        done, beyond, chosen, left = step
        if beyond < least and done == everything:
            best, least = chosen, beyond
        elif beyond < least:
            useful = [option for option in left if beyond + option.beyond < least]
            stack.append(_steps(near, (done, beyond, chosen, useful)))
    return Cover(tuple(option.candidate.cluster for option in best), not stack)


def _steps(near: Neighbours, step: _Step) -> Iterator[_Step]:
    """One option more: for the operation that has the fewest left, each of them that does not wait for itself."""
    done, beyond, chosen, left = step
    of: dict[int, list[_Option]] = {place: [] for place in range(len(near.labels)) if not done >> place & 1}
    for option in left:
        for place in places(option.candidate.members):
            of[place].append(option)
    for option in min(of.values(), key=len):
        members = option.candidate.members
        if not _waits_for_itself(near, (*chosen, option)):
            rest = [other for other in left if not other.candidate.members & members]
            yield done | members, beyond + option.beyond, (*chosen, option), rest


def _waits_for_itself(near: Neighbours, chosen: Sequence[_Option]) -> bool:
    """Whether the last of some clusters depends on itself, through the others and through operations in none of them."""
    group = {place: option.candidate.members for option in chosen for place in places(option.candidate.members)}
    start = chosen[-1].candidate.members
    seen, pending = start, near.behind(start) & ~start
    while pending:
        place = pending.bit_length() - 1
        members = group.get(place, 1 << place)
        behind = near.behind(members)
        if behind & start:
            return True
        seen |= members
        pending = (pending | behind) & ~seen
    return False


def _options(near: Neighbours, legal: Sequence[Candidate]) -> list[_Option]:
    """The candidates, those first that cost least beyond the shares."""
    costs = _packed([candidate.cost for candidate in legal], len(near.labels))
    members = [list(places(candidate.members)) for candidate in legal]
    shares = _shares(len(near.labels), members, costs)
    beyond = [cost - sum(shares[place] for place in each) for cost, each in zip(costs, members, strict=True)]
    return sorted(map(_Option, legal, beyond), key=lambda option: option.beyond)


def _packed(costs: Sequence[tuple[int, ...]], most: int) -> list[int]:
    """Costs as single numbers whose sums, of `most` at most, compare as the sums of the costs do."""
    packed = [0] * len(costs)
    for level in range(max(map(len, costs))):
        values = [cost[level] if cost else 0 for cost in costs]
        # Two sums of a level differ by less than this: so what stands before it outweighs it.
        base = 2 * most * max(map(abs, values)) + 1
        packed = [high * base + low for high, low in zip(packed, values, strict=True)]
    return packed


def _shares(count: int, members: Sequence[Sequence[int]], costs: Sequence[int]) -> list[int]:
    """For each of `count` operations a share, so that no candidate costs less than the shares of its members."""
    around: list[list[int]] = [[] for _ in range(count)]
    for number, each in enumerate(members):
        for place in each:
            around[place].append(number)
    shares = [min(costs[number] // len(members[number]) for number in numbers) for numbers in around]
    slack = [cost - sum(shares[place] for place in each) for cost, each in zip(costs, members, strict=True)]
    for _ in range(_ROUNDS):
        raised = False
        for place, numbers in enumerate(around):
            more = min(slack[number] for number in numbers)
            shares[place] += more
            raised = raised or more > 0
            for number in numbers:
                slack[number] -= more
        if not raised:
            break
    return shares
