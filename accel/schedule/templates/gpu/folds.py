"""Folds in groups of work-items, as GPUs want them: of all, of rows, of columns. Segmented folds of Futhark and CUB are alike.

In: a nest, and what the device can. Out: the ways to run it, the best first, where its outermost folds can be cut into blocks
and lanes. Neighbours of a group read neighbours in memory, what they have joins in local memory, and nothing is kept in arrays
that belong to one work-item. The bits are those of docs/order.md: a lane takes its elements in order, whoever runs it, and as
many neighbouring blocks as a power of two are a tree of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from accel.ir.mentions import loops
from accel.ir.nodes import For, Nest, State
from accel.schedule.legality import stands_alone
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Kind, Parameter, Part, Schedule, Template
from accel.schedule.rules import flip, kind, named, original, subdivide
from accel.schedule.templates.columns import runs_along
from accel.schedule.templates.work_items import flattened, folded_parts, in_lanes, is_shared_out, lanes_of, own_states

ROWS = Parameter("rows")
"""Rows that a group folds at once: as many as its work-items have lanes for."""

STRIP = Parameter("strip")
"""Neighbouring columns that a group folds at once."""

GROUP_BYTES = 1 << 14
"""Bytes of local memory that a group may take, so that several groups have room on one processor of the device."""

MOST_BLOCKS = 16
"""Blocks that a group folds at most."""


def folds(nest: Nest, machine: WorkItems) -> Iterator[tuple[Schedule, ...]]:
    """The ways to fold the nest in groups, each as the schedules of its slices; none if its outer loops fold nothing."""
    whole = flattened(original(nest), 0)
    if not is_shared_out(whole, machine):
        return
    if own_states(whole, 0):
        yield from _of_blocks(whole, 0)
        return
    rows = flattened(whole, 1)
    parts = folded_parts(rows, 1)
    if parts is None or not stands_alone(nest.body):
        return
    if len(parts) == 1 and is_down_columns(rows):
        yield (_of_columns(parts[0], rows),)
        return
    yield tuple(_of_rows(part, rows) for part in parts)
    yield from _of_blocks(rows, 1)


def _of_blocks(schedule: Schedule, at: int) -> Iterator[tuple[Schedule, ...]]:
    """A group for every few neighbouring blocks of the axis of piece `at`."""
    parts = folded_parts(schedule, at)
    if parts is None:
        return
    cut = [in_lanes(part, schedule.axes, at) for part in parts]
    # Slices leave what they have side by side, so they have equally many blocks in a group.
    blocks = min(_most(_lanes(each, at) * _bytes(each, at), MOST_BLOCKS) for each in cut)
    yield tuple(_by_blocks(each, at, blocks) for each in cut)


def _by_blocks(schedule: Schedule, at: int, blocks: int) -> Schedule:
    schedule = subdivide(schedule, at, blocks)
    for outside in range(at + 1):
        schedule = kind(schedule, outside, Kind.PARALLEL)
    for inside in (at + 1, lanes_of(schedule, at + 1)):
        schedule = kind(schedule, inside, Kind.ITEM)
    return named(schedule, Template.BLOCK_GROUPS)


def _of_rows(part: Nest, rows: Schedule) -> Schedule:
    """Some rows in a group, the lanes of each in work-items: as many lanes as rows have elements for."""
    schedule = subdivide(in_lanes(part, rows.axes, 1), 0, ROWS)
    schedule = kind(kind(schedule, 0, Kind.PARALLEL), 1, Kind.ITEM)
    return named(kind(schedule, lanes_of(schedule, 2), Kind.ITEM), Template.LANE_ROWS)


def _of_columns(part: Nest, rows: Schedule) -> Schedule:
    """Some neighbouring columns in a group, the lanes of each in work-items, and blocks of each in groups of their own."""
    schedule = flip(subdivide(in_lanes(part, rows.axes, 1), 0, STRIP), 1)
    for at, how in ((0, Kind.PARALLEL), (1, Kind.PARALLEL), (2, Kind.ITEM)):
        schedule = kind(schedule, at, how)
    lanes = 3 if schedule.pieces[3].part is Part.LANE else 4
    return named(kind(schedule, lanes, Kind.ITEM), Template.COLUMN_GROUPS)


def is_down_columns(rows: Schedule) -> bool:
    """Whether what the folds read lies along the loop outside of them, not along their own."""
    every = loops(rows.nest)
    outside, inside = (_loops(every, rows.pieces[at].axis.depths) for at in (0, 1))
    return runs_along(outside[-1], outside[-1], inside)


def _loops(every: Sequence[For], depths: Iterable[int]) -> list[For]:
    return [every[depth] for depth in sorted(depths)]


def _lanes(schedule: Schedule, at: int) -> int:
    """How many lanes a block of the axis of piece `at` has."""
    size = schedule.pieces[lanes_of(schedule, at)].size
    assert isinstance(size, int)
    return size


def _bytes(schedule: Schedule, at: int) -> int:
    """Bytes of one value of each state that begins with piece `at`."""
    return sum(_state_bytes(each.state) for each in own_states(schedule, at))


def _state_bytes(state: State) -> int:
    """With what tells whether there is a value."""
    return 1 + sum(kind.bytes for kind in state.types)


def _most(size: int, limit: int) -> int:
    """The greatest power of two, at most `limit`, of which each takes so many bytes of local memory; at least 1."""
    fits = max(GROUP_BYTES // size, 1)
    return min(limit, 1 << (fits.bit_length() - 1))
