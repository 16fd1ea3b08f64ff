"""The kernels of a nest, as its schedules say (accel/schedule/templates/work_items.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.kernel import Amount, Choice, NestKernels, Scaffold
from accel.backends.opencl.loops.flat import Flat, flat, merged_where_possible, products
from accel.backends.opencl.loops.folds import blocks_of_lanes
from accel.backends.opencl.loops.gpu.block_groups import Groups, groups_of_blocks, is_alone
from accel.backends.opencl.loops.gpu.chains.group_scans import chain_in_groups
from accel.backends.opencl.loops.gpu.column_groups import groups_of_columns
from accel.backends.opencl.loops.gpu.copies import into_copies
from accel.backends.opencl.loops.gpu.few_items import few_to_an_item
from accel.backends.opencl.loops.gpu.lane_rows import rows_in_lanes
from accel.backends.opencl.loops.gpu.patches import Patches, in_patches
from accel.backends.opencl.loops.gpu.places import Places, in_temporaries
from accel.backends.opencl.loops.gpu.products.packed_tiles import packed_tiles, suits_packed
from accel.backends.opencl.loops.gpu.products.product_tiles import product_tiles, suits
from accel.backends.opencl.loops.gpu.row_series import SeriesKernels, rows_together
from accel.backends.opencl.loops.gpu.runs import combine_runs
from accel.backends.opencl.loops.gpu.segments import segments
from accel.backends.opencl.loops.gpu.turned_blocks import EDGE, extents, turned
from accel.backends.opencl.loops.lines import in_lines
from accel.backends.opencl.loops.maps import one_item_per_index
from accel.backends.opencl.loops.rows import Rows, around, inside
from accel.backends.opencl.loops.scans import chained_blocks
from accel.backends.opencl.loops.sequential import sequential
from accel.backends.opencl.loops.strips import in_strips
from accel.errors import AccelInternalError
from accel.labelled.meaning.order import BLOCK
from accel.schedule.nodes import Schedule, Series, Template
from accel.schedule.templates.blocks import Blocks
from accel.schedule.templates.copies import copied_scatters
from accel.schedule.templates.gpu.maps import PATCH_COLUMNS
from accel.schedule.templates.gpu.ordered_scatters import Runs
from accel.schedule.templates.gpu.row_series import in_row_groups
from accel.schedule.templates.tile import Tile
from accel.schedule.templates.ways import Parts, Way

LONG_ROW = 256
"""Elements of a row from which on a work-group scans it faster than a single work-item."""


def kernels(scaffold: Scaffold, ways: Sequence[Way]) -> NestKernels:
    """Those of the scaffold's nest."""
    scaffold.counts(axis for way in ways for schedule in way.schedules for axis in products(schedule))
    match ways:
        case [Way(finding=Parts() as found)]:
            return _parts(scaffold, found)
        case [Way(schedules, Tile() as found), *others]:
            return _tiles(scaffold, schedules[0], found, others)
        case [Way(schedules)]:
            return _only(scaffold, schedules)
        case [Way(_, Blocks() as found), Way(schedules)]:
            return _turned(scaffold, found, schedules)
        case [Way(schedules), Way()] if schedules[0].template is Template.COPIES:
            axis = schedules[0].pieces[0].axis
            return into_copies(scaffold, flat(scaffold.nest, axis), copied_scatters(scaffold.nest))
        case [Way(patched), Way(items)] if patched[0].template is Template.PATCHES:
            return _patches(scaffold, patched[0], items[0])
        case [Way(lined), *others] if lined[0].template is Template.LINES:
            return in_lines(scaffold, lined[0]) or kernels(scaffold, others)
        case [Way(stripped), Way(items)] if stripped[0].template is Template.STRIPS:
            return in_strips(scaffold, stripped[0], _shared_out(scaffold, items[0]))
        case [Way(groups), Way()] if groups[0].template is Template.GROUP_CHAIN:
            return _scanned_rows(scaffold, groups[0])
        case [Way(rows), Way(blocks)]:
            return _rows(scaffold, rows, blocks)
        case _:
            raise AccelInternalError(f"{len(ways)} ways to run a nest")


def _tiles(scaffold: Scaffold, schedule: Schedule, found: Tile, others: Sequence[Way]) -> NestKernels:
    """Tiles where these serve; else one of the other ways. Whatever has packed tiles would have the other ones, too."""
    if schedule.template is Template.PACKED_TILES:
        where = suits_packed(found)
        packed_tiles(scaffold, found, where)
    else:
        where = suits(found)
        product_tiles(scaffold, found, where)
    scaffold.unless = where
    return replace(kernels(scaffold, others), schedule="tiles of a product in work-groups if it is large")


def series_kernels(series: Series, name: str, context: Context) -> SeriesKernels | None:
    """Those of a series; None if its rows do not fit into local memory."""
    schedules = [in_row_groups(nest, context.features.machine, len(series.extents)) for nest in series.nests]
    assert all(schedule is not None for schedule in schedules), "nests of a series run by rows"
    return rows_together(series, [schedule for schedule in schedules if schedule is not None], name, context)


def _parts(scaffold: Scaffold, found: Parts) -> NestKernels:
    """Those of each part, one after the other."""
    for array, room in found.rooms.items():
        scaffold.room(array, room)
    names = []
    for number, part in enumerate(found.parts):
        if isinstance(part, Runs):
            combine_runs(scaffold.part(scaffold.nest, number), part)
            names.append("runs of equal targets")
        else:
            names.append(kernels(scaffold.part(part.nest, number), part.ways).schedule)
    return scaffold.done("; then ".join(names))


def _only(scaffold: Scaffold, schedules: Sequence[Schedule]) -> NestKernels:
    first, nest = schedules[0], scaffold.nest
    match first.template:
        case Template.LITERAL:
            return sequential(scaffold)
        case Template.ITEMS:
            return one_item_per_index(scaffold, _shared_out(scaffold, first))
        case Template.STRIPS:
            return in_strips(scaffold, first)
        case Template.FEW_ITEMS:
            return few_to_an_item(scaffold, first)
        case Template.GROUPS:
            whole = merged_where_possible(flat(nest, first.pieces[0].axis), nest)
            return blocks_of_lanes(scaffold, whole, schedules)
        case Template.BLOCK_GROUPS:
            return _blocks(scaffold, schedules)
        case Template.COLUMN_GROUPS:
            return _columns(scaffold, first)
        case Template.SEGMENTS:
            return segments(scaffold, first)
        case Template.CHAIN:
            return chained_blocks(scaffold, first)
        case Template.GROUP_CHAIN:
            return chain_in_groups(scaffold, around(nest), flat(nest, first.pieces[0].axis), first, 0)
        case (
            Template.ROWS | Template.MERGED | Template.COLUMNS | Template.COLUMN_SCANS | Template.BLOCKS
            | Template.SHORT_ROWS | Template.POSITIONS | Template.INTERLEAVED | Template.ROW_GROUPS | Template.TILE
            | Template.COPIES | Template.LANE_ROWS | Template.TURNED_BLOCKS | Template.ITEM_TILES | Template.PACKED_TILES
            | Template.PATCHES | Template.LINES
        ):  # fmt: skip
            raise AccelInternalError(f"no kernels run nests as {first.template.value}")
        case _:
            assert_never(first.template)


def _shared_out(scaffold: Scaffold, schedule: Schedule) -> Flat:
    """The loops that work-items share out, without divisions where arrays lie as they run."""
    return merged_where_possible(flat(scaffold.nest, schedule.pieces[0].axis), scaffold.nest)


def _patches(scaffold: Scaffold, schedule: Schedule, items: Schedule) -> NestKernels:
    """Patches where columns are enough for a quarter of a group; else a work-item per index."""
    found = Patches(scaffold.nest, schedule)
    large, small = (Choice(found.columns.extents, PATCH_COLUMNS // 4, below) for below in (False, True))
    in_patches(scaffold, found, large)
    one_item_per_index(scaffold, _shared_out(scaffold, items), small)
    return scaffold.done("a work-group for a patch of rows and columns if these are many, else one work-item per index")


def _turned(scaffold: Scaffold, found: Blocks, items: Sequence[Schedule]) -> NestKernels:
    """Blocks that a group turns, where rows and columns are long enough to fill them by half; else a work-item per index."""
    (schedule,) = items
    large, small = (Choice(extents(found), EDGE // 2, below, least=True) for below in (False, True))
    turned(scaffold, found, large)
    one_item_per_index(scaffold, _shared_out(scaffold, schedule), small)
    return scaffold.done("a work-group turns a block")


def _blocks(scaffold: Scaffold, slices: Sequence[Schedule]) -> NestKernels:
    """A fold of all, by groups of blocks."""
    nest = scaffold.nest
    whole = merged_where_possible(flat(nest, slices[0].pieces[0].axis), nest)
    groups = _groups(around(nest), whole, slices, 1)
    groups_of_blocks(scaffold, groups, slices, 0, _ends(scaffold, groups, slices, 0))
    return scaffold.done("a work-group for some blocks of a fold")


def _rows(scaffold: Scaffold, in_lanes: Sequence[Schedule], in_blocks: Sequence[Schedule]) -> NestKernels:
    """Some rows in a group where they are no longer than a block; else groups of blocks."""
    nest = scaffold.nest
    outer, inner = (flat(nest, in_blocks[0].pieces[at].axis) for at in (0, 1))
    groups = _groups(inside(nest, outer), inner, in_blocks, 2)
    ends = _ends(scaffold, groups, in_blocks, 1)
    rows_in_lanes(scaffold, groups.rows, inner, in_lanes, ends)
    groups_of_blocks(scaffold, groups, in_blocks, 1, ends, Choice(inner.extents, BLOCK + 1, below=False))
    return scaffold.done("some rows in a work-group, or some blocks of a row")


def _columns(scaffold: Scaffold, schedule: Schedule) -> NestKernels:
    nest = scaffold.nest
    outer, inner = (flat(nest, schedule.pieces[at].axis) for at in (0, 1))
    count = Amount(inner.extents, BLOCK, outer.extents, above=0 if inner.needed else BLOCK + 1)
    ends = in_temporaries(scaffold, [schedule], schedule.pieces[1].axis, count)
    groups_of_columns(scaffold, inside(nest, outer), inner, schedule, ends)
    return scaffold.done("a work-group for a block of some columns")


def _groups(rows: Rows, whole: Flat, slices: Sequence[Schedule], blocks: int) -> Groups:
    """`blocks`: the piece that is the blocks of a group."""
    size = slices[0].pieces[blocks].size
    assert isinstance(size, int)
    return Groups(rows, whole, size)


def _ends(scaffold: Scaffold, groups: Groups, slices: Sequence[Schedule], at: int) -> Places:
    """For what groups leave of the axis of piece `at`, at least one for each row; none where the only group of a row writes
    what stands after it."""
    alone = is_alone(groups, slices)
    above = groups.longest + 1 if alone else 0
    parts = Amount(groups.flat.extents, groups.longest, least=0 if alone else 1, above=above)
    count = Amount(rows=groups.rows.extents, times=(parts,))
    return in_temporaries(scaffold, slices, slices[0].pieces[at].axis, count)


def _scanned_rows(scaffold: Scaffold, groups: Schedule) -> NestKernels:
    """Work-groups for the blocks of rows where these are long, else a work-item for each row."""
    nest = scaffold.nest
    outer, inner = (flat(nest, groups.pieces[at].axis) for at in (0, 1))
    long, short = (Choice(inner.extents, LONG_ROW, below=below) for below in (False, True))
    chain_in_groups(scaffold, inside(nest, outer), inner, groups, 1, long)
    one_item_per_index(scaffold, outer, short)
    return scaffold.done("work-groups scan rows if these are long, else a work-item each")
