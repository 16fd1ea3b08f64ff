"""What a binding depends on, and programs written out again for other arrays.

A size variable is known where it has a *home*: the binding that finds it out, or the parameter in whose shape it first stands.
So all that a binding needs can be said in labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from accel.labelled import programs, rewrite
from accel.labelled.array import Array, Extent, Label, SizeVariable
from accel.labelled.nodes import Binding, Program
from accel.labelled.operations import parts, with_parts


class Names:
    """Which label makes each size variable of a program known, and a supply of labels and variables that it has not."""

    def __init__(self, program: Program) -> None:
        self._labels = programs.highest_label(program)
        self._homes: dict[SizeVariable, Label] = {}
        for item in programs.in_order(program):
            if isinstance(item, Binding):
                for variable in programs.sizes_bound(item):
                    self._homes.setdefault(variable, item.label)
            else:
                for leaf in item:
                    self._known(leaf)
        shapes = [*program.own_shapes, *(s for equality in program.equalities for s in (equality.left, equality.right))]
        own = [extent.variable.number for shape in shapes for extent in shape if extent.variable is not None]
        self._sizes = max([variable.number for variable in self._homes] + own, default=-1)

    def _known(self, parameter: Array) -> None:
        for extent in parameter.shape:
            if extent.variable is not None:
                self._homes.setdefault(extent.variable, parameter.label)

    def label(self) -> Label:
        """A label that nothing has yet."""
        self._labels += 1
        return self._labels

    def size(self, home: Label) -> SizeVariable:
        """A variable that nothing has yet, known by `home`."""
        self._sizes += 1
        self._homes[SizeVariable(self._sizes)] = home
        return SizeVariable(self._sizes)

    def home(self, variable: SizeVariable) -> Label | None:
        """What makes a size known; None for sizes that only the parameters' own shapes have."""
        return self._homes.get(variable)

    def needs(self, binding: Binding) -> set[Label]:
        """The labels on which a binding depends, with its sub-programs: of arrays, sizes, and checks that come before."""
        needed: set[Label] = set()
        inside = {binding.label}
        for one in nested(binding):
            inside.add(one.label)
            needed.update(one.after)
            needed.update(array.label for array in programs.reads(one.operation))
            extents = [extent.variable for array in one.arrays for extent in array.shape]
            for variable in (*programs.extents_mentioned(one.operation), *extents):
                home = None if variable is None else self._homes.get(variable)
                needed.update(() if home is None else (home,))
            for part in parts(one.operation):
                needed.update(array.label for array in part.results)
                inside.update(leaf.label for parameter in part.parameters for leaf in parameter)
        return needed - inside

    def instance(self, program: Program, arguments: Sequence[Array]) -> tuple[list[Binding], tuple[Array, ...]]:
        """The bindings and results of a sub-program for a state of `arguments`, all with names of their own."""
        copy = _Copy(self, program, arguments)
        return [copy.binding(binding) for binding in program.bindings], copy.arrays(program.results)


def nested(binding: Binding) -> Iterator[Binding]:
    """A binding and all that its sub-programs hold."""
    yield binding
    for part in programs.inside(binding.operation):
        yield from part.bindings


class _Copy:
    """Names of a sub-program replaced by fresh ones, its parameters by arrays."""

    def __init__(self, names: Names, program: Program, arguments: Sequence[Array]) -> None:
        self._names = names
        self._labels: dict[Label, Label] = {}
        self._arrays: dict[Array, Array] = {}
        self._sizes: dict[SizeVariable, Extent] = {}
        self._to = rewrite.Substitution(self._array, self._extent)
        leaves = [leaf for parameter in program.parameters for leaf in parameter]
        for leaf, argument in zip(leaves, arguments, strict=True):
            self._arrays[leaf] = argument
            for extent, actual in zip(leaf.shape, argument.shape, strict=True):
                if extent.variable is not None and names.home(extent.variable) == leaf.label:
                    self._sizes[extent.variable] = Extent(actual.variable, actual.offset - extent.offset)
        for item in programs.in_order(replace(program, parameters=())):
            labels = [item.label] if isinstance(item, Binding) else [leaf.label for leaf in item]
            self._labels |= {label: names.label() for label in labels if label not in self._labels}

    def arrays(self, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        return self._to.arrays(arrays)

    def _array(self, array: Array) -> Array:
        found = self._arrays.get(array)
        if found is None:
            label = self._labels.get(array.label, array.label)
            found = self._arrays[array] = replace(array, label=label, shape=self._to.shape(array.shape))
        return found

    def _extent(self, extent: Extent) -> Extent:
        if extent.variable is None:
            return extent
        if extent.variable not in self._sizes:
            home = self._names.home(extent.variable)
            fresh = None if home is None else self._labels.get(home)
            variable = extent.variable if fresh is None else self._names.size(fresh)
            self._sizes[extent.variable] = Extent(variable, 0)
        found = self._sizes[extent.variable]
        return Extent(found.variable, found.offset + extent.offset)

    def binding(self, binding: Binding) -> Binding:
        """It recurses on nested control flow only."""
        operation = with_parts(rewrite.operation(binding.operation, self._to), self._program)
        after = tuple([self._labels.get(label, label) for label in binding.after])
        return Binding(self._labels[binding.label], operation, self._to.arrays(binding.arrays), after, binding.where)

    def _program(self, program: Program) -> Program:
        return Program(
            tuple([self.arrays(parameter) for parameter in program.parameters]),
            tuple([self.binding(binding) for binding in program.bindings]),
            self.arrays(program.results),
        )
