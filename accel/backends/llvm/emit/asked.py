"""Which lines of memory a vector asks for ahead of those that read them."""

from __future__ import annotations

from accel.backends.llvm.machine.processor import LINE
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
