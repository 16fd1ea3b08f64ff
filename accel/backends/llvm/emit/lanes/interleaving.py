"""Vectors put between each other: lane 0 of each, then lane 1 of each, and so on, as rows of so many elements lie in memory.
And one of the vectors that were put so.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.text.code import Code


def interleaved_lanes(code: Code, type_: str, vectors: Sequence[str]) -> list[str]:
    """As many vectors, of the elements of the given ones, which have the LLVM type `type_`."""
    count, half = len(vectors), len(vectors) // 2
    if count > 2 and count == 2 * half and len(set(vectors)) > 1:
        # The vectors at a distance of half their number are put between each other first, which then are half as many.
        pairs = [interleaved_lanes(code, type_, pair) for pair in zip(vectors[:half], vectors[half:], strict=True)]
        low, high = zip(*pairs, strict=True)
        return [*interleaved_lanes(code, type_, low), *interleaved_lanes(code, type_, high)]
    # Element p of the whole is lane p // count of vector p % count.
    every = [divmod(position, count) for position in range(count * code.lanes)]
    return [
        _picked(code, type_, vectors, every[start : start + code.lanes]) for start in range(0, len(every), code.lanes)
    ]


def every_so_many(code: Code, type_: str, vectors: Sequence[str], place: int) -> str:
    """The element at `place` of each of as many rows as there are lanes, which lie one behind the other in these vectors.

    First every second element is kept, if rows have a multiple of two, or every third, and so on: whoever asks for several
    places has much in common then, and LLVM writes it once.
    """
    lanes = code.lanes
    while len(vectors) > 1:
        step = next(each for each in range(2, len(vectors) + 1) if len(vectors) % each == 0)
        kept = [divmod(step * lane + place % step, lanes) for lane in range(lanes)]
        places = [(lane, vector) for vector, lane in kept]
        vectors = [
            _picked(code, type_, vectors[start : start + step], places) for start in range(0, len(vectors), step)
        ]
        place //= step
    return vectors[0]


def _picked(code: Code, type_: str, vectors: Sequence[str], places: Sequence[tuple[int, int]]) -> str:
    """A vector of these lanes of these vectors."""
    lanes, vector = code.lanes, code.vector(type_)
    made = vectors[0]
    if len(set(vectors)) == 1:
        mask = ", ".join(f"i32 {row}" for row, _ in places)
        return code.emit(f"shufflevector {vector} {made}, {vector} poison, <{lanes} x i32> <{mask}>")
    for which in range(1, len(vectors)):
        picks = []
        for lane, (row, column) in enumerate(places):
            here = row if which == 1 else lane
            picks.append(lanes + row if column == which else here if column < which else 0)
        mask = ", ".join(f"i32 {pick}" for pick in picks)
        made = code.emit(f"shufflevector {vector} {made}, {vector} {vectors[which]}, <{lanes} x i32> <{mask}>")
    return made
