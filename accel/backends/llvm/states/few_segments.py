"""Segments of a few elements, as many at a time as there are lanes: where they begin, how long they are, if they are short.

In: a group of segments. Out: registers with what each has, if none has more than `FEWEST` elements. Of lengths that a scan adds
up it is known that the segments lie one behind the other: then the scan, too, runs in a few instructions, on 32 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I32, I64
from accel.backends.llvm.emit.picking import any_reaches, narrowed
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Lanes, Near, Progression, Uniform, Value
from accel.backends.llvm.states.exact_scans import Leaf
from accel.backends.llvm.states.segment_group import Scans, SegmentGroup
from accel.ir import flow
from accel.ir.nodes import LoopBody, ManyToOne, OneToOne, Operand, Read
from accel.labelled.array import Extent
from accel.labelled.scalar import Compute, constant

FEWEST = 4
"""Elements of the longest of these segments: those of half the lanes are two registers."""

AHEAD = 4096
"""How many bytes before they are needed elements are asked for."""

LINE = 64


@dataclass(frozen=True, slots=True)
class _Chain:
    """Segments of which each begins where the one before ends. step: of the scan of their lengths, whose state begins each.
    again: the statements that only say so again, the end, the difference of both, and the check."""

    step: ManyToOne
    again: tuple[LoopBody, ...]


def _chain(group: SegmentGroup) -> _Chain | None:
    """How the segments of a loop follow each other, if lengths are all that says where they are."""
    start, end, difference = group.segment.arguments
    before, states = group.loop.body.before, group.loop.states
    found = [s for s in before if isinstance(s, ManyToOne) and s.before == (start,) and not s.after]
    sums = [s for s in before if isinstance(s, OneToOne) and s.outs == (end,)]
    differences = [s for s in before if isinstance(s, OneToOne) and s.outs == (difference,)]
    if len(states) != 1 or len(found) != 1 or len(sums) != 1 or len(differences) != 1:
        return None
    (step,), (sum_,), (less,) = found, sums, differences
    if states[0].monoid.operators != (Operator.ADD,) or states[0].types != [I64]:
        return None
    if not computes(sum_, Operator.ADD, (start, *step.values)) or not computes(less, Operator.SUB, (end, start)):
        return None
    return _Chain(step, (sum_, less, group.segment))


def computes(statement: OneToOne, operator: Operator, arguments: Sequence[Operand]) -> bool:
    """Whether a statement does nothing but combine these two."""
    parameters, body = statement.function.parameters, statement.function.body
    if statement.arguments != tuple(arguments) or len(body.statements) != 1:
        return False
    (compute,) = body.statements
    if not isinstance(compute, Compute) or body.results != (compute.out,):
        return False
    return compute.operator is operator and compute.arguments == parameters


class FewSegments:
    """Groups of segments of which none has more than `FEWEST` elements."""

    def __init__(self, group: SegmentGroup) -> None:
        self.group, self._scans = group, Scans(group)
        self._chain = _chain(group)
        bound = group.segment.bounds[0]
        self._extent = Extent(bound.variable, bound.offset - 1)
        self.made: dict[str, Value] = {}
        """The streams in lanes, one for each segment."""
        self.counts = ""
        """How many elements each lane has: a register of i32."""
        self._lengths = ""
        """The same as i64, where segments follow each other."""
        self._next = ""
        """Where the segments behind these begin then: an i64."""

    def begin(self, at: str) -> str:
        """What says where the segments from `at` on are. Gives whether they have few elements, close together: an i1."""
        group = self.group
        self.made = group.enter(at)
        if self._chain is not None:
            return self._begin_chain(self._chain)
        self._scans.begin()
        statements = group.statements(self.made, self._scans.step)
        for statement in group.loop.body.before:
            statements.masked(statement, None)
        start, _, count = (group.writer.every(self.made[out.name]) for out in group.segment.outs)
        return self._close_together(start, count)

    def _close_together(self, starts: str, counts: str) -> str:
        """Whether none has more than `FEWEST` elements, and each begins soon behind the first of its half: an i1."""
        group, half = self.group, self.group.lanes // 2
        code, scalar, vector = group.writer.code, group.routine.code, group.writer.code.type(I64)
        order = ", ".join(f"i32 {lane // half * half}" for lane in range(group.lanes))
        firsts = code.emit(f"shufflevector {vector} {starts}, {vector} poison, <{group.lanes} x i32> <{order}>")
        behind = code.emit(f"sub {vector} {starts}, {firsts}")
        low, high = (scalar.emit(f"extractelement {vector} {starts}, i64 {lane}") for lane in (0, half))
        self.counts, self.near = narrowed(code, counts), self._window(starts, (low, high), narrowed(code, behind))
        # A count is no less than 0, and far less than all that fits into 64 bits: it was checked.
        farthest = FEWEST * (half - 1)
        beyond = code.emit(f"add {vector} {counts}, {code.splat('i64', str(farthest - FEWEST))}")
        few = self._no(any_reaches(group.writer, [beyond, behind], str(farthest + 1)))
        return scalar.emit(f"and i1 {few}, {scalar.emit(f'icmp sle i64 {high}, {self._last_window()}')}")

    def _begin_chain(self, chain: _Chain) -> str:
        """The same where each begins where the one before ends: what the scan holds is then far from all bounds."""
        group, (record, pointer) = self.group, self.group.records[chain.step.state]
        code, scalar = group.writer.code, group.routine.code
        statements = group.statements(self.made, self._scans.step)
        for statement in group.loop.body.before[: group.loop.body.before.index(chain.step)]:
            statements.masked(statement, None)
        self._lengths = group.writer.every(Streams(group.memory, self.made).value(chain.step.values[0]))
        few = self._no(any_reaches(group.writer, [self._lengths], str(FEWEST + 1)))
        self.counts = narrowed(code, self._lengths)
        present = scalar.emit(f"icmp ne i64 {group.routine.load('i64', pointer)}, 0")
        held = group.writer.one(record.load(group.routine, pointer, 1)[0])
        first = scalar.emit(f"select i1 {present}, i64 {held}, i64 0")
        second = self._follow(first)
        begun = scalar.emit(f"icmp sge i64 {first}, 0")
        behind = scalar.emit(f"icmp sle i64 {second}, {self._last_window()}")
        return scalar.emit(f"and i1 {few}, {scalar.emit(f'and i1 {begun}, {behind}')}")

    def _follow(self, first: str) -> str:
        """Where few segments are that begin at `first`, an i64; gives where the second half begins."""
        group, half = self.group, self.group.lanes // 2
        code, scalar, narrow = group.writer.code, group.routine.code, group.writer.code.vector("i32")
        sums = self.sums()
        before = code.emit(f"sub {narrow} {sums}, {self.counts}")
        second, self._next = (
            scalar.emit(f"add i64 {first}, {self.lane(text, lane)}")
            for text, lane in ((before, half), (sums, group.lanes - 1))
        )
        order = ", ".join(f"i32 {half if lane >= half else group.lanes}" for lane in range(group.lanes))
        lanes = f"<{group.lanes} x i32> <{order}>"
        halves = code.emit(f"shufflevector {narrow} {before}, {narrow} zeroinitializer, {lanes}")
        wide = code.emit(f"zext {narrow} {before} to {code.type(I64)}")
        starts = code.emit(f"add {code.type(I64)} {group.writer.splat(first, 'i64')}, {wide}")
        self.near = self._window(starts, (first, second), code.emit(f"sub {narrow} {before}, {halves}"))
        return second

    def sums(self) -> str:
        """How many elements the segments up to each lane's have: a register of i32."""
        return Leaf(Operator.ADD, I32, constant(I32, 0)).scanned(self.group.writer.code, self.counts)

    def lane(self, text: str, lane: int) -> str:
        """One of i32 lanes, as i64."""
        scalar = self.group.routine.code
        one = scalar.emit(f"extractelement {self.group.writer.code.vector('i32')} {text}, i64 {lane}")
        return scalar.emit(f"zext i32 {one} to i64")

    def _no(self, text: str) -> str:
        return self.group.routine.code.emit(f"xor i1 {text}, true")

    def _window(self, starts: str, bases: tuple[str, str], offsets: str) -> Near:
        """Half of the lanes have no more than two registers of elements between them."""
        return Near(starts, bases, offsets, self._extent, FEWEST, FEWEST - 1)

    def _last_window(self) -> str:
        """Up to where the second half may begin, so that all that is picked from is in the array: an i64."""
        extent = self.group.memory.view.extent(self._extent)
        return self.group.routine.code.emit(f"sub i64 {extent}, {2 * self.group.lanes + FEWEST}")

    def finish_before(self) -> None:
        """What stands before the elements and depends on where segments begin; the scans go on."""
        group, chain = self.group, self._chain
        if chain is None:
            self._scans.end()
            return
        code, streams = group.writer.code, Streams(group.memory, self.made)
        end = Lanes(code.emit(f"add {code.type(I64)} {self.near.text}, {self._lengths}"), I64)
        found = (self.near, end, Lanes(self._lengths, I64))
        streams.bind(chain.step.before, found[:1])
        statements = group.statements(self.made, self._scans.step)
        for statement in group.loop.body.before[group.loop.body.before.index(chain.step) + 1 :]:
            if statement == group.segment:
                streams.bind(group.segment.outs, found)
            elif statement not in chain.again:
                statements.masked(statement, None)
            else:
                streams.bind(flow.made(statement), [found[1 if statement is chain.again[0] else 2]])
        record, pointer = group.records[chain.step.state]
        group.routine.store("i64", "1", pointer)
        record.store(group.routine, [self._next], pointer, 1)

    def ask_ahead(self, made: Mapping[str, Value]) -> None:
        """Asks for what groups further on read: memory brings it too late by itself, since each group takes a few at a time."""
        group, code = self.group, self.group.routine.code
        for statement in (*group.loop.body.before, *group.inner.body.before):
            if not isinstance(statement, Read) or len(statement.index) != 1:
                continue
            (place,) = Streams(group.memory, dict(made)).values(statement.index)
            if not isinstance(place, Progression | Near):
                continue
            base = place.base if isinstance(place, Progression) else place.bases[0]
            size = statement.array.element.bytes
            for line in range(max(1, group.lanes * size // LINE)):
                ahead = code.emit(f"add i64 {base}, {(AHEAD + line * LINE) // size}")
                group.memory.ask_ahead(statement.array, [Uniform(ahead, I64)])
