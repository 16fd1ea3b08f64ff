"""Scatters whose order shows: elements that were written down are sorted by their targets, and each target combines its run.

In: `Runs`. Out: kernels. The sort is stable, so a run has its elements in their order: by eight bits of the keys at a time,
from the lowest on (`radix.py`). There are as many passes as the number of targets needs, known at launch; keys and places
change from one buffer to another with each.

All but one kernel, which goes through the groups' counts, may be launched in pieces. That which combines takes a piece of what
is sorted in each, one after the other: a run that begins in an earlier one goes on with what its target holds by then. Of runs
that are longer than a group's elements, all work-items fetch the elements, and one combines them.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.opencl.code.functions import inline
from accel.backends.opencl.code.kernel import GROUP_NUMBER, LAUNCHED_END, Amount, Choice, Scaffold
from accel.backends.opencl.code.naming import array_name, extent_text
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.gpu.places import WAIT
from accel.backends.opencl.loops.gpu.radix import (
    BEFORE,
    BEFORE_TEXT,
    CHUNK,
    PASS_BITS,
    PASS_WORK,
    VALUES,
    add_up,
    count_values,
    order_chunk,
)
from accel.backends.opencl.machine.devices import GROUP_ITEMS as GROUP
from accel.ir.nodes import Scatter
from accel.schedule.templates.gpu.ordered_scatters import Runs
from accel.support.dataclass import dataclass

MOST_PASSES = 48 // PASS_BITS
"""No array has more than 2^48 elements."""

RUN_WORK = 16
"""Operations for each element where runs are combined: neighbours are read."""

RUN_GROUP = 256
"""Work-items of a group that combines, each of which has an element."""

MOST_FETCHED = 1024
"""Elements of a long run that a group fetches at once, at most."""

FETCHED_BYTES = 28 * 1024
"""Of local memory, which they take at most."""

AT_ONCE = 8
"""Of these, elements that are combined one after the other without a question in between, so that they are read before."""


@dataclass(frozen=True, slots=True)
class _Buffers:
    """keys, places: two of each, of which a pass reads one and writes the other. counts: by value and group. done: how many
    passes there were, the number of the one that moves elements, and how many elements have each value in it."""

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
        temporary("counts", Amount(runs.sources, CHUNK, factor=VALUES, least=1)),
        temporary("passes", Amount(factor=2 + VALUES)),
    )
    total = " * ".join(["(position_t)1", *map(extent_text, runs.sources)])
    if runs.count is not None:
        total = f"(position_t){array_name(runs.count)}[0]"
    _begin(scaffold, runs, buffers, total)
    targets = runs.scatter.arrays[0].shape
    for number in range(MOST_PASSES):
        when = Choice(targets, VALUES**number, below=False)
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


def _work(runs: Runs, each: int = PASS_WORK) -> Amount:
    return Amount(runs.sources, factor=each)


def _value(element: str) -> str:
    """What a pass orders by, of an element of the group with a number."""
    return f"(int)((keys[base + {element}] >> shift) & {VALUES - 1})"


def _chunk(writer: Writer, buffers: _Buffers, total: str, passes: str) -> None:
    """Declare which elements are the group's, and what the pass reads of them."""
    writer.line("const int lane = get_local_id(0);")
    writer.line(f"const position_t group = {GROUP_NUMBER}, groups = {_groups(total)}, base = group * {CHUNK};")
    writer.line(f"const int here = base < {total} ? (int)min((position_t){CHUNK}, {total} - base) : 0;")
    _choose(writer, buffers, passes)
    writer.line(f"const int shift = {PASS_BITS} * (int){buffers.done}[{passes}];")


def _count(scaffold: Scaffold, runs: Runs, buffers: _Buffers, total: str, when: Choice) -> None:
    writer = Writer()
    _chunk(writer, buffers, total, "0")
    counted = count_values(writer, _value)
    writer.line(f"if (group < groups) {buffers.counts}[lane * groups + group] = {counted};")
    items = Amount(runs.sources, CHUNK, factor=GROUP)
    scaffold.kernel("digits", writer.text, items, group=GROUP, when=when, work=_work(runs))


def _offsets(scaffold: Scaffold, buffers: _Buffers, total: str, when: Choice) -> None:
    """Each value has a group."""
    writer = Writer()
    scaffold.context.prelude.function(BEFORE, BEFORE_TEXT)
    writer.line("const int lane = get_local_id(0), value = get_group_id(0);")
    writer.line(f"const position_t groups = {_groups(total)};")
    writer.line(f"__global long* mine = {buffers.counts} + value * groups;")
    add_up(writer, "mine", "groups", "position_t", "position_t")
    writer.line(f"if (lane == 0) {buffers.done}[2 + value] = before;")
    with writer.block("if (lane == 0 && value == 0)"):
        writer.line(f"{buffers.done}[1] = {buffers.done}[0];")
        writer.line(f"{buffers.done}[0] += 1;")
    scaffold.kernel("offsets", writer.text, Amount(factor=GROUP * VALUES), group=GROUP, when=when)


def _move(scaffold: Scaffold, runs: Runs, buffers: _Buffers, total: str, when: Choice) -> None:
    """A group's elements of a value stand behind those of the groups before, and these behind those of lesser values."""
    writer = Writer()
    writer.line(f"__local position_t before[{VALUES}];")
    _chunk(writer, buffers, total, "1")
    writer.line(f"__global long* moved = odd ? {buffers.keys[0]} : {buffers.keys[1]};")
    writer.line(f"__global long* from = odd ? {buffers.places[0]} : {buffers.places[1]};")
    order_chunk(writer, _value)
    writer.line(f"before[lane] = lane == 0 ? 0 : {buffers.done}[1 + lane];")
    writer.line(WAIT)
    with writer.block(f"for (int reach = 1; reach < {VALUES}; reach *= 2)", rolled=True):
        writer.line("const position_t left = lane >= reach ? before[lane - reach] : 0;")
        writer.line(WAIT)
        writer.line("before[lane] += left;")
        writer.line(WAIT)
    writer.line(f"if (group < groups) before[lane] += {buffers.counts}[lane * groups + group] - begin[lane];")
    writer.line(WAIT)
    with writer.block(f"for (int l = lane; l < here; l += {GROUP})"):
        writer.line("const int own = order[l];")
        writer.line("const position_t to = before[digit[own]] + l;")
        writer.line("moved[to] = keys[base + own];")
        writer.line("from[to] = places[base + own];")
    items = Amount(runs.sources, CHUNK, factor=GROUP)
    scaffold.kernel("move", writer.text, items, group=GROUP, when=when, work=_work(runs))


def _combine(scaffold: Scaffold, runs: Runs, buffers: _Buffers, total: str) -> None:
    """The work-item at the first element of a run goes through it, as far as its group's elements go; the whole group through
    the rest, as far as that is in this launch."""
    writer, scatter = Writer(), runs.scatter
    count = " * ".join(["(position_t)1", *map(extent_text, scatter.arrays[0].shape)])
    fetched = min(FETCHED_BYTES // sum(array.element.bytes for array in runs.values), MOST_FETCHED)
    held = [f"held{leaf}" for leaf in range(len(scatter.arrays))]
    for value, array in enumerate(runs.values):
        writer.line(f"__local {c_type(array.element)} fetched{value}[{fetched}];")
    for name, array in zip(held, scatter.arrays, strict=True):
        writer.line(f"__local {c_type(array.element)} {name};")
    writer.line("__local long longest;")
    writer.line("__local int many;")
    writer.line(f"const position_t item = get_global_id(0), begin = get_global_offset(0), targets = {count};")
    writer.line("const int lane = get_local_id(0);")
    writer.line(f"const position_t stop = min((position_t)({LAUNCHED_END}), {total});")
    writer.line(f"const position_t end = min(item - lane + {RUN_GROUP}, stop);")
    _choose(writer, buffers, "0")
    writer.line("if (lane == 0) longest = -1, many = 0;")
    writer.line(WAIT)
    _first_of_runs(writer, scaffold, runs, held)
    writer.line(WAIT)
    with writer.block("if (longest >= 0)"):
        _rest_of_longest(writer, scaffold, runs, held, fetched)
    work = _work(runs, RUN_WORK)
    scaffold.kernel("runs", writer.text, Amount(runs.sources), group=RUN_GROUP, work=work, alone=True)


def _first_of_runs(writer: Writer, scaffold: Scaffold, runs: Runs, held: Sequence[str]) -> None:
    """What runs come to, up to the group's last element: it is stored, or held where the run goes on behind that."""
    scatter = runs.scatter
    with writer.block("if (item < end)"):
        writer.line("const long key = keys[item];")
        with writer.block("if (key < targets && (item == begin || keys[item - 1] != key))"):
            olds = _olds(writer, scatter, [f"{array_name(array)}[key]" for array in scatter.arrays])
            writer.line("position_t at = item;")
            with writer.block("for (; at < end && keys[at] == key; ++at)"):
                _step(writer, scaffold, runs, olds, [f"{array_name(array)}[places[at]]" for array in runs.values])
            with writer.block("if (at == end && end < stop && keys[end] == key)"):
                writer.line("longest = key;")
                for name, old in zip(held, olds, strict=True):
                    writer.line(f"{name} = {old};")
            with writer.block("else"):
                _store(writer, scatter, olds)


def _rest_of_longest(writer: Writer, scaffold: Scaffold, runs: Runs, held: Sequence[str], fetched: int) -> None:
    """The run that goes on behind the group's last element: all of the group fetch, and one work-item combines."""
    fetches = range(len(runs.values))
    writer.line("const long key = longest;")
    olds = _olds(writer, runs.scatter, held)
    writer.line("int more = 1;")
    with writer.block(f"for (position_t from = end; more; from += {fetched})"):
        _fetch(writer, runs, fetched)
        writer.line(WAIT)
        writer.line("const int count = many;")
        with writer.block("if (lane == 0)"):
            writer.line("int l = 0;")
            with writer.block(f"for (; l + {AT_ONCE} <= count; l += {AT_ONCE})"):
                for k in range(AT_ONCE):
                    _step(writer, scaffold, runs, olds, [f"fetched{value}[l + {k}]" for value in fetches])
            with writer.block("for (; l < count; ++l)"):
                _step(writer, scaffold, runs, olds, [f"fetched{value}[l]" for value in fetches])
        writer.line(f"more = count == {fetched};")
        writer.line(WAIT)
        writer.line("if (lane == 0) many = 0;")
        writer.line(WAIT)
    with writer.block("if (lane == 0)"):
        _store(writer, runs.scatter, olds)


def _fetch(writer: Writer, runs: Runs, fetched: int) -> None:
    """Bring the next elements of a long run to local memory, and find out how many they are: keys are sorted, so those of the
    run come first. All that a work-item reads is on its way before the first of it is looked at."""
    each = -(-fetched // RUN_GROUP)
    writer.line(f"long next[{each}];")
    writer.line(f"position_t place[{each}];")
    with writer.block(f"for (int k = 0; k < {each}; ++k)"):
        writer.line(f"const int l = lane + k * {RUN_GROUP};")
        writer.line(f"const int is_there = l < {fetched} && from + l < stop;")
        writer.line("next[k] = is_there ? keys[from + l] : -1;")
        writer.line("place[k] = is_there ? places[from + l] : 0;")
    writer.line("int last = 0;")
    with writer.block(f"for (int k = 0; k < {each}; ++k)"):
        writer.line(f"const int l = lane + k * {RUN_GROUP};")
        with writer.block("if (next[k] == key)"):
            for value, array in enumerate(runs.values):
                writer.line(f"fetched{value}[l] = {array_name(array)}[place[k]];")
            writer.line("last = l + 1;")
    writer.line("if (last > 0) atomic_max(&many, last);")


def _olds(writer: Writer, scatter: Scatter, initial: Sequence[str]) -> list[str]:
    """Declare what a target holds, leaf by leaf."""
    olds = [writer.fresh("old") for _ in scatter.arrays]
    for old, array, text in zip(olds, scatter.arrays, initial, strict=True):
        writer.line(f"{c_type(array.element)} {old} = {text};")
    return olds


def _step(writer: Writer, scaffold: Scaffold, runs: Runs, olds: Sequence[str], given: Sequence[str]) -> None:
    """Combine what a target holds with an element."""
    values = [writer.fresh("own") for _ in runs.values]
    for own, array, text in zip(values, runs.values, given, strict=True):
        writer.line(f"const {c_type(array.element)} {own} = {text};")
    combined = inline(runs.scatter.combine, [*values, *olds], writer, scaffold.context)
    fresh = [writer.fresh("new") for _ in olds]
    for new, array, value in zip(fresh, runs.scatter.arrays, combined, strict=True):
        writer.line(f"const {c_type(array.element)} {new} = {value};")
    for old, new in zip(olds, fresh, strict=True):
        writer.line(f"{old} = {new};")


def _store(writer: Writer, scatter: Scatter, olds: Sequence[str]) -> None:
    for old, array in zip(olds, scatter.arrays, strict=True):
        writer.line(f"{array_name(array)}[key] = {old};")
