"""Which way a tiled nest runs, decided here alone: the first that sizes suit, or rows, as always where steps are few.

In: the tile, as it stands and turned, as it is laid out on this processor. Out: the ways as data, for launches to ask
(`alternative.py`) and for readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from accel.backends.llvm.machine.processor import FIRST_CACHE
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.layout import Layout
from accel.backends.llvm.templates.tile.small.blocks import Columns, column_bytes, copied_columns
from accel.backends.llvm.templates.tile.small.held import FEW, subtrees
from accel.backends.llvm.templates.tile.small.tree import PARTS, matrix_of
from accel.backends.llvm.templates.tile.ways.conditions import (
    ALWAYS,
    Adjacent,
    AtMost,
    Condition,
    Either,
    Extent,
    MultipleOf,
    Not,
    Parts,
    Plus,
    Size,
    Times,
    every,
    said,
)
from accel.backends.llvm.templates.tile.ways.single import Single
from accel.ir.nodes import OneToOne, Read, Write
from accel.schedule.templates.tile import Tile
from accel.support.dataclass import dataclass

LEAST = 2048.0
"""Steps below which rows serve as well: then a program compiles nothing else."""

OF_FOLD = 32.0
"""Steps as long as which a fold by rows takes besides its own: short ones join lanes without elements. (A Xeon takes 12 ns for
each of 100 × 3 × 3 float32, so that rows take 4.5 microseconds and tiles 0.65.)"""

ROWS_ONE_BY_ONE = 3
"""Rows up to which columns are read once for each, rather than packed."""

LEAST_COLUMNS = 4
"""Columns below which rows serve as well where nothing is packed, or one of a batch is."""

MOST_ACROSS = 3
"""Elements up to which a tile serves few columns where it packs nothing, of rows that lie across memory; of more these are
better in lanes. (Zen 4: 5000 x 8 x 2 float32 takes twice as long.)"""

MOST = 64
"""Elements of a fold, where both sides are matrices as they lie in memory."""

MOST_OF_LANE = 4
"""Elements of a lane, of folds of more elements than that, in a loop of subtrees with few registers, or where columns are held:
of more packed tiles are as fast."""

MOST_COMPUTED = 16
"""Elements where sides are no matrices: what else a side does is done once for each row, or column, where it is packed, and
for each tile where it is not."""


FIRST = 0
"""The number of the function of a way's code that packs, or of the only one; those that read in place have others."""


class Code(Enum):
    """What is compiled for a way, in words. `name`, in small letters, is the end of a name: `@nest0_tile` and what it calls."""

    COLUMN = "without the columns' loop"
    OTHERS = "by other templates than tiles"
    ALONG = "columns copied along the fold, then by other templates"
    TURNED = "tiles whose rows are the columns"
    TILE = "tiles"


@dataclass(frozen=True, slots=True)
class Way:
    """A way to run a tiled nest.

    code: what runs. columns: how its tiles read the columns where they lie; None where they are packed, as rows are, or where
    there are no tiles. possible: the sizes that it can run. worth: those for which it takes less time than what follows.
    """

    code: Code
    columns: Columns | None
    possible: Condition
    worth: Condition

    @property
    def condition(self) -> Condition:
        """For which sizes it runs, unless one before it does."""
        return every(self.possible, self.worth)

    def __str__(self) -> str:
        how = ", packed" if self.code in (Code.TURNED, Code.TILE) else ""
        if self.columns is not None:
            how = f", {'columns copied' if self.columns is Columns.COPIED else f'{self.columns.name.lower()} columns in place'}"
        return f"{self.code.value}{how}: {said(self.condition)}"


@dataclass(frozen=True, slots=True)
class TiledNest:
    """A tiled nest on this processor: its tile as it stands and with rows as columns; the nest without the columns' loop."""

    upright: Layout
    turned: Layout
    single: Single


def ways(found: TiledNest) -> Sequence[Way]:
    """All ways to run the nest, in the order in which they are asked."""
    upright, turned = (
        _Side(found.upright, Extent.ROWS, Extent.COLUMNS),
        _Side(found.turned, Extent.COLUMNS, Extent.ROWS),
    )
    return [
        *_other_templates(found, upright, turned),
        *_of_short_folds(upright),
        *_of_few_columns(upright, turned),
        *_of_more_columns(upright),
    ]


def serves_few(layout: Layout) -> bool:
    """Whether tiles read columns of up to `MOST` elements where they lie, whatever rows and columns there are."""
    near = copied_columns(layout, MOST) > 0 or len(subtrees(layout, MOST)) > 0
    return _reads_in_place(layout.tile) and _are_matrices(layout.tile) and near


def most_elements(layout: Layout) -> int:
    """Elements of the longest fold for which there may be code that packs nothing; 0 if there is none."""
    if not _reads_in_place(layout.tile):
        return 0
    if not _are_matrices(layout.tile):
        return MOST_COMPUTED
    processor = host().processor
    several = not processor.registers.many or (processor.loads_keep_up and len(subtrees(layout, MOST)) > 0)
    return max(MOST, MOST_OF_LANE * layout.tile.order_lanes) if several else MOST


@dataclass(frozen=True, slots=True)
class _Side:
    """A layout, and which extents of the nest its rows and columns are."""

    layout: Layout
    rows: Extent
    columns: Extent

    @property
    def few(self) -> int:
        """Elements up to which its tiles pack nothing."""
        return MOST if serves_few(self.layout) else 0


def _other_templates(found: TiledNest, upright: _Side, turned: _Side) -> Iterator[Way]:
    """Of a single column, and of few rows whose columns are adjacent in memory, a tile would waste most of what it computes;
    unless it packs nothing."""
    rows, columns = upright.layout.tile.rows, upright.layout.tile.columns
    if rows.own is None:
        arrays = [Adjacent(array) for array in found.single.layouts]
        once = every(AtMost(Extent.COLUMNS, 1), *arrays)
        yield Way(Code.COLUMN, None, once, _more_than(turned.few))
    if columns.own is None and not columns.along_fold:
        few = every(AtMost(Extent.ROWS, ROWS_ONE_BY_ONE), AtMost(upright.layout.lanes, Extent.COLUMNS))
        yield Way(Code.OTHERS, None, ALWAYS, every(few, _more_than(upright.few)))


def _of_short_folds(upright: _Side) -> Iterator[Way]:
    """Tiles as the nest stands, which read all where it lies: with registers for all columns, and masks that take no time, each
    row takes one product for each element, however few columns there are."""
    if upright.few and host().processor.has_avx512:
        across = [] if upright.layout.tile.rows.along_fold else [AtMost(Extent.ELEMENTS, MOST_ACROSS)]
        several = every(AtMost(2, Extent.COLUMNS), *across)
        yield from (Way(Code.TILE, columns, possible, several) for columns, possible in _in_place(upright))


def _of_few_columns(upright: _Side, turned: _Side) -> Iterator[Way]:
    """No tiles, if folds are long; else tiles that are turned, of less columns than fill a vector, and more rows."""
    if _may_lie_along(upright.layout.tile):
        several = every(AtMost(2, Extent.ROWS), AtMost(Extent.COLUMNS, upright.layout.lanes))
        folds = Plus(_folds(upright), _copy(upright))
        # What is estimated may take a quarter more.
        quicker = every(*(AtMost(Times(5, folds), Times(4, tiles)) for tiles in (_packs(turned), _tiles(upright))))
        yield Way(Code.ALONG, None, ALWAYS, every(_more_than(upright.few), several, quicker))
    lanes = turned.layout.lanes
    most: Condition = AtMost(Extent.COLUMNS, lanes)
    if upright.few:
        short = every(AtMost(Extent.ELEMENTS, upright.few), AtMost(Extent.COLUMNS, LEAST_COLUMNS - 1))
        most = Either(short, every(_more_than(upright.few), most))
    high = every(AtMost(lanes, Extent.ROWS), AtMost(Times(2, Extent.COLUMNS), Extent.ROWS))
    worth = every(most, high, _packs_are_cheap(turned))
    # More rows than that are never less than a vector.
    in_place = [(columns, possible) for columns, possible in _in_place(turned) if columns is not Columns.NARROW]
    yield from (Way(Code.TURNED, columns, possible, worth) for columns, possible in in_place)
    yield Way(Code.TURNED, None, ALWAYS, worth)


def _of_more_columns(upright: _Side) -> Iterator[Way]:
    """Tiles as the nest stands, of columns that fill half a vector, or, where nothing is packed, a few of them."""
    cheap, in_place = _packs_are_cheap(upright), [*_in_place(upright)]
    for columns, possible in in_place:
        yield Way(Code.TILE, columns, possible, every(AtMost(LEAST_COLUMNS, Extent.COLUMNS), cheap))
    tile = upright.layout.tile
    least = LEAST_COLUMNS if tile.batch and _reads_in_place(tile) else upright.layout.lanes // 2
    packed = [] if least >= LEAST_COLUMNS or not in_place else [Not(_is_read_in_place(upright))]
    yield Way(Code.TILE, None, ALWAYS, every(AtMost(least, Extent.COLUMNS), *packed, cheap))


def _in_place(side: _Side) -> Iterator[tuple[Columns, Condition]]:
    """How tiles read the columns where they lie, and the sizes for which there is such code."""
    if not _reads_in_place(side.layout.tile):
        return
    can_be, wide = _is_read_in_place(side), AtMost(side.layout.lanes, side.columns)
    yield Columns.NARROW, every(can_be, AtMost(side.columns, side.layout.lanes - 1))
    if _are_matrices(side.layout.tile) and copied_columns(side.layout, most_elements(side.layout)) > 0:
        copied = every(can_be, wide, _are_far(side))
        yield Columns.COPIED, every(copied, _more_than(FEW)) if host().processor.loads_keep_up else copied
    yield Columns.WIDE, every(can_be, wide)


def _is_read_in_place(side: _Side) -> Condition:
    """Whether there is code for so many columns and elements that packs neither."""
    layout, most = side.layout, most_elements(side.layout)
    keeps_up = host().processor.loads_keep_up
    whole = most if keeps_up or not _are_matrices(layout.tile) else MOST
    few: Condition = AtMost(Extent.ELEMENTS, whole)
    if most > whole:
        few = Either(few, every(MultipleOf(Extent.ELEMENTS, PARTS), AtMost(Extent.ELEMENTS, most)))
    if side.few or layout.tile.columns.along_fold:
        return few  # columns are copied or held; packs read as many lines
    return every(few, Not(_are_far(side)))


def _are_far(side: _Side) -> Condition:
    """Whether there are more columns than a first cache has room for."""
    size = Times(side.columns, Times(Extent.ELEMENTS, column_bytes(side.layout)))
    return AtMost(FIRST_CACHE + 1, size)


def _packs_are_cheap(side: _Side) -> Condition:
    """Where memory is read along the fold on both sides, whether packing the columns takes less time than folds by rows, which
    need no packs."""
    tile = side.layout.tile
    is_along = tile.rows.along_fold and tile.columns.along_fold
    return AtMost(Plus(_packs(side), 1), _folds(side)) if is_along else ALWAYS


# Times, in that in which a fold by rows takes in 4 bytes.


def _folds(side: _Side) -> Size:
    """Of folds that read memory along the fold."""
    return Times(Times(side.rows, side.columns), Plus(_words(side), host().processor.fold_time))


def _copy(side: _Side) -> Size:
    """Of a copy of the columns, along the fold."""
    return Times(side.columns, Times(_words(side), host().processor.pack_time))


def _packs(side: _Side) -> Size:
    """Of packing the columns."""
    return Times(_up_to(side.columns, side.layout.columns), Times(_words(side), host().processor.pack_time))


def _tiles(side: _Side) -> Size:
    """Of packing both sides and multiplying them, of columns that are no more than a vector."""
    processor, rows = host().processor, _up_to(side.rows, side.layout.rows)
    packs = Times(Plus(rows, side.layout.lanes), processor.pack_time)
    return Times(_words(side), Plus(packs, Times(rows, processor.product_time)))


def _words(side: _Side) -> Size:
    """4 bytes each, of what folds need of all elements of a column."""
    words = max(1, sum(stream.type.bytes for stream in side.layout.tile.columns.streams) // 4)
    return Times(Extent.ELEMENTS, words) if words > 1 else Extent.ELEMENTS


def _up_to(size: Size, multiple: int) -> Size:
    return Times(Parts(size, multiple), multiple)


def _may_lie_along(tile: Tile) -> bool:
    """Whether the columns are a matrix, which nothing else reads or writes, and may be copied so that folds read it along
    memory, as they read the rows."""
    matrix = matrix_of(tile, tile.columns)
    if matrix is None or tile.batch or not tile.rows.along_fold:
        return False
    every_array = [s.array for s in (*tile.rows.statements, *tile.around, *tile.results) if isinstance(s, Read | Write)]
    return matrix.array not in every_array


def _more_than(elements: int) -> Condition:
    return AtMost(elements + 1, Extent.ELEMENTS) if elements else ALWAYS


def _reads_in_place(tile: Tile) -> bool:
    """Whether both sides only read arrays and compute, and folds are in an order; and no side divides the index of its loop,
    which packs do once for a row."""
    sides = (*tile.rows.statements, *tile.columns.statements)
    plain = all(isinstance(statement, Read | OneToOne) for statement in sides)
    return plain and tile.order_lanes > 1 and tile.rows.own is None and tile.columns.own is None


def _are_matrices(tile: Tile) -> bool:
    return all(matrix_of(tile, side) is not None for side in (tile.rows, tile.columns))
