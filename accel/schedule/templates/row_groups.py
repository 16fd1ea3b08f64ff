"""Folds of rows, several at once: lanes along a row while it is folded, and across rows when lanes join.

In: a nest. Out: which of its loops folds rows, and which one repeats that; None where something stands in the way.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

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
    Stream,
    Write,
)
from accel.ir.places import asked, finds_place
from accel.labelled.meaning.order import lanes
from accel.labelled.scalar import Function, Load
from accel.schedule.legality import straight
from accel.schedule.templates.columns import dependent
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RowGroups:
    """How a nest folds rows. loops: those around the fold, outermost first; `rows`, of which some run at once, is the last.

    between: a loop that folds what rows come to, of one row for each of its iterations; None where each row is by itself.
    shares: whether several rows read the same, as those of a matrix that is multiplied with a vector do.
    """

    loops: tuple[For, ...]
    between: For | None
    fold: For
    shares: bool

    @property
    def rows(self) -> For:
        """The loop of which several iterations run at once."""
        return self.loops[-1]


def row_groups(nest: Nest) -> RowGroups | None:
    """The nest by groups of rows, if its innermost loop folds what is adjacent along it, and those around only repeat that.

    Where an extreme stands is found faster by looking for it, in a row or in short rows side by side.
    """
    loops = mentions.loops(nest)
    if len(loops) < 2 or nest.counts or nest.in_place or nest.body.before or nest.body.after:
        return None
    if not all(loop.counts_up for loop in loops):
        return None
    *around, fold = loops
    between = around.pop() if around[-1].states else None
    if not around or any(loop.states for loop in around):
        return None
    if any(loop.body.before or loop.body.after for loop in around[:-1]):
        return None
    inside, outside = fold.body, around[-1].body
    if not _folds(fold, (*inside.before, *inside.after)) or (between and not _folds(between, between.body.after)):
        return None
    first = (*outside.before, *(between.body.before if between else ()))
    if not all(isinstance(s, OneToOne | Remap | Read) and s.when is None for s in first):
        return None
    if not all(isinstance(s, OneToOne | Remap | Read | Write) and s.when is None for s in outside.after):
        return None
    if any(map(_loads, mentions.functions(nest))) or not _runs_along(outside, fold):
        return None
    others = asked(nest)
    if any(isinstance(s, ManyToOne) and finds_place(s, fold, others) for s in mentions.statements(nest)):
        return None
    own = dependent([around[-1].index.name], outside)
    return RowGroups(tuple(around), between, fold, any(_is_shared(s, own) for s in (*inside.before, *inside.after)))


def _folds(loop: For, statements: Sequence[LoopBody]) -> bool:
    """Whether statements of a loop step its states, once an iteration, and only compute besides."""
    steps = [s.state for s in statements if isinstance(s, ManyToOne)]
    if not loop.states or sorted(steps) != sorted(state.name for state in loop.states):
        return False
    if not all(map(_joins, loop.states)) or len(set(map(_width, loop.states)) - {1}) > 1:
        return False
    return all(isinstance(s, OneToOne | Remap | Read | ManyToOne) and s.when is None for s in statements)


def _joins(state: State) -> bool:
    """Whether lanes that hold nothing may join others."""
    known = state.monoid.neutral is not None and (state.monoid.exact or state.monoid.commutes)
    return known and straight(state.merge) and not state.running and state.when is None


def _width(state: State) -> int:
    """Lanes of the order; 1 where any order serves."""
    return 1 if state.monoid.exact else lanes(state.types)


def _loads(function: Function) -> bool:
    return any(isinstance(statement, Load) for statement in mentions.function_statements(function))


def _is_shared(statement: LoopBody, own: Set[str]) -> bool:
    """Whether a statement reads what is none of a row's `own` streams."""
    if not isinstance(statement, Read):
        return False
    return not any(isinstance(operand, Stream) and operand.name in own for operand in statement.index)


def _runs_along(level: Level, fold: For) -> bool:
    """Whether all that is read in the loop of a level is adjacent along it or the same, and something is adjacent."""
    varying = dependent([fold.index.name], level)
    along = False
    for statement in (*fold.body.before, *fold.body.after):
        if isinstance(statement, Read) and statement.index:
            *others, end = statement.index
            if end != fold.index:
                others.append(end)
            if any(isinstance(operand, Stream) and operand.name in varying for operand in others):
                return False
            along = along or end == fold.index
    return along
