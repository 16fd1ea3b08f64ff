"""Blocks leave partial results; one work-item joins them and runs what stands after the loop.

Blocks join in adjacent pairs, level by level, and the seed is combined last, on the left (docs/order.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.types import BOOL
from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Choice, Scaffold
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.states import StateType
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat
from accel.backends.opencl.loops.rows import Rows
from accel.ir.nodes import State
from accel.ir.slices import needed_for
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Partials:
    """The parameters where a state's value for each block is left, and whether the block has any."""

    values: str
    some: str


@dataclass(frozen=True, slots=True)
class Held:
    """The values of one state: `values[place]`, and `some[place]`, whether there is any; None where it is known without asking,
    or one without elements is neutral."""

    state: State
    type: StateType
    values: str
    some: str | None

    def merge(self, writer: Writer, left: str, right: str) -> None:
        """The value on the left becomes that of both, where either may be absent."""
        if self.some is not None:
            merge_into(writer, self.type, Partials(self.values, self.some), left, right)
            return
        values = self.values
        writer.line(f"{values}[{left}] = {self.type.merge(f'{values}[{left}]', f'{values}[{right}]')};")


def partials(scaffold: Scaffold, states: Sequence[State], count: Amount) -> dict[str, Partials]:
    """Temporaries for one value of each state per block."""
    made = {}
    for state in states:
        kind = scaffold.types[state.name]
        values = scaffold.temporary("values", kind.name, kind.bytes, count)
        made[state.name] = Partials(values, scaffold.temporary("some", c_type(BOOL), BOOL.bytes, count))
    return made


def join(
    scaffold: Scaffold,
    rows: Rows,
    flat: Flat,
    block: int,
    ends: Sequence[Held],
    carries: Mapping[str, str],
    when: Choice | None = None,
) -> None:
    """Add the kernel: one work-item for each row, since a CPU runs all of a group one after the other. `ends`: what each block
    gave; `carries`: of running states, where the final value stands, seed included."""
    needed = needed_for(scaffold.nest, rows.once_each)
    if not rows.once_each:
        return
    body = Body(Writer(), scaffold.context, dict(scaffold.types), only=needed)
    writer = body.writer
    writer.line("const position_t row = get_global_id(0);")
    writer.line(f"const position_t blocks = ({flat.total} + {block - 1}) / {block}, first = row * blocks;")
    found = {each.state.name: each for each in ends if id(each.state) in needed}
    with writer.block(f"if (row < {rows.count})"):
        if found:
            _pairs(writer, list(found.values()))
        rows.enter(body)
        write_results(body, rows, flat, found, carries, "first", "blocks > 0")
    # There are few work-items: compilers need not make vectors of them, which takes some of them a while.
    scaffold.kernel("join", writer.text, Amount(rows.extents), serial=True, when=when)


def write_results(
    body: Body, rows: Rows, flat: Flat, ends: Mapping[str, Held], carries: Mapping[str, str], first: str, there_are: str
) -> None:
    """Write what runs once for a row, after its blocks have joined. first: where what they came to stands. there_are: whether
    there is a block. `ends`, by the state's name, and `carries`: see `join`."""
    rows.finish(body)
    for state in flat.loops[0].states:
        if state.name in ends:
            at = ends[state.name]
            some = "" if at.some is None else f" && {at.some}[{first}]"
            final(body, state, f"{at.values}[{first}]", f"{there_are}{some}")
        elif body.only is None or id(state) in body.only:
            body.bind(state.finals, carries[state.name])
    body.statements(rows.level.after)


def _pairs(writer: Writer, ends: Sequence[Held]) -> None:
    """All states in the same loops: each loop takes compilers a while."""
    levels = "for (position_t stride = 1; stride < blocks; stride *= 2)"
    pairs = "for (position_t b = 0; b + stride < blocks; b += 2 * stride)"
    with writer.block(levels, rolled=True), writer.block(pairs, rolled=True):
        for each in ends:
            each.merge(writer, "first + b", "first + b + stride")


def merge_into(writer: Writer, kind: StateType, at: Partials, left: str, right: str) -> None:
    """`values[left] := merge(values[left], values[right])`, where either may be absent."""
    values, some = at.values, at.some
    with writer.block(f"if ({some}[{right}])"):
        merged = kind.merge(f"{values}[{left}]", f"{values}[{right}]")
        writer.line(f"{values}[{left}] = {some}[{left}] ? {merged} : {values}[{right}];")
        writer.line(f"{some}[{left}] = 1;")


def final(body: Body, state: State, value: str, some: str) -> None:
    """Bind the finals: the seed on the left, and the value of all blocks, if there are `some` elements."""
    writer, kind = body.writer, body.types[state.name]
    found = writer.fresh("found")
    writer.line(f"const int {found} = {some};")
    total = writer.fresh("total")
    seed = body.seed(state)
    if seed is None:
        body.require(state, found)
        writer.line(f"{kind.name} {total} = {value};")
    else:
        writer.line(f"{kind.name} {total} = {seed};")
        writer.line(f"if ({found}) {total} = {kind.merge(seed, value)};")
    body.bind(state.finals, total)
