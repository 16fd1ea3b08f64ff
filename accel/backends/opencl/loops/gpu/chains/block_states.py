"""What the kernel of a block keeps of states while a work-group walks through it: of those that are scanned, and of folds.

In: the states of a loop. Out: lines that declare their memory, begin, scan, join and leave them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Scaffold
from accel.backends.opencl.code.shared import Shared, neutral
from accel.backends.opencl.code.states import Machine
from accel.backends.opencl.code.tally import tally
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.gpu.chains.stretches import Deposit, JoinedFold, LaneFold, Present, join_values
from accel.backends.opencl.loops.join import Partials
from accel.ir.nodes import ManyToOne, State
from accel.schedule.templates.gpu.chains import MOST_ITEMS, TALLYING_ITEMS, items_of


class BlockStates:
    """What the kernel of a block keeps of states: of those that are scanned, of exact folds, of folds in an order."""

    def __init__(
        self,
        writer: Writer,
        scaffold: Scaffold,
        steps: Mapping[str, ManyToOne],
        tallies: frozenset[str],
        stretch: int,
        scanned: Sequence[State],
        folds: Sequence[State],
    ) -> None:
        self._writer, self._steps, self._context = writer, steps, scaffold.context
        most = MOST_ITEMS if scaffold.context.features.together else TALLYING_ITEMS
        self.items = items = items_of(stretch, most)
        types = scaffold.types
        self.shared: dict[str, Shared] = {}
        for number, state in enumerate(scanned):
            shared = Shared(types[state.name], number, items, scaffold.context)
            self.shared[state.name] = tally(shared, stretch) if state.name in tallies else shared
        numbered = list(enumerate(folds))
        self.lanes = [LaneFold(types[s.name], n, items, stretch) for n, s in numbered if not s.monoid.exact]
        self._values = [
            JoinedFold(types[s.name], f"fold{n}", items, items, False) for n, s in numbered if s.monoid.exact
        ]
        ordered = [*(s for s in scanned if not s.monoid.exact), *(each.made.state for each in self.lanes)]
        guarded = [state for state in ordered if steps[state.name].when is not None]
        self._present = {state.name: Present(f"present{n}") for n, state in enumerate(guarded)}

    def declare(self, summed: Sequence[State]) -> None:
        """Declare what the group shares. `summed`: states of which only totals are found."""
        names = {state.name for state in summed}
        for name, shared in self.shared.items():
            shared.declare(self._writer, summed=name in names)
        for lanes in self.lanes:
            lanes.declare(self._writer)
        for values in self._values:
            values.declare(self._writer)
        for present in self._present.values():
            self._writer.line(f"__local int {present.name};")

    def presents(self, states: Sequence[State]) -> list[Present]:
        """Of those of the states that have no element in some iterations."""
        return [self._present[state.name] for state in states if state.name in self._present]

    def _count(self, state: State) -> str:
        """How many elements a state has in the stretch."""
        return self._present[state.name].name if state.name in self._present else "count"

    def begin(self, state: State, carried: Partials | None) -> None:
        """Begin a block of a state that is scanned: with what is carried to it, or None to find out what it comes to."""
        shared = self.shared[state.name]
        if carried is None:
            shared.begin_sum(self._writer)
        else:
            some = f"{carried.some}[place]" if carried.some else None
            shared.begin(self._writer, f"{carried.values}[place]", some)

    def begin_folds(self, body: Body) -> None:
        """Begin a block of all folds. Totals of running states begin with what is neutral, if anything is."""
        for fold in self._values:
            nothing = neutral(fold.made) if fold.made.state.running else None
            body.accumulator(fold.made.state, Machine.PLAIN).begin(self._writer, nothing)
        for lanes in self.lanes:
            lanes.begin(self._writer)

    def deposit(self, body: Body, state: State) -> None:
        """Have the statements of `body` leave the elements of a state."""
        present = self._present.get(state.name)
        reached = None if present is None else present.reached
        memory = self.shared.get(state.name) or next(each for each in self.lanes if each.made.state is state)
        deposit = Deposit(body.types[state.name], memory.elements, memory.put, reached, self._context)
        body.accumulators[state.name] = deposit
        deposit.begin(self._writer, None)

    def bind(self, body: Body, state: State) -> None:
        """Bind what a state is before and after the step of iteration `at`."""
        step, shared = self._steps[state.name], self.shared[state.name]
        last = f"min(at, {self._count(state)})" if state.name in self._present else "at"
        for streams, read, place in ((step.before, shared.ahead, last), (step.after, shared.after, "at")):
            if streams:
                value = self._writer.fresh("reached")
                self._writer.line(f"const {shared.made.name} {value} = {read(place)};")
                body.bind(streams, value)

    def scan(self, states: Sequence[State], summed: Sequence[State]) -> None:
        """Scan what work-items have left, or only find what it comes to."""
        for state in states:
            shared = self.shared[state.name]
            (shared.sum if state in summed else shared.scan)(self._writer, self._count(state))

    def end_stretch(self, summed: Sequence[State]) -> None:
        """Take the elements of folds, and leave the stretch."""
        for lanes in self.lanes:
            lanes.follow(self._writer, self._count(lanes.made.state))
        for name, shared in self.shared.items():
            if name not in {state.name for state in summed}:
                shared.leave(self._writer)
        if self.shared or self.lanes:
            self._writer.line("barrier(CLK_LOCAL_MEM_FENCE);")

    def end(self, body: Body, summed: Sequence[State], ends: Mapping[str, Partials]) -> None:
        """Join lanes, and leave what the block comes to."""
        join_values(self._writer, [(fold, body.accumulators[fold.made.state.name]) for fold in self._values])
        for fold in (*self._values, *(each.joined for each in self.lanes)):
            fold.join(self._writer, ends[fold.made.state.name])
        for state in summed:
            self.shared[state.name].end_sum(self._writer, ends[state.name].values, ends[state.name].some)
