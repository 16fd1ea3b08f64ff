"""What a device can do, as far as the generated OpenCL C depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel.ast.tree.types import F64
from accel.backends.opencl.machine.devices import has_fp64
from accel.ir import mentions
from accel.ir.flow import made
from accel.ir.nodes import Nest
from accel.labelled.scalar import Compute, Constant
from accel.schedule.machine import WorkItems
from accel.support.dataclass import dataclass

if TYPE_CHECKING:
    import pyopencl


MOST_OPERATIONS = 1 << 31
"""Of a launch on a GPU: a slow one takes a tenth of a second. Drivers end kernels that take some seconds on a GPU that a screen
hangs on, and nothing is drawn in the meantime."""

UNIT_OPERATIONS = 1 << 30
"""The same for each compute unit of vendors whose units are whole processors, of some twenty gigabytes a second each. Others
call eight lanes a unit."""

_WHOLE_UNITS = ("NVIDIA", "Advanced Micro Devices")


NARROW_POSITIONS = (1 << 31) - (1 << 27)
"""How far kernels of GPUs count in 32 bits. What they add meanwhile, such as the elements of 1024 groups of 16 blocks before
they divide by as many, is no more than the rest."""


@dataclass(frozen=True, slots=True)
class Features:
    """`rounded_division`: the device offers correctly rounded f32 division and square root. `gpu`: work-items are cheap.
    `look_back`: groups that have begun go on while others wait for them, so that filters take one pass.
    `together`: what a work-item visits had best lie together; else beside what its neighbours visit at the same time. `most`:
    scalar operations of a launch, as far as it can be divided; None if nobody minds how long a kernel takes.
    `narrow_positions`: how far kernels count in 32 bits; None if never, since 64 take no longer. `addresses`: kernels reach
    all of the host's memory, where the device has its buffers, so they may be told where these lie, as numbers."""

    fp64: bool
    rounded_division: bool
    atomics64: bool
    gpu: bool = False
    look_back: bool = False
    together: bool = False
    most: int | None = None
    narrow_positions: int | None = None
    addresses: bool = False

    @property
    def stops(self) -> bool:
        """Whether the host can tell a kernel that runs to stop: it is a processor, whose memory is the host's, or a GPU, whose
        memory is copied to beside its kernels."""
        return self.together or self.gpu

    @property
    def machine(self) -> WorkItems:
        """What schedules depend on."""
        return WorkItems(atomic_bytes=8 if self.atomics64 else 4, gpu=self.gpu)

    @property
    def options(self) -> tuple[str, ...]:
        """The compiler's options: nothing that relaxes floating point; no warnings, which some print to the terminal."""
        rounding = ("-cl-fp32-correctly-rounded-divide-sqrt",) if self.rounded_division else ()
        return ("-cl-std=CL1.2", "-w", *rounding)


def features(device: pyopencl.Device) -> Features:
    """What `device` says about itself."""
    import pyopencl

    rounded = pyopencl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
    extensions = device.extensions.split()
    gpu = bool(device.type & pyopencl.device_type.GPU)
    atomics64 = "cl_khr_int64_base_atomics" in extensions and "cl_khr_int64_extended_atomics" in extensions
    return Features(
        fp64=has_fp64(device),
        rounded_division=bool(device.single_fp_config & rounded),
        atomics64=atomics64,
        gpu=gpu,
        look_back=gpu and atomics64 and device.vendor.startswith("NVIDIA"),
        together=bool(device.type & pyopencl.device_type.CPU),
        most=most_operations(device) if gpu else None,
        narrow_positions=NARROW_POSITIONS if gpu else None,
    )


def shares_memory(device: pyopencl.Device) -> bool:
    """Whether it is a processor whose kernels may read and write whatever the host does, where it lies (OpenCL 2.0)."""
    import pyopencl

    if not device.type & pyopencl.device_type.CPU:
        return False
    try:
        return bool(device.svm_capabilities & pyopencl.device_svm_capabilities.FINE_GRAIN_SYSTEM)
    except pyopencl.Error:  # it is older
        return False


def most_operations(device: pyopencl.Device) -> int:
    """Of a launch on this GPU."""
    whole = device.vendor.startswith(_WHOLE_UNITS)
    return max(MOST_OPERATIONS, UNIT_OPERATIONS * int(device.max_compute_units)) if whole else MOST_OPERATIONS


def uses_f64(nest: Nest) -> bool:
    """Whether 64-bit floats occur in the nest: in arrays, in streams or within its scalar functions."""
    if any(array.element is F64 for array in mentions.arrays(nest)):
        return True
    if any(stream.type is F64 for statement in mentions.statements(nest) for stream in made(statement)):
        return True
    for function in mentions.functions(nest):
        if any(
            isinstance(operand, Constant) and operand.type is F64 for operand in mentions.function_operands(function)
        ):
            return True
        statements = mentions.function_statements(function)
        if any(isinstance(statement, Compute) and statement.out.type is F64 for statement in statements):
            return True
    return False
