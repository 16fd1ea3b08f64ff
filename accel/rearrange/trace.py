"""From a program to its linear nest: what [Ber]'s rules speak of is one nest of maps around at most one reduction.

In: a program's results and the loops that accel makes of it. Out: a `LinearNest` and the arrays that it reads. Raises
`AccelRearrangeError`, which says what is not linear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from string import ascii_lowercase, ascii_uppercase
from typing import NoReturn

import numpy as np

from accel.errors import AccelRearrangeError, Where, here
from accel.ir.nodes import (
    For,
    Launch,
    Level,
    LoopDirection,
    ManyToOne,
    Nest,
    OneToOne,
    Operand,
    Program,
    Read,
    State,
    Stream,
    Write,
)
from accel.labelled.array import Array, Extent, Shape, SizeVariable
from accel.labelled.scalar import Constant
from accel.rearrange.nest import LINEAR, Axis, HostArray, LinearNest, Operation, Reduction, Reference, Role
from accel.support.dataclass import dataclass

_LETTERS = "ijklmnopqrstuvwxyz" + ascii_lowercase[:8]


def linear_nest(
    program: Program, sizes: Mapping[SizeVariable, int], arguments: Sequence[HostArray]
) -> tuple[LinearNest, tuple[HostArray, ...]]:
    """The nest that a program is, and the arrays it reads, contiguous, in the order of its `reads`."""
    where = here()
    nests = [step.nest for step in program.steps if isinstance(step, Launch)]
    if len(nests) != 1 or len(program.results) != 1 or len(program.steps) != 1:
        loops = len(nests)
        message = f"a rearrangement is of one nest with one result, but this program has {loops} loop nests"
        if loops == 1:
            message = "a rearrangement is of one nest with one result, but this program does more than run its nest"
        raise AccelRearrangeError(message, where, hint="`A.explain` shows what they are; rearrange each by itself")
    leaves = [leaf for parameter in program.parameters for leaf in parameter]
    given = dict(zip(leaves, arguments, strict=True))
    return _Reader(nests[0], sizes, given, where).linear()


@dataclass(slots=True)
class _Reader:
    """One nest while it is read."""

    nest: Nest
    sizes: Mapping[SizeVariable, int]
    given: Mapping[Array, HostArray]
    where: Where | None
    _loops: list[For] = field(default_factory=list)

    def linear(self) -> tuple[LinearNest, tuple[HostArray, ...]]:
        levels = self._levels()
        state, depth = self._state()
        maps = self._loops[:depth]
        reads = [s for level in levels for s in level.before if isinstance(s, Read)]
        computed = [s for level in levels for s in level.before if isinstance(s, OneToOne)]
        references = [self._reference(read.array, read.index) for read in reads]
        registers = {read.out: number for number, read in enumerate(reads)}
        operations = []
        for statement in computed:
            arguments = tuple(self._value(registers, operand) for operand in statement.arguments)
            outs = tuple(range(len(registers), len(registers) + len(statement.outs)))
            registers.update(zip(statement.outs, outs, strict=True))
            operations.append(Operation(outs, statement.function, arguments))
        value, write = self._ends(levels, state, depth)
        extents = [self._extent(loop.extent) for loop in self._loops]
        if list(write.index) != [loop.index for loop in maps]:
            self._refuse("its result is written in another order than its loops have")
        linear = LinearNest(
            axes=_named(extents, depth),
            reads=tuple(references),
            operations=tuple(operations),
            value=self._value(registers, value),
            reduction=None if state is None else self._reduction(state),
            result=self._reference(write.array, write.index),
            shape=tuple(extents[:depth]),
            where=self.where,
        )
        return linear, tuple(np.ascontiguousarray(self._data(read.array)) for read in reads)

    def _levels(self) -> list[Level]:
        """The levels, outermost first; their loops are noted."""
        levels = [self.nest.body]
        while (loop := levels[-1].loop) is not None:
            if loop.direction is not LoopDirection.UP:
                self._refuse("one of its loops runs backwards")
            self._loops.append(loop)
            levels.append(loop.body)
        if not self._loops:
            self._refuse("it has no loop")
        return levels

    def _state(self) -> tuple[State | None, int]:
        """What is reduced, and at which depth its loops begin: without a reduction, below all."""
        states = [(state, depth) for depth, loop in enumerate(self._loops) for state in loop.states]
        if len(states) > 1:
            self._refuse("it has several reductions")
        if not states:
            return None, len(self._loops)
        state, depth = states[0]
        if len(state.finals) != 1 or state.running or state.when is not None:
            self._refuse("its reduction is of tuples, a scan, or behind a filter")
        return state, depth

    def _ends(self, levels: Sequence[Level], state: State | None, depth: int) -> tuple[Operand, Write]:
        """The value that is reduced or stored, and the statement that stores the result."""
        steps = [s for level in levels for s in (*level.before, *level.after)]
        others = [s for s in steps if not isinstance(s, (Read, OneToOne, ManyToOne, Write))]
        writes = [s for s in steps if isinstance(s, Write)]
        if others or len(writes) != 1:
            self._refuse("it filters, scatters, checks an index, or has several results")
        if any(getattr(s, "when", None) is not None for s in steps):
            self._refuse("some of it happens under a condition only")
        after = [s for level in levels for s in level.after if not isinstance(s, Write)]
        folds = [s for s in steps if isinstance(s, ManyToOne)]
        if any(not isinstance(s, ManyToOne) for s in after):
            self._refuse("something is computed of what the reduction gives")
        (write,) = writes
        if state is None:
            return write.value, write
        if write.value != state.finals[0] or write not in levels[depth].after:
            self._refuse("its result is not that of its reduction")
        if len(folds) != 1 or folds[0] not in (*levels[-1].before, *levels[-1].after):
            self._refuse("it reduces somewhere else than in its innermost loop")
        return folds[0].values[0], write

    def _reduction(self, state: State) -> Reduction:
        initial = state.monoid.neutral[0] if state.initial is None and state.monoid.neutral else None
        if state.initial is not None and isinstance(state.initial[0], Constant):
            initial = state.initial[0]
        if initial is None:
            self._refuse("its reduction begins with no constant")
        return Reduction(state.merge, state.monoid, initial)

    def _reference(self, array: Array, index: Sequence[Operand]) -> Reference:
        """Where the elements of an array in row-major order lie, seen from the loops."""
        strides, offset = [0] * len(self._loops), 0
        loops = {loop.index: depth for depth, loop in enumerate(self._loops)}
        step = 1
        for operand, extent in zip(reversed(index), reversed(self._shape(array.shape)), strict=True):
            if isinstance(operand, Constant):
                offset += int(operand.value) * step
            elif isinstance(operand, Stream) and operand in loops:
                strides[loops[operand]] += step
            else:
                self._refuse("it reads an array at an index that is computed")
            step *= extent
        return Reference(array.element, tuple(strides), offset)

    def _value(self, registers: Mapping[Stream, int], operand: Operand) -> int | Constant:
        if isinstance(operand, Constant):
            return operand
        if isinstance(operand, Stream) and operand in registers:
            return registers[operand]
        self._refuse("it computes with its indices or extents")

    def _data(self, array: Array) -> HostArray:
        if array not in self.given:
            self._refuse("it reads an array that is not an argument")
        return self.given[array]

    def _shape(self, shape: Shape) -> tuple[int, ...]:
        return tuple(self._extent(extent) for extent in shape)

    def _extent(self, extent: Operand) -> int:
        if not isinstance(extent, Extent):
            self._refuse("the extent of a loop is computed")
        return extent.offset + (0 if extent.variable is None else self.sizes[extent.variable])

    def _refuse(self, what: str) -> NoReturn:
        raise AccelRearrangeError(
            f"this nest is no linear nest of maps and one reduction: {what}",
            self.where,
            hint=LINEAR,
        )


def _named(extents: Sequence[int], depth: int) -> tuple[Axis, ...]:
    """Axes with the paper's names: maps by letters, the reduction without one if it has one axis."""
    axes = [
        Axis(_LETTERS[at], f"map{ascii_uppercase[at]}", Role.MAP, extent) for at, extent in enumerate(extents[:depth])
    ]
    reduced = extents[depth:]
    for at, extent in enumerate(reduced, depth):
        name = "rnz" if len(reduced) == 1 else f"rnz{ascii_uppercase[at - depth]}"
        axes.append(Axis(_LETTERS[at], name, Role.REDUCE, extent))
    return tuple(axes)
