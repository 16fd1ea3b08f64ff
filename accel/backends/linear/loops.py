"""Loops over time, and those of them whose turns only launch nests, so that nothing need run between one turn and the next.

In: a program's items. Out: where loops begin and end among them. Which turns only launch nests is decided here, for all
backends; each asks for more, as its way of running them needs it. A compiled call (`turn_buffers.py`) takes the memory of all
turns before the first: it takes no views, and asks that the places of a turn's arrays come again. A device that plays turns
from scores (`played`) takes views, but nothing that the host computes between two launches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from accel.backends.linear.items import Item, Jump, JumpUnless, Mark, is_plain
from accel.ir.nodes import HostSizes, Launch, Require
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Loop:
    """Positions of its items: of the mark at which a turn begins, of the jump back to it, and of the mark behind that."""

    begin: int
    back: int

    @property
    def end(self) -> int:
        """Of the mark behind the loop."""
        return self.back + 1

    @property
    def turn(self) -> range:
        """Of what a turn does."""
        return range(self.begin + 1, self.back)


def loops(items: Sequence[Item]) -> Iterator[Loop]:
    """All loops, inner ones before those around them."""
    begins = {item.number: position for position, item in enumerate(items) if isinstance(item, Mark)}
    for position, item in enumerate(items):
        if isinstance(item, Jump) and begins[item.mark] < position:
            yield Loop(begins[item.mark], position)


def launching(items: Sequence[Item]) -> Iterator[Loop]:
    """The loops whose turns only launch nests: none of these finds out an extent of what follows, but those that are there for
    that (`HostSizes`), and nothing is decided but whether there is another turn."""
    for loop in loops(items):
        turn = [items[position] for position in loop.turn]  # a branch or another loop in it would have marks
        if all(is_plain(item) or isinstance(item, JumpUnless | HostSizes | Require) for item in turn):
            yield loop


def played(items: Sequence[Item]) -> Mapping[int, tuple[Item, ...]]:
    """Of those that the host has no part in, by the position of the mark where a turn begins: the items of a turn, and the mark
    behind the loop. They ask for another turn before they launch anything: what is played from there on is straight code."""
    found: dict[int, tuple[Item, ...]] = {}
    for loop in launching(items):
        turn = [items[position] for position in loop.turn]
        asks = next(place for place, item in enumerate(turn) if isinstance(item, JumpUnless))
        on_host = any(isinstance(item, HostSizes | Require) for item in turn)
        if not on_host and not any(isinstance(item, Launch) for item in turn[:asks]):
            found[loop.begin] = (*turn, items[loop.end])
    return found
