"""Scatters whose order shows: elements that were written down are sorted by their targets, and each target combines its run.

In: `Runs`. Out: kernels. The sort is stable, so a run has its elements in their order: a radix sort by four bits of the keys
at a time, from the lowest on [Zagha and Blelloch 1991]. In each pass every group counts its digits; one group finds where each
group's elements of each digit begin; every work-item moves its own elements there. There are as many passes as keys have
digits, known at launch; keys and places change from one buffer to another with each.

All but one kernel, which goes through the groups' counts, may be launched in pieces. That which combines takes a piece of what
is sorted in each, one after the other: a run that begins in an earlier one goes on with what its target holds by then.
"""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import I64
from accel.backends.opencl.code.functions import inline
from accel.backends.opencl.code.kernel import GROUP_NUMBER, LAUNCHED_END, Amount, Choice, Scaffold
from accel.backends.opencl.code.naming import array_name, extent_text
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.writer import Writer
from accel.schedule.templates.gpu.ordered_scatters import Runs

BITS = 4
DIGITS = 1 << BITS

GROUP = 128
EACH = 16
CHUNK = GROUP * EACH
"""Elements of a work-group, of which each work-item has neighbours."""

MOST_PASSES = 12
"""No array has more than 2^48 elements."""

WORK = 32
"""Operations for each element in each kernel that sorts, most of them for reading and writing 8 bytes here and there."""

RUN_WORK = 16
"""Operations for each element where runs are combined: neighbours are read."""


@dataclass(frozen=True, slots=True)
class _Buffers:
    """keys, places: two of each, of which a pass reads one and writes the other. counts: by digit and group. done: how many
    passes there were, and the number of the one that moves elements."""

    keys: tuple[str, str]
    places: tuple[str, str]
    counts: str
    done: str


def combine_runs(scaffold: Scaffold, runs: Runs) -> None:
    """Add the kernels that sort, and the one that combines."""

    def temporary(purpose: str, count: Amount) -> str:
        return scaffold.temporary(purpose, c_type(I64), I64.bytes, count)

    sources = Amount(runs.sources, least=1)
    buffers = _Buffers(
        (array_name(runs.keys), temporary("keys", sources)),
        (temporary("places", sources), temporary("places", sources)),
        temporary("counts", Amount(runs.sources, CHUNK, factor=DIGITS, least=1)),
        temporary("passes", Amount(factor=2)),
    )
    total = " * ".join(["(position_t)1", *map(extent_text, runs.sources)])
    if runs.count is not None:
        total = f"(position_t){array_name(runs.count)}[0]"
    _begin(scaffold, runs, buffers, total)
    targets = runs.scatter.arrays[0].shape
    for number in range(MOST_PASSES):
        when = Choice(targets, DIGITS**number, below=False)
        _count(scaffold, runs, buffers, total, when)
        _offsets(scaffold, buffers, total, when)
        _move(scaffold, runs, buffers, total, when)
    _combine(scaffold, runs, buffers, total)


def _begin(scaffold: Scaffold, runs: Runs, buffers: _Buffers, total: str) -> None:
    writer = Writer()
    writer.line("const position_t item = get_global_id(0);")
    writer.line(f"if (item < 2) {buffers.done}[item] = 0;")
    writer.line(f"if (item < {total}) {buffers.places[0]}[item] = item;")
    scaffold.kernel("unsorted", writer.text, Amount(runs.sources, least=2), work=_work(runs))


def _choose(writer: Writer, buffers: _Buffers, passes: str) -> None:
    """Declare what a pass reads."""
    writer.line(f"const int odd = (int)({buffers.done}[{passes}] & 1);")
    writer.line(f"__global const long* keys = odd ? {buffers.keys[1]} : {buffers.keys[0]};")
    writer.line(f"__global const long* places = odd ? {buffers.places[1]} : {buffers.places[0]};")


def _groups(total: str) -> str:
    """How many groups share the elements, as an atom."""
    return f"(({total} + {CHUNK - 1}) / {CHUNK})"


def _work(runs: Runs, each: int = WORK) -> Amount:
    return Amount(runs.sources, factor=each)


def _digit(key: str) -> str:
    return f"(int)(({key} >> shift) & {DIGITS - 1})"


def _count(scaffold: Scaffold, runs: Runs, buffers: _Buffers, total: str, when: Choice) -> None:
    writer = Writer()
    writer.line(f"__local int bins[{DIGITS}];")
    writer.line("const int lane = get_local_id(0);")
    writer.line(f"const position_t group = {GROUP_NUMBER}, groups = {_groups(total)};")
    _choose(writer, buffers, "0")
    writer.line(f"const int shift = {BITS} * (int){buffers.done}[0];")
    writer.line(f"if (lane < {DIGITS}) bins[lane] = 0;")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    writer.line(f"const position_t stop = min((group + 1) * (position_t){CHUNK}, {total});")
    with writer.block(f"for (position_t at = group * {CHUNK} + lane; at < stop; at += {GROUP})"):
        writer.line(f"atomic_inc(&bins[{_digit('keys[at]')}]);")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    writer.line(f"if (lane < {DIGITS} && group < groups) {buffers.counts}[lane * groups + group] = bins[lane];")
    items = Amount(runs.sources, CHUNK, factor=GROUP)
    scaffold.kernel("digits", writer.text, items, group=GROUP, when=when, work=_work(runs))


def _offsets(scaffold: Scaffold, buffers: _Buffers, total: str, when: Choice) -> None:
    """One group turns counts into what stands before, by twice the reach each time."""
    writer, counts = Writer(), buffers.counts
    writer.line(f"__local position_t sums[{GROUP}];")
    writer.line("const int lane = get_local_id(0);")
    writer.line(f"const position_t many = {DIGITS} * {_groups(total)};")
    writer.line("position_t before = 0;")
    with writer.block(f"for (position_t base = 0; base < many; base += {GROUP})"):
        writer.line(f"const position_t own = base + lane < many ? {counts}[base + lane] : 0;")
        writer.line("sums[lane] = own;")
        writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
        with writer.block(f"for (int reach = 1; reach < {GROUP}; reach *= 2)"):
            writer.line("const position_t left = lane >= reach ? sums[lane - reach] : 0;")
            writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
            writer.line("sums[lane] += left;")
            writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
        writer.line(f"if (base + lane < many) {counts}[base + lane] = before + sums[lane] - own;")
        writer.line(f"before += sums[{GROUP - 1}];")
        writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    with writer.block("if (lane == 0)"):
        writer.line(f"{buffers.done}[1] = {buffers.done}[0];")
        writer.line(f"{buffers.done}[0] += 1;")
    scaffold.kernel("offsets", writer.text, Amount(factor=GROUP), group=GROUP, when=when)


def _move(scaffold: Scaffold, runs: Runs, buffers: _Buffers, total: str, when: Choice) -> None:
    """A work-item's elements of a digit stand behind those of the work-items before it."""
    writer = Writer()
    writer.line(f"__local ushort found[{DIGITS}][{GROUP}];")
    writer.line("const int lane = get_local_id(0);")
    writer.line(f"const position_t group = {GROUP_NUMBER}, groups = {_groups(total)};")
    _choose(writer, buffers, "1")
    writer.line(f"__global long* moved = odd ? {buffers.keys[0]} : {buffers.keys[1]};")
    writer.line(f"__global long* from = odd ? {buffers.places[0]} : {buffers.places[1]};")
    writer.line(f"const int shift = {BITS} * (int){buffers.done}[1];")
    writer.line(f"const position_t first = group * {CHUNK} + lane * {EACH}, stop = min(first + {EACH}, {total});")
    with writer.block(f"for (int digit = 0; digit < {DIGITS}; ++digit)"):
        writer.line("found[digit][lane] = 0;")
    with writer.block("for (position_t at = first; at < stop; ++at)"):
        writer.line(f"found[{_digit('keys[at]')}][lane] += 1;")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    with writer.block(f"if (lane < {DIGITS})"):
        writer.line("int before = 0;")
        with writer.block(f"for (int other = 0; other < {GROUP}; ++other)"):
            writer.line("const int own = found[lane][other];")
            writer.line("found[lane][other] = (ushort)before;")
            writer.line("before += own;")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    with writer.block("for (position_t at = first; at < stop; ++at)"):
        writer.line("const long key = keys[at];")
        writer.line(f"const int digit = {_digit('key')};")
        writer.line(f"const position_t to = {buffers.counts}[digit * groups + group] + found[digit][lane];")
        writer.line("found[digit][lane] += 1;")
        writer.line("moved[to] = key;")
        writer.line("from[to] = places[at];")
    items = Amount(runs.sources, CHUNK, factor=GROUP)
    scaffold.kernel("move", writer.text, items, group=GROUP, when=when, work=_work(runs))


def _combine(scaffold: Scaffold, runs: Runs, buffers: _Buffers, total: str) -> None:
    """The work-item at the first element of a run goes through it, as far as that is in this launch."""
    writer, scatter = Writer(), runs.scatter
    count = " * ".join(["(position_t)1", *map(extent_text, scatter.arrays[0].shape)])
    writer.line(f"const position_t item = get_global_id(0), begin = get_global_offset(0), targets = {count};")
    writer.line(f"const position_t stop = min((position_t)({LAUNCHED_END}), {total});")
    with writer.block("if (item < stop)"):
        _choose(writer, buffers, "0")
        writer.line("const long key = keys[item];")
        with writer.block("if (key < targets && (item == begin || keys[item - 1] != key))"):
            olds = [writer.fresh("old") for _ in scatter.arrays]
            for old, array in zip(olds, scatter.arrays, strict=True):
                writer.line(f"{c_type(array.element)} {old} = {array_name(array)}[key];")
            with writer.block("for (position_t at = item; at < stop && keys[at] == key; ++at)"):
                values = [writer.fresh("own") for _ in runs.values]
                for own, array in zip(values, runs.values, strict=True):
                    writer.line(f"const {c_type(array.element)} {own} = {array_name(array)}[places[at]];")
                combined = inline(scatter.combine, [*values, *olds], writer, scaffold.context)
                fresh = [writer.fresh("new") for _ in olds]
                for new, array, value in zip(fresh, scatter.arrays, combined, strict=True):
                    writer.line(f"const {c_type(array.element)} {new} = {value};")
                for old, new in zip(olds, fresh, strict=True):
                    writer.line(f"{old} = {new};")
            for old, array in zip(olds, scatter.arrays, strict=True):
                writer.line(f"{array_name(array)}[key] = {old};")
    work = _work(runs, RUN_WORK)
    scaffold.kernel("runs", writer.text, Amount(runs.sources), serial=True, work=work, alone=True)
