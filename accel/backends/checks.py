"""`checks="all"` on a compiled program in which every operation has a nest by itself: what is done around each launch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from accel.ast.tree.types import ScalarType
from accel.backends.device import Device, Launcher, Slots, shape_of
from accel.ir import mentions
from accel.ir.nodes import HostSizes, Nest
from accel.labelled.array import Array, SizeVariable
from accel.labelled.meaning import nans
from accel.labelled.meaning.divisions import may_divide_by_zero
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.meaning.interpret import judge
from accel.labelled.nodes import Binding, BindSizes, Program
from accel.labelled.operations import has_unique_targets
from accel.labelled.programs import functions, programs, reads

B = TypeVar("B")


class Checks:
    """See `accel.backends.device.Around`. What is looked at comes from the device.

    `accel.labelled.meaning.nans` judges NaNs. Whether an integer is divided by zero, or two elements go to one place, the
    interpreter says: it runs those operations that might do so before they are launched.
    """

    def __init__(self, program: Program) -> None:
        """`program`: the operations that the nests are made of."""
        self._bindings = {binding.label: binding for part in programs(program) for binding in part.bindings}
        operations = ((binding, binding.operation) for binding in self._bindings.values())
        self._sizes = {each.variables: binding for binding, each in operations if isinstance(each, BindSizes)}

    def __call__(self, device: Device[B], nest: Nest, slots: Slots, launch: Launcher[B]) -> Launcher[B]:
        """A look at what is to be read, the launch, then a look at what it made and, if there is a NaN, at what it read."""
        binding = self._bindings[nest.label]
        destinations = nans.floats(old for old, _ in nest.in_place)
        mentioned = mentions.arrays(nest)
        made = [array for array in binding.arrays if array in mentioned]
        read = mentioned - set(made) - set(destinations)
        every = {array: (slots.array(array), shape_of(array.shape, slots)) for array in mentioned}
        counts = [(slots.size(count.variable), slots.array(count.array)) for count in nest.counts]
        needed = sorted(reads(binding.operation), key=lambda array: (array.label, array.leaf))
        is_judged = _is_to_be_judged(binding)

        def load(array: Array, buffers: list[B | None], sizes: list[int]) -> HostArray:
            slot, shape = every[array]
            return device.download(_held(buffers[slot]), array.element, shape(sizes), owned=False)

        def given(array: Array, buffers: list[B | None], sizes: list[int]) -> HostArray:
            if array in every:
                return load(array, buffers, sizes)
            # The operation takes it, but looks at no element.
            return np.zeros(shape_of(array.shape, slots)(sizes), array.element.dtype)

        def checked(buffers: list[B | None], sizes: list[int]) -> None:
            if is_judged:
                judge(binding, slots.known(sizes), {array: given(array, buffers, sizes) for array in needed})
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

    def extents(self, step: HostSizes, sizes: Mapping[SizeVariable, int], arrays: Mapping[Array, HostArray]) -> None:
        """See `accel.backends.device.LooksAtExtents`."""
        judge(self._sizes[step.variables], sizes, arrays)


def _is_to_be_judged(binding: Binding) -> bool:
    """Whether an operation might divide by zero, or send two elements to one place."""
    operation = binding.operation
    if has_unique_targets(operation):
        return True
    return any(map(may_divide_by_zero, functions(operation)))


def _held(buffer: B | None) -> B:
    assert buffer is not None, "a nest is launched without one of its arrays: a bug in accel"
    return buffer
