"""Records of failed checks: what kernels write when one fails, and how the host reads it.

A record is a small buffer of 64-bit numbers: 0 or 1 + the site that failed, then the offending index. It is zero when it is
taken; one that was read and found so is taken again, so that nothing is written to it but by a check that fails.
"""

from __future__ import annotations

import numpy as np

from accel.ast.tree.types import I64, ScalarType
from accel.backends.opencl.machine.host_memory import Fetched
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.sites import Failed

WORDS = 16
"""Numbers in a record: a site, and an index of at most 15 dimensions."""


class Records:
    """Those of one device. Safe to use from several threads: every change is one operation of a list."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._clean: list[Held] = []

    def take(self) -> Held:
        """A record that is zero."""
        try:
            return self._clean.pop()
        except IndexError:
            return self.memory.filled(np.zeros(WORDS, I64.dtype))

    def look(self, record: Held) -> None:
        """Wait for all that was launched, and raise `Failed` if a check has failed; else the record is here again."""
        if self.read(record)[0]:
            raise Failed
        self._clean.append(record)

    def read(self, record: Held) -> list[int]:
        """What stands in the record, once all that was launched is done."""
        numbers: list[int] = self.memory.download(record, I64, (WORDS,)).tolist()
        return numbers

    def fetch(self, buffer: Held, value: bool | None) -> None:
        """Remember what the first element of the buffer is, or begin to fetch it."""
        buffer.known = self.memory.fetch(buffer) if value is None else value

    def _known(self, known: bool | Fetched) -> bool:
        return known if isinstance(known, bool) else bool(self.memory.arrived(known))

    def scalar(self, buffer: Held, element: ScalarType, record: Held | None) -> bool | int | float:
        """The first element of a buffer; with a record, and in one wait, what `look` does."""
        import pyopencl

        if buffer.known is not None:
            if record is not None:
                self.look(record)
            return self._known(buffer.known)
        if record is not None and self.memory.reaches:
            self.look(record)
            record = None
        if record is None:
            value: bool | int | float = self.memory.download(buffer, element, ()).item()
            return value
        found = np.empty(1, I64.dtype)
        # Whoever lets go of such a copy's event waits for it: it is kept until the next copy, which comes later, is done.
        copy = pyopencl.enqueue_copy(self.memory.queue, found, record.buffer, is_blocking=False)
        value = self.memory.download(buffer, element, ()).item()
        del copy
        if found[0]:
            raise Failed
        self._clean.append(record)
        return value
