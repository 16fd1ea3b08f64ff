"""LLVM text that picks lanes of adjacent elements: a gather within a few registers, without the time of one.

In: where two pieces of memory begin, of two registers of elements each, and offsets into them. Out: a register, whose lanes are
picked from one piece or the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64, ScalarType
from accel.backends.llvm.emit.values import Writer
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import Code, memory_type


def _instruction(kind: ScalarType, lanes: int) -> str | None:
    """What takes lanes of two registers by a third (AVX-512)."""
    match _width(kind), lanes:
        case 4, 16:
            return "d.512"
        case 4, 8:
            return "d.256"
        case 8, 8:
            return "q.512"
        case _:
            return None


def picks(kind: ScalarType, lanes: int) -> bool:
    """Whether the processor picks lanes of two registers of `lanes` elements in one instruction."""
    return host().picks_lanes and _instruction(kind, lanes) is not None


def picked_lanes(code: Code, kind: ScalarType, starts: tuple[str, str], offsets: str, half: str) -> str:
    """The elements at i32 `offsets` behind `starts[0]` where the mask `half` is set, behind `starts[1]` elsewhere."""
    width, vector = _width(kind), code.vector(memory_type(kind))
    word = f"i{8 * width}"
    words = code.vector(word)
    places = offsets if width == 4 else code.emit(f"zext {code.vector('i32')} {offsets} to {words}")
    first, second = (_picked(code, kind, start, places, words) for start in starts)
    both = code.emit(f"select {code.vector('i1')} {half}, {words} {first}, {words} {second}")
    if kind.bytes < width:
        return code.emit(f"trunc {words} {both} to {vector}")
    return code.emit(f"bitcast {words} {both} to {vector}")


def narrowed(code: Code, text: str) -> str:
    """The lower halves of i64 lanes, as i32: even words, which one instruction picks from two registers."""
    words = f"<{2 * code.lanes} x i32>"
    order = ", ".join(f"i32 {2 * lane}" for lane in range(code.lanes))
    halves = code.emit(f"bitcast {code.type(I64)} {text} to {words}")
    return code.emit(f"shufflevector {words} {halves}, {words} poison, <{code.lanes} x i32> <{order}>")


def any_reaches(writer: Writer, positions: Sequence[str], bound: str) -> str:
    """Whether a lane of some registers of i64 is, without sign, as great as a scalar: an i1.

    The greatest are found first, since processors that have masks of 64 lanes compare on one port only.
    """
    greatest = positions[0]
    for other in positions[1:]:
        greatest = _greater(writer.code, greatest, other)
    if writer.lanes == 16:
        code = writer.code.at(8)
        low, high = (
            code.emit(
                f"shufflevector <16 x i64> {greatest}, <16 x i64> poison, <8 x i32> <"
                + ", ".join(f"i32 {first + lane}" for lane in range(8))
                + ">"
            )
            for first in (0, 8)
        )
        writer, greatest = Writer(writer.scalar, 8), _greater(code, low, high)
    limit = writer.splat(bound, "i64") if not bound.isdigit() else writer.code.splat("i64", bound)
    return writer.any(writer.code.emit(f"icmp uge {writer.code.type(I64)} {greatest}, {limit}"))


def _greater(code: Code, first: str, second: str) -> str:
    return code.intrinsic("umax", I64, [first, second])


def _width(kind: ScalarType) -> int:
    """Bytes of the lanes in which elements are picked: narrow ones in those of 32 bits."""
    return max(4, kind.bytes)


def _picked(code: Code, kind: ScalarType, start: str, places: str, words: str) -> str:
    element, vector = memory_type(kind), code.vector(memory_type(kind))
    tables: list[str] = []
    for first in (0, code.lanes):
        address = code.emit(f"getelementptr {element}, ptr {start}, i64 {first}")
        table = code.emit(f"load {vector}, ptr {address}, align {kind.bytes}")
        cast = "bitcast" if kind.bytes >= _width(kind) else "zext"
        tables.append(code.emit(f"{cast} {vector} {table} to {words}"))
    name = f"llvm.x86.avx512.vpermi2var.{_instruction(kind, code.lanes)}"
    operands = [f"{words} {tables[0]}", f"{words} {places}", f"{words} {tables[1]}"]
    return code.call(name, words, [words] * 3, operands)
