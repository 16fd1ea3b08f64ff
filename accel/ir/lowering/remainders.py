"""Remainders of indices as comparisons: `(i + c) % n` of an index below `n` takes no division.

In: the body of a nest. Out: the same with such remainders written out, where it is known how often `n` must be added or
subtracted (`accel/labelled/scalars/simplify.py`). Before, ranges know of a remainder that it is in bounds; of what is chosen
among sums they would not.
"""

from __future__ import annotations

from dataclasses import replace

from accel.ast.tree.operators import Operator
from accel.ir import mentions
from accel.ir.indices import Indices
from accel.ir.nodes import For, Level, LoopBody, OneToOne
from accel.labelled.scalar import Compute

_REMAINDERS = (Operator.MOD, Operator.REM)


def without_remainders(body: Level) -> Level:
    """The levels with the remainders of their indices as comparisons."""
    levels: list[Level] = []
    around: list[For] = []
    level: Level | None = body
    while level is not None:
        indices = Indices(around, {})
        before = tuple(_reduced(each, indices) for each in level.before)
        levels.append(replace(level, before=before, after=tuple(_reduced(each, indices) for each in level.after)))
        around += [] if level.loop is None else [level.loop]
        level = None if level.loop is None else level.loop.body
    made = levels.pop()
    for each in reversed(levels):
        assert each.loop is not None
        made = replace(each, loop=replace(each.loop, body=made))
    return made


def _reduced(statement: LoopBody, indices: Indices) -> LoopBody:
    made = indices.simplified(statement, remainders=True)
    return made if _remainders(made) < _remainders(statement) else statement


def _remainders(statement: LoopBody) -> int:
    """How many remainders a function of streams has."""
    if not isinstance(statement, OneToOne):
        return 0
    some = mentions.function_statements(statement.function)
    return sum(isinstance(each, Compute) and each.operator in _REMAINDERS for each in some)
