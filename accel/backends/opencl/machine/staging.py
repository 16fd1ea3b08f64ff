"""Copies between the host and a device with memory of its own, through host memory that the device reaches by itself.

Two pieces of it take turns: while the device copies one, the host fills or empties the other. Each direction has a queue of its
own, so that copies wait only for the kernels before them, and kernels for no copy that they do not need. Pieces are whoever's
that refers to them, so that threads and signal handlers never use the same ones, and Ctrl-C loses none; who finds none copies
without.
"""

from __future__ import annotations

from dataclasses import field
from sys import getrefcount
from typing import TYPE_CHECKING

import numpy as np

from accel.backends.protocol import HostArray
from accel.support.dataclass import dataclass

if TYPE_CHECKING:
    import pyopencl

PIECE = 32 << 20
"""Bytes of a piece."""

PAIRS = 2
"""Of pieces, at most: as many copies are staged at once."""

WORDS = 64
"""Bytes that are fetched at once, as far as they are made at a time."""

WORD = 64
"""How far these are apart: no two lie in one line of a cache."""


@dataclass(slots=True)
class _Piece:
    """Pinned memory, mapped for as long as it exists. `used`: the copy that reads or writes it, if there is one."""

    buffer: pyopencl.Buffer
    host: HostArray
    used: pyopencl.Event | None = field(default=None)

    def wait(self) -> None:
        """Wait until nothing uses it."""
        if self.used is not None:
            self.used.wait()
            self.used = None


class _Pair:
    """Two pieces, once somebody has needed them."""

    __slots__ = ("pieces",)

    def __init__(self) -> None:
        self.pieces: tuple[_Piece, _Piece] | None = None


class Staging:
    """The pieces and the queues of one device. `kernels`: the queue that its kernels go through."""

    def __init__(self, context: pyopencl.Context, device: pyopencl.Device, kernels: pyopencl.CommandQueue) -> None:
        import pyopencl

        self._context = context
        self._kernels = kernels
        self._up = pyopencl.CommandQueue(context, device)
        self._down = pyopencl.CommandQueue(context, device)
        self._pairs = [_Pair() for _ in range(PAIRS)]
        self._alone = next(map(getrefcount, [object()]))
        self._pinned: list[_Piece] = []
        self._words: list[HostArray] = []

    def upload(self, target: pyopencl.Buffer, data: HostArray) -> None:
        """Copy all bytes of a contiguous array; it may be changed afterwards. Kernels that are enqueued later find them."""
        import pyopencl

        pair = self._taken()
        if pair is None:
            pyopencl.enqueue_copy(self._kernels, target, data, is_blocking=True)
            return
        try:
            self._upload(self._pieces(pair), target, data.reshape(-1).view(np.uint8))
        except BaseException:  # who has the buffer next may write to it, and nothing waits for the copies
            self._up.finish()
            raise

    def _upload(self, pieces: tuple[_Piece, _Piece], target: pyopencl.Buffer, plain: HostArray) -> None:
        import pyopencl

        before = self._mark()
        for number, start in enumerate(range(0, plain.size, PIECE)):
            piece, part = pieces[number % 2], plain[start : start + PIECE]
            piece.wait()
            staged = piece.host[: part.size]
            staged[...] = part
            piece.used = pyopencl.enqueue_copy(
                self._up, target, staged, dst_offset=start, is_blocking=False, wait_for=before
            )
        pyopencl.enqueue_barrier(self._kernels, wait_for=[each.used for each in pieces if each.used is not None])
        self._up.flush()

    def download(self, result: HostArray, source: pyopencl.Buffer) -> None:
        """Fill a contiguous array with the first bytes of a buffer, once what was enqueued before is done."""
        import pyopencl

        pair = self._taken()
        if pair is None:
            pyopencl.enqueue_copy(self._kernels, result, source, is_blocking=True)
            return
        pieces, plain = self._pieces(pair), result.reshape(-1).view(np.uint8)
        before = self._mark()
        starts = range(0, plain.size, PIECE)
        for number in range(len(starts) + 1):
            if number < len(starts):
                piece, start = pieces[number % 2], starts[number]
                piece.wait()
                staged = piece.host[: min(PIECE, plain.size - start)]
                piece.used = pyopencl.enqueue_copy(
                    self._down, staged, source, src_offset=start, is_blocking=False, wait_for=before
                )
                self._down.flush()
            if number:
                piece, start = pieces[(number - 1) % 2], starts[number - 1]
                piece.wait()
                plain[start : start + PIECE] = piece.host[: min(PIECE, plain.size - start)]

    @property
    def words(self) -> list[HostArray]:
        """Bytes that the device reaches by itself; who takes one brings it back."""
        if not self._words:
            piece = self._piece(WORDS * WORD)
            self._pinned.append(piece)
            self._words += [piece.host[at : at + 1] for at in range(0, WORDS * WORD, WORD)]
        return self._words

    def _mark(self) -> list[pyopencl.Event]:
        """The end of what was enqueued so far, for another queue to wait for."""
        import pyopencl

        mark = pyopencl.enqueue_marker(self._kernels)
        self._kernels.flush()
        return [mark]

    def _taken(self) -> _Pair | None:
        """A pair that nothing refers to but the list and this: who comes to refer to it after that finds it taken."""
        for pair in self._pairs:
            if next(map(getrefcount, [pair])) == self._alone + 2:
                return pair
        return None

    def _pieces(self, pair: _Pair) -> tuple[_Piece, _Piece]:
        if pair.pieces is None:
            pair.pieces = self._piece(PIECE), self._piece(PIECE)
        return pair.pieces

    def _piece(self, size: int) -> _Piece:
        import pyopencl

        flags = pyopencl.mem_flags
        buffer = pyopencl.Buffer(self._context, flags.READ_WRITE | flags.ALLOC_HOST_PTR, size)
        access = pyopencl.map_flags.READ | pyopencl.map_flags.WRITE
        host, _ = pyopencl.enqueue_map_buffer(
            self._up, buffer, access, 0, (size,), np.dtype(np.uint8), is_blocking=True
        )
        return _Piece(buffer, host)
