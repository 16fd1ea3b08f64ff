"""Functions that are compiled when they are first needed: a nest has many, of which the sizes of a call ask for one.

In: how the routines of each are written. Out: the code that finds one, for nests. `machine/late_code.py` compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accel.backends.llvm.machine.late_code import compile_of, words_of
from accel.backends.llvm.text.routine import Routine
from accel.support.dataclass import dataclass

RAISED = "-1"
"""What `@<name>_found` gives when a Python exception is set."""

NOT_HERE = "0"
"""What it gives where a function is not to be had: a program that was found on disk has no text of it."""


@dataclass(frozen=True, slots=True)
class Late:
    """Functions with numbers from 0 to `count` - 1; the first serves all sizes. routines: those of the module of one,
    which is called `@<name>`."""

    name: str
    count: int
    routines: Callable[[int], Sequence[Routine]]

    def address(self, routine: Routine, number: str) -> str:
        """The function of this number, a pointer. Leaves with 2 if compiling raises, with 1 if the program is to begin again,
        as one that has the function."""
        code = routine.code
        found = code.emit(f"call i64 @{self.name}_found(i64 {number})")
        routine.leave(code.emit(f"icmp eq i64 {found}, {RAISED}"), "i64 2")
        routine.leave(code.emit(f"icmp eq i64 {found}, {NOT_HERE}"), "i64 1")
        return code.emit(f"inttoptr i64 {found} to ptr")

    def call(self, routine: Routine, number: str) -> str:
        """Calls the function with the frame: what it gives, an i64."""
        return routine.code.emit(f"call i64 {self.address(routine, number)}(ptr %frame)")

    def found(self) -> Routine:
        """`@<name>_found(number)`: the function's address. The calling thread holds the GIL."""
        routine = Routine(f"i64 @{self.name}_found(i64 %number)", hot=False)
        code, words, compiles = routine.code, words_of(self.name), compile_of(self.name)
        code.outside(words)
        code.outside(compiles)
        place = routine.offset(f"@{words}", "%number")
        known = code.emit(f"load atomic i64, ptr {place} acquire, align 8")
        routine.leave(code.emit(f"icmp ne i64 {known}, {NOT_HERE}"), f"i64 {known}")
        code.declare("ptr", "PyLong_FromSsize_t", "i64")
        code.declare("ptr", "PyObject_CallOneArg", "ptr, ptr")
        code.declare("void", "Py_DecRef", "ptr")
        number = code.emit("call ptr @PyLong_FromSsize_t(i64 %number)")
        routine.leave(code.emit(f"icmp eq ptr {number}, null"), f"i64 {RAISED}")
        given = code.emit(f"call ptr @PyObject_CallOneArg(ptr @{compiles}, ptr {number})")
        code.line(f"call void @Py_DecRef(ptr {number})")
        routine.leave(code.emit(f"icmp eq ptr {given}, null"), f"i64 {RAISED}")
        code.line(f"call void @Py_DecRef(ptr {given})")
        code.line(f"ret i64 {code.emit(f'load atomic i64, ptr {place} acquire, align 8')}")
        return routine
