"""In which order the lanes of a block are visited where columns are folded, and which of them join in between.

In: how many lanes a block has, and elements. Out: loops over lanes, in the order of their numbers' reversed bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from accel.backends.llvm.templates.strips.accumulators import StripFold
from accel.backends.llvm.text.routine import Routine
from accel.labelled.meaning.order import BLOCK
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lanes of the only block: of so many pieces, a power of two, that of this number, in the order in which they join."""

    number: str
    pieces: str


class LaneVisit:
    """The lanes of blocks, those that join one after the other; what waits to be joined stands in rows, the last on top.

    Lane l joins l + width/2, what they give l + width/4, and so on: in the order of reversed bits those are neighbours. A lane
    without elements is left out.
    """

    def __init__(self, routine: Routine, width: int) -> None:
        self._routine = routine
        self._width = width
        self._bits = width.bit_length() - 1
        self._visited, self._next, self._row = (routine.slot("i64") for _ in range(3))
        self._heights = routine.slot("i64", width.bit_length() + 1)

    @contextmanager
    def lanes(self, present: str, folds: Sequence[StripFold], piece: Piece | None) -> Iterator[tuple[str, str, str]]:
        """Around what folds one lane of a block of `present` elements: its number, and the row for it; and the lane that is
        next, counted through into the next block. Joins in between. Of a piece only its lanes, the first of which has elements:
        they are a subtree."""
        routine, code = self._routine, self._routine.code
        begin, end = ("0", str(self._width)) if piece is None else self._visits(piece)
        routine.store("i64", begin, self._visited)
        routine.store("i64", "0", self._row)
        with routine.advance(self._visited, end, 0) as visited:
            following = self._following(visited, present, end)
            row = routine.load("i64", self._row)
            inside = code.emit(f"icmp slt i64 {following}, {end}")
            later = code.emit(f"select i1 {inside}, i64 {self._lane(following)}, i64 {BLOCK}")
            yield self._lane(visited), row, later
            differing = code.emit(f"xor i64 {visited}, {following}")
            zeros = code.call("llvm.ctlz.i64", "i64", ["i64", "i1"], [f"i64 {differing}", "i1 false"])
            height = code.emit(f"sub i64 64, {zeros}")
            self._join(height, folds)
            top = routine.load("i64", self._row)
            routine.store("i64", height, routine.offset(self._heights, top))
            routine.store("i64", code.emit(f"add i64 {top}, 1"), self._row)
            routine.store("i64", following, self._visited)

    def _visits(self, piece: Piece) -> tuple[str, str]:
        """The first visit of a piece, and the one behind its last."""
        code = self._routine.code
        size = code.emit(f"udiv i64 {self._width}, {piece.pieces}")
        begin = code.emit(f"mul i64 {piece.number}, {size}")
        return begin, code.emit(f"add i64 {begin}, {size}")

    def _lane(self, visited: str) -> str:
        code = self._routine.code
        reversed_ = code.call("llvm.bitreverse.i64", "i64", ["i64"], [f"i64 {visited}"])
        return code.emit(f"lshr i64 {reversed_}, {64 - self._bits}")

    def _following(self, visited: str, present: str, end: str) -> str:
        """The next visit of a lane that has elements; the end if there is none."""
        routine, code = self._routine, self._routine.code
        routine.store("i64", code.emit(f"add i64 {visited}, 1"), self._next)
        head, look, skip, after = (routine.label() for _ in range(4))
        routine.jump(head)
        routine.place(head)
        number = routine.load("i64", self._next)
        routine.branch(code.emit(f"icmp slt i64 {number}, {end}"), look, after)
        routine.place(look)
        routine.branch(code.emit(f"icmp slt i64 {self._lane(number)}, {present}"), after, skip)
        routine.place(skip)
        routine.store("i64", code.emit(f"add i64 {number}, 1"), self._next)
        routine.jump(head)
        routine.place(after)
        return number

    def _join(self, height: str, folds: Sequence[StripFold]) -> None:
        """The top row joins the one below as long as they meet further down in the tree than the next lane meets them."""
        routine, code = self._routine, self._routine.code
        head, look, join, after = (routine.label() for _ in range(4))
        routine.jump(head)
        routine.place(head)
        row = routine.load("i64", self._row)
        routine.branch(code.emit(f"icmp sgt i64 {row}, 0"), look, after)
        routine.place(look)
        below = code.emit(f"sub i64 {row}, 1")
        met = routine.load("i64", routine.offset(self._heights, below))
        routine.branch(code.emit(f"icmp slt i64 {met}, {height}"), join, after)
        routine.place(join)
        for fold in folds:
            fold.join(row)
        routine.store("i64", below, self._row)
        routine.jump(head)
        routine.place(after)
