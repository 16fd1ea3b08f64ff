"""Copies before scatters: a scatter destroys its destination, so what is used otherwise must be copied first.

No copy is needed for a destination that an operation of the same program has computed and that nothing uses but earlier
bindings (they are ordered before the scatter) and the scatter itself. A constant destination is made again instead of
copied. The state of a loop that the body uses no longer may be somebody else's in the first turn, and is nobody's later: it has
a copy that is not made where that is seen to be so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TypeAlias

from accel.labelled import programs
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Awhile, Binding, Copy, Force, Generate, Program, Reshape, Scatter
from accel.labelled.operations import Kind, describe, with_parts

Leaf: TypeAlias = tuple[Label, int]


def insert_copies(program: Program) -> Program:
    """The program with a copy of every destination that must survive, and of none else."""
    return _Copies(1 + programs.highest_label(program)).program(program)


class _Copies:
    def __init__(self, fresh: Label) -> None:
        self._fresh = fresh
        self._constants: dict[Leaf, Generate] = {}

    def program(self, program: Program, state: frozenset[Leaf] = frozenset()) -> Program:
        """The program with copies; `state`: its parameters that nothing uses once it has run."""
        uses = _Uses(program, state)
        bindings: list[Binding] = []
        for position, binding in enumerate(program.bindings):
            match binding.operation:
                case Generate(function) if len(binding.arrays) == 1 and not function.body.statements:
                    self._constants[binding.label, binding.arrays[0].leaf] = binding.operation
                case Scatter(destinations=destinations) as scatter:
                    fresh = tuple(
                        [
                            a
                            if uses.dies_at(a, position)
                            else self._copy(a, binding, bindings, uses.ends_at(a, position))
                            for a in destinations
                        ]
                    )
                    binding = replace(binding, operation=replace(scatter, destinations=fresh))
                case Awhile(condition, body) as loop:
                    carried = frozenset((leaf.label, leaf.leaf) for parameter in body.parameters for leaf in parameter)
                    turned = replace(loop, condition=self.program(condition), body=self.program(body, carried))
                    binding = replace(binding, operation=turned)
                case _:
                    binding = replace(binding, operation=with_parts(binding.operation, self.program))
            bindings.append(binding)
        return replace(program, bindings=tuple(bindings))

    def _copy(self, array: Array, scatter: Binding, bindings: list[Binding], last: bool) -> Array:
        """Bind a copy of `array`, or the constant that it holds (made here or further out), again."""
        label, self._fresh = self._fresh, self._fresh + 1
        fresh = Array(label, 0, array.element, array.shape)
        made = self._constants.get((array.label, array.leaf))
        bindings.append(Binding(label, made or Copy((array,), last), (fresh,), (), scatter.where))
        return fresh


class _Uses:
    """Which operations use each array of a program, and where it comes from."""

    def __init__(self, program: Program, state: frozenset[Leaf]) -> None:
        self._state = state
        self._made: dict[Leaf, Binding] = {}
        self._last: dict[Leaf, int] = {}
        self._shared: set[Leaf] = {(array.label, array.leaf) for array in program.results}
        self._by_scatters: Counter[tuple[int, Leaf]] = Counter()
        for position, binding in enumerate(program.bindings):
            for array in binding.arrays:
                self._made[array.label, array.leaf] = binding
            self._visit(position, binding)

    def _visit(self, position: int, binding: Binding) -> None:
        operation = binding.operation
        for array in programs.reads(operation):
            self._last[array.label, array.leaf] = position
        if isinstance(operation, Scatter):
            loads = [a for function in programs.functions(operation) for a in programs.loaded(function)]
            self._by_scatters.update((position, (a.label, a.leaf)) for a in (*programs.inputs(operation), *loads))
        if isinstance(operation, Reshape | Force | Awhile):
            self._shared.update((array.label, array.leaf) for array in programs.inputs(operation))
        self._shared.update((array.label, array.leaf) for array in programs.used_inside(operation))

    def dies_at(self, array: Array, position: int) -> bool:
        """Whether the buffer of `array` is of no use after the scatter at `position`, nor otherwise to it."""
        made = self._made.get((array.label, array.leaf))
        return made is not None and describe(made.operation).kind is not Kind.BARRIER and self._is_last(array, position)

    def ends_at(self, array: Array, position: int) -> bool:
        """The same of a loop's state."""
        return (array.label, array.leaf) in self._state and self._is_last(array, position)

    def _is_last(self, array: Array, position: int) -> bool:
        leaf = (array.label, array.leaf)
        return leaf not in self._shared and self._last[leaf] <= position and self._by_scatters[position, leaf] == 1
