"""What folds, scans and filters mean, of rows, of several dimensions and of segments.

Elements combine as `order.py` says. In: an operation whose inputs are bound in an `Environment`. Out: its arrays, bound there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import TypeAlias, assert_never

import numpy as np

from accel.ast.tree.nodes import Direction, ScanForm
from accel.ast.tree.types import ScalarType
from accel.labelled.algebra import Monoid, Products
from accel.labelled.array import Array
from accel.labelled.meaning import faults, order
from accel.labelled.meaning.environment import Element, Environment
from accel.labelled.meaning.evaluate import Prepared
from accel.labelled.meaning.products import steps
from accel.labelled.nodes import (
    Binding,
    Fold,
    FoldSegments,
    Scan,
    ScanSegments,
)
from accel.labelled.scalar import Function

Reduction: TypeAlias = Fold | FoldSegments | Scan | ScanSegments
"""What combines the elements of rows, or of segments of them."""

Folder: TypeAlias = Callable[[Sequence[Element]], Element]
"""A fold of elements, at least one, without its seed."""


def _combiner(combine: Prepared) -> Callable[[Element, Element], Element]:
    return lambda left, right: combine((*left, *right))


def _rows(inputs: Sequence[Array], environment: Environment, dimensions: int = 1) -> Iterator[list[Element]]:
    """The elements by row of the innermost dimensions; one row after the other, since many may be empty."""
    shape = environment.shape(inputs[0].shape)
    outer, inner = shape[:-dimensions], prod(shape[-dimensions:])
    elements = environment.elements(inputs)
    return (elements[row * inner : (row + 1) * inner] for row in range(prod(outer)))


def _seed(initial: Function | None, environment: Environment) -> Element | None:
    return None if initial is None else environment.function(initial)(())


def folder(
    combine: Function, monoid: Monoid, kinds: Sequence[ScalarType], products: Products, environment: Environment
) -> Folder:
    """What folds elements, at least one, to a partial result of `kinds`, without a seed."""
    width, merge = order.lanes(kinds), _combiner(environment.function(combine))
    if not products:
        return lambda elements: order.fold(elements, merge, monoid.commutes, width)
    found = steps(combine, monoid, kinds, products)
    first, following = environment.function(found.first), _combiner(environment.function(found.following))
    return lambda elements: order.fold_in_lanes(elements, first, following, merge, width)


def reduced(binding: Binding, operation: Reduction, environment: Environment) -> None:
    """Folds or scans each row, all elements of several dimensions, or each segment of the rows."""
    match operation:
        case Fold(dimensions=dimensions, inputs=inputs):
            _fold_rows(binding, operation, _rows(inputs, environment, dimensions), environment)
        case FoldSegments():
            _fold_rows(binding, operation, _segments(binding, operation, environment), environment)
        case ScanSegments():
            _scan_rows(binding, operation, _segments(binding, operation, environment), environment)
        case Scan():
            _scan(binding, operation, environment)
        case _:
            assert_never(operation)


def _segments(
    binding: Binding, operation: FoldSegments | ScanSegments, environment: Environment
) -> Iterator[list[Element]]:
    """Each segment, once it is found to be one, is a row."""
    *_, count = environment.shape(operation.starts.shape)
    described = environment.elements((operation.starts, operation.ends))
    *_, extent = environment.shape(operation.inputs[0].shape)
    for number, row in enumerate(_rows(operation.inputs, environment) if count else ()):
        for place, (start, end) in enumerate(described[number * count : (number + 1) * count]):
            faults.require_segment((int(start), int(end)), place, extent, operation.name, binding.where)
            yield row[int(start) : int(end)]


def _fold_rows(
    binding: Binding, operation: Fold | FoldSegments, rows: Iterable[list[Element]], environment: Environment
) -> None:
    combine, seed = _combiner(environment.function(operation.combine)), _seed(operation.initial, environment)
    kinds = [array.element for array in binding.arrays]
    folded = folder(operation.combine, operation.monoid, kinds, operation.products, environment)
    results = []
    for row in rows:
        if row:
            total = folded(row)
            results.append(total if seed is None else combine(seed, total))
        elif seed is not None:
            results.append(seed)
        else:
            shape = environment.shape(binding.arrays[0].shape)
            number = len(results) % shape[-1] if isinstance(operation, FoldSegments) else None
            raise faults.empty_row(operation.name, (*shape, 0), binding.where, number)
    environment.store(binding.arrays, results)


def _scan(binding: Binding, operation: Scan, environment: Environment) -> None:
    """A scan of each row."""
    if all(0 in environment.shape(array.shape) for array in binding.arrays):
        environment.store(binding.arrays, ())
    else:
        _scan_rows(binding, operation, _rows(operation.inputs, environment), environment)


def _scan_rows(
    binding: Binding, operation: Scan | ScanSegments, rows: Iterable[list[Element]], environment: Environment
) -> None:
    """A scan from the right is the scan of the reversed row with its operands exchanged, reversed."""
    combine, seed = _combiner(environment.function(operation.combine)), _seed(operation.initial, environment)
    right = operation.direction is Direction.RIGHT

    def flipped(left: Element, right: Element) -> Element:
        return combine(right, left)

    scans: list[Element] = []
    totals: list[Element] = []
    for row in rows:
        visited = row[::-1] if right else row
        results = list(order.scan(visited, flipped if right else combine, seed))
        if operation.form is not ScanForm.INCLUSIVE:
            assert seed is not None, "an exclusive scan has a seed"
            results.insert(0, seed)
        if operation.form is ScanForm.TOTAL:
            totals.append(results.pop())
        scans += results[::-1] if right else results
    environment.store(binding.arrays[: len(operation.inputs)], scans)
    if operation.form is ScanForm.TOTAL:
        environment.store(binding.arrays[len(operation.inputs) :], totals)


def filtered(arrays: Sequence[Array], predicate: Prepared, inputs: Sequence[Array], environment: Environment) -> None:
    """The elements of all rows for which the predicate holds, and how many each row has; learns their number."""
    vectors, counts = arrays[:-1], arrays[-1]
    shape = environment.shape(inputs[0].shape)
    if 0 in shape:
        kept: list[list[Element]] = []
        environment.arrays[counts] = np.zeros(shape[:-1], counts.element.dtype)
    else:
        kept = [[element for element in row if predicate(element)[0]] for row in _rows(inputs, environment)]
        environment.store([counts], ((len(row),) for row in kept))
    for extent in (extent for vector in vectors for extent in vector.shape):
        assert extent.variable is not None, "a filter's extent is a size variable"
        environment.sizes[extent.variable] = sum(map(len, kept))
    environment.store(vectors, (element for row in kept for element in row))
