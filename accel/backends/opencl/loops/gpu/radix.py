"""How work-groups sort, stably: what they hold in local memory by four bits at a time, and long rows by eight in each pass.

In: how to find the digit of an element. Out: lines of kernels.

*In local memory* [Zagha and Blelloch 1991]: `order` has in place `l` the number of the element that stands there, and each
work-item has neighbouring places. It counts how many of its elements have each digit of four bits. The counts of all, digit by
digit and work-item by work-item, are added up: that is where each work-item's first element of each digit goes.

*A pass over a long row* [Satish, Harris and Garland 2009, "Designing Efficient Sorting Algorithms for Manycore GPUs"] is three
kernels: in the first each group counts how many of its elements have each value of eight bits (`count_values`); the second adds
these counts up, value by value and group by group (`add_up`); in the third each group orders its elements in local memory
(`order_chunk`), so that it moves those of a value side by side.
"""

from __future__ import annotations

from collections.abc import Callable

from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.gpu.places import WAIT
from accel.backends.opencl.machine.devices import GROUP_ITEMS as GROUP

BITS = 4
DIGITS = 1 << BITS
"""Digits in local memory: a work-item's counts are as many as a vector has numbers."""

PASS_BITS = 2 * BITS
VALUES = 1 << PASS_BITS
"""Bits of a pass, and values that they have: one for each work-item of a group."""

EACH = 16
CHUNK = EACH * GROUP
"""Elements of a group in a pass, and of a work-item."""

COPIES = 4
"""Of a group's counts: work-items whose values are equal wait for each other less often."""

ADDED = 8
"""Counts that a work-item adds up at a time."""

PASS_WORK = 64
"""Operations for each element in each kernel, most of them in local memory, or for what lies here and there."""

_VECTOR = 16
_PARTS = tuple(f"s{number:x}" for number in range(_VECTOR))
"""Numbers of the longest vector, and its parts by name."""

assert VALUES == GROUP, "a work-item of `order_chunk` has a value"

BEFORE = "before_in_group"

_BEFORE = (
    f"static uint {BEFORE}(const uint own, uint* all, __local uint16* vectors) {{",
    "  const int lane = get_local_id(0);",
    "  __local uint* sums = (__local uint*)vectors;",
    "  sums[lane] = own;",
    f"  {WAIT}",
    f"  const uint16 near = vectors[lane / {_VECTOR}];",
    "  uint before = 0, sum = 0, total = 0;",
    *[f"  before += {k} < lane % {_VECTOR} ? near.{part} : 0; sum += near.{part};" for k, part in enumerate(_PARTS)],
    f"  if (lane % {_VECTOR} == {_VECTOR - 1}) sums[{GROUP} + lane / {_VECTOR}] = sum;",
    f"  {WAIT}",
    f"  const uint16 far = vectors[{GROUP // _VECTOR}];",
    *[f"  before += {k} < lane / {_VECTOR} ? far.{part} : 0; total += far.{part};" for k, part in enumerate(_PARTS)],
    "  *all = total;",
    "  return before;",
    "}",
)

BEFORE_TEXT = "\n".join(_BEFORE)
"""The function that the other lines call: what the work-items before this one have together, and what all have. Its memory may
be used again after the next barrier."""

HELPER_MEMORY = f"__local uint16 vectors[{GROUP // _VECTOR + 1}];"


def local_memory(writer: Writer, each: int) -> None:
    """Declare what the work-items of a group share: the `order` of so many elements of each, and what a split counts."""
    writer.line(f"__local ushort{each} orders[{GROUP}];")
    writer.line("__local ushort* order = (__local ushort*)orders;")
    writer.line(f"__local ushort{DIGITS} tallies[{GROUP}];")
    writer.line("__local ushort* found = (__local ushort*)tallies;")
    writer.line(HELPER_MEMORY)


def unordered(writer: Writer, each: int) -> None:
    """All elements stand at their own places."""
    with writer.block(f"for (int l = lane; l < {each * GROUP}; l += {GROUP})"):
        writer.line("order[l] = (ushort)l;")


def split(writer: Writer, each: int, digit: Callable[[str], str]) -> None:
    """Order by a digit, which is that of an element with a number. All work-items have left what they read before it, and find
    what they read after it."""
    parts = _PARTS[:each]
    writer.line(f"const ushort{each} own = orders[lane];")
    for part in parts:
        writer.line(f"const int digit_{part} = {digit(f'own.{part}')};")
    for number in range(DIGITS):
        writer.line(f"found[{number * GROUP} + lane] = 0;")
    for part in parts:
        writer.line(f"found[digit_{part} * {GROUP} + lane] += 1;")
    writer.line(WAIT)
    writer.line(f"ushort{DIGITS} place = tallies[lane];")
    writer.line("uint sum = 0, all;")
    for part in _PARTS[:DIGITS]:
        writer.line(f"const ushort count_{part} = place.{part}; place.{part} = (ushort)sum; sum += count_{part};")
    writer.line(f"tallies[lane] = place + (ushort){BEFORE}(sum, &all, vectors);")
    writer.line(WAIT)
    for part in parts:
        writer.line(f"order[found[digit_{part} * {GROUP} + lane]++] = own.{part};")
    writer.line(WAIT)


def count_values(writer: Writer, value: Callable[[str], str]) -> str:
    """Count the values of the group's elements, of which there are `here`; how many have the value `lane`, as an expression."""
    writer.line(f"__local int bins[{COPIES * VALUES}];")
    places = [f"bins[{copy * VALUES} + lane]" for copy in range(COPIES)]
    for place in places:
        writer.line(f"{place} = 0;")
    writer.line(WAIT)
    with writer.block(f"for (int l = lane; l < here; l += {GROUP})"):
        writer.line(f"atomic_inc(&bins[lane % {COPIES} * {VALUES} + ({value('l')})]);")
    writer.line(WAIT)
    return " + ".join(places)


def add_up(writer: Writer, counts: str, end: str, position: str, count: str) -> None:
    """Turn so many counts into what stands before each of them; `before` becomes what all come to. The types are those of
    positions and of counts."""
    numbers = range(ADDED)
    writer.line(HELPER_MEMORY)
    writer.line(f"{position} before = 0;")
    with writer.block(f"for ({position} base = 0; base < {end}; base += {ADDED * GROUP})", rolled=True):
        writer.line(f"const {position} first = base + lane * {ADDED};")
        for k in numbers:
            writer.line(f"const uint own{k} = first + {k} < {end} ? (uint){counts}[first + {k}] : 0;")
        writer.line("uint all;")
        writer.line(f"const uint sum = {' + '.join(f'own{k}' for k in numbers)};")
        writer.line(f"{count} place = before + {BEFORE}(sum, &all, vectors);")
        for k in numbers:
            writer.line(f"if (first + {k} < {end}) {counts}[first + {k}] = place;")
            writer.line(f"place += own{k};")
        writer.line("before += all;")


def order_chunk(writer: Writer, value: Callable[[str], str]) -> None:
    """Put the group's elements, of which there are `here`, in `order` of their values, which stand in `digit` by the elements'
    numbers; `begin` has the first place of each value that occurs."""
    writer.line(f"__local uchar{EACH} digits[{GROUP}];")
    writer.line("__local uchar* digit = (__local uchar*)digits;")
    writer.line(f"__local int begin[{VALUES}];")
    local_memory(writer, EACH)
    with writer.block(f"for (int l = lane; l < {CHUNK}; l += {GROUP})"):
        writer.line(f"digit[l] = l < here ? (uchar)({value('l')}) : {VALUES - 1};")
    unordered(writer, EACH)
    writer.line(WAIT)
    with writer.block(f"for (int bits = 0; bits < {PASS_BITS}; bits += {BITS})", rolled=True):
        split(writer, EACH, lambda element: f"digit[{element}] >> bits & {DIGITS - 1}")
    with writer.block(f"for (int l = lane; l < here; l += {GROUP})"):
        writer.line("const int own = digit[order[l]];")
        writer.line("if (l == 0 || digit[order[l - 1]] != own) begin[own] = l;")
    writer.line(WAIT)
