"""An axis of a schedule: loops that run as one, and what a work-item's number means.

Nothing stands between them but pure statements, which every iteration may repeat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.naming import extent_text, stream_name
from accel.backends.opencl.code.writer import Writer
from accel.errors import AccelInternalError
from accel.ir.mentions import loops
from accel.ir.nodes import For, Level, LoopDirection, Nest, Operand, Stream
from accel.ir.positions import merging, needed_inside
from accel.labelled.array import Extent
from accel.labelled.scalar import Constant
from accel.schedule.nodes import Axis, Schedule
from accel.support.dataclass import dataclass


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
        self.bind(body, item)
        for loop in self.loops[:-1]:
            body.statements(loop.body.before)

    def bind(self, body: Body, item: str) -> None:
        """Bind the loops' indices alone."""
        if self.merged:
            for loop in self.loops:
                body.writer.line(
                    f"const position_t {stream_name(loop.index)} = {item if loop is self.loops[-1] else 0};"
                )
        else:
            _indices(body, self.loops, self.extents, item)


def flat(nest: Nest, axis: Axis) -> Flat:
    """The loops of a nest that are an axis of its schedule, or of that of a slice."""
    every = loops(nest)
    chosen = tuple(every[loop.depth] for loop in axis.loops)
    inside = [each.extent for each in needed_inside(chosen[0]) if each not in chosen]
    needed = tuple(map(known, inside))
    return Flat(chosen, tuple(known(loop.extent) for loop in chosen), needed=needed)


def products(schedule: Schedule) -> Iterator[tuple[Extent, ...]]:
    """Those of the axes of a schedule: how many iterations each has. Loops whose length is found out are axes of their own."""
    for axis in schedule.axes:
        extents = [loop.extent for loop in axis.loops]
        if not any(isinstance(extent, Stream) for extent in extents):
            yield tuple(map(known, extents))


def merged_where_possible(found: Flat, nest: Nest) -> Flat:
    """The same loops, without divisions where the nest's arrays lie as they run: on a device all arrays are contiguous."""
    upwards = all(loop.direction is LoopDirection.UP for loop in found.loops)
    return replace(found, merged=len(found.loops) > 1 and upwards and not merging(nest, found.loops, contiguous=True))


def known(extent: Operand) -> Extent:
    """An extent that is known at launch."""
    match extent:
        case Extent():
            return extent
        case Constant(value=value):
            return Extent(None, int(value))
        case _:
            raise AccelInternalError(f"an axis whose extent {extent} is found out on the way is not shared out")


_DIVISIONS = """static position_t quotient(position_t left, position_t right) {
  if (left < 0x80000000L && right < 0x80000000L) return (uint)left / (uint)right;
  return left / right;
}
static position_t remainder_of(position_t left, position_t right) {
  return left - quotient(left, right) * right;
}"""
"""Of numbers that are not negative. GPUs divide 32 bits in some twenty instructions and 64 bits in a hundred: more than most
maps take for all else."""


def divided(context: Context, left: str, right: str) -> tuple[str, str]:
    """The quotient of two numbers that are not negative, as atoms, and what remains."""
    if not context.features.gpu:
        return f"{left} / {right}", f"{left} % {right}"
    context.prelude.function("quotient", _DIVISIONS)
    return f"quotient({left}, {right})", f"remainder_of({left}, {right})"


def _indices(body: Body, loops: Sequence[For], extents: Sequence[Extent], item: str) -> None:
    rest, writer = item, body.writer
    for position in range(len(loops) - 1, 0, -1):
        quotient, remainder = divided(body.context, rest, extent_text(extents[position]))
        _index(writer, loops[position], extents[position], remainder)
        rest = writer.fresh("rest")
        writer.line(f"const position_t {rest} = {quotient};")
    _index(writer, loops[0], extents[0], rest)


def _index(writer: Writer, loop: For, extent: Extent, count: str) -> None:
    index = count if loop.direction is LoopDirection.UP else f"{extent_text(extent)} - 1 - {count}"
    writer.line(f"const position_t {stream_name(loop.index)} = {index};")
