"""The multicore CPU: loop programs through LLVM to machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from accel.ast.tree.leaves import Leaf, read_only
from accel.backends.device import Around, nothing_around
from accel.backends.executor import Execution
from accel.backends.linear.items import linear
from accel.backends.llvm.calls.call import Call
from accel.backends.llvm.calls.code import CallCode, Unit
from accel.backends.llvm.calls.compiled import Compiled
from accel.backends.llvm.calls.in_place import in_place
from accel.backends.llvm.calls.spread import Function, Spreads
from accel.backends.llvm.calls.taken import rooms, taken
from accel.backends.llvm.calls.write import call_code
from accel.backends.llvm.device import CPU
from accel.backends.llvm.loops.alternatives import Alternatives
from accel.backends.llvm.machine.rows import Spread
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.module import Kernel, Kernels, late_texts, load, module_text
from accel.backends.llvm.series import BLOCK_BYTES, Together
from accel.backends.llvm.templates.choose import alternatives as chosen
from accel.backends.llvm.templates.choose import on_several_threads
from accel.backends.llvm.text.frame import Frame
from accel.backends.llvm.threads.pool import participants
from accel.backends.parameters import leaves
from accel.backends.protocol import Executable, HostArray
from accel.ir import mentions
from accel.ir.nodes import HostCall, Nest, Program, Sort
from accel.labelled.array import Array
from accel.schedule.machine import PROCESSOR, Machine
from accel.schedule.nodes import Series
from accel.schedule.templates.chain import Chain
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.copies import Copies
from accel.schedule.templates.ways import NestSchedules, ProgramSchedules, Way
from accel.support.dataclass import dataclass


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
        together = schedules.series if around is nothing_around else ()
        code = self._compiled(schedules, together)
        execution = Execution(program, CPU(code.nests, code.kernels, self._threads, code.series), around)
        steps = list(mentions.steps(program))
        if around is not nothing_around or any(isinstance(step, HostCall) for step in steps):
            return execution

        def make() -> tuple[CallCode, Call]:
            written = call_code(program, code.unit, code.named, code.named_series, self._threads)
            return written, Call(written, [code.kernels.library])

        def take(given: frozenset[int]) -> Call | None:
            arguments = [array for number, array in enumerate(leaves(program)) if number in given]
            found = taken(program, linear(program), schedules.nests, together, arguments)
            if not found:
                return None
            written = call_code(program, code.unit, code.named, code.named_series, self._threads, found)
            return Call(written, [code.kernels.library])

        def write() -> tuple[Call, int] | None:
            found = rooms(program, linear(program), together)
            if not found:
                return None
            given = [found[result] for result in program.results]
            written = call_code(program, code.unit, code.named, code.named_series, self._threads, found, given)
            return Call(written, [code.kernels.library]), len(given)

        def spread(spreads: Spreads, arguments: Sequence[HostArray]) -> Function:
            found = in_place(program, spreads)
            other = program_schedules(found.program, self.machine)
            code = self._compiled(other, other.series, found.spreads)
            written = call_code(found.program, code.unit, code.named, code.named_series, self._threads, in_place=found)
            return Call(written, [code.kernels.library]).function

        if any(isinstance(step, Sort) for step in steps):
            return Compiled(execution, make)
        return Compiled(execution, make, take, write, spread)

    def _compiled(
        self,
        schedules: ProgramSchedules,
        together: Sequence[Series],
        spreads: Mapping[Array, Spread] = MappingProxyType({}),
    ) -> _Code:
        every = [each.nest for each in schedules.nests]
        modules, frames = module_text(
            schedules.nests, self._alternatives, together, schedules.read, spreads, schedules.repeated
        )
        kernels = load(modules)
        functions, names = kernels.functions, modules.names
        series = [
            Together(*each, self._block_bytes)
            for each in zip(together, functions[len(every) :], modules.series, strict=True)
        ]
        return _Code(
            kernels,
            Unit(kernels.objects, modules.exports, prefix="", late=kernels.late),
            dict(zip(every, zip(functions[: len(every)], frames, strict=True), strict=True)),
            {nest: (name, frame) for nest, name, frame in zip(every, names, frames, strict=False)},
            series,
            list(zip(names[len(every) :], series, strict=True)),
        )


@dataclass(frozen=True, slots=True)
class _Code:
    """The compiled nests and series of a program: their functions, and their symbols in `unit`."""

    kernels: Kernels
    unit: Unit
    nests: Mapping[Nest, tuple[Kernel, Frame]]
    named: Mapping[Nest, tuple[str, Frame]]
    series: Sequence[Together]
    named_series: Sequence[tuple[str, Together]]


def llvm_text(schedules: ProgramSchedules) -> str:
    """The LLVM text of a program's nests, as it is compiled here, at first or when it is needed."""
    modules = module_text(schedules.nests, series=schedules.series, read=schedules.read, repeated=schedules.repeated)[0]
    late = [text for each in modules.late for text in late_texts(each, 0)]
    return "\n; When it is first needed:\n\n".join([str(modules), *late])
