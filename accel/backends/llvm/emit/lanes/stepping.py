"""Vectors of elements that stand a few elements apart in memory: rows are loaded whole, and every so many elements are kept."""

from __future__ import annotations

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.emit.values import Progression, Value
from accel.backends.llvm.machine.rows import ANY
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import Code, memory_type

MOST = 8
"""Elements from one to the next, of which as many rows are loaded; half as many where two rows are not picked from at once."""

COMPONENTS = (2, 3, 4)
"""How many elements rows may have of which one component is taken: coordinates, channels of sound or colour."""

WIDEST = 4
"""Bytes of elements of which that is worth it: of wider ones a gather takes as long."""


def step_of(place: Value) -> int:
    """How many elements it is from lane to lane, if loading rows is worth it; else `ANY`. (Zen 4, float32 in the second cache:
    0.5 ns an element by gathers; every second in a third of the time, every eighth in nine tenths.)"""
    most = MOST if host().processor.has_avx512 else MOST // 2
    return place.stride if isinstance(place, Progression) and 1 < place.stride <= most else ANY


def stepped_lanes(code: Code, kind: ScalarType, address: str, step: int) -> str:
    """The elements at `address`, `step` behind it, and so on, of which there is one for each lane; as they are in memory.

    Nothing before the first of them and behind the last is read: the last row begins before the one before it has ended.
    """
    lanes, type_, vector = code.lanes, memory_type(kind), code.vector(memory_type(kind))
    starts = [min(row * lanes, (step - 1) * (lanes - 1)) for row in range(step)]
    rows = [min(step * lane // lanes, step - 1) for lane in range(lanes)]
    found = ""
    for row, start in enumerate(starts):
        place = code.emit(f"getelementptr {type_}, ptr {address}, i64 {start}")
        loaded = code.emit(f"load {vector}, ptr {place}, align {kind.bytes}")
        if row == 0:
            found = loaded
            continue
        picks = []
        for lane in range(lanes):
            here, known = lanes + step * lane - start, step * lane if row == 1 else lane
            picks.append(here if rows[lane] == row else known if rows[lane] < row else 0)
        mask = ", ".join(f"i32 {pick}" for pick in picks)
        found = code.emit(f"shufflevector {vector} {found}, {vector} {loaded}, <{lanes} x i32> <{mask}>")
    return found
