"""One nest, run statement by statement: the innermost part of the reference evaluator of loop programs.

Streams live in one dictionary by name; a stream whose guard was false is absent, so that using it is an error of the program.
States are `Collected` (folds: elements are kept, and combined at the end in the order of folds) or `Running`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, assert_never

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
from accel.labelled.meaning.interpret import Element, Environment
from accel.labelled.scalar import Constant, Function

Combine: TypeAlias = Callable[[Element, Element], Element]


class Collected:
    """A fold: what is stepped is kept, and combined at the end."""

    def __init__(self, state: State, combine: Combine, seed: Element | None) -> None:
        self._state, self._combine, self._seed = state, combine, seed
        self._elements: list[Element] = []

    def step(self, element: Element) -> None:
        """One more element."""
        self._elements.append(element)

    def total(self) -> Element | None:
        """The seed, then the elements in the order of folds; None if there is nothing at all."""
        if not self._elements:
            return self._seed
        width = order.lanes([final.type for final in self._state.finals])
        total = order.fold(self._elements, self._combine, self._state.monoid.commutes, width)
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


def run_nest(nest: Nest, env: Environment) -> None:
    """Run a nest whose arrays are allocated. Raises `AccelIndexError` and `AccelValueError`."""
    _Run(nest, env).level(nest.body)


class _Run:
    def __init__(self, nest: Nest, env: Environment) -> None:
        self._env = env
        self._functions: dict[int, Prepared] = {id(f): env.function(f) for f in functions(nest)}
        self._streams: dict[str, Value] = {}
        self._states: dict[str, Collected | Running] = {}

    def level(self, level: Level) -> None:
        """A level: recursion is as deep as ranks are."""
        self._statements(level.before)
        if level.loop is not None:
            self._loop(level.loop)
        self._statements(level.after)

    def _loop(self, loop: For) -> None:
        states = [state for state in loop.states if self._holds(state.when)]
        for state in states:
            combine = self._combiner(state.merge)
            seed = None if state.initial is None else self._values(state.initial)
            self._states[state.name] = Running(combine, seed) if state.running else Collected(state, combine, seed)
        runs = all(self._value(inner.extent) for inner in needed_inside(loop))
        extent = int(self._value(loop.extent)) if runs else 0
        for i in range(extent) if loop.direction is LoopDirection.UP else range(extent - 1, -1, -1):
            self._streams[loop.index.name] = i
            self.level(loop.body)
        for state in states:
            total = self._states.pop(state.name).total()
            if total is not None:
                self._bind(state.finals, total)
            elif not state.running:
                raise faults.empty_row(state.combinator, self._env.shape(state.over), state.where)

    def _statements(self, statements: Sequence[LoopBody]) -> None:
        for statement in statements:
            if self._holds(statement.when):
                self._statement(statement)
            else:
                self._skip(statement)

    def _skip(self, statement: LoopBody) -> None:
        """A statement whose guard is false: a guard is false, a state stands still, nothing else is bound."""
        match statement:
            case OneToMaybe(out=out) | Within(out=out):
                self._streams[out.name] = False
            case ManyToOne(state=state, before=before, after=after):
                self._forget(after)
                if before and state in self._states:
                    self._bind(before, self._total(state))
            case OneToOne(outs=outs) | Remap(outs=outs):
                self._forget(outs)
            case Read(out=out):
                self._forget((out,))
            case Write() | Scatter():
                pass
            case _:
                assert_never(statement)

    def _statement(self, statement: LoopBody) -> None:
        match statement:
            case OneToOne(outs, function, arguments):
                self._bind(outs, self._call(function, self._values(arguments)))
            case OneToMaybe() | Within():
                self._bind((statement.out,), self._call(statement.function, self._values(statement.arguments)))
            case ManyToOne(state, values, before, after):
                if before:
                    self._bind(before, self._total(state))
                self._states[state].step(self._values(values))
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
        faults.require_inside(index, shape, remap.where)
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
        return guard is None or bool(self._streams[guard.name])

    def _total(self, state: str) -> Element:
        total = self._states[state].total()
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
                if name not in self._streams:
                    raise AccelInternalError(f"{name} is used where it does not exist")
                return self._streams[name]
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
        self._streams.update(zip((stream.name for stream in streams), values, strict=True))

    def _forget(self, streams: Sequence[Stream]) -> None:
        for stream in streams:
            self._streams.pop(stream.name, None)
