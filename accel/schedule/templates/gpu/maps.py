"""Maps as GPUs want them: some neighbouring elements to a work-item, transposes by blocks that a group turns in local memory,
and patches of what several loops visit.

In: a nest. Out: its schedule by one of these templates, or None. Each fetch of a GPU brings 128 bytes to 32 neighbours, which
wait for it: with one number to each, too few bytes are on their way, and the elements of a column take 32 fetches.
"""

from __future__ import annotations

from accel.ir import mentions
from accel.ir.mentions import function_statements, loops
from accel.ir.nodes import LoopDirection, Nest, OneToOne, Read, Remap, Write
from accel.ir.positions import accesses, merging
from accel.labelled.array import Array
from accel.labelled.scalar import While
from accel.schedule.legality import stands_alone
from accel.schedule.nodes import Kind, Role, Schedule, Template
from accel.schedule.rules import flatten, flip, kind, named, original, subdivide
from accel.schedule.templates.blocks import Blocks, blocks
from accel.schedule.templates.cpu.strips import first_column, is_plain_map
from accel.schedule.templates.work_items import flattened

FETCHED = 16
"""Bytes of a work-item's elements in each array: as many as a GPU fetches at once for it."""

FEWEST = 4
"""Elements of a work-item where some arrays have smaller elements than others."""

PATCH_ROWS = 8
"""Rows of a patch: a work-item finds out once where they begin, and has them all on their way at a time; rows that neighbours
in a stencil read are in caches. On an H200 a stencil of 67 million elements takes 0.51 ms with two, 0.37 with four, 0.32 with
eight and with sixteen; of a million it takes 0.012 with eight and 0.014 with sixteen, for these fill the GPU less."""

PATCH_COLUMNS = 256
"""Columns of a patch: one for each work-item of a group."""

MOST_STATEMENTS = 64
"""Scalar operations of a map that is still bound by memory; each is written once for every element of a work-item."""


MOST_ACROSS_BYTES = 24
"""Of what a map reads across for one element: a group has blocks of 32 by 33 of these in local memory, of which OpenCL promises
32 KB."""


def few_elements(nest: Nest) -> Schedule | None:
    """A few neighbouring elements in each work-item, where what is written lies as the loops run."""
    every = mentions.loops(nest)
    whole = flattened(original(nest), 0)
    if len(whole.pieces) != 1 or whole.pieces[0].axis.role is not Role.MAP or merging(nest, every, contiguous=True):
        return None
    if any(loop.direction is not LoopDirection.UP for loop in every) or not stands_alone(nest.body):
        return None
    inner = list(mentions.levels(nest))[-1]
    statements = (*inner.before, *inner.after)
    if not all(isinstance(s, OneToOne | Read | Remap | Write) and s.when is None for s in statements):
        return None
    scalar = [each for s in statements if isinstance(s, OneToOne) for each in function_statements(s.function)]
    if len(scalar) > MOST_STATEMENTS or any(isinstance(each, While) for each in scalar):
        return None
    near, written = neighbours(nest), {s.array for s in statements if isinstance(s, Write)}
    if not near or not written <= near:
        return None
    sizes = {array.element.bytes for array in near}
    few = FETCHED // max(sizes) if len(sizes) == 1 else max(FETCHED // max(sizes), FEWEST)
    if few * len(scalar) > MOST_STATEMENTS * FEWEST:
        return None
    schedule = kind(subdivide(whole, 0, few), 1, Kind.VECTOR)
    return named(kind(schedule, 0, Kind.PARALLEL), Template.FEW_ITEMS)


def neighbours(nest: Nest) -> frozenset[Array]:
    """The arrays that are read and written only where the loops are, so that neighbouring iterations have neighbours."""
    indices = tuple(loop.index for loop in loops(nest))
    every = {array: True for array, _ in accesses(nest)}
    for array, index in accesses(nest):
        every[array] = every[array] and index == indices
    return frozenset(array for array, own in every.items() if own)


def patches(nest: Nest) -> Schedule | None:
    """A group for some columns of some rows, where several loops would be found by divisions in each work-item."""
    every = loops(nest)
    if not is_plain_map(nest) or (columns := first_column(nest)) == 0:
        return None
    schedule = original(nest)
    for _ in every[columns + 1 :]:
        schedule = flatten(schedule, columns)
    schedule = flip(subdivide(subdivide(schedule, columns, PATCH_COLUMNS), columns - 1, PATCH_ROWS), columns)
    for at in range(columns + 1):
        schedule = kind(schedule, at, Kind.PARALLEL)
    return named(kind(schedule, columns + 2, Kind.ITEM), Template.PATCHES)


def turned_blocks(nest: Nest) -> Blocks | None:
    """Blocks of the axis that is written along and of one that is read along: a group for each, turned in local memory."""
    found = blocks(nest)
    if found is None or len(found.axes) != 1 or not stands_alone(nest.body):
        return None
    return found if sum(each.read.out.type.bytes for each in found.across) <= MOST_ACROSS_BYTES else None
