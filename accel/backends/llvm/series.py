"""Series as the CPU runs them: how many rows are in work at once, what is allocated for them, and the call."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import prod

from accel.ast.tree.types import ScalarType
from accel.backends.device import SeriesLauncher, Slots, shape_of
from accel.backends.llvm.module import Kernel
from accel.backends.llvm.templates.series import DONE, INTERRUPTED, MOST_PLACES, SeriesText
from accel.backends.llvm.threads.pool import forked
from accel.backends.protocol import HostArray
from accel.schedule.nodes import Series
from accel.support.dataclass import dataclass

BLOCK_BYTES = 1 << 18
"""Of the rows that are in work at once: they stay in the cache of one core."""

LONGEST_BYTES = 1 << 20
"""Of the longest row of all arrays: longer ones are in no such cache."""

LONGEST_OF_TILES = 1 << 17
"""The same where the first nest runs in tiles, of which more rows are in work at once."""

ENOUGH_ROWS = 4
"""Rows for each thread, where they are many bytes: with fewer, threads would have more or less of them. It is twice as many as
are in work at once at least, where these are more than one row."""


@dataclass(frozen=True, slots=True)
class Together:
    """A series that is compiled. `block_bytes`: see `BLOCK_BYTES`."""

    series: Series
    kernel: Kernel
    text: SeriesText
    block_bytes: int

    @property
    def longest_bytes(self) -> int:
        """Of a row of all arrays, for which nests run together."""
        return LONGEST_OF_TILES if self.rows_at_least > 1 else LONGEST_BYTES

    @property
    def rows_at_least(self) -> int:
        """That are in work at once, of those that there are; others are a multiple of it."""
        return self.text.rows_at_least

    @property
    def enough_rows(self) -> int:
        """For each thread."""
        return max(ENOUGH_ROWS, 2 * self.rows_at_least)

    def threads(self, most: int) -> int:
        """How many take part, of those that there are."""
        return min(most, MOST_PLACES) if self.series.passed else most

    def launcher(
        self, slots: Slots, threads: int, allocate: Callable[[ScalarType, tuple[int, ...]], HostArray]
    ) -> SeriesLauncher[HostArray]:
        """What runs it: see `accel.backends.device.SeriesLauncher`."""
        series, text, kernel, block_bytes = self.series, self.text, self.kernel, self.block_bytes
        longest_bytes, rows_at_least = self.longest_bytes, self.rows_at_least
        arrays = [slots.array(array) for array in text.arrays]
        sizes_at = [slots.size(variable) for variable in text.sizes]
        pack = struct.Struct(f"{4 + len(arrays) + len(sizes_at)}q").pack
        count_of = shape_of(series.extents, slots)
        rows = [(array.element.bytes, shape_of(array.shape[1:], slots)) for array in series.rows]
        results = [
            (slots.array(o.array), o.array.element, shape_of(o.array.shape, slots), o.array in series.passed)
            for nest in series.nests
            for o in nest.outputs
        ]
        passed = [slots.array(array) for array in series.passed]
        threads = self.threads(threads)
        enough = self.enough_rows * threads

        def run(buffers: list[HostArray | None], sizes: list[int]) -> bool:
            (count,) = count_of(sizes)
            width = sum([size * prod(shape(sizes)) for size, shape in rows])
            if not width or width > longest_bytes or (count < enough and count * width > LONGEST_BYTES):
                return False
            at_once = min(count, max(1, block_bytes // width // rows_at_least) * rows_at_least)
            for slot, element, shape, is_passed in results:
                extents = shape(sizes)
                if 0 in extents:
                    return False
                if is_passed:
                    extents = (threads * at_once, *extents[1:])
                try:
                    buffers[slot] = allocate(element, extents)
                except (MemoryError, ValueError):  # one after the other they need less
                    return False
            addresses = [id(buffers[slot]) for slot in arrays]
            outcome = kernel(pack(threads, 0, count, at_once, *addresses, *[sizes[slot] for slot in sizes_at]))
            if outcome == INTERRUPTED:
                raise forked()
            for slot in passed:
                buffers[slot] = None
            return outcome == DONE

        return run
