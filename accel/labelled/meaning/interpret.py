"""The reference interpreter: what a labelled program means, scalar by scalar, unfused.

In: a program and one NumPy array per leaf of its parameters. Out: one array per result. All others are compared with this one.
Folds and scans combine as `accel/labelled/meaning/order.py` says; the first failing element in row-major order raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import assert_never

import numpy as np

from accel.ast.handles.extents import LESS_MEMORY, require_extents
from accel.ast.meaning.semantics import Value
from accel.ast.tree.leaves import read_only
from accel.errors import AccelError, AccelMemoryError, Where
from accel.labelled import programs
from accel.labelled.array import Array, SizeVariable
from accel.labelled.meaning import faults, nans
from accel.labelled.meaning.divisions import DividesByZero
from accel.labelled.meaning.environment import Element, Environment
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.meaning.reductions import Reduction, filtered, reduced
from accel.labelled.meaning.sorting import ordered
from accel.labelled.nodes import (
    Acond,
    Awhile,
    Backpermute,
    Binding,
    BindSizes,
    Copy,
    Filter,
    Force,
    Gather,
    Generate,
    HostCall,
    Map,
    Program,
    RequireEqual,
    Reshape,
    Scatter,
    Sort,
    Use,
)
from accel.support.choices import Checks


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


def _checked(binding: Binding, environment: Environment) -> None:
    try:
        _bind(binding, environment)
    except DividesByZero as error:
        raise faults.division(str(error), binding.where) from None


def _no_memory(binding: Binding, environment: Environment) -> AccelMemoryError:
    for array in binding.arrays:
        if all(e.variable is None or e.variable in environment.sizes for e in array.shape):
            return faults.no_memory(array.element, environment.shape(array.shape), binding.where)
    return AccelMemoryError("no memory for the result", binding.where, hint=LESS_MEMORY)


def _bind(binding: Binding, environment: Environment) -> None:
    arrays, where, operation = binding.arrays, binding.where, binding.operation
    if isinstance(operation, Reduction):
        return reduced(binding, operation, environment)
    match operation:
        case Use():
            pass  # bound as an argument
        case Generate(function):
            call, shape = environment.function(function), _result(binding, environment)
            environment.store(arrays, (call(index) for index in _indices(shape)))
        case Map(function, inputs):
            call, shape = environment.function(function), _result(binding, environment)
            pairs = zip(_indices(shape), environment.elements(inputs), strict=True)
            environment.store(arrays, (call((*index, *element)) for index, element in pairs))
        case Backpermute(function, inputs):
            call, shape = environment.function(function), _result(binding, environment)
            read = _reader([environment.arrays[array] for array in inputs], where)
            environment.store(arrays, (read(call(index)) for index in _indices(shape)))
        case Gather(indices, inputs):
            read = _reader([environment.arrays[array] for array in inputs], where)
            positions = environment.elements(indices) if indices else [()] * prod(_result(binding, environment))
            environment.store(arrays, (read(position) for position in positions))
        case Scatter():
            _scatter(binding, operation, environment)
        case Copy(inputs) | Force(inputs):
            environment.learn(arrays, [environment.arrays[array] for array in inputs])  # nothing here writes in place
        case Reshape(inputs):
            _reshape(binding, inputs, environment)
        case Filter(predicate, inputs):
            filtered(arrays, environment.function(predicate), inputs, environment)
        case Sort(inputs, places, descending):
            _result(binding, environment)
            environment.arrays[arrays[0]] = ordered([environment.arrays[array] for array in inputs], places, descending)
        case HostCall(called, inputs):
            shapes = [environment.shape(array.shape) for array in arrays]
            made = called([read_only(environment.arrays[array]) for array in inputs], shapes, where)
            environment.arrays.update(zip(arrays, map(np.copy, made), strict=True))
        case BindSizes(variables, function, name):
            extents = tuple([int(extent) for extent in environment.function(function)(())])
            require_extents(extents, where, name)
            environment.sizes.update(zip(variables, extents, strict=True))
        case RequireEqual(left, right, name, left_where, right_where, message):
            if environment.shape(left) != environment.shape(right):
                spots = where, left_where, right_where
                raise faults.required(environment.shape(left), environment.shape(right), *spots, name, message)
        case Acond(condition, then, orelse):
            branch = then if environment.arrays[condition].item() else orelse
            run(branch, environment)
            environment.learn(arrays, [environment.arrays[result] for result in branch.results])
        case Awhile(condition, body, initial):
            environment.repeat(condition, body, initial, arrays, lambda part: run(part, environment))
        case _:
            assert_never(operation)


def _result(binding: Binding, environment: Environment) -> tuple[int, ...]:
    """The shape of what an operation makes, one for all leaves. Raises `AccelShapeError` if it is too large."""
    shape = environment.shape(binding.arrays[0].shape)
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


def _scatter(binding: Binding, operation: Scatter, environment: Environment) -> None:
    combine = environment.function(operation.combine)
    targets = [environment.arrays[array].copy() for array in operation.destinations]
    shape = environment.shape(operation.destinations[0].shape)
    news = environment.elements(operation.values)
    indices = environment.elements(operation.indices) if operation.indices else [()] * len(news)
    kept = [True] * len(news) if operation.keep is None else environment.arrays[operation.keep].ravel().tolist()
    taken: set[tuple[int, ...]] | None = set() if operation.unique and environment.checks == "all" else None
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
    environment.learn(binding.arrays, targets)


def _reshape(binding: Binding, inputs: Sequence[Array], environment: Environment) -> None:
    for array, source in zip(binding.arrays, inputs, strict=True):
        data, shape = environment.arrays[source], environment.shape(array.shape)
        if data.size != prod(shape):
            raise faults.reshape(data.shape, shape, binding.where)
        if faults.is_too_large(array.element, shape):
            raise faults.too_large(array.element, shape, binding.where)
        environment.arrays[array] = data.reshape(shape)
