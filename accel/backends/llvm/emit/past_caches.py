"""Stores of a row's vectors past the caches, which take whole lines of memory.

Where vectors may begin anywhere, loops have them begin with lines. Those of a scan stand where its order has them; where that
is within lines, a line is the end of one vector and the beginning of the next, which AVX-512 picks from both in one
instruction. In: a row's vectors, one after the other. Out: stores of whole lines, and of the parts of lines in which the row
begins and ends; plain ones where nothing goes past the caches.
"""

from __future__ import annotations

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.emit.lanes.masked import masked_store
from accel.backends.llvm.emit.lanes.picking import from_two, picks, word_of
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.processor import LINE
from accel.backends.llvm.text.code import memory_type
from accel.backends.llvm.text.routine import Routine
from accel.support.dataclass import dataclass


def makes_lines(kind: ScalarType, lanes: int) -> bool:
    """Whether vectors of so many elements are as long as a line, and the processor picks lanes of two of them."""
    return kind.bytes * lanes == LINE and picks(kind, lanes)


class Lines:
    """Those of one row. `here`: whether its vectors are stored so, an i1. `apart`: whether the vector at hand does not follow
    the one before it, an i1; it is stored as it is."""

    def __init__(self, routine: Routine, writer: Writer, kind: ScalarType, first: str, here: str) -> None:
        """`first`: the address of the row's first vector."""
        self.here = here
        self.apart: str | None = None
        self._routine, self._writer, self._kind = routine, writer, kind
        code, word = writer.code, word_of(kind)
        self._odd = code.emit(f"and i64 {code.emit(f'ptrtoint ptr {first} to i64')}, {LINE - 1}")
        self._behind = code.emit(f"lshr i64 {self._odd}, {kind.bytes.bit_length() - 1}")
        places = code.emit(f"sub i64 {writer.lanes}, {self._behind}")
        if word != "i64":
            places = code.emit(f"trunc i64 {places} to {word}")
        order = ", ".join(f"{word} {lane}" for lane in range(writer.lanes))
        self._places = code.emit(f"add {code.vector(word)} <{order}>, {writer.splat(places, word)}")
        self._before = routine.slot(code.vector(word), align=LINE)
        self._last, self._begins = routine.slot("ptr"), routine.slot("i1")
        routine.store(code.vector(word), "zeroinitializer", self._before)
        routine.store("ptr", first, self._last)
        routine.store("i1", "true", self._begins)

    def holds(self) -> str:
        """Whether the vector at hand is stored so: an i1."""
        if self.apart is None:
            return self.here
        return self._routine.code.emit(f"select i1 {self.apart}, i1 false, i1 {self.here}")

    def store(self, text: str, address: str) -> None:
        """The next vector of the row, of which the first lanes end a line. Its other lanes wait."""
        routine, code = self._routine, self._writer.code
        words = code.emit(f"bitcast {self._vector} {text} to {code.vector(word_of(self._kind))}")
        line = self._picked(words)
        begin = code.emit(f"getelementptr i8, ptr {address}, i64 {code.emit(f'sub i64 0, {self._odd}')}")
        part, whole, after = routine.label(), routine.label(), routine.label()
        routine.branch(routine.load("i1", self._begins), part, whole, rarely=True)
        routine.place(part)
        there = self._writer.without(None, self._writer.first_lanes(self._behind))
        masked_store(code, self._kind, line, begin, there)
        routine.store("i1", "false", self._begins)
        routine.jump(after)
        routine.place(whole)
        code.line(f"store {self._vector} {line}, ptr {begin}, align {LINE}, !nontemporal !0")
        routine.jump(after)
        routine.place(after)
        routine.store(code.vector(word_of(self._kind)), words, self._before)
        routine.store("ptr", address, self._last)

    def finish(self) -> None:
        """What waits, if there was a vector."""
        routine, code = self._routine, self._writer.code
        none = routine.load("i1", self._begins)
        with routine.when(code.emit(f"xor i1 {none}, true")):
            line = self._picked("zeroinitializer")
            rest = code.emit(f"sub i64 {LINE}, {self._odd}")
            begin = code.emit(f"getelementptr i8, ptr {routine.load('ptr', self._last)}, i64 {rest}")
            masked_store(code, self._kind, line, begin, self._writer.first_lanes(self._behind))

    @property
    def _vector(self) -> str:
        return self._writer.code.vector(memory_type(self._kind))

    def _picked(self, words: str) -> str:
        """A line of what waits and of these words."""
        code, type_ = self._writer.code, self._writer.code.vector(word_of(self._kind))
        before = self._routine.load(type_, self._before)
        found = from_two(code, self._kind, (before, words), self._places)
        return code.emit(f"bitcast {type_} {found} to {self._vector}")


@dataclass(frozen=True, slots=True)
class RowStores:
    """How a row of an array is stored. `aligned`: whether past the caches where vectors stand, an i1; else in `lines`, if there
    are any; else through the caches."""

    aligned: str
    lines: Lines | None = None

    def store(self, routine: Routine, writer: Writer, kind: ScalarType, text: str, address: str) -> None:
        """A vector of the row."""
        code = writer.code
        vector = code.vector(memory_type(kind))
        past, other, after = routine.label(), routine.label(), routine.label()
        routine.branch(self.aligned, past, other, rarely=True)
        routine.place(past)
        code.line(f"store {vector} {text}, ptr {address}, align {kind.bytes * code.lanes}, !nontemporal !0")
        routine.jump(after)
        routine.place(other)
        if self.lines is not None:
            in_lines, plain = routine.label(), routine.label()
            routine.branch(self.lines.holds(), in_lines, plain, rarely=True)
            routine.place(in_lines)
            self.lines.store(text, address)
            routine.jump(after)
            routine.place(plain)
        code.line(f"store {vector} {text}, ptr {address}, align {kind.bytes}")
        routine.jump(after)
        routine.place(after)

    def finish(self) -> None:
        """After the row's last vector."""
        if self.lines is not None:
            self.lines.finish()
