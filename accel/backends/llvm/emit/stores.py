"""How rows of vectors are stored: chosen here, for all templates, once a row's size and its place in memory are known.

A launch notes in its frame whether the nest writes more than caches hold (`loops/schedule.py`). If it does, vectors that begin
where memory has a boundary for them go past the caches. Templates whose vectors may begin anywhere have a row's first elements
come under a mask, so that the others begin there (`before_vectors`); others have them stored in lines (`past_caches.py`). All
else goes through the caches: results that are small, vectors under masks, vectors that are scattered.

In: an array, and a row's first index. Out: `RowStores`, which `Memory` carries out. Who runs kernels has other threads see
what has gone past the caches (`threads/run_text.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.past_caches import Lines, RowStores, makes_lines
from accel.backends.llvm.emit.values import Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.words import STREAMING
from accel.labelled.array import Array


def is_large(view: FrameView) -> str:
    """Whether the nest writes so much that stores go past the caches where they can: an i1, as its launch has noted it. (In the
    launch itself `note_streaming` gives it.)"""
    return view.routine.code.emit(f"icmp ne i64 {view.word(STREAMING)}, 0")


class Stores:
    """Those of one function's rows, in vectors of one width."""

    def __init__(self, memory: Memory, writer: Writer) -> None:
        self._memory = memory
        self._writer = writer
        self._code = memory.routine.code

    def row(self, array: Array, index: Sequence[Value], *, in_lines: bool = False) -> RowStores:
        """Those of a row of vectors from a uniform index on. `in_lines`: whether it is worth to make lines of others than
        aligned ones, where the processor can."""
        address = self._memory.address(array, index)
        return RowStores(self._past_caches(array, address), self.lines(array, index) if in_lines else None)

    def rows(self, array: Array, index: Sequence[Value]) -> str:
        """Whether vectors of all rows of an array go past the caches where they stand, if rows begin with this uniform index's
        column: an i1."""
        address = self._code.emit(f"ptrtoint ptr {self._memory.address(array, index)} to i64")
        return self._code.emit(f"and i1 {self.all_aligned(array, address)}, {is_large(self._memory.view)}")

    def lines(self, array: Array, index: Sequence[Value]) -> Lines | None:
        """The lines of a row of vectors from a uniform index on; None where the processor makes none of these vectors."""
        if not makes_lines(array.element, self._writer.lanes):
            return None
        memory = self._memory
        address = memory.address(array, index)
        return Lines(memory.routine, self._writer, array.element, address, is_large(memory.view))

    def before_vectors(self, array: Array, index: Sequence[Value]) -> str:
        """How many elements of a row, from a uniform index on, are before one where vectors are aligned, if these are to be
        stored past the caches then; else 0: an i64."""
        code = self._code
        address = code.emit(f"ptrtoint ptr {self._memory.address(array, index)} to i64")
        odd = code.emit(f"and i64 {code.emit(f'sub i64 0, {address}')}, {self._size(array) - 1}")
        elements = code.emit(f"udiv i64 {odd}, {array.element.bytes}")
        return code.emit(f"select i1 {is_large(self._memory.view)}, i64 {elements}, i64 0")

    def all_aligned(self, array: Array, address: str) -> str:
        """Whether the address, an i64, and those of the same column in all other rows are vectors' boundaries: an i1."""
        odd = address
        for dimension in range(len(array.shape) - 1):
            odd = self._code.emit(f"or i64 {odd}, {self._memory.view.stride(array, dimension)}")
        return self._is_aligned(array, odd)

    def _past_caches(self, array: Array, address: str) -> str:
        """Whether vectors from an address on go past the caches where they stand: an i1."""
        aligned = self._is_aligned(array, self._code.emit(f"ptrtoint ptr {address} to i64"))
        return self._code.emit(f"and i1 {aligned}, {is_large(self._memory.view)}")

    def _is_aligned(self, array: Array, address: str) -> str:
        odd = self._code.emit(f"and i64 {address}, {self._size(array) - 1}")
        return self._code.emit(f"icmp eq i64 {odd}, 0")

    def _size(self, array: Array) -> int:
        """The bytes of a vector."""
        return array.element.bytes * self._writer.lanes
