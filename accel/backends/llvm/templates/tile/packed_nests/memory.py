"""The memory of packs: C's, in huge pages where the system has them.

Packs are new at every call, and are read in a different order than they are written. In pages of 4 KB a product of two
matrices of 2048 x 2048 float32 took a fifth more time: the system clears each page, and processors look up every one.
"""

from __future__ import annotations

from accel.backends.llvm.machine.system import system
from accel.backends.llvm.text.routine import Routine

LARGE = 1 << 22
"""Bytes from which on huge pages, of 2 MB as a rule, are asked for."""

NO_MEMORY = 4
"""What a launch gives where there is none for what it packs or copies: nothing else that one gives."""

PAGE = 1 << 12
"""Bytes. What begins in between is not asked for."""


def taken(routine: Routine, size: str) -> str:
    """The address of `size` bytes, null if there are none; to be given back to C's `free`."""
    code = routine.code
    code.declare("ptr", "malloc", "i64")
    memory = code.emit(f"call ptr @malloc(i64 {size})")
    advice = system().huge_pages
    if advice is not None:
        code.declare("i32", "madvise", "ptr, i64, i32")
        code.declare("ptr", "llvm.ptrmask.p0.i64", "ptr, i64")
        there = code.emit(f"icmp ne ptr {memory}, null")
        large = code.emit(f"icmp sge i64 {size}, {LARGE}")
        with routine.when(code.emit(f"and i1 {there}, {large}")):
            behind = code.emit(f"getelementptr i8, ptr {memory}, i64 {PAGE - 1}")
            first = code.emit(f"call ptr @llvm.ptrmask.p0.i64(ptr {behind}, i64 {-PAGE})")
            code.line(f"call i32 @madvise(ptr {first}, i64 {code.emit(f'sub i64 {size}, {PAGE}')}, i32 {advice})")
    return memory
