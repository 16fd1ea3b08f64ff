"""Loops whose states are read while they run, by work-groups: each scans a block in its local memory, stretch by stretch.

In: a nest, and the schedule that says which axis is cut into blocks and how long a stretch is. Out: the kernels. As in
`scans.py`, first each block finds what it adds to running states, round by round; then these totals are carried through the
blocks (`carries.py`); then every block runs again and writes. A stretch runs in phases, one for each round and one that writes:
in each, work-items compute what stands beside them, so that neighbours read neighbours, and leave the elements of states in
local memory; the group scans them; the next phase reads results and computes again what else it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import GROUP_NUMBER, Amount, Choice, NestKernels, Scaffold
from accel.backends.opencl.code.states import Machine
from accel.backends.opencl.code.tally import Tally
from accel.backends.opencl.code.writer import ZEROS, Writer
from accel.backends.opencl.loops.flat import Flat, divided
from accel.backends.opencl.loops.gpu.block_groups import Groups, join_parts
from accel.backends.opencl.loops.gpu.chains.block_states import BlockStates
from accel.backends.opencl.loops.gpu.chains.carries import Carries, carry
from accel.backends.opencl.loops.gpu.chains.gpu_carries import always_carried
from accel.backends.opencl.loops.gpu.chains.look_back import looking_back
from accel.backends.opencl.loops.gpu.chains.packed import Packed, packed
from accel.backends.opencl.loops.gpu.chains.stretches import LaneFold
from accel.backends.opencl.loops.gpu.chains.tallied_shares import Shares, room_for_shares
from accel.backends.opencl.loops.gpu.places import Places
from accel.backends.opencl.loops.join import Held, Partials, join, partials
from accel.backends.opencl.loops.rows import Rows
from accel.ir import mentions
from accel.ir.flow import needed, state_needs
from accel.ir.nodes import LoopBody, ManyToOne, State, Stream
from accel.ir.slices import backward_slice
from accel.labelled.meaning.order import BLOCK, SCAN_VECTOR
from accel.schedule.nodes import Schedule
from accel.schedule.templates.gpu.chains import is_tally
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class _Phase:
    """Some statements in every iteration of a stretch. `states`: whose elements they leave; `reads`: those scanned before."""

    only: frozenset[int]
    states: tuple[State, ...]
    reads: tuple[State, ...]


def chain_in_groups(
    scaffold: Scaffold, rows: Rows, flat: Flat, schedule: Schedule, at: int, when: Choice | None = None
) -> NestKernels:
    """The nest's kernels, piece `at` of whose schedule are blocks: totals and carries for each round, the blocks, the join."""
    return _GroupChain(scaffold, rows, flat, schedule, at, when).kernels()


class _GroupChain:
    def __init__(
        self, scaffold: Scaffold, rows: Rows, flat: Flat, schedule: Schedule, at: int, when: Choice | None
    ) -> None:
        self._scaffold, self._rows, self._flat, self._when = scaffold, rows, flat, when
        (stretch,) = schedule.pieces[at + 1].inside
        assert isinstance(stretch, int)
        self._stretch = stretch
        states = flat.loops[0].states
        self._rounds = [[state for state in states if state.name in names] for names in schedule.rounds]
        self._steps: dict[str, ManyToOne] = {each.state.name: each.step for each in schedule.carried}
        self._tallies = frozenset(each.state.name for each in schedule.carried if is_tally(each))
        running = {state.name for group in self._rounds for state in group}
        # Where some elements are left out, what a processor guesses is often wrong, so its vectors serve better.
        some = any(self._steps[name].when is not None for name in running)
        self._together = scaffold.context.features.together and not some
        self._folds = [state for state in states if state.name not in running]
        features = scaffold.context.features
        alone = len(self._rounds) == 1 and self._tallies == running and all(s.monoid.exact for s in self._folds)
        back = alone and len(running) == 1 and features.look_back and not rows.outer and stretch == BLOCK
        back = back and len(self._phases(1, self._roots(), ())) > 1  # somebody asks what stands before an element
        # What the last block of a row comes to is asked for behind the loop alone: in rows of one block by nobody else.
        among = rows.outer is not None and not rows.once_each and not features.together
        self._several = (Choice(flat.extents, BLOCK + 1, below=False),) if among else ()
        blocks = Amount(flat.extents, BLOCK, rows.extents, least=1, needed=flat.needed)
        self._back = looking_back(scaffold, rows, flat, self._rounds[0][0], blocks) if back else None
        self._ends = partials(scaffold, self._folds if back else states, blocks)
        carried = [] if back else [state for group in self._rounds for state in group]
        self._carries = {state.name: self._carried(state, blocks) for state in carried}
        self._shares = self._in_shares() if alone and features.together else None
        tallied = alone and len(running) == 1 and stretch == BLOCK and not features.together
        self._packed = self._pack(self._rounds[0][0]) if tallied else None

    def _carried(self, state: State, blocks: Amount) -> Carries:
        """New buffers for what stands before blocks, and behind rows."""
        scaffold, kind = self._scaffold, self._scaffold.types[state.name]
        if always_carried(kind, scaffold.context.features):
            before = Partials(scaffold.temporary("values", kind.name, kind.bytes, blocks), "")
        else:
            (before,) = partials(scaffold, [state], blocks).values()
        row = Amount(self._rows.extents, least=1)
        return Carries(before, scaffold.temporary("final", kind.name, kind.bytes, row))

    def _in_shares(self) -> Shares:
        """Tallies that a processor counts: each work-item has a share of the block."""
        tallies = tuple((s, room_for_shares(self._scaffold, self._rows, self._flat)) for s in self._rounds[0])
        return Shares(self._scaffold, self._rows, self._flat, tallies, self._steps, self._place, self._when)

    def _pack(self, state: State) -> Packed | None:
        """What is stored where the tally stands, if that can be packed."""
        only, nest = self._phases(1, self._roots(), ())[-1].only, self._scaffold.nest
        statements = [statement for statement in mentions.statements(nest) if id(statement) in only]
        states = [each for each in mentions.states(nest) if id(each) in only]
        return packed(self._steps[state.name], state, statements, states)

    def kernels(self) -> NestKernels:
        if self._back is not None:
            self._back.prepare()
            self._replay()
            self._join()
            return self._scaffold.done("blocks in chain, each scanned by a work-group that looks back")
        for number, group in enumerate(self._rounds):
            self._totals(number, group)
            for place, state in enumerate(group):
                ends, carries = self._ends[state.name], self._carries[state.name]
                name = f"carry{number}_{place}"
                carry(self._scaffold, self._rows, self._flat, state, ends, carries, name, self._when)
        self._replay()
        self._join()
        return self._scaffold.done("blocks in chain, each scanned by a work-group")

    def _join(self) -> None:
        """What stands behind the loop: folds of blocks join in local memory."""
        finals = {name: f"{each.final}[row]" for name, each in self._carries.items()}
        if self._back is not None:
            finals[self._back.state.name] = f"{self._back.final}[0]"
        if not self._folds:
            join(self._scaffold, self._rows, self._flat, BLOCK, [], finals, self._when)
        elif self._rows.once_each:
            ends = [(state, self._ends[state.name]) for state in self._folds]
            places = Places(tuple(Held(s, self._scaffold.types[s.name], at.values, at.some) for s, at in ends))
            join_parts(self._scaffold, Groups(self._rows, self._flat, 1), places, self._when, finals)

    # Which statements run in which phase.

    def _slice(self, roots: Sequence[LoopBody], known: Sequence[State]) -> frozenset[int]:
        """What roots need where the states `known` are there already."""
        nest, names = self._scaffold.nest, {state.name for state in known}
        statements = [s for s in mentions.statements(nest) if not isinstance(s, ManyToOne) or s.state not in names]
        states = [state for state in mentions.states(nest) if state.name not in names]
        bounds = [level.loop.extent for level in mentions.levels(nest) if level.loop]
        return backward_slice(statements, states, [*roots, *(each for each in bounds if isinstance(each, Stream))])

    def _read(self, only: frozenset[int], known: Sequence[State]) -> tuple[State, ...]:
        """Which of these states statements read while they run."""
        nest = self._scaffold.nest
        used = {stream for s in mentions.statements(nest) if id(s) in only for stream in needed(s)}
        used |= {stream for state in mentions.states(nest) if id(state) in only for stream in state_needs(state)}
        return tuple(
            state
            for state in known
            if not used.isdisjoint((*self._steps[state.name].before, *self._steps[state.name].after))
        )

    def _phases(self, round_: int, roots: Sequence[LoopBody], states: Sequence[State]) -> list[_Phase]:
        """Those that lead to the roots, which all rounds before `round_` precede; the last one leaves elements of `states`."""
        known = [state for group in self._rounds[:round_] for state in group]
        only = self._slice(roots, known)
        phases = [_Phase(only, tuple(states), self._read(only, known))]
        wanted = {state.name for state in phases[0].reads}
        for number in range(round_ - 1, -1, -1):
            mine = [state for state in self._rounds[number] if state.name in wanted]
            if mine:
                known = [state for group in self._rounds[:number] for state in group]
                only = self._slice([self._steps[state.name] for state in mine], known)
                phases.insert(0, _Phase(only, tuple(mine), self._read(only, known)))
                wanted.update(state.name for state in phases[0].reads)
        return phases

    # Kernels.

    def _totals(self, number: int, group: list[State]) -> None:
        """What each block adds to the states of one round. In no order these are folds."""
        exact = [state for state in group if state.monoid.exact]
        ordered = [state for state in group if not state.monoid.exact]
        steps = [self._steps[state.name] for state in group]
        if self._shares is not None:
            self._shares.count(f"totals{number}", self._slice(steps, ()), self._ends)
            return
        self._kernel(f"totals{number}", self._phases(number, steps, ordered), exact, ordered, self._several)

    def _replay(self) -> None:
        """The loop itself, block by block: stores, and partial results of folds."""
        roots = self._roots()
        if self._shares is not None:
            roots += [self._steps[state.name] for state in self._rounds[0]]
            carried = {name: each.before for name, each in self._carries.items()}
            self._shares.run(self._slice(roots, ()), carried, self._folds, self._ends)
            return
        self._kernel("blocks", self._phases(len(self._rounds), roots, ()), self._folds, summed=())

    def _roots(self) -> list[LoopBody]:
        """What blocks are there for: stores, and the steps of folds."""
        outside = {id(statement) for statement in (*self._rows.once_each, *self._rows.once)}
        stores = [s for s in mentions.stores(self._scaffold.nest) if id(s) not in outside]
        return [*(self._steps[state.name] for state in self._folds), *stores]

    def _kernel(
        self,
        purpose: str,
        phases: list[_Phase],
        folds: Sequence[State],
        summed: Sequence[State],
        only: tuple[Choice, ...] = (),
    ) -> None:
        """One block in each group: what it comes to for `folds`, and for the running states `summed`, is left. `only`: further
        conditions of its launch."""
        writer, scaffold, rows, flat = Writer(), self._scaffold, self._rows, self._flat
        states = [state for phase in phases for state in phase.states]
        block = BlockStates(writer, scaffold, self._steps, self._tallies, self._stretch, states, folds)
        block.declare(summed)
        packs = self._packed if len(phases) > 1 else None
        if packs is not None:
            packs.declare(writer)
        place = self._place if self._back is None else self._back.place
        place(writer)
        bodies = [self._body(writer, phase.only) for phase in phases]
        if packs is not None:
            bodies[-1].near = packs.near(_tally(block, states))
            phases[-1] = replace(phases[-1], reads=())
        rows.enter(self._body(writer, frozenset[int]().union(*(phase.only for phase in phases))))
        for state in states:
            if self._back is not None:
                self._back.begin(bodies[-1], block.shared[state.name])
            else:
                block.begin(state, None if state in summed else self._carries[state.name].before)
        block.begin_folds(bodies[-1])
        writer.line(f"const position_t begin = block * (position_t){BLOCK};")
        writer.line(f"const position_t stop = min(begin + (position_t){BLOCK}, {flat.total});")
        with writer.block(f"for (position_t base = begin; base < stop; base += {self._stretch})"):
            writer.line(f"const int count = (int)min((position_t){self._stretch}, stop - base);")
            for phase, body in zip(phases, bodies, strict=True):
                self._gather(block, phase, body, () if phase is not phases[-1] else block.lanes)
                block.scan(phase.states, summed)
                if self._back is not None and phase.states:
                    self._back.leave(writer, _tally(block, phase.states))
                    if packs is None:
                        self._find(writer, block, phase.states)
            if packs is not None:
                if self._back is not None:
                    self._find(writer, block, states)
                packs.copy(writer, _tally(block, states))
            block.end_stretch(summed)
        block.end(bodies[-1], summed, self._ends)
        items = Amount(flat.extents, BLOCK, rows.extents, block.items, needed=flat.needed)
        when = only if self._when is None else (self._when, *only)
        scaffold.kernel(purpose, writer.text, items, group=block.items, serial=self._together, when=when)

    def _find(self, writer: Writer, block: BlockStates, states: Sequence[State]) -> None:
        """Look back for what stands before the block of the state that is a tally."""
        assert self._back is not None, "only then there is somebody to ask"
        (state,) = states
        self._back.find(writer, _tally(block, states), partial(self._counted, writer, state))

    def _counted(self, writer: Writer, state: State, block: str) -> str:
        """Count the elements of a block that are this work-item's; the variable that holds how many."""
        body = self._body(writer, self._slice([self._steps[state.name]], ()))
        tally = body.accumulator(state, Machine.PLAIN)
        tally.begin(writer, f"({self._scaffold.types[state.name].name}){ZEROS}")
        writer.line(f"const position_t end = min({block} * (position_t){BLOCK} + {BLOCK}, {self._flat.total});")
        with writer.block(f"for (position_t item = {block} * {BLOCK} + lane; item < end; item += get_local_size(0))"):
            self._flat.enter(body, "item")
            body.level(self._flat.body)
        return f"{tally.variable}.f0"

    def _place(self, writer: Writer) -> None:
        """Which block of which row a group has."""
        writer.line("const int lane = get_local_id(0);")
        writer.line(f"const position_t place = {GROUP_NUMBER};")
        if self._rows.outer:
            writer.line(f"const position_t blocks = ({self._flat.total} + {BLOCK - 1}) / {BLOCK};")
            row, block = divided(self._scaffold.context, "place", "blocks")
            writer.line(f"const position_t row = {row}, block = {block};")
        else:
            writer.line("const position_t block = place;")

    def _visit(self, writer: Writer, items: int, apart: bool, visited: Callable[[bool], None]) -> None:
        """Loop over the elements `at` of a stretch that a work-item brings and reads: those of its own vector, or one in each
        `row`, where its neighbours have those beside. `visited` writes what is done, and is told whether all are there: a
        processor is faster where it need not ask for each, and (`apart`) a GPU loads elements of several rows at once."""
        if self._together:
            for head, all_there in ((f"if (lane * {SCAN_VECTOR} + {SCAN_VECTOR} <= count)", True), ("else", False)):
                with writer.block(head), writer.block(f"for (int k = 0; k < {SCAN_VECTOR}; ++k)"):
                    writer.line(f"const int at = lane * {SCAN_VECTOR} + k;")
                    visited(all_there)
            return
        wholes = [("", False)]
        if apart:
            wholes = [(f"if (count == {self._stretch})", True), ("else", False)]
        for head, all_there in wholes:
            rows = writer.block(f"for (int row = 0; row < {self._stretch}; row += {items})")
            with writer.block(head) if head else nullcontext(), rows:
                writer.line("const int at = row + lane;")
                visited(all_there)

    def _body(self, writer: Writer, only: frozenset[int]) -> Body:
        return Body(writer, self._scaffold.context, dict(self._scaffold.types), only=only, atomic=True)

    def _gather(self, block: BlockStates, phase: _Phase, body: Body, lanes: Sequence[LaneFold]) -> None:
        """One phase in all iterations of a stretch. Neighbouring work-items have neighbouring ones."""
        writer, flat = body.writer, self._flat
        left = [*phase.states, *(each.made.state for each in lanes)]
        for present in block.presents(left):
            present.begin(writer)
        if block.presents(left):
            writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
        for state in left:
            block.deposit(body, state)

        shared = [block.shared[state.name] for state in phase.states]
        tallied = any(isinstance(each, Tally) for each in block.shared.values())
        apart = tallied and not self._scaffold.context.features.together

        def visited(all_there: bool) -> None:
            if not all_there or apart:
                for each in shared:
                    each.clear(writer, "at")
            with writer.block("" if all_there else "if (at < count)"):
                writer.line("const position_t item = base + at;")
                flat.enter(body, "item")
                for state in phase.reads:
                    block.bind(body, state)
                body.level(flat.body)
            for each in shared:
                each.settle(writer, "at")

        self._visit(writer, block.items, apart, visited)
        for present in block.presents(left):
            present.end(writer)
        if left:
            writer.line("barrier(CLK_LOCAL_MEM_FENCE);")


def _tally(block: BlockStates, states: Sequence[State]) -> Tally:
    """That of a block whose only running state is one."""
    (state,) = states
    found = block.shared[state.name]
    assert isinstance(found, Tally), "blocks that are tallied as a whole have no other state"
    return found
