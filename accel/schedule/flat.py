"""Loops that run as one over positions, so that rows, chunks and vectors do not care how long an inner loop is.

In: a nest. Out: which of its loops. Where their dimensions are one, too, `accel/ir/positions.py` says.
"""

from __future__ import annotations

from accel.ir import mentions
from accel.ir.nodes import For, ManyToOne, Nest


def flat_loops(nest: Nest) -> list[For] | None:
    """At least two loops, from the outermost one on, whose iterations are numbered by one position; None if there are none.

    They run upwards and stand directly inside of each other. Either they are all loops of the nest, and carry nothing; or
    only the outermost one has states, which are folds, and what is combined in an order is stepped by the innermost of them.
    """
    loops = _upward(nest)
    states = loops[0].states if loops else ()
    whole = bool(loops) and loops[-1].body.loop is None
    if len(loops) < 2 or (not states and not whole) or any(state.running for state in states):
        return None
    body = loops[-1].body
    steps = {s.state for s in (*body.before, *body.after) if isinstance(s, ManyToOne)}
    return loops if all(state.monoid.exact or state.name in steps for state in states) else None


def _upward(nest: Nest) -> list[For]:
    """The loops from the outermost one on that stand directly inside of each other, all but it without states."""
    loops: list[For] = []
    for level in mentions.levels(nest):
        loop = level.loop
        if loop is None or not loop.counts_up:
            break
        if loops and (level.before or level.after or loop.states):
            break
        loops.append(loop)
    return loops
