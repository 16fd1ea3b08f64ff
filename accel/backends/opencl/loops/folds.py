"""Folds of everything that a loop visits: a work-group for each block of 4096 elements (design section 8).

Each lane walks through its elements in order, then lanes join; `join.py` does the rest. States that need other lanes get a
kernel of their own, with only the statements that lead to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, NestKernels, Scaffold
from accel.backends.opencl.code.states import Machine, StateType
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat
from accel.backends.opencl.loops.join import Partials, join, merge_into, partials
from accel.backends.opencl.loops.rows import Rows, around
from accel.ir import mentions
from accel.ir.nodes import LoopBody, State
from accel.ir.slices import needed_for
from accel.labelled.meaning.order import BLOCK
from accel.schedule.nodes import Kind, Schedule


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
    ends = partials(
        scaffold, flat.loops[0].states, Amount(flat.extents, BLOCK, rows.extents, least=1, needed=flat.needed)
    )
    outside = {id(statement) for statement in (*rows.once_each, *rows.once)}
    for number, schedule in enumerate(slices):
        kind, states = _lanes(schedule), _states(schedule, flat)
        names = {state.name for state in states}
        roots: list[LoopBody] = [each.step for each in schedule.carried if each.state.name in names]
        roots += [] if number else [s for s in mentions.stores(nest) if id(s) not in outside]
        body = Body(Writer(), scaffold.context, dict(scaffold.types), only=needed_for(nest, roots), atomic=True)
        _block(scaffold, body, rows, flat, kind, states, ends)
        items = Amount(flat.extents, BLOCK, rows.extents, kind.width, needed=flat.needed)
        scaffold.kernel(f"fold{number}", body.writer.text, items, group=kind.width)
    join(scaffold, rows, flat, BLOCK, ends, {})
    return scaffold.done("a work-group per block of a fold")


def _states(schedule: Schedule, flat: Flat) -> list[State]:
    """The loop's states that a slice of the nest folds, those in an order first."""
    names = {each.state.name for each in schedule.carried}
    return sorted((s for s in flat.loops[0].states if s.name in names), key=lambda state: state.monoid.exact)


def _block(
    scaffold: Scaffold,
    body: Body,
    rows: Rows,
    flat: Flat,
    kind: Lanes,
    states: list[State],
    ends: dict[str, Partials],
) -> None:
    writer, width, run = body.writer, kind.width, BLOCK // kind.width
    shared = {}
    for number, state in enumerate(states):
        shared[state.name] = Partials(f"lanes{number}", f"lanes{number}_some")
        writer.line(f"__local {scaffold.types[state.name].name} lanes{number}[{width}];")
        writer.line(f"__local uchar lanes{number}_some[{width}];")
    writer.line("const int lane = get_local_id(0);")
    writer.line("const long place = get_group_id(0);")
    writer.line("const long block = place;")
    rows.enter(body)
    for state in states:
        body.accumulator(state, Machine.PLAIN).begin(writer, None)
    # The bound is the loop's own: Intel's compiler has read past an array where it was a condition inside.
    begin, stride, count = ("lane", width, BLOCK) if kind.commutes else (f"lane * {run}", 1, run)
    writer.line(f"const long begin = block * {BLOCK} + {begin};")
    after = f"block * {BLOCK}L + {count}" if kind.commutes else f"begin + {count}L"
    # Lanes of whole blocks have equally many elements, and compilers that make vectors of them need no masks.
    writer.open(f"if (block * {BLOCK}L + {BLOCK} <= {flat.total})")
    with writer.block(f"for (int step = 0; step < {run}; ++step)"):
        writer.line(f"const long item = begin + step * {stride};")
        flat.enter(body, "item")
        body.level(flat.body)
    writer.otherwise()
    writer.line(f"const long stop = min({after}, {flat.total});")
    with writer.block(f"for (long item = begin; item < stop; item += {stride})"):
        flat.enter(body, "item")
        body.level(flat.body)
    writer.close()
    for state in states:
        at, accumulator = shared[state.name], body.accumulators[state.name]
        writer.line(f"{at.values}[lane] = {accumulator.variable};")
        writer.line(f"{at.some}[lane] = {accumulator.counted};")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    # One work-item joins them: if all do, a CPU runs through the group once for each level, which takes longer to build, and to
    # run, than what there is to do.
    with writer.block("if (lane == 0)"):
        for state in states:
            at, end = shared[state.name], ends[state.name]
            _join_lanes(writer, kind, scaffold.types[state.name], at)
            writer.line(f"{end.values}[place] = {at.values}[0];")
            writer.line(f"{end.some}[place] = {at.some}[0];")


def _join_lanes(writer: Writer, kind: Lanes, made: StateType, at: Partials) -> None:
    """Lane l takes lane l + width/2, l + width/4, …; or adjacent pairs join, level by level."""
    levels, pairs = f"for (int reach = {kind.width // 2}; reach > 0; reach /= 2)", "for (int l = 0; l < reach; ++l)"
    if not kind.commutes:
        levels = f"for (int reach = 1; reach < {kind.width}; reach *= 2)"
        pairs = f"for (int l = 0; l < {kind.width}; l += 2 * reach)"
    with writer.block(levels, rolled=True), writer.block(pairs, rolled=True):
        merge_into(writer, made, at, "l", "l + reach")
