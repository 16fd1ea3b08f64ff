"""The counter that `iterate` adds to a program: users did not write it, so what is reported leaves it out.

In: a labelled program. Out: which loops are an `iterate`, how many turns they make, and what does nothing but count these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from accel.ast.tree.types import BOOL
from accel.errors import Where
from accel.explanation.naming.variables import Variables
from accel.ir.facts import Access, Traffic
from accel.ir.nodes import Nest
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Awhile, Binding, Program
from accel.labelled.operations import Kind, describe
from accel.labelled.programs import programs
from accel.labelled.scalar import Constant
from accel.support.dataclass import dataclass

Place: TypeAlias = tuple[int, int]


def place_of(where: Where | None) -> Place | None:
    """What two places have in common that are one, while they live: places are not equal otherwise."""
    return None if where is None else (id(where.code), where.instruction)


def is_iterate(binding: Binding) -> bool:
    """Whether a binding is the loop of an `iterate`: its step counts."""
    match binding.operation:
        case Awhile(body=body):
            return any(_counts(each) and place_of(each.where) == place_of(binding.where) for each in body.bindings)
        case _:
            return False


def _counts(binding: Binding) -> bool:
    """Whether a binding is a map that `iterate` made, not the user: no other combinator calls its maps so."""
    described = describe(binding.operation)
    return described.kind is Kind.MAP and described.name == "iterate"


@dataclass(frozen=True, slots=True)
class Counters:
    """What only counts turns: operations and arrays. turns: of each loop, as text; empty if the file does not tell."""

    operations: frozenset[Label]
    arrays: frozenset[Array]
    turns: dict[Label, str]

    def only(self, nest: Nest) -> bool:
        """Whether a nest makes counters and nothing else."""
        made = {*(output.array for output in nest.outputs), *(new for _, new in nest.in_place)}
        return bool(made) and made <= self.arrays

    def without(self, found: Traffic, nest: Nest) -> Traffic:
        """The passes of a nest, but for those over counters; none of one that makes nothing else."""
        if self.only(nest):
            return Traffic((), ())
        return Traffic(tuple(self._shown(found.reads)), tuple(self._shown(found.writes)))

    def _shown(self, passes: tuple[Access, ...]) -> Iterator[Access]:
        return (each for each in passes if each.array not in self.arrays)


def counters(program: Program, variables: Variables) -> Counters:
    """All counters of a program and of those within it."""
    bindings = [binding for each in programs(program) for binding in each.bindings]
    loops = [binding for binding in bindings if is_iterate(binding)]
    places = {place_of(binding.where) for binding in loops}
    labels = {binding.label for binding in bindings if _counts(binding)}
    labels |= {each.label for each in bindings if _is_unit(each) and place_of(each.where) in places}
    made = {array: binding for binding in bindings for array in binding.arrays}
    arrays = {array for binding in bindings if binding.label in labels for array in binding.arrays}
    turns: dict[Label, str] = {}
    for binding in loops:
        assert isinstance(binding.operation, Awhile)
        condition, body = binding.operation.condition, binding.operation.body
        carried = zip(binding.arrays, *(_leaves(part) for part in (condition, body)), body.results, strict=True)
        for first, (array, before, within, after) in zip(binding.operation.initial, carried, strict=True):
            if after in made and made[after].label in labels:
                arrays |= {array, before, within}
                if array.element is not BOOL:  # whether to go on is kept beside the number, and counts as little
                    turns[binding.label] = _number(made.get(first)) or variables.argument(binding.where, 0)
    return Counters(frozenset(labels), frozenset(arrays), turns)


def _leaves(part: Program) -> list[Array]:
    return [array for parameter in part.parameters for array in parameter]


def _is_unit(binding: Binding) -> bool:
    described = describe(binding.operation)
    return described.kind is Kind.GENERATE and described.name == "unit"


def _number(binding: Binding | None) -> str:
    """The value of an array that is one constant."""
    described = None if binding is None else describe(binding.operation)
    if described is None or described.kind is not Kind.GENERATE:
        return ""
    ((result,),) = [function.body.results for function in described.functions]
    return f"{result.value:,}" if isinstance(result, Constant) else ""
