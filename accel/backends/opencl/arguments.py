"""The arguments of a program's calls in the device's memory.

In: what a call is given. Out: a buffer for each. Where the host reaches the device's memory, little arrays are copied together:
their buffers are a lot (`machine/sizes.py`), of which the next call takes again what nothing refers to any more. To take and
fill them one by one takes three times as long.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accel.ast.tree.leaves import Leaf
from accel.backends.opencl.machine.buffer_array import BufferArray
from accel.backends.opencl.machine.devices import check_process
from accel.backends.opencl.machine.host_memory import FEW
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.machine.sizes import LOT, size_class
from accel.backends.protocol import HostArray
from accel.backends.residence import elsewhere


class Arguments:
    """Those of one program. Any number of calls may be in it at once."""

    def __init__(self, memory: Memory, place: str) -> None:
        """`place`: the backend's name."""
        self._memory = memory
        self._place = place
        self._name = object()

    def upload(self, leaves: Sequence[Leaf]) -> list[Held]:
        """A buffer for each, see `accel.backends.device.Device`."""
        if self._memory.reaches:
            little = [leaf for leaf in leaves if isinstance(leaf, np.ndarray) and leaf.nbytes <= FEW]
            sizes = [size_class(leaf.nbytes) for leaf in little]
            if little and sum(sizes) <= LOT:
                together = iter(self._together(little, sizes))
                places = set(map(id, little))
                return [next(together) if id(leaf) in places else self._alone(leaf) for leaf in leaves]
        return [self._alone(leaf) for leaf in leaves]

    def _alone(self, leaf: Leaf) -> Held:
        if isinstance(leaf, np.ndarray):
            return self._memory.upload(leaf)
        if isinstance(leaf, BufferArray) and leaf.lies_in(self._memory):
            return leaf.held
        raise elsewhere(leaf, self._place)

    def _together(self, little: Sequence[HostArray], sizes: list[int]) -> list[Held]:
        """Copies of little arrays, in buffers of these sizes. What the call has of the lot, the next one does not get."""
        memory = self._memory
        check_process(memory.generation)
        lot = memory.lots.take(self._name, memory.take)
        if lot is None or [held.size for held in lot] != sizes:
            lot = memory.take_all(sizes)
        for array, held, host in zip(little, lot, memory.reached(lot), strict=True):
            held.known = None
            room = np.ndarray(array.shape, array.dtype, host)
            if array.dtype == np.bool_:
                np.not_equal(array.view(np.uint8), 0, out=room)  # which other bytes than 0 and 1 may stand for
            else:
                room[...] = array
        memory.lots.rest(self._name, lot)
        return list(lot)
