"""Loops that look for the first iteration in which something holds: they stop where they find it.

In: an innermost loop that does nothing but fold, by the least, its own index where a condition holds and a bound elsewhere, as
`argmax` does behind its maximum. Out: the loop in vectors, of as many lanes as the elements that it reads fill, several side by
side. Indices rise, so nothing behind the first hit is less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Progression, Value, Writer
from accel.backends.llvm.states.records import Record
from accel.ir import mentions
from accel.ir.nodes import For, LoopBody, LoopDirection, ManyToOne, OneToOne, Read, Stream
from accel.labelled.array import Extent
from accel.labelled.scalar import Block, Compute, Function, Load, Variable

REGISTER_BYTES = 64

UNROLL = 4
"""Vectors that are looked at before the loop asks whether there was a hit in one of them."""


@dataclass(frozen=True, slots=True)
class Search:
    """What a loop looks for. Before each look `before` runs; `holds` is the statement that makes the condition, in the place of
    that which chooses. The fold's element is `bound` where it does not hold: no index of the loop."""

    state: str
    before: tuple[LoopBody, ...]
    holds: OneToOne
    condition: Stream
    bound: Extent


def search(loop: For) -> Search | None:
    """What a loop looks for; None if it does anything else, or if something in it may fail."""
    statements = [*loop.body.before, *loop.body.after]
    steps = [s for s in statements if isinstance(s, ManyToOne)]
    if loop.direction is not LoopDirection.UP or loop.body.loop is not None or len(steps) != 1 or len(loop.states) != 1:
        return None
    (step,), (state,) = steps, loop.states
    others = [s for s in statements if s is not step]
    if state.running or state.when is not None or step.when is not None or state.name != step.state:
        return None
    if state.monoid.operators != (Operator.MIN,) or state.types != [I64] or not all(map(_is_harmless, others)):
        return None
    choices = [s for s in others if isinstance(s, OneToOne) and s.outs == step.values]
    chosen = _choice(choices[0], loop) if len(choices) == 1 else None
    if chosen is None or not isinstance(loop.extent, Extent):
        return None
    condition = Stream(f"{choices[0].outs[0].name}_holds", BOOL)
    holds = OneToOne((condition,), chosen, choices[0].arguments)
    return Search(state.name, tuple(s for s in others if s is not choices[0]), holds, condition, loop.extent)


def _is_harmless(statement: LoopBody) -> bool:
    """Whether nothing is lost if a statement does not run."""
    match statement:
        case Read(when=None):
            return True
        case OneToOne(when=None, function=function):
            return not any(isinstance(s, Load) and s.may_fail for s in mentions.function_statements(function))
        case _:
            return False


def _choice(statement: OneToOne, loop: For) -> Function | None:
    """The condition under which a statement chooses the loop's index, and not its extent: a function of the same arguments."""
    function = statement.function
    *earlier, last = function.body.statements or (None,)
    if not isinstance(last, Compute) or last.operator is not Operator.SELECT or function.body.results != (last.out,):
        return None
    condition, place, bound = last.arguments
    named = dict(zip(function.parameters, statement.arguments, strict=True))
    if not isinstance(place, Variable) or named.get(place) != loop.index or bound != loop.extent:
        return None
    return Function(function.parameters, Block(tuple(s for s in earlier if s is not None), (condition,)))


class SearchLoop:
    """The text of one such loop, of one function. `record`: that of its fold, at `pointer`."""

    def __init__(
        self, memory: Memory, streams: Streams, loop: For, found: Search, record: Record, pointer: str
    ) -> None:
        self._routine, self._outer, self._loop, self._found = memory.routine, streams, loop, found
        self._record, self._pointer = record, pointer
        widths = [s.array.element.bytes for s in found.before if isinstance(s, Read)]
        self._writer = Writer(self._routine.code, REGISTER_BYTES // max(widths, default=4))
        self._memory = memory.with_writer(self._writer)

    def write(self, low: str, high: str) -> None:
        """Iterations low .. high-1, unless an earlier one was a hit."""
        routine, code, record = self._routine, self._routine.code, self._record
        bound = self._memory.view.extent(self._found.bound)
        present = code.emit(f"icmp ne i64 {routine.load('i64', self._pointer)}, 0")
        held = self._writer.one(record.load(routine, self._pointer, 1)[0])
        before = code.emit(f"select i1 {present}, i64 {held}, i64 {bound}")
        some = code.emit(f"icmp slt i64 {low}, {high}")
        with routine.when(code.emit(f"and i1 {some}, {code.emit(f'icmp eq i64 {before}, {bound}')}")):
            hit, position = routine.slot("i64"), routine.slot("i64")
            routine.store("i64", bound, hit)
            routine.store("i64", low, position)
            self._look(position, high, hit)
            routine.store("i64", "1", self._pointer)
            record.store(routine, [routine.load("i64", hit)], self._pointer, 1)

    def _look(self, position: str, high: str, hit: str) -> None:
        """Stores the first iteration from `position` on that is one, if there is one before `high`."""
        routine, code, lanes = self._routine, self._routine.code, self._writer.lanes
        several, together, on, rest, one, found, next_, after = (routine.label() for _ in range(8))
        routine.jump(several)
        routine.place(several)
        at = routine.load("i64", position)
        behind = code.emit(f"add i64 {at}, {UNROLL * lanes}")
        routine.branch(code.emit(f"icmp sle i64 {behind}, {high}"), together, rest)
        routine.place(together)
        masks = [self._mask(code.emit(f"add i64 {at}, {number * lanes}"), None) for number in range(UNROLL)]
        while len(masks) > 1:
            first, second, *others = masks
            masks = [*others, self._writer.code.emit(f"or {self._writer.code.vector('i1')} {first}, {second}")]
        routine.branch(self._writer.any(masks[0]), rest, on)
        routine.place(on)
        routine.store("i64", behind, position)
        routine.jump(several)
        # What is left, and where there was a hit in several, one vector after the other.
        routine.place(rest)
        at = routine.load("i64", position)
        routine.branch(code.emit(f"icmp slt i64 {at}, {high}"), one, after)
        routine.place(one)
        active = self._writer.first_lanes(code.emit(f"sub i64 {high}, {at}"))
        mask = self._writer.both(active, self._mask(at, active)) or active
        routine.branch(self._writer.any(mask), found, next_)
        routine.place(found)
        routine.store("i64", code.emit(f"add i64 {at}, {first_lane(self._writer, mask)}"), hit)
        routine.jump(after)
        routine.place(next_)
        routine.store("i64", code.emit(f"add i64 {at}, {lanes}"), position)
        routine.jump(rest)
        routine.place(after)

    def _mask(self, at: str, active: str | None) -> str:
        """Where it holds, of the iterations from `at` on."""
        made = {**self._outer.made, self._loop.index.name: Progression(at, 1)}
        statements = Statements(self._writer, self._memory, Streams(self._memory, made), _no_step)
        for statement in (*self._found.before, self._found.holds):
            statements.masked(statement, active)
        return self._writer.every(made[self._found.condition.name])


def first_lane(writer: Writer, mask: str) -> str:
    """The first lane that is set in a mask of at most 64 lanes, of which one is: an i64 register."""
    code, bits = writer.scalar, f"i{writer.lanes}"
    word = code.emit(f"bitcast {writer.code.vector('i1')} {mask} to {bits}")
    wide = code.emit(f"zext {bits} {word} to i64") if writer.lanes < 64 else word
    return code.call("llvm.cttz.i64", "i64", ["i64", "i1"], [f"i64 {wide}", "i1 true"])


def _no_step(
    statement: ManyToOne, values: Sequence[Value], active: str | None
) -> tuple[Sequence[Value], Sequence[Value]]:
    raise AssertionError(f"{statement} is what the search stands for")
