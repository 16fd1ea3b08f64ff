"""Orders of loops compiled and run on arrays of the host, one thread, as they stand.

In: a nest, an order, contiguous arrays. Out: results, and seconds of processor time.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence

import numpy as np

from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.machine.target import host
from accel.labelled.scalar import Constant
from accel.rearrange.literal import ENTRY, text
from accel.rearrange.nest import HostArray, LinearNest
from accel.rearrange.rules import Order

_ENOUGH = 0.2
"""Seconds after which no further round is measured."""


class Compiled:
    """One order's code for these arrays."""

    def __init__(
        self, nest: LinearNest, order: Order, arrays: Sequence[HostArray], *, free: bool, magnitudes: bool = False
    ) -> None:
        self._arrays = arrays
        self._shape = nest.shape
        self._dtype = nest.result.type.dtype
        self._first = _first(nest, magnitudes)
        code = host().compile_with_all_passes(text(nest, order, free=free, magnitudes=magnitudes))
        self._library = load([code], [ENTRY], {})
        signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(arrays) + 1))
        self._call: Callable[..., None] = signature(self._library.addresses[ENTRY])

    def run(self) -> HostArray:
        """The result."""
        return self._timed()[0]

    def measure(self, rounds: int) -> float:
        """The least processor time of some rounds, in seconds: of one if that is long, of up to `rounds`."""
        taken = [self._timed()[1]]
        while len(taken) < rounds and sum(taken) < _ENOUGH:
            taken.append(self._timed()[1])
        return min(taken)

    def _timed(self) -> tuple[HostArray, float]:
        result = np.full(self._shape, self._first, self._dtype)
        start = time.thread_time()
        self._call(*[array.ctypes.data for array in self._arrays], result.ctypes.data)
        return result, time.thread_time() - start


def _first(nest: LinearNest, magnitudes: bool) -> bool | int | float:
    """What the result holds before anything is reduced."""
    initial: Constant | None = None if nest.reduction is None else nest.reduction.initial
    if initial is None:
        return 0
    return abs(initial.value) if magnitudes else initial.value
