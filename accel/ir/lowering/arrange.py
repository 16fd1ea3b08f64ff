"""From a draft to a level: statements ordered by what they need, before or after the loop.

The loop of a level counts as one statement: it makes its states' finals, and needs what stands below needs. What does
not need the loop stands before it, what does after it; if the loop itself needs something that stands after it, the draft
would take two loops at one depth, and is refused (`xs - replicate(rowmax)` would be such a draft).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from accel.errors import AccelInternalError
from accel.ir.flow import made, needed, state_needs
from accel.ir.lowering.draft import Draft, DraftLevel
from accel.ir.lowering.frame import Loop
from accel.ir.nodes import For, Level, LoopBody, Stream


def arrange(nest: Draft, loops: Sequence[Loop]) -> Level:
    """The nest as levels, innermost last. Raises `AccelInternalError` where two loops would stand at one depth."""
    inner: Level | None = None
    wanted: frozenset[str] = frozenset()
    for depth in range(len(nest.levels) - 1, -1, -1):
        draft = nest.levels[depth]
        loop = None
        if inner is not None:
            frame = loops[depth]
            states = tuple(draft.states.values())
            loop = For(frame.index, frame.turns, frame.direction, states, inner)
            wanted = wanted.union([loop.extent.name] if isinstance(loop.extent, Stream) else [])
            wanted = wanted.union(stream.name for state in states for stream in state_needs(state))
        inner, wanted = _level(draft, loop, wanted)
    if inner is None:
        raise AccelInternalError("a nest without statements")
    return inner


def _level(draft: DraftLevel, loop: For | None, wanted: frozenset[str]) -> tuple[Level, frozenset[str]]:
    """One level around `loop`, which needs `wanted`; and what the level itself needs from outside."""
    statements = list(draft.statements.values())
    makers = {stream.name: place for place, statement in enumerate(statements) for stream in made(statement)}
    finals = frozenset(stream.name for state in loop.states for stream in state.finals) if loop else frozenset[str]()
    needs = [{stream.name for stream in needed(statement)} for statement in statements]
    late = _dependents(needs, makers, statements, finals)
    if any(makers.get(name) in late for name in wanted):
        raise AccelInternalError("a loop needs what another loop at its depth makes: they cannot share a nest")
    order = _topological(needs, makers)
    before = tuple(statements[place] for place in order if place not in late)
    after = tuple(statements[place] for place in order if place in late)
    outside = wanted.union(*needs) - makers.keys() - finals if needs else wanted
    if loop is not None:
        outside -= {loop.index.name}
    return Level(before, loop, after), outside


def _users(needs: Sequence[Iterable[str]]) -> dict[str, list[int]]:
    users: dict[str, list[int]] = {}
    for place, names in enumerate(needs):
        for name in names:
            users.setdefault(name, []).append(place)
    return users


def _dependents(
    needs: Sequence[Iterable[str]], makers: dict[str, int], statements: Sequence[LoopBody], finals: frozenset[str]
) -> frozenset[int]:
    """The statements that need what the loop makes, directly or not."""
    users = _users(needs)
    late: set[int] = set()
    pending = [place for name in finals for place in users.get(name, ())]
    while pending:
        place = pending.pop()
        if place not in late:
            late.add(place)
            pending += [user for stream in made(statements[place]) for user in users.get(stream.name, ())]
    return frozenset(late)


def _topological(needs: Sequence[Iterable[str]], makers: dict[str, int]) -> list[int]:
    """The places of statements, makers before users, otherwise as they stand."""
    sources = [{makers[name] for name in names if name in makers} for names in needs]
    waiting = [len(some) for some in sources]
    users: list[list[int]] = [[] for _ in needs]
    for place, some in enumerate(sources):
        for source in some:
            users[source].append(place)
    ready = [place for place, count in enumerate(waiting) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        place = heappop(ready)
        order.append(place)
        for user in users[place]:
            waiting[user] -= 1
            if not waiting[user]:
                heappush(ready, user)
    if len(order) < len(needs):
        raise AccelInternalError("statements of one level need each other")
    return order
