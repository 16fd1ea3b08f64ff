"""Where the work-items of a group leave what they have, and how that joins: side by side, in local memory or in temporaries.

In: the states of a loop. Out: lines that put, merge and copy a value of each of them at a place, and that join many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from accel.ast.tree.types import BOOL
from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Scaffold
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.join import Held, final
from accel.backends.opencl.loops.rows import Rows
from accel.schedule.nodes import Axis, Carried, Schedule
from accel.schedule.templates.gpu.folds import GROUP_BYTES
from accel.support.dataclass import dataclass

GROUP = 256
"""Work-items of a group at most: what all devices offer."""

WORD = 8
"""Bytes of the largest type: what lies behind a multiple of so many places may be of any."""

WAIT = "barrier(CLK_LOCAL_MEM_FENCE);"
"""All work-items of a group see what the others have left in local memory."""


@dataclass(frozen=True, slots=True)
class Places:
    """A value of each state at each place."""

    every: tuple[Held, ...]

    def put(self, body: Body, place: str) -> None:
        """What the body's accumulators hold goes to the place."""
        for each in self.every:
            accumulator = body.accumulators[each.state.name]
            body.writer.line(f"{each.values}[{place}] = {accumulator.variable};")
            if each.some is not None:
                body.writer.line(f"{each.some}[{place}] = {accumulator.counted};")

    def copy(self, writer: Writer, place: str, source: Places, there: str) -> None:
        """What stands elsewhere goes to the place."""
        for to, at in zip(self.every, source.every, strict=True):
            writer.line(f"{to.values}[{place}] = {at.values}[{there}];")
            if to.some is not None:
                writer.line(f"{to.some}[{place}] = {at.some}[{there}];")

    def merge(self, writer: Writer, left: str, right: str) -> None:
        """The value on the left becomes that of both."""
        for each in self.every:
            each.merge(writer, left, right)

    def of(self, schedule: Schedule) -> Places:
        """Those of the states of a slice of the nest."""
        names = {each.state.name for each in schedule.carried}
        return Places(tuple(each for each in self.every if each.state.name in names))


def begins_neutral(each: Carried, axis: Axis) -> bool:
    """Whether a state may begin with what is neutral wherever it is folded, since it is known without asking whether it has
    elements: it has a seed, or an element for each iteration of the axis."""
    return each.state.monoid.neutral is not None and (each.state.initial is not None or each.each(axis))


def fitting(limit: int, each: int, total: int) -> int:
    """The greatest of `limit`, its half, its quarter, …, of which each takes so many of the `total` bytes; at least 1."""
    while each * limit > total and limit > 1:
        limit //= 2
    return limit


def place_bytes(places: Places) -> int:
    """Bytes of the values of one place."""
    return sum(held.type.bytes + (held.some is not None) for held in places.every)


def most(places: Places, limit: int, least: int) -> int:
    """The greatest power of two up to `limit`, but at least `least`, of which local memory holds so many values."""
    return max(least, fitting(limit, place_bytes(places), GROUP_BYTES))


def in_local_memory(writer: Writer, places: Places, count: int, name: str = "lanes") -> Places:
    """So many places for what the work-items of a group share."""
    found = []
    for number, each in enumerate(places.every):
        values, some = f"{name}{number}", None if each.some is None else f"{name}{number}_some"
        writer.line(f"__local {each.type.name} {values}[{count}];")
        if some is not None:
            writer.line(f"__local {c_type(BOOL)} {some}[{count}];")
        found.append(replace(each, values=values, some=some))
    return Places(tuple(found))


def in_shared_memory(writer: Writer, every: Sequence[Places], count: int) -> list[Places]:
    """So many places, a multiple of `WORD`, for each of some loops that run one after the other: all in the same memory."""
    words = count // WORD * max(map(place_bytes, every), default=0)
    if words:
        writer.line(f"__local long memory[{words}];")
    found = []
    for number, places in enumerate(every):
        made: list[Held] = []
        at = 0
        for held in places.every:
            values, some = f"lanes{number}_{len(made)}", None
            pointer = f"__local {held.type.name}*"
            writer.line(f"{pointer} {values} = ({pointer})((__local uchar*)memory + {at});")
            at += count * held.type.bytes
            if held.some is not None:
                some, pointer = f"{values}_some", f"__local {c_type(BOOL)}*"
                writer.line(f"{pointer} {some} = ({pointer})memory + {at};")
                at += count
            made.append(replace(held, values=values, some=some))
        found.append(Places(tuple(made)))
    return found


def in_temporaries(scaffold: Scaffold, slices: Sequence[Schedule], axis: Axis, count: Amount) -> Places:
    """So many places in memory for the states that begin with an axis, for one kernel to leave and another one to find."""
    found = []
    carried = {each.state.name: each for schedule in slices for each in schedule.carried}
    for each in carried.values():
        if each.first == axis.loops[0].depth:
            kind = scaffold.types[each.state.name]
            values = scaffold.temporary("values", kind.name, kind.bytes, count)
            flagged = not begins_neutral(each, axis)
            some = scaffold.temporary("some", c_type(BOOL), BOOL.bytes, count) if flagged else None
            found.append(Held(each.state, kind, values, some))
    return Places(tuple(found))


def finish(body: Body, rows: Rows, found: Places, place: str, some: str) -> None:
    """What stands around the loop of a row, once: from what all its elements come to, if there are `some`."""
    rows.finish(body)
    for each in found.every:
        if body.wants(each.state):
            flag = "" if each.some is None else f" && {each.some}[{place}]"
            final(body, each.state, f"{each.values}[{place}]", f"{some}{flag}")
    body.statements(rows.level.after)


@dataclass(frozen=True, slots=True)
class Workers:
    """Work-items that join places: which one this is, how many there are, and where their place number `n` is."""

    this: str
    count: str
    place: Callable[[str], str]


def join_halves(writer: Writer, shared: Places, workers: Workers, lanes: str) -> None:
    """Lane `l` takes lane `l + lanes/2`, then `l + lanes/4`, …: those of folds that commute. All work-items get here."""
    with writer.block(f"for (int reach = {lanes} / 2; reach > 0; reach /= 2)"):
        with writer.block(f"for (int l = {workers.this}; l < reach; l += {workers.count})"):
            shared.merge(writer, workers.place("l"), workers.place("l + reach"))
        writer.line(WAIT)


def join_pairs(writer: Writer, shared: Places, workers: Workers, limit: str, count: str) -> None:
    """Adjacent pairs join, level by level, of `count` places, at most `limit`, which all work-items know."""
    with writer.block(f"for (int reach = 1; reach < {limit}; reach *= 2)"):
        with writer.block(
            f"for (int l = 2 * reach * {workers.this}; l + reach < {count}; l += 2 * reach * {workers.count})"
        ):
            shared.merge(writer, workers.place("l"), workers.place("l + reach"))
        writer.line(WAIT)
