"""One nest, run statement by statement: the innermost part of the reference evaluator of loop programs.

Streams live in one dictionary by name; a stream whose guard was false is absent, so that using it is an error of the program.
States are `Collected` (folds: elements are kept, and combined at the end in the order of folds) or `Running`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias, assert_never

from accel.ast.meaning.semantics import Value
from accel.errors import AccelInternalError
from accel.ir.mentions import functions
from accel.ir.nodes import (
    For,
    Guard,
    Level,
    LoopBody,
    LoopDirection,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Operand,
    Read,
    Remap,
    Scatter,
    State,
    Stream,
    Within,
    Write,
)
from accel.ir.positions import needed_inside
from accel.labelled.array import Extent
from accel.labelled.meaning import faults, order
from accel.labelled.meaning.evaluate import Prepared
from accel.labelled.meaning.interpret import Element, Environment, Folder, folder
from accel.labelled.scalar import Constant, Function

Combine: TypeAlias = Callable[[Element, Element], Element]


class Accumulated(Protocol):
    """A state while its loop runs."""

    def step(self, element: Element) -> None:
        """One more element."""

    def total(self) -> Element | None:
        """The value of all so far; None if there is nothing at all."""


class Collected:
    """A fold: what is stepped is kept, and combined at the end by `folded`."""

    def __init__(self, folded: Folder, combine: Combine, seed: Element | None) -> None:
        self._folded, self._combine, self._seed = folded, combine, seed
        self._elements: list[Element] = []

    def step(self, element: Element) -> None:
        """One more element."""
        self._elements.append(element)

    def total(self) -> Element | None:
        """The seed, then the elements in the order of folds; None if there is nothing at all."""
        if not self._elements:
            return self._seed
        total = self._folded(self._elements)
        return total if self._seed is None else self._combine(self._seed, total)


class Running:
    """A scan: its value is known at every step."""

    def __init__(self, combine: Combine, seed: Element | None) -> None:
        self._pending: list[Element] = []
        self._values = iter(order.scan(self._feed(), combine, seed))
        self._value = seed

    def _feed(self) -> Iterator[Element]:
        while True:
            yield self._pending.pop()

    def step(self, element: Element) -> None:
        """One more element."""
        self._pending.append(element)
        self._value = next(self._values)

    def total(self) -> Element | None:
        """The value after the last step."""
        return self._value


class Body:
    """Statements of a nest, run in the scope of `streams` and `states`, both by name."""

    def __init__(self, nest: Nest, env: Environment) -> None:
        self._env = env
        self._functions: dict[int, Prepared] = {id(f): env.function(f) for f in functions(nest)}
        self.streams: dict[str, Value] = {}
        self.states: dict[str, Accumulated] = {}
        self._folders: dict[str, Folder] = {}

    def begin(self, state: State) -> tuple[Combine, Element | None]:
        """What a state combines by, and its seed."""
        return self._combiner(state.merge), None if state.initial is None else self._values(state.initial)

    def finish(self, state: State) -> None:
        """Bind the final values of a state, which is gone then. Raises `AccelValueError` if it has none."""
        total = self.states.pop(state.name).total()
        if total is not None:
            self._bind(state.finals, total)
        elif not state.running:
            raise faults.empty_row(state.combinator, self._env.shape(state.over), state.where)

    def extent(self, loop: For) -> int:
        """The loop's iterations; none where what it needs inside has none."""
        runs = all(self._value(inner.extent) for inner in needed_inside(loop))
        return int(self._value(loop.extent)) if runs else 0

    def folded(self, state: State) -> Accumulated:
        """The state of a fold before its first element: it keeps all, and combines them at the end."""
        combine, seed = self.begin(state)
        if state.name not in self._folders:
            found = folder(state.merge, state.monoid, state.types, state.products, self._env)
            self._folders[state.name] = found
        return Collected(self._folders[state.name], combine, seed)

    def exists(self, state: State) -> bool:
        """Whether the state's guard holds."""
        return self._holds(state.when)

    def statements(self, statements: Sequence[LoopBody]) -> None:
        """Some statements of one level, in order."""
        for statement in statements:
            if self._holds(statement.when):
                self.statement(statement)
            else:
                self._skip(statement)

    def _skip(self, statement: LoopBody) -> None:
        """A statement whose guard is false: a guard is false, a state stands still, nothing else is bound."""
        match statement:
            case OneToMaybe(out=out) | Within(out=out):
                self.streams[out.name] = False
            case ManyToOne(state=state, before=before, after=after):
                self._forget(after)
                if before and state in self.states:
                    self._bind(before, self._total(state))
            case OneToOne(outs=outs) | Remap(outs=outs):
                self._forget(outs)
            case Read(out=out):
                self._forget((out,))
            case Write() | Scatter():
                pass
            case _:
                assert_never(statement)

    def statement(self, statement: LoopBody) -> None:
        """A statement whose guard holds."""
        match statement:
            case OneToOne(outs, function, arguments):
                self._bind(outs, self._call(function, self._values(arguments)))
            case OneToMaybe() | Within():
                self._bind((statement.out,), self._call(statement.function, self._values(statement.arguments)))
            case ManyToOne(state, values, before, after):
                if before:
                    self._bind(before, self._total(state))
                self.states[state].step(self._values(values))
                if after:
                    self._bind(after, self._total(state))
            case Remap():
                self._remap(statement)
            case Read(out, array, index):
                self._bind((out,), (self._env.arrays[array].item(*self._index(index)),))
            case Write(array, index, value):
                self._env.arrays[array][self._index(index)] = self._value(value)
            case Scatter():
                self._scatter(statement)
            case _:
                assert_never(statement)

    def _remap(self, remap: Remap) -> None:
        index, shape = self._index(remap.arguments), self._env.shape(remap.bounds)
        if remap.segments is None:
            faults.require_inside(index, shape, remap.where)
        else:
            faults.require_segment((index[0], index[1]), shape[0] - 1, remap.segments, remap.where)
        self._bind(remap.outs, index)

    def _scatter(self, scatter: Scatter) -> None:
        targets = [self._env.arrays[array] for array in scatter.arrays]
        index = self._index(scatter.index)
        faults.require_inside(index, self._env.shape(scatter.arrays[0].shape), scatter.where)
        old = tuple(target.item(*index) for target in targets)
        updated = self._call(scatter.combine, (*self._values(scatter.values), *old))
        for target, value in zip(targets, updated, strict=True):
            target[index] = value

    # Small parts.

    def _holds(self, guard: Guard) -> bool:
        return guard is None or bool(self.streams[guard.name])

    def _total(self, state: str) -> Element:
        total = self.states[state].total()
        if total is None:
            raise AccelInternalError(f"state {state} is read before its first step, and has no seed")
        return total

    def _combiner(self, merge: Function) -> Combine:
        call = self._functions[id(merge)]
        return lambda left, right: call((*left, *right))

    def _call(self, function: Function, arguments: Element) -> Element:
        return self._functions[id(function)](arguments)

    def _value(self, operand: Operand) -> Value:
        match operand:
            case Stream(name):
                if name not in self.streams:
                    raise AccelInternalError(f"{name} is used where it does not exist")
                return self.streams[name]
            case Constant():
                return operand.value
            case Extent():
                return self._env.shape((operand,))[0]
            case _:
                assert_never(operand)

    def _values(self, operands: Sequence[Operand]) -> Element:
        return tuple(map(self._value, operands))

    def _index(self, operands: Sequence[Operand]) -> tuple[int, ...]:
        return tuple(int(self._value(operand)) for operand in operands)

    def _bind(self, streams: Sequence[Stream], values: Sequence[Value]) -> None:
        self.streams.update(zip((stream.name for stream in streams), values, strict=True))

    def _forget(self, streams: Sequence[Stream]) -> None:
        for stream in streams:
            self.streams.pop(stream.name, None)


class _Run(Body):
    def level(self, level: Level) -> None:
        """A level: recursion is as deep as ranks are."""
        self.statements(level.before)
        if level.loop is not None:
            self._loop(level.loop)
        self.statements(level.after)

    def _loop(self, loop: For) -> None:
        states = list(filter(self.exists, loop.states))
        for state in states:
            self.states[state.name] = Running(*self.begin(state)) if state.running else self.folded(state)
        extent = self.extent(loop)
        for i in range(extent) if loop.direction is LoopDirection.UP else range(extent - 1, -1, -1):
            self.streams[loop.index.name] = i
            self.level(loop.body)
        for state in states:
            self.finish(state)


def run_nest(nest: Nest, env: Environment) -> None:
    """Run a nest whose arrays are allocated. Raises `AccelIndexError` and `AccelValueError`."""
    _Run(nest, env).level(nest.body)
