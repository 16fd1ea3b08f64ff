"""Lanes that join eight at a time: what a work-item reads, joins in registers and leaves is three levels of the tree at once.

Work-items that wait for each other before every level, as `join_halves` has them, wait most of the time where rows are short.
"""

from __future__ import annotations

from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.gpu.walk import neutral
from accel.backends.opencl.loops.join import Held

EIGHT = 3
"""The logarithm of how many lanes a work-item joins."""


def eight(writer: Writer, held: Held) -> None:
    """Place `at` gets what it comes to with the seven that lie `1 << few` apart from it, as lanes of folds that commute join.
    It is place `l` of `some`: those further on hold nothing."""
    empty = neutral(writer, held)
    lanes = [writer.fresh("lane") for _ in range(1 << EIGHT)]
    for number, lane in enumerate(lanes):
        further = f" + ({number} << few)" if number else ""
        writer.line(f"{held.type.name} {lane} = {empty};")
        writer.line(f"if (l{further} < some) {lane} = {held.values}[at{further}];")
    reach = len(lanes) // 2
    while reach:
        for left, right in zip(lanes, lanes[reach : 2 * reach], strict=False):
            writer.line(f"{left} = {held.type.merge(left, right)};")
        reach //= 2
    writer.line(f"{held.values}[at] = {lanes[0]};")
