"""Writes scalar functions: blocks of operators, loads, conditionals and loops.

In scalar code conditionals and loops are branches. In vector code a conditional computes both blocks under masks and selects,
but for heavy blocks that no lane needs, and a loop runs until no lane is active: loads of lanes that are not active are masked
away, everything else is total. What is the same in all lanes of a loop, such as the number of the turn, is a scalar, and if all
lanes leave it together it has no masks of its own. Nested blocks are a stack of generators, so nothing here recurses on the
depth of the user's expression.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias, assert_never

from accel.ast.tree.types import BOOL
from accel.backends.llvm.emit.alike import Differences, differences
from accel.backends.llvm.emit.bends import bent, places, read
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.values import Fixed, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.machine.target import host
from accel.backends.sites import IndexSite
from accel.labelled import programs, scalar
from accel.labelled.array import Extent
from accel.labelled.scalars.function_work import function_work
from accel.labelled.work import TIME
from accel.support.dataclass import dataclass

Task: TypeAlias = Generator["Task", list[Value], list[Value]]
Environment: TypeAlias = dict[int, Value]
"""Values of variables by their number."""


FEW = 16
"""Statements of a conditional that is written three times, for lanes that agree, on this or that, and for others."""

WORTH_A_BRANCH = 40
"""How long a block takes, in the time of an addition of a register, that is left out where no lane needs it: a branch that
processors do not foresee costs as much."""

TURNS = 1 << 16
"""Turns of a loop between two looks at whether it is still wanted."""


def finish(task: Task) -> list[Value]:
    """Runs a task with all the tasks that it yields, and gives its result."""
    stack = [task]
    result: list[Value] = []
    started = False
    while stack:
        try:
            inner = stack[-1].send(result) if started else next(stack[-1])
        except StopIteration as stop:
            stack.pop()
            result, started = stop.value, True
        else:
            stack.append(inner)
            started = False
    return result


class Functions:
    """Writes the bodies of scalar functions into a routine, in lanes or in scalars.

    branches: whether a condition that is the same in all lanes is a branch in lanes, too.
    """

    def __init__(self, writer: Writer, memory: Memory, *, branches: bool = False) -> None:
        self._writer = writer
        self._memory = memory
        self._branches = branches
        self._routine = memory.routine
        self._differences: Differences | None = None
        self._places: frozenset[int] = frozenset()

    def one(self, value: Value) -> str:
        """The register or constant of a uniform value."""
        return self._writer.one(value)

    def apply(self, function: scalar.Function, arguments: Sequence[Value], mask: str | None) -> list[Value]:
        """The results of `function` where `mask` is set (None: everywhere); no load happens elsewhere."""
        environment: Environment = {
            parameter.number: value for parameter, value in zip(function.parameters, arguments, strict=True)
        }
        body = function.body
        computed = [statement for statement in body.statements if isinstance(statement, scalar.Compute)]
        if len(computed) < len(body.statements):
            differ = {number for number, value in environment.items() if not self._writer.is_uniform(value)}
            self._differences = differences(function, differ)
            self._places = places(function, differ) if self._writer.bends else frozenset()
            return finish(self._block(body, environment, mask))
        self._places = frozenset()
        # Most are operators alone: no task is needed, and tiles write hundreds of them.
        for statement in computed:
            self._compute(statement, environment)
        return [self._operand(operand, environment) for operand in body.results]

    def _compute(self, statement: scalar.Compute, environment: Environment) -> None:
        values = [self._operand(argument, environment) for argument in statement.arguments]
        place = bent(self._writer, statement.operator, values) if statement.out.number in self._places else None
        made = place or self._writer.operator(statement.operator, statement.out.type, values)
        environment[statement.out.number] = made

    def _operand(self, operand: scalar.Operand, environment: Environment) -> Value:
        match operand:
            case scalar.Variable(number):
                return environment[number]
            case scalar.Constant():
                return Fixed(operand)
            case Extent():
                return self._memory.extent(operand)
            case _:
                assert_never(operand)

    def _block(self, block: scalar.Block, environment: Environment, mask: str | None) -> Task:
        for statement in block.statements:
            match statement:
                case scalar.Compute():
                    self._compute(statement, environment)
                case scalar.Load(out, array, index, where):
                    position = [self._operand(operand, environment) for operand in index]
                    if statement.may_fail:
                        self._memory.check(position, mask, IndexSite(array.shape, where))
                    environment[out.number] = read(self._memory, self._writer, array, position, mask)
                case scalar.If(outs):
                    results = yield self._conditional(statement, environment, mask)
                    environment.update(zip([out.number for out in outs], results, strict=True))
                case scalar.While(outs):
                    results = yield self._loop(statement, environment, mask)
                    environment.update(zip([out.number for out in outs], results, strict=True))
                case _:
                    assert_never(statement)
        return [self._operand(operand, environment) for operand in block.results]

    def _conditional(self, statement: scalar.If, environment: Environment, mask: str | None) -> Task:
        condition = self._operand(statement.condition, environment)
        if self._writer.lanes > 1 and not self._branches_at(statement, condition, mask):
            return (yield self._masked_conditional(statement, condition, environment, mask))
        then, orelse = self._routine.label(), self._routine.label()
        self._routine.branch(self._writer.one(condition), then, orelse)
        blocks = [
            (label, self._block(each, environment, mask))
            for label, each in ((then, statement.then), (orelse, statement.orelse))
        ]
        return (yield self._alternatives(statement.outs, blocks))

    def _branches_at(self, statement: scalar.If, condition: Value, mask: str | None) -> bool:
        """Whether a conditional is a branch in lanes: where that was asked for, or, beside loops, if a side does much."""
        if not isinstance(condition, Uniform):
            return False
        if self._differences is None:
            return self._branches and mask is None
        inside = statement.then.statements + statement.orelse.statements
        return len(inside) > FEW or not all(isinstance(each, scalar.Compute) for each in inside)

    def _alternatives(self, outs: Sequence[scalar.Variable], blocks: Sequence[tuple[str, Task]]) -> Task:
        """What one of the blocks gives, to whose label somebody jumps."""
        slots = [self._slot(out) for out in outs]
        after = self._routine.label()
        for label, block in blocks:
            self._routine.place(label)
            results = yield block
            for slot, result in zip(slots, results, strict=True):
                self._put(slot, result)
            self._routine.jump(after)
        self._routine.place(after)
        return [self._take(slot, out) for slot, out in zip(slots, outs, strict=True)]

    # Variables that keep what some blocks give, on the stack: in a scalar if that is the same in all lanes.

    def _slot(self, variable: scalar.Variable, *, lanes: bool = False) -> _Slot:
        writer = self._writer
        one = writer.lanes == 1 or (not lanes and self._differences is not None and self._differences.alike(variable))
        type_ = (writer.scalar if one else writer.code).type(variable.type)
        return _Slot(self._routine.slot(type_, align=8 if one else 64), type_, one)

    def _put(self, slot: _Slot, value: Value) -> None:
        self._routine.store(slot.type, self._writer.one(value) if slot.one else self._writer.every(value), slot.address)

    def _take(self, slot: _Slot, variable: scalar.Variable) -> Value:
        text = self._routine.load(slot.type, slot.address)
        return Uniform(text, variable.type) if slot.one else self._writer.varying(text, variable.type)

    def _masked_conditional(
        self, statement: scalar.If, condition: Value, environment: Environment, mask: str | None
    ) -> Task:
        apart = mask is None and _reads_apart(statement, windows=self._writer.bends)
        ends = self._writer.ends(condition) if apart else None
        if ends is not None:
            return (yield self._alike(statement, condition, ends, environment))
        return (yield self._selected(statement, condition, environment, mask))

    def _selected(self, statement: scalar.If, condition: Value, environment: Environment, mask: str | None) -> Task:
        writer = self._writer
        chosen = writer.every(condition)
        then = yield self._if_any(statement.then, statement.outs, environment, writer.both(mask, chosen))
        orelse = yield self._if_any(statement.orelse, statement.outs, environment, writer.without(mask, chosen))
        pairs = list(zip(then, orelse, strict=True))
        if self._differences is None or not writer.is_uniform(condition):
            return [writer.select(chosen, first, second) for first, second in pairs]
        return [writer.choose(writer.one(condition), first, second) for first, second in pairs]

    def _if_any(
        self, block: scalar.Block, outs: Sequence[scalar.Variable], environment: Environment, mask: str | None
    ) -> Task:
        """What a block gives in the lanes of a mask. A heavy one is left out, by a branch, where there are none."""
        writer, routine = self._writer, self._routine
        if mask is None or _time(block, writer.lanes) < WORTH_A_BRANCH:
            return (yield self._block(block, environment, mask))
        slots = [self._slot(out, lanes=True) for out in outs]
        for slot in slots:
            # Anything, but never undefined.
            routine.store(slot.type, "zeroinitializer", slot.address)
        with routine.when(writer.any(mask)), writer.some_active(mask):
            results = yield self._block(block, environment, mask)
            for slot, result in zip(slots, results, strict=True):
                self._put(slot, result)
        return [self._take(slot, out) for slot, out in zip(slots, outs, strict=True)]

    def _alike(self, statement: scalar.If, condition: Value, ends: tuple[str, str], environment: Environment) -> Task:
        """One block alone, without masks, where the condition is the same in all lanes; `ends` say whether it is.

        Most vectors of a loop over what stands one after the other, as of `append`, are so.
        """
        routine = self._routine
        every, not_every, none, mixed = (routine.label() for _ in range(4))
        routine.branch(ends[0], every, not_every)
        routine.place(not_every)
        routine.branch(ends[1], none, mixed)
        blocks = [
            (every, self._block(statement.then, environment, None)),
            (none, self._block(statement.orelse, environment, None)),
            (mixed, self._selected(statement, condition, environment, None)),
        ]
        return (yield self._alternatives(statement.outs, blocks))

    def _loop(self, statement: scalar.While, environment: Environment, mask: str | None) -> Task:
        """Parameters live in slots."""
        slots = [self._slot(parameter) for parameter in statement.parameters]
        for slot, operand in zip(slots, statement.initial, strict=True):
            self._put(slot, self._operand(operand, environment))
        turns = self._routine.slot("i64")
        self._routine.store("i64", str(TURNS), turns)
        together = self._differences is not None and all(map(self._differences.alike, statement.condition.results))
        if self._writer.lanes == 1 or together:
            return (yield self._loop_together(statement, slots, turns, environment, mask))
        return (yield self._loop_apart(statement, slots, turns, environment, mask))

    def _loop_together(
        self, statement: scalar.While, slots: Sequence[_Slot], turns: str, environment: Environment, mask: str | None
    ) -> Task:
        """A loop that all lanes leave in the same turn: those that are not active need no mask but that of before."""
        routine, writer = self._routine, self._writer
        some = None if mask is None else writer.any(mask)
        with routine.repeat() as while_:
            self._reload(statement.parameters, slots, environment)
            (going,) = yield self._block(statement.condition, environment, mask)
            condition = writer.one(going)
            while_(condition if some is None else routine.code.emit(f"and i1 {condition}, {some}"))
            self._poll(turns)
            with writer.some_active(mask):
                results = yield self._block(statement.body, environment, mask)
            for slot, result in zip(slots, results, strict=True):
                self._put(slot, result)
        self._reload(statement.parameters, slots, environment)
        return [environment[parameter.number] for parameter in statement.parameters]

    def _loop_apart(
        self, statement: scalar.While, slots: Sequence[_Slot], turns: str, environment: Environment, mask: str | None
    ) -> Task:
        """A loop that lanes leave one by one: a mask says which still run, the others keep what they have.

        So does a copy in lanes of what is the same in those that run, if somebody reads it afterwards.
        """
        routine, writer = self._routine, self._writer
        kept = [
            self._slot(parameter, lanes=True) if slot.one and self._is_read(out) else None
            for slot, parameter, out in zip(slots, statement.parameters, statement.outs, strict=True)
        ]
        for own, operand in zip(kept, statement.initial, strict=True):
            if own is not None:
                self._put(own, self._operand(operand, environment))
        masks = writer.code.type(BOOL)
        everywhere = writer.code.splat("i1", "true")
        active = routine.slot(masks, align=64)
        routine.store(masks, mask or everywhere, active)
        with routine.repeat() as while_:
            self._reload(statement.parameters, slots, environment)
            running = routine.load(masks, active)
            (going,) = yield self._block(statement.condition, environment, running)
            still = writer.both(running, writer.every(going)) or everywhere
            routine.store(masks, still, active)
            while_(writer.any(still))
            self._poll(turns)
            with writer.some_active(still):
                results = yield self._block(statement.body, environment, still)
            for slot, own, parameter, result in zip(slots, kept, statement.parameters, results, strict=True):
                before = environment[parameter.number] if own is None else self._take(own, parameter)
                if own is not None:
                    self._put(own, writer.select(still, result, before))
                self._put(slot, result if slot.one else writer.select(still, result, before))
        last = [own or slot for own, slot in zip(kept, slots, strict=True)]
        self._reload(statement.parameters, last, environment)
        return [environment[parameter.number] for parameter in statement.parameters]

    def _is_read(self, variable: scalar.Variable) -> bool:
        return self._differences is not None and variable.number in self._differences.read

    def _poll(self, turns: str) -> None:
        """Counts a turn of a loop down in the slot `turns`; at 0 looks whether the loop is still wanted."""
        routine = self._routine
        left = routine.code.emit(f"sub i64 {routine.load('i64', turns)}, 1")
        routine.store("i64", left, turns)
        with routine.when(routine.code.emit(f"icmp eq i64 {left}, 0")):
            self._memory.poll()
            routine.store("i64", str(TURNS), turns)

    def _reload(self, parameters: Sequence[scalar.Variable], slots: Sequence[_Slot], environment: Environment) -> None:
        for parameter, slot in zip(parameters, slots, strict=True):
            environment[parameter.number] = self._take(slot, parameter)


@dataclass(frozen=True, slots=True)
class _Slot:
    """A variable on the stack, and its LLVM type; `one`: a scalar."""

    address: str
    type: str
    one: bool


def _time(block: scalar.Block, lanes: int) -> int:
    """How long a block takes for so many lanes, in the time of an addition of a register of its widest numbers."""
    function = scalar.Function((), block)
    widest = max([variable.type.bytes for variable in programs.bound(function)], default=1)
    return function_work(function, TIME) * max(1, lanes * widest // REGISTER_BYTES)


def _reads_apart(statement: scalar.If, *, windows: bool) -> bool:
    """Whether the blocks of a conditional read memory, nothing that may fail, and do little else: then masks cost most.

    Processors with AVX-512 load under masks as quickly as without them.
    """
    if host().processor.has_avx512 and not windows:
        return False
    inside = statement.then.statements + statement.orelse.statements
    loads = [each for each in inside if isinstance(each, scalar.Load)]
    plain = all(isinstance(each, scalar.Compute | scalar.Load) for each in inside)
    return plain and bool(loads) and len(inside) <= FEW and not any(load.may_fail for load in loads)
