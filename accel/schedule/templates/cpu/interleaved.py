"""Maps of rows of two to nine elements, such as points, pairs and pixels: a lane for each row, which has its elements.

In: a nest. Out: an `Interleaved`, or None. Its statements are written for numbers of columns, in `side_by_side.py`. What
neighbouring rows come to is put between each other in registers, which is the backend's. Rows that are folded, such as those of
small matrices, are found in `folded_rows.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir import mentions
from accel.ir.indices import arguments
from accel.ir.nodes import For, Level, LoopBody, Nest, OneToOne, Operand, Read, Remap, Stream, Write
from accel.ir.positions import merging
from accel.ir.work import element_work
from accel.labelled import scalar
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Compute, Constant, Load
from accel.labelled.work import INSTRUCTIONS
from accel.schedule.flat import flat_loops
from accel.schedule.templates.cpu.divided import divided
from accel.schedule.templates.cpu.positions import extents
from accel.support.dataclass import dataclass

LEAST, MOST = 2, 4
"""Columns of the rows that are written so, if they choose nothing or their number is not known before the launch."""

MOST_KNOWN = 9
"""The same of columns whose number is known, of several loops as well: rotations have three times three. And of rows that read
one element in all columns, which else is gathered."""

LONGEST = 200
"""Instructions of a column, about: compilers take long for more."""

LONGEST_OF_ALL = 2 * LONGEST
"""The same of all columns that an index is divided into, or that read one element."""


@dataclass(frozen=True, slots=True)
class Interleaved:
    """How a nest runs with a row in each lane.

    lanes: the loop over rows. outer: the loops around it, outermost first. columns: those inside. counts: how many iterations
    each of these may have. rows: arrays whose rows are as long as columns, by how many dimensions these rows have. divided:
    whether `lanes` and `columns` stand for one loop of the nest; then `lanes` has that loop's extent, a multiple of the
    columns.
    """

    outer: tuple[For, ...]
    lanes: For
    columns: tuple[For, ...]
    counts: tuple[range, ...]
    rows: tuple[tuple[Array, int], ...] = ()
    divided: bool = False

    @property
    def loops(self) -> tuple[For, ...]:
        """All, outermost first."""
        return (*self.outer, self.lanes, *self.columns)


def interleaved(nest: Nest) -> Interleaved | None:
    """The nest in lanes of rows, if it is a map that chooses by columns, or reads components of rows."""
    *_, innermost = mentions.levels(nest)
    statements = (*innermost.before, *innermost.after)
    if any(mentions.states(nest)) or element_work(statements, INSTRUCTIONS) > LONGEST:
        return None
    if not all(isinstance(s, OneToOne | Remap | Read | Write) and s.when is None for s in statements):
        return None
    loops = flat_loops(nest)
    return _divided(nest, statements) if loops is None else _rows(nest, loops, statements) or _divided(nest, statements)


def _rows(nest: Nest, loops: Sequence[For], statements: tuple[LoopBody, ...]) -> Interleaved | None:
    """The same of loops of which the inner ones run over few columns."""
    first = _first_column(loops)
    own = [loop.index for loop in loops[first - 1 :]]
    written = [s for s in statements if isinstance(s, Write)]
    if any(list(s.index[-len(own) :]) != own or _mentions(s.index[: -len(own)], own) for s in written):
        return None
    light = element_work(statements, INSTRUCTIONS) * MOST_KNOWN <= LONGEST_OF_ALL
    repeated = light and any(_reads_at(statement, loops[first - 1].index) for statement in statements)
    counts = _counts(extents(loops[first:]), chosen=any(map(_chooses, statements)), repeated=repeated)
    if counts is None or merging(nest, loops) == 0:
        return None
    every = sorted(mentions.arrays(nest), key=lambda array: (array.label, array.leaf))
    known = extents(loops[first:])
    rows = [(a, len(known)) for a in every if len(a.shape) > len(known) and a.shape[-len(known) :] == known]
    return Interleaved(tuple(loops[: first - 1]), loops[first - 1], tuple(loops[first:]), counts, tuple(rows))


def _first_column(loops: Sequence[For]) -> int:
    """The number of the first loop of columns: the innermost one, or of more if there are few columns in all."""
    first, known = len(loops) - 1, extents(loops)
    while first > 1 and all(extent.variable is None for extent in known[first - 1 :]):
        if prod(extent.offset for extent in known[first - 1 :]) > MOST_KNOWN:
            break
        first -= 1
    return first


def _counts(known: Sequence[Extent], *, chosen: bool, repeated: bool) -> tuple[range, ...] | None:
    """How many iterations loops of such extents may have, of which one alone may be unknown; None if they are not to be
    written. `repeated`: all of a row read one element, in little work."""
    most = MOST_KNOWN if repeated else MOST
    if any(extent.variable is not None for extent in known):
        return (range(LEAST, most + 1),) if chosen or repeated else None
    count = prod(extent.offset for extent in known)
    return tuple(map(only, known)) if LEAST <= count <= (MOST_KNOWN if chosen else most) else None


def only(extent: Extent) -> range:
    """The iterations that a loop has whose extent is a number."""
    return range(extent.offset, extent.offset + 1)


def _divided(nest: Nest, statements: Sequence[LoopBody]) -> Interleaved | None:
    """The same of an innermost loop whose index is divided."""
    *around, _ = mentions.levels(nest)
    loops = mentions.loops(nest)
    if not loops or any(level.before or level.after for level in around):
        return None
    if not all(loop.counts_up for loop in loops):
        return None
    *outer, loop = loops
    places = tuple([each.index for each in loops])
    if any(s.index != places for s in statements if isinstance(s, Write)):
        return None
    found = divided(loop, statements, LEAST, MOST_KNOWN)
    if found is None:
        return None
    rows, columns, made = found
    (count,) = extents([columns])
    if element_work(statements, INSTRUCTIONS) * count.offset > LONGEST_OF_ALL:
        return None
    columns = replace(columns, body=Level(tuple(made), None, ()))
    rows = replace(rows, body=Level((), columns, ()))
    return Interleaved(tuple(outer), rows, (columns,), (only(count),), divided=True)


def _mentions(some: Sequence[Operand], indices: Sequence[Stream]) -> bool:
    return any(operand in indices for operand in some)


def _reads_at(statement: LoopBody, index: Stream) -> bool:
    """Whether a statement reads an array whose innermost dimension this is the index of."""
    if isinstance(statement, Read):
        return statement.index[-1:] == (index,)
    if not isinstance(statement, OneToOne):
        return False
    places = {parameter for parameter, argument in arguments(statement) if argument == index}
    some = mentions.function_statements(statement.function)
    return any(isinstance(each, Load) and bool(each.index) and each.index[-1] in places for each in some)


def _chooses(statement: LoopBody) -> bool:
    """Whether a statement reads one component of rows, or compares or divides by so small a number."""
    if isinstance(statement, Read):
        return len(statement.index) > 1 and isinstance(statement.index[-1], Constant)
    if not isinstance(statement, OneToOne):
        return False
    return any(map(_chooses_inside, mentions.function_statements(statement.function)))


def _chooses_inside(statement: scalar.Statement) -> bool:
    match statement:
        case Load(index=index):
            return len(index) > 1 and isinstance(index[-1], Constant)
        case Compute(_, Operator.EQ | Operator.MOD | Operator.REM, (_, Constant() as number)):
            return number.type is I64 and abs(int(number.value)) <= MOST_KNOWN
        case _:
            return False
