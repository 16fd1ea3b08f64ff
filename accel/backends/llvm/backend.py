"""The multicore CPU: loop programs through LLVM to machine code."""

from __future__ import annotations

from accel.backends.device import Around, nothing_around
from accel.backends.executor import Execution
from accel.backends.llvm.device import CPU
from accel.backends.llvm.module import load, module_text, nests
from accel.backends.llvm.threads.pool import participants
from accel.backends.protocol import Executable
from accel.ir.nodes import Program


class LLVMBackend:
    """Compiles for the processor that this process runs on: see `accel.backends.protocol.Backend`."""

    def __init__(self, threads: int = 0) -> None:
        """`threads` work on a nest, the caller among them; 0 is as many as the process may use. Without a pool it is one."""
        self._threads = participants(threads)

    @property
    def name(self) -> str:
        """`llvm`."""
        return "llvm"

    def compile(self, program: Program, around: Around = nothing_around) -> Executable:
        """Machine code for all nests of the program. The code lives as long as the executable."""
        every = nests(program)
        modules, frames = module_text(every)
        kernels = load(modules)
        pairs = dict(zip(every, zip(kernels.functions, frames, strict=True), strict=True))
        return Execution(program, CPU(pairs, kernels, self._threads), around)


def llvm_text(program: Program) -> str:
    """The LLVM text of a program's nests, as it is compiled here."""
    return str(module_text(nests(program))[0])
