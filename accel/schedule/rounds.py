"""Loops that carry running states, in blocks: what each block comes to is found first, in rounds, then what all make.

In: a nest and an axis of it. Out: its running states by rounds, and with them the folds of what is kept, whose elements are
counted. A state whose steps need what another one holds while it runs is totalled one round later, when that one can be resumed
in each block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ir import mentions
from accel.ir.flow import made, needed
from accel.ir.nodes import LoopBody, Nest
from accel.ir.slices import needed_alone
from accel.schedule.nodes import Axis, Carried, Role


def rounds(nest: Nest, axis: Axis, carried: Sequence[Carried]) -> tuple[tuple[str, ...], ...] | None:
    """These states of an axis by how many others must be known first; None if one depends on itself."""
    running = {each.state.name: each for each in carried if each.role is Role.CHAIN and each.by(axis.depths)}
    makers = {stream.name: s for s in mentions.statements(nest) for stream in made(s)}
    needs = {name: _before(nest, each, makers, running) for name, each in running.items()}
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
    nest: Nest, each: Carried, makers: Mapping[str, LoopBody], running: Mapping[str, Carried]
) -> frozenset[str]:
    """The states whose values lead to what must be known of one; that one itself if its own value does."""
    counted = [] if each.step.when is None else [each.step.when]
    streams = needed(each.step) if each.state.running else counted
    lead = needed_alone(nest, [makers[stream.name] for stream in streams if stream.name in makers])
    return frozenset(name for name, other in running.items() if id(other.step) in lead)
