"""Which lines of memory are asked for ahead of what reads or writes them."""

from __future__ import annotations

from accel.backends.llvm.machine.processor import LINE
from accel.backends.llvm.text.code import Code
from accel.labelled.array import Array


class Ahead:
    """What a vector asks for, of what it reads: each array once, some bytes on. `place`: the vector's number in a group that is
    written side by side; None where the body is written once."""

    def __init__(self, place: int | None) -> None:
        self._place = place
        self._asked: set[Array] = set()

    def lines(self, array: Array, lanes: int) -> range:
        """Bytes from the vector's first one to each line of its own, one of which several short vectors share."""
        size = lanes * array.element.bytes
        if array in self._asked or (self._place is not None and self._place * size % LINE):
            return range(0)
        self._asked.add(array)
        return range(0, size, LINE)


def ask_to_write(code: Code, address: str, size: int) -> None:
    """Asks for lines that are about to be written, so many bytes: a processor reads a line before it writes a part of it."""
    code.declare("void", "llvm.prefetch.p0", "ptr, i32, i32, i32")
    for line in range(0, size, LINE):
        place = code.emit(f"getelementptr i8, ptr {address}, i64 {line}")
        code.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 1, i32 3, i32 1)")
