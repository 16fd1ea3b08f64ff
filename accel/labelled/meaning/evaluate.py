"""Scalar functions with the reference semantics: what `accel.ast.meaning.semantics` says, element by element.

In: a labelled `Function`, the sizes and arrays that it mentions. Out: a Python callable over Python numbers. `prepare`
resolves everything once, so that calling walks a flat list of steps over numbered registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, assert_never

import numpy as np

from accel.ast.meaning.semantics import Implementation, Value, implementation
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.meaning import faults
from accel.labelled.meaning.divisions import watched
from accel.labelled.scalar import (
    Block,
    Compute,
    Constant,
    Function,
    If,
    Load,
    Operand,
    Statement,
    Variable,
    While,
    operand_type,
)

HostArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
"""A NumPy array of any rank, of one of accel's scalar types."""

Prepared: TypeAlias = Callable[[Sequence[Value]], tuple[Value, ...]]
"""A scalar function on Python numbers."""

_Step: TypeAlias = Callable[[list[Value]], None]


def evaluate(
    function: Function,
    arguments: Sequence[Value],
    sizes: Callable[[SizeVariable], int],
    arrays: Mapping[Array, HostArray],
    *,
    divisions: bool = False,
) -> tuple[Value, ...]:
    """The results of one call; `divisions` as for `prepare`. Raises `AccelIndexError` where a load is out of bounds."""
    return prepare(function, sizes, arrays, divisions=divisions)(arguments)


def prepare(
    function: Function,
    sizes: Callable[[SizeVariable], int],
    arrays: Mapping[Array, HostArray],
    *,
    divisions: bool = False,
) -> Prepared:
    """The function as a callable, for sizes and arrays that stay as they are.

    `divisions`: what comes of an integer that is divided by zero is no number (`divisions.py`).
    """
    registers = _Registers(sizes, arrays, divisions)
    for parameter in function.parameters:
        registers.place(parameter)
    steps = registers.steps(function.body)
    results = [registers.place(result) for result in function.body.results]
    template, count = registers.values, len(function.parameters)

    def call(arguments: Sequence[Value]) -> tuple[Value, ...]:
        values = template.copy()
        values[:count] = arguments
        for step in steps:
            step(values)
        return tuple([values[place] for place in results])

    return call


class _Registers:
    """Gives every operand a place in a list; constants and extents are there from the start."""

    def __init__(
        self, sizes: Callable[[SizeVariable], int], arrays: Mapping[Array, HostArray], divisions: bool
    ) -> None:
        self._divisions = divisions
        self._sizes = sizes
        self._arrays = arrays
        self._places: dict[Operand, int] = {}
        self.values: list[Value] = []

    def place(self, operand: Operand) -> int:
        found = self._places.get(operand)
        if found is None:
            found = self._places[operand] = len(self.values)
            self.values.append(self._initial(operand))
        return found

    def _initial(self, operand: Operand) -> Value:
        match operand:
            case Variable():
                return 0
            case Constant():
                return operand.value
            case Extent(variable, offset):
                return offset if variable is None else self._sizes(variable) + offset
            case _:
                assert_never(operand)

    def steps(self, block: Block) -> list[_Step]:
        return [self._step(statement) for statement in block.statements]

    def _step(self, statement: Statement) -> _Step:
        match statement:
            case Compute(out, operator, arguments):
                function = implementation(operator, out.type, tuple(operand_type(a) for a in arguments))
                if self._divisions:
                    function = watched(operator, out.type, function)
                return _compute(function, [self.place(a) for a in arguments], self.place(out))
            case Load():
                return _load(statement, self._arrays[statement.array], self.place)
            case If():
                return self._choice(statement)
            case While():
                return self._loop(statement)
            case _:
                assert_never(statement)

    def _choice(self, statement: If) -> _Step:
        condition = self.place(statement.condition)
        outs = [self.place(out) for out in statement.outs]
        branches = []
        for block in (statement.orelse, statement.then):
            branches.append((self.steps(block), [self.place(result) for result in block.results]))

        def step(values: list[Value]) -> None:
            steps, results = branches[bool(values[condition])]
            for inner in steps:
                inner(values)
            for out, result in zip(outs, results, strict=True):
                values[out] = values[result]

        return step

    def _loop(self, statement: While) -> _Step:
        initial = [self.place(operand) for operand in statement.initial]
        state = [self.place(parameter) for parameter in statement.parameters]
        outs = [self.place(out) for out in statement.outs]
        ask, change = self.steps(statement.condition), self.steps(statement.body)
        (asked,) = (self.place(result) for result in statement.condition.results)
        changed = [self.place(result) for result in statement.body.results]

        def move(values: list[Value], sources: list[int], targets: list[int]) -> None:
            for target, value in zip(targets, [values[source] for source in sources], strict=True):
                values[target] = value

        def step(values: list[Value]) -> None:
            move(values, initial, state)
            while True:
                for inner in ask:
                    inner(values)
                if not values[asked]:
                    break
                for inner in change:
                    inner(values)
                move(values, changed, state)
            move(values, state, outs)

        return step


def _compute(function: Implementation, places: list[int], out: int) -> _Step:
    match places:
        case [a]:

            def unary(values: list[Value]) -> None:
                values[out] = function(values[a])

            return unary
        case [a, b]:

            def binary(values: list[Value]) -> None:
                values[out] = function(values[a], values[b])

            return binary
        case _:

            def general(values: list[Value]) -> None:
                values[out] = function(*[values[place] for place in places])

            return general


def _load(statement: Load, data: HostArray, place: Callable[[Operand], int]) -> _Step:
    index, out, shape = [place(operand) for operand in statement.index], place(statement.out), data.shape
    item: Callable[..., Value] = data.item

    def step(values: list[Value]) -> None:
        position = [int(values[i]) for i in index]
        faults.require_inside(position, shape, statement.where)
        values[out] = item(*position)

    return step
