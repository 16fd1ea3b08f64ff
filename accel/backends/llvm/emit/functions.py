"""Writes scalar functions: blocks of operators, loads, conditionals and loops.

In scalar code conditionals and loops are branches. In vector code a conditional computes both blocks under masks and
selects, and a loop runs until no lane is active: loads of lanes that are not active are masked away, everything else is
total. Nested blocks are a stack of generators, so nothing here recurses on the depth of the user's expression.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias, assert_never

from accel.ast.tree.types import BOOL
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.values import Fixed, Uniform, Value, Writer
from accel.backends.llvm.machine.target import host
from accel.backends.sites import IndexSite
from accel.labelled import scalar
from accel.labelled.array import Extent

Task: TypeAlias = Generator["Task", list[Value], list[Value]]
Environment: TypeAlias = dict[int, Value]
"""Values of variables by their number."""


FEW = 16
"""Statements of a conditional that is written three times, for lanes that agree, on this or that, and for others."""

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
            return finish(self._block(body, environment, mask))
        # Most are operators alone: no task is needed, and tiles write hundreds of them.
        for statement in computed:
            self._compute(statement, environment)
        return [self._operand(operand, environment) for operand in body.results]

    def _compute(self, statement: scalar.Compute, environment: Environment) -> None:
        values = [self._operand(argument, environment) for argument in statement.arguments]
        environment[statement.out.number] = self._writer.operator(statement.operator, statement.out.type, values)

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
                    environment[out.number] = self._memory.read(array, position, mask)
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
        if self._writer.lanes > 1 and not (self._branches and mask is None and isinstance(condition, Uniform)):
            return (yield self._masked_conditional(statement, condition, environment, mask))
        then, orelse = self._routine.label(), self._routine.label()
        self._routine.branch(self._writer.one(condition), then, orelse)
        blocks = [
            (label, self._block(each, environment, None))
            for label, each in ((then, statement.then), (orelse, statement.orelse))
        ]
        return (yield self._alternatives(statement.outs, blocks))

    def _alternatives(self, outs: Sequence[scalar.Variable], blocks: Sequence[tuple[str, Task]]) -> Task:
        """What one of the blocks gives, to whose label somebody jumps."""
        routine, writer = self._routine, self._writer
        types = [writer.code.type(out.type) for out in outs]
        slots = [routine.slot(type_, align=8 if writer.lanes == 1 else 64) for type_ in types]
        after = routine.label()
        for label, block in blocks:
            routine.place(label)
            results = yield block
            for slot, type_, result in zip(slots, types, results, strict=True):
                routine.store(type_, writer.every(result), slot)
            routine.jump(after)
        routine.place(after)
        every = zip(slots, types, outs, strict=True)
        return [writer.varying(routine.load(type_, slot), out.type) for slot, type_, out in every]

    def _masked_conditional(
        self, statement: scalar.If, condition: Value, environment: Environment, mask: str | None
    ) -> Task:
        chosen = self._writer.every(condition)
        ends = None if mask is not None or not _reads_apart(statement) else self._writer.ends(condition)
        if ends is not None:
            return (yield self._alike(statement, chosen, ends, environment))
        return (yield self._selected(statement, chosen, environment, mask))

    def _selected(self, statement: scalar.If, chosen: str, environment: Environment, mask: str | None) -> Task:
        writer = self._writer
        then = yield self._block(statement.then, environment, writer.both(mask, chosen))
        orelse = yield self._block(statement.orelse, environment, writer.without(mask, chosen))
        return [writer.select(chosen, first, second) for first, second in zip(then, orelse, strict=True)]

    def _alike(self, statement: scalar.If, chosen: str, ends: tuple[str, str], environment: Environment) -> Task:
        """One block alone, without masks, where the condition `chosen` is the same in all lanes; `ends` say whether it is.

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
            (mixed, self._selected(statement, chosen, environment, None)),
        ]
        return (yield self._alternatives(statement.outs, blocks))

    def _loop(self, statement: scalar.While, environment: Environment, mask: str | None) -> Task:
        """Parameters live in slots of all lanes; with several lanes a mask says which still run."""
        routine, writer = self._routine, self._writer
        types = [writer.code.type(parameter.type) for parameter in statement.parameters]
        slots = [routine.slot(type_, align=64) for type_ in types]
        for slot, type_, operand in zip(slots, types, statement.initial, strict=True):
            routine.store(type_, writer.every(self._operand(operand, environment)), slot)
        active = routine.slot(writer.code.type(BOOL), align=64)
        everywhere = writer.code.splat("i1", "true")
        routine.store(writer.code.type(BOOL), mask or everywhere, active)
        turns = routine.slot("i64")
        routine.store("i64", str(TURNS), turns)
        with routine.repeat() as while_:
            self._reload(statement, types, slots, environment)
            running = None if writer.lanes == 1 else routine.load(writer.code.type(BOOL), active)
            (going,) = yield self._block(statement.condition, environment, running)
            still = writer.both(running, writer.every(going)) or everywhere
            routine.store(writer.code.type(BOOL), still, active)
            while_(writer.any(still))
            self._poll(turns)
            results = yield self._block(statement.body, environment, None if writer.lanes == 1 else still)
            for slot, type_, parameter, result in zip(slots, types, statement.parameters, results, strict=True):
                if writer.lanes > 1:
                    result = writer.select(still, result, environment[parameter.number])
                routine.store(type_, writer.every(result), slot)
        self._reload(statement, types, slots, environment)
        return [environment[parameter.number] for parameter in statement.parameters]

    def _poll(self, turns: str) -> None:
        """Counts a turn of a loop down in the slot `turns`; at 0 looks whether the loop is still wanted."""
        routine = self._routine
        left = routine.code.emit(f"sub i64 {routine.load('i64', turns)}, 1")
        routine.store("i64", left, turns)
        with routine.when(routine.code.emit(f"icmp eq i64 {left}, 0")):
            self._memory.poll()
            routine.store("i64", str(TURNS), turns)

    def _reload(self, statement: scalar.While, types: list[str], slots: list[str], environment: Environment) -> None:
        for parameter, type_, slot in zip(statement.parameters, types, slots, strict=True):
            value = self._writer.varying(self._routine.load(type_, slot), parameter.type)
            environment[parameter.number] = value


def _reads_apart(statement: scalar.If) -> bool:
    """Whether the blocks of a conditional read memory, nothing that may fail, and do little else: then masks cost most.

    Processors with AVX-512 load under masks as quickly as without them.
    """
    if host().processor.has_avx512:
        return False
    inside = statement.then.statements + statement.orelse.statements
    loads = [each for each in inside if isinstance(each, scalar.Load)]
    plain = all(isinstance(each, scalar.Compute | scalar.Load) for each in inside)
    return plain and bool(loads) and len(inside) <= FEW and not any(load.may_fail for load in loads)
