"""Scatters come after what else reads their destinations, so that they may take the memory (`copies.py`).

A user may write other results of a loop's turn behind the scatter into its state. They come before it if they do not need what
it makes: then no array is copied that others only have to read first.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from accel.labelled import programs
from accel.labelled.array import Label
from accel.labelled.nodes import Awhile, Binding, Program
from accel.labelled.operations import Role, describe, with_parts
from accel.labelled.passes.dependence import Names


def put_off_scatters(program: Program) -> Program:
    """The program, and its parts, in an order in which scatters stand behind other readers of what they destroy.

    That may be what the same program makes, or the state in the step of a loop.
    """
    return _part(program, frozenset(), Names(program))


def _part(program: Program, state: frozenset[Label], names: Names) -> Program:
    bindings = tuple([_binding(binding, names) for binding in program.bindings])
    return replace(program, bindings=_Order(bindings, names).late(state))


def _binding(binding: Binding, names: Names) -> Binding:
    match binding.operation:
        case Awhile(condition, body) as loop:
            state = frozenset(leaf.label for parameter in body.parameters for leaf in parameter)
            step = _part(body, state, names)
            return replace(binding, operation=replace(loop, condition=_part(condition, frozenset(), names), body=step))
        case operation:
            found = with_parts(operation, lambda part: _part(part, frozenset(), names))
            return binding if found is operation else replace(binding, operation=found)


class _Order:
    """The bindings of one program, in an order that changes."""

    def __init__(self, bindings: tuple[Binding, ...], names: Names) -> None:
        self._bindings = bindings
        self._names = names
        self._needs: dict[Label, set[Label]] = {}
        self._readers: dict[Label, set[Label]] = {}
        for binding in bindings:
            for array in programs.consumed(binding.operation):
                self._readers.setdefault(array.label, set()).add(binding.label)

    def late(self, state: frozenset[Label]) -> tuple[Binding, ...]:
        """Them with scatters into the state, or into what one of them makes, behind other readers of that."""
        own = state | {binding.label for binding in self._bindings}
        for binding in self._bindings:
            into = own & {array.label for array in describe(binding.operation).read(Role.DESTINATION)}
            readers = set[Label]().union(*(self._readers[label] for label in into))
            if len(readers) > 1:
                self._put_off(binding.label, readers)
        return self._bindings

    def _put_off(self, scatter: Label, readers: Set[Label]) -> None:
        """The scatter, and what needs it, stands behind the last of the readers that do not."""
        labels = [binding.label for binding in self._bindings]
        first = labels.index(scatter)
        if readers.isdisjoint(labels[first + 1 :]):
            return
        end, late = first, {scatter}
        for position, binding in enumerate(self._bindings[first + 1 :], first + 1):
            if self._needed(binding) & late:
                late.add(binding.label)
            elif binding.label in readers:
                end = position
        moved = self._bindings[first : end + 1]
        before, behind = (tuple([b for b in moved if (b.label in late) is which]) for which in (False, True))
        self._bindings = (*self._bindings[:first], *before, *behind, *self._bindings[end + 1 :])

    def _needed(self, binding: Binding) -> set[Label]:
        if binding.label not in self._needs:
            self._needs[binding.label] = self._names.needs(binding)
        return self._needs[binding.label]
