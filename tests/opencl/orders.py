"""A device that is stricter than the processors it runs on: work-items in other orders, and memory that nobody has written.

A CPU device runs the work-items of a group one after the other from barrier to barrier, always in the same order, and local
memory has what the group before has left there. So a barrier that is missing, or a place that nobody writes, may never show.
Here work-items and groups have other numbers than the device's own, one work-item runs at a time, and memory begins with all
bits set, which is no number. Local memory beyond what OpenCL promises is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
import pyopencl

from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.machine.devices import LOCAL_BYTES
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.machine.records import Records
from tests.opencl.platforms import ROWS, gpu_features

_NUMBERS: Final = """
#define get_group_id(d) (get_num_groups(d) - 1 - get_group_id(d))
#define get_local_id(d) {}
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
"""

ORDERS: Final = {
    "forwards": "",
    "backwards": _NUMBERS.format("(get_local_size(d) - 1 - get_local_id(d))"),
    "shuffled": _NUMBERS.format("((get_local_id(d) * 77 + 13) & (get_local_size(d) - 1))"),
}
"""What is defined before a program. Groups have a power of two of work-items, of which multiples of an odd number are all."""

_DECLARED: Final = re.compile(r"^ *__local \w+ (\w+(?:\[[^;=]*\])*(?:, \w+(?:\[[^;=]*\])+)*);$", re.MULTILINE)


def strict(text: str, order: str) -> str:
    """The program with its work-items in that order, one at a time, and local memory that begins with all bits set."""
    one_by_one = re.sub(r"^__kernel (?!.*\bSERIAL\b)", "__kernel SERIAL ", text, flags=re.MULTILINE)
    return ORDERS[order] + _DECLARED.sub(_filled, one_by_one)


def _filled(found: re.Match[str]) -> str:
    lines = [found[0]]
    for name in re.findall(r"(\w+)(?:\[[^,]*\])*(?:, |$)", found[1]):
        lines += [
            "#pragma clang loop vectorize(disable)",
            f"for (int all = get_local_id(0); all < (int)sizeof({name}); all += get_local_size(0))",
            f"  ((__local uchar*)&{name})[all] = 0xFF;",
        ]
    return "\n".join([*lines, "barrier(CLK_LOCAL_MEM_FENCE);"])


class _Filled(Memory):
    """Memory whose buffers begin with all bits set."""

    def take(self, size: int) -> Held:
        held = super().take(size)
        fill = partial(pyopencl.enqueue_fill_buffer, self.queue, held.buffer, np.uint8(0xFF), 0, held.size)
        self.enqueued("what nobody has written", fill)
        return held


class Strict(OpenCLBackend):
    """A platform's first device, taken for a GPU, in one of the `ORDERS`. `changed`: what is done to a program's text first.
    `together`: as `Features` have it."""

    def __init__(
        self, platform: str, order: str, changed: Callable[[str], str] = str, *, together: bool = False
    ) -> None:
        super().__init__(ROWS[platform])
        self.features = replace(gpu_features(self), together=together)
        self.memory = _Filled(self.device, ROWS[platform])
        self.records = Records(self.memory)
        self._order = order
        self._changed = changed

    def build(self, text: str) -> pyopencl.Program:
        """Build it, and look at what its kernels take."""
        program = super().build(strict(self._changed(text), self._order))
        for kernel in program.all_kernels():
            taken = kernel.get_work_group_info(pyopencl.kernel_work_group_info.LOCAL_MEM_SIZE, self.device)
            assert taken <= LOCAL_BYTES, f"{kernel.function_name} takes {taken} bytes of local memory"
        return program
