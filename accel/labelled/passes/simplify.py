"""Labelled programs made smaller: aliases, common operations, views of views, what is unused.

In: a program as `desugar.py` emits it, and what is known of its sizes. Out: an equal one with resolved sizes, in which no
operation only passes an array on, no two do the same, and combining functions are described (`algebra.py`). Bindings
keep their labels; a binding may lose some of its leaves.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.labelled import rewrite
from accel.labelled.algebra import monoid_of, monoid_of_fold
from accel.labelled.array import Array, Extent, Label, SizeVariable
from accel.labelled.nodes import (
    Acond,
    Awhile,
    Backpermute,
    Binding,
    BindSizes,
    Copy,
    Filter,
    Fold,
    FoldSegments,
    Generate,
    HostCall,
    Map,
    Operation,
    Program,
    RequireEqual,
    Reshape,
    Scan,
    ScanSegments,
    Scatter,
    Use,
)
from accel.labelled.operations import with_parts
from accel.labelled.passes import dead
from accel.labelled.passes.pointwise import Pointwise, narrowed, passed_through, repeated, stream_loads
from accel.labelled.scalar import Compute, Function, Operand, Statement, constant
from accel.labelled.scalar_text import variables_used
from accel.labelled.scalars.simplify import simplify as simplify_function
from accel.labelled.sizes import Sizes
from accel.support.dataclass import dataclass

_Known = ChainMap[Hashable, Binding]


@dataclass(frozen=True, slots=True)
class _Cut:
    """A size that is `max(min(length, extent), 0)`; the length is the last result of the statements."""

    length: tuple[tuple[Statement, ...], Operand]
    extent: Operand


def simplify(program: Program, sizes: Sizes) -> Program:
    """The simplified program."""
    forward = _Forward(sizes)
    return dead.remove(forward.program(program, ChainMap()))


class _Forward:
    """Every array and every rigid extent has a replacement once its binding was visited."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._arrays: dict[tuple[Label, int], Array] = {}
        self._extents: dict[SizeVariable, Extent] = {}
        self._labels: dict[Label, Label | None] = {}
        self._cuts: dict[SizeVariable, _Cut] = {}
        self._views: dict[Array, Array] = {}  # what an unconditional reshape is a view of
        self._to = rewrite.Substitution(self._array, self._extent)

    def program(self, program: Program, known: _Known) -> Program:
        parameters = tuple([self._to.arrays(parameter) for parameter in program.parameters])
        bindings: list[Binding] = []
        for binding in program.bindings:
            self._binding(binding, bindings, known)
        return replace(
            program, parameters=parameters, bindings=tuple(bindings), results=self._to.arrays(program.results)
        )

    def _extent(self, extent: Extent) -> Extent:
        extent = self._sizes.resolve(extent)
        found = None if extent.variable is None else self._extents.get(extent.variable)
        return extent if found is None else Extent(found.variable, found.offset + extent.offset)

    def _array(self, array: Array) -> Array:
        key = (array.label, array.leaf)
        found = self._arrays.get(key)
        if found is None:
            found = self._arrays[key] = replace(array, shape=self._to.shape(array.shape))
        return found

    def _binding(self, binding: Binding, bindings: list[Binding], known: _Known) -> None:
        operation = self._inner(rewrite.operation(binding.operation, self._to), known)
        after = tuple([label for label in map(self._label, binding.after) if label is not None])
        arrays = self._to.arrays(binding.arrays)
        self._settle(replace(binding, operation=operation, arrays=arrays, after=after), bindings, known)

    def _label(self, label: Label) -> Label | None:
        return self._labels.get(label, label)

    def _inner(self, operation: Operation, known: _Known) -> Operation:
        """The operation with its sub-programs simplified and its combining function described."""
        operation = with_parts(operation, lambda part: self.program(part, known.new_child()))
        if isinstance(operation, Fold | FoldSegments):
            return replace(operation, monoid=monoid_of_fold(operation.combine))
        if isinstance(operation, Scan | ScanSegments | Scatter):
            return replace(operation, monoid=monoid_of(operation.combine))
        return operation

    def _settle(self, binding: Binding, bindings: list[Binding], known: _Known) -> None:
        """Alias what the binding only passes on, and keep the rest unless it is known."""
        match binding.operation:
            case Map(function, inputs, name):
                self._pointwise(binding, Pointwise(function, inputs), name, bindings, known)
            case Generate(function, name):
                self._pointwise(binding, Pointwise(function, ()), name, bindings, known)
            case Backpermute() as moved:
                self._backpermute(binding, moved, bindings, known)
            case Reshape((source,)):
                self._reshape(binding, source, bindings, known)
            case RequireEqual(left, right) if left == right:
                self._labels[binding.label] = None
            case BindSizes((variable,), function):
                self._size(binding, variable, _cut(function), bindings, known)
            case _:
                self._keep(binding, bindings, known)

    def _size(
        self, binding: Binding, variable: SizeVariable, cut: _Cut | None, bindings: list[Binding], known: _Known
    ) -> None:
        """What was cut to some length has no more than that: cut to it again, as in a scan of segments of such a scan, it is
        the same."""
        match cut:
            case _Cut(length, Extent(SizeVariable() as one, 0) as extent) if one in self._cuts:
                if length == self._cuts[one].length:
                    self._labels[binding.label] = None
                    self._extents[variable] = extent
                    return
            case _:
                pass
        if cut is not None:
            self._cuts[variable] = cut
        self._keep(binding, bindings, known)

    def _alias(self, arrays: Sequence[Array], others: Sequence[Array]) -> None:
        for array, other in zip(arrays, others, strict=True):
            self._arrays[array.label, array.leaf] = other

    def _pointwise(self, binding: Binding, node: Pointwise, name: str, bindings: list[Binding], known: _Known) -> None:
        shape = binding.arrays[0].shape
        if not variables_used(node.function.body).isdisjoint(node.function.parameters[: len(shape)]):
            node = Pointwise(simplify_function(node.function, shape), node.inputs)
        node = stream_loads(node, shape)
        node = narrowed(
            node, len(shape), range(len(binding.arrays))
        )  # what equal inputs tell may leave results that are inputs
        passed, again = passed_through(node, len(shape)), repeated(node)
        wanted = [k for k in range(len(binding.arrays)) if k not in passed and k not in again]
        self._alias([binding.arrays[k] for k in passed], list(passed.values()))
        if wanted:
            node = narrowed(node, len(shape), wanted)
            operation = Map(node.function, node.inputs, name) if node.inputs else Generate(node.function, name)
            kept = tuple([binding.arrays[k] for k in wanted])
            self._keep(replace(binding, operation=operation, arrays=kept), bindings, known)
        self._alias([binding.arrays[k] for k in again], [self._array(binding.arrays[k]) for k in again.values()])

    def _backpermute(self, binding: Binding, moved: Backpermute, bindings: list[Binding], known: _Known) -> None:
        shape = binding.arrays[0].shape
        function = simplify_function(moved.function, shape)
        if function.body.results == function.parameters and moved.inputs[0].shape == shape:
            self._alias(binding.arrays, moved.inputs)
            return
        shrinking = moved.shrinking or Counter(moved.inputs[0].shape) == Counter(shape)
        operation = replace(moved, function=function, shrinking=shrinking)
        self._keep(replace(binding, operation=operation), bindings, known)

    def _reshape(self, binding: Binding, source: Array, bindings: list[Binding], known: _Known) -> None:
        source = source if binding.after else self._views.get(source, source)
        (array,) = binding.arrays
        if source.shape == array.shape and not binding.after:
            self._alias([array], [source])
            return
        if not binding.after:
            self._views[array] = source
        self._keep(replace(binding, operation=Reshape((source,))), bindings, known)

    def _keep(self, binding: Binding, bindings: list[Binding], known: _Known) -> None:
        key = _key(binding)
        found = None if key is None else known.get(key)
        if found is None:
            bindings.append(binding)
            if key is not None:
                known[key] = binding
            return
        self._labels[binding.label] = found.label
        for mine, theirs in zip(_defined(binding), _defined(found), strict=True):
            self._extents[mine] = Extent(theirs, 0)
        self._alias(binding.arrays, found.arrays)


def _cut(function: Function) -> _Cut | None:
    """The size that a function gives, if it is such a one."""
    match function.body.statements:
        case (
            *before,
            Compute(first, Operator.MIN, (length, extent)),
            Compute(last, Operator.MAX, (again, zero)),
        ) if again == first and zero == constant(I64, 0) and function.body.results == (last,):
            return _Cut((tuple(before), length), extent)
        case _:
            return None


def _key(binding: Binding) -> Hashable | None:
    """What operations that give equal results have in common; None for those that stay apart."""
    types = tuple([(array.element, array.shape) for array in binding.arrays])
    match binding.operation:
        case Use() | Acond() | Awhile() | Copy() | HostCall():
            return None
        case Filter():
            return (binding.operation, len(binding.arrays), binding.after)
        case BindSizes(_, function):
            return (BindSizes, function, binding.after)
        case _:
            return (binding.operation, types, binding.after)


def _defined(binding: Binding) -> tuple[SizeVariable, ...]:
    """The rigid variables of a binding that may be shared."""
    match binding.operation:
        case BindSizes(variables):
            return variables
        case Filter():
            return tuple([e.variable for a in binding.arrays[:-1] for e in a.shape if e.variable is not None])
        case _:
            return ()
