"""Programs whose arguments, intermediate arrays and results on llvm lie between pages that may not be touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

from accel.backends.llvm import device
from tests.differential import check
from tests.differential.data import HostArray, inputs
from tests.differential.programs import MOST_ELEMENTS, Program
from tests.guard_pages import GuardedBuffers, guarded_copy


def guarded_inputs(program: Program, at_end: bool) -> list[HostArray]:
    """The arguments of a program between such pages, but for those that have more elements than memory."""
    return [array if array.size > MOST_ELEMENTS else guarded_copy(at_end, array) for array in inputs(program)]


@contextmanager
def guarding(seed: int) -> Iterator[None]:
    """Guard every array: behind its end at even seeds, before its start at odd ones."""
    at_end = seed % 2 == 0
    upload = device.CPU.upload

    def uploaded(self: device.CPU, arrays: Sequence[HostArray]) -> list[HostArray]:
        taken = zip(upload(self, arrays), arrays, strict=True)
        return [found if found is array else guarded_copy(at_end, found) for found, array in taken]

    guards = GuardedBuffers(at_end)
    with (
        patch.object(device, "buffers", lambda: guards),
        patch.object(device.CPU, "upload", uploaded),
        patch.object(check, "inputs", partial(guarded_inputs, at_end=at_end)),
    ):
        yield
