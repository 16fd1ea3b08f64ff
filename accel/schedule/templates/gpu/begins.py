"""Where segments begin, as a nest of its own before the one that folds them: a scan of lengths runs in other groups than folds.

In: a nest whose outer loops carry running states, and whose innermost loop folds segments. Out: the nest of the running states,
which writes down what the rest asks of them, and the nest that is left, which reads that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accel.ir import mentions
from accel.ir.flow import needed, state_needs
from accel.ir.nodes import For, Level, LoopBody, ManyToOne, Nest, Read, Scatter, State, Stream, Write
from accel.ir.slices import needed_for
from accel.schedule.axes import loops
from accel.schedule.machine import WorkItems
from accel.schedule.templates.gpu.rewrite import Change, Made, around, changed, extents, slice_for, with_outputs
from accel.schedule.templates.gpu.segments import has_segments, segments


def by_begins(nest: Nest, made: Made, machine: WorkItems) -> tuple[Nest, Nest] | None:
    """Both nests; None if the second would not fold segments in groups."""
    every = loops(nest)
    outer, stores = list(every[:-1]), list(mentions.stores(nest))
    if not outer or not has_segments(nest) or nest.in_place or nest.counts:
        return None
    if any(isinstance(store, Scatter) for store in stores):
        return None
    sizes, steps, innermost = extents(outer), _steps(nest, outer), every[-1]
    if sizes is None or not steps or _asks(nest, steps, innermost):
        return None
    folded = [store for store in stores if _asks(nest, [store], innermost)]
    others = [store for store in stores if store not in folded]
    own, asked = Made(made.label, made.rooms.copy()), _asked(nest, steps, folded)
    place = tuple(loop.index for loop in outer)
    writes: dict[int, list[LoopBody]] = {}
    reads: dict[int, list[LoopBody]] = {}
    for step in steps:
        held = [(out, own.array(out.type, sizes)) for out in (*step.before, *step.after) if out in asked]
        writes[id(step)] = [step, *(Write(array, place, out) for out, array in held)]
        reads[id(step)] = [Read(out, array, place) for out, array in held]
    begins = changed(slice_for(_around(nest, outer[-1]), [*steps, *others]), Change(writes))
    rest = changed(nest, Change(reads, frozenset(step.state for step in steps)))
    rest = with_outputs(replace(rest, body=slice_for(rest, folded).body))
    if not any(segments(rest, machine)):
        return None
    made.rooms.update(own.rooms)
    return begins, rest


def _steps(nest: Nest, outer: Sequence[For]) -> list[ManyToOne]:
    """Those of the states of the outer loops; none unless all of these run through every iteration."""
    names = {state.name: state for loop in outer for state in loop.states}
    steps = [s for s in mentions.statements(nest) if isinstance(s, ManyToOne) and s.state in names]
    every = all(names[s.state].running and s.when is None and around(nest, s) == outer for s in steps)
    return steps if every and all(state in outer[0].states for state in names.values()) else []


def _asks(nest: Nest, roots: Sequence[LoopBody], innermost: For) -> bool:
    """Whether some statements need what the innermost loop makes."""
    found = needed_for(nest, roots)
    parts: list[LoopBody | State] = [*innermost.states, *innermost.body.before, *innermost.body.after]
    return any(id(part) in found for part in parts)


def _asked(nest: Nest, steps: Sequence[ManyToOne], folded: Sequence[LoopBody]) -> set[Stream]:
    """The streams that others than these steps need for what is folded."""
    found = needed_for(nest, folded) - set(map(id, steps))
    streams = {stream for s in mentions.statements(nest) if id(s) in found for stream in needed(s)}
    return streams | {stream for state in mentions.states(nest) if id(state) in found for stream in state_needs(state)}


def _around(nest: Nest, last: For) -> Nest:
    """The nest without the loops inside of the last one."""
    inner: Level | None = None
    for level in reversed(list(mentions.levels(nest))):
        loop = level.loop
        if inner is not None and loop is not None:
            inner = Level(level.before, replace(loop, body=inner), level.after)
        elif loop is last:
            inner = Level(level.before, replace(loop, body=replace(loop.body, loop=None)), level.after)
    assert inner is not None
    return replace(nest, body=inner)
