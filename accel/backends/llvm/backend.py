"""The multicore CPU: loop programs through LLVM to machine code."""

from __future__ import annotations

from accel.ast.tree.leaves import Leaf, read_only
from accel.backends.device import Around, nothing_around
from accel.backends.executor import Execution
from accel.backends.linear import linear
from accel.backends.llvm.calls.call import Call
from accel.backends.llvm.calls.code import CallCode, Unit
from accel.backends.llvm.calls.compiled import Compiled
from accel.backends.llvm.calls.taken import rooms, taken
from accel.backends.llvm.calls.write import call_code
from accel.backends.llvm.device import CPU
from accel.backends.llvm.loops.alternatives import Alternatives
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.module import load, module_text
from accel.backends.llvm.series import BLOCK_BYTES, Together
from accel.backends.llvm.templates.choose import alternatives as chosen
from accel.backends.llvm.templates.choose import on_several_threads
from accel.backends.llvm.threads.pool import participants
from accel.backends.parameters import leaves
from accel.backends.protocol import Executable, HostArray
from accel.ir import mentions
from accel.ir.nodes import HostCall, Program, Sort
from accel.schedule.machine import PROCESSOR, Machine
from accel.schedule.templates.chain import Chain
from accel.schedule.templates.copies import Copies
from accel.schedule.templates.ways import NestSchedules, ProgramSchedules, Way


class LLVMBackend:
    """Compiles for the processor that this process runs on: see `accel.backends.protocol.Backend`."""

    def __init__(
        self, threads: int = 0, alternatives: Alternatives | None = None, block_bytes: int = BLOCK_BYTES
    ) -> None:
        """`threads` work on a nest, the caller among them; 0 is as many as the process may use. Without a pool it is one.

        `alternatives`: the templates that are tried before a nest's rows; None: those of `templates/choose.py`.
        `block_bytes`: of the rows of a series that are in work at once.
        """
        self._threads = participants(threads)
        self._block_bytes = block_bytes
        self._alternatives = alternatives or (chosen if self._threads == 1 else on_several_threads)

    @property
    def name(self) -> str:
        """`llvm`."""
        return "llvm"

    @property
    def machine(self) -> Machine:
        """Threads and registers."""
        return PROCESSOR

    @property
    def processor(self) -> str:
        """LLVM's name of it, what it has, and the threads."""
        return f"{host().description}; {self._threads} threads"

    def ways(self, schedules: NestSchedules) -> tuple[Way, ...]:
        """All but those that bring more threads to a nest, if there is only one."""
        if self._threads > 1:
            return schedules.ways
        return tuple([way for way in schedules.ways if not isinstance(way.finding, Chain | Copies)])

    def put(self, array: HostArray) -> Leaf:
        """A copy that cannot be written."""
        return read_only(array.copy(order="C"))

    def compile(self, program: Program, schedules: ProgramSchedules, around: Around = nothing_around) -> Executable:
        """Machine code for all nests of the program. The code lives as long as the executable."""
        every = [each.nest for each in schedules.nests]
        together = schedules.series if around is nothing_around else ()
        modules, frames = module_text(schedules.nests, self._alternatives, together, schedules.read)
        kernels = load(modules)
        pairs = dict(zip(every, zip(kernels.functions[: len(every)], frames, strict=True), strict=True))
        series = [
            Together(*each, self._block_bytes)
            for each in zip(together, kernels.functions[len(every) :], modules.series, strict=True)
        ]
        execution = Execution(program, CPU(pairs, kernels, self._threads, series), around)
        if around is not nothing_around or any(isinstance(step, Sort | HostCall) for step in mentions.steps(program)):
            return execution
        named = {nest: (name, frame) for nest, name, frame in zip(every, modules.names, frames, strict=False)}
        named_series = list(zip(modules.names[len(every) :], series, strict=True))
        unit = Unit(kernels.objects, tuple(dict.fromkeys(modules.names)), prefix="")

        def make() -> tuple[CallCode, Call]:
            code = call_code(program, unit, named, named_series, self._threads)
            return code, Call(code, [kernels.library])

        def take(given: frozenset[int]) -> Call | None:
            arguments = [array for number, array in enumerate(leaves(program)) if number in given]
            found = taken(program, linear(program), schedules.nests, together, arguments)
            if not found:
                return None
            return Call(call_code(program, unit, named, named_series, self._threads, found), [kernels.library])

        def write() -> tuple[Call, int] | None:
            found = rooms(program, linear(program), together)
            if not found:
                return None
            given = [found[result] for result in program.results]
            code = call_code(program, unit, named, named_series, self._threads, found, given)
            return Call(code, [kernels.library]), len(given)

        return Compiled(execution, make, take, write)


def llvm_text(schedules: ProgramSchedules) -> str:
    """The LLVM text of a program's nests, as it is compiled here."""
    return str(module_text(schedules.nests, series=schedules.series, read=schedules.read)[0])
