"""Scans down columns: vector lanes across a map loop whose index is the adjacent one of what the scan reads and writes.

In: a nest. Out: which of its loops runs in lanes, and which one scans inside of it; None where memory is visited along rows
as it is, or where a statement stands in the way.
"""

from __future__ import annotations

from accel.ir import flow, mentions
from accel.ir.nodes import For, LoopDirection, ManyToOne, Nest, Scatter, State, is_known
from accel.schedule.legality import any_order, straight
from accel.schedule.templates.columns import dependent, runs_along
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ColumnScans:
    """A nest whose loop `lanes` runs in vectors.

    outer: the map loops around it, outermost first; their iterations are independent. scanned: the innermost loop, whose
    states are stepped in each lane by itself, in order. last: the innermost map loop, whose statements are those of each
    lane; `lanes` itself, unless loops were exchanged.
    """

    outer: tuple[For, ...]
    lanes: For
    last: For
    scanned: For

    def varying(self) -> frozenset[str]:
        """The streams that differ between lanes; what is scanned does."""
        finals = [final.name for state in self.scanned.states for final in state.finals]
        steps = [s for s in (*self.scanned.body.before, *self.scanned.body.after) if isinstance(s, ManyToOne)]
        between = [stream.name for step in steps for stream in (*step.before, *step.after)]
        return dependent([self.lanes.index.name, *finals, *between], self.last.body)


def column_scans(nest: Nest) -> ColumnScans | None:
    """The nest by columns, if it suits."""
    loops = mentions.loops(nest)
    if len(loops) < 2 or nest.counts or nest.in_place:
        return None
    *around, scanned = loops
    if any(loop.direction is not LoopDirection.UP or loop.states or loop.body.after for loop in around[:-1]):
        return None
    last = around[-1]
    if last.direction is not LoopDirection.UP or last.states or not all(is_known(loop.extent) for loop in loops):
        return None
    if not _scans_by_itself(scanned):
        return None
    for place in range(len(around) - 1, -1, -1):
        if any(loop.body.before for loop in around[place:-1]):
            break
        if runs_along(around[place], last, [scanned]):
            return ColumnScans((*around[:place], *around[place + 1 :]), around[place], last, scanned)
    return None


def _scans_by_itself(loop: For) -> bool:
    """Whether the loop scans, and all its states are stepped by its own statements, in all iterations or the first ones."""
    statements = [*loop.body.before, *loop.body.after]
    steps = {s.state: s for s in statements if isinstance(s, ManyToOne)}
    if any(isinstance(s, Scatter) for s in statements) or set(steps) != {state.name for state in loop.states}:
        return False
    if len(steps) < sum(isinstance(s, ManyToOne) for s in statements):
        return False
    prefixes = flow.prefixes(loop)
    if any(step.when is not None and step.when.name not in prefixes for step in steps.values()):
        return False
    return any(state.running for state in loop.states) and all(
        _in_lanes(state, steps[state.name]) for state in loop.states
    )


def _in_lanes(state: State, step: ManyToOne) -> bool:
    """Whether a lane steps the state one element after the other, and has an element or an initial value."""
    there = state.initial is not None or step.when is None
    return there and straight(state.merge) and state.when is None and (state.running or any_order(state))
