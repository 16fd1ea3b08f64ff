"""Products in groups of work-items: what two loops share is folded tile by tile, through the memory that a group shares.

In: a nest, and the tile in it (`accel/schedule/templates/tile.py`). Out: its schedules. A group has 64 by 64 results, a
work-item 16 of them in registers. What rows and columns of the tile need is fetched for 16 elements of a lane at a time, and
used by 64 columns or rows each. Lanes of the order run one after the other, those that join next to each other [Low et al.].
Large products have 64 in the registers of a work-item (of 8 bytes 32), in groups of 64. What their rows and columns need is
made before, and lies in memory in the order in which tiles use it.
"""

from __future__ import annotations

from accel.ir import mentions
from accel.ir.flow import made, needed
from accel.ir.nodes import LoopBody, Nest
from accel.schedule.legality import ORDERS, is_repeatable
from accel.schedule.nodes import Kind, Schedule, Template
from accel.schedule.rules import flip, kind, named, original, pack, subdivide
from accel.schedule.templates.tile import Side, Tile, tile
from accel.support.dataclass import dataclass

SIDE = 16
"""Work-items along each side of a tile."""

EACH = 4
"""Rows, and columns, of a work-item, at most, where what they need is fetched as it lies."""

DEPTH = 16
"""Elements of a lane that are fetched at once."""

PACKED_DEPTH = 8
"""The same of what was packed before, of which the next ones are on the way while these are combined."""

PACKED_SIDE = 8
"""Work-items along each side of such a tile: several groups have room on a processor of the device, which wait apart."""

VECTOR_BYTES = 16
"""What a work-item reads at once of that, so that neighbours read all banks of local memory."""

MOST_STREAM_BYTES = 24
"""Of what a row and a column need for one element: of these a group fetches 16 for each of 64."""

MOST_STATE_BYTES = 16
"""Of the partial results of one result."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Rows and columns of a work-item, elements of a lane that a group fetches at once, and work-items along each side of its
    tile. `near`: so many rows, and columns, of a work-item are neighbours, read at once; more than one where what
    they need was packed before."""

    rows: int
    columns: int
    depth: int
    side: int
    near: int

    @property
    def packed(self) -> bool:
        """Whether what rows and columns need was made before."""
        return self.near > 1

    @property
    def group(self) -> int:
        """Work-items."""
        return self.side**2


def by_item_tiles(nest: Nest, found: Tile, shape: Shape) -> Schedule:
    """Rows and columns of a tile in work-items, some of each written out innermost; what the tile reads is packed."""
    row = len(found.batch)
    schedule = original(nest)
    ordered = schedule.pieces[row + 2].axis.role in ORDERS
    schedule = subdivide(schedule, row + 2, found.order_lanes if ordered else shape.depth)
    if ordered:
        schedule = flip(schedule, row + 3)
        schedule = subdivide(schedule, row + 4, shape.depth)
    for at, each in ((row + 1, shape.columns), (row, shape.rows)):
        schedule = subdivide(subdivide(schedule, at, shape.side), at, each)
    # As they are: parts of rows (all, those written out, work-items), the same of columns, parts of the fold.
    schedule = _moved(schedule, row + 3, row + 1)
    schedule = _moved(schedule, row + 2, len(schedule.pieces) - 1)
    schedule = _moved(schedule, row + 3, len(schedule.pieces) - 1)
    for at in range(row + 2):
        schedule = kind(schedule, at, Kind.PARALLEL)
    for at in (row + 2, row + 3):
        schedule = kind(schedule, at, Kind.ITEM)
    last = len(schedule.pieces) - 1
    for at in (last - 1, last):
        schedule = kind(schedule, at, Kind.REGISTER)
    makers = {stream for statement in mentions.statements(nest) for stream in made(statement)}
    streams = [each.name for side in (found.rows, found.columns) for each in side.streams if each in makers]
    schedule = pack(schedule, streams, last - 2) if streams else schedule
    return named(schedule, Template.PACKED_TILES if shape.packed else Template.ITEM_TILES)


def _moved(schedule: Schedule, at: int, to: int) -> Schedule:
    """Piece `at` at another place, all between moved up or down by one."""
    while at > to:
        at -= 1
        schedule = flip(schedule, at)
    while at < to:
        schedule = flip(schedule, at)
        at += 1
    return schedule


def suited(nest: Nest) -> Tile | None:
    """The tile in a nest, if what it needs fits into local memory and registers."""
    found = tile(nest)
    if found is None or not all(map(is_repeatable, nest.body.before)) or _state_bytes(found) > MOST_STATE_BYTES:
        return None
    streams = [stream for side in (found.rows, found.columns) for stream in side.streams]
    return found if sum(stream.type.bytes for stream in streams) <= MOST_STREAM_BYTES else None


def item_shape(found: Tile) -> Shape:
    """As many rows and columns of a work-item as registers serve, since each level of the tree of lanes has a value."""
    each = EACH if _state_bytes(found) <= 4 else EACH // 2
    return Shape(each, each, DEPTH, SIDE, near=1)


def packed_shape(found: Tile) -> Shape | None:
    """The same where both sides are packed before and values of the tree of lanes wait in memory; None if that does not suit:
    for folds of one number of 4 or 8 bytes, to each element of which rows and columns bring one no larger."""
    size, numbers = _state_bytes(found), sum(len(state.types) for state in found.fold.states)
    if size not in (4, 8) or numbers != 1 or not (_brings_one(found.rows, size) and _brings_one(found.columns, size)):
        return None
    inside: list[LoopBody] = [*found.inside, *found.steps]
    if any(found.fold.index in needed(statement) for statement in inside):
        return None
    return Shape(8, 8 if size == 4 else 4, PACKED_DEPTH, PACKED_SIDE, near=VECTOR_BYTES // size)


def _brings_one(side: Side, size: int) -> bool:
    """Whether a row, or column, has one number for each element, of no more bytes than that."""
    makers = {stream for statement in side.statements for stream in made(statement)}
    brought = [stream for stream in side.streams if stream in makers]
    return len(brought) == 1 and brought[0].type.bytes <= size


def _state_bytes(found: Tile) -> int:
    return sum(kind.bytes for state in found.fold.states for kind in state.types)
