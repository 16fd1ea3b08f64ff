"""What stands before each block of a running state, from what each block comes to: a work-group for each row.

In: the totals of blocks, in global memory. Out: a kernel. The order is a left fold's, so one work-item goes through totals that
the group has brought into local memory; where any order serves, the group scans them as it scans elements.
GPUs have other ways where something is neutral (`gpu_carries.py`).
"""

from __future__ import annotations

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import GROUP_NUMBER, Amount, Choice, Scaffold
from accel.backends.opencl.code.shared import PITCH, Shared, neutral
from accel.backends.opencl.code.states import StateType
from accel.backends.opencl.code.writer import ZEROS, Writer
from accel.backends.opencl.loops.flat import Flat
from accel.backends.opencl.loops.gpu.chains.gpu_carries import GPUCarry, always_carried
from accel.backends.opencl.loops.gpu.places import GROUP, fitting
from accel.backends.opencl.loops.join import Partials
from accel.backends.opencl.loops.rows import Rows
from accel.ir.nodes import State
from accel.ir.slices import needed_for
from accel.labelled.meaning.order import BLOCK, SCAN_VECTOR
from accel.support.dataclass import dataclass

ITEMS = 128
"""Work-items that carry totals through the blocks of a row, at most."""

STAGED_BYTES = 16 * 1024
"""Of local memory that totals take."""

SCANNED_BYTES = 24 * 1024
"""Of local memory that totals take which a group scans, with what their vectors come to. OpenCL promises 32 KB."""


@dataclass(frozen=True, slots=True)
class Carries:
    """Where a running state is left, seed included: `before` each block, and the `final` value of each row. `before.some` is
    empty where there always is a value."""

    before: Partials
    final: str


def carry(
    scaffold: Scaffold,
    rows: Rows,
    flat: Flat,
    state: State,
    ends: Partials,
    carries: Carries,
    purpose: str,
    when: Choice | None,
) -> None:
    """Add the kernel for one state."""
    kind = scaffold.types[state.name]
    body = Body(Writer(), scaffold.context, dict(scaffold.types), only=needed_for(scaffold.nest, [state]))
    writer, nothing = body.writer, neutral(kind)
    if always_carried(kind, scaffold.context.features):
        ahead = GPUCarry(kind, ends.values, carries.before.values, carries.final)
        alone = None if rows.outer else ahead.share
        seed = _enter(body, rows, flat, state, alone=alone is not None)
        writer.line(f"{kind.name} value = {seed or nothing};")
        ahead.write(writer, shared=alone is not None)
        groups = Amount(rows.extents, factor=GROUP)
        if alone is not None:
            groups = Amount(flat.extents, BLOCK * alone, factor=GROUP, least=GROUP, needed=flat.needed)
        scaffold.kernel(purpose, writer.text, groups, group=GROUP, when=when)
        return
    items = fitting(ITEMS, kind.bytes * (PITCH + 1), SCANNED_BYTES) if state.monoid.exact else ITEMS
    scanned = Shared(kind, 0, items, scaffold.context) if state.monoid.exact else None
    size = SCAN_VECTOR * items
    if scanned is None:
        size = fitting(size, kind.bytes, STAGED_BYTES)
    _declare(writer, kind, scanned, size)
    seed = _enter(body, rows, flat, state)
    writer.line(f"{kind.name} value = {seed or ZEROS};")
    writer.line(f"int value_some = {int(seed is not None)};")
    if scanned is not None:
        scanned.begin(writer, "value", "value_some")
    with writer.block(f"for (position_t base = 0; base < blocks; base += {size})"):
        writer.line(f"const int count = (int)min((position_t){size}, blocks - base);")
        if scanned is not None:
            _scan(writer, scanned, ends, carries.before)
        else:
            _follow(writer, kind, ends, carries.before)
    writer.line(f"if (lane == 0) {carries.final}[row] = {scanned.before if scanned is not None else 'value'};")
    scaffold.kernel(purpose, writer.text, Amount(rows.extents, factor=items), group=items, when=when)


def _enter(body: Body, rows: Rows, flat: Flat, state: State, *, alone: bool = False) -> str | None:
    """Which row the group has, and where its blocks are; gives the seed, if there is one. `alone`: all groups have one row."""
    body.writer.line("const int lane = get_local_id(0);")
    body.writer.line(f"const position_t {'row = 0, group' if alone else 'row'} = {GROUP_NUMBER};")
    body.writer.line(f"const position_t blocks = ({flat.total} + {BLOCK - 1}) / {BLOCK}, first = row * blocks;")
    rows.enter(body)
    return body.seed(state)


def _declare(writer: Writer, kind: StateType, scanned: Shared | None, size: int) -> None:
    if scanned is not None:
        scanned.declare(writer)
    else:
        writer.line(f"__local {kind.name} totals[{size}];")
        writer.line(f"__local uchar totals_some[{size}];")


def _follow(writer: Writer, kind: StateType, ends: Partials, before: Partials) -> None:
    """One work-item replaces each total by what stands before it."""
    with writer.block(f"for (int at = lane; at < count; at += {ITEMS})"):
        writer.line(f"totals[at] = {ends.values}[first + base + at];")
        writer.line(f"totals_some[at] = {ends.some}[first + base + at];")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    with writer.block("if (lane == 0)"), writer.block("for (int at = 0; at < count; ++at)"):
        writer.line(f"const {kind.name} own = totals[at];")
        writer.line("const int some = totals_some[at];")
        writer.line("totals[at] = value;")
        writer.line("totals_some[at] = value_some;")
        writer.line(f"if (some) value = value_some ? {kind.merge('value', 'own')} : own;")
        writer.line("value_some |= some;")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    with writer.block(f"for (int at = lane; at < count; at += {ITEMS})"):
        writer.line(f"{before.values}[first + base + at] = totals[at];")
        writer.line(f"{before.some}[first + base + at] = totals_some[at];")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")


def _scan(writer: Writer, scanned: Shared, ends: Partials, before: Partials) -> None:
    """The group scans totals; what is neutral counts as a value before all others, too."""
    items = scanned.items
    with writer.block(f"for (int at = lane; at < {SCAN_VECTOR * items}; at += {items})"):
        scanned.clear(writer, "at")
        with writer.block(f"if (at < count && {ends.some}[first + base + at])"):
            scanned.put(writer, "at", f"{ends.values}[first + base + at]")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    scanned.scan(writer, "count")
    with writer.block(f"for (int at = lane; at < count; at += {items})"):
        writer.line(f"{before.values}[first + base + at] = {scanned.ahead('at')};")
        writer.line(f"{before.some}[first + base + at] = 1;")
    scanned.leave(writer)
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
