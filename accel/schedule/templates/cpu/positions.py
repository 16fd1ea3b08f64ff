"""Maps of short rows: lanes over the positions of all rows, so that a row of two does not cost what one of sixteen does.

In: a nest. Out: a `Positions`, or None. Loops that stand directly inside of each other run as one, and each lane has the
indices of its position. What lies in memory as the loops run is loaded and stored as one row; all else is gathered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from accel.ir import mentions
from accel.ir.nodes import For, LoopBody, Nest, OneToMaybe, OneToOne, Operand, Read, Remap, Within, Write
from accel.ir.positions import merging
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Constant
from accel.schedule.flat import flat_loops
from accel.schedule.steps import SAME, Steps, loaded, of, steps
from accel.support.dataclass import dataclass

ROW = 8
"""Elements of the longest row that takes less time so than by itself, where its end does not fill a vector."""

BESIDE = 6
"""The same where something is gathered that would be adjacent elements in a row, or one; of several such as many less."""

UNDER_MASKS = 3
"""The same where a function gathers under a condition."""

GATHERED = 32
"""The same where rows by themselves are gathered, too."""


@dataclass(frozen=True, slots=True)
class Positions:
    """How a nest runs over positions.

    loops: all loops. statements: those of the innermost one. rows: the first loop of those that would be one row by rows. most:
    elements of the longest such row for which this is faster. runs: all arrays that may lie as the loops run; they do
    if they are contiguous at a call. gathers: how many elements an iteration gathers, at most.
    """

    loops: tuple[For, ...]
    statements: tuple[LoopBody, ...]
    rows: int
    most: int
    runs: tuple[Array, ...]
    gathers: int


def positions(nest: Nest) -> Positions | None:
    """How the nest runs over positions: a map of which some rows do not lie in memory one behind the other."""
    loops = flat_loops(nest)
    if loops is None or loops[-1].body.loop is not None or any(mentions.states(nest)):
        return None
    statements = (*loops[-1].body.before, *loops[-1].body.after)
    if not all(isinstance(s, OneToOne | Remap | Read | Write | Within | OneToMaybe) for s in statements):
        return None
    first = merging(nest, loops)
    known = steps(nest)
    reads = [_visit(s, known) for s in statements if isinstance(s, Read)]
    writes = [_visit(s, known) for s in statements if isinstance(s, Write)]
    loads = [each for statement in statements for each in _loads(statement, known)]
    if first == 0 or not all(_lies(each, loops) for each in writes):
        return None
    every = sorted(mentions.arrays(nest), key=lambda array: (array.label, array.leaf))
    runs = tuple([array for array in every if _may_lie(array, loops)])
    gathered = [each for each in reads if not _lies(each, loops)]
    masked = [each for each in loads if not _lies(each, loops)]
    beside = sum(_is_row(index, loops[-1]) for _, index in (*gathered, *masked))
    most = UNDER_MASKS if masked else BESIDE // beside if beside else GATHERED if gathered else ROW
    if any(extent.variable is None and extent.offset > most for extent in extents(loops[first:])):
        return None
    return Positions(tuple(loops), statements, first, most, runs, len(gathered) + len(masked))


def extents(loops: Sequence[For]) -> tuple[Extent, ...]:
    """Those of loops, as arrays have them."""
    return tuple(Extent(None, int(e.value)) if isinstance(e := loop.extent, Constant) else _extent(e) for loop in loops)


def _extent(operand: Operand) -> Extent:
    assert isinstance(operand, Extent)
    return operand


Visit: TypeAlias = tuple[Array, Sequence[Steps]]
"""An array, and how far each operand of the index moves at which it is read or written."""


def _visit(access: Read | Write, known: Mapping[str, Steps]) -> Visit:
    return access.array, [of(operand, known) for operand in access.index]


def _loads(statement: LoopBody, known: Mapping[str, Steps]) -> Iterator[Visit]:
    """What a statement's function reads."""
    if isinstance(statement, OneToOne | OneToMaybe | Within):
        yield from loaded(statement.function, [of(argument, known) for argument in statement.arguments])


def _lies(visit: Visit, loops: Sequence[For]) -> bool:
    """Whether an array is visited as the loops run, with something around it that stays the same."""
    array, index = visit
    around, own = index[: -len(loops)], index[-len(loops) :]
    return (
        len(own) == len(loops)
        and all(each == SAME for each in around)
        and all(each == Steps({loop.index.name: 1}) for each, loop in zip(own, loops, strict=True))
        and array.shape[len(around) + 1 :] == extents(loops[1:])
    )


def _may_lie(array: Array, loops: Sequence[For]) -> bool:
    """Whether an array may be visited as the loops run, perhaps if the innermost has one iteration: it has the extents of those
    inside of the outermost, or what the innermost loop has in another place."""
    *inner, last = extents(loops[1:])
    behind = list(array.shape[1:])
    return last in behind or (bool(inner) and behind[-len(inner) :] == inner)


def _is_row(index: Sequence[Steps], innermost: For) -> bool:
    """Whether what the innermost loop reads is adjacent, or the same element."""
    *outer, last = [each.over(innermost.index) for each in index] or [0]
    return not any(each != 0 for each in outer) and last in (-1, 0, 1)
