"""Folds of a few elements for each of a few columns, as of small matrices times vectors: a lane for each row of columns.

In: a nest. Out: the ways to see it as an `Interleaved`, whose columns are all loops inside of the rows' one, folds among them.
Each lane has a small matrix of its own, whose folds are written out (`side_by_side.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from accel.ir import mentions
from accel.ir.nodes import For, Level, LoopBody, ManyToOne, Nest, OneToOne, Read, Remap, State, Write
from accel.ir.work import element_work
from accel.labelled.array import Array, Extent
from accel.labelled.work import INSTRUCTIONS
from accel.schedule.legality import straight
from accel.schedule.steps import Steps, of, steps
from accel.schedule.templates.cpu.interleaved import LEAST, LONGEST_OF_ALL, MOST, MOST_KNOWN, Interleaved, only
from accel.schedule.templates.cpu.positions import extents
from accel.support.dataclass import dataclass

INNER = (3, 2)
"""How many loops may be columns, the most first; one alone is short rows, or a window."""

MOST_COPIES = 64
"""Iterations of all these loops together."""


def folded_rows(nest: Nest) -> Iterator[Interleaved]:
    """The nest in lanes of rows whose columns fold, with so many loops as columns as may be, then with less."""
    loops = mentions.loops(nest)
    if nest.counts or nest.in_place or not loops or not all(loop.counts_up for loop in loops):
        return
    if not any(loop.states for loop in loops) or not all(map(_is_fold, mentions.states(nest))):
        return
    levels, known = [*mentions.levels(nest)], steps(nest)
    for inner in INNER:
        around = len(loops) - inner - 1
        if around < 0 or any(map(_has_statements, levels[: around + 1])):
            continue
        if (found := _Candidate(loops, around, known).found(nest)) is not None:
            yield found


def _has_statements(level: Level) -> bool:
    return bool(level.before or level.after)


def _is_fold(state: State) -> bool:
    return not state.running and state.when is None and straight(state.merge)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Some loops of which number `lanes` may be the one over rows. known: how far streams move."""

    loops: Sequence[For]
    lanes: int
    known: Mapping[str, Steps]

    @property
    def _columns(self) -> Sequence[For]:
        return self.loops[self.lanes + 1 :]

    def found(self, nest: Nest) -> Interleaved | None:
        """What it is, if everything suits."""
        counts = tuple(map(_counts, extents(self._columns)))
        copies = [prod(each[-1] for each in counts[:depth]) if all(counts) else 0 for depth in range(len(counts) + 1)]
        if not 0 < copies[-1] <= MOST_COPIES or any(loop.states for loop in self.loops[: self.lanes + 1]):
            return None
        bodies = [loop.body for loop in self.loops[self.lanes :]]
        statements = [(depth, s) for depth, body in enumerate(bodies) for s in (*body.before, *body.after)]
        if not all(self._suits(statement, depth) for depth, statement in statements):
            return None
        if sum(element_work([s], INSTRUCTIONS) * copies[depth] for depth, s in statements) > LONGEST_OF_ALL:
            return None
        every = [statement for _, statement in statements]
        if not any(map(self._is_inside_a_row, every)) or not _steps_once(nest, every):
            return None
        arrays = sorted(mentions.arrays(nest), key=lambda array: (array.label, array.leaf))
        rows = [(array, self._dimensions(array)) for array in arrays]
        loops = self.loops
        return Interleaved(
            tuple(loops[: self.lanes]), loops[self.lanes], tuple(self._columns), counts, tuple(r for r in rows if r[1])
        )

    def _suits(self, statement: LoopBody, depth: int) -> bool:
        """Whether a statement inside of so many loops of columns may be written out."""
        if not isinstance(statement, OneToOne | Remap | Read | ManyToOne | Write) or statement.when is not None:
            return False
        if not isinstance(statement, Write):
            return True
        own = [loop.index for loop in self.loops[self.lanes : self.lanes + depth + 1]]
        around, tail = statement.index[: -len(own)], statement.index[-len(own) :]
        inner = extents(self.loops[self.lanes + 1 : self.lanes + depth + 1])
        whole = statement.array.shape[len(statement.array.shape) - depth :] == inner
        return whole and list(tail) == own and not any(operand in own for operand in around)

    def _is_inside_a_row(self, statement: LoopBody) -> bool:
        """Whether a statement reads or writes something of a row that lanes do not have side by side."""
        if not isinstance(statement, Read | Write) or not statement.index:
            return False
        moves = [of(operand, self.known).over(self.loops[self.lanes].index) for operand in statement.index]
        return any(moves[:-1])

    def _dimensions(self, array: Array) -> int:
        """How many of an array's last dimensions are those of columns, or numbers."""
        own, count, elements = {*extents(self._columns)}, 0, 1
        for extent in reversed(array.shape[1:]):
            elements *= extent.offset if extent.variable is None else MOST
            if (extent.variable is not None and extent not in own) or elements > MOST_COPIES:
                break
            count += 1
        return count


def _counts(extent: Extent) -> range:
    """How many iterations a loop of columns may have."""
    if extent.variable is not None:
        return range(LEAST, MOST + 1)
    return only(extent) if 1 <= extent.offset <= MOST_KNOWN else range(0)


def _steps_once(nest: Nest, statements: Sequence[LoopBody]) -> bool:
    """Whether each state is stepped by one of these statements."""
    stepped = sorted(s.state for s in statements if isinstance(s, ManyToOne))
    return stepped == sorted(state.name for state in mentions.states(nest))
