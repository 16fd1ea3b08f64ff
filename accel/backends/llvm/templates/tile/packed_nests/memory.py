"""The memory of packs, which `accel/backends/llvm/threads/scratch_text.py` keeps from call to call."""

from __future__ import annotations

from accel.backends.llvm.text.routine import Routine

NO_MEMORY = 4
"""What a launch gives where there is none for what it packs or copies: nothing else that one gives."""


def taken(routine: Routine, size: str) -> str:
    """The address of `size` bytes, null if there are none; to be given back by `done`.

    No size overflows: packs have bounds, and of a copy all but one extent are no more than a vector's lanes, and that is at
    most `LARGEST_EXTENT`; copies of targets stay in the last cache.
    """
    routine.code.declare("ptr", "accel_scratch", "i64")
    return routine.code.emit(f"call ptr @accel_scratch(i64 {size})")


def done(routine: Routine, memory: str) -> None:
    """Gives memory back that was taken."""
    routine.code.declare("void", "accel_scratch_done", "ptr")
    routine.code.line(f"call void @accel_scratch_done(ptr {memory})")
