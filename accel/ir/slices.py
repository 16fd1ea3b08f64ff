"""Backward slices: what some statements of a nest need, so that the rest may go, or run in another kernel."""

from __future__ import annotations

from collections.abc import Iterable

from accel.ir import mentions
from accel.ir.flow import made, needed, state_needs
from accel.ir.nodes import For, LoopBody, ManyToOne, Nest, State, Stream


def backward_slice(
    statements: Iterable[LoopBody], states: Iterable[State], roots: Iterable[LoopBody | State | Stream]
) -> frozenset[int]:
    """The identities of the roots and of all `statements` and `states` that they need."""
    by_name = {state.name: state for state in states}
    makers: dict[str, LoopBody | State] = {f.name: state for state in by_name.values() for f in state.finals}
    steps: dict[str, LoopBody] = {}
    for statement in statements:
        makers.update((stream.name, statement) for stream in made(statement))
        if isinstance(statement, ManyToOne):
            steps[statement.state] = statement
    found: set[int] = set()
    pending = list(roots)
    while pending:
        part = pending.pop()
        if isinstance(part, Stream):
            pending += [makers[part.name]] if part.name in makers else []
            continue
        if id(part) in found:
            continue
        found.add(id(part))
        if isinstance(part, State):
            pending += [*state_needs(part), *([steps[part.name]] if part.name in steps else [])]
        else:
            pending += [*needed(part), *([by_name[part.state]] if isinstance(part, ManyToOne) else [])]
    return frozenset(found)


def needed_for(nest: Nest, roots: Iterable[LoopBody | State]) -> frozenset[int]:
    """The identities of the roots and of all statements and states that they, and the loops, need."""
    bounds = [level.loop.extent for level in mentions.levels(nest) if level.loop]
    streams = [extent for extent in bounds if isinstance(extent, Stream)]
    return backward_slice(mentions.statements(nest), mentions.states(nest), [*roots, *streams])


def needed_alone(nest: Nest, roots: Iterable[LoopBody | State]) -> frozenset[int]:
    """The identities of the roots and of all statements and states that they need, and the loops around any of these: loops
    inside of which nothing is needed do not run."""
    levels = list(mentions.levels(nest))
    parts: list[LoopBody | State | Stream] = list(roots)
    while True:
        found = backward_slice(mentions.statements(nest), mentions.states(nest), parts)
        bounds = [
            level.loop.extent
            for depth, level in enumerate(levels)
            if level.loop is not None
            and isinstance(level.loop.extent, Stream)
            and holds_any(level.loop, found)
            and level.loop.extent not in parts
        ]
        if not bounds:
            return found
        parts += bounds


def holds_any(loop: For, found: frozenset[int]) -> bool:
    """Whether one of these statements or states is a loop's own, or stands somewhere inside of it."""
    inside: For | None = loop
    while inside is not None:
        if any(id(part) in found for part in (*inside.states, *inside.body.before, *inside.body.after)):
            return True
        inside = inside.body.loop
    return False
