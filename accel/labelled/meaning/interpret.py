"""The reference interpreter: what a labelled program means, scalar by scalar, unfused.

In: a program and one NumPy array per leaf of its parameters. Out: one array per result. All others are compared with this one.
Folds and scans combine as `accel/labelled/meaning/order.py` says; the first failing element in row-major order raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product
from math import prod
from typing import TypeAlias, assert_never

import numpy as np

from accel.ast.handles.extents import require_extents
from accel.ast.meaning.semantics import Value
from accel.ast.tree.leaves import read_only
from accel.ast.tree.nodes import Direction, ScanForm
from accel.ast.tree.types import ScalarType
from accel.errors import AccelError, AccelMemoryError, Where
from accel.labelled import programs
from accel.labelled.algebra import Monoid, Products
from accel.labelled.array import Array, Shape, SizeVariable
from accel.labelled.meaning import bind, faults, nans, order
from accel.labelled.meaning.divisions import DividesByZero
from accel.labelled.meaning.evaluate import HostArray, Prepared, prepare
from accel.labelled.meaning.products import steps
from accel.labelled.meaning.sorting import ordered
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
from accel.labelled.scalar import Function
from accel.support.choices import Checks
from accel.support.dataclass import dataclass

Element: TypeAlias = tuple[Value, ...]
"""The leaves of one element."""

Folder: TypeAlias = Callable[[Sequence[Element]], Element]
"""A fold of elements, at least one, without its seed."""


def interpret(program: Program, arguments: Sequence[HostArray], checks: Checks = "bounds") -> list[HostArray]:
    """The program's results for `arguments`, fresh arrays.

    Raises `AccelShapeError`, `AccelIndexError` and `AccelValueError` as docs/errors.md says, with all `checks` also
    `AccelNaNError` and `AccelZeroDivisionError`: see `nans.py` and `divisions.py`.
    """
    environment = Environment.of_call(program, arguments)
    environment.checks = checks
    run(program, environment)
    return environment.results(program.results)


def judge(binding: Binding, sizes: Mapping[SizeVariable, int], arrays: Mapping[Array, HostArray]) -> None:
    """Run one operation for what it raises with all checks, without looking for NaNs."""
    _checked(binding, Environment(dict(sizes), dict(arrays), "all"))


@dataclass(slots=True)
class Environment:
    """What is known so far. Labels are unique, so sub-programs share it; a loop overwrites what it bound before."""

    sizes: dict[SizeVariable, int] = field(default_factory=dict)
    arrays: dict[Array, HostArray] = field(default_factory=dict)
    checks: Checks = "bounds"

    @classmethod
    def of_call(cls, program: bind.Called, arguments: Sequence[HostArray]) -> Environment:
        """What a call's arguments, one per leaf of each parameter, say. Raises `AccelShapeError` if they do not fit."""
        sizes = bind.sizes(program.parameters, program.own_shapes, program.equalities, arguments)
        leaves = [leaf for parameter in program.parameters for leaf in parameter]
        return cls(sizes, dict(zip(leaves, arguments, strict=True)))

    def results(self, arrays: Sequence[Array]) -> list[HostArray]:
        """Fresh arrays for the caller."""
        return [np.array(self.arrays[array], order="C") for array in arrays]

    def shape(self, shape: Shape) -> tuple[int, ...]:
        """The shape as numbers."""
        return faults.extents(shape, self.sizes)

    def function(self, function: Function) -> Prepared:
        """A scalar function, ready to call."""
        return prepare(function, self.sizes.__getitem__, self.arrays, divisions=self.checks == "all")

    def elements(self, arrays: Sequence[Array]) -> list[Element]:
        """The elements of arrays of one shape, row-major."""
        columns: list[list[Value]] = [self.arrays[array].ravel().tolist() for array in arrays]
        return list(zip(*columns, strict=True))

    def store(self, arrays: Sequence[Array], elements: Iterable[Element], where: Where | None = None) -> None:
        """Bind arrays to elements, given row-major."""
        columns = list(zip(*elements, strict=True)) or [()] * len(arrays)
        for array, column in zip(arrays, columns, strict=True):
            flat = np.array(column, array.element.dtype)
            self.arrays[array] = flat.reshape(self.shape(array.shape))

    def learn(self, arrays: Sequence[Array], values: Sequence[HostArray]) -> None:
        """Bind arrays, and the size variables of their shapes, to values."""
        for array, value in zip(arrays, values, strict=True):
            for extent, actual in zip(array.shape, value.shape, strict=True):
                if extent.variable is not None:
                    self.sizes[extent.variable] = actual - extent.offset
            self.arrays[array] = value


def run(program: Program, environment: Environment) -> None:
    """Run a program's bindings, its parameters being bound."""
    for binding in program.bindings:
        try:
            _checked(binding, environment)
            if environment.checks == "all":
                nans.check(binding, binding.arrays, programs.reads(binding.operation), environment.arrays.__getitem__)
        except AccelError:
            raise
        except MemoryError as error:
            raise _no_memory(binding, environment) from error


def _checked(binding: Binding, env: Environment) -> None:
    try:
        _bind(binding, env)
    except DividesByZero as error:
        raise faults.division(str(error), binding.where) from None


def _no_memory(binding: Binding, env: Environment) -> AccelMemoryError:
    for array in binding.arrays:
        if all(e.variable is None or e.variable in env.sizes for e in array.shape):
            return faults.no_memory(array.element, env.shape(array.shape), binding.where)
    return AccelMemoryError("no memory for the result", binding.where)


def _bind(binding: Binding, env: Environment) -> None:
    arrays, where = binding.arrays, binding.where
    match binding.operation:
        case Use():
            pass  # bound as an argument
        case Generate(function):
            call, shape = env.function(function), _result(binding, env)
            env.store(arrays, (call(index) for index in _indices(shape)))
        case Map(function, inputs):
            call, shape = env.function(function), _result(binding, env)
            pairs = zip(_indices(shape), env.elements(inputs), strict=True)
            env.store(arrays, (call((*index, *element)) for index, element in pairs))
        case Backpermute(function, inputs):
            call, shape = env.function(function), _result(binding, env)
            read = _reader([env.arrays[array] for array in inputs], where)
            env.store(arrays, (read(call(index)) for index in _indices(shape)))
        case Gather(indices, inputs):
            read = _reader([env.arrays[array] for array in inputs], where)
            positions = env.elements(indices) if indices else [()] * prod(_result(binding, env))
            env.store(arrays, (read(position) for position in positions))
        case Scatter():
            _scatter(binding, binding.operation, env)
        case Copy(inputs) | Force(inputs):
            env.learn(arrays, [env.arrays[array] for array in inputs])  # nothing here writes in place
        case Reshape(inputs):
            _reshape(binding, inputs, env)
        case Fold():
            _fold(binding, binding.operation, env)
        case FoldSegments():
            _fold_rows(binding, binding.operation, _segments(binding, binding.operation, env), env)
        case ScanSegments():
            _scan_rows(binding, binding.operation, _segments(binding, binding.operation, env), env)
        case Scan():
            _scan(binding, binding.operation, env)
        case Filter(predicate, inputs):
            _filter(arrays, env.function(predicate), inputs, env)
        case Sort(inputs, places, descending):
            _result(binding, env)
            env.arrays[arrays[0]] = ordered([env.arrays[array] for array in inputs], places, descending)
        case HostCall(called, inputs):
            shapes = [env.shape(array.shape) for array in arrays]
            made = called([read_only(env.arrays[array]) for array in inputs], shapes, where)
            env.arrays.update(zip(arrays, map(np.copy, made), strict=True))
        case BindSizes(variables, function, name):
            extents = tuple([int(extent) for extent in env.function(function)(())])
            require_extents(extents, where, name)
            env.sizes.update(zip(variables, extents, strict=True))
        case RequireEqual(left, right, name, left_where, right_where, message):
            if env.shape(left) != env.shape(right):
                spots = where, left_where, right_where
                raise faults.required(env.shape(left), env.shape(right), *spots, name, message)
        case Acond(condition, then, orelse):
            branch = then if env.arrays[condition].item() else orelse
            run(branch, env)
            env.learn(arrays, [env.arrays[result] for result in branch.results])
        case Awhile():
            _awhile(arrays, binding.operation, env)
        case _:
            assert_never(binding.operation)


def _result(binding: Binding, env: Environment) -> tuple[int, ...]:
    """The shape of what an operation makes, one for all leaves. Raises `AccelShapeError` if it is too large."""
    shape = env.shape(binding.arrays[0].shape)
    for array in binding.arrays:
        if faults.is_too_large(array.element, shape):
            raise faults.too_large(array.element, shape, binding.where)
    return shape


def _indices(shape: tuple[int, ...]) -> Iterable[tuple[int, ...]]:
    return product(*map(range, shape)) if prod(shape) else ()


def _reader(sources: Sequence[HostArray], where: Where | None) -> Callable[[Sequence[Value]], Element]:
    shape = sources[0].shape

    def read(index: Sequence[Value]) -> Element:
        position = [int(i) for i in index]
        faults.require_inside(position, shape, where)
        return tuple([source.item(*position) for source in sources])

    return read


def _scatter(binding: Binding, operation: Scatter, env: Environment) -> None:
    combine = env.function(operation.combine)
    targets = [env.arrays[array].copy() for array in operation.destinations]
    shape = env.shape(operation.destinations[0].shape)
    news = env.elements(operation.values)
    indices = env.elements(operation.indices) if operation.indices else [()] * len(news)
    kept = [True] * len(news) if operation.keep is None else env.arrays[operation.keep].ravel().tolist()
    taken: set[tuple[int, ...]] | None = set() if operation.unique and env.checks == "all" else None
    for keep, index, new in zip(kept, indices, news, strict=True):
        if not keep:
            continue
        position = tuple(int(i) for i in index)
        faults.require_inside(position, shape, binding.where)
        if taken is not None:
            if position in taken:
                raise faults.repeated(position, binding.where)
            taken.add(position)
        old = tuple([target.item(*position) for target in targets])
        for target, value in zip(targets, combine((*new, *old)), strict=True):
            target[position] = value
    env.learn(binding.arrays, targets)


def _reshape(binding: Binding, inputs: Sequence[Array], env: Environment) -> None:
    for array, source in zip(binding.arrays, inputs, strict=True):
        data, shape = env.arrays[source], env.shape(array.shape)
        if data.size != prod(shape):
            raise faults.reshape(data.shape, shape, binding.where)
        if faults.is_too_large(array.element, shape):
            raise faults.too_large(array.element, shape, binding.where)
        env.arrays[array] = data.reshape(shape)


def _combiner(combine: Prepared) -> Callable[[Element, Element], Element]:
    return lambda left, right: combine((*left, *right))


def _rows(inputs: Sequence[Array], env: Environment, dimensions: int = 1) -> Iterator[list[Element]]:
    """The elements by row of the innermost dimensions; one row after the other, since many may be empty."""
    shape = env.shape(inputs[0].shape)
    outer, inner = shape[:-dimensions], prod(shape[-dimensions:])
    elements = env.elements(inputs)
    return (elements[row * inner : (row + 1) * inner] for row in range(prod(outer)))


def _seed(initial: Function | None, env: Environment) -> Element | None:
    return None if initial is None else env.function(initial)(())


def folder(
    combine: Function, monoid: Monoid, kinds: Sequence[ScalarType], products: Products, env: Environment
) -> Folder:
    """What folds elements, at least one, to a partial result of `kinds`, without a seed."""
    width, merge = order.lanes(kinds), _combiner(env.function(combine))
    if not products:
        return lambda elements: order.fold(elements, merge, monoid.commutes, width)
    found = steps(combine, monoid, kinds, products)
    first, following = env.function(found.first), _combiner(env.function(found.following))
    return lambda elements: order.fold_in_lanes(elements, first, following, merge, width)


def _fold(binding: Binding, operation: Fold, env: Environment) -> None:
    _fold_rows(binding, operation, _rows(operation.inputs, env, operation.dimensions), env)


def _segments(binding: Binding, operation: FoldSegments | ScanSegments, env: Environment) -> Iterator[list[Element]]:
    """Each segment, once it is found to be one, is a row."""
    *_, count = env.shape(operation.starts.shape)
    described = env.elements((operation.starts, operation.ends))
    *_, extent = env.shape(operation.inputs[0].shape)
    for number, row in enumerate(_rows(operation.inputs, env) if count else ()):
        for place, (start, end) in enumerate(described[number * count : (number + 1) * count]):
            faults.require_segment((int(start), int(end)), place, extent, operation.name, binding.where)
            yield row[int(start) : int(end)]


def _fold_rows(
    binding: Binding, operation: Fold | FoldSegments, rows: Iterable[list[Element]], env: Environment
) -> None:
    combine, seed = _combiner(env.function(operation.combine)), _seed(operation.initial, env)
    kinds = [array.element for array in binding.arrays]
    folded = folder(operation.combine, operation.monoid, kinds, operation.products, env)
    results = []
    for row in rows:
        if row:
            total = folded(row)
            results.append(total if seed is None else combine(seed, total))
        elif seed is not None:
            results.append(seed)
        else:
            shape = env.shape(binding.arrays[0].shape)
            number = len(results) % shape[-1] if isinstance(operation, FoldSegments) else None
            raise faults.empty_row(operation.name, (*shape, 0), binding.where, number)
    env.store(binding.arrays, results)


def _scan(binding: Binding, operation: Scan, env: Environment) -> None:
    if all(0 in env.shape(array.shape) for array in binding.arrays):
        env.store(binding.arrays, ())
    else:
        _scan_rows(binding, operation, _rows(operation.inputs, env), env)


def _scan_rows(
    binding: Binding, operation: Scan | ScanSegments, rows: Iterable[list[Element]], env: Environment
) -> None:
    """A scan from the right is the scan of the reversed row with its operands exchanged, reversed."""
    combine, seed = _combiner(env.function(operation.combine)), _seed(operation.initial, env)
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
    env.store(binding.arrays[: len(operation.inputs)], scans)
    if operation.form is ScanForm.TOTAL:
        env.store(binding.arrays[len(operation.inputs) :], totals)


def _filter(arrays: Sequence[Array], predicate: Prepared, inputs: Sequence[Array], env: Environment) -> None:
    vectors, counts = arrays[:-1], arrays[-1]
    shape = env.shape(inputs[0].shape)
    if 0 in shape:
        kept: list[list[Element]] = []
        env.arrays[counts] = np.zeros(shape[:-1], counts.element.dtype)
    else:
        kept = [[element for element in row if predicate(element)[0]] for row in _rows(inputs, env)]
        env.store([counts], ((len(row),) for row in kept))
    for extent in (extent for vector in vectors for extent in vector.shape):
        assert extent.variable is not None, "a filter's extent is a size variable"
        env.sizes[extent.variable] = sum(map(len, kept))
    env.store(vectors, (element for row in kept for element in row))


def _awhile(arrays: Sequence[Array], operation: Awhile, env: Environment) -> None:
    asked = [leaf for parameter in operation.condition.parameters for leaf in parameter]
    changed = [leaf for parameter in operation.body.parameters for leaf in parameter]
    state = [env.arrays[array] for array in operation.initial]
    while True:
        env.learn(asked, state)
        run(operation.condition, env)
        if not env.arrays[operation.condition.results[0]].item():
            break
        env.learn(changed, state)
        run(operation.body, env)
        state = [env.arrays[result] for result in operation.body.results]
    env.learn(arrays, state)
