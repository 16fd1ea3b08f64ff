"""Maps whose columns ask for the same values: these are made first, for a whole row (`accel/schedule/splitting/alike.py`).

In: the schedule of a nest in its own order. Out: the same with lines, or None where they do not serve: of one loop, of short
rows, where loops around have edges of their own. All machines with caches serve so: a sum across rows is loaded once, not once
for each column that it stands in.
"""

from __future__ import annotations

from accel.ir.mentions import loops
from accel.schedule.nodes import Role, Schedule
from accel.schedule.rules import share_if_any, split
from accel.schedule.splitting.inside import inside

FEWEST_BYTES = 32
"""Of the columns of a row that are no edges: a vector of a CPU."""


def lined(schedule: Schedule) -> Schedule | None:
    """A schedule without rules that make other statements, with lines."""
    every = loops(schedule.nest)
    if len(every) < 2 or any(axis.role is not Role.MAP for axis in schedule.axes):
        return None
    made = share_if_any(schedule)
    if made is None or made.shared is None:
        return None
    margins = inside(made.visited)
    edges = sum(margin.low + margin.high for margin in margins)
    widest = max(line.array.element.bytes for line in made.shared.lines)
    if (
        any(margin.depth < len(every) - 1 for margin in margins)
        or (made.shared.columns - edges) * widest < FEWEST_BYTES
    ):
        return None
    return split(made, margins) if margins else made
