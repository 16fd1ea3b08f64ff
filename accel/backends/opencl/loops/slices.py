"""Which statements a kernel needs, and how the states of a loop depend on each other.

A schedule of several kernels runs the loop several times: each time with just the statements that lead to what this kernel
computes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from accel.ir import mentions
from accel.ir.flow import made, needed
from accel.ir.nodes import LoopBody, ManyToOne, Nest, Scatter, State, Stream, Write
from accel.ir.slices import backward_slice


def steps(nest: Nest) -> Mapping[str, ManyToOne]:
    """The statement that steps each state."""
    return {s.state: s for s in mentions.statements(nest) if isinstance(s, ManyToOne)}


def stores(nest: Nest) -> Iterator[LoopBody]:
    """The statements that write to memory."""
    return (s for s in mentions.statements(nest) if isinstance(s, Write | Scatter))


def needed_for(nest: Nest, roots: Iterable[LoopBody | State]) -> frozenset[int]:
    """The identities of the roots and of all statements and states that they, and the loops, need."""
    bounds = [level.loop.extent for level in mentions.levels(nest) if level.loop]
    streams = [extent for extent in bounds if isinstance(extent, Stream)]
    return backward_slice(mentions.statements(nest), mentions.states(nest), [*roots, *streams])


def rounds(nest: Nest, states: Collection[State]) -> list[list[State]] | None:
    """The running ones of `states` by how many others must be known first; None if one depends on itself."""
    running = [state for state in states if state.running]
    needs = {state.name: _running_before(nest, state, running) for state in running}
    done: list[list[State]] = []
    known: set[str] = set()
    while len(known) < len(running):
        ready = [state for state in running if state.name not in known and needs[state.name] <= known]
        if not ready:
            return None
        done.append(ready)
        known.update(state.name for state in ready)
    return done


def _running_before(nest: Nest, state: State, running: Collection[State]) -> set[str]:
    """The running states whose values lead to a step of `state`; itself if its own value does."""
    step = steps(nest)[state.name]
    makers = {stream.name: s for s in mentions.statements(nest) for stream in made(s)}
    direct = [makers[stream.name] for stream in needed(step) if stream.name in makers]
    lead = needed_for(nest, direct)
    stepping = steps(nest)
    return {other.name for other in running if id(stepping[other.name]) in lead}
