"""Loops that look for the first iteration in which something holds: they stop where they find it.

In: an innermost loop that does nothing but fold, by the least, its own index where a condition holds and a bound elsewhere.
Out: the loop in vectors, of as many lanes as the elements that it reads fill, several side by side. Indices rise, so nothing
behind the first hit is less.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.backends.llvm.emit.hits import first_hit
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Progression, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.states.records import Record
from accel.errors import AccelInternalError
from accel.ir import mentions
from accel.ir.nodes import For, LoopBody, LoopDirection, ManyToOne, OneToOne, Read, Stream
from accel.labelled.array import Extent
from accel.labelled.scalar import Block, Compute, Function, Load, Variable
from accel.support.dataclass import dataclass


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
    if state.monoid.operators != (Operator.MIN,) or state.types != [I64] or not all(map(is_harmless, others)):
        return None
    choices = [s for s in others if isinstance(s, OneToOne) and s.outs == step.values]
    chosen = _choice(choices[0], loop) if len(choices) == 1 else None
    if chosen is None or not isinstance(loop.extent, Extent):
        return None
    condition = Stream(f"{choices[0].outs[0].name}_holds", BOOL)
    holds = OneToOne((condition,), chosen, choices[0].arguments)
    return Search(state.name, tuple(s for s in others if s is not choices[0]), holds, condition, loop.extent)


def is_harmless(statement: LoopBody) -> bool:
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
            first_hit(routine, self._writer, self._mask, position, high, hit)
            routine.store("i64", "1", self._pointer)
            record.store(routine, [routine.load("i64", hit)], self._pointer, 1)

    def _mask(self, at: str, active: str | None) -> str:
        """Where it holds, of the iterations from `at` on."""
        made = {**self._outer.made, self._loop.index.name: Progression(at, 1)}
        statements = Statements(self._writer, self._memory, Streams(self._memory, made), no_step)
        for statement in (*self._found.before, self._found.holds):
            statements.masked(statement, active)
        return self._writer.every(made[self._found.condition.name])


def no_step(
    statement: ManyToOne, values: Sequence[Value], active: str | None
) -> tuple[Sequence[Value], Sequence[Value]]:
    """The step of loops whose steps stand elsewhere."""
    raise AccelInternalError(f"{statement} is what the loop stands for")
