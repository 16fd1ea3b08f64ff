"""Folds and scans of what is kept, as nests that follow each other: elements that iterations do not number are packed first.

In: a nest, and a state of its outermost loop whose elements have an order but no numbers. Out: the nest that packs them, one
that folds or scans what is packed, whose elements its iterations number, and the nest itself, which reads results where it had
steps. Elements are counted as they are kept, by a state that any order serves.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import BOOL, I64
from accel.ir import mentions
from accel.ir.counters import ONE, counter
from accel.ir.flow import state_needs
from accel.ir.nodes import (
    For,
    Level,
    LoopBody,
    LoopDirection,
    ManyToOne,
    Nest,
    Operand,
    Read,
    State,
    Stream,
    Within,
    Write,
)
from accel.ir.slices import backward_slice
from accel.labelled.array import Array, Extent
from accel.schedule.nodes import Carried
from accel.schedule.templates.gpu.rewrite import (
    ANY_EXTENT,
    Change,
    Made,
    around,
    changed,
    extents,
    linear,
    slice_for,
    with_outputs,
)


def by_packing(nest: Nest, each: Carried, made: Made) -> tuple[Nest, Nest, Nest] | None:
    """What packs, what folds or scans, and the nest that is left; None if it is not known how many elements there may be."""
    state, step = each.state, each.step
    loops = around(nest, step)
    sizes = extents(loops)
    if sizes is None or each.first != 0 or state.when is not None:
        return None
    packing = _Packing(nest, state, step, loops, sizes, made)
    return packing.packs(), packing.folds(), packing.rest()


class _Packing:
    """A state whose elements are packed: counted, unless each iteration has one and nobody reads the state meanwhile."""

    def __init__(
        self, nest: Nest, state: State, step: ManyToOne, loops: Sequence[For], sizes: tuple[Extent, ...], made: Made
    ) -> None:
        self._nest, self._state, self._step, self._loops, self._sizes = nest, state, step, loops, sizes
        self._counted = state.running or step.when is not None
        shape = (ANY_EXTENT,) if self._counted else sizes
        self._count = made.array(I64, ())
        self._elements = [made.array(kind, shape, sizes) for kind in state.element]
        self._before = [made.array(stream.type, shape, sizes) for stream in step.before]
        self._after = [made.array(stream.type, shape, sizes) for stream in step.after]
        self._finals = [made.array(stream.type, ()) for stream in state.finals]

    def _counter(self) -> tuple[State, ManyToOne, Stream]:
        """The state that counts, its step, and the stream of how many were kept before."""
        kept, place = (Stream(f"{what}_{self._state.name}", I64) for what in ("kept", "place"))
        state = counter(kept, True, None)
        return state, ManyToOne(state.name, ONE, (place,), when=self._step.when), place

    def packs(self) -> Nest:
        """The nest that writes the elements, one after the other, and how many there are."""
        step, part = self._step, slice_for(self._nest, [self._step])
        without = frozenset({self._state.name})
        if not self._counted:
            place = tuple(loop.index for loop in self._loops)
            return changed(part, Change({id(step): self._writes(place)}, without))
        state, counts, at = self._counter()
        total = Write(self._count, (), state.finals[0])
        return changed(part, Change({id(step): [counts, *self._writes((at,))]}, without, (state,), after=(total,)))

    def _writes(self, place: tuple[Operand, ...]) -> list[LoopBody]:
        pairs = zip(self._elements, self._step.values, strict=True)
        return [Write(array, place, value, self._step.when) for array, value in pairs]

    def folds(self) -> Nest:
        """The nest whose iterations number the elements: as many loops, of which the first iterations have one."""
        state, step = self._state, self._step
        indices = [Stream(f"j{depth}", I64) for depth in range(len(self._sizes))]
        before: list[LoopBody] = []
        place: tuple[Stream, ...] = tuple(indices)
        guard: Stream | None = None
        known: list[LoopBody] = [*self._seeds()]
        after: list[LoopBody] = [Write(a, (), final) for a, final in zip(self._finals, state.finals, strict=True)]
        if self._counted:
            number, count, guard = indices[0], Stream("count", I64), Stream("there", BOOL)
            known.append(Read(count, self._count, ()))
            if len(indices) > 1:
                number = Stream("number", I64)
                before.append(linear(number, indices, self._sizes))
            before.append(Within(guard, number, 0, count, None, tuple(indices) if len(indices) > 1 else ()))
            place = (number,)
            # Where an element would be read behind the last one.
            after += [Write(a, (count,), final) for a, final in zip(self._before, state.finals, strict=False)]
        values = tuple(Stream(f"element{leaf}", array.element) for leaf, array in enumerate(self._elements))
        before += [Read(value, array, place, guard) for value, array in zip(values, self._elements, strict=True)]
        before.append(ManyToOne(step.state, values, step.before, step.after, guard))
        held = [*zip(self._before, step.before, strict=True), *zip(self._after, step.after, strict=True)]
        before += [Write(array, place, stream, guard) for array, stream in held]
        level = Level(tuple(before), None, ())
        for depth in reversed(range(len(indices))):
            states = (state,) if depth == 0 else ()
            level = Level((), For(indices[depth], self._sizes[depth], LoopDirection.UP, states, level), ())
        body = Level(tuple(known), level.loop, tuple(after))
        return with_outputs(Nest(self._nest.label, body, (), (), ()))

    def _seeds(self) -> list[LoopBody]:
        """What makes the state's seed, outside of the loops."""
        outside = self._nest.body.before
        needed = backward_slice(outside, (), state_needs(self._state))
        return [statement for statement in outside if id(statement) in needed]

    def rest(self) -> Nest:
        """The nest without the state, which is read where it was stepped, and what it comes to behind the loops."""
        state, step = self._state, self._step
        finals = tuple(Read(final, array, ()) for final, array in zip(state.finals, self._finals, strict=True))
        without = frozenset({state.name})
        if not state.running:
            return _alive(changed(self._nest, Change({id(step): ()}, without, after=finals)))
        counts_state, counts, at = self._counter()
        reads: list[LoopBody] = [
            counts,
            *self._reads(step.before, self._before, at),
            *self._reads(step.after, self._after, at, step),
        ]
        return changed(self._nest, Change({id(step): reads}, without, (counts_state,), after=finals))

    def _reads(
        self, streams: Sequence[Stream], arrays: Sequence[Array], at: Stream, step: ManyToOne | None = None
    ) -> list[LoopBody]:
        """`step`: only where it is made."""
        when = None if step is None else step.when
        return [Read(stream, array, (at,), when) for stream, array in zip(streams, arrays, strict=True)]


def _alive(nest: Nest) -> Nest:
    """What the nest's stores need: a fold that is gone may have been all that a loop was for."""
    part = slice_for(nest, list(mentions.stores(nest)))
    return with_outputs(Nest(nest.label, part.body, nest.outputs, nest.in_place, nest.counts))
