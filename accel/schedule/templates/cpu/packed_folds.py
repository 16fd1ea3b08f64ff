"""Folds of stencils on CPU devices of work-items, as nests that follow each other: the stencil's elements, then their fold.

In: a nest. Out: its parts, and the arrays that they share. Work-items that are lanes of a fold find their indices by divisions,
and each of them meets the conditions at boundaries. As a map of its own the stencil runs in strips, which do neither
(`strips.py`); what it makes is read as it lies. That is more memory, and takes a fraction of the time.
"""

from __future__ import annotations

from accel.ir.mentions import loops
from accel.ir.nodes import Nest
from accel.schedule.axes import carried
from accel.schedule.splitting.inside import inside
from accel.schedule.templates.gpu.kept_elements import by_packing
from accel.schedule.templates.gpu.rewrite import Made
from accel.schedule.templates.gpu.split import Split


def packed_folds(nest: Nest) -> Split | None:
    """The parts of a fold of all that loops visit, with conditions that are decided in their inside; None of other nests."""
    states, every = carried(nest), loops(nest)
    if len(states) != 1 or len(every) < 2:
        return None
    (each,) = states
    if each.state.running or each.step.when is not None or (each.first, each.last) != (0, len(every) - 1):
        return None
    if not inside(nest):
        return None
    made = Made(nest.label)
    parts = by_packing(nest, each, made)
    return None if parts is None else Split(parts, made.rooms)
