"""The part of pyopencl that accel uses."""

from array import array
from collections.abc import Sequence
from typing import Literal, TypeAlias, overload

import numpy as np

class Error(Exception):
    code: int

class MemoryError(Error): ...
class LogicError(Error): ...
class RuntimeError(Error): ...
class CompilerWarning(UserWarning): ...

class device_type:
    CPU: int
    GPU: int

class device_fp_config:
    CORRECTLY_ROUNDED_DIVIDE_SQRT: int
    DENORM: int

class device_svm_capabilities:
    FINE_GRAIN_SYSTEM: int

class mem_flags:
    ALLOC_HOST_PTR: int
    READ_ONLY: int
    READ_WRITE: int
    COPY_HOST_PTR: int
    USE_HOST_PTR: int

class map_flags:
    READ: int
    WRITE: int

class status_code:
    DEVICE_NOT_AVAILABLE: int
    EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: int
    INVALID_COMMAND_QUEUE: int
    INVALID_CONTEXT: int
    INVALID_DEVICE: int

class Platform:
    name: str
    version: str
    vendor: str
    def get_devices(self) -> list[Device]: ...

class Device:
    name: str
    version: str
    vendor: str
    driver_version: str
    platform: Platform
    type: int
    extensions: str
    available: bool
    compiler_available: bool
    double_fp_config: int
    single_fp_config: int
    max_compute_units: int
    max_work_group_size: int
    max_mem_alloc_size: int
    global_mem_size: int
    host_unified_memory: bool
    local_mem_size: int
    address_bits: int
    mem_base_addr_align: int
    svm_capabilities: int

class Context:
    def __init__(self, devices: Sequence[Device]) -> None: ...

class CommandQueue:
    device: Device
    def __init__(self, context: Context, device: Device | None = ..., properties: int = ...) -> None: ...
    def finish(self) -> None: ...
    def flush(self) -> None: ...

class command_queue_properties:
    PROFILING_ENABLE: int

class ProfilingInfo:
    start: int
    end: int

class command_execution_status:
    COMPLETE: int

class Event:
    profile: ProfilingInfo
    command_execution_status: int
    def wait(self) -> None: ...

class UserEvent(Event):
    def __init__(self, context: Context) -> None: ...
    def set_status(self, status: int) -> None: ...

class Buffer:
    size: int
    int_ptr: int
    def __init__(
        self,
        context: Context,
        flags: int,
        size: int = ...,
        hostbuf: np.ndarray[tuple[int, ...], np.dtype[np.generic]] = ...,
    ) -> None: ...
    def release(self) -> None: ...

KernelArgument: TypeAlias = Buffer | np.generic | array[int]

class Kernel:
    def __init__(self, program: Program, name: str) -> None: ...
    function_name: str
    def set_arg_types(self, types: Sequence[np.dtype[np.generic] | None]) -> None: ...
    def set_arg(self, index: int, arg: KernelArgument) -> None: ...
    def set_args(self, *arguments: KernelArgument) -> None: ...
    def __call__(
        self,
        queue: CommandQueue,
        global_work_size: tuple[int, ...],
        local_work_size: tuple[int, ...] | None,
        *arguments: KernelArgument,
        global_offset: tuple[int, ...] | None = ...,
    ) -> Event: ...
    def get_work_group_info(self, which: int, device: Device) -> int: ...

class kernel_work_group_info:
    LOCAL_MEM_SIZE: int

class program_info:
    BINARIES: int
    SOURCE: int

class Program:
    @overload
    def __init__(self, context: Context, source: str) -> None: ...
    @overload
    def __init__(self, context: Context, devices: Sequence[Device], binaries: Sequence[bytes]) -> None: ...
    def get_info(self, which: int) -> list[bytes] | str: ...
    def all_kernels(self) -> list[Kernel]: ...
    def build(
        self,
        options: Sequence[str] = ...,
        devices: Sequence[Device] | None = ...,
        cache_dir: str | Literal[False] | None = ...,
    ) -> Program: ...

def get_platforms() -> list[Platform]: ...
def enqueue_nd_range_kernel(
    queue: CommandQueue,
    kernel: Kernel,
    global_work_size: tuple[int, ...],
    local_work_size: tuple[int, ...] | None,
    global_work_offset: tuple[int, ...] | None = None,
) -> Event: ...
def enqueue_copy(
    queue: CommandQueue,
    dest: Buffer | np.ndarray[tuple[int, ...], np.dtype[np.generic]],
    src: Buffer | np.ndarray[tuple[int, ...], np.dtype[np.generic]],
    *,
    byte_count: int = ...,
    dst_offset: int = ...,
    src_offset: int = ...,
    is_blocking: bool = ...,
    wait_for: Sequence[Event] | None = ...,
) -> Event: ...
def enqueue_fill_buffer(queue: CommandQueue, mem: Buffer, pattern: np.generic, offset: int, size: int) -> Event: ...
def enqueue_map_buffer(
    queue: CommandQueue,
    buf: Buffer,
    flags: int,
    offset: int,
    shape: tuple[int, ...],
    dtype: np.dtype[np.generic],
    *,
    is_blocking: bool = ...,
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.generic]], Event]: ...
def enqueue_marker(queue: CommandQueue, wait_for: Sequence[Event] | None = ...) -> Event: ...
def enqueue_barrier(queue: CommandQueue, wait_for: Sequence[Event] | None = ...) -> Event: ...
