"""Loops that carry scans and positions, in chunks on several threads: each needs what all chunks before it came to.

In: a nest by rows. Out: a second nest of the same loops that finds out what a chunk comes to, without results: its *totals*.
Then carries are a chain of one step for each chunk, or block of 4096 where the order of scans wants it (`docs/order.md`), and
chunks run again with their carries, in any order. Of a fold behind a filter that is not exact the total is how many elements
it takes, so that a chunk knows where in a block of the order its first one stands.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir import flow, mentions
from accel.ir.counters import ONE, counter
from accel.ir.nodes import For, Level, LoopBody, ManyToOne, Nest, Scatter, State, Stream
from accel.schedule.nodes import Accumulation, Schedule
from accel.schedule.templates.rows import rows
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Chain:
    """How a nest's outermost loop becomes a chain.

    totals: by rows, the nest that steps the running states alone, with the same names, loops and streams, and writes nothing.
    blocks: whether totals are those of blocks of 4096, because a scan is not exact. counted: the folds of whose elements the
    totals are counts, under the folds' names.
    """

    totals: Schedule
    blocks: bool
    counted: frozenset[str] = frozenset()


def chain(by_rows: Schedule) -> Chain | None:
    """The chain of a nest whose outermost loop has running or counted states; None if none, or if one depends on another.

    No scatters. States that combine in an order, running or not, must be stepped by the outermost loop itself, in each
    iteration or in the first ones: so chunks of whole blocks are whole blocks of the order. Or they are folds whose elements
    are stored until they are a block, by a loop that has none inside: these are counted.
    """
    nest, loop = by_rows.nest, by_rows.nest.body.loop
    if loop is None or any(isinstance(statement, Scatter) for statement in mentions.statements(nest)):
        return None
    running = [state for state in loop.states if state.running]
    counted = frozenset(state.name for state in loop.states if _is_counted(by_rows, loop, state))
    names = {state.name for state in running} | counted
    if not names or not all(steps_blocks(loop, state) or state.name in counted for state in loop.states):
        return None
    every = mentions.loops(nest)
    loops = [_counting(each, counted) for each in every]
    running = [state for state in loops[0].states if state.running]
    dependent = _dependent(loops, names)
    if any(_needs(step, dependent) for state in running for step in _steps(loops, state)):
        return None
    without_results = _without_results(loops, names)
    if without_results is None:
        return None
    totals = rows(Nest(nest.label, Level((), without_results, ()), (), (), ()))
    kept = {name: by_rows.accumulation(name) for name in names - counted}
    if any(each is not Accumulation.VALUE for each in (*kept.values(), *map(totals.accumulation, names))):
        return None
    return Chain(totals, any(not state.monoid.exact for state in running), counted)


def _is_counted(by_rows: Schedule, loop: For, state: State) -> bool:
    """Whether a chunk of the loop may begin within a block of the fold: it has none inside, and one step, with a condition."""
    if state.running or loop.body.loop is not None or state.when is not None or steps_blocks(loop, state):
        return False
    (step,) = _steps([loop], state)
    return step.when is not None and by_rows.accumulation(state.name) is Accumulation.STAGED


def _counting(loop: For, counted: Set[str]) -> For:
    """The loop with counters in place of these folds."""
    if not counted:
        return loop

    def instead(statement: LoopBody) -> LoopBody:
        if isinstance(statement, ManyToOne) and statement.state in counted:
            return replace(statement, values=ONE, before=(), after=())
        return statement

    states = [counter(Stream(s.name, I64), True, None) if s.name in counted else s for s in loop.states]
    body = Level(tuple(map(instead, loop.body.before)), loop.body.loop, tuple(map(instead, loop.body.after)))
    return replace(loop, states=tuple(states), body=body)


def steps_blocks(loop: For, state: State) -> bool:
    """Whether blocks of the loop's iterations are blocks of what the state combines, or it combines in any order."""
    if state.monoid.exact:
        return True
    prefixes = flow.prefixes(loop)
    return any(
        isinstance(s, ManyToOne) and s.state == state.name and (s.when is None or s.when.name in prefixes)
        for s in (*loop.body.before, *loop.body.after)
    )


def _needs(statement: LoopBody, streams: set[str]) -> bool:
    return any(stream.name in streams for stream in flow.needed(statement))


def _in_order(loops: Sequence[For]) -> list[LoopBody]:
    """The statements of loops, outermost first, in the order in which an iteration meets them."""
    before = [statement for loop in loops for statement in loop.body.before]
    return before + [statement for loop in reversed(loops) for statement in loop.body.after]


def _dependent(loops: Sequence[For], names: set[str]) -> set[str]:
    """The streams and inner states that depend on what these states hold while their loop runs."""
    found: set[str] = set()
    while True:
        size = len(found)
        for statement in _in_order(loops):
            steps = isinstance(statement, ManyToOne) and statement.state in names
            if steps or _needs(statement, found):
                found.update(stream.name for stream in flow.made(statement))
            if isinstance(statement, ManyToOne) and not steps and _needs(statement, found):
                found.add(statement.state)
        for number, loop in enumerate(loops[1:], 1):
            several = isinstance(loop.extent, Stream) and loop.extent.name in found
            if several:
                inside = _in_order(loops[number:])
                found.update([loop.index.name, *(stream.name for s in inside for stream in flow.made(s))])
            for state in loop.states:
                if several or state.name in found or any(stream.name in found for stream in flow.state_needs(state)):
                    found.update(final.name for final in state.finals)
                    found.update(stream.name for s in _steps(loops, state) for stream in flow.made(s))
        if len(found) == size:
            return found


def _steps(loops: Sequence[For], state: State) -> list[LoopBody]:
    return [s for s in _in_order(loops) if isinstance(s, ManyToOne) and s.state == state.name]


def _without_results(loops: Sequence[For], names: set[str]) -> For | None:
    """The outermost loop with all that these states are stepped with, and nothing else."""
    needed: set[str] = set()
    held = set(names)
    while True:
        size = len(needed), len(held)
        for statement in reversed(_in_order(loops)):
            if _is_needed(statement, needed, held):
                needed.update(stream.name for stream in flow.needed(statement))
                if isinstance(statement, ManyToOne):
                    held.add(statement.state)
        for number, loop in enumerate(loops):
            for state in loop.states:
                if any(final.name in needed for final in state.finals):
                    held.add(state.name)
                if state.name in held - names:
                    needed.update(stream.name for stream in flow.state_needs(state))
            inside = _in_order(loops[number:])
            if isinstance(loop.extent, Stream) and any(_is_needed(s, needed, held) for s in inside):
                needed.add(loop.extent.name)
        if size == (len(needed), len(held)):
            break
    if any(state.name in held - names for state in loops[0].states):
        return None
    return _rebuilt(loops, needed, held, names)


def _is_needed(statement: LoopBody, needed: set[str], held: set[str]) -> bool:
    if isinstance(statement, ManyToOne) and statement.state in held:
        return True
    return any(stream.name in needed for stream in flow.made(statement))


def _rebuilt(loops: Sequence[For], needed: set[str], held: set[str], names: set[str]) -> For | None:
    """The loops with what is needed."""
    inner: For | None = None
    for loop in reversed(loops):
        before = tuple(_bare(s, names) for s in loop.body.before if _is_needed(s, needed, held))
        after = tuple(_bare(s, names) for s in loop.body.after if _is_needed(s, needed, held))
        states = tuple(_folded(state, loops, names) for state in loop.states if state.name in held)
        body = Level(before, inner, after)
        inner = replace(loop, states=states, body=body) if before or after or inner or states else None
    return inner


def _bare(statement: LoopBody, names: set[str]) -> LoopBody:
    """The statement; a step of one of the states without what it gives."""
    if isinstance(statement, ManyToOne) and statement.state in names:
        return replace(statement, before=(), after=())
    return statement


def _folded(state: State, loops: Sequence[For], names: set[str]) -> State:
    """Of these states, an exact one that is no position as a fold, which does less than a scan."""
    if state.name not in names or not state.monoid.exact or state.monoid.neutral is None:
        return state
    counts = state.monoid.operators == (Operator.ADD,) and all(
        isinstance(step, ManyToOne) and step.values == ONE for step in _steps(loops, state)
    )
    return state if counts else replace(state, running=False)
