"""Columns that stay in registers for many rows, where there are enough registers.

A processor that takes a number of a row from memory into all lanes, in the instruction that multiplies, needs no more than
that for each element, if the columns are there. So all elements of a vector of columns, or of a subtree of them, are loaded
once for some rows one after the other; what a row comes to waits in memory for the other subtrees. (With four rows at a time,
which share a load of each column, LLVM began all of them at once: 16 x 16 x 16 of float32 took 660 cycles on Zen 4, and takes
300.) Rows of more elements should stay in the first cache meanwhile, so they are fewer, and then columns are loaded more often:
where there are too many for that cache they come from a copy. In: a tile. Out: into which subtrees folds fall.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.layout import Layout
from accel.backends.llvm.templates.tile.small.tree import Elements, Every
from accel.backends.llvm.templates.tile.strips import Accumulators
from accel.backends.llvm.text.routine import Routine

MOST_HELD = 16
"""Vectors of columns that are held."""

FEW = 64
"""Elements up to which columns are read where they lie, whatever there are."""

HELD_FOR = (32, 16)
"""Rows for which they are, of few elements and of more: results are written in as many places in turn."""

FAR = 1 << 14
"""Bytes of a row of columns from which on some processors hold them for as few rows as those of more elements."""


def held_for(count: int) -> int:
    """Rows for which columns of so many elements are held at most."""
    return HELD_FOR[count > FEW]


def rows_held(routine: Routine, count: int, row_bytes: str) -> int | str:
    """Rows for which they are, where a row of columns has so many bytes, which the code knows."""
    most = held_for(count)
    if most <= HELD_FOR[1] or not host().processor.few_far_rows:
        return most
    code = routine.code
    return code.emit(f"select i1 {code.emit(f'icmp sge i64 {row_bytes}, {FAR}')}, i64 {HELD_FOR[1]}, i64 {most}")


def subtrees(layout: Layout, count: int) -> Sequence[Every]:
    """The subtrees of so many elements, in the order in which they join as they come; none if columns are not held."""
    parts = 1
    while -(-count // parts) * len(layout.tile.columns.streams) > MOST_HELD and parts < layout.tile.order_lanes:
        parts *= 2
    most, lanes = -(-count // parts), layout.tile.order_lanes // parts
    leaves = sum(len(state.finals) for state in layout.states)
    taken = most * len(layout.tile.columns.streams) + ((min(most, lanes) - 1).bit_length() + 1) * leaves + 1
    registers = host().processor.registers
    if not registers.many or taken > registers.count:
        return ()
    bits = parts.bit_length() - 1
    firsts = [int(f"{turn:0{bits}b}"[::-1], 2) if bits else 0 for turn in range(parts)]
    return [Every(str(first), parts, -(-(count - first) // parts)) for first in firsts]


def rows_at_once(count: int, most: int) -> int:
    """Rows that are computed side by side, of so many elements: as many elements as columns are held."""
    rows = most
    while rows > 1 and rows * count > MOST_HELD:
        rows //= 2
    return rows


def computed(elements: Elements, every: Every, mask: str | None) -> Elements:
    """What a side gives for some elements, computed here once."""
    each = elements(every)
    found = [each(number, mask) for number in range(every.count)]
    return lambda every: lambda number, mask: found[number]


class Waiting:
    """What rows of a group have come to, in memory, until other subtrees join."""

    def __init__(self, routine: Routine, accumulators: Accumulators, parts: int, rows: int) -> None:
        self._routine = routine
        self._accumulators = accumulators
        self._bytes = accumulators.layout.strip_bytes(accumulators.strip)
        self._groups = rows // accumulators.strip.rows
        levels = parts.bit_length() - 1
        self._room = routine.slot(f"[{levels * self._groups * self._bytes} x i8]", align=64) if levels else ""

    def join(self, turn: int, row: str) -> None:
        """Takes in what the rows from this one of the group on came to before; after the last turn it is all."""
        left, level = turn, 0
        while left % 2:
            self._accumulators.merge(self._place(level, row))
            left, level = left // 2, level + 1

    def keep(self, turn: int, row: str) -> None:
        """Keeps what they have come to."""
        level = (~turn & (turn + 1)).bit_length() - 1
        self._accumulators.keep(self._place(level, row))

    def _place(self, level: int, row: str) -> str:
        code = self._routine.code
        group = code.emit(f"udiv i64 {row}, {self._accumulators.strip.rows}")
        offset = code.emit(f"mul i64 {code.emit(f'add i64 {group}, {level * self._groups}')}, {self._bytes}")
        return code.emit(f"getelementptr i8, ptr {self._room}, i64 {offset}")
