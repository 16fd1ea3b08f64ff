"""What a device can do, as far as the generated OpenCL C depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from accel.backends.opencl.devices import has_fp64

if TYPE_CHECKING:
    import pyopencl


@dataclass(frozen=True, slots=True)
class Features:
    """`rounded_division`: the device offers correctly rounded f32 division and square root."""

    fp64: bool
    rounded_division: bool
    atomics64: bool

    @property
    def options(self) -> tuple[str, ...]:
        """The compiler's options. Nothing that relaxes floating point is among them."""
        rounding = ("-cl-fp32-correctly-rounded-divide-sqrt",) if self.rounded_division else ()
        return ("-cl-std=CL1.2", *rounding)


def features(device: pyopencl.Device) -> Features:
    """What `device` says about itself."""
    import pyopencl

    rounded = pyopencl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
    extensions = device.extensions.split()
    return Features(
        fp64=has_fp64(device),
        rounded_division=bool(device.single_fp_config & rounded),
        atomics64="cl_khr_int64_base_atomics" in extensions and "cl_khr_int64_extended_atomics" in extensions,
    )
