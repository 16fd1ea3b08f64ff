"""Writes an innermost loop in vectors: groups written side by side, then what is left under masks.

The order of folds and scans is the reference's whatever the loop's length: a loop with ordered states runs in blocks of
4096 from multiples of it, every block in groups of vectors from its start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import NoReturn

from accel.ast.tree.types import BOOL, I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import TRUE, Statements, Streams
from accel.backends.llvm.emit.values import Lanes, Progression, Uniform, Value, Writer
from accel.backends.llvm.loops.row_parts import RowPart, last_vectors, may_repeat, narrower, own_end, row_inside
from accel.backends.llvm.loops.steps import Part, Steps
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.accumulators import Accumulator, ExactFold, OrderedFold, Tools, Unit
from accel.backends.llvm.states.analysis import PhasePlan, VectorPlan, counts_lanes, is_read
from accel.backends.llvm.states.exact_scans import ExactScan
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.states.scans import OrderedScan, Position, ScanTotal
from accel.backends.llvm.states.staging import StagedFold
from accel.backends.llvm.text.code import memory_type
from accel.ir import flow
from accel.ir.nodes import (
    For,
    LoopBody,
    LoopDirection,
    ManyToOne,
    Stream,
    Within,
    Write,
)
from accel.labelled.array import Array
from accel.labelled.meaning.order import BLOCK, SCAN_VECTOR
from accel.schedule.legality import any_order
from accel.schedule.phases import STRIP, Phase

FEW_LANES = 16
"""Of vectors up to which the edges of a loop are scalar code, where masked stores are slow."""

LONG = 256
"""Iterations from which on such a loop's vectors, but for the first, begin where a quarter of one does: stores are aligned."""

SLACK = 64
"""Elements of what phases keep behind a strip: the last vector may begin with the strip's last iteration."""


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
        self._outer_memory = outer
        self._tools = self._tools_of(self._writer, self._memory)
        self._statements: list[LoopBody] = [*loop.body.before, *loop.body.after]
        whole = PhasePlan(Phase(tuple(self._statements), (), ()), plan.lanes, plan.unroll)
        self._phases = plan.phases or (whole,)
        widths = {lanes for each in self._phases for lanes in (each.lanes, *narrower(each.lanes))}
        self._writers = {lanes: Writer(self._routine.code, lanes) for lanes in widths}
        self._memories = {lanes: outer.with_writer(writer) for lanes, writer in self._writers.items()}
        self._steps = {s.state: s for s in self._statements if isinstance(s, ManyToOne)}
        self._past_caches: dict[Array, str] = {}
        self._accumulators = {name: self._accumulator(*records[name], step) for name, step in self._steps.items()}
        self._strips = {
            stream.name: self._routine.slot(f"[{STRIP + SLACK} x {memory_type(stream.type)}]", align=64)
            for each in self._phases
            for stream in each.phase.keeps
        }

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
        self._past_caches = self._rows_past_caches(low)
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
        for past in self._past_caches.values():
            with self._routine.when(past):
                self._memory.finish_past_caches()

    def _rows_past_caches(self, low: str) -> dict[Array, str]:
        """For arrays written at the loop's own index, whether their vectors may be stored past the caches: an i1."""
        rows: dict[Array, str] = {}
        made = {stream.name for statement in self._statements for stream in flow.made(statement)} | {
            self._loop.index.name
        }
        for statement in self._statements:
            if (
                not isinstance(statement, Write)
                or statement.when is not None
                or self._loop.direction is not LoopDirection.UP
                or self._memory.view.is_moved(statement.array)
            ):
                continue
            *outer, last = statement.index or (None,)
            if last == self._loop.index and not any(isinstance(o, Stream) and o.name in made for o in outer):
                index = [self._outer.value(operand) for operand in outer if operand is not None]
                rows[statement.array] = self._memory.goes_past_caches(statement.array, [*index, Uniform(low, I64)])
        return rows

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
            self._part(self._phases[0], RowPart(start, end, full, start, extent, self._inside(extent)), bounds)
        for name, accumulator in self._accumulators.items():
            guard = self._steps[name].when
            bound = None if guard is None else bounds.get(guard.name)
            accumulator.end_block(start, end if bound is None else routine.least(end, bound))

    def _inside(self, extent: str) -> tuple[str, str] | None:
        if self._plan.inside is None:
            return None
        return row_inside(self._plan.inside, self._loop, self._outer, self._writer, extent)

    def _split(self, plan: PhasePlan, part: RowPart, position: str, step: int) -> None:
        """All but the last vectors of a part: an edge, the inside, and the rest, which is the other edge or a row at an edge.

        Without states the edges are as short as vectors are; groups stay where they are for those that have some.
        """
        routine, code, lanes = self._routine, self._routine.code, plan.lanes
        assert part.inside is not None
        assert self._plan.inside is not None
        first, end = part.inside
        group = lanes * plan.unroll
        last = code.emit(f"sub i64 {part.full}, {step - 1}")
        if first != "0":
            with routine.advance(position, routine.least(first, last), step) as at:
                self._group(plan, part, at, step // lanes)
        end = routine.least(part.full, end)
        inner = replace(plan, phase=replace(plan.phase, statements=self._plan.inside.statements))
        for width in dict.fromkeys((group, step)):
            with routine.advance(position, code.emit(f"sub i64 {end}, {width - 1}"), width) as at:
                self._group(inner, part, at, width // lanes)
        with routine.advance(position, last, step) as at:
            self._group(plan, part, at, step // lanes)

    def _split_in_scalars(self, plan: PhasePlan, part: RowPart, position: str) -> None:
        """All of a part without states, in scalar code but for the inside's vectors, which begin where the inside does. Of long
        rows the last ends with it, else narrower ones follow: a vector of an edge would be gathers, or come under a mask.

        Edges are vectors all the same of rows that are stored past the caches: a line of these is stored at once.
        """
        routine, code, lanes = self._routine, self._routine.code, plan.lanes
        assert part.inside is not None
        assert self._plan.inside is not None
        first, end = part.inside
        last, vectors = code.emit(f"sub i64 {part.full}, {lanes - 1}"), "false"
        for past in self._past_caches.values():
            vectors = code.emit(f"or i1 {vectors}, {past}")
        if vectors != "false":
            before = code.emit(f"select i1 {vectors}, i64 {routine.least(first, last)}, i64 0")
            with routine.advance(position, before, lanes) as at:
                self._group(plan, part, at, 1)
        self._one_by_one(part, position, routine.least(first, part.high))
        stop = routine.least(part.full, end)
        inner = replace(plan, phase=replace(plan.phase, statements=self._plan.inside.statements))
        low, group = routine.slot("i64"), lanes * plan.unroll
        far = code.emit(f"icmp sge i64 {part.extent}, {LONG}")
        long = code.emit(f"select i1 {vectors}, i1 false, i1 {far}") if may_repeat(self._statements) else "false"
        with routine.when(long):
            self._begin_aligned(inner, part, position, stop)
            routine.store("i64", routine.load("i64", position), low)
        if group > lanes:
            with routine.advance(position, code.emit(f"sub i64 {stop}, {group - 1}"), group) as at:
                self._group(inner, part, at, plan.unroll)
        with routine.when(long):
            begin = last_vectors(code, routine.load("i64", position), routine.load("i64", low), stop, lanes)
            routine.store("i64", begin, position)
        with routine.advance(position, code.emit(f"sub i64 {stop}, {lanes - 1}"), lanes) as at:
            self._group(inner, part, at, 1)
        for narrow in narrower(lanes):
            limit = code.emit(f"select i1 {vectors}, i64 0, i64 {code.emit(f'sub i64 {stop}, {narrow - 1}')}")
            with routine.advance(position, limit, narrow) as at:
                self._group(replace(inner, lanes=narrow, unroll=1), part, at, 1)
        if any(loop != self._loop for _, loop in self._plan.inside.margins):
            self._row_at_edge(plan, part, position)
        if vectors != "false":
            with routine.advance(position, code.emit(f"select i1 {vectors}, i64 {last}, i64 0"), lanes) as at:
                self._group(plan, part, at, 1)
        self._one_by_one(part, position, part.high)

    def _begin_aligned(self, inner: PhasePlan, part: RowPart, position: str, stop: str) -> None:
        """The first vector of the inside; those behind it begin with a quarter of one, and repeat some of it."""
        assert part.inside is not None
        routine, code, lanes = self._routine, self._routine.code, inner.lanes
        first, quarter = int(part.inside[0]), lanes // 4
        if first % quarter == 0:
            return
        begins = code.emit(f"icmp eq i64 {routine.load('i64', position)}, {first}")
        fits = code.emit(f"icmp sle i64 {first + lanes}, {stop}")
        with routine.when(code.emit(f"and i1 {begins}, {fits}")):
            self._group(inner, part, str(first), 1)
            routine.store("i64", str((first + lanes) // quarter * quarter), position)

    def _row_at_edge(self, plan: PhasePlan, part: RowPart, position: str) -> None:
        """The vectors of a row where loops around are at an edge, within the row's own margins: what is decided by these loops
        is a branch."""
        assert part.inside is not None
        assert self._plan.inside is not None
        code = self._routine.code
        end = own_end(self._plan.inside, self._loop, code, part.extent)
        stop = code.emit(f"sub i64 {self._routine.least(part.full, end)}, {plan.lanes - 1}")
        at_edge = code.emit(f"icmp eq i64 {part.inside[1]}, 0")
        rows = replace(plan, phase=replace(plan.phase, statements=self._plan.inside.rows))
        limit = code.emit(f"select i1 {at_edge}, i64 {stop}, i64 0")
        with self._routine.advance(position, limit, plan.lanes) as at:
            self._body(rows, part, Unit(at, None, part.start), None, {}, branches=True)

    def _one_by_one(self, part: RowPart, position: str, limit: str) -> None:
        """Iterations of a loop without states, in scalar code."""

        def step(statement: ManyToOne, values: Sequence[Value], active: str | None) -> NoReturn:
            raise AssertionError("the loop has no states")

        with self._routine.advance(position, limit, 1) as at:
            streams = Streams(self._outer_memory, dict(self._outer.made) | {self._loop.index.name: Uniform(at, I64)})
            statements = Statements(Writer(self._routine.code, 1), self._outer_memory, streams, step)
            for statement in self._statements:
                statements.branching(statement)

    def _group(self, plan: PhasePlan, part: RowPart, first: str, count: int) -> None:
        """Some vectors side by side."""
        for place in range(count):
            at = self._routine.code.emit(f"add i64 {first}, {place * plan.lanes}") if place else first
            self._body(plan, part, Unit(at, place if plan.unroll > 1 else None, part.start), None, {})

    def _part(self, plan: PhasePlan, part: RowPart, bounds: Mapping[str, str]) -> None:
        """Groups of vectors, written side by side, then the vectors that are left."""
        routine, code, lanes = self._routine, self._routine.code, plan.lanes
        accumulators = [self._accumulators[s.state] for s in plan.phase.statements if isinstance(s, ManyToOne)]
        position = routine.slot("i64")
        routine.store("i64", part.low, position)
        group = lanes * plan.unroll
        plain = not accumulators and not bounds and 4 <= lanes <= FEW_LANES
        if part.inside is not None and plain and not host().processor.has_avx512:
            self._split_in_scalars(plan, part, position)
            return
        if part.inside is not None:
            self._split(plan, part, position, group if accumulators else lanes)
        else:
            with routine.advance(position, code.emit(f"sub i64 {part.full}, {group - 1}"), group) as first:
                self._group(plan, part, first, plan.unroll)
        with routine.when(code.emit(f"icmp slt i64 {routine.load('i64', position)}, {part.high}")):
            for accumulator in accumulators:
                accumulator.begin_tail()
            if self._has_whole_rest(plan):
                with routine.advance(position, code.emit(f"sub i64 {part.full}, {lanes - 1}"), lanes) as at:
                    self._body(plan, part, Unit(at, None, part.start), None, {})
            with routine.advance(position, part.high, lanes) as at:
                mask = self._writers[lanes].first_lanes(code.emit(f"sub i64 {part.high}, {at}"))
                self._body(plan, part, Unit(at, None, part.start), mask, bounds)
            for accumulator in accumulators:
                accumulator.end_tail()

    def _has_whole_rest(self, plan: PhasePlan) -> bool:
        """Whether vectors behind a row's last group are whole but for the last, where to store some lanes takes long."""
        stores = any(isinstance(statement, Write) for statement in plan.phase.statements)
        return stores and self._in_steps is not None and plan.unroll > 1 and not host().processor.has_avx512

    def _count(self, prefix: Within, extent: str) -> str:
        """The iterations of a prefix: an i64."""
        if prefix.first:
            return self._routine.code.emit(f"sub i64 {extent}, {prefix.first}")
        return self._writer.one(self._outer.value(prefix.count))

    def _body(
        self,
        plan: PhasePlan,
        part: RowPart,
        unit: Unit,
        mask: str | None,
        bounds: Mapping[str, str],
        *,
        branches: bool = False,
    ) -> None:
        """One vector of a phase; `branches`: whether what is the same in all lanes decides by branches."""
        phase, writer, memory = plan.phase, self._writers[plan.lanes], self._memories[plan.lanes]
        made: dict[str, Value] = dict(self._outer.made)
        if self._loop.direction is LoopDirection.UP:
            made[self._loop.index.name] = Progression(unit.position, 1)
        else:
            top = self._routine.code.emit(f"sub i64 {part.extent}, 1")
            base = self._routine.code.emit(f"sub i64 {top}, {unit.position}")
            made[self._loop.index.name] = Progression(base, -1)

        def step(
            statement: ManyToOne, values: Sequence[Value], active: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            return self._accumulators[statement.state].step(values, active, unit)

        for stream in phase.loads:
            made[stream.name] = memory.load_vector(stream.type, self._kept(stream, part, unit), None)
        streams = Streams(memory, made)
        statements = Statements(writer, memory, streams, step, self._past_caches, branches=branches)
        for statement in phase.statements:
            if mask is None and isinstance(statement, Within) and statement.out.name in self._plan.prefixes:
                made[statement.out.name] = TRUE
            elif isinstance(statement, Within) and statement.out.name in bounds:
                # Indices would be compared as so many words.
                bound = self._routine.code.emit(f"sub i64 {bounds[statement.out.name]}, {unit.position}")
                made[statement.out.name] = Lanes(writer.first_lanes(bound), BOOL)
            else:
                statements.masked(statement, mask)
        for stream in phase.keeps:
            memory.store_vector(stream.type, made[stream.name], self._kept(stream, part, unit), None)

    def _kept(self, stream: Stream, part: RowPart, unit: Unit) -> str:
        """Where a vector of what phases keep stands."""
        code = self._routine.code
        place = code.emit(f"sub i64 {unit.position}, {part.low}")
        return code.emit(f"getelementptr {memory_type(stream.type)}, ptr {self._strips[stream.name]}, i64 {place}")
