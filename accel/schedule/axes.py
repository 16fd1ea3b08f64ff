"""What a nest's loops carry and what its streams depend on: the facts that rules and templates ask.

In: a nest. Out: its axes with their roles; for each stream the loops on which it depends; for each read and write which
loop's index stands in which dimension. Loops are named by their depth: how many stand around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from accel.ir import flow, mentions
from accel.ir.mentions import loops
from accel.ir.nodes import Level, LoopBody, ManyToOne, Nest, Operand, Read, Scatter, State, Stream, Write
from accel.labelled.array import Array
from accel.schedule.nodes import Accumulation, Axis, Carried, Loop, Role
from accel.support.dataclass import dataclass


def carried(nest: Nest) -> tuple[Carried, ...]:
    """All states, outermost loop first."""
    steps: dict[str, tuple[int, ManyToOne]] = {}
    for depth, level in enumerate(mentions.levels(nest)):
        for statement in (*level.before, *level.after):
            if isinstance(statement, ManyToOne):
                steps[statement.state] = depth - 1, statement
    found = []
    every = loops(nest)
    for first, loop in enumerate(every):
        for state in loop.states:
            last, step = steps[state.name]
            whole = step.when is None or step.when == state.when
            prefix = step.when is not None and step.when.name in flow.numbering(every[first : last + 1])
            found.append(Carried(state, step, first, last, whole or prefix))
    return tuple(found)


def axes(nest: Nest, states: Sequence[Carried]) -> tuple[Axis, ...]:
    """An axis for each loop, given what `carried` finds."""
    order = list(Role)
    found = []
    for depth, loop in enumerate(loops(nest)):
        roles = [each.role for each in states if each.by([depth])]
        roles += [Role.EXACT if s.monoid.exact else Role.CHAIN for s in _scatters(loop.body)]
        role = max(roles, key=order.index, default=Role.MAP)
        found.append(Axis((Loop(depth, loop.index, loop.extent, loop.direction),), role))
    return tuple(found)


def _scatters(level: Level | None) -> Iterator[Scatter]:
    while level is not None:
        yield from (s for s in (*level.before, *level.after) if isinstance(s, Scatter))
        level = level.loop.body if level.loop is not None else None


def in_nest_order(state: State) -> Accumulation:
    """How a state is kept where elements come one by one in the nest's own order."""
    if state.monoid.exact:
        return Accumulation.VALUE
    if state.running:
        return Accumulation.SCAN
    return Accumulation.LANES if state.monoid.commutes else Accumulation.RUNS


def in_whole_blocks(fold: State) -> Accumulation:
    """How a fold is kept whose elements are what lanes come to: all those of a block of its order are there together."""
    return Accumulation.VALUE if fold.monoid.exact else Accumulation.BLOCKS


def dependence(nest: Nest) -> Mapping[str, frozenset[int]]:
    """For each stream the depths of the loops on whose iteration its value depends.

    An index depends on its loop; what a statement binds on what the statement needs; a state while it runs on all that its
    steps need, and on the loops that carry it; its final value no more on these. What is bound comes after what it needs.
    What a part of a nest does not make itself depends on none of its loops.
    """
    found: dict[str, frozenset[int]] = {}
    levels = list(mentions.levels(nest))
    states = {each.state.name: each for each in carried(nest)}
    for depth, level in enumerate(levels):
        for statement in level.before:
            _bind(statement, states, found, levels)
        if level.loop is not None:
            found[level.loop.index.name] = frozenset({depth})
    for depth in reversed(range(len(levels))):
        loop = levels[depth].loop
        for state in loop.states if loop is not None else ():
            each = states[state.name]
            inside = _of(flow.needed(each.step), found) | _extents(levels, each, found)
            final = (inside - frozenset(range(depth, each.last + 1))) | _of(flow.state_needs(state), found)
            found.update((stream.name, final) for stream in state.finals)
        for statement in levels[depth].after:
            _bind(statement, states, found, levels)
    return found


def _bind(
    statement: LoopBody, states: Mapping[str, Carried], found: dict[str, frozenset[int]], levels: Sequence[Level]
) -> None:
    needs = _of(flow.needed(statement), found)
    if isinstance(statement, ManyToOne) and (statement.before or statement.after):
        each = states[statement.state]
        needs |= frozenset(range(each.first, each.last + 1)) | _of(flow.state_needs(each.state), found)
        needs |= _extents(levels, each, found)
    found.update((stream.name, needs) for stream in flow.made(statement))


def _extents(levels: Sequence[Level], each: Carried, found: Mapping[str, frozenset[int]]) -> frozenset[int]:
    """What decides how many elements a state has."""
    inside = [level.loop.extent for level in levels[each.first : each.last + 1] if level.loop is not None]
    return _of([extent for extent in inside if isinstance(extent, Stream)], found)


def _of(streams: Iterable[Stream], found: Mapping[str, frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*(found.get(stream.name, frozenset()) for stream in streams))


@dataclass(frozen=True, slots=True)
class Access:
    """A read or write of `array`.

    plain: for each dimension, the depth of the loop whose index stands there; None for all else. depends: for each dimension,
    the depths of the loops on which the index there depends.
    """

    array: Array
    writes: bool
    plain: tuple[int | None, ...]
    depends: tuple[frozenset[int], ...]


def accesses(nest: Nest) -> tuple[Access, ...]:
    """The reads and writes at indices that are statements' own, in order; what scalar functions load is not among them."""
    found, indices = dependence(nest), {loop.index: depth for depth, loop in enumerate(loops(nest))}

    def plain(operand: Operand) -> int | None:
        return indices.get(operand) if isinstance(operand, Stream) else None

    def depends(operand: Operand) -> frozenset[int]:
        return found[operand.name] if isinstance(operand, Stream) else frozenset()

    return tuple(
        Access(s.array, isinstance(s, Write), tuple(map(plain, s.index)), tuple(map(depends, s.index)))
        for s in mentions.statements(nest)
        if isinstance(s, Read | Write)
    )
