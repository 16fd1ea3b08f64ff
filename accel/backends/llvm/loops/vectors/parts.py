"""A part of a row, an innermost loop, and where in it the row's inside is: code that finds where vectors begin."""

from __future__ import annotations

from collections.abc import Iterable

from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Uniform
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.states.analysis import Inside
from accel.backends.llvm.text.code import Code
from accel.ir.nodes import For, LoopBody, OneToMaybe, OneToOne, Read, Remap, Within, Write
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RowPart:
    """Iterations low .. high-1, in registers, of a loop of `extent`; below `full` no vector needs a mask.

    The block that they are in begins at `start`. The inside of the loop are the iterations from `inside` to the other.
    """

    low: str
    high: str
    full: str
    start: str
    extent: str
    inside: tuple[str, str] | None = None


def row_inside(inside: Inside, loop: For, outer: Streams, writer: Writer, extent: str) -> tuple[str, str]:
    """The first iteration of the loop's inside, and the one behind it, which is 0 if loops around are at an edge."""
    code, first = writer.code, "0"
    end = own_end(inside, loop, code, extent)
    for margin, other in inside.margins:
        if other == loop:
            first = str(margin.low)
    for margin, other in inside.margins:
        if other != loop:
            index = outer.value(other.index)
            assert isinstance(index, Uniform)
            size = writer.one(outer.value(other.extent))
            after = code.emit(f"icmp sge i64 {index.text}, {margin.low}")
            before = code.emit(f"icmp slt i64 {index.text}, {code.emit(f'sub i64 {size}, {margin.high}')}")
            end = code.emit(f"select i1 {code.emit(f'and i1 {after}, {before}')}, i64 {end}, i64 0")
    return first, end


def own_end(inside: Inside, loop: For, code: Code, extent: str) -> str:
    """The iteration behind the loop's own margins, wherever the loops around are."""
    for margin, other in inside.margins:
        if other == loop:
            return code.emit(f"sub i64 {extent}, {margin.high}")
    return extent


def last_vectors(code: Code, position: str, low: str, stop: str, lanes: int) -> str:
    """Where vectors begin that end at `stop`: at `position` if narrower ones fill what they leave, else earlier, so that some
    of what is done is repeated, but nothing before `low`."""
    left = code.emit(f"sub i64 {stop}, {position}")
    vectors = code.emit(f"and i64 {code.emit(f'add i64 {left}, {lanes - 1}')}, {-lanes}")
    begin = code.emit(f"sub i64 {stop}, {vectors}")
    uneven = code.emit(f"icmp ne i64 {code.emit(f'and i64 {left}, {lanes // 4 - 1}')}, 0")
    earlier = code.emit(f"and i1 {uneven}, {code.emit(f'icmp sge i64 {begin}, {low}')}")
    return code.emit(f"select i1 {earlier}, i64 {begin}, i64 {position}")


def may_repeat(statements: Iterable[LoopBody]) -> bool:
    """Whether iterations may run twice: all that they do is write. What has an inside takes no memory of what it reads."""
    return all(isinstance(s, OneToOne | OneToMaybe | Remap | Read | Within | Write) for s in statements)


def narrower(lanes: int) -> list[int]:
    """Half of some lanes, and half of these, but two at least."""
    return [lanes >> halvings for halvings in (1, 2) if lanes >> halvings > 1]
