"""A clock around the launches of a program: how often each nest ran, for how long, and what it moved.

Put around the launches of an executable when that is compiled; a program that is not profiled has none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from math import prod
from typing import TypeVar

from accel.ast.tree.types import ScalarType
from accel.backends.device import Device, Launcher, Slots, shape_of
from accel.ir import mentions
from accel.ir.facts import Access, fills, traffic
from accel.ir.nodes import Nest, Program
from accel.support.dataclass import dataclass

B = TypeVar("B")


@dataclass(slots=True)
class Tally:
    """One nest in one run, all its turns together."""

    times: int = 0
    seconds: float = 0.0
    bytes_read: int = 0
    bytes_written: int = 0


class Clock:
    """What is done around the launches of one program: see `accel.backends.device.Around`."""

    def __init__(self, program: Program) -> None:
        self._filled = frozenset().union(*map(fills, mentions.programs(program)))
        self._labels: list[int] = []
        self._tallies: dict[int, Tally] = {}

    def start(self) -> None:
        """Begin with a run: no nest has been launched."""
        self._tallies = {label: Tally() for label in self._labels}

    def read(self) -> dict[int, Tally]:
        """What happened since, by the nests' labels."""
        return self._tallies

    def __call__(self, device: Device[B], nest: Nest, slots: Slots, launch: Launcher[B]) -> Launcher[B]:
        """The launch between two looks at the clock, with nothing left to do for the device at either."""
        self._labels.append(nest.label)
        moved = traffic(nest, self._filled)
        reads, writes = _bytes(moved.reads, slots), _bytes(moved.writes, slots)
        counts = [(slots.size(count.variable), slots.array(count.array)) for count in nest.counts]

        def timed(buffers: list[B | None], sizes: list[int]) -> None:
            device.finish()
            begin = time.perf_counter()
            launch(buffers, sizes)
            device.finish()
            seconds = time.perf_counter() - begin
            known = sizes.copy()
            for size, slot in counts:
                found = buffers[slot]
                assert found is not None, "a nest counts in an array that it makes"
                known[size] = int(device.scalar(found, ScalarType.I64))
            tally = self._tallies[nest.label]
            tally.times += 1
            tally.seconds += seconds
            tally.bytes_read += reads(known)
            tally.bytes_written += writes(known)

        return timed


def _bytes(passes: Iterable[Access], slots: Slots) -> Callable[[list[int]], int]:
    """What gives the bytes of some passes, once the sizes are bound."""
    every = [(each.array.element.bytes, shape_of(each.extents, slots)) for each in passes]
    return lambda sizes: sum(width * prod(shape(sizes)) for width, shape in every)
