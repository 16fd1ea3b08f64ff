"""The first iteration of a range in which something holds, some vectors at a time; the loop stops where it finds it.

In: what writes the condition of a vector of iterations, as a mask. Out: the code that finds the first lane that is set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from accel.backends.llvm.emit.lanes.pairs import joined
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.text.routine import Routine

UNROLL = 4
"""Vectors that are looked at before the loop asks whether there was a hit in one of them."""

WORD = 64
"""Bits of the register in which lanes of several masks are looked for."""

Mask: TypeAlias = Callable[[str, "str | None"], str]
"""Writes where the condition holds, of the iterations from the first argument on, those in the lanes of the second."""


def first_hit(routine: Routine, writer: Writer, holds: Mask, position: str, high: str, hit: str) -> None:
    """Stores the first iteration that is one into the slot `hit`, if there is one, from that in the slot `position` on and
    before `high`."""
    code, lanes = routine.code, writer.lanes
    several, together, on, rest, one, found, next_, after = (routine.label() for _ in range(8))
    fits = UNROLL * lanes <= WORD
    among = routine.label() if fits else rest
    routine.jump(several)
    routine.place(several)
    at = routine.load("i64", position)
    behind = code.emit(f"add i64 {at}, {UNROLL * lanes}")
    routine.branch(code.emit(f"icmp sle i64 {behind}, {high}"), together, rest)
    routine.place(together)
    masks = [holds(code.emit(f"add i64 {at}, {number * lanes}"), None) for number in range(UNROLL)]
    either = joined(masks, lambda one, other: writer.code.emit(f"or {writer.code.vector('i1')} {one}, {other}"))
    routine.branch(writer.any(either), among, on)
    routine.place(on)
    routine.store("i64", behind, position)
    routine.jump(several)
    if fits:
        routine.place(among)
        routine.store("i64", code.emit(f"add i64 {at}, {_first_lane_of(writer, masks)}"), hit)
        routine.jump(after)
    # What is left, and where there was a hit in more lanes than a word has bits, one vector after the other.
    routine.place(rest)
    at = routine.load("i64", position)
    routine.branch(code.emit(f"icmp slt i64 {at}, {high}"), one, after)
    routine.place(one)
    active = writer.first_lanes(code.emit(f"sub i64 {high}, {at}"))
    mask = writer.both(active, holds(at, active)) or active
    routine.branch(writer.any(mask), found, next_)
    routine.place(found)
    routine.store("i64", code.emit(f"add i64 {at}, {first_lane(writer, mask)}"), hit)
    routine.jump(after)
    routine.place(next_)
    routine.store("i64", code.emit(f"add i64 {at}, {lanes}"), position)
    routine.jump(rest)
    routine.place(after)


def first_lane(writer: Writer, mask: str) -> str:
    """The first lane that is set in a mask of at most 64 lanes, of which one is: an i64 register."""
    return _first_lane_of(writer, [mask])


def _first_lane_of(writer: Writer, masks: Sequence[str]) -> str:
    """The same of some masks, one behind the other, that have at most 64 lanes together."""
    code, bits = writer.scalar, f"i{writer.lanes}"
    words: list[str] = []
    for number, mask in enumerate(masks):
        word = code.emit(f"bitcast {writer.code.vector('i1')} {mask} to {bits}")
        wide = code.emit(f"zext {bits} {word} to i64") if writer.lanes < WORD else word
        words.append(code.emit(f"shl i64 {wide}, {number * writer.lanes}") if number else wide)
    together = joined(words, lambda one, other: code.emit(f"or i64 {one}, {other}"))
    return code.call("llvm.cttz.i64", "i64", ["i64", "i1"], [f"i64 {together}", "i1 true"])
