"""Products in groups of work-items: what two loops share is folded tile by tile, through the memory that a group shares.

In: a nest, and the tile in it (`accel/schedule/templates/tile.py`). Out: its schedule. A group has 64 by 64 results, a
work-item 16 of them in registers. What rows and columns of the tile need is fetched for 16 elements of a lane at a time, and
used by 64 columns or rows each. Lanes of the order run one after the other, those that join next to each other [Low et al.].
"""

from __future__ import annotations

from accel.ir import mentions
from accel.ir.flow import made
from accel.ir.nodes import Nest
from accel.schedule.legality import ORDERS, is_repeatable
from accel.schedule.nodes import Kind, Schedule, Template
from accel.schedule.rules import flip, kind, named, original, pack, subdivide
from accel.schedule.templates.tile import Tile, tile

SIDE = 16
"""Work-items along each side of a tile."""

EACH = 4
"""Rows, and columns, of a work-item, at most."""

DEPTH = 16
"""Elements of a lane that are fetched at once."""

MOST_STREAM_BYTES = 24
"""Of what a row and a column need for one element: of these a group fetches 16 for each of 64."""

MOST_STATE_BYTES = 16
"""Of the partial results of one result."""


def by_item_tiles(nest: Nest, found: Tile) -> Schedule:
    """Rows and columns of a tile in work-items, four of each written out innermost; what the tile reads is packed."""
    row = len(found.batch)
    schedule = original(nest)
    ordered = schedule.pieces[row + 2].axis.role in ORDERS
    schedule = subdivide(schedule, row + 2, found.order_lanes if ordered else DEPTH)
    if ordered:
        schedule = flip(schedule, row + 3)
        schedule = subdivide(schedule, row + 4, DEPTH)
    for at in (row + 1, row):
        schedule = subdivide(subdivide(schedule, at, SIDE), at, each_side(found))
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
    return named(schedule, Template.ITEM_TILES)


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


def each_side(found: Tile) -> int:
    """Rows, and columns, of a work-item: as many as registers serve, since each level of the tree of lanes has a value."""
    return EACH if _state_bytes(found) <= 4 else EACH // 2


def _state_bytes(found: Tile) -> int:
    return sum(kind.bytes for state in found.fold.states for kind in state.types)
