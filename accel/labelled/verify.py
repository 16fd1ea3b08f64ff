"""Well-formed labelled programs: scopes, types, shapes, one binding each, and no use of what a scatter has destroyed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from accel.ast.tree.nodes import ScanForm
from accel.ast.tree.types import BOOL, I64, ScalarType
from accel.errors import AccelInternalError
from accel.labelled.algebra import element_types, may_be_products
from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
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
    Force,
    Gather,
    Generate,
    HostCall,
    Map,
    Program,
    RequireEqual,
    Reshape,
    Scan,
    ScanSegments,
    Scatter,
    Sort,
    Use,
)
from accel.labelled.operations import Flag, Role, describe
from accel.labelled.scalar import Function
from accel.labelled.text import binding_text
from accel.labelled.verify_scalars import verify_function


def verify(program: Program, copied: bool = True) -> None:
    """Raises `AccelInternalError`, showing the binding, unless the program is well formed.

    `copied`: copies stand where scatters need them, so that nothing may use what a scatter has destroyed.
    """
    check = _Check(program, copied)
    for own, parameter in zip(program.own_shapes, program.parameters, strict=True):
        check.sizes.update(e.variable for e in own if e.variable is not None)
        check.require(all(len(leaf.shape) == len(own) for leaf in parameter), "own shapes have the parameters' ranks")
    for equality in program.equalities:
        check.known_sizes((*equality.left, *equality.right))
    check.program(program)


class _Check:
    """What is in scope so far. Names are unique, so what a sub-program bound may stay: its end is checked by `_leave`."""

    def __init__(self, root: Program, copied: bool) -> None:
        self._root = root
        self._copied = copied
        self._binding: Binding | None = None
        self._labels: set[Label] = set()
        self.arrays: set[Array] = set()
        self.sizes: set[SizeVariable] = set()

    def require(self, holds: bool, expected: str) -> None:
        if not holds:
            shown = "" if self._binding is None else f": {binding_text(self._binding, self._root)}"
            raise AccelInternalError(f"malformed labelled program: {expected}{shown}")

    def program(self, program: Program) -> None:
        """It recurses on nested control flow only."""
        for parameter in program.parameters:
            is_root = program is self._root
            self._bind_arrays(parameter, fresh_label=not is_root, fresh_sizes=True)
            if is_root:
                self.arrays.difference_update(parameter)  # its `Use` binds them
        last = -1
        for binding in program.bindings:
            self._binding = binding
            self.require(binding.label > last, "labels rise")
            last = binding.label
            self._visit(binding)
            self._binding = None
        self.known(program.results)

    def known(self, arrays: Sequence[Array]) -> None:
        for array in arrays:
            self.require(array in self.arrays, f"%{array.label}.{array.leaf} is made before, and not destroyed")

    def known_sizes(self, extents: Sequence[Extent]) -> None:
        for extent in extents:
            self.require(extent.variable is None or extent.variable in self.sizes, f"{extent} is known")
            self.require(extent.variable is not None or extent.offset >= 0, "extents are not negative")

    def _bind_arrays(self, arrays: Sequence[Array], fresh_label: bool, fresh_sizes: bool) -> None:
        if arrays and fresh_label:
            self.require(arrays[0].label not in self._labels, "a label is bound once")
            self._labels.add(arrays[0].label)
        for array in arrays:
            if fresh_sizes:
                self.sizes.update(e.variable for e in array.shape if e.variable is not None)
            self.known_sizes(array.shape)
            self.require(array not in self.arrays, "an array is made once")
            self.arrays.add(array)

    def _visit(self, binding: Binding) -> None:
        self.require(binding.label not in self._labels, "a label is bound once")
        self.require(all(label in self._labels for label in binding.after), "`after` names earlier labels")
        leaves = [array.leaf for array in binding.arrays]
        self.require(leaves == sorted(set(leaves)), "leaves rise")
        self.require(all(array.label == binding.label for array in binding.arrays), "arrays carry the binding's label")
        described = describe(binding.operation)
        self.known(described.arrays)
        self._operation(binding)
        self._labels.add(binding.label)
        self._bind_arrays(binding.arrays, fresh_label=False, fresh_sizes=Flag.FINDS_SIZES in described.flags)
        if self._copied:
            self.arrays.difference_update(described.read(Role.DESTINATION))

    def _function(self, function: Function, parameters: Sequence[ScalarType], results: Sequence[ScalarType]) -> None:
        verify_function(function, parameters, results, self.arrays.__contains__, self.sizes.__contains__)

    def _shapes(self, arrays: Sequence[Array], shape: Shape, what: str) -> None:
        self.require(all(array.shape == shape for array in arrays), f"{what} have one shape")

    def _operation(self, binding: Binding) -> None:
        arrays = binding.arrays
        elements = [array.element for array in arrays]
        shape = arrays[0].shape if arrays else ()
        index = [I64] * len(shape)
        match binding.operation:
            case Use(parameter):
                self.require(arrays == self._root.parameters[parameter], "a use gives its parameter's arrays")
            case Generate(function):
                self._shapes(arrays, shape, "results")
                self._function(function, index, elements)
            case Map(function, inputs):
                self._shapes(arrays + inputs, shape, "inputs and results")
                self._function(function, [*index, *_elements(inputs)], elements)
            case Backpermute(function, inputs):
                self._shapes(arrays, shape, "results")
                self._shapes(inputs, inputs[0].shape, "inputs")
                self._function(function, index, [I64] * len(inputs[0].shape))
                self._same_elements(inputs, arrays)
            case Gather(indices, inputs):
                self._shapes(arrays + indices, shape, "indices and results")
                self._shapes(inputs, inputs[0].shape, "inputs")
                self.require(_elements(indices) == [I64] * len(inputs[0].shape), "an i64 index per dimension")
                self._same_elements(inputs, arrays)
            case Scatter():
                self._scatter(binding.operation, arrays)
            case Copy(inputs) | Force(inputs):
                self.require([a.shape for a in inputs] == [a.shape for a in arrays], "shapes stay")
                self._same_elements(inputs, arrays)
            case Reshape(inputs):
                self._shapes(arrays, shape, "results")
                self._same_elements(inputs, arrays)
            case Fold() | FoldSegments():
                self._fold(binding.operation, arrays)
            case ScanSegments():
                self._scan_segments(binding.operation, arrays)
            case Scan():
                self._scan(binding.operation, arrays)
            case Filter():
                self._filter(binding.operation, arrays)
            case Sort(inputs, places, descending):
                self.require(places or (len(inputs) == 1 and not descending), "elements rise, of one array")
                self._shapes(arrays + inputs, shape, "inputs and result")
                self.require(len(arrays) == 1 and bool(shape), "a sort of rows has one result")
                self.require(elements == ([I64] if places else _elements(inputs)), "elements stay, or places are i64")
            case HostCall(inputs=inputs):
                self.require(bool(inputs or arrays), "a call reads or makes arrays")
            case BindSizes() | RequireEqual():
                self._sizes(binding.operation)
            case Acond(condition, then, orelse):
                self.require((condition.element, condition.shape) == (BOOL, ()), "the condition is one bool")
                for branch in (then, orelse):
                    self._part(branch, binding)
                    self._same_elements(branch.results, arrays)
            case Awhile():
                self._awhile(binding, binding.operation)
            case _:
                assert_never(binding.operation)

    def _fold(self, fold: Fold | FoldSegments, arrays: Sequence[Array]) -> None:
        shape, inputs, elements = arrays[0].shape if arrays else (), fold.inputs, _elements(arrays)
        match fold:
            case Fold():
                self.require(0 < fold.dimensions <= len(inputs[0].shape), "a fold has dimensions to fold")
                self._shapes(inputs, (*shape, *fold.folded), "inputs")
                self._shapes(arrays, inputs[0].shape[: -fold.dimensions], "results")
            case FoldSegments(starts=starts, ends=ends):
                self._shapes((*arrays, starts, ends), shape, "segments and results")
                self._shapes(inputs, (*shape[:-1], inputs[0].shape[-1]), "inputs")
                self.require((starts.element, ends.element) == (I64, I64), "starts and ends are i64")
            case _:
                assert_never(fold)
        sums = may_be_products(fold.monoid, elements) if fold.products else []
        self.require(
            list(fold.products) == sorted(set(fold.products) & set(sums)), "sums of floats are folds of products"
        )
        self.require(_elements(inputs) == element_types(elements, fold.products), "elements stay")
        self._functions(fold.combine, fold.initial, elements)

    def _filter(self, filter_: Filter, arrays: Sequence[Array]) -> None:
        inputs, counts = filter_.inputs, arrays[-1]
        self._shapes(inputs, inputs[0].shape, "inputs")
        self._shapes(arrays[:-1], arrays[0].shape, "vectors")
        self._function(filter_.predicate, _elements(inputs), [BOOL])
        self._same_elements(inputs, arrays[:-1])
        self.require(counts.element is I64, "counts are i64")
        self.require(counts.shape == inputs[0].shape[:-1], "a count per outer row")

    def _sizes(self, operation: BindSizes | RequireEqual) -> None:
        match operation:
            case BindSizes(variables, function):
                self.require(self.sizes.isdisjoint(variables), "sizes are bound once")
                self._function(function, [], [I64] * len(variables))
                self.sizes.update(variables)
            case RequireEqual(left, right):
                self.known_sizes((*left, *right))
                self.require(len(left) == len(right), "shapes of one rank are compared")
            case _:
                assert_never(operation)

    def _same_elements(self, inputs: Sequence[Array], arrays: Sequence[Array]) -> None:
        self.require(_elements(inputs) == _elements(arrays), "elements stay")

    def _combining(
        self, combine: Function, initial: Function | None, inputs: Sequence[Array], arrays: Sequence[Array]
    ) -> None:
        self._same_elements(inputs, arrays)
        self._functions(combine, initial, _elements(arrays))

    def _functions(self, combine: Function, initial: Function | None, elements: list[ScalarType]) -> None:
        self._function(combine, elements * 2, elements)
        if initial is not None:
            self._function(initial, [], elements)

    def _scan(self, scan: Scan, arrays: Sequence[Array]) -> None:
        *outer, inner = scan.inputs[0].shape
        longer = Extent(inner.variable, inner.offset + (scan.form is ScanForm.EXCLUSIVE))
        count = len(scan.inputs)
        self._shapes(scan.inputs, scan.inputs[0].shape, "inputs")
        self._shapes(arrays[:count], (*outer, longer), "results")
        self._shapes(arrays[count:], tuple(outer), "totals")
        totals = count if scan.form is ScanForm.TOTAL else 0
        self.require(len(arrays) == count + totals, "totals go with the total form")
        self.require(scan.form is ScanForm.INCLUSIVE or scan.initial is not None, "an exclusive scan has a seed")
        self._combining(scan.combine, scan.initial, scan.inputs, arrays[:count])

    def _scan_segments(self, scan: ScanSegments, arrays: Sequence[Array]) -> None:
        count, shape = len(scan.inputs), scan.inputs[0].shape
        self._shapes((scan.starts, scan.ends, *arrays[count:]), scan.starts.shape, "segments and totals")
        self._shapes(scan.inputs, (*scan.starts.shape[:-1], shape[-1]), "inputs")
        self._shapes(arrays[:count], arrays[0].shape, "results")
        self.require(arrays[0].shape[:-1] == shape[:-1], "results have the rows of the inputs")
        self.require(scan.form is ScanForm.EXCLUSIVE or arrays[0].shape == shape, "results stand where elements do")
        self.require((scan.starts.element, scan.ends.element) == (I64, I64), "starts and ends are i64")
        totals = count if scan.form is ScanForm.TOTAL else 0
        self.require(len(arrays) == count + totals, "totals go with the total form")
        self.require(scan.form is ScanForm.INCLUSIVE or scan.initial is not None, "an exclusive scan has a seed")
        self._combining(scan.combine, scan.initial, scan.inputs, arrays[:count])

    def _scatter(self, scatter: Scatter, arrays: Sequence[Array]) -> None:
        source = [*scatter.indices, *scatter.values, *([scatter.keep] if scatter.keep else [])]
        target = scatter.destinations[0].shape
        self._shapes((*arrays, *scatter.destinations), target, "destinations and results")
        self._shapes(source, source[0].shape, "indices and values")
        self.require(scatter.keep is None or scatter.keep.element is BOOL, "a bool says what to keep")
        self.require(_elements(scatter.indices) == [I64] * len(target), "an i64 index per dimension")
        self._same_elements(scatter.destinations, arrays)
        self._combining(scatter.combine, None, scatter.values, arrays)

    def _awhile(self, binding: Binding, loop: Awhile) -> None:
        self._same_elements(loop.initial, binding.arrays)
        self._same_elements(loop.body.results, binding.arrays)
        results = loop.condition.results
        self.require(_elements(results) == [BOOL] and results[0].shape == (), "the condition is one bool")
        for part in (loop.condition, loop.body):
            state = [leaf for parameter in part.parameters for leaf in parameter]
            self._same_elements(state, binding.arrays)
            self._part(part, binding)

    def _part(self, part: Program, binding: Binding) -> None:
        """A sub-program; what it binds is not known behind it."""
        arrays, sizes = set(self.arrays), set(self.sizes)
        self.program(part)
        self._binding = binding
        self.arrays, self.sizes = arrays, sizes


def _elements(arrays: Sequence[Array]) -> list[ScalarType]:
    return [array.element for array in arrays]
