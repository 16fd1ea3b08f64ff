"""Folds of short rows: lanes across the rows, so that a row of four elements does not cost what one of sixty does.

In: a nest. Out: a `ShortRows`, or None. What is folded is loaded row by row and transposed in registers, as in `blocks`;
then each lane folds a row of its own, in the order of docs/order.md. What rows come to may be folded in turn, by the only loop
around them: in lanes of the order.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ir import mentions
from accel.ir.nodes import (
    For,
    Level,
    LoopBody,
    ManyToOne,
    Nest,
    OneToOne,
    Read,
    Remap,
    State,
    Write,
)
from accel.ir.places import asked, finds_place
from accel.labelled.meaning.order import lanes
from accel.schedule.legality import any_order, in_lanes_of_order, in_order, straight
from accel.schedule.steps import steps
from accel.schedule.templates.blocks import Across, left_over, reads_across
from accel.support.dataclass import dataclass

LONGEST = 255
"""Elements of the longest row that is folded so where one row alone would be scalar code."""

LONGEST_SEARCH = 95
"""The same where only the place of an extreme is wanted: along a row, it would be looked for once the extreme is known."""


@dataclass(frozen=True, slots=True)
class ShortRows:
    """How a nest folds short rows.

    loops: those around the fold, outermost first; lanes run along the last one, which may have states if it is the only one.
    before, after: the statements around the fold. steps: those of the fold's loop once the tiles of `across` are full. places:
    the states that find only where an extreme stands.
    """

    loops: tuple[For, ...]
    fold: For
    across: tuple[Across, ...]
    before: tuple[LoopBody, ...]
    steps: tuple[LoopBody, ...]
    after: tuple[LoopBody, ...]
    places: frozenset[str]

    @property
    def lanes(self) -> For:
        """The loop along which vectors run."""
        return self.loops[-1]

    @property
    def longest(self) -> int:
        """Elements of the longest row for which this is faster than a row alone: those that do not fill the order's lanes, of
        states that vectors can fold."""
        states = self.fold.states
        if any(map(in_order, states)):
            return LONGEST
        search = bool(self.places)
        return min(LONGEST_SEARCH if search and s.monoid.exact else lanes(s.types) - 1 for s in states)


def short_rows(nest: Nest) -> ShortRows | None:
    """How the nest runs with lanes across rows: if its innermost loop folds what is adjacent along it, and all loops around it
    only repeat that, or one loop is around it and folds what it comes to."""
    levels = list(mentions.levels(nest))
    loops = mentions.loops(nest)
    if len(loops) < 2 or not all(loop.counts_up for loop in loops) or any(map(_has_statements, levels[1:-2])):
        return None
    *around, outer, fold = loops
    if any(loop.states for loop in around) or (around and outer.states) or not all(map(_joins, outer.states)):
        return None
    inside, outside = (*fold.body.before, *fold.body.after), (*outer.body.before, *outer.body.after)
    if not (fold.states and _folds(fold, inside) and _folds(outer, outside)):
        return None
    if not all(isinstance(s, OneToOne | Remap | Read | ManyToOne) for s in inside):
        return None
    if not all(isinstance(s, OneToOne | Remap | Read | Write | ManyToOne) for s in outside):
        return None
    across = reads_across((*outer.body.before, *inside), steps(nest), loops, outer, [fold])
    if not across:
        return None
    remaining = left_over(inside, across)
    others = asked(nest)
    places = frozenset(s.state for s in inside if isinstance(s, ManyToOne) and finds_place(s, fold, others))
    return ShortRows(tuple(loops[:-1]), fold, tuple(across), outer.body.before, remaining, outer.body.after, places)


def _folds(loop: For, statements: Sequence[LoopBody]) -> bool:
    """Whether statements of a loop step its states, once an iteration, and no condition stands before any."""
    steps = [s.state for s in statements if isinstance(s, ManyToOne)]
    own = sorted(steps) == sorted(state.name for state in loop.states)
    return own and all(map(_is_fold, loop.states)) and all(s.when is None for s in statements)


def _joins(state: State) -> bool:
    """Whether what rows come to may be folded in lanes: in any order, or in those of the order, one after the other."""
    return any_order(state) or in_lanes_of_order(state)


def _is_fold(state: State) -> bool:
    return not state.running and state.when is None and straight(state.merge)


def _has_statements(level: Level) -> bool:
    return bool(level.before or level.after)
