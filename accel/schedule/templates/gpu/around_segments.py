"""What stands around folds of segments, as nests of its own: where segments begin, before them; after them what is made of what
they come to. Scans of lengths, folds of segments and folds of their results run in groups of different shapes.

In: a nest whose innermost loop folds segments, and whose outer loops carry states. Out: nests that follow each other; each
writes down what the next ones ask of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accel.ir import mentions
from accel.ir.flow import needed, state_needs
from accel.ir.mentions import loops
from accel.ir.nodes import For, Level, LoopBody, ManyToOne, Nest, Read, Scatter, State, Stream, Write
from accel.ir.slices import needed_for
from accel.schedule.machine import WorkItems
from accel.schedule.templates.gpu.rewrite import Change, Made, around, changed, extents, slice_for, with_outputs
from accel.schedule.templates.gpu.segments import has_segments, segments


def around_segments(nest: Nest, machine: WorkItems) -> tuple[list[Nest], Made]:
    """The nests that follow each other, and the arrays that they share; the nest alone if nothing of it stands around folds of
    segments that groups would fold."""
    if len(loops(nest)) > 1 and has_segments(nest):
        made = Made(nest.label)
        folds, *taking = _results_apart(nest, made)
        *finding, folds = _begins_apart(folds, made)
        if any(segments(folds, machine)):
            return [*finding, folds, *taking], made
    return [nest], Made(nest.label)


def _results_apart(nest: Nest, made: Made) -> tuple[Nest, ...]:
    """The nest up to what segments come to, and that of what takes it; the nest alone if nothing does."""
    *outer, innermost = loops(nest)
    sizes = extents(outer)
    running = {state.name for loop in outer for state in loop.states if state.running}
    steps = [s for s in _outer_steps(nest, outer) if s.state not in running or _asks(nest, [s], innermost)]
    stores = list(mentions.stores(nest))
    late = [store for store in stores if isinstance(store, Scatter) or _needs(nest, [store], steps)]
    early = [store for store in stores if isinstance(store, Write) and store not in late]
    shared = {array for pair in nest.in_place for array in pair}
    if sizes is None or not (steps or late) or any(store.array in shared for store in early) or (nest.counts and early):
        return (nest,)
    place = tuple(loop.index for loop in outer)
    asked = _asked(nest, (), [*steps, *late])
    there = {store.value: store.array for store in early if store.index == place and store.when is None}
    held = {
        f: there.get(f) or made.array(f.type, sizes) for state in innermost.states for f in state.finals if f in asked
    }
    writes = [Write(array, place, final) for final, array in held.items() if final not in there]
    gone = Change(
        {id(each): () for each in (*steps, *late)}, frozenset(s.state for s in steps), behind_innermost=writes
    )
    folds = changed(replace(nest, in_place=(), counts=()), gone)
    folds = with_outputs(replace(folds, body=slice_for(folds, [*early, *writes]).body))
    taking = _around(nest, outer[-1], [Read(final, array, place) for final, array in held.items()])
    return folds, with_outputs(replace(taking, body=slice_for(taking, [*steps, *late]).body))


def _begins_apart(nest: Nest, made: Made) -> tuple[Nest, ...]:
    """The nest that finds where segments begin, and that which folds them; the nest alone if no state says where."""
    every = loops(nest)
    outer, stores = list(every[:-1]), list(mentions.stores(nest))
    sizes, steps = extents(outer), _steps(nest, outer)
    if nest.in_place or nest.counts or any(isinstance(store, Scatter) for store in stores):
        return (nest,)
    if sizes is None or not steps or _asks(nest, steps, every[-1]):
        return (nest,)
    folded = [store for store in stores if _asks(nest, [store], every[-1])]
    others = [store for store in stores if store not in folded]
    asked, place = _asked(nest, steps, folded), tuple(loop.index for loop in outer)
    writes: dict[int, list[LoopBody]] = {}
    reads: dict[int, list[LoopBody]] = {}
    for step in steps:
        held = [(out, made.array(out.type, sizes)) for out in (*step.before, *step.after) if out in asked]
        writes[id(step)] = [step, *(Write(array, place, out) for out, array in held)]
        reads[id(step)] = [Read(out, array, place) for out, array in held]
    finding = changed(slice_for(_around(nest, outer[-1]), [*steps, *others]), Change(writes))
    folds = changed(nest, Change(reads, frozenset(step.state for step in steps)))
    return finding, with_outputs(replace(folds, body=slice_for(folds, folded).body))


def _outer_steps(nest: Nest, outer: Sequence[For]) -> list[ManyToOne]:
    names = {state.name for loop in outer for state in loop.states}
    return [s for s in mentions.statements(nest) if isinstance(s, ManyToOne) and s.state in names]


def _steps(nest: Nest, outer: Sequence[For]) -> list[ManyToOne]:
    """Those of the states of the outer loops; none unless all of these run through every iteration."""
    names, steps = {state.name: state for loop in outer for state in loop.states}, _outer_steps(nest, outer)
    every = all(names[s.state].running and s.when is None and around(nest, s) == outer for s in steps)
    return steps if every and all(state in outer[0].states for state in names.values()) else []


def _asks(nest: Nest, roots: Sequence[LoopBody], innermost: For) -> bool:
    """Whether some statements need what the innermost loop makes."""
    return _needs(nest, roots, [*innermost.states, *innermost.body.before, *innermost.body.after])


def _needs(nest: Nest, roots: Sequence[LoopBody], parts: Sequence[LoopBody | State]) -> bool:
    """Whether some statements need any of these parts."""
    found = needed_for(nest, roots)
    return any(id(part) in found for part in parts)


def _asked(nest: Nest, steps: Sequence[ManyToOne], folded: Sequence[LoopBody]) -> set[Stream]:
    """The streams that others than these steps need for what is folded."""
    found = needed_for(nest, folded) - set(map(id, steps))
    streams = {stream for s in mentions.statements(nest) if id(s) in found for stream in needed(s)}
    return streams | {stream for state in mentions.states(nest) if id(state) in found for stream in state_needs(state)}


def _around(nest: Nest, last: For, instead: Sequence[LoopBody] = ()) -> Nest:
    """The nest without the loops inside of the last one, and with some statements instead."""
    inner: Level | None = None
    for level in reversed(list(mentions.levels(nest))):
        loop = level.loop
        if inner is not None and loop is not None:
            inner = Level(level.before, replace(loop, body=inner), level.after)
        elif loop is last:
            body = Level((*loop.body.before, *instead), None, loop.body.after)
            inner = Level(level.before, replace(loop, body=body), level.after)
    assert inner is not None
    return replace(nest, body=inner)
