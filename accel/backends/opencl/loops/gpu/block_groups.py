"""Folds in groups of blocks: as many neighbouring blocks as a power of two are a tree of their own, which a group joins.

If there are no more blocks than that, its first work-item also writes what stands after the fold. Else groups leave their
values, and these join in local memory: a thousand at a time in groups of their own, where there are more, then by one group.
Elements are read once; one value for each 65536 is written and read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Choice, Scaffold
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat, divided
from accel.backends.opencl.loops.gpu.lane_rows import roots
from accel.backends.opencl.loops.gpu.places import (
    GROUP,
    WAIT,
    Places,
    Workers,
    finish,
    in_local_memory,
    join_pairs,
    most,
)
from accel.backends.opencl.loops.gpu.walk import Lanes, lanes, walk
from accel.backends.opencl.loops.rows import Rows
from accel.ir.slices import needed_for
from accel.labelled.meaning.order import BLOCK
from accel.schedule.nodes import Schedule
from accel.support.dataclass import dataclass

CHUNK = 1024
"""Values of groups that join in local memory at once, at most."""


@dataclass(frozen=True, slots=True)
class Groups:
    """How rows are shared out: `blocks` to a group. `longest`: a row of so many elements is one group's."""

    rows: Rows
    flat: Flat
    blocks: int

    @property
    def longest(self) -> int:
        """Elements of a group."""
        return self.blocks * BLOCK

    def parts(self, each: int = 1) -> str:
        """How many groups share a row, or how many times `each` of them, as an atom."""
        size = self.longest * each
        return f"(({self.flat.total} + {size - 1}) / {size})"


def groups_of_blocks(
    scaffold: Scaffold, groups: Groups, slices: Sequence[Schedule], at: int, ends: Places, when: Choice | None = None
) -> None:
    """The kernels: one for each slice, whose piece `at` are its groups, then those that join. `when`: rows are long enough."""
    rows, flat, nest = groups.rows, groups.flat, scaffold.nest
    alone = is_alone(groups, slices)
    for number, schedule in enumerate(slices):
        kind = lanes(schedule, schedule.pieces[at].axis)
        mine = ends.of(schedule)
        only = None if alone else needed_for(nest, roots(scaffold, rows, schedule, mine, number == 0))
        body = Body(Writer(), scaffold.context, dict(scaffold.types), only=only, atomic=True)
        group = min(GROUP, groups.blocks * kind.width)
        _group(scaffold, body, groups, kind, mine, group, finishes=alone)
        least = 0 if rows.outer or not alone else group
        items = Amount(flat.extents, groups.longest, rows.extents, group, least=least, needed=flat.needed)
        scaffold.kernel(f"fold{number}", body.writer.text, items, group=group, when=when)
    later = Choice(flat.extents, groups.longest + 1, below=False) if alone else when
    join_parts(scaffold, groups, ends, later)


def is_alone(groups: Groups, slices: Sequence[Schedule]) -> bool:
    """Whether the group that folds a row may also write what stands after it, if there is only one."""
    return len(slices) == 1 and not groups.rows.once and not groups.flat.needed


def _group(
    scaffold: Scaffold, body: Body, groups: Groups, kind: Lanes, mine: Places, group: int, *, finishes: bool
) -> None:
    writer, rows, flat = body.writer, groups.rows, groups.flat
    shared = in_local_memory(writer, mine, groups.blocks * kind.width)
    writer.line(f"const int place = get_local_id(0), lane = place % {kind.width};")
    writer.line("const position_t number = get_global_id(0) / " + f"{group};")
    writer.line(f"const position_t parts = {groups.parts()};")
    if rows.outer:
        row, part = divided(scaffold.context, "number", "parts")
        writer.line(f"const position_t row = {row}, part = {part};")
    else:
        writer.line("const position_t part = number;")
    rows.enter(body)
    together = group // kind.width
    with writer.block(f"for (int block = place / {kind.width}; block < {groups.blocks}; block += {together})"):
        writer.line(f"const position_t base = (part * {groups.blocks} + block) * {BLOCK};")
        walk(body, flat, kind, shared, "lane", "base", flat.total)
        shared.put(body, f"block * {kind.width} + lane")
    writer.line(WAIT)
    _join_blocks(writer, shared, kind, groups.blocks, together)
    with writer.block("if (place == 0)"):
        if finishes:
            with writer.block("if (parts <= 1)"):
                finish(body, rows, shared, "0", "parts > 0")
            with writer.block("else"):
                mine.copy(writer, "number", shared, "0")
        else:
            mine.copy(writer, "number", shared, "0")


def _join_blocks(writer: Writer, shared: Places, kind: Lanes, blocks: int, together: int) -> None:
    """All lanes of all blocks: lanes first, each block's by itself; then the blocks."""
    width = kind.width
    if not kind.commutes:
        # Runs join in pairs, as blocks do.
        join_pairs(
            writer, shared, Workers("place", f"{together * width}", str), f"{blocks * width}", f"{blocks * width}"
        )
        return
    with writer.block(f"for (int reach = {width // 2}; reach > 0; reach /= 2)"):
        with writer.block(f"for (int b = place / {width}; b < {blocks} && lane < reach; b += {together})"):
            shared.merge(writer, f"b * {width} + lane", f"b * {width} + lane + reach")
        writer.line(WAIT)
    workers = Workers("place", f"{together * width}", lambda text: f"({text}) * {width}")
    join_pairs(writer, shared, workers, f"{blocks}", f"{blocks}")


def join_parts(
    scaffold: Scaffold, groups: Groups, ends: Places, when: Choice | None, carries: Mapping[str, str] | None = None
) -> None:
    """The kernels that join what groups have left of each row, and run what stands after it. `carries`: where the final values
    of states that run stand, seeds included."""
    rows, flat = groups.rows, groups.flat
    chunk = most(ends, CHUNK, 2)
    many = Choice(flat.extents, groups.longest * chunk + 1, below=False)
    writer = Writer()
    shared = in_local_memory(writer, ends, chunk)
    writer.line("const int place = get_local_id(0);")
    writer.line(
        f"const position_t parts = {groups.parts()}, chunks = {groups.parts(chunk)}, number = get_global_id(0) / {GROUP};"
    )
    row, piece = divided(scaffold.context, "number", "chunks")
    writer.line(f"const position_t from = {piece} * {chunk}, first = {row} * parts;")
    _chunk(writer, ends, shared, chunk, "1")
    items = Amount(flat.extents, groups.longest * chunk, rows.extents, GROUP)
    scaffold.kernel("some", writer.text, items, group=GROUP, when=many)

    needed = needed_for(scaffold.nest, [*rows.once_each, *rows.once])
    body = Body(Writer(), scaffold.context, dict(scaffold.types), only=needed)
    writer = body.writer
    shared = in_local_memory(writer, ends, chunk)
    writer.line("const int place = get_local_id(0);")
    writer.line(f"const position_t row = get_global_id(0) / {GROUP}, parts = {groups.parts()}, first = row * parts;")
    with writer.block(f"for (position_t stride = parts > {chunk} ? {chunk} : 1;; stride *= {chunk})"):
        with writer.block(f"for (position_t from = 0; from < parts; from += {chunk} * stride)"):
            _chunk(writer, ends, shared, chunk, "stride")
            writer.line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);")
        writer.line(f"if (stride * {chunk} >= parts) break;")
    with writer.block(f"if (place == 0 && row < {rows.count})"):
        rows.enter(body)
        for state in flat.loops[0].states:
            if carries is not None and state.name in carries:
                body.bind(state.finals, carries[state.name])
        finish(body, rows, shared, "0", "parts > 0")
    if rows.once:
        with writer.block("if (place == 0 && row == 0)"):
            body.statements(rows.root.before)
            body.statements(rows.root.after)
    items = Amount(rows.extents, factor=GROUP, least=GROUP if rows.once else 0)
    scaffold.kernel("join", writer.text, items, group=GROUP, when=when)


def _chunk(writer: Writer, ends: Places, shared: Places, chunk: int, stride: str) -> None:
    """Join `chunk` values from place `from` on, each so far from the one before, and leave what they come to in the first."""
    writer.line(f"const int here = min((position_t){chunk}, (parts - from + {stride} - 1) / {stride});")
    with writer.block(f"for (int l = place; l < here; l += {GROUP})"):
        shared.copy(writer, "l", ends, f"first + from + l * {stride}")
    writer.line(WAIT)
    join_pairs(writer, shared, Workers("place", f"{GROUP}", str), f"{chunk}", "here")
    with writer.block("if (place == 0)"):
        ends.copy(writer, "first + from", shared, "0")
