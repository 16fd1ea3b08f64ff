"""The kernels that sort rows: those that fit into a work-group's local memory at once, longer ones by radix.

In: the types of the keys, from the first that decides to the last, whether places are asked for, and whether the greatest come
first. Out: OpenCL C. Keys are moved as they are; `code` turns one into an unsigned integer in the order that
`accel/labelled/meaning/sorting.py` defines.

Rows of up to `ROW` elements are read once: a group has as many whole rows as it holds, orders them by the digits of the
last key, and so on to those of the first, and at last by the numbers of the rows. Longer rows go through passes of three
kernels, `count`, `offsets` and `move` (`loops/gpu/radix.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import BOOL, F16, F32, ScalarType
from accel.backends.opencl.code.kernel import GROUP_NUMBER, fixed_group, kernel_text
from accel.backends.opencl.code.spelling import unsigned
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.gpu.places import WAIT
from accel.backends.opencl.loops.gpu.radix import (
    BEFORE,
    BEFORE_TEXT,
    BITS,
    CHUNK,
    DIGITS,
    VALUES,
    add_up,
    count_values,
    local_memory,
    order_chunk,
    split,
    unordered,
)
from accel.backends.opencl.machine.devices import GROUP_ITEMS as GROUP
from accel.support.dataclass import dataclass

ROW_EACH = 8
ROW = ROW_EACH * GROUP
"""Elements of the longest row that is sorted in local memory, and how many of them a work-item has."""


@dataclass(frozen=True, slots=True)
class SortKernel:
    """A kernel of groups of `GROUP` work-items, which may be launched in pieces. Its parameters are buffers, then numbers of 32
    bits."""

    name: str
    buffers: Sequence[str]
    numbers: Sequence[str]
    body: Writer

    @property
    def text(self) -> str:
        """The function."""
        declared = [*[f"__global {each}" for each in self.buffers], *[f"const uint {each}" for each in self.numbers]]
        return kernel_text(f"{fixed_group(GROUP)}void {self.name}", declared, self.body.text)


def whole_rows(kinds: Sequence[ScalarType], places: bool, descending: bool) -> tuple[str, tuple[SortKernel, ...]]:
    """The text, and the kernel `rows`: (sources, result, length of a row, rows of a group, rows)."""
    codes = [code_text(kind, number, descending) for number, kind in enumerate(kinds)]
    return _unit(codes, (_rows(kinds, places),))


def passes(kind: ScalarType, places: bool, descending: bool) -> tuple[str, tuple[SortKernel, ...]]:
    """The text, and the kernels `count`, `offsets` and `move`.

    count: (keys, places, counts, n, chunks of a row, shift, how keys are read: `AS_THEY_STAND`, `BY_PLACES` or `MOVED`)
    offsets: (counts, totals, chunks of a row, values of a group)
    move: (keys, places, counts, totals, moved keys, their places, result, n, chunks, values of a group, shift, how keys are
    read, whether this is the last pass). Without places these, and the result, are buffers that nobody looks at.
    """
    return _unit([code_text(kind, 0, descending)], (_count(kind), _offsets(), _move(kind, places)))


def _unit(codes: Sequence[str], kernels: tuple[SortKernel, ...]) -> tuple[str, tuple[SortKernel, ...]]:
    return "\n".join([BEFORE_TEXT, *codes, *[kernel.text for kernel in kernels]]), kernels


AS_THEY_STAND, BY_PLACES, MOVED = range(3)
"""How a pass reads keys: those of a row, which has been in no pass; those that stand where places say, since other keys have
been in passes; those that the pass before has moved."""


def code_text(kind: ScalarType, number: int, descending: bool) -> str:
    """A function that gives a key's bits in order: NaN is the greatest, zeros are equal."""
    word, sign = unsigned(kind), f"({unsigned(kind)})(({unsigned(kind)})1 << {8 * kind.bytes - 1})"
    writer = Writer()
    if kind is BOOL:
        writer.line("key = key != 0;")
    elif kind.is_float:
        writer.line(f"const {word} size = key & ({word})~{sign};")
        infinity = {F16: "0x7c00", F32: "0x7f800000u"}.get(kind, "0x7ff0000000000000UL")
        writer.line(f"key = size > {infinity} ? ({word})~({word})0 : size == 0 ? {sign} : ")
        writer.line(f"  key & {sign} ? ({word})~key : ({word})(key | {sign});")
    elif kind.is_signed:
        writer.line(f"key ^= {sign};")
    writer.line(f"return ({word}){'~' if descending else ''}key;")
    return f"static {word} code{number}({word} key) {{\n{writer.text}\n}}"


def begun() -> Writer:
    """The beginning of a kernel: which work-item and which group of all this is."""
    writer = Writer()
    writer.line("const int lane = get_local_id(0);")
    writer.line(f"const uint group = {GROUP_NUMBER};")
    return writer


def _rows(kinds: Sequence[ScalarType], places: bool) -> SortKernel:
    sources = [f"const {unsigned(kind)}* source{number}" for number, kind in enumerate(kinds)]
    result = f"{'long' if places else unsigned(kinds[0])}* result"
    widest = max(kinds, key=lambda kind: kind.bytes)
    writer = begun()
    writer.line(f"__local {unsigned(widest)} keys[{ROW}];")
    local_memory(writer, ROW_EACH)
    writer.line("const uint first = group * own_rows, base = first * n;")
    writer.line("const int here = (int)(min(own_rows, rows - first) * n);")
    unordered(writer, ROW_EACH)
    for number, kind in reversed(list(enumerate(kinds))):
        word = unsigned(kind)
        with writer.block(f"for (int l = lane; l < {ROW}; l += {GROUP})"):
            writer.line(f"keys[l] = l < here ? code{number}(source{number}[base + l]) : ({word})~({word})0;")
        writer.line(WAIT)
        with writer.block(f"for (int shift = 0; shift < {8 * kind.bytes}; shift += {BITS})", rolled=True):
            split(writer, ROW_EACH, lambda element: f"(int)(keys[{element}] >> shift) & {DIGITS - 1}")
    # What lies behind the last row has a number behind its.
    with writer.block(f"for (int shift = 0; own_rows > 1 && {ROW - 1} / n >> shift; shift += {BITS})", rolled=True):
        split(writer, ROW_EACH, lambda element: f"(int)({element} / n >> shift) & {DIGITS - 1}")
    with writer.block(f"for (int l = lane; l < here; l += {GROUP})"):
        writer.line(f"result[base + l] = {'order[l] % n' if places else 'source0[base + order[l]]'};")
    return SortKernel("rows", (*sources, result), ("n", "own_rows", "rows"), writer)


def _chunk() -> Writer:
    """The beginning of a kernel whose groups have a chunk of a row each."""
    writer = begun()
    writer.line("const uint row = group / chunks, chunk = group % chunks, start = row * n;")
    writer.line(f"const uint base = chunk * {CHUNK};")
    writer.line(f"const int here = (int)min((uint){CHUNK}, n - base);")
    return writer


def _value(element: str) -> str:
    """What a pass orders by, of an element of the group with a number."""
    at = f"base + {element}"
    return f"(int)(code0(keys[start + (how == {BY_PLACES} ? places[start + {at}] : {at})]) >> shift) & {VALUES - 1}"


_COUNTED = f"counts[(row * {VALUES} + lane) * chunks + chunk]"


def _count(kind: ScalarType) -> SortKernel:
    writer = _chunk()
    writer.line(f"{_COUNTED} = {count_values(writer, _value)};")
    buffers = (f"const {unsigned(kind)}* keys", "const uint* places", "uint* counts")
    return SortKernel("count", buffers, ("n", "chunks", "shift", "how"), writer)


def _offsets() -> SortKernel:
    """Counts of some values of a row become how many stand before them among these; how many these have is a total."""
    writer = begun()
    writer.line("const uint end = values * chunks;")
    writer.line("__global uint* mine = counts + group * end;")
    add_up(writer, "mine", "end", "uint", "uint")
    writer.line("if (lane == 0) totals[group] = before;")
    return SortKernel("offsets", ("uint* counts", "uint* totals"), ("chunks", "values"), writer)


def _move(kind: ScalarType, places: bool) -> SortKernel:
    writer, word = _chunk(), unsigned(kind)
    writer.line(f"__local uint before[{VALUES}], target[{VALUES}];")
    order_chunk(writer, _value)
    writer.line(f"const uint parts = {VALUES} / values;")
    writer.line("uint all;")
    writer.line(f"before[lane] = {BEFORE}(lane < parts ? totals[row * parts + lane] : 0, &all, vectors);")
    writer.line(WAIT)
    writer.line(f"target[lane] = start + before[lane / values] + {_COUNTED} - begin[lane];")
    writer.line(WAIT)
    with writer.block(f"for (int l = lane; l < here; l += {GROUP})"):
        writer.line("const int own = order[l];")
        writer.line("const uint at = base + own, to = target[digit[own]] + l;")
        if places:
            writer.line(f"const uint place = how == {AS_THEY_STAND} ? at : places[start + at];")
            writer.line("if (last) result[to] = place;")
            with writer.block("else"):
                writer.line(f"moved[to] = keys[start + (how == {BY_PLACES} ? place : at)];")
                writer.line("from[to] = place;")
        else:
            writer.line("moved[to] = keys[start + at];")
    read = (f"const {word}* keys", "const uint* places", "const uint* counts", "const uint* totals")
    numbers = ("n", "chunks", "values", "shift", "how", "last")
    return SortKernel("move", (*read, f"{word}* moved", "uint* from", "long* result"), numbers, writer)
