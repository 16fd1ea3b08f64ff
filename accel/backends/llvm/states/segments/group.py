"""Some segments at once, each in a lane of its own: what stands before and after their folds.

In: a loop over segments, and in it one over the elements of each, which folds and does nothing else. Out: the code around the
folds of as many segments as there are lanes. What the loop scans goes on when a group is finished: until then nothing has
happened, so that the same segments may run in another way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Step, Streams
from accel.backends.llvm.emit.values import Progression, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.states.accumulators import Tools, Unit
from accel.backends.llvm.states.exact_scans import ExactScan
from accel.backends.llvm.states.records import Record
from accel.backends.sites import EmptySite
from accel.errors import AccelInternalError
from accel.ir import flow
from accel.ir.nodes import (
    For,
    LoopBody,
    LoopDirection,
    ManyToOne,
    OneToOne,
    Operand,
    Read,
    Remap,
    State,
    Stream,
    Write,
)
from accel.labelled.scalar import Compute, constant
from accel.schedule.legality import any_order, straight


def segment_of(loop: For) -> tuple[Remap, int] | None:
    """What says where each of a loop's segments is; and how many turns more than elements of it the loop inside has."""
    inner = loop.body.loop
    if inner is None:
        return None
    for segment in (s for s in loop.body.before if isinstance(s, Remap)):
        if segment.outs[-1] == inner.extent:
            return segment, 0
        more = (segment.outs[-1], constant(I64, 1))
        made = [s for s in loop.body.before if isinstance(s, OneToOne) and s.outs == (inner.extent,)]
        if any(computes(statement, Operator.ADD, more) for statement in made):
            return segment, 1
    return None


def computes(statement: OneToOne, operator: Operator, arguments: Sequence[Operand]) -> bool:
    """Whether a statement does nothing but combine these two."""
    parameters, body = statement.function.parameters, statement.function.body
    if statement.arguments != tuple(arguments) or len(body.statements) != 1:
        return False
    (compute,) = body.statements
    if not isinstance(compute, Compute) or body.results != (compute.out,):
        return False
    return compute.operator is operator and compute.arguments == parameters


def has_lanes(loop: For) -> bool:
    """Whether a loop is one over segments that only folds each, and makes something of the results."""
    inner = loop.body.loop
    if inner is None or not isinstance(inner.extent, Stream) or inner.body.loop is not None or not inner.states:
        return False
    if loop.direction is not LoopDirection.UP:
        return False
    stores = any(isinstance(s, Write) for s in (*inner.body.before, *inner.body.after))
    return not stores and not any(state.running for state in inner.states) and _lanes_may(loop, inner)


def folds_scans(loop: For) -> bool:
    """Whether a loop is one over segments that scans and folds each, and makes something of the folds' results."""
    inner = loop.body.loop
    if inner is None or not isinstance(inner.extent, Stream) or inner.body.loop is not None:
        return False
    if LoopDirection.DOWN in (loop.direction, inner.direction):
        return False
    running = {state.name for state in inner.states if state.running}
    totals = {final.name for state in inner.states if state.running for final in state.finals}
    behind = {stream.name for s in loop.body.after for stream in flow.needed(s)}
    steps = [s for s in (*inner.body.before, *inner.body.after) if isinstance(s, ManyToOne)]
    return (
        0 < len(running) < len(inner.states)
        and totals.isdisjoint(behind)
        and not any(s.before for s in steps)
        and _lanes_may(loop, inner)
    )


def _lanes_may(loop: For, inner: For) -> bool:
    """Whether each lane may have a segment of its own, as far as kinds of statements go."""
    inside, around = (*inner.body.before, *inner.body.after), (*loop.body.before, *loop.body.after)
    own = {state.name for state in inner.states}
    scanned = {state.name for state in loop.states if state.running and any_order(state)}
    return (
        not any(state.when is not None or not straight(state.merge) for state in inner.states)
        and all(isinstance(s, OneToOne | Remap | Read | ManyToOne | Write) and s.when is None for s in inside)
        and all(s.state in own for s in inside if isinstance(s, ManyToOne))
        and all(isinstance(s, OneToOne | Remap | Read | ManyToOne | Write) and s.when is None for s in around)
        and all(s.state in scanned for s in loop.body.before if isinstance(s, ManyToOne))
        and not any(isinstance(s, ManyToOne) for s in loop.body.after)
    )


class SegmentGroup:
    """What the segments of one loop, of one function, have in common in whichever way they run."""

    def __init__(self, memory: Memory, streams: Streams, loop: For, records: Mapping[str, tuple[Record, str]]) -> None:
        """`records`: those of the loop's own states, with their addresses."""
        inner = loop.body.loop
        assert inner is not None, "segments have elements"
        self.routine, self.loop, self.inner, self.records = memory.routine, loop, inner, records
        kinds = [final.type for state in inner.states for final in state.finals]
        kinds += [statement.out.type for statement in inner.body.before if isinstance(statement, Read)]
        self.lanes = REGISTER_BYTES // max(4, *(kind.bytes for kind in kinds))
        self.writer = Writer(self.routine.code, self.lanes)
        self.memory = memory.with_writer(self.writer)
        self.functions = Functions(self.writer, self.memory)
        found = segment_of(loop)
        assert found is not None, "segments are somewhere"
        self.segment = found[0]
        self._outer = streams

    def enter(self, at: str) -> dict[str, Value]:
        """The streams that there are where the segments from `at` on begin."""
        return {**self._outer.made, self.loop.index.name: Progression(at, 1)}

    def outside(self) -> Streams:
        """The streams that there are around the loop."""
        return Streams(self.memory, dict(self._outer.made))

    def statements(self, made: dict[str, Value], step: Step) -> Statements:
        """What writes statements in lanes, with these streams."""
        return Statements(self.writer, self.memory, Streams(self.memory, made), step)

    def each(self, text: str) -> list[str]:
        """The lanes of a register of i64. They go through memory, which takes less time than to take a register apart."""
        code, routine, vector = self.writer.code, self.routine, self.writer.code.type(I64)
        slot = routine.code.hidden(routine.slot(vector, align=64))
        routine.store(vector, text, slot)
        return [routine.load("i64", routine.offset(slot, lane)) for lane in range(code.lanes)]

    def finish(self, made: dict[str, Value], totals: Mapping[str, Sequence[Value]], present: str) -> None:
        """What is made of the folds of the segments that have elements, and of the seeds of the others."""
        streams = Streams(self.memory, made)
        for state in (each for each in self.inner.states if not each.running):
            total = totals[state.name]
            if state.initial is None:
                absent = self.writer.without(None, present)
                self.memory.fail_if(self.writer.any(absent), [], EmptySite(state))
            else:
                initial = streams.values(state.initial)
                merged = self.functions.apply(state.merge, [*initial, *total], None)
                total = [self.writer.select(present, one, seed) for one, seed in zip(merged, initial, strict=True)]
            streams.bind(state.finals, total)
        statements = self.statements(made, no_step)
        for statement in self.loop.body.after:
            statements.masked(statement, None)


class Scans:
    """What a loop over segments scans, in lanes: from what the records hold, which changes only at the end."""

    def __init__(self, group: SegmentGroup) -> None:
        tools = Tools(group.routine, group.writer, group.functions)
        self._scans = {name: ExactScan(tools, record, pointer) for name, (record, pointer) in group.records.items()}

    def begin(self) -> None:
        """Before the first statement."""
        for scan in self._scans.values():
            scan.begin()

    def step(
        self, statement: ManyToOne, values: Sequence[Value], active: str | None
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        """The state before and after each lane."""
        return self._scans[statement.state].step(values, active, Unit("0", None, "0"))

    def end(self) -> None:
        """The records have what comes behind these segments."""
        for scan in self._scans.values():
            scan.end()


def statements_of(loop: For) -> tuple[LoopBody, ...]:
    """What a loop does with each of its iterations."""
    return (*loop.body.before, *loop.body.after)


def joined(
    group: SegmentGroup, state: State, elements: Sequence[Sequence[Value]], masks: Sequence[str]
) -> Sequence[Value]:
    """What the elements of each lane come to in the order of docs/order.md: so many that it is a power of two. `masks`: the
    lanes that have more than 0, 1, … elements."""
    partial, writer = list(elements), group.writer
    while len(partial) > 1:
        half = len(partial) // 2
        for lane in range(half):
            left, right = partial[lane], partial[lane + half]
            merged = group.functions.apply(state.merge, [*left, *right], None)
            partial[lane] = [
                writer.select(masks[lane + half], one, other) for one, other in zip(merged, left, strict=True)
            ]
        del partial[half:]
    return partial[0]


def no_step(
    statement: ManyToOne, values: Sequence[Value], active: str | None
) -> tuple[Sequence[Value], Sequence[Value]]:
    """Nothing is stepped behind the folds."""
    raise AccelInternalError(f"{statement} stands behind the folds of segments")
