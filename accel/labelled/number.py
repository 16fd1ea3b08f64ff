"""Labels, leaves and size variables numbered in order, so that equal programs have equal texts.

Labels rise in the order of the text, sub-programs after the binding that holds them. Size variables rise in order of
occurrence; what unification has replaced comes last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from accel.labelled import rewrite
from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.nodes import Binding, BindSizes, Equality, Program
from accel.labelled.operations import parts, with_parts


def number(program: Program) -> Program:
    """The program with labels, leaves and size variables from 0 without gaps."""
    numbering = _Numbering()
    numbering.visit(program)
    for shape in program.own_shapes:
        numbering.sizes(shape)
    return numbering.program(program)


class _Numbering:
    def __init__(self) -> None:
        self._labels: dict[Label, Label] = {}
        self._leaves: dict[tuple[Label, int], int] = {}
        self._sizes: dict[SizeVariable, SizeVariable] = {}
        self._arrays: dict[Array, Array] = {}
        self._to = rewrite.Substitution(self._array, self._extent)

    def visit(self, program: Program) -> None:
        """Assign numbers, in the order of the text."""
        for parameter in program.parameters:
            self._bound(parameter)
        for binding in program.bindings:
            self._labels.setdefault(binding.label, len(self._labels))
            if isinstance(binding.operation, BindSizes):
                self.sizes(Extent(variable, 0) for variable in binding.operation.variables)
            self._bound(binding.arrays)
            for part in parts(binding.operation):
                self.visit(part)

    def _bound(self, arrays: Iterable[Array]) -> None:
        for position, array in enumerate(arrays):
            self._labels.setdefault(array.label, len(self._labels))
            self._leaves[array.label, array.leaf] = position
            self.sizes(array.shape)

    def sizes(self, extents: Iterable[Extent]) -> None:
        """Number the variables of extents that have none yet."""
        for extent in extents:
            if extent.variable is not None:
                self._sizes.setdefault(extent.variable, SizeVariable(len(self._sizes)))

    def _extent(self, extent: Extent) -> Extent:
        return extent if extent.variable is None else Extent(self._sizes[extent.variable], extent.offset)

    def _array(self, array: Array) -> Array:
        found = self._arrays.get(array)
        if found is None:
            label, leaf = self._labels[array.label], self._leaves[array.label, array.leaf]
            found = self._arrays[array] = Array(label, leaf, array.element, self._shape(array.shape))
        return found

    def _shape(self, shape: Shape) -> Shape:
        return self._to.shape(shape)

    def program(self, program: Program) -> Program:
        """Apply the numbers. It recurses on nested control flow only."""
        return Program(
            tuple([self._to.arrays(parameter) for parameter in program.parameters]),
            tuple([self._binding(binding) for binding in program.bindings]),
            self._to.arrays(program.results),
            tuple([self._shape(shape) for shape in program.own_shapes]),
            tuple([self._equality(equality) for equality in program.equalities]),
        )

    def _binding(self, binding: Binding) -> Binding:
        operation = with_parts(rewrite.operation(binding.operation, self._to), self.program)
        arrays = self._to.arrays(binding.arrays)
        after = tuple([self._labels[label] for label in binding.after])
        return Binding(self._labels[binding.label], operation, arrays, after, binding.where)

    def _equality(self, equality: Equality) -> Equality:
        return replace(equality, left=self._shape(equality.left), right=self._shape(equality.right))
