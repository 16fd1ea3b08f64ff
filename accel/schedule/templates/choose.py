"""The ways to run a nest: by the templates that suit it, the best first, and by rows, which suit every nest.

Which of them runs is found out at each launch, from extents and strides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from accel.ir import mentions
from accel.ir.nodes import Nest, Program
from accel.schedule.machine import Machine, Processor, WorkItems
from accel.schedule.nodes import Kind, Schedule
from accel.schedule.splitting.bounds import without_checks
from accel.schedule.templates.blocks import Blocks, blocks
from accel.schedule.templates.chain import chain
from accel.schedule.templates.column_scans import ColumnScans, column_scans
from accel.schedule.templates.columns import Columns, columns
from accel.schedule.templates.copies import copies
from accel.schedule.templates.cpu.folded_rows import folded_rows
from accel.schedule.templates.cpu.interleaved import interleaved
from accel.schedule.templates.cpu.packed_folds import packed_folds
from accel.schedule.templates.cpu.positions import positions
from accel.schedule.templates.cpu.strips import lines, strips, suits_all
from accel.schedule.templates.derive import (
    by_blocks,
    by_column_scans,
    by_columns,
    by_interleaved,
    by_positions,
    by_row_groups,
    by_short_rows,
    by_tiles,
    by_turned_blocks,
)
from accel.schedule.templates.gpu.chains import chains
from accel.schedule.templates.gpu.folds import folds
from accel.schedule.templates.gpu.maps import few_elements, patches, turned_blocks
from accel.schedule.templates.gpu.ordered_scatters import Runs
from accel.schedule.templates.gpu.product_tiles import by_item_tiles, item_shape, packed_shape, suited
from accel.schedule.templates.gpu.row_series import in_groups
from accel.schedule.templates.gpu.scatters import scatters
from accel.schedule.templates.gpu.segments import segments
from accel.schedule.templates.gpu.split import split
from accel.schedule.templates.row_groups import row_groups
from accel.schedule.templates.rows import carried_rows, copied_rows, lined_rows, merged_rows, rows
from accel.schedule.templates.series import ByRows, Rows, on_processor, program_series, tiles_of_rows, verify_series
from accel.schedule.templates.short_rows import short_rows
from accel.schedule.templates.tile import Tile, tile
from accel.schedule.templates.ways import NestSchedules, Parts, ProgramSchedules, Way
from accel.schedule.templates.work_items import by_work_items
from accel.schedule.verify import verify


def schedules(nest: Nest, machine: Machine) -> NestSchedules:
    """Those of a nest."""
    match machine:
        case Processor():
            unchecked, bounds = without_checks(nest, reads=tile(nest) is not None)
            read, _ = without_checks(nest, reads=True)
            found = read if blocks(read) is not None else unchecked
            return replace(_on_processor(found, tile(found)), nest=nest, bounds=bounds)
        case WorkItems():
            return NestSchedules(nest, _ways(nest, machine))
        case _:
            assert_never(machine)


def without_tiles(nest: Nest) -> NestSchedules:
    """Those of a nest on a processor for sizes that tiles are not for."""
    return _on_processor(nest, None)


def _on_processor(nest: Nest, in_tiles: Tile | None) -> NestSchedules:
    by_rows = rows(nest)
    others = tuple(_before_rows(nest, by_rows, in_tiles))
    if not others and (in_lines := lined_rows(nest)) is not None:
        return NestSchedules(nest, (Way((in_lines,)),))
    return NestSchedules(nest, (*others, *_over_positions(nest, by_rows), Way((by_rows,))))


def _ways(nest: Nest, machine: WorkItems) -> tuple[Way, ...]:
    """Those in work-items. On a GPU what would run in one of them is split, if that serves; elsewhere folds of stencils."""
    parts = split(nest, machine) if machine.gpu else packed_folds(nest)
    if parts is None:
        return tuple(_in_work_items(nest, machine))
    made = tuple(
        part if isinstance(part, Runs) else NestSchedules(part, tuple(_in_work_items(part, machine)))
        for part in parts.parts
    )
    every = tuple(schedule for part in made if isinstance(part, NestSchedules) for schedule in part.schedules)
    return (Way(every, Parts(made, parts.rooms)),)


def _in_work_items(nest: Nest, machine: WorkItems) -> Iterator[Way]:
    """Each way as one schedule, or as those of slices of the nest; on a GPU by groups, where they serve, and so that
    neighbours read neighbours where that can be. On other devices maps run in strips, or in patches if they read across."""
    if machine.gpu:
        if (in_tiles := suited(nest)) is not None:
            if (packed := packed_shape(in_tiles)) is not None:
                yield Way((by_item_tiles(nest, in_tiles, packed),), in_tiles)
            yield Way((by_item_tiles(nest, in_tiles, item_shape(in_tiles)),), in_tiles)
        for template in (folds, chains, scatters, segments):
            if in_groups := tuple(template(nest, machine)):
                yield from map(Way, in_groups)
                return
        if (few := few_elements(nest)) is not None:
            yield Way((few,))
            return
    turned = turned_blocks(nest)
    if turned is not None and machine.gpu:
        yield Way((by_turned_blocks(nest, turned),), turned)
    elif (mapped := patches(nest) if machine.gpu or turned is not None else strips(nest)) is not None:
        if not machine.gpu and (rows_of_lines := lines(nest)) is not None:
            yield Way((rows_of_lines,))
        yield Way((mapped,))
        if suits_all(mapped):
            return
    yield from map(Way, by_work_items(nest, machine))


def _before_rows(nest: Nest, by_rows: Schedule, in_tiles: Tile | None) -> Iterator[Way]:
    """The other ways, the best first; behind them what brings more threads to loops whose rows run on one."""
    if _in_lanes(by_rows):
        for small in folded_rows(nest):
            yield Way((by_interleaved(nest, small),), small)
    if in_tiles is not None:
        yield Way((by_tiles(nest, in_tiles),), in_tiles)
    else:
        yield from _in_other_orders(nest, by_rows)
    if (chained := chain(by_rows)) is not None:
        yield Way((carried_rows(nest),), chained)
    if (copied := copies(nest)) is not None:
        yield Way((copied_rows(nest),), copied)
    if (merged := merged_rows(by_rows)) is not None:
        yield Way((merged,))


def _over_positions(nest: Nest, by_rows: Schedule) -> Iterator[Way]:
    """Rows, but in lanes over them, or over the positions of all of them."""
    if _in_lanes(by_rows) and (rows_in_lanes := interleaved(nest)) is not None:
        yield Way((by_interleaved(nest, rows_in_lanes),), rows_in_lanes)
    if _in_lanes(by_rows) and (found := positions(nest)) is not None:
        yield Way((by_positions(nest, found),), found)


def _in_lanes(by_rows: Schedule) -> bool:
    return bool(by_rows.pieces) and by_rows.pieces[-1].kind is Kind.VECTOR


def _in_other_orders(nest: Nest, by_rows: Schedule) -> Iterator[Way]:
    if _in_lanes(by_rows) and (blocked := blocks(nest)) is not None:
        yield Way((by_blocks(nest, blocked),), blocked)
    if (groups := row_groups(nest)) is not None:
        yield Way((by_row_groups(nest, groups),), groups)
    if (short := short_rows(nest)) is not None:
        yield Way((by_short_rows(nest, short),), short)
    if (in_columns := columns(nest)) is not None:
        yield Way((by_columns(nest, in_columns),), in_columns)
    if (scans := column_scans(nest)) is not None:
        yield Way((by_column_scans(nest, scans),), scans)


SHORT_TURN = 8
"""Nests of a turn of a loop, at most, if what starts each of them may take as long as what it does."""


def program_schedules(program: Program, machine: Machine) -> ProgramSchedules:
    """Those of all nests of a program, and its series."""
    every = tuple(schedules(nest, machine) for nest in dict.fromkeys(mentions.nests(program)))
    found = {(each.nest, first): _by_rows(each, machine, first) for each in every for first in (False, True)}

    def by_rows(nest: Nest, first: bool) -> Rows:
        return found[nest, first]

    series = program_series(program, by_rows)
    return ProgramSchedules(machine, every, series, mentions.read(program), mentions.repeated(program, SHORT_TURN))


def _by_rows(made: NestSchedules, machine: Machine, first: bool) -> Rows:
    """Whether rows of the nest run on threads and no template suits it that visits more than one at a time, unless it is the
    first of a series and runs in tiles; or in groups of a GPU's work-items. Other devices have no series."""
    match machine:
        case Processor():
            pieces, findings = made.last.pieces, [way.finding for way in made.ways]
            other = any(isinstance(finding, Blocks | Columns | ColumnScans) for finding in findings)
            tiles = [finding for finding in findings if isinstance(finding, Tile)]
            alone = not tiles or (first and all(map(tiles_of_rows, tiles)))
            return {1: ()} if pieces and pieces[0].kind is Kind.PARALLEL and alone and not other else {}
        case WorkItems():
            return in_groups(made.nest, machine)
        case _:
            assert_never(machine)


def _by_rows_again(machine: Machine) -> ByRows:
    """What `program_series` was told, found out from nests alone."""
    match machine:
        case Processor():
            return on_processor
        case WorkItems():
            return lambda nest, _: in_groups(nest, machine)
        case _:
            assert_never(machine)


def verify_schedules(made: ProgramSchedules) -> None:
    """Raises `AccelInternalError` unless all are well formed."""
    for nest in made.nests:
        for schedule in nest.schedules:
            verify(schedule)
    for series in made.series:
        verify_series(series, _by_rows_again(made.machine))
