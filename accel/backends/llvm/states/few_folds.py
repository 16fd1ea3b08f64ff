"""Folds of segments of a few elements, some segments at a time: every lane folds one of its own, all steps written out.

In: segments, as many as there are lanes, none of which has more than `FEWEST` elements. Out: the code of their folds, in the
order of docs/order.md. Partial results stay in registers, and elements are picked from the few registers that hold those of all
lanes: what half of the lanes have are two registers full at most, if the segments lie one behind the other.

Of lengths that a scan adds up it is known that they do: then the scan, too, runs in a few instructions, on 32 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I32, I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.picking import any_reaches, narrowed
from accel.backends.llvm.emit.statements import Step, Streams
from accel.backends.llvm.emit.values import Lanes, Near, Progression, Uniform, Value, Writer
from accel.backends.llvm.states.exact_scans import Leaf
from accel.backends.llvm.states.segment_group import Scans, SegmentGroup
from accel.ir import flow
from accel.ir.nodes import LoopBody, ManyToOne, OneToOne, Operand, Read, State
from accel.labelled.array import Extent
from accel.labelled.meaning.products import steps
from accel.labelled.scalar import Compute, constant

FEWEST = 4
"""Elements of the longest of these segments: those of half the lanes are two registers."""

AHEAD = 4096
"""How many bytes before they are needed elements are asked for."""

LINE = 64


class _FewFold:
    """A state whose lanes have rows of at most `FEWEST` elements each, in registers."""

    def __init__(self, writer: Writer, functions: Functions, state: State) -> None:
        self._writer, self._functions, self._state = writer, functions, state
        self._steps = steps(state.merge, state.monoid, state.types, state.products)
        self._ordered = not state.monoid.exact and state.monoid.commutes
        self._partial: list[Sequence[Value]] = []

    def step(self, values: Sequence[Value], mask: str) -> None:
        """The next element of the lanes in the mask; they had all before."""
        if self._ordered or not self._partial:
            self._partial.append(self._functions.apply(self._steps.first, values, None))
            return
        (held,) = self._partial
        joined = self._functions.apply(self._steps.following, [*held, *values], None)
        self._partial = [self._chosen(mask, joined, held)]

    def total(self, masks: Sequence[str]) -> Sequence[Value]:
        """All elements of each row that has some; `masks`: the lanes that have more than 0, 1, … elements."""
        half = FEWEST // 2
        while self._ordered and half:
            for lane in range(half):
                left, right = self._partial[lane], self._partial[lane + half]
                merged = self._functions.apply(self._state.merge, [*left, *right], None)
                self._partial[lane] = self._chosen(masks[lane + half], merged, left)
            half //= 2
        return self._partial[0]

    def _chosen(self, mask: str, there: Sequence[Value], otherwise: Sequence[Value]) -> list[Value]:
        return [self._writer.select(mask, one, other) for one, other in zip(there, otherwise, strict=True)]


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
    if not _computes(sum_, Operator.ADD, (start, *step.values)) or not _computes(less, Operator.SUB, (end, start)):
        return None
    return _Chain(step, (sum_, less, group.segment))


def _computes(statement: OneToOne, operator: Operator, arguments: tuple[Operand, ...]) -> bool:
    """Whether a statement does nothing but combine these two."""
    parameters, body = statement.function.parameters, statement.function.body
    if statement.arguments != arguments or len(body.statements) != 1:
        return False
    (compute,) = body.statements
    if not isinstance(compute, Compute) or body.results != (compute.out,):
        return False
    return compute.operator is operator and compute.arguments == parameters


class FewFolds:
    """The folds of groups of segments of which none has more than `FEWEST` elements."""

    def __init__(self, group: SegmentGroup) -> None:
        self._group, self._scans = group, Scans(group)
        self._chain = _chain(group)
        bound = group.segment.bounds[0]
        self._extent = Extent(bound.variable, bound.offset - 1)
        self._made: dict[str, Value] = {}
        self._counts = ""
        """How many elements each lane has: a register of i32."""
        self._lengths = ""
        """The same as i64, where segments follow each other."""
        self._next = ""
        """Where the segments behind these begin then: an i64."""

    def begin(self, at: str) -> str:
        """What stands before the folds, of the segments from `at` on. Gives whether they have few elements, which lie close
        together: an i1."""
        group = self._group
        self._made = group.enter(at)
        if self._chain is not None:
            return self._begin_chain(self._chain)
        self._scans.begin()
        statements = group.statements(self._made, self._scans.step)
        for statement in group.loop.body.before:
            statements.masked(statement, None)
        start, _, count = (group.writer.every(self._made[out.name]) for out in group.segment.outs)
        return self._close_together(start, count)

    def _close_together(self, starts: str, counts: str) -> str:
        """Whether none has more than `FEWEST` elements, and each begins soon behind the first of its half: an i1."""
        group, half = self._group, self._group.lanes // 2
        code, scalar, vector = group.writer.code, group.routine.code, group.writer.code.type(I64)
        order = ", ".join(f"i32 {lane // half * half}" for lane in range(group.lanes))
        firsts = code.emit(f"shufflevector {vector} {starts}, {vector} poison, <{group.lanes} x i32> <{order}>")
        behind = code.emit(f"sub {vector} {starts}, {firsts}")
        low, high = (scalar.emit(f"extractelement {vector} {starts}, i64 {lane}") for lane in (0, half))
        self._counts, self._near = narrowed(code, counts), self._window(starts, (low, high), narrowed(code, behind))
        # A count is no less than 0, and far less than all that fits into 64 bits: it was checked.
        farthest = FEWEST * (half - 1)
        beyond = code.emit(f"add {vector} {counts}, {code.splat('i64', str(farthest - FEWEST))}")
        few = self._no(any_reaches(group.writer, [beyond, behind], str(farthest + 1)))
        return scalar.emit(f"and i1 {few}, {scalar.emit(f'icmp sle i64 {high}, {self._last_window()}')}")

    def _begin_chain(self, chain: _Chain) -> str:
        """The same where each begins where the one before ends: what the scan holds is then far from all bounds."""
        group, (record, pointer) = self._group, self._group.records[chain.step.state]
        code, scalar = group.writer.code, group.routine.code
        statements = group.statements(self._made, self._scans.step)
        for statement in group.loop.body.before[: group.loop.body.before.index(chain.step)]:
            statements.masked(statement, None)
        self._lengths = group.writer.every(Streams(group.memory, self._made).value(chain.step.values[0]))
        few = self._no(any_reaches(group.writer, [self._lengths], str(FEWEST + 1)))
        self._counts = narrowed(code, self._lengths)
        present = scalar.emit(f"icmp ne i64 {group.routine.load('i64', pointer)}, 0")
        held = group.writer.one(record.load(group.routine, pointer, 1)[0])
        first = scalar.emit(f"select i1 {present}, i64 {held}, i64 0")
        second = self._follow(first)
        begun = scalar.emit(f"icmp sge i64 {first}, 0")
        behind = scalar.emit(f"icmp sle i64 {second}, {self._last_window()}")
        return scalar.emit(f"and i1 {few}, {scalar.emit(f'and i1 {begun}, {behind}')}")

    def _follow(self, first: str) -> str:
        """Where few segments are that begin at `first`, an i64; gives where the second half begins."""
        group, half = self._group, self._group.lanes // 2
        code, scalar, narrow = group.writer.code, group.routine.code, group.writer.code.vector("i32")
        sums = Leaf(Operator.ADD, I32, constant(I32, 0)).scanned(code, self._counts)
        before = code.emit(f"sub {narrow} {sums}, {self._counts}")
        second, self._next = (
            scalar.emit(f"add i64 {first}, {self._lane(text, lane)}")
            for text, lane in ((before, half), (sums, group.lanes - 1))
        )
        order = ", ".join(f"i32 {half if lane >= half else group.lanes}" for lane in range(group.lanes))
        lanes = f"<{group.lanes} x i32> <{order}>"
        halves = code.emit(f"shufflevector {narrow} {before}, {narrow} zeroinitializer, {lanes}")
        wide = code.emit(f"zext {narrow} {before} to {code.type(I64)}")
        starts = code.emit(f"add {code.type(I64)} {group.writer.splat(first, 'i64')}, {wide}")
        self._near = self._window(starts, (first, second), code.emit(f"sub {narrow} {before}, {halves}"))
        return second

    def _lane(self, text: str, lane: int) -> str:
        """One of i32 lanes, as i64."""
        scalar = self._group.routine.code
        one = scalar.emit(f"extractelement {self._group.writer.code.vector('i32')} {text}, i64 {lane}")
        return scalar.emit(f"zext i32 {one} to i64")

    def _no(self, text: str) -> str:
        return self._group.routine.code.emit(f"xor i1 {text}, true")

    def _window(self, starts: str, bases: tuple[str, str], offsets: str) -> Near:
        return Near(starts, bases, offsets, self._extent, FEWEST)

    def _last_window(self) -> str:
        """Up to where the second half may begin, so that all that is picked from is in the array: an i64."""
        extent = self._group.memory.view.extent(self._extent)
        return self._group.routine.code.emit(f"sub i64 {extent}, {2 * self._group.lanes + FEWEST}")

    def write(self) -> None:
        """Their folds, written out, and what is made of them."""
        group = self._group
        self._finish_before()
        code = group.writer.code
        narrow = code.vector("i32")
        masks = [
            code.emit(f"icmp sgt {narrow} {self._counts}, {code.splat('i32', str(number))}") for number in range(FEWEST)
        ]
        folds = {state.name: _FewFold(group.writer, group.functions, state) for state in group.inner.states}
        for number, mask in enumerate(masks):
            made = {
                **self._made,
                group.segment.outs[0].name: self._near,
                group.inner.index.name: Uniform(str(number), I64),
            }
            statements = group.statements(made, _stepping(folds, mask))
            for statement in (*group.inner.body.before, *group.inner.body.after):
                statements.masked(statement, mask)
            if number == 0:
                self._ask_ahead(made)
        group.finish(self._made, {name: fold.total(masks) for name, fold in folds.items()}, masks[0])

    def _finish_before(self) -> None:
        """What stands before the folds and depends on where segments begin; the scans go on."""
        group, chain = self._group, self._chain
        if chain is None:
            self._scans.end()
            return
        code, streams = group.writer.code, Streams(group.memory, self._made)
        end = Lanes(code.emit(f"add {code.type(I64)} {self._near.text}, {self._lengths}"), I64)
        found = (self._near, end, Lanes(self._lengths, I64))
        streams.bind(chain.step.before, found[:1])
        statements = group.statements(self._made, self._scans.step)
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

    def _ask_ahead(self, made: Mapping[str, Value]) -> None:
        """Asks for what groups further on read: memory brings it too late by itself, since each group takes a few at a time."""
        group, code = self._group, self._group.routine.code
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


def _stepping(folds: Mapping[str, _FewFold], mask: str) -> Step:
    """Steps of these folds in the lanes of a mask."""

    def step(
        statement: ManyToOne, values: Sequence[Value], active: str | None
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        folds[statement.state].step(values, mask)
        return (), ()

    return step
