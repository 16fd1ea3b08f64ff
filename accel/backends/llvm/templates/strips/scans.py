"""Writes the scans of one strip: some hundred columns side by side, whose rows are taken in groups of eight.

Eight rows are a vector of the order of scans (docs/order.md), of each column: so the steps within it are between registers
here, lane by lane. What comes from the rows before stands in rows of carries. The rows behind the last whole group are a
group, too, of which the last row stands for those that are missing: it is written last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.past_caches import RowStores
from accel.backends.llvm.emit.statements import TRUE, Statements, Streams
from accel.backends.llvm.emit.stores import Stores
from accel.backends.llvm.emit.values import Fixed, Uniform, Value
from accel.backends.llvm.loops.steps import Steps
from accel.backends.llvm.templates.strips.accumulators import Row, Strip
from accel.backends.llvm.templates.strips.statements import Scope, StripStatements, no_step
from accel.ir import flow
from accel.ir.nodes import Level, LoopDirection, ManyToOne, State, Within, Write
from accel.labelled.array import Array
from accel.labelled.meaning.order import BLOCK, SCAN_VECTOR
from accel.schedule.legality import any_order
from accel.schedule.templates.column_scans import ColumnScans
from accel.support.dataclass import dataclass

Rows = list[list[Value]]
"""The leaves of a state in each row of a group."""


@dataclass(frozen=True, slots=True)
class _Group:
    """A vector of the order. `first`: whether it is the first of its block, an i1. `there`: for each row and state whether it
    has an element, an i1; None: all have."""

    first: str
    there: Mapping[str, Sequence[str]] | None


class StripScan:
    """One state in every column of a strip.

    Any order serves some: these have one carry. Others have that of the block before, that of the vector before, and what the
    last element came to.
    """

    def __init__(self, strip: Strip, state: State) -> None:
        self._strip = strip
        self.state = state
        self._any_order = any_order(state)
        found = state.monoid.neutral
        self._neutral: list[Value] | None = None if found is None else [Fixed(element) for element in found]
        self._last = Row(strip, state.types)
        self._vector, self._block = (self._last if self._any_order else Row(strip, state.types) for _ in range(2))
        self._has_block = strip.routine.slot("i1")

    def begin(self, vector: str, initial: Sequence[Value] | None) -> None:
        """Before the first element. A fold's initial value joins at the end."""
        values = initial if self.state.running and initial is not None else self._neutral
        if values is not None:
            self._last.store(values, vector)
            self._block.store(values, vector)
        self._strip.routine.store("i1", str(initial is not None).lower(), self._has_block)

    def begin_block(self) -> None:
        """No vector carry."""
        if self._neutral is not None and not self._any_order:
            with self._strip.each() as vector:
                self._vector.store(self._neutral, vector)

    def end_block(self, some: str) -> None:
        """What the block came to is the next one's carry; `some`: whether it had elements, an i1."""
        if self._any_order:
            return
        with self._strip.routine.when(some):
            with self._strip.each() as vector:
                self._block.store(self._last.load(vector), vector)
            self._strip.routine.store("i1", "true", self._has_block)

    def final(self, vector: str, initial: Sequence[Value] | None) -> list[Value]:
        """What all elements come to."""
        values = self._last.load(vector)
        return values if self.state.running or initial is None else self._merge(initial, values)

    def step(self, values: Rows, vector: str, group: _Group) -> tuple[Rows, Rows]:
        """The state before and after the elements of each row."""
        totals = self._sums(values, vector) if self._any_order else self._totals(values, vector, group)
        held = self._last.load(vector)
        states = [held]
        for row, total in enumerate(totals):
            states.append(self._where(group, row, total, states[-1]))
        self._last.store(states[-1], vector)
        return states[:-1], states[1:]

    def _sums(self, values: Rows, vector: str) -> Iterator[list[Value]]:
        total = self._last.load(vector)
        for element in values:
            total = self._merge(total, element)
            yield total

    def _totals(self, values: Rows, vector: str, group: _Group) -> Rows:
        in_block = self._local(values)
        carry = self._vector.load(vector)
        before = carry
        for row, local in enumerate(in_block):
            merged = self._merge(carry, local)
            in_block[row] = merged if self._neutral is not None else self._either(group.first, local, merged)
            before = self._where(group, row, in_block[row], before)
        self._vector.store(before, vector)
        block = self._block.load(vector)
        if self._neutral is not None:
            return [self._merge(block, each) for each in in_block]
        there = self._strip.routine.load("i1", self._has_block)
        return [self._either(there, self._merge(block, each), each) for each in in_block]

    def _local(self, values: Rows) -> Rows:
        """The scan of each vector by itself, in steps of 1, 2, 4."""
        current, distance = list(values), 1
        while distance < SCAN_VECTOR:
            later = [self._merge(*pair) for pair in zip(current, current[distance:], strict=False)]
            current = [*current[:distance], *later]
            distance *= 2
        return current

    def _where(self, group: _Group, row: int, there: list[Value], otherwise: list[Value]) -> list[Value]:
        """The first in rows that have an element."""
        if group.there is None:
            return there
        return self._either(group.there[self.state.name][row], there, otherwise)

    def _either(self, chosen: str, first: Sequence[Value], second: Sequence[Value]) -> list[Value]:
        writer = self._strip.writer
        mask = writer.splat(chosen, "i1")
        return [writer.select(mask, one, other) for one, other in zip(first, second, strict=True)]

    def _merge(self, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        return self._strip.functions.apply(self.state.merge, [*left, *right], None)


class ScanText(StripStatements):
    """One strip of columns that are scanned. `first`, `last`: as there. `steps`: of elements."""

    def __init__(self, columns: ColumnScans, strip: Strip, first: str, last: str, steps: Steps) -> None:
        super().__init__(columns.lanes, columns.varying(), strip, first, last)
        self._loop, self._steps = columns.scanned, steps
        self._choice = Stores(strip.memory, strip.writer)
        self._scans = {state.name: StripScan(strip, state) for state in columns.scanned.states}
        body = columns.scanned.body
        self._statements = [*body.before, *body.after]
        self._guards = flow.prefixes(columns.scanned)

    def scan(self, scope: Scope) -> None:
        """All rows."""
        routine, code = self.strip.routine, self.strip.routine.code
        streams = Streams(self.strip.memory, dict(scope.made))
        extent = self.strip.writer.one(streams.value(self._loop.extent))
        bounds = {guard: self._count(within, extent, streams) for guard, within in self._guards.items()}
        for state in self._scans.values():
            with self.strip.each() as vector:
                state.begin(vector, self.initial(state.state, scope, vector))
        past = self._rows_past_caches(streams)
        with routine.count("0", extent, BLOCK) as start:
            end = routine.least(code.emit(f"add i64 {start}, {BLOCK}"), extent)
            self._block(scope, (start, end), extent, bounds, past)

    def _count(self, prefix: Within, extent: str, streams: Streams) -> str:
        """The iterations in which a guard holds: an i64."""
        if prefix.first:
            return self.strip.routine.code.emit(f"sub i64 {extent}, {prefix.first}")
        return self.strip.writer.one(streams.value(prefix.count))

    def _rows_past_caches(self, streams: Streams) -> dict[Array, str]:
        """For arrays of which rows are written, whether all vectors are stored past the caches where they stand: an i1."""
        code, lanes = self.strip.routine.code, self.strip.writer.lanes
        found: dict[Array, str] = {}
        columns = self.strip.writer.one(streams.value(self._lanes.extent))
        whole = code.emit(f"icmp eq i64 {code.emit(f'and i64 {columns}, {lanes - 1}')}, 0")
        for statement in self._statements:
            if isinstance(statement, Write) and statement.index[-1:] == (self._lanes.index,):
                array, zero = statement.array, Uniform("0", I64)
                origin: list[Value] = [*(zero for _ in statement.index[1:]), Uniform(self._first, I64)]
                found[array] = code.emit(f"and i1 {whole}, {self._choice.rows(array, origin)}")
        return found

    def _block(
        self,
        scope: Scope,
        rows: tuple[str, str],
        extent: str,
        bounds: Mapping[str, str],
        past: Mapping[Array, str],
    ) -> None:
        """Iterations start .. end-1: whole groups, as long as all guards hold, then what is left."""
        routine, code = self.strip.routine, self.strip.routine.code
        start, end = rows
        for state in self._scans.values():
            state.begin_block()
        full = end
        for bound in bounds.values():
            full = routine.least(full, bound)
        position = routine.slot("i64")
        routine.store("i64", start, position)
        done = code.emit(f"mul i64 {self.strip.count}, {SCAN_VECTOR * self.strip.writer.lanes}")
        with routine.advance(position, code.emit(f"sub i64 {full}, {SCAN_VECTOR - 1}"), SCAN_VECTOR) as at:
            known = replace(scope, made={**scope.made, **dict.fromkeys(self._guards, TRUE)})
            numbers = [at, *(code.emit(f"add i64 {at}, {row}") for row in range(1, SCAN_VECTOR))]
            first = code.emit(f"icmp eq i64 {at}, {start}")
            self._group([self._row(known, number, extent) for number in numbers], _Group(first, None), past)
            self._steps.count(done)
        with routine.advance(position, end, SCAN_VECTOR) as at:
            last = code.emit(f"sub i64 {end}, 1")
            numbers = [at, *(code.emit(f"add i64 {at}, {row}") for row in range(1, SCAN_VECTOR))]
            scopes = [self._row(scope, routine.least(number, last), extent) for number in numbers]
            there = {name: self._there(name, numbers, end, bounds) for name in self._scans}
            self._group(scopes, _Group(code.emit(f"icmp eq i64 {at}, {start}"), there), {})
        for name, state in self._scans.items():
            bound = bounds.get(self._guard(name), end)
            state.end_block(code.emit(f"icmp slt i64 {start}, {bound}"))

    def _guard(self, state: str) -> str:
        """The name of the guard under which a state is stepped; empty if there is none."""
        (step,) = (s for s in self._statements if isinstance(s, ManyToOne) and s.state == state)
        return step.when.name if step.when is not None else ""

    def _there(self, state: str, numbers: Sequence[str], end: str, bounds: Mapping[str, str]) -> list[str]:
        """For each iteration whether the state has an element: an i1."""
        routine = self.strip.routine
        limit = routine.least(end, bounds.get(self._guard(state), end))
        return [routine.code.emit(f"icmp slt i64 {number}, {limit}") for number in numbers]

    def _row(self, scope: Scope, number: str, extent: str) -> Scope:
        """What is the same for all columns in an iteration, counted as the loop runs."""
        code, index = self.strip.routine.code, number
        if self._loop.direction is LoopDirection.DOWN:
            index = code.emit(f"sub i64 {code.emit(f'sub i64 {extent}, 1')}, {number}")
        return self.uniform(self._statements, scope.with_index(self._loop.index, index))

    def _group(self, scopes: Sequence[Scope], group: _Group, past: Mapping[Array, str]) -> None:
        """The statements that differ between columns: each in all rows of a group, before the next one."""
        strip, varying = self.strip, [statement for statement in self._statements if self.varies(statement)]
        stores = [self._stores(scope, past) for scope in scopes]
        lines = [each.lines for stored in stores for each in stored.values() if each.lines is not None]
        with strip.each() as vector:
            known = {**self.known(varying, scopes[0], vector), self._lanes.index.name: self.position(vector)}
            rows = [Streams(strip.memory, {**scope.made, **known}) for scope in scopes]
            for each in lines:
                each.apart = self._is_apart(vector)
            written = [
                Statements(strip.writer, strip.memory, streams, no_step, stored)
                for streams, stored in zip(rows, stores, strict=True)
            ]
            for statement in varying:
                if isinstance(statement, ManyToOne):
                    self._step(statement, rows, vector, group)
                    continue
                # The last row, which stands for missing ones too, gets what belongs there in the end.
                for row in reversed(written) if isinstance(statement, Write) else written:
                    row.masked(statement, None)
        for each in lines:
            each.finish()

    def _stores(self, scope: Scope, past: Mapping[Array, str]) -> dict[Array, RowStores]:
        """How a row of each array is stored."""
        streams, first = Streams(self.strip.memory, dict(scope.made)), Uniform(self._first, I64)
        found: dict[Array, RowStores] = {}
        for statement in self._statements:
            if isinstance(statement, Write) and statement.array in past:
                at = [*streams.values(statement.index[:-1]), first]
                found[statement.array] = RowStores(past[statement.array], self._choice.lines(statement.array, at))
        return found

    def _is_apart(self, vector: str) -> str:
        """Whether a vector begins before the end of the one before it, as a row's last one does: an i1."""
        code, lanes = self.strip.routine.code, self.strip.writer.lanes
        place = code.emit(f"add i64 {self._first}, {code.emit(f'mul i64 {vector}, {lanes}')}")
        return code.emit(f"icmp sgt i64 {place}, {self._last}")

    def _step(self, statement: ManyToOne, rows: Sequence[Streams], vector: str, group: _Group) -> None:
        values = [streams.values(statement.values) for streams in rows]
        earlier, later = self._scans[statement.state].step(values, vector, group)
        for streams, before, after in zip(rows, earlier, later, strict=True):
            streams.bind(statement.before, before if statement.before else ())
            streams.bind(statement.after, after if statement.after else ())

    def after(self, level: Level, scope: Scope) -> None:
        """The statements after the loop, in which states are final."""
        if not level.after:
            return
        scope = self.uniform(level.after, scope)
        varying = [statement for statement in level.after if self.varies(statement)]
        with self.strip.each() as vector:
            known = self.known(varying, scope, vector)
            for scan in self._scans.values():
                values = scan.final(vector, self.initial(scan.state, scope, vector))
                known.update((final.name, value) for final, value in zip(scan.state.finals, values, strict=True))
            self.in_lanes(varying, scope, vector, known, no_step)
