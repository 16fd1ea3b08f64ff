"""What is known of indices in a nest: they run over their loops, or over parts of them, and what is computed of them follows.

In: loops, and how far from their ends the indices stay. Out: statements whose scalar functions are made smaller by that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from accel.ir.nodes import (
    For,
    LoopBody,
    ManyToOne,
    OneToMaybe,
    OneToOne,
    Operand,
    Read,
    Remap,
    Scatter,
    Stream,
    Within,
    Write,
)
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.scalar import Compute, Constant, Function, Variable
from accel.labelled.scalars.ranges import UNKNOWN, Linear, Range, Ranges
from accel.labelled.scalars.simplify import simplify_within


def extent_of(loop: For) -> Extent | None:
    """A loop's extent if it is known at launch."""
    match loop.extent:
        case Extent():
            return loop.extent
        case Constant():
            return Extent(None, int(loop.extent.value))
        case Stream():
            return None
        case _:
            assert_never(loop.extent)


def arguments(statement: OneToOne) -> Iterator[tuple[Variable, Operand]]:
    """The function's parameters with what they stand for."""
    return zip(statement.function.parameters, statement.arguments, strict=True)


class Indices:
    """The ranges of streams inside of some loops, outermost first; those of statements are learnt in their order.

    `margins`: for loops by their number, how many indices at the beginning and at the end none of these statements sees.
    """

    def __init__(self, loops: Sequence[For], margins: Mapping[int, tuple[int, int]]) -> None:
        self._least: dict[SizeVariable, int] = {}
        self._streams: dict[str, Range] = {}
        for number, loop in enumerate(loops):
            extent = extent_of(loop)
            if extent is None:
                continue
            low, high = margins.get(number, (0, 0))
            last = Linear.of(extent).plus(Linear(high + 1), -1)
            self._streams[loop.index.name] = Range((Linear(low),), (last,))
            if extent.variable is not None:
                due = low + high + 1 - extent.offset
                self._least[extent.variable] = max(self._least.get(extent.variable, 0), due)

    def simplified(self, statement: LoopBody, *, remainders: bool = False) -> LoopBody:
        """The statement where streams lie in these ranges; what it makes is known from here on.

        With `remainders`, those of indices that are off by a few extents are written as comparisons.
        """
        match statement:
            case OneToOne(outs, function):
                known = {parameter: self._range(argument) for parameter, argument in arguments(statement)}
                made = simplify_within(function, Ranges.of_values(known, self._least), remainders=remainders)
                self._streams.update(zip((out.name for out in outs), self._results(function, known), strict=True))
                return replace(statement, function=made)
            case Remap(outs, indices):
                self._streams.update((out.name, self._range(i)) for out, i in zip(outs, indices, strict=True))
                return statement
            case ManyToOne() | OneToMaybe() | Within() | Read() | Write() | Scatter():
                return statement
            case _:
                assert_never(statement)

    def _results(self, function: Function, known: Mapping[Variable, Range]) -> list[Range]:
        ranges = Ranges.of_values(known, self._least)
        for statement in function.body.statements:
            if isinstance(statement, Compute):
                ranges.learn(statement.out, statement.operator, statement.arguments)
        return [ranges.of(result) for result in function.body.results]

    def _range(self, operand: Operand) -> Range:
        return self._streams.get(operand.name, UNKNOWN) if isinstance(operand, Stream) else Ranges((), ()).of(operand)
