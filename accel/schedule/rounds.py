"""Loops that carry running states, in blocks: what each block comes to is found first, in rounds, then what all make.

In: a nest and an axis of it. Out: its running states by rounds. A state whose steps need what another one holds while it runs
is totalled one round later, when that one can be resumed in each block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ir import mentions
from accel.ir.flow import made, needed
from accel.ir.nodes import LoopBody, ManyToOne, Nest
from accel.ir.slices import needed_for
from accel.schedule.nodes import Axis, Carried


def rounds(nest: Nest, axis: Axis, carried: Sequence[Carried]) -> tuple[tuple[str, ...], ...] | None:
    """The running states of an axis by how many others must be known first; None if one depends on itself."""
    running = {each.state.name: each.step for each in carried if each.state.running and each.by(axis.depths)}
    makers = {stream.name: s for s in mentions.statements(nest) for stream in made(s)}
    needs = {name: _before(nest, step, makers, running) for name, step in running.items()}
    done: list[tuple[str, ...]] = []
    known: set[str] = set()
    while len(known) < len(running):
        ready = tuple(name for name in running if name not in known and needs[name] <= known)
        if not ready:
            return None
        done.append(ready)
        known.update(ready)
    return tuple(done)


def _before(
    nest: Nest, step: ManyToOne, makers: Mapping[str, LoopBody], running: Mapping[str, ManyToOne]
) -> frozenset[str]:
    """The running states whose values lead to a step; the stepped one itself if its own value does."""
    lead = needed_for(nest, [makers[stream.name] for stream in needed(step) if stream.name in makers])
    return frozenset(name for name, other in running.items() if id(other) in lead)
