"""How many elements came before, in the local memory of a work-group: positions of a filter, which count what is kept.

In a stretch a byte says of each element whether it counts. Eight bytes are a number; times 0x01…01 it holds in each byte the
sum of those up to there, in its last byte the whole. So the group adds up one number for each eight elements, and what stands
in local memory is an eighth of what it would be as numbers of 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accel.backends.opencl.code.shared import Shared
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.writer import Writer
from accel.errors import AccelInternalError
from accel.labelled.meaning.order import SCAN_VECTOR
from accel.support.dataclass import dataclass

ONES = f"0x{'01' * SCAN_VECTOR}UL"
"""In each byte 1: what is multiplied by it stands in all of them, or is added up."""


def tally(shared: Shared, stretch: int) -> Tally:
    """The same state, which counts some elements of a stretch of so many, as a tally."""
    return Tally(shared.made, shared.number, shared.items, shared.context, stretch)


@dataclass(frozen=True, slots=True)
class Tally(Shared):
    """`elements` are the bytes. A stretch has rows of as many elements as there are work-items, at most 256: each reads one in
    each `row`, and adds up eights that lie together. In the end a byte says how many of its row stand before it. GPUs have the
    byte in a register until all of the element's statements have run: where these branch, no load would run ahead."""

    stretch: int

    @property
    def _eights(self) -> str:
        """The bytes, eight at a time."""
        return f"eights{self.number}"

    @property
    def _sums(self) -> str:
        """What the eights of each work-item come to."""
        return f"sums{self.number}"

    @property
    def _counts(self) -> str:
        """What each row comes to."""
        return f"counts{self.number}"

    @property
    def _starts(self) -> str:
        """What stands before each row, and after the last one."""
        return f"starts{self.number}"

    @property
    def _rows(self) -> int:
        return self.stretch // self.items

    @property
    def _in_row(self) -> int:
        """How many work-items add up the bytes of a row."""
        return self.items // self._rows

    @property
    def _each(self) -> int:
        """Eights of a work-item."""
        return self._rows // SCAN_VECTOR

    def declare(self, writer: Writer, *, summed: bool = False) -> None:
        """Declare what the group shares."""
        writer.line(f"__local ulong {self._eights}[{self.stretch // SCAN_VECTOR}];")
        writer.line(
            f"__local int {self._sums}[{self.items}], {self._counts}[{self._rows}], {self._starts}[{self._rows + 1}];"
        )
        writer.line(f"__local uchar* {self.elements} = (__local uchar*){self._eights};")

    def clear(self, writer: Writer, at: str) -> None:
        """Count no element at `at` yet."""
        writer.line(f"{self._flag(at, 'uchar ')} = 0;")

    def put(self, writer: Writer, at: str, value: str) -> None:
        """Count element `at`; its `value` is 1."""
        writer.line(f"{self._flag(at)} = 1;")

    def settle(self, writer: Writer, at: str) -> None:
        """Element `at` has been counted, or is not."""
        if not self.context.features.together:
            writer.line(f"{self.elements}[{at}] = {self._flag(at)};")

    def _flag(self, at: str, declared: str = "") -> str:
        """What says of element `at` whether it counts, until that is settled."""
        return f"{self.elements}[{at}]" if self.context.features.together else f"{declared}flag{self.number}"

    def scan(self, writer: Writer, present: str) -> None:
        """Add up, once all work-items have said of all places whether they count: also of those behind the `present` ones."""
        total, sums = writer.fresh("total"), self._sums
        writer.line(f"int {total} = 0;")
        with self._own(writer) as own:
            added = writer.fresh("added")
            writer.line(f"const ulong {added} = {own} * {ONES};")
            writer.line(f"{own} = ({added} << 8) + {total} * {ONES};")
            writer.line(f"{total} += (int)({added} >> {8 * (SCAN_VECTOR - 1)});")
        writer.line(f"{sums}[lane] = {total};")
        writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
        earlier = writer.fresh("earlier")
        writer.line(f"int {earlier} = 0;")
        with writer.block(f"for (int l = lane / {self._in_row} * {self._in_row}; l < lane; ++l)"):
            writer.line(f"{earlier} += {sums}[l];")
        with self._own(writer) as own:
            writer.line(f"{own} += {earlier} * {ONES};")
        last = f"lane % {self._in_row} == {self._in_row - 1}"
        writer.line(f"if ({last}) {self._counts}[lane / {self._in_row}] = {earlier} + {total};")
        writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
        with writer.block(f"if (lane <= {self._rows})"):
            start = writer.fresh("start")
            writer.line(f"int {start} = 0;")
            with writer.block("for (int r = 0; r < lane; ++r)"):
                writer.line(f"{start} += {self._counts}[r];")
            writer.line(f"{self._starts}[lane] = {start};")
        writer.line("barrier(CLK_LOCAL_MEM_FENCE);")

    @contextmanager
    def _own(self, writer: Writer) -> Iterator[str]:
        """For each eight of a work-item, in their order."""
        with writer.block(f"for (int own = lane * {self._each}; own < lane * {self._each} + {self._each}; ++own)"):
            yield f"{self._eights}[own]"

    @property
    def counted(self) -> str:
        """How many elements of the stretch count, once it has been scanned."""
        return f"{self._starts}[{self._rows}]"

    def leave(self, writer: Writer) -> None:
        """Go on to the next stretch, when this one has been read."""
        writer.line(f"{self.before} = {self._following(self.counted)};")

    def ahead(self, at: str) -> str:
        """The state before element `at`."""
        return self._following(self.earlier(at))

    def earlier(self, at: str) -> str:
        """How many elements of the stretch count before element `at`."""
        return f"({self._starts}[row / {self.items}] + {self.elements}[{at}])"

    def after(self, at: str) -> str:
        """The state after element `at`: nobody asks for it."""
        raise AccelInternalError(f"what a tally is after {at} is not known")

    def _following(self, more: str) -> str:
        """So many after what stands before the stretch."""
        (kind,) = self.made.state.types
        return self.made.merge(self.before, f"({self.made.name}){{({c_type(kind)}){more}}}")
