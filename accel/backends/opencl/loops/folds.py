"""Folds of everything that a loop visits: a work-group for each block of 4096 elements (docs/order.md).

Each lane walks through its elements in order, then lanes join; `join.py` does the rest, or the group itself if it is the only
one. States that need other lanes get a kernel of their own, with only the statements that lead to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from accel.ast.tree.types import BOOL
from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Choice, NestKernels, Scaffold
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.states import Machine, guarded
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat
from accel.backends.opencl.loops.join import Held, join, write_results
from accel.backends.opencl.loops.rows import Rows, around
from accel.ir import mentions
from accel.ir.nodes import LoopBody, State
from accel.ir.slices import needed_for
from accel.labelled.meaning.order import BLOCK
from accel.schedule.nodes import Kind, Schedule
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Lanes:
    """How a work-group walks through a block: `width` lanes, in turns (`commutes`) or each through a run of its own."""

    width: int
    commutes: bool


def _lanes(schedule: Schedule) -> Lanes:
    """Those of the outermost piece and the two behind it, parts of one axis: its blocks, and the lanes and steps of a block."""
    inside = schedule.pieces[1:3]
    ((place, size),) = ((n, each.size) for n, each in enumerate(inside) if each.kind is Kind.ITEM)
    assert isinstance(size, int)
    return Lanes(size, place == 1)


def blocks_of_lanes(scaffold: Scaffold, flat: Flat, slices: Sequence[Schedule]) -> NestKernels:
    """The nest's kernels: one for each slice, whose outermost piece is its blocks, then the join."""
    nest = scaffold.nest
    rows = around(nest)
    count = Amount(flat.extents, BLOCK, rows.extents, least=1, needed=flat.needed)
    ends = _ends(scaffold, slices, flat.loops[0].states, count)
    outside = {id(statement) for statement in (*rows.once_each, *rows.once)}
    is_one = Choice(flat.extents, 1, below=False), Choice(flat.extents, BLOCK + 1, below=True)
    alone = len(slices) == 1 and not (rows.extents or flat.needed or scaffold.unless) and bool(rows.once_each)
    finish = needed_for(nest, rows.once_each) if alone else None
    for number, schedule in enumerate(slices):
        kind, steps = _lanes(schedule), {each.state.name: each.step for each in schedule.carried}
        folded = sorted((e for e in ends if e.state.name in steps), key=lambda each: each.state.monoid.exact)
        roots: list[LoopBody] = [steps[each.state.name] for each in folded]
        roots += [] if number else [s for s in mentions.stores(nest) if id(s) not in outside]
        body = Body(Writer(), scaffold.context, dict(scaffold.types), only=needed_for(nest, roots), atomic=True)
        _block(body, rows, flat, kind, folded, finish)
        items = Amount(flat.extents, BLOCK, rows.extents, kind.width, needed=flat.needed)
        scaffold.kernel(f"fold{number}", body.writer.text, items, group=kind.width)
    if alone:
        scaffold.unless = is_one
    join(scaffold, rows, flat, BLOCK, ends, {})
    return scaffold.done("a work-group per block of a fold")


def _ends(scaffold: Scaffold, slices: Sequence[Schedule], states: Sequence[State], count: Amount) -> list[Held]:
    """Where blocks leave values. Whether there are any is asked only of states of which an iteration may make none."""
    known = {each.state.name for part in slices for each in part.carried if each.each(part.pieces[0].axis)}
    found = []
    for state in states:
        kind = scaffold.types[state.name]
        values = scaffold.temporary("values", kind.name, kind.bytes, count)
        some = None if state.name in known else scaffold.temporary("some", c_type(BOOL), BOOL.bytes, count)
        found.append(Held(state, kind, values, some))
    return found


def _block(
    body: Body, rows: Rows, flat: Flat, kind: Lanes, ends: Sequence[Held], finish: frozenset[int] | None
) -> None:
    """The kernel. finish: what a group does that has the only block, by identity."""
    writer, run = body.writer, BLOCK // kind.width
    shared = [_in_group(writer, number, each, kind.width) for number, each in enumerate(ends)]
    writer.line("const int lane = get_local_id(0);")
    writer.line("const position_t place = get_group_id(0);")
    writer.line("const position_t block = place;")
    rows.enter(body)
    for each in ends:
        body.accumulator(each.state, Machine.PLAIN, "step" if each.some is None else None).begin(writer, None)
    _walk(body, flat, kind)
    for lanes in shared:
        accumulator = body.accumulators[lanes.state.name]
        writer.line(f"{lanes.values}[lane] = {accumulator.variable};")
        if lanes.some is not None:
            writer.line(f"{lanes.some}[lane] = {accumulator.counted};")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    # One work-item joins them: if all do, a CPU runs through the group once for each level, which takes longer to build, and to
    # run, than what there is to do.
    with writer.block("if (lane == 0)"):
        rest = f"{flat.total} - block * (position_t){BLOCK}"
        _join_lanes(writer, kind, shared, rest if kind.commutes else f"({rest} + {run - 1}) / {run}")
        for lanes, end in zip(shared, ends, strict=True):
            writer.line(f"{end.values}[place] = {lanes.values}[0];")
            if lanes.some is not None:
                writer.line(f"{end.some}[place] = {lanes.some}[0];")
        if finish is not None:
            with writer.block(f"if ({flat.total} <= {BLOCK})"):
                behind = Body(writer, body.context, body.types, only=finish)
                rows.enter(behind)
                found = {each.state.name: each for each in shared if id(each.state) in finish}
                write_results(behind, rows, flat, found, {}, "0", "1")


def _in_group(writer: Writer, number: int, end: Held, width: int) -> Held:
    """Where the lanes of a group leave what a state comes to."""
    lanes = replace(end, values=f"lanes{number}", some=end.some and f"lanes{number}_some")
    writer.line(f"__local {end.type.name} {lanes.values}[{width}];")
    if lanes.some is not None:
        writer.line(f"__local uchar {lanes.some}[{width}];")
    return lanes


def _walk(body: Body, flat: Flat, kind: Lanes) -> None:
    """A lane walks through its elements of the block."""
    writer, width, run = body.writer, kind.width, BLOCK // kind.width
    # The bound is the loop's own: Intel's compiler has read past an array where it was a condition inside.
    begin, stride, count = ("lane", width, BLOCK) if kind.commutes else (f"lane * {run}", 1, run)
    writer.line(f"const position_t begin = block * {BLOCK} + {begin};")
    after = f"block * (position_t){BLOCK} + {count}" if kind.commutes else f"begin + (position_t){count}"
    # Lanes of whole blocks have equally many elements, and compilers that make vectors of them need no masks.
    writer.open(f"if (block * (position_t){BLOCK} + {BLOCK} <= {flat.total})")
    with writer.block(f"for (int step = 0; step < {run}; ++step)", rolled=True):
        writer.line(f"const position_t item = begin + step * {stride};")
        flat.enter(body, "item")
        body.level(flat.body)
    writer.otherwise()
    writer.line(f"const position_t stop = min({after}, {flat.total});")
    with writer.block(f"for (position_t item = begin, step = 0; item < stop; item += {stride}, ++step)"):
        flat.enter(body, "item")
        body.level(flat.body)
    writer.close()


def _join_lanes(writer: Writer, kind: Lanes, shared: Sequence[Held], there: str) -> None:
    """Lane l takes lane l + width/2, l + width/4, …; or adjacent pairs join, level by level. `there`: of how many lanes the
    block has elements, if of no more than all."""
    levels, pairs = f"for (int reach = {kind.width // 2}; reach > 0; reach /= 2)", "for (int l = 0; l < reach; ++l)"
    if not kind.commutes:
        levels = f"for (int reach = 1; reach < {kind.width}; reach *= 2)"
        pairs = f"for (int l = 0; l < {kind.width}; l += 2 * reach)"
    writer.line(f"const int some = min({there}, (position_t){kind.width});")
    # Those of floats have loops of their own, see `ROLLED_LOOP`.
    for _, group in groupby(shared, key=lambda each: (each.some is None, each.state.types[0].is_float)):
        together = list(group)
        there_are = "l + reach < some" if together[0].some is None else None
        with writer.block(levels, rolled=True), writer.block(pairs, rolled=True), guarded(writer, there_are):
            for lanes in together:
                lanes.merge(writer, "l", "l + reach")
