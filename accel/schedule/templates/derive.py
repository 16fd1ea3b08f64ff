"""The schedules of templates other than rows, as derivations from the nest's own order.

In: a nest, and what a template found in it. Out: its schedule. Sizes that a backend chooses by its registers and caches are
parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from accel.ir import mentions
from accel.ir.flow import made
from accel.ir.mentions import loops
from accel.ir.nodes import For, Nest, Stream
from accel.schedule.axes import in_nest_order, in_whole_blocks
from accel.schedule.legality import ORDERS, against_subdividing, most_lanes
from accel.schedule.nodes import Kind, Parameter, Part, Schedule, Template
from accel.schedule.rules import flatten, flip, keep, kind, named, original, pack, subdivide
from accel.schedule.templates.blocks import Across, Blocks
from accel.schedule.templates.column_scans import ColumnScans
from accel.schedule.templates.columns import Columns
from accel.schedule.templates.cpu.interleaved import Interleaved
from accel.schedule.templates.cpu.positions import Positions, extents
from accel.schedule.templates.row_groups import RowGroups
from accel.schedule.templates.rows import CHUNK, kept_in_lanes
from accel.schedule.templates.short_rows import ShortRows
from accel.schedule.templates.tile import Tile

ROWS, COLUMNS, DEPTH = Parameter("rows"), Parameter("columns"), Parameter("depth")
"""Of a tile, and how much of an exact fold it takes at once."""

STRIP = Parameter("strip")
"""Columns that are folded or scanned together."""

EDGE = Parameter("edge")
"""Of a block that is transposed."""

GROUP = Parameter("group")
"""Rows that are folded, or computed, together."""


def by_tiles(nest: Nest, found: Tile) -> Schedule:
    """Rows and columns of a tile innermost, lanes of the fold one after the other, what the tile reads packed [Low et al.]."""
    row = len(found.batch)
    schedule = original(nest)
    ordered = schedule.pieces[row + 2].axis.role in ORDERS
    schedule = subdivide(schedule, row + 2, found.order_lanes if ordered else DEPTH)
    if ordered:
        schedule = flip(schedule, row + 3)
    schedule = subdivide(subdivide(schedule, row + 1, COLUMNS), row, ROWS)
    schedule = flip(schedule, row + 1)
    for depth in (row, row + 1):
        schedule = _innermost(schedule, depth)
    schedule = _kinds(schedule, len(schedule.pieces) - 2)
    made_by = {stream for statement in mentions.statements(nest) for stream in made(statement)}
    for at, side in ((row, found.columns), (row + 1, found.rows)):
        schedule = _packed(schedule, [stream for stream in side.streams if stream in made_by], at)
    return named(schedule, Template.TILE)


def by_columns(nest: Nest, found: Columns) -> Schedule:
    """A strip of columns innermost: rows of memory stream by, and each column's partial results are kept."""
    every = loops(nest)
    schedule, maps = _in_whole_blocks(original(nest), found.lanes), len(found.outer) + 1
    (lanes,) = (depth for depth, loop in enumerate(every) if loop.index == found.lanes.index)
    for at in range(lanes, maps - 1):
        schedule = flip(schedule, at)
    for at in reversed(range(maps, len(every))):
        # A loop without states steps those of one around it.
        schedule = _in_order(schedule, at) if every[at].states else flatten(schedule, at - 1)
    schedule = _in_lanes(schedule, maps - 1, STRIP)
    return named(_kinds(_innermost(schedule, lanes)), Template.COLUMNS)


def by_column_scans(nest: Nest, found: ColumnScans) -> Schedule:
    """A strip of columns innermost, each scanned in a lane of its own."""
    every = loops(nest)
    schedule, maps = original(nest), len(every) - 1
    for at in range(every.index(found.lanes), maps - 1):
        schedule = flip(schedule, at)
    schedule = subdivide(schedule, maps - 1, STRIP)
    return named(_kinds(_innermost(schedule, every.index(found.lanes))), Template.COLUMN_SCANS)


def by_blocks(nest: Nest, found: Blocks) -> Schedule:
    """Blocks of the lanes' axis and of those that arrays run along, what runs across packed: transposed in registers."""
    return named(_across(_kinds(_in_blocks(nest, found)), found.across, len(found.loops)), Template.BLOCKS)


def by_turned_blocks(nest: Nest, found: Blocks) -> Schedule:
    """The same blocks, each in a group of work-items, in whose memory what runs across is packed."""
    schedule = _in_blocks(nest, found)
    for at, piece in enumerate(schedule.pieces):
        schedule = kind(schedule, at, Kind.PARALLEL if piece.size is None else Kind.ITEM)
    return named(_across(schedule, found.across, len(found.loops)), Template.TURNED_BLOCKS)


def _in_blocks(nest: Nest, found: Blocks) -> Schedule:
    schedule, depths = original(nest), _depths(found.loops, (*found.axes, found.lanes))
    for depth in reversed(depths):
        schedule = subdivide(schedule, depth, EDGE)
    for depth in depths:
        schedule = _innermost(schedule, depth)
    return schedule


def by_short_rows(nest: Nest, found: ShortRows) -> Schedule:
    """A group of rows innermost, each folded in a lane of its own; rows that are folded in order are lanes of that."""
    row = len(found.loops) - 1
    schedule = _in_order(_in_whole_blocks(original(nest), found.lanes), row + 1)
    schedule = _in_lanes(schedule, row, GROUP)
    inner = len([piece for piece in schedule.pieces if row in piece.axis.depths]) - 1
    schedule = _innermost(schedule, row)
    return named(_across(_kinds(schedule), found.across, row + inner), Template.SHORT_ROWS)


def by_positions(nest: Nest, found: Positions) -> Schedule:
    """All loops as one, in lanes, wherever its rows end."""
    schedule = original(nest)
    for _ in found.loops[1:]:
        schedule = flatten(schedule, 0)
    return named(_kinds(subdivide(schedule, 0, CHUNK)), Template.POSITIONS)


def by_interleaved(nest: Nest, found: Interleaved) -> Schedule:
    """A vector of rows innermost, each in a lane; what their columns come to is interleaved."""
    row = len(found.outer)
    schedule = original(nest)
    if found.divided:
        (columns,) = extents(found.columns)
        schedule = subdivide(schedule, row, columns.offset)
    for at in reversed(range(row + 1, len(schedule.pieces))):
        schedule = _in_order(schedule, at)
    schedule = subdivide(schedule, row, GROUP)
    for at in range(row + 1, len(schedule.pieces) - 1):
        schedule = flip(schedule, at)
    return named(_kinds(schedule), Template.INTERLEAVED)


def by_row_groups(nest: Nest, found: RowGroups) -> Schedule:
    """A few rows innermost around the lanes, which are of one row: all take the next elements of theirs."""
    row = len(found.loops) - 1
    schedule = original(nest)
    for state, accumulation in (kept_in_lanes(nest, found.fold, found.fold.states) or {}).items():
        schedule = keep(schedule, state, accumulation)
    for at in reversed(range(row + 1, len(schedule.pieces))):
        schedule = _in_order(schedule, at)
    schedule = subdivide(schedule, row, GROUP)
    for at in range(row + 1, len(schedule.pieces) - 2):
        schedule = flip(schedule, at)
    return named(_kinds(schedule), Template.ROW_GROUPS)


def _depths(every: Sequence[For], some: Iterable[For]) -> list[int]:
    return [every.index(loop) for loop in some]


def _in_order(schedule: Schedule, at: int) -> Schedule:
    """Piece `at` as blocks, steps and lanes, if its elements have an order."""
    piece = schedule.pieces[at]
    if piece.axis.role not in ORDERS:
        return schedule
    lanes = most_lanes(schedule, piece.axis)
    return schedule if against_subdividing(schedule, piece, lanes) else subdivide(schedule, at, lanes)


def _in_whole_blocks(schedule: Schedule, loop: For) -> Schedule:
    """The states of a loop whose iterations are lanes, each with a loop of its own, fold what these come to."""
    for state in loop.states:
        if in_whole_blocks(state) is not in_nest_order(state):
            schedule = keep(schedule, state.name, in_whole_blocks(state))
    return schedule


def _in_lanes(schedule: Schedule, at: int, size: Parameter) -> Schedule:
    """Piece `at` in parts of which the innermost may run in lanes: of so many iterations, unless elements have an order."""
    ordered = schedule.pieces[at].axis.role in ORDERS
    return _in_order(schedule, at) if ordered else subdivide(schedule, at, size)


def _innermost(schedule: Schedule, depth: int) -> Schedule:
    """The inner part of the axis of this loop, or its lanes, moves to the end."""
    parts = [piece.part in (Part.INNER, Part.LANE) and depth in piece.axis.depths for piece in schedule.pieces]
    for at in range(parts.index(True), len(parts) - 1):
        schedule = flip(schedule, at)
    return schedule


def _kinds(schedule: Schedule, written_out: int | None = None) -> Schedule:
    """The outermost piece on threads, the innermost one in lanes; one perhaps written out."""
    if written_out is not None:
        schedule = kind(schedule, written_out, Kind.REGISTER)
    return kind(kind(schedule, 0, Kind.PARALLEL), len(schedule.pieces) - 1, Kind.VECTOR)


def _across(schedule: Schedule, across: Iterable[Across], at: int) -> Schedule:
    return _packed(schedule, [each.read.out for each in across], at)


def _packed(schedule: Schedule, streams: Sequence[Stream], at: int) -> Schedule:
    return pack(schedule, [stream.name for stream in streams], at) if streams else schedule
