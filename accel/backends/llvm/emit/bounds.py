"""LLVM text of comparisons with a bound, of all lanes of some registers at once."""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.values import Writer
from accel.backends.llvm.text.code import Code


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
