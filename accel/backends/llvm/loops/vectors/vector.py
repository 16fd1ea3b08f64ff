"""Writes single vectors of an innermost loop: all its statements, or those of a phase, for the iterations in the lanes.

In: which iterations, and a mask if not all lanes have one. Out: code that steps the loop's accumulators. Nothing here decides
where vectors begin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import NoReturn

from accel.ast.tree.types import BOOL, I64
from accel.backends.llvm.emit.asked import ask_to_write
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.past_caches import RowStores
from accel.backends.llvm.emit.statements import TRUE, Statements, Streams
from accel.backends.llvm.emit.stores import Stores
from accel.backends.llvm.emit.values import Lanes, Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.vectors.parts import RowPart, narrower
from accel.backends.llvm.states.accumulators import Accumulator, Unit
from accel.backends.llvm.states.analysis import PhasePlan, VectorPlan
from accel.backends.llvm.text.code import memory_type
from accel.errors import AccelInternalError
from accel.ir import flow
from accel.ir.nodes import For, LoopBody, LoopDirection, ManyToOne, Stream, Within, Write
from accel.labelled.array import Array
from accel.schedule.splitting.phases import STRIP

SLACK = 64
"""Elements of what phases keep behind a strip: the last vector may begin with the strip's last iteration."""

LONG_ROW = 16
"""Vectors of a row from which on one under a mask comes before the others, if these are stored past the caches then."""


class Vectors:
    """The vectors of one loop, of all widths that its phases and its edges have.

    `streams`: those made outside of the loop. `accumulators`: those of its states, by name.
    """

    def __init__(
        self,
        loop: For,
        plan: VectorPlan,
        phases: Sequence[PhasePlan],
        outer: Memory,
        streams: Streams,
        accumulators: Mapping[str, Accumulator],
    ) -> None:
        self.routine = outer.routine
        self.statements: Sequence[LoopBody] = [*loop.body.before, *loop.body.after]
        self._loop = loop
        self._prefixes = plan.prefixes
        self._asks = plan.inside is None  # Neighbours are read several times, all but once from caches.
        self._outer = streams
        self._outer_memory = outer
        self._accumulators = accumulators
        widths = {lanes for each in phases for lanes in (each.lanes, *narrower(each.lanes))}
        self._writers = {lanes: Writer(self.routine.code, lanes, bends=plan.inside is None) for lanes in widths}
        self._memories = {lanes: outer.with_writer(writer) for lanes, writer in self._writers.items()}
        self._memory = outer.with_writer(Writer(self.routine.code, plan.lanes))
        # Phases may have wider vectors than the loop: what is aligned for the widest is so for all.
        self._choice = Stores(self._memory, Writer(self.routine.code, max(plan.lanes, *widths)))
        self._stores: dict[Array, RowStores] = {}
        self._makes_lines = len(phases) == 1 and plan.inside is None and plan.cut is None
        self._long = LONG_ROW * plan.lanes
        self.head: str | None = None
        """Iterations of the row at hand before the one with which vectors are aligned: an i64; None: they begin with it."""
        self._strips = {
            stream.name: self.routine.slot(f"[{STRIP + SLACK} x {memory_type(stream.type)}]", align=64)
            for each in phases
            for stream in each.phase.keeps
        }

    @property
    def past_caches(self) -> Sequence[str]:
        """For each array that the row at hand is of, whether vectors are stored past the caches: an i1."""
        return [stores.aligned for stores in self._stores.values()]

    def begin_row(self, low: str, high: str, *, moves: bool) -> None:
        """A row begins, with iteration `low`. `moves`: whether vectors may begin with any iteration."""
        code, rows = self.routine.code, self._rows_written()
        self.head = None
        if moves and any(rows.values()):
            array, outer = next((array, outer) for array, outer in rows.items() if outer)
            head = self._choice.before_vectors(array, [*outer, Uniform(low, I64)])
            long = code.emit(f"icmp sge i64 {code.emit(f'sub i64 {high}, {low}')}, {self._long}")
            self.head = code.emit(f"select i1 {long}, i64 {head}, i64 0")
            low = code.emit(f"add i64 {low}, {self.head}")
        in_lines = self._makes_lines and not moves
        self._stores = {
            array: self._choice.row(array, [*outer, Uniform(low, I64)], in_lines=in_lines)
            for array, outer in rows.items()
        }
        for array, stores in self._stores.items():
            if stores.lines is not None or self.head is not None:
                ask_to_write(code, self._memory.address(array, [*rows[array], Uniform(high, I64)]), 1)

    def end_row(self) -> None:
        """Stores what waits."""
        for stores in self._stores.values():
            stores.finish()

    def one(
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
            top = self.routine.code.emit(f"sub i64 {part.extent}, 1")
            base = self.routine.code.emit(f"sub i64 {top}, {unit.position}")
            made[self._loop.index.name] = Progression(base, -1)

        def step(
            statement: ManyToOne, values: Sequence[Value], active: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            return self._accumulators[statement.state].step(values, active, unit)

        for stream in phase.loads:
            made[stream.name] = memory.load_vector(stream.type, self._kept(stream, part, unit), None)
        streams = Streams(memory, made)
        statements = Statements(writer, memory, streams, step, self._stores, branches=branches)
        with memory.asking_ahead(unit.place) if mask is None and self._asks else nullcontext():
            for statement in phase.statements:
                if mask is None and isinstance(statement, Within) and statement.out.name in self._prefixes:
                    made[statement.out.name] = TRUE
                elif isinstance(statement, Within) and statement.out.name in bounds:
                    # Indices would be compared as so many words.
                    bound = self.routine.code.emit(f"sub i64 {bounds[statement.out.name]}, {unit.position}")
                    made[statement.out.name] = Lanes(writer.first_lanes(bound), BOOL)
                else:
                    statements.masked(statement, mask)
        for stream in phase.keeps:
            memory.store_vector(stream.type, made[stream.name], self._kept(stream, part, unit), None)

    def side_by_side(self, plan: PhasePlan, part: RowPart, first: str, count: int) -> None:
        """Some vectors side by side."""
        for place in range(count):
            at = self.routine.code.emit(f"add i64 {first}, {place * plan.lanes}") if place else first
            self.one(plan, part, Unit(at, place if plan.unroll > 1 else None, part.start), None, {})

    def one_by_one(self, part: RowPart, position: str, limit: str) -> None:
        """Iterations of a loop without states, in scalar code."""

        def step(statement: ManyToOne, values: Sequence[Value], active: str | None) -> NoReturn:
            raise AccelInternalError("the loop has no states")

        with self.routine.advance(position, limit, 1) as at:
            streams = Streams(self._outer_memory, dict(self._outer.made) | {self._loop.index.name: Uniform(at, I64)})
            statements = Statements(Writer(self.routine.code, 1), self._outer_memory, streams, step)
            for statement in self.statements:
                statements.branching(statement)

    def _rows_written(self) -> dict[Array, list[Value]]:
        """Arrays written at the loop's own index, vectors of which may be stored past the caches, and their outer indices."""
        rows: dict[Array, list[Value]] = {}
        made = {stream.name for statement in self.statements for stream in flow.made(statement)} | {
            self._loop.index.name
        }
        for statement in self.statements:
            if (
                not isinstance(statement, Write)
                or statement.when is not None
                or self._loop.direction is not LoopDirection.UP
                or self._memory.view.is_moved(statement.array)
            ):
                continue
            *outer, last = statement.index or (None,)
            if last == self._loop.index and not any(isinstance(o, Stream) and o.name in made for o in outer):
                rows[statement.array] = [self._outer.value(operand) for operand in outer if operand is not None]
        return rows

    def _kept(self, stream: Stream, part: RowPart, unit: Unit) -> str:
        """Where a vector of what phases keep stands."""
        code = self.routine.code
        place = code.emit(f"sub i64 {unit.position}, {part.low}")
        return code.emit(f"getelementptr {memory_type(stream.type)}, ptr {self._strips[stream.name]}, i64 {place}")
