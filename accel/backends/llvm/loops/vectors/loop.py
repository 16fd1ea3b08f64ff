"""Writes an innermost loop in vectors: groups written side by side, then what is left under masks.

The order of folds and scans is the reference's whatever the loop's length: a loop with ordered states runs in blocks of
4096 from multiples of it, every block in groups of vectors from its start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.steps import Part, Steps
from accel.backends.llvm.loops.vectors.edges import Edges
from accel.backends.llvm.loops.vectors.parts import RowPart
from accel.backends.llvm.loops.vectors.pieces import Cuts
from accel.backends.llvm.loops.vectors.vector import Vectors
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.accumulators import Accumulator, ExactFold, OrderedFold, Tools, Unit
from accel.backends.llvm.states.analysis import PhasePlan, VectorPlan, counts_lanes, is_read
from accel.backends.llvm.states.exact_scans import ExactScan
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.states.scans import OrderedScan, Position, ScanTotal
from accel.backends.llvm.states.staging import StagedFold
from accel.ir.nodes import For, LoopBody, ManyToOne, Within, Write
from accel.labelled.meaning.order import BLOCK, SCAN_VECTOR
from accel.schedule.legality import any_order
from accel.schedule.splitting.phases import STRIP, Phase

FEW_LANES = 16
"""Of vectors up to which the edges of a loop are scalar code, where masked stores are slow."""


class VectorLoop:
    """One loop of one function. `records` are those of all states in scope, with their addresses.

    `carried`: states that go on from one run of the loop, or of a part of it, to the next; the others begin and end with each.
    `steps`: where a loop that is inside of another runs from its first iteration to its last: in these.
    """

    def __init__(
        self,
        loop: For,
        plan: VectorPlan,
        outer: Memory,
        streams: Streams,
        records: dict[str, tuple[Record, str]],
        carried: Collection[str] = (),
        steps: Steps | None = None,
    ) -> None:
        self._loop = loop
        self._in_steps = steps
        self._plan = plan
        self._carried = carried
        self._routine = outer.routine
        self._writer = Writer(self._routine.code, plan.lanes)
        self._memory = outer.with_writer(self._writer)
        self._outer = streams
        self._scalar = Functions(Writer(self._routine.code, 1), outer)
        self._tools = self._tools_of(self._writer, self._memory)
        self._statements: list[LoopBody] = [*loop.body.before, *loop.body.after]
        whole = PhasePlan(Phase(tuple(self._statements), (), ()), plan.lanes, plan.unroll)
        self._phases = plan.phases or (whole,)
        self._steps = {s.state: s for s in self._statements if isinstance(s, ManyToOne)}
        self._accumulators = {name: self._accumulator(*records[name], step) for name, step in self._steps.items()}
        self._vectors = Vectors(loop, plan, self._phases, outer, streams, self._accumulators)
        self._cuts = None if plan.cut is None else Cuts(loop, plan.cut, self._vectors, outer, streams)
        self._edges = None if plan.inside is None else Edges(loop, plan.inside, self._vectors, streams)

    def _accumulator(self, record: Record, pointer: str, step: ManyToOne) -> Accumulator:
        state, tools = record.state, self._tools
        if not state.running:
            if state.name in self._plan.staged:
                return StagedFold(tools, self._memory, record, pointer, whole=step.when is None)
            if any_order(state):
                return ExactFold(tools, record, pointer, self._plan.unroll, repeated=state.name in self._carried)
            return OrderedFold(tools, record, pointer, self._plan.unroll)
        if counts_lanes(state, step):
            return Position(tools, record, pointer, bool(step.after))
        if any_order(state):
            return ExactScan(tools, record, pointer)
        if self._plan.lanes == SCAN_VECTOR and not is_read(step):
            return ScanTotal(tools, record, pointer, self._scalar)
        part = Writer(self._routine.code, SCAN_VECTOR)
        return OrderedScan(tools, self._tools_of(part, self._memory.with_writer(part)), record, pointer)

    def _tools_of(self, writer: Writer, memory: Memory) -> Tools:
        return Tools(self._routine, writer, Functions(writer, memory))

    @contextmanager
    def runs(self) -> Iterator[Part]:
        """Around the writing of what may run several times."""
        carried = [self._accumulators[name] for name in self._carried]
        for accumulator in carried:
            accumulator.begin()
        yield self.write
        for accumulator in carried:
            accumulator.end()

    def write(self, low: str, high: str, extent: str) -> None:
        """Iterations low .. high-1 of a loop of `extent`, counted in the order in which it runs."""
        with self._routine.code.loop():
            self._write(low, high, extent)

    def _write(self, low: str, high: str, extent: str) -> None:
        own = [each for name, each in self._accumulators.items() if name not in self._carried]
        bounds = {guard: self._count(prefix, extent) for guard, prefix in self._plan.prefixes.items()}
        self._vectors.begin_row(low, high, moves=self._moves())
        for accumulator in own:
            accumulator.begin()
        if self._plan.blocks:
            with self._routine.count(low, high, BLOCK) as start:
                end = self._routine.least(self._routine.code.emit(f"add i64 {start}, {BLOCK}"), high)
                self._block(start, end, extent, bounds)
                if self._in_steps is not None:
                    self._in_steps.between_blocks(start)
        else:
            whole = nullcontext((low, high))
            with self._in_steps.parts(self._loop, low, high) if self._in_steps is not None else whole as (start, end):
                self._block(start, end, extent, bounds)
        for accumulator in own:
            accumulator.end()
        self._vectors.end_row()

    def _block(self, start: str, end: str, extent: str, bounds: Mapping[str, str]) -> None:
        routine, code = self._routine, self._routine.code
        for accumulator in self._accumulators.values():
            accumulator.begin_block()
        full = end
        for limit in bounds.values():
            full = routine.least(full, limit)
        if self._plan.phases:
            with routine.count(start, end, STRIP) as low:
                high = routine.least(code.emit(f"add i64 {low}, {STRIP}"), end)
                part = RowPart(low, high, routine.least(high, full), start, extent)
                for phase in self._phases:
                    self._part(phase, part, bounds)
        else:
            inside = None if self._edges is None else self._edges.inside(self._writer, extent)
            self._part(self._phases[0], RowPart(start, end, full, start, extent, inside), bounds)
        for name, accumulator in self._accumulators.items():
            guard = self._steps[name].when
            bound = None if guard is None else bounds.get(guard.name)
            accumulator.end_block(start, end if bound is None else routine.least(end, bound))

    def _part(self, plan: PhasePlan, part: RowPart, bounds: Mapping[str, str]) -> None:
        """Groups of vectors, written side by side, then the vectors that are left."""
        routine, code = self._routine, self._routine.code
        if self._cuts is not None:
            self._cuts.write(plan, part)
            return
        accumulators = [self._accumulators[s.state] for s in plan.phase.statements if isinstance(s, ManyToOne)]
        position = routine.slot("i64")
        routine.store("i64", part.low, position)
        if self._edges is not None and self._has_scalar_edges():
            self._edges.split_in_scalars(plan, part, position)
            return
        if self._vectors.head is not None:
            self._from_lines(plan, part, position, self._vectors.head, bounds)
            return
        self._groups(plan, part, position)
        with routine.when(code.emit(f"icmp slt i64 {routine.load('i64', position)}, {part.high}")):
            for accumulator in accumulators:
                accumulator.begin_tail()
            self._tail(plan, part, position, bounds)
            for accumulator in accumulators:
                accumulator.end_tail()

    def _has_scalar_edges(self) -> bool:
        """Whether what is before the row's inside, and behind it, is scalar code."""
        plain = not self._accumulators and not self._plan.prefixes and 4 <= self._plan.lanes <= FEW_LANES
        return self._edges is not None and plain and not host().processor.has_avx512

    def _moves(self) -> bool:
        """Whether vectors may begin anywhere in a row."""
        return not self._accumulators and not self._plan.phases and not self._has_scalar_edges()

    def _from_lines(self, plan: PhasePlan, part: RowPart, position: str, head: str, bounds: Mapping[str, str]) -> None:
        """Vectors that begin so many iterations behind the part's first. Those before them are a vector under a mask, as what
        is left in the end is, by the same code."""
        routine, code = self._routine, self._routine.code
        stop = routine.slot("i64")
        routine.store("i64", routine.least(code.emit(f"add i64 {part.low}, {head}"), part.high), stop)
        with routine.repeat() as while_:
            end = routine.load("i64", stop)
            self._tail(plan, replace(part, high=end), position, bounds)
            routine.store("i64", end, position)
            while_(code.emit(f"icmp slt i64 {end}, {part.high}"))
            self._groups(plan, part, position)
            routine.store("i64", part.high, stop)

    def _groups(self, plan: PhasePlan, part: RowPart, position: str) -> None:
        """Vectors without masks, as long as there are groups of them."""
        group = plan.lanes * plan.unroll
        if self._edges is not None and part.inside is not None:
            self._edges.split(plan, part, position, group if self._accumulators else plan.lanes)
            return
        limit = self._routine.code.emit(f"sub i64 {part.full}, {group - 1}")
        with self._routine.advance(position, limit, group) as first:
            self._vectors.side_by_side(plan, part, first, plan.unroll)

    def _tail(self, plan: PhasePlan, part: RowPart, position: str, bounds: Mapping[str, str]) -> None:
        """The vectors behind the last group, under masks."""
        routine, code, lanes = self._routine, self._routine.code, plan.lanes
        if self._has_whole_rest(plan):
            with routine.advance(position, code.emit(f"sub i64 {part.full}, {lanes - 1}"), lanes) as at:
                self._vectors.one(plan, part, Unit(at, None, part.start), None, {})
        with routine.advance(position, part.high, lanes) as at:
            mask = Writer(code, lanes).first_lanes(code.emit(f"sub i64 {part.high}, {at}"))
            self._vectors.one(plan, part, Unit(at, None, part.start), mask, bounds)

    def _has_whole_rest(self, plan: PhasePlan) -> bool:
        """Whether vectors behind a row's last group are whole but for the last, where to store some lanes takes long."""
        stores = any(isinstance(statement, Write) for statement in plan.phase.statements)
        return stores and self._in_steps is not None and plan.unroll > 1 and not host().processor.has_avx512

    def _count(self, prefix: Within, extent: str) -> str:
        """The iterations of a prefix: an i64."""
        if prefix.first:
            return self._routine.code.emit(f"sub i64 {extent}, {prefix.first}")
        return self._writer.one(self._outer.value(prefix.count))
