"""A small compiler for tests: one loop per scalar operation, many operations in a module.

In: operations and a number of lanes. Out: functions from NumPy arrays (whole vectors of elements) to a NumPy array.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from unittest.mock import patch

import llvmlite.binding as llvm
import numpy as np

from accel.ast.tree.types import BOOL, ScalarType
from accel.backends.llvm.machine.processor import Registers
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.scalar_code.scalar import operation
from accel.backends.llvm.text.code import METADATA, WIDTH_ATTRIBUTES, Code, memory_type
from tests.llvm.processors import changed
from tests.scalar.table import Array, Case

OLD = "x86-64-v2"
"""LLVM's name of processors with SSE 4.2, but without AVX."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The machine code of many operations."""

    engine: llvm.ResourceTracker
    symbols: dict[Case, int]
    lanes: int

    def __call__(self, case: Case, operands: Sequence[Array]) -> Array:
        """The operation on each element; the last ones are repeated up to whole vectors."""
        count = len(operands[0])
        rest = -count % self.lanes
        padded = [np.ascontiguousarray(np.concatenate([x, x[:1].repeat(rest)])) for x in operands]
        result = np.empty(count + rest, case.result.dtype)
        function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (len(operands) + 1))(self.symbols[case])
        function(count + rest, result.ctypes.data, *[x.ctypes.data for x in padded])
        return result[:count]


def compile_cases(cases: Sequence[Case], lanes: int, cpu: str | None = None) -> Compiled:
    """Machine code for each case as a loop over vectors of `lanes` elements, for this machine's CPU or an older one.

    The text is another for an older one: it has no AVX-512, and `OLD` has no instructions for 16-bit floats.

    A case's `last`, if it has one, stands as a constant in the text instead of the last operand.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten() if cpu is None else ""
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=cpu or llvm.get_host_cpu_name(), features=features, opt=2, reloc="pic", codemodel="jitdefault", jit=True
    )
    older = changed(registers=Registers(32, 16), has_avx512=False, has_avx512dq=False, has_halves=cpu != OLD)
    with patch.object(host(), "processor", older) if cpu is not None else nullcontext():
        text = module_text(cases, lanes)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = llvm.get_process_triple(), str(machine.target_data)
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1)))
    library = llvm.JITLibraryBuilder().add_object_img(machine.emit_object(module)).add_current_process()
    for number in range(len(cases)):
        library.export_symbol(f"case{number}")
    compiler = llvm.create_lljit_compiler(machine)
    tracker = library.link(compiler, "cases")
    return Compiled(tracker, {case: tracker[f"case{number}"] for number, case in enumerate(cases)}, lanes)


def module_text(cases: Sequence[Case], lanes: int) -> str:
    """The LLVM text of all cases."""
    declarations: dict[str, str] = {}
    functions = []
    for number, case in enumerate(cases):
        code = Code(lanes)
        code.declarations = declarations
        functions.append(_loop(code, f"case{number}", case))
    return "\n".join([*declarations.values(), *functions, METADATA])


def _loop(code: Code, name: str, case: Case) -> str:
    loaded = case.types if case.last is None else case.types[:-1]
    arrays = [f"%array{position}" for position in range(len(loaded))]
    arguments = [_load(code, kind, array) for kind, array in zip(loaded, arrays, strict=True)]
    if case.last is not None:
        arguments.append(code.literal(case.types[-1], case.last))
    value = operation(code, case.operator, case.result, case.types, arguments)
    _store(code, case.result, value)
    body = "\n  ".join(code.lines)
    parameters = ", ".join(["i64 %count", "ptr %out", *(f"ptr {array}" for array in arrays)])
    return f"""define void @{name}({parameters}) {WIDTH_ATTRIBUTES} {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %last ]
  {body}
  br label %last
last:
  %next = add i64 %i, {code.lanes}
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""


def _load(code: Code, kind: ScalarType, array: str) -> str:
    address = code.emit(f"getelementptr {memory_type(kind)}, ptr {array}, i64 %i")
    loaded = code.emit(f"load {code.vector(memory_type(kind))}, ptr {address}, align 1")
    return code.emit(f"trunc {code.vector('i8')} {loaded} to {code.type(BOOL)}") if kind is BOOL else loaded


def _store(code: Code, kind: ScalarType, value: str) -> None:
    if kind is BOOL:
        value = code.emit(f"zext {code.type(BOOL)} {value} to {code.vector('i8')}")
    address = code.emit(f"getelementptr {memory_type(kind)}, ptr %out, i64 %i")
    code.line(f"store {code.vector(memory_type(kind))} {value}, ptr {address}, align 1")
