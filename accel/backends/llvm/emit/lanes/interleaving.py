"""Vectors put between each other: lane 0 of each, then lane 1 of each, and so on, as rows of so many elements lie in memory."""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.text.code import Code


def interleaved_lanes(code: Code, type_: str, vectors: Sequence[str]) -> list[str]:
    """As many vectors, of the elements of the given ones, which have the LLVM type `type_`."""
    count, lanes, vector = len(vectors), code.lanes, code.vector(type_)
    found = []
    for number in range(count):
        # Element p of the whole is lane p // count of vector p % count.
        places = [divmod(number * lanes + lane, count) for lane in range(lanes)]
        made = vectors[0]
        for which in range(1, count):
            picks = []
            for lane, (row, column) in enumerate(places):
                here = row if which == 1 else lane
                picks.append(lanes + row if column == which else here if column < which else 0)
            mask = ", ".join(f"i32 {pick}" for pick in picks)
            made = code.emit(f"shufflevector {vector} {made}, {vector} {vectors[which]}, <{lanes} x i32> <{mask}>")
        found.append(made)
    return found
