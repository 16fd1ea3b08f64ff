"""One nest, run statement by statement: the innermost part of the reference evaluator of loop programs.

Streams live in one dictionary by name; a stream whose guard was false is absent, so that using it is an error of the program.
States are `Collected` (folds: elements are kept, and combined at the end in the order of folds) or `Running`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Protocol, TypeAlias, assert_never

from accel.ast.meaning.semantics import Value
from accel.errors import AccelInternalError
from accel.ir.mentions import functions
from accel.ir.nodes import (
    For,
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
from accel.labelled.array import Array, Extent
from accel.labelled.meaning import faults, order
from accel.labelled.meaning.environment import Element, Environment
from accel.labelled.meaning.evaluate import Prepared
from accel.labelled.meaning.reductions import Folder, folder
from accel.labelled.scalar import Constant, Function

Combine: TypeAlias = Callable[[Element, Element], Element]
Values: TypeAlias = Callable[[], Element]
Run: TypeAlias = Callable[[], None]

_Step: TypeAlias = tuple[str | None, Run, Run]
"""The guard of a statement, what runs it, and what is done where the guard is false."""


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
    """Statements of a nest, run in the scope of `streams` and `states`, both by name.

    What a statement means is looked up when it first runs: see `prepared`.
    """

    def __init__(self, nest: Nest, environment: Environment) -> None:
        self._environment = environment
        self._functions: dict[int, Prepared] = {id(f): environment.function(f) for f in functions(nest)}
        self.streams: dict[str, Value] = {}
        self.states: dict[str, Accumulated] = {}
        self._folders: dict[str, Folder] = {}
        self._ready: dict[int, _Step] = {}
        self._iterations: dict[int, tuple[Values, Values]] = {}

    def begin(self, state: State) -> tuple[Combine, Element | None]:
        """What a state combines by, and its seed."""
        return self._combiner(state.merge), None if state.initial is None else self._reader(state.initial)()

    def finish(self, state: State) -> None:
        """Bind the final values of a state, which is gone then. Raises `AccelValueError` if it has none."""
        total = self.states.pop(state.name).total()
        if total is not None:
            self._binder(state.finals)(total)
        elif not state.running:
            number = None if state.segment is None else self._index((state.segment,))()[0]
            raise faults.empty_row(state.combinator, self._environment.shape(state.over), state.where, number)

    def extent(self, loop: For) -> int:
        """The loop's iterations; none where what it needs inside has none."""
        if id(loop) not in self._iterations:
            inside = self._reader([inner.extent for inner in needed_inside(loop)])
            self._iterations[id(loop)] = inside, self._reader((loop.extent,))
        inside, extent = self._iterations[id(loop)]
        return int(extent()[0]) if all(inside()) else 0

    def folded(self, state: State) -> Accumulated:
        """The state of a fold before its first element: it keeps all, and combines them at the end."""
        combine, seed = self.begin(state)
        if state.name not in self._folders:
            found = folder(state.merge, state.monoid, state.types, state.products, self._environment)
            self._folders[state.name] = found
        return Collected(self._folders[state.name], combine, seed)

    def exists(self, state: State) -> bool:
        """Whether the state's guard holds."""
        return state.when is None or bool(self.streams[state.when.name])

    def statements(self, statements: Sequence[LoopBody]) -> None:
        """Some statements of one level, in order."""
        for statement in statements:
            step = self._ready.get(id(statement))
            if step is None:
                guard = None if statement.when is None else statement.when.name
                step = self._ready[id(statement)] = guard, self.prepared(statement), self._skipped(statement)
            guard, run, skip = step
            if guard is None or self.streams[guard]:
                run()
            else:
                skip()

    def _skipped(self, statement: LoopBody) -> Run:
        """A statement whose guard is false: a guard is false, a state stands still, nothing else is bound."""
        match statement:
            case OneToMaybe(out=out) | Within(out=out):
                return lambda: self.streams.update({out.name: False})
            case ManyToOne():
                return self._standing_still(statement)
            case OneToOne(outs=outs) | Remap(outs=outs):
                return lambda: self._forget(outs)
            case Read(out=out):
                return lambda: self._forget((out,))
            case Write() | Scatter():
                return lambda: None
            case _:
                assert_never(statement)

    def _standing_still(self, step: ManyToOne) -> Run:
        bind = self._binder(step.before)

        def skip() -> None:
            self._forget(step.after)
            if step.before and step.state in self.states:
                bind(self._total(step.state))

        return skip

    def prepared(self, statement: LoopBody) -> Run:
        """What runs a statement whose guard holds, while arrays and sizes are what they are now."""
        match statement:
            case OneToOne(outs, function, arguments):
                return self._call(outs, function, arguments)
            case OneToMaybe() | Within():
                return self._call((statement.out,), statement.function, statement.arguments)
            case ManyToOne():
                return self._step(statement)
            case Remap():
                return self._remap(statement)
            case Read(out, array, index):
                return self._read(out, array, index)
            case Write(array, index, value):
                return self._write(array, index, value)
            case Scatter():
                return self._scatter(statement)
            case _:
                assert_never(statement)

    def _call(self, outs: Sequence[Stream], function: Function, arguments: Sequence[Operand]) -> Run:
        called, given, bind = self._functions[id(function)], self._reader(arguments), self._binder(outs)
        return lambda: bind(called(given()))

    def _step(self, step: ManyToOne) -> Run:
        state, given = step.state, self._reader(step.values)
        before, after = self._binder(step.before), self._binder(step.after)

        def run() -> None:
            if step.before:
                before(self._total(state))
            self.states[state].step(given())
            if step.after:
                after(self._total(state))

        return run

    def _read(self, out: Stream, array: Array, index: Sequence[Operand]) -> Run:
        item, place, name = self._environment.arrays[array].item, self._index(index), out.name

        def run() -> None:
            self.streams[name] = item(*place())

        return run

    def _write(self, array: Array, index: Sequence[Operand], value: Operand) -> Run:
        target, place, given = self._environment.arrays[array], self._index(index), self._reader((value,))

        def run() -> None:
            (target[place()],) = given()

        return run

    def _remap(self, remap: Remap) -> Run:
        place, shape, bind = (
            self._index(remap.arguments),
            self._environment.shape(remap.bounds),
            self._binder(remap.outs),
        )
        segment = remap.segment
        number = self._index(() if segment is None else (segment.number,))

        def run() -> None:
            index = place()
            if segment is None:
                faults.require_inside(index, shape, remap.where)
            else:
                faults.require_segment(index[:2], number()[0], shape[0] - 1, segment.combinator, remap.where)
            bind(index)

        return run

    def _scatter(self, scatter: Scatter) -> Run:
        targets, shape = (
            [self._environment.arrays[array] for array in scatter.arrays],
            self._environment.shape(scatter.arrays[0].shape),
        )
        place, given = self._index(scatter.index), self._reader(scatter.values)
        combine = self._functions[id(scatter.combine)]

        def run() -> None:
            index = place()
            faults.require_inside(index, shape, scatter.where)
            old = tuple([target.item(*index) for target in targets])
            for target, value in zip(targets, combine((*given(), *old)), strict=True):
                target[index] = value

        return run

    # Small parts.

    def _total(self, state: str) -> Element:
        total = self.states[state].total()
        if total is None:
            raise AccelInternalError(f"state {state} is read before its first step, and has no seed")
        return total

    def _combiner(self, merge: Function) -> Combine:
        call = self._functions[id(merge)]
        return lambda left, right: call((*left, *right))

    def _reader(self, operands: Sequence[Operand]) -> Values:
        """What gives the operands' values at the time."""
        found = [self._found(operand) for operand in operands]
        names = [name for name, _ in found if name is not None]
        if len(names) == len(found) > 1:
            return self._checked(itemgetter(*names))
        if len(names) == len(found) == 1:
            (name,) = names
            return self._checked(lambda streams: (streams[name],))
        return self._checked(lambda streams: tuple([value if name is None else streams[name] for name, value in found]))

    def _checked(self, read: Callable[[dict[str, Value]], Element]) -> Values:
        """What reads streams, all of which must be there."""

        def values() -> Element:
            try:
                return read(self.streams)
            except KeyError as missing:
                raise AccelInternalError(f"{missing.args[0]} is used where it does not exist") from None

        return values

    def _found(self, operand: Operand) -> tuple[str | None, Value]:
        """The name of a stream, or a value."""
        match operand:
            case Stream(name):
                return name, 0
            case Constant():
                return None, operand.value
            case Extent():
                return None, self._environment.shape((operand,))[0]
            case _:
                assert_never(operand)

    def _index(self, operands: Sequence[Operand]) -> Callable[[], tuple[int, ...]]:
        given = self._reader(operands)
        return lambda: tuple(map(int, given()))

    def _binder(self, streams: Sequence[Stream]) -> Callable[[Sequence[Value]], None]:
        """What binds streams to values."""
        names = [stream.name for stream in streams]
        if len(names) == 1:
            return partial(self._bind_one, names[0])
        return lambda values: self.streams.update(zip(names, values, strict=True))

    def _bind_one(self, name: str, values: Sequence[Value]) -> None:
        (self.streams[name],) = values

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


def run_nest(nest: Nest, environment: Environment) -> None:
    """Run a nest whose arrays are allocated. Raises `AccelIndexError` and `AccelValueError`."""
    _Run(nest, environment).level(nest.body)
