"""Loops whose states are read while they run: reduce, then scan (docs/order.md).

The loop is cut into blocks. First each block finds what it adds to a running state; then one work-item carries these totals
through the blocks, left to right; then every block runs again, each state resumed where the blocks before it end, and
writes. A state whose steps depend on another running state is totalled one round later. Folds in the same loop leave a
partial result per block, as in `folds.py`. The bits are those of `docs/order.md`: blocks have the size they have there.
"""

from __future__ import annotations

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, NestKernels, Scaffold
from accel.backends.opencl.code.writer import ZEROS, Writer
from accel.backends.opencl.loops.flat import flat as flat_loops
from accel.backends.opencl.loops.join import Held, Partials, join, partials
from accel.backends.opencl.loops.rows import around
from accel.backends.opencl.loops.sequential import ONE
from accel.ir import mentions
from accel.ir.nodes import LoopBody, State
from accel.ir.slices import needed_alone, needed_for
from accel.schedule.legality import is_repeatable
from accel.schedule.nodes import Schedule

EXACT_BLOCK = 1024
"""Elements of a block where the schedule leaves it open, because no order shows."""


def chained_blocks(scaffold: Scaffold, schedule: Schedule) -> NestKernels:
    """The nest's kernels: two for each round, the blocks themselves, then the join."""
    return _Chain(scaffold, schedule).kernels()


class _Chain:
    def __init__(self, scaffold: Scaffold, schedule: Schedule) -> None:
        self._scaffold = scaffold
        self._flat = flat = flat_loops(scaffold.nest, schedule.pieces[0].axis)
        states = flat.loops[0].states
        self._chain = [[state for state in states if state.name in names] for names in schedule.rounds]
        self._steps = {each.state.name: each.step for each in schedule.carried}
        (size,) = schedule.pieces[0].inside
        self._block = size if isinstance(size, int) else EXACT_BLOCK
        running = {state.name for group in self._chain for state in group}
        count = Amount(flat.extents, self._block, least=1)
        self._ends = partials(scaffold, states, count)
        after = Amount(flat.extents, self._block, more=1)
        self._carries = partials(scaffold, [state for state in states if state.name in running], after)

    def kernels(self) -> NestKernels:
        for number, group in enumerate(self._chain):
            self._totals(number, group)
            self._carry(number, group)
        self._replay()
        types, ends = self._scaffold.types, self._ends
        folds = [state for state in self._flat.loops[0].states if state.name not in self._carries]
        folded = [Held(each, types[each.name], ends[each.name].values, ends[each.name].some) for each in folds]
        finals = {name: f"{carry.values}[blocks]" for name, carry in self._carries.items()}
        join(self._scaffold, around(self._scaffold.nest), self._flat, self._block, folded, finals)
        return self._scaffold.done("blocks in chain")

    def _totals(self, number: int, group: list[State]) -> None:
        """What each block adds to the states of one round."""
        body = self._body([self._steps[state.name] for state in group])
        self._run(body, group)
        self._add(f"totals{number}", body)

    def _carry(self, number: int, group: list[State]) -> None:
        """The value before each block, and at the end: one work-item, since the order is a left fold's."""
        body = Body(
            Writer(), self._scaffold.context, dict(self._scaffold.types), only=needed_for(self._scaffold.nest, group)
        )
        writer = body.writer
        body.statements([s for s in self._scaffold.nest.body.before if is_repeatable(s)])
        writer.line(f"const position_t blocks = {self._blocks};")
        for state in group:
            kind, end, carry = body.types[state.name], self._ends[state.name], self._carries[state.name]
            seed, value = body.seed(state), writer.fresh("carry")
            writer.line(f"{kind.name} {value} = {seed or ZEROS};")
            writer.line(f"int {value}_some = {int(seed is not None)};")
            with writer.block("for (position_t b = 0; b < blocks; ++b)"):
                _keep(writer, carry, "b", value)
                with writer.block(f"if ({end.some}[b])"):
                    merged = kind.merge(value, f"{end.values}[b]")
                    writer.line(f"{value} = {value}_some ? {merged} : {end.values}[b];")
                    writer.line(f"{value}_some = 1;")
            _keep(writer, carry, "blocks", value)
        self._scaffold.kernel(f"carry{number}", writer.text, ONE, group=1)

    def _replay(self) -> None:
        """The loop itself, block by block: stores, and partial results of folds."""
        nest = self._scaffold.nest
        outside = {id(statement) for statement in (*nest.body.before, *nest.body.after)}
        folds = [s for s in self._flat.loops[0].states if s.name not in self._carries]
        roots: list[LoopBody] = [self._steps[state.name] for state in folds]
        roots += [statement for statement in mentions.stores(nest) if id(statement) not in outside]
        body = self._body(roots)
        self._run(body, folds)
        self._add("blocks", body)

    @property
    def _blocks(self) -> str:
        return f"({self._flat.total} + {self._block - 1}) / {self._block}"

    def _body(self, roots: list[LoopBody]) -> Body:
        scaffold = self._scaffold
        needed = needed_alone(scaffold.nest, roots)
        return Body(Writer(), scaffold.context, dict(scaffold.types), only=needed, atomic=True)

    def _run(self, body: Body, group: list[State]) -> None:
        """One block: states of earlier rounds are resumed, those of `group` begin anew and leave what they have."""
        writer, flat = body.writer, self._flat
        mine = {state.name for state in group}
        writer.line("const position_t block = get_global_id(0);")
        body.statements([s for s in self._scaffold.nest.body.before if is_repeatable(s)])
        with writer.block(f"if (block < {self._blocks})"):
            for state in flat.loops[0].states:
                if state.name in mine:
                    body.accumulator(state).begin(writer, None)
                elif body.wants(self._steps[state.name]):
                    carry = self._carries[state.name]
                    body.accumulator(state).resume(writer, f"{carry.values}[block]", f"{carry.some}[block]")
            writer.line(f"const position_t stop = min((block + 1) * (position_t){self._block}, {flat.total});")
            with writer.block(f"for (position_t item = block * {self._block}; item < stop; ++item)"):
                flat.enter(body, "item")
                body.level(flat.body)
            for state in group:
                accumulator, end = body.accumulators[state.name], self._ends[state.name]
                writer.line(f"{end.some}[block] = {accumulator.counted};")
                writer.line(f"{end.values}[block] = {accumulator.total(writer, None)};")

    def _add(self, purpose: str, body: Body) -> None:
        self._scaffold.kernel(purpose, body.writer.text, Amount(self._flat.extents, self._block), serial=True)


def _keep(writer: Writer, carry: Partials, place: str, value: str) -> None:
    writer.line(f"{carry.values}[{place}] = {value};")
    writer.line(f"{carry.some}[{place}] = {value}_some;")
