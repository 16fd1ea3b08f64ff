"""Folds of all elements read what was reshaped, not its view: they take elements in row-major order, whatever the shape.

In: a program. Out: one in which a fold of all of `reshape xs`, or of maps of such views, is a fold of more or fewer dimensions
of `xs`, or of maps of its shape. So no view stands between a fold and what makes its elements. A view that anything else reads
stays, and so does one whose size is checked when it is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from accel.ast.tree.types import I64
from accel.labelled import programs
from accel.labelled.array import Array, Shape
from accel.labelled.nodes import Acond, Awhile, Binding, Fold, Map, Operation, Program, Reshape
from accel.labelled.operations import parts
from accel.labelled.passes.shapes.factors import Sizes, factors
from accel.labelled.scalar import Function, Variable
from accel.labelled.scalar_text import variables_used
from accel.labelled.scalars.simplify import simplify


def is_blind(function: Function, rank: int) -> bool:
    """Whether a function of an index of that rank, and maybe elements, does not look at the index."""
    return variables_used(function.body).isdisjoint(function.parameters[:rank])


def with_rank(function: Function, old: int, new: int) -> Function:
    """A function that does not look at its index, of rank `old`, as one of an index of rank `new`."""
    ignored = tuple([Variable(-1 - axis, I64) for axis in range(new)])
    return simplify(Function(ignored + function.parameters[old:], function.body))


def fold_whole_arrays(program: Program, sizes: Sizes) -> Program:
    """The program and its sub-programs without views of which only folds of all elements are made."""
    views = _Views(program, sizes)
    bindings: list[Binding] = []
    for binding in program.bindings:
        found = views.lifted(binding)
        if found is not None:
            bindings.append(replace(found, operation=_inner(found.operation, sizes)))
    return replace(program, bindings=tuple(bindings))


def _inner(operation: Operation, sizes: Sizes) -> Operation:
    match operation:
        case Acond(_, then, orelse):
            branches = fold_whole_arrays(then, sizes), fold_whole_arrays(orelse, sizes)
            return replace(operation, then=branches[0], orelse=branches[1])
        case Awhile(condition, body):
            parts = fold_whole_arrays(condition, sizes), fold_whole_arrays(body, sizes)
            return replace(operation, condition=parts[0], body=parts[1])
        case _:
            return operation


class _Views:
    """The arrays that are views, or maps of views of one shape, for folds alone; and what folds read instead of them."""

    def __init__(self, program: Program, sizes: Sizes) -> None:
        self._sizes = sizes
        self._shapes: dict[Array, Shape] = {}
        """What each had as its shape, were it no view."""
        self._instead: dict[Array, Array] = {}
        for binding in program.bindings:
            self._find(binding)
        self._drop_what_others_read(program)

    def _find(self, binding: Binding) -> None:
        match binding.operation:
            case Reshape((source,)) if not binding.after and source.shape:
                if factors(source.shape, self._sizes) == factors(binding.arrays[0].shape, self._sizes):
                    self._shapes[binding.arrays[0]] = self._shapes.get(source, source.shape)
            case Map(function, inputs) if is_blind(function, len(binding.arrays[0].shape)):
                shape = self._shape_of_all(inputs)
                if shape is not None:
                    self._shapes |= dict.fromkeys(binding.arrays, shape)
            case _:
                pass

    def _shape_of_all(self, arrays: Iterable[Array]) -> Shape | None:
        shapes = {self._shapes.get(array) for array in arrays}
        return shapes.pop() if len(shapes) == 1 else None

    def _drop_what_others_read(self, program: Program) -> None:
        """A fold or map that reads a view reads its other views with it: what one of them loses, all lose."""
        together: dict[Array, list[tuple[Array, ...]]] = {}
        pending: list[Array] = list(program.results)
        for binding in program.bindings:
            loaded = [a for f in programs.functions(binding.operation) for a in programs.loaded(f)]
            pending += loaded
            group = self._group(binding)
            if group is None:
                pending += programs.reads(binding.operation)
            for array in group or ():
                together.setdefault(array, []).append(group or ())
            for part in parts(binding.operation):
                pending += _read_inside(part)
        while pending:
            array = pending.pop()
            if self._shapes.pop(array, None) is not None:
                pending += [other for group in together.get(array, ()) for other in group]

    def _group(self, binding: Binding) -> tuple[Array, ...] | None:
        """The arrays of a fold or map that go the same way; None for all operations that read views as such."""
        match binding.operation:
            case Fold(inputs=inputs, dimensions=dimensions):
                whole = dimensions == len(inputs[0].shape)
                return inputs if whole and self._shape_of_all(inputs) is not None else None
            case Map(inputs=inputs):
                return (*inputs, *binding.arrays) if binding.arrays[0] in self._shapes else None
            case Reshape((source,)) if source in self._shapes and binding.arrays[0] in self._shapes:
                return (source, *binding.arrays)
            case _:
                return None

    def lifted(self, binding: Binding) -> Binding | None:
        """The binding without views; None for a view that is no longer read."""
        match binding.operation:
            case Reshape((source,)) if binding.arrays[0] in self._shapes:
                self._instead[binding.arrays[0]] = self._instead.get(source, source)
                return None
            case Map(function, inputs) if binding.arrays[0] in self._shapes:
                shape = self._shapes[binding.arrays[0]]
                arrays = tuple([replace(array, shape=shape) for array in binding.arrays])
                self._instead |= zip(binding.arrays, arrays, strict=True)
                function = with_rank(function, len(binding.arrays[0].shape), len(shape))
                mapped = replace(binding.operation, function=function, inputs=self._sources(inputs))
                return replace(binding, operation=mapped, arrays=arrays)
            case Fold(inputs=inputs) as fold if inputs[0] in self._shapes:
                sources = self._sources(inputs)
                return replace(binding, operation=replace(fold, inputs=sources, dimensions=len(sources[0].shape)))
            case _:
                return binding

    def _sources(self, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        return tuple([self._instead.get(array, array) for array in arrays])


def _read_inside(program: Program) -> list[Array]:
    """What a sub-program, and those in it, read and give."""
    found: list[Array] = []
    for inner in programs.programs(program):
        found += inner.results
        for binding in inner.bindings:
            found += programs.reads(binding.operation)
    return found
