"""Transposes and maps of them, by blocks that a group turns in local memory [Ruetsch and Micikevicius].

A group fetches a block of what lies across, with neighbours along the rows of that array; waits; and runs the map with
neighbours along the rows of what is written. Each array is read or written once, 32 elements side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import GROUP_NUMBER, Amount, Choice, Scaffold
from accel.backends.opencl.code.naming import extent_text, stream_name
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import divided, known
from accel.backends.opencl.loops.gpu.places import GROUP, WAIT
from accel.ir.nodes import For
from accel.labelled.array import Extent
from accel.schedule.templates.blocks import Blocks

EDGE = 32
"""Of a block."""


def turned(scaffold: Scaffold, found: Blocks, when: Choice) -> None:
    """The kernel."""
    axis, lanes = found.axes[0], found.lanes
    others = [loop for loop in found.loops if loop not in (axis, lanes)]
    body = Body(Writer(), scaffold.context, {})
    writer = body.writer
    for number, across in enumerate(found.across):
        # A row more than there are keeps columns out of one bank of local memory.
        writer.line(f"__local {c_type(across.read.out.type)} block{number}[{EDGE * (EDGE + 1)}];")
    writer.line(f"const int along = get_local_id(0) % {EDGE}, down = get_local_id(0) / {EDGE};")
    writer.line(f"position_t group = {GROUP_NUMBER};")
    for name, loop in (("lanes", lanes), ("axis", axis)):
        rest, place = divided(body.context, "group", f"(({_count(loop)} + {EDGE - 1}) / {EDGE})")
        writer.line(f"const position_t {name} = {place} * {EDGE};")
        writer.line(f"group = {rest};")
    for loop in reversed(others):
        rest, index = divided(body.context, "group", _count(loop))
        writer.line(f"const position_t {stream_name(loop.index)} = {index};")
        writer.line(f"group = {rest};")
    body.statements(scaffold.nest.body.before)
    for number, across in enumerate(found.across):
        with _within(body, (axis, "axis + along"), (lanes, "lanes + k")):
            body.statements([*across.index, across.read])
            writer.line(f"block{number}[k * {EDGE + 1} + along] = {stream_name(across.read.out)};")
    writer.line(WAIT)
    with _within(body, (axis, "axis + k"), (lanes, "lanes + along")):
        for number, across in enumerate(found.across):
            kind, name = c_type(across.read.out.type), stream_name(across.read.out)
            writer.line(f"const {kind} {name} = block{number}[along * {EDGE + 1} + k];")
        body.statements(found.statements)
    blocks = [Amount((known(loop.extent),), EDGE) for loop in (axis, lanes)]
    items = Amount(rows=tuple(known(loop.extent) for loop in others), factor=GROUP, times=tuple(blocks))
    scaffold.kernel("turned", writer.text, items, group=GROUP, when=when)


def extents(found: Blocks) -> tuple[Extent, ...]:
    """Those of the axes of a block."""
    return known(found.axes[0].extent), known(found.lanes.extent)


@contextmanager
def _within(body: Body, *places: tuple[For, str]) -> Iterator[None]:
    """All rows of the block that this work-item has, with the loops' indices, as far as these exist."""
    writer = body.writer
    with writer.block(f"for (int k = down; k < {EDGE}; k += {GROUP // EDGE})"):
        for loop, place in places:
            writer.line(f"const position_t {stream_name(loop.index)} = {place};")
        inside = " && ".join(f"{stream_name(loop.index)} < {_count(loop)}" for loop, _ in places)
        with writer.block(f"if ({inside})"):
            yield


def _count(loop: For) -> str:
    return extent_text(known(loop.extent))
