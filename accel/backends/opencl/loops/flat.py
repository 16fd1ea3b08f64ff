"""Consecutive loops that run as one: what a work-item's number means.

Loops are flattened as long as nothing stands between them but pure statements, which every iteration may repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.naming import extent_text, stream_name
from accel.backends.opencl.code.writer import Writer
from accel.ir.nodes import For, Level, LoopBody, LoopDirection, ManyToOne, Nest, Scatter, Write
from accel.ir.positions import merging, needed_inside
from accel.labelled.array import Extent


@dataclass(frozen=True, slots=True)
class Flat:
    """Loops from the outermost one on, as one. `extents` are theirs; `body` is the innermost one's level.

    `merged`: their indices only occur together, as elements lie in memory, so that the innermost one may count them all.
    `needed`: extents of loops inside; where one is 0 there is nothing to do.
    """

    loops: tuple[For, ...]
    extents: tuple[Extent, ...]
    merged: bool = False
    needed: tuple[Extent, ...] = ()

    @property
    def body(self) -> Level:
        """What one iteration runs."""
        return self.loops[-1].body

    @property
    def total(self) -> str:
        """How many iterations there are, as an atom."""
        empty = " || ".join(f"{extent_text(extent)} == 0" for extent in self.needed)
        count = " * ".join(map(extent_text, self.extents))
        return f"({empty} ? 0 : {count})" if empty else f"({count})"

    def enter(self, body: Body, item: str) -> None:
        """Bind the loops' indices for iteration `item`, and write the pure statements between the loops."""
        if self.merged:
            for loop in self.loops:
                body.writer.line(f"const long {stream_name(loop.index)} = {item if loop is self.loops[-1] else 0};")
        else:
            _indices(body.writer, self.loops, self.extents, item)
        for loop in self.loops[:-1]:
            body.statements(loop.body.before)


def flatten(loop: For) -> Flat | None:
    """The longest flat loop that begins with `loop`; None if its extent is not known at launch."""
    loops: list[For] = []
    extents: list[Extent] = []
    inner: For | None = loop
    while inner is not None and isinstance(inner.extent, Extent) and (not loops or not inner.states):
        loops.append(inner)
        extents.append(inner.extent)
        level = inner.body
        if level.after or not all(map(is_repeatable, level.before)):
            break
        inner = level.loop
    inside = [each.extent for each in needed_inside(loop) if each not in loops]
    needed = tuple([extent for extent in inside if isinstance(extent, Extent)])
    return Flat(tuple(loops), tuple(extents), needed=needed) if loops else None


def merged_where_possible(flat: Flat, nest: Nest) -> Flat:
    """The same loops, without divisions where the nest's arrays lie as they run: on a device all arrays are contiguous."""
    upwards = all(loop.direction is LoopDirection.UP for loop in flat.loops)
    return replace(flat, merged=len(flat.loops) > 1 and upwards and not merging(nest, flat.loops))


def is_repeatable(statement: LoopBody) -> bool:
    """Whether running the statement again changes nothing."""
    return not isinstance(statement, Write | Scatter | ManyToOne)


def _indices(writer: Writer, loops: Sequence[For], extents: Sequence[Extent], item: str) -> None:
    rest = item
    for position in range(len(loops) - 1, -1, -1):
        loop, extent = loops[position], extent_text(extents[position])
        count = rest if position == 0 else f"{rest} % {extent}"
        index = count if loop.direction is LoopDirection.UP else f"{extent} - 1 - {count}"
        writer.line(f"const long {stream_name(loop.index)} = {index};")
        if position:
            fresh = writer.fresh("rest")
            writer.line(f"const long {fresh} = {rest} / {extent};")
            rest = fresh
