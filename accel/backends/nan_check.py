"""`check_nan` on a compiled program in which every operation has a nest by itself: what is done around each launch."""

from __future__ import annotations

from typing import TypeVar

from accel.ast.tree.types import ScalarType
from accel.backends.device import Device, Launcher, Slots
from accel.backends.instructions import shape_of
from accel.ir import mentions
from accel.ir.nodes import Nest
from accel.labelled.array import Array
from accel.labelled.meaning import nans
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.nodes import Program
from accel.labelled.programs import programs

B = TypeVar("B")


class NaNCheck:
    """See `accel.backends.device.Around`. What is looked at comes from the device; `accel.labelled.meaning.nans` judges."""

    def __init__(self, program: Program) -> None:
        """`program`: the operations that the nests are made of."""
        self._bindings = {binding.label: binding for part in programs(program) for binding in part.bindings}

    def __call__(self, device: Device[B], nest: Nest, slots: Slots, launch: Launcher[B]) -> Launcher[B]:
        """The launch, then a look at what it made and, if there is a NaN, at what it read."""
        binding = self._bindings[nest.label]
        destinations = nans.floats(old for old, _ in nest.in_place)
        mentioned = mentions.arrays(nest)
        made = [array for array in binding.arrays if array in mentioned]
        read = mentioned - set(made) - set(destinations)
        every = {array: (slots.array(array), shape_of(array.shape, slots)) for array in mentioned}
        counts = [(slots.size(count.variable), slots.array(count.array)) for count in nest.counts]

        def load(array: Array, buffers: list[B | None], sizes: list[int]) -> HostArray:
            slot, shape = every[array]
            return device.download(_held(buffers[slot]), array.element, shape(sizes), owned=False)

        def checked(buffers: list[B | None], sizes: list[int]) -> None:
            # A scatter overwrites its destination: what was there is to be seen only now.
            known = any(nans.has_nan(load(array, buffers, sizes)) for array in destinations)
            launch(buffers, sizes)
            if known:
                return
            found = sizes.copy()
            for size, slot in counts:
                found[size] = int(device.scalar(_held(buffers[slot]), ScalarType.I64))
            nans.check(binding, made, read, lambda array: load(array, buffers, found))

        return checked


def _held(buffer: B | None) -> B:
    assert buffer is not None, "a nest is launched without one of its arrays: a bug in accel"
    return buffer
