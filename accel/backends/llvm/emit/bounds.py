"""LLVM text of comparisons with a bound, of all lanes of some registers at once."""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I32, I64, ScalarType
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.text.code import Code


def any_reaches(writer: Writer, positions: Sequence[str], bound: str, kind: ScalarType = I64) -> str:
    """Whether a lane of some registers of integers of a kind is, without sign, as great as a scalar of it: an i1.

    The greatest are found first, since processors that have masks of 64 lanes compare on one port only.
    """
    greatest = positions[0]
    for other in positions[1:]:
        greatest = _greater(writer.code, kind, greatest, other)
    if writer.lanes == 16:
        code, whole = writer.code.at(8), writer.code.type(kind)
        low, high = (
            code.emit(
                f"shufflevector {whole} {greatest}, {whole} poison, <8 x i32> <"
                + ", ".join(f"i32 {first + lane}" for lane in range(8))
                + ">"
            )
            for first in (0, 8)
        )
        writer, greatest = Writer(writer.scalar, 8), _greater(code, kind, low, high)
    type_ = f"i{kind.bits}"
    limit = writer.splat(bound, type_) if not bound.isdigit() else writer.code.splat(type_, bound)
    return writer.any(writer.code.emit(f"icmp uge {writer.code.type(kind)} {greatest}, {limit}"))


def any_narrow_reaches(writer: Writer, positions: Sequence[str], bound: str) -> str:
    """The same of i64 that are made of i32, of which these are the registers: what is negative is 2^31 or more without sign."""
    code = writer.scalar
    least = code.call("llvm.umin.i64", "i64", ["i64", "i64"], [f"i64 {bound}", f"i64 {1 << 31}"])
    return any_reaches(writer, positions, code.emit(f"trunc i64 {least} to i32"), I32)


def _greater(code: Code, kind: ScalarType, first: str, second: str) -> str:
    return code.intrinsic("umax", kind, [first, second])
