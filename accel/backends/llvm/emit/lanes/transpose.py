"""Rectangles of memory, transposed in registers: rows that lie apart become vectors of one element of each row.

Every row gives a piece of 16 bytes, or less at the end: `w` elements, a power of two. Rows q*w + j go side by side into
vector j, and then log2 w steps interleave the halves of neighbours: element k of every row stands in vector k. All that moves
within 16 bytes is one instruction for each vector, whatever its length. Of longer pieces elements move within 16 bytes first,
and then these, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.text.code import Code, memory_type
from accel.backends.llvm.text.routine import Routine

PIECE = 16
"""Bytes within which registers of all lengths shuffle as fast: so many are loaded of a row at once, if not more."""


def rows_at_once(kind: ScalarType) -> int:
    """How many rows are transposed at once: so that the vectors fill half of the registers, or a cache line."""
    return 8 if kind.bytes == 8 else 16


def transposed_rows(code: Code, kind: ScalarType, rows: Sequence[str], width: int, step: int = 1) -> list[str]:
    """The first `width` elements at each address of `rows`, transposed: vector k holds element k of every row.

    step: from one element to the next, 1 or 2.
    """
    element, count = memory_type(kind), len(rows)
    pieces = [_piece(code, kind, row, width, step) for row in rows]
    vectors = [_side_by_side(code, element, width, pieces[j::width]) for j in range(width)]
    type_, within = f"<{count} x {element}>", min(width, PIECE // kind.bytes)
    squares = [interleaved(code, type_, count, vectors[j : j + within]) for j in range(0, width, within)]
    if len(squares) == 1:
        return squares[0]
    columns = [interleaved(code, type_, count, column, within) for column in zip(*squares, strict=True)]
    return [vector for place in zip(*columns, strict=True) for vector in place]


def _piece(code: Code, kind: ScalarType, row: str, width: int, step: int) -> str:
    """Elements of a row, and no memory behind the last of them."""
    element = memory_type(kind)
    type_ = element if width == 1 else f"<{width} x {element}>"
    first = code.emit(f"load {type_}, ptr {row}, align {kind.bytes}")
    if width == 1 or step == 1:
        return first
    behind = code.emit(f"getelementptr {element}, ptr {row}, i64 {width - 1}")
    second = code.emit(f"load {type_}, ptr {behind}, align {kind.bytes}")
    picks = [place if place < width else place + 1 for place in range(0, 2 * width, 2)]
    return shuffled(code, type_, first, second, picks)


def interleaved(code: Code, type_: str, count: int, vectors: Sequence[str], unit: int = 1) -> list[str]:
    """Squares of as many lanes as there are vectors, or of so many times `unit` lanes that move together, each transposed.
    Twice gives what was."""
    width, found = len(vectors), list(vectors)
    for _ in range(width.bit_length() - 1):
        pairs = [(found[j], found[j + width // 2]) for j in range(width // 2)]
        found = [_halves(code, type_, count, unit, width, pair, half) for pair in pairs for half in (0, width // 2)]
    return found


def _halves(code: Code, type_: str, count: int, unit: int, width: int, pair: tuple[str, str], start: int) -> str:
    """Half of each `width` units of two vectors, from unit `start` on, in turn."""
    lanes = [
        other + (square + start + place) * unit + lane
        for square in range(0, count // unit, width)
        for place in range(width // 2)
        for other in (0, count)
        for lane in range(unit)
    ]
    return shuffled(code, type_, pair[0], pair[1], lanes)


def _side_by_side(code: Code, element: str, width: int, parts: Sequence[str]) -> str:
    """Vectors (or scalars) of `width` lanes, one after the other in one."""
    if width == 1:
        type_, vector = f"<{len(parts)} x {element}>", "poison"
        for lane, part in enumerate(parts):
            vector = code.emit(f"insertelement {type_} {vector}, {element} {part}, i32 {lane}")
        return vector
    found = list(parts)
    while len(found) > 1:
        type_ = f"<{width} x {element}>"
        pairs = zip(found[::2], found[1::2], strict=True)
        found = [shuffled(code, type_, left, right, range(2 * width)) for left, right in pairs]
        width *= 2
    return found[0]


def shuffled(code: Code, type_: str, left: str, right: str, lanes: Sequence[int]) -> str:
    """Lanes of two vectors."""
    order = ", ".join(f"i32 {lane}" for lane in lanes)
    return code.emit(f"shufflevector {type_} {left}, {type_} {right}, <{len(lanes)} x i32> <{order}>")


Strip = Callable[[str, int], None]
"""Writes elements position .. position + width - 1 of a number of rows."""


def strips(routine: Routine, kind: ScalarType, low: str, high: str, strip: Strip) -> None:
    """Elements low .. high-1 of rows, 16 bytes at once, then what is left by halves."""
    code, width = routine.code, PIECE // kind.bytes
    place = routine.slot("i64")
    routine.store("i64", low, place)
    with routine.advance(place, code.emit(f"sub i64 {high}, {width - 1}"), width) as position:
        strip(position, width)
    while width > 1:
        width //= 2
        position = routine.load("i64", place)
        enough = code.emit(f"icmp sle i64 {code.emit(f'add i64 {position}, {width}')}, {high}")
        with routine.when(enough):
            strip(position, width)
            routine.store("i64", code.emit(f"add i64 {position}, {width}"), place)
