"""The kernels that find the first elements of long rows without sorting them: radix selection, by eleven bits at a time.

In: the type of the key, and whether the greatest come first. Out: OpenCL C. Of each row a *bound* is found, a key and a place,
so that no more elements come up to it than there is room for, and all that are wanted do [Alabi, Blanchard, Gordon and
Steinbach 2012, "Fast k-selection algorithms for graphics processing units"]. Each round counts, among those that agree with the
bound so far, how many have each value of the next bits, and extends the bound by the value where those that are wanted end.
Bits of places follow those of keys, so rounds end however many keys are equal: an element comes before an equal one that stands
behind it. A row is done as soon as what comes up to its bound has room. That is kept, in any order, and sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accel.ast.tree.types import U32, U64, ScalarType
from accel.backends.opencl.code.spelling import unsigned
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.gpu.places import WAIT
from accel.backends.opencl.loops.gpu.radix import BEFORE, BEFORE_TEXT, HELPER_MEMORY
from accel.backends.opencl.machine.devices import GROUP_ITEMS as GROUP
from accel.backends.opencl.sorting.text import SortKernel, begun, code_text

ROUND_BITS = 11
"""Bits of a round."""

ROUND_VALUES = 1 << ROUND_BITS
_EACH = ROUND_VALUES // GROUP

COPIES = 2
"""Of a group's counts: work-items whose values are equal wait for each other less often."""

AT_ONCE = 8
"""Elements that a work-item reads before it looks at the first: how many it has is a multiple of that."""


def kept_type(kind: ScalarType) -> ScalarType:
    """Of the bits of a key in order."""
    return U64 if kind.bytes == 8 else U32


def selection(kind: ScalarType, descending: bool) -> tuple[str, tuple[SortKernel, ...]]:
    """The text, and the kernels.

    begin: (bounds of keys, of places, how many are open, how many are kept, bins, kept keys, their places, rows, room of a row,
    first, the greatest place)
    tally: (keys, bounds of keys, of places, open, bins, n, chunks of a row, elements of a work-item, shift, above, of places)
    bound: (bounds of keys, of places, open, bins, first, room, shift, above, of places)
    keep: (keys, bounds of keys, of places, how many are kept, kept keys, their places, n, chunks of a row, elements of a
    work-item, room)
    give: (the order of what is kept, places, result, rows, n, room, first)

    `shift` and `above` are the first bit of a round, and the first behind its. `open`: how many are wanted of those that agree
    with a row's bound; 0 where it is done.
    """
    word = unsigned(kept_type(kind))
    kernels = (_begin(kind, word), _tally(kind, word), _bound(word), _keep(kind, word), _give())
    parts = [BEFORE_TEXT, code_text(kind, 0, descending), *[kernel.text for kernel in kernels]]
    return "\n".join(parts), kernels


def _begin(kind: ScalarType, word: str) -> SortKernel:
    writer = begun()
    writer.line(f"const uint at = group * {GROUP} + lane;")
    with writer.block("if (at < rows * room)"):
        writer.line(f"keys[at] = ({word})~({word})0;")
        writer.line("places[at] = ~0u;")
    writer.line(f"if (at < rows * {ROUND_VALUES}) bins[at] = 0;")
    with writer.block("if (at < rows)"):
        writer.line(f"key_bounds[at] = ({word})~({word})0 >> {8 * (kept_type(kind).bytes - kind.bytes)};")
        writer.line("place_bounds[at] = last;")
        writer.line("open[at] = first;")
        writer.line("kept[at] = 0;")
    bounds = (f"{word}* key_bounds", "uint* place_bounds", "uint* open", "uint* kept")
    return SortKernel(
        "begin", (*bounds, "uint* bins", f"{word}* keys", "uint* places"), ("rows", "room", "first", "last"), writer
    )


def _chunk(word: str) -> Writer:
    """The beginning of a kernel whose groups have a chunk of a row each, and the bound of this row."""
    writer = begun()
    writer.line(f"const uint row = group / chunks, base = group % chunks * each * {GROUP} + lane;")
    writer.line(f"const {word} key_bound = key_bounds[row];")
    writer.line("const uint place_bound = place_bounds[row];")
    return writer


@contextmanager
def _visited(writer: Writer, word: str, condition: str) -> Iterator[None]:
    """Every element of the chunk, `key` at the place `at` of its row, for which the condition holds. Several are read before
    the first is looked at."""
    each, at = f"for (uint k = 0; k < {AT_ONCE}; ++k)", f"const uint at = base + (step + k) * {GROUP};"
    with writer.block(f"for (uint step = 0; step < each; step += {AT_ONCE})", rolled=True):
        writer.line(f"{word} near[{AT_ONCE}];")
        with writer.block(each, written_out=True):
            writer.line(at)
            writer.line("near[k] = at < n ? code0(keys[row * n + at]) : 0;")
        with writer.block(each, written_out=True):
            writer.line(at)
            writer.line(f"const {word} key = near[k];")
            with writer.block(f"if (at < n && {condition})"):
                yield


def _tally(kind: ScalarType, word: str) -> SortKernel:
    writer = _chunk(word)
    writer.line(f"__local uint counted[{COPIES * ROUND_VALUES}];")
    every = f"({word})~({word})0"
    writer.line(f"const {word} of_key = of_places ? {every} : above < sizeof({word}) * 8 ? {every} << above : 0;")
    writer.line("const uint of_place = of_places ? ~0u << above : 0;")
    agrees = "((key ^ key_bound) & of_key) == 0 && ((at ^ place_bound) & of_place) == 0"
    value = "((of_places ? at >> shift : (uint)(key >> shift)) & (1u << above - shift) - 1)"
    counts = [f"counted[value + {copy * ROUND_VALUES}]" for copy in range(COPIES)]
    values = f"for (int value = lane; value < {ROUND_VALUES}; value += {GROUP})"
    with writer.block("if (open[row] > 0)"):
        with writer.block(values):
            for each in counts:
                writer.line(f"{each} = 0;")
        writer.line(WAIT)
        with _visited(writer, word, agrees):
            writer.line(f"atomic_inc(&counted[{value} + lane % {COPIES} * {ROUND_VALUES}]);")
        writer.line(WAIT)
        with writer.block(values):
            writer.line(f"const uint found = {' + '.join(counts)};")
            writer.line(f"if (found > 0) atomic_add(&bins[row * {ROUND_VALUES} + value], found);")
    read = (
        f"const {unsigned(kind)}* keys",
        f"const {word}* key_bounds",
        "const uint* place_bounds",
        "const uint* open",
    )
    numbers = ("n", "chunks", "each", "shift", "above", "of_places")
    return SortKernel("tally", (*read, "uint* bins"), numbers, writer)


def _bound(word: str) -> SortKernel:
    """A group for each row: the value where those that are wanted end is one work-item's."""
    writer, numbers = begun(), range(_EACH)
    writer.line(HELPER_MEMORY)
    writer.line("const uint wanted = open[group];")
    writer.line(f"__global uint* mine = bins + group * {ROUND_VALUES} + lane * {_EACH};")
    writer.line(f"const uint own[{_EACH}] = {{{', '.join(f'mine[{k}]' for k in numbers)}}};")
    writer.line("uint all;")
    writer.line(f"uint before = {BEFORE}({' + '.join(f'own[{k}]' for k in numbers)}, &all, vectors);")
    # All have read what is open before one of them writes it.
    writer.line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);")
    with writer.block(f"for (uint k = 0; k < {_EACH}; ++k)", written_out=True):
        writer.line("const uint end = before + own[k];")
        with writer.block("if (before < wanted && wanted <= end)"):
            # The bits of this round are ones in a bound until they are known.
            writer.line(f"const uint less = (1u << above - shift) - 1 - (lane * {_EACH} + k);")
            writer.line("if (of_places) place_bounds[group] -= less << shift;")
            writer.line(f"else key_bounds[group] -= ({word})less << shift;")
            writer.line("open[group] = first - wanted + end > room ? wanted - before : 0;")
        writer.line("before = end;")
        writer.line("mine[k] = 0;")
    buffers = (f"{word}* key_bounds", "uint* place_bounds", "uint* open", "uint* bins")
    return SortKernel("bound", buffers, ("first", "room", "shift", "above", "of_places"), writer)


def _keep(kind: ScalarType, word: str) -> SortKernel:
    writer = _chunk(word)
    inside = "(key < key_bound || (key == key_bound && at <= place_bound))"
    with _visited(writer, word, inside):
        writer.line("const uint to = row * room + atomic_inc(&kept[row]);")
        writer.line("found[to] = key;")
        writer.line("places[to] = at;")
    read = (f"const {unsigned(kind)}* keys", f"const {word}* key_bounds", "const uint* place_bounds")
    numbers = ("n", "chunks", "each", "room")
    return SortKernel("keep", (*read, "uint* kept", f"{word}* found", "uint* places"), numbers, writer)


def _give() -> SortKernel:
    writer = begun()
    writer.line(f"const uint at = group * {GROUP} + lane;")
    with writer.block("if (at < rows * first)"):
        writer.line("const uint row = at / first, k = at % first;")
        writer.line("result[row * n + k] = places[row * room + (uint)order[row * room + k]];")
    return SortKernel(
        "give", ("const long* order", "const uint* places", "long* result"), ("rows", "n", "room", "first"), writer
    )
