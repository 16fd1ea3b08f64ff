"""What only spreads an array is made where it is read, also in loops and branches.

A `replicate`, or a window over an array, has more elements than what it reads, and computes nothing. In one body it is fused
with what reads it, and never stored. But a loop reads what was made before it from memory, and a replicate of what a loop
does not change was moved there (`invariants.py`): of a product of n x n matrices in a loop that were n^3 elements. So a loop or
a branch makes such an array itself, and reads the smaller one.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from accel.ast.tree.operators import Operator
from accel.labelled import programs, rewrite
from accel.labelled.array import Array, Extent, Label
from accel.labelled.nodes import Backpermute, Binding, Program, Reshape
from accel.labelled.operations import Role, describe, parts, with_parts
from accel.labelled.passes.dependence import Names
from accel.labelled.passes.shapes.bounds import reads_inside
from accel.labelled.scalar import Compute, Function

_SHIFTS = frozenset({Operator.ADD, Operator.SUB})


def spread_inside(program: Program) -> Program:
    """The program whose loops and branches make what only spreads an array. Labels no longer rise; what is unused stays."""
    return _Spread(Names(program)).program(program, {})


@dataclass(frozen=True, slots=True)
class _Spread:
    names: Names

    def program(self, part: Program, around: Mapping[Label, Binding]) -> Program:
        """`around`: what spreads arrays around the part. It recurses on nested control flow only."""
        known = dict(around)
        bindings: list[Binding] = []
        again: dict[Label, Label] = {}
        for binding in part.bindings:
            if parts(binding.operation):
                inner = with_parts(binding.operation, lambda each: self.program(each, known))
                bindings.append(replace(binding, operation=inner))
                continue
            binding = _renamed(binding, around)
            made = [each for label in _read_in_order(binding, around) for each in self._again(label, around, again)]
            made.append(_reading(binding, again))
            bindings += made
            for each in made:
                if _spreads(each, known):
                    known[each.label] = each
        return replace(part, bindings=tuple(bindings))

    def _again(self, label: Label, around: Mapping[Label, Binding], again: dict[Label, Label]) -> list[Binding]:
        """What makes an array once more, and before it what makes those that it reads; `again` has their labels."""
        pending, made = [label], list[Binding]()
        while pending:
            binding = around[pending[-1]]
            missing = [each for each in _read_in_order(binding, around) if each not in again]
            if missing:
                pending += missing
                continue
            pending.pop()
            if binding.label not in again:
                own = again[binding.label] = self.names.label()
                arrays = tuple([replace(array, label=own) for array in binding.arrays])
                made.append(replace(_reading(binding, again), label=own, arrays=arrays))
        return made


def _renamed(binding: Binding, around: Mapping[Label, Binding]) -> Binding:
    """A binding that makes an array in `around` with extents of other names, which a check before it has found equal.

    Such a check's result is a `Reshape` that comes after it (`shapes/reshapes.py`). Other bindings stay what they are.
    """
    operation = binding.operation
    if not isinstance(operation, Reshape) or not binding.after or len(binding.arrays) > 1:
        return binding
    (array,) = operation.inputs
    maker = around.get(array.label)
    if maker is None or not isinstance(maker.operation, Backpermute):
        return binding
    inputs = (maker.operation.inputs[maker.arrays.index(array)],)
    return replace(
        binding,
        operation=replace(maker.operation, inputs=inputs, inside=True),
        after=tuple(dict.fromkeys((*maker.after, *binding.after))),
    )


def _spreads(binding: Binding, known: Mapping[Label, Binding]) -> bool:
    """Whether a binding makes more elements than it reads, or moves those of such a one, at indices that cost nothing."""
    operation = binding.operation
    if not isinstance(operation, Backpermute) or not _is_shift(operation.function):
        return False
    larger = not operation.shrinking or any(array.label in known for array in operation.inputs)
    return larger and reads_inside(binding)


def _is_shift(function: Function) -> bool:
    """Whether coordinates are kept, left out, and moved by an extent at most."""
    statements = function.body.statements
    return len(statements) <= len(function.body.results) and all(
        isinstance(statement, Compute) and statement.operator in _SHIFTS for statement in statements
    )


def _read_in_order(binding: Binding, labels: Container[Label]) -> list[Label]:
    """Those of the labels that a binding reads element by element, and not by index as well."""
    operation = binding.operation
    roles = (Role.STREAM, Role.SOURCE) if isinstance(operation, Backpermute) else (Role.STREAM,)
    loaded = {array.label for function in programs.functions(operation) for array in programs.loaded(function)}
    read = dict.fromkeys(array.label for array in describe(operation).read(*roles))
    return [label for label in read if label in labels and label not in loaded]


def _reading(binding: Binding, again: Mapping[Label, Label]) -> Binding:
    """The binding, reading in order what was made again."""
    read = _read_in_order(binding, again)

    def array(old: Array) -> Array:
        return replace(old, label=again[old.label]) if old.label in read else old

    return replace(binding, operation=rewrite.operation(binding.operation, rewrite.Substitution(array, _same)))


def _same(extent: Extent) -> Extent:
    return extent
