"""Loops that find where the least or the greatest element stands, as `argmax` does, in one pass over memory.

In: an innermost loop that does nothing but fold, also pairs of an element and the loop's own index by such a function
(`Monoid.extreme`), where nobody asks for the element. Out: the loop in vectors, in blocks. Of a block only the extreme is
found, in registers; if it beats that of all blocks before, the block is remembered. In the end one block, which a cache still
holds if there are few, is looked through for the first element that is the extreme. A fold of the elements alone by the same
operator has the same extreme, and runs only if that is zero. What else the loop folds runs in turn with that, some thousand
iterations at a time.

-0.0 and 0.0 are equal here. With a NaN nothing behind its block counts any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.backends.llvm.emit.hits import first_hit
from accel.backends.llvm.emit.lanes.pairs import joined
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Fixed, Lanes, Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.searches import is_harmless, no_step
from accel.backends.llvm.loops.steps import Steps
from accel.backends.llvm.machine.processor import LINE, REGISTER_BYTES
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.states.row_places import compared_as
from accel.ir.nodes import For, LoopBody, LoopDirection, ManyToOne, Nest, Operand, Read, State
from accel.ir.places import asked, finds_place
from accel.labelled.meaning.order import BLOCK
from accel.labelled.scalar import constant
from accel.support.dataclass import dataclass

UNROLL = 4
"""Vectors side by side, each with an extreme of its own, so that none waits for the one before."""

BLOCK_BYTES = 8192
"""Elements of a block: few enough to be looked through once more, many enough that comparing blocks takes no time."""

TOGETHER = BLOCK
"""Iterations of a loop that also folds otherwise, before that has its turn: a block of the order."""

AHEAD = 4096
"""How many bytes before they are needed elements are asked for."""

Kept: TypeAlias = tuple[Record, str]
"""The record of a state, and where it stands."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """What is looked for. For each look `before` runs; `beats` is GT for the greatest, LT for the least. `alone`: a loop of
    the folds of the elements alone by the same operator; None if there are none."""

    state: str
    before: tuple[LoopBody, ...]
    element: Operand
    beats: Operator
    alone: For | None


@dataclass(frozen=True, slots=True)
class Extremes:
    """A loop that looks for extremes. `rest`: what else it folds, as a loop of its own; None if that is nothing."""

    found: tuple[Extreme, ...]
    rest: For | None


def extremes(nest: Nest, loop: For) -> Extremes | None:
    """What a loop looks for; None if it looks for nothing, does anything but fold, or if something in it may fail."""
    statements = [*loop.body.before, *loop.body.after]
    steps = {s.state: s for s in statements if isinstance(s, ManyToOne)}
    others = tuple(s for s in statements if not isinstance(s, ManyToOne))
    if loop.direction is not LoopDirection.UP or loop.body.loop is not None or not all(map(is_harmless, others)):
        return None
    if set(steps) != {state.name for state in loop.states} or any(state.running for state in loop.states):
        return None
    read, found, done = asked(nest), list[Extreme](), set[str]()
    for step in steps.values():
        if finds_place(step, loop, read):
            (sought,), element = [state for state in loop.states if state.name == step.state], step.values[0]
            operator = sought.monoid.extreme
            same = [s for s in loop.states if s.name not in done and _folds(s, steps[s.name], operator, element)]
            beats = Operator.GT if operator is Operator.MAX else Operator.LT
            found.append(Extreme(step.state, others, element, beats, _of_states(loop, same)))
            done |= {step.state, *(state.name for state in same)}
    rest = _of_states(loop, [state for state in loop.states if state.name not in done])
    return Extremes(tuple(found), rest) if found else None


def _folds(state: State, step: ManyToOne, operator: Operator | None, element: Operand) -> bool:
    """Whether a state is a fold of an element alone by an operator."""
    always = state.when is None and step.when is None and not state.products
    return always and state.monoid.operators == (operator,) and step.values == (element,)


def _of_states(loop: For, states: Sequence[State]) -> For | None:
    """The loop with some of its states alone; None if these are none."""
    names = {state.name for state in states}
    kept = [s for s in (*loop.body.before, *loop.body.after) if not isinstance(s, ManyToOne) or s.state in names]
    return (
        replace(loop, states=tuple(states), body=replace(loop.body, before=tuple(kept), after=())) if states else None
    )


class ExtremeLoop:
    """The text of one such loop, of one function. `kept`: the records of all states, by their names. `steps`: of a loop inside
    of another, that runs as a whole."""

    def __init__(
        self,
        memory: Memory,
        streams: Streams,
        loop: For,
        found: Extreme,
        kept: Mapping[str, Kept],
        steps: Steps | None = None,
    ) -> None:
        self._steps = steps
        self._routine, self._outer, self._loop, self._found = memory.routine, streams, loop, found
        self._kept, self._own = kept, kept[found.state]
        self._kind = compared_as(self._own[0].state.types[0])
        widths = [s.array.element.bytes for s in found.before if isinstance(s, Read)]
        self._writer = Writer(self._routine.code, REGISTER_BYTES // max(self._kind.bytes, *widths, 1))
        self._memory = memory.with_writer(self._writer)
        self._scalar, self._vector = self._routine.code.type(self._kind), self._writer.code.type(self._kind)
        self._mask = self._writer.code.vector("i1")
        ends = (float("-inf"), float("inf")) if self._kind.is_float else (self._kind.minimum, self._kind.maximum)
        worst, best = ends if found.beats is Operator.GT else reversed(ends)
        self._worst, self._ends = constant(self._kind, worst), constant(self._kind, best)

    def write(self, low: str, high: str, fold: Callable[[For], None]) -> None:
        """Iterations low .. high-1. fold: writes another loop of these."""
        routine, code = self._routine, self._routine.code
        with routine.when(code.emit(f"icmp slt i64 {low}, {high}")):
            best, block, hit = routine.slot(self._scalar), routine.slot("i64"), routine.slot("i64")
            routine.store(self._scalar, code.constant(self._worst), best)
            routine.store("i64", low, block)
            self._blocks(low, high, best, block)
            value = Uniform(routine.load(self._scalar, best), self._kind)
            routine.store("i64", low, hit)
            self._look_through(value, block, high, hit)
            one, (record, pointer) = Writer(code, 1), self._own
            element = one.one(one.operator(Operator.CAST, record.state.types[0], [value]))
            record.step(routine, pointer, [element, routine.load("i64", hit)])
            if self._found.alone is not None:
                self._fold_alone(self._found.alone, value, element, fold)

    def _look_through(self, best: Value, block: str, high: str, hit: str) -> None:
        """Finds the first element that is the best, or NaN if that is the best."""
        routine, find = self._routine, partial(first_hit, self._routine, self._writer)
        if not self._kind.is_float:
            find(partial(self._equals, best), block, high, hit)
            return
        nan, number, after = (routine.label() for _ in range(3))
        writer = Writer(routine.code, 1)
        routine.branch(writer.one(writer.operator(Operator.IS_NAN, BOOL, [best])), nan, number)
        routine.place(nan)
        find(self._is_nan, block, high, hit)
        routine.jump(after)
        routine.place(number)
        find(partial(self._equals, best), block, high, hit)
        routine.jump(after)
        routine.place(after)

    def _fold_alone(self, loop: For, value: Value, element: str, fold: Callable[[For], None]) -> None:
        """Steps the folds of the elements alone: by the extreme, or, as zeros have signs, by all elements if that is zero."""
        routine, code = self._routine, self._routine.code
        if not self._kind.is_float:
            self._step_alone(loop, element)
            return
        zero, other, after = (routine.label() for _ in range(3))
        is_zero = Writer(code, 1).operator(Operator.EQ, BOOL, [value, Fixed(constant(self._kind, 0.0))])
        routine.branch(Writer(code, 1).one(is_zero), zero, other)
        routine.place(zero)
        fold(loop)
        routine.jump(after)
        routine.place(other)
        self._step_alone(loop, element)
        routine.jump(after)
        routine.place(after)

    def _step_alone(self, loop: For, element: str) -> None:
        for state in loop.states:
            record, pointer = self._kept[state.name]
            record.step(self._routine, pointer, [element])

    def _blocks(self, low: str, high: str, best: str, block: str) -> None:
        """The best of all elements, NaN if there is one, and where its block begins."""
        routine, code, group = self._routine, self._routine.code, UNROLL * self._writer.lanes
        accumulators = [routine.slot(self._vector, align=64) for _ in range(UNROLL)]
        for slot in accumulators:
            routine.store(self._vector, self._writer.code.constant(self._worst), slot)
        nans, position, done = routine.slot(self._mask, align=64), routine.slot("i64"), routine.label()
        routine.store(self._mask, self._writer.code.splat("i1", "false"), nans)
        routine.store("i64", low, position)
        size = max(BLOCK_BYTES // self._kind.bytes, group)
        with routine.count(low, high, size) as start:
            end = routine.least(code.emit(f"add i64 {start}, {size}"), high)
            with routine.advance(position, code.emit(f"sub i64 {end}, {group - 1}"), group) as at:
                self._take(at, accumulators, nans)
            with routine.advance(position, end, self._writer.lanes) as at:
                self._take_some(at, end, accumulators[0], nans)
            self._compare(start, accumulators, nans, (best, block), done)
            if self._steps is not None:
                self._steps.between_blocks(start, size)
        routine.jump(done)
        routine.place(done)

    def _element(self, at: str, active: str | None) -> Value:
        """The elements of the iterations from `at` on, as what they are compared as."""
        made = {**self._outer.made, self._loop.index.name: Progression(at, 1)}
        streams = Streams(self._memory, made)
        statements = Statements(self._writer, self._memory, streams, no_step)
        for statement in self._found.before:
            statements.masked(statement, active)
        value = self._writer.operator(Operator.CAST, self._kind, [streams.value(self._found.element)])
        return Lanes(self._writer.every(value), self._kind)

    def _take(self, at: str, accumulators: Sequence[str], nans: str) -> None:
        """Full vectors from `at` on, one for each accumulator."""
        code, lanes = self._routine.code, self._writer.lanes
        values = [self._element(code.emit(f"add i64 {at}, {k * lanes}"), None) for k in range(len(accumulators))]
        for value, slot in zip(values, accumulators, strict=True):
            self._improve(slot, value)
        for one, other in zip(values[::2], values[1::2], strict=True):
            self._note_nans(nans, one, other)
        self._ask_ahead(at)

    def _ask_ahead(self, at: str) -> None:
        """Asks for what comes later, which may be the next row: memory would be idle while a place is looked for."""
        code = self._routine.code
        for statement in self._found.before:
            if isinstance(statement, Read) and statement.index and statement.index[-1] == self._loop.index:
                size = statement.array.element.bytes
                around = Streams(self._memory, dict(self._outer.made)).values(statement.index[:-1])
                if not all(map(self._writer.is_uniform, around)):
                    continue
                for line in range(UNROLL * self._writer.lanes * size // LINE):
                    ahead = code.emit(f"add i64 {at}, {(AHEAD + line * LINE) // size}")
                    self._memory.ask_ahead(statement.array, [*around, Uniform(ahead, I64)])

    def _take_some(self, at: str, end: str, slot: str, nans: str) -> None:
        """The last elements of a block, as many as a vector has or fewer."""
        active = self._writer.first_lanes(self._routine.code.emit(f"sub i64 {end}, {at}"))
        value = self._writer.select(active, self._element(at, active), Fixed(self._worst))
        self._improve(slot, value)
        self._note_nans(nans, value, value)

    def _improve(self, slot: str, value: Value) -> None:
        held = Lanes(self._routine.load(self._vector, slot), self._kind)
        self._routine.store(self._vector, self._writer.every(self._better(value, held)), slot)

    def _note_nans(self, nans: str, one: Value, other: Value) -> None:
        """Remembers in which lanes either of two is NaN."""
        if self._kind.is_float:
            code, writer = self._writer.code, self._writer
            found = code.emit(f"fcmp uno {self._vector} {writer.every(one)}, {writer.every(other)}")
            before = self._routine.load(self._mask, nans)
            self._routine.store(self._mask, code.emit(f"or {self._mask} {before}, {found}"), nans)

    def _better(self, value: Value, held: Value) -> Value:
        """The better one in each lane; what is held where a value is NaN, which is noted apart."""
        if self._kind.is_float:
            # One instruction on x86, which takes its second operand where the two are not ordered.
            beats = self._writer.every(self._writer.operator(self._found.beats, BOOL, [value, held]))
            return self._writer.select(beats, value, held)
        operator = Operator.MAX if self._found.beats is Operator.GT else Operator.MIN
        return self._writer.operator(operator, self._kind, [value, held])

    def _compare(self, start: str, accumulators: Sequence[str], nans: str, found: tuple[str, str], done: str) -> None:
        """Remembers the block that begins at `start`, in the slots `found`, if something of it beats the best of those before;
        goes to `done` if nothing can beat it."""
        routine, writer, (best, block) = self._routine, self._writer, found

        def remember(value: str) -> None:
            routine.store(self._scalar, value, best)
            routine.store("i64", start, block)

        if self._kind.is_float:
            with routine.when(writer.any(routine.load(self._mask, nans))):
                remember(routine.code.literal(self._kind, float("nan")))
                routine.jump(done)
                routine.place(routine.label())
        values: list[Value] = [Lanes(routine.load(self._vector, slot), self._kind) for slot in accumulators]
        lanes = joined(values, self._better)
        before = Uniform(routine.load(self._scalar, best), self._kind)
        with routine.when(writer.any(writer.every(writer.operator(self._found.beats, BOOL, [lanes, before])))):
            value = self._joined(lanes)
            remember(value)
            if not self._kind.is_float:
                ends = routine.code.emit(f"icmp eq {self._scalar} {value}, {routine.code.constant(self._ends)}")
                with routine.when(ends):
                    routine.jump(done)
                    routine.place(routine.label())

    def _joined(self, value: Value) -> str:
        """The best of all lanes."""
        half = self._writer.lanes // 2
        while half:
            other = Lanes(self._writer.rotated(self._writer.every(value), self._scalar, half), self._kind)
            value, half = self._better(value, other), half // 2
        return self._routine.code.emit(f"extractelement {self._vector} {self._writer.every(value)}, i64 0")

    def _equals(self, best: Value, at: str, active: str | None) -> str:
        """Which elements are the best."""
        return self._writer.every(self._writer.operator(Operator.EQ, BOOL, [self._element(at, active), best]))

    def _is_nan(self, at: str, active: str | None) -> str:
        """Which elements are NaN."""
        return self._writer.every(self._writer.operator(Operator.IS_NAN, BOOL, [self._element(at, active)]))
