"""How lanes of the order walk through their elements, by the pieces of a schedule."""

from __future__ import annotations

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.spelling import constant
from accel.backends.opencl.code.states import Machine, struct
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat
from accel.backends.opencl.loops.gpu.places import Places
from accel.backends.opencl.loops.join import Held
from accel.labelled.meaning.order import BLOCK
from accel.schedule.nodes import Axis, Part, Schedule
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Lanes:
    """`width` lanes of a block: they take its elements in turns (`commutes`), or each a run of them."""

    width: int
    commutes: bool

    @property
    def run(self) -> int:
        """How many elements a lane has of a whole block."""
        return BLOCK // self.width

    @property
    def each(self) -> int:
        """How many elements there must be for one more lane to have some."""
        return 1 if self.commutes else self.run


def lanes(schedule: Schedule, axis: Axis) -> Lanes:
    """Those of an axis that is cut into blocks, steps and lanes."""
    *_, outer, inner = schedule.of(axis)
    size = outer.size if outer.part is Part.LANE else inner.size
    assert isinstance(size, int)
    return Lanes(size, outer.part is not Part.LANE)


def begin(body: Body, shared: Places) -> None:
    """Begin the states that are left in these places."""
    for each in shared.every:
        body.accumulator(each.state, Machine.PLAIN).begin(body.writer, neutral(body.writer, each))


def walk(body: Body, flat: Flat, kind: Lanes, shared: Places, lane: str, base: str, end: str) -> None:
    """Begin the states, and take the elements of a lane of the block that begins with element `base`; none from `end` on."""
    writer = body.writer
    begin(body, shared)
    # The bound is the loop's own: Intel's compiler has read past an array where it was a condition inside.
    if kind.commutes:
        writer.line(f"const position_t begin = {base} + {lane};")
        writer.line(f"const position_t stop = min({base} + (position_t){BLOCK}, {end});")
    else:
        writer.line(f"const position_t begin = {base} + {lane} * {kind.run};")
        writer.line(f"const position_t stop = min(begin + (position_t){kind.run}, {end});")
    with writer.block(f"for (position_t item = begin; item < stop; item += {kind.width if kind.commutes else 1})"):
        flat.enter(body, "item")
        body.level(flat.body)


def neutral(writer: Writer, each: Held) -> str | None:
    """A new variable with what is neutral to a state that begins so."""
    leaves = each.state.monoid.neutral
    return struct(writer, each.type.name, list(map(constant, leaves))) if leaves and each.some is None else None
