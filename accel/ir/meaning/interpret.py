"""The reference evaluator of loop programs: slow, sequential, complete.

In: a program and one NumPy array per leaf of its parameters. Out: one array per result. Folds and scans combine in the
order of `accel/labelled/meaning/order.py`, so the bits are those of the labelled program's interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias, assert_never

import numpy as np

from accel.ast.handles.extents import require_extents
from accel.ast.tree.leaves import read_only
from accel.errors import Where
from accel.ir.meaning.nest_run import run_nest
from accel.ir.nodes import Branch, HostCall, HostSizes, Launch, Nest, Program, Repeat, Require, Sort, Step, View
from accel.labelled.array import Array
from accel.labelled.meaning import faults
from accel.labelled.meaning.environment import Environment
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.meaning.sorting import ordered

RunNest: TypeAlias = Callable[[Nest, Environment], None]
"""Runs a nest whose arrays are allocated."""


def interpret(program: Program, arguments: Sequence[HostArray], run: RunNest = run_nest) -> list[HostArray]:
    """The program's results for `arguments`, fresh arrays. `run` runs its nests: in their own order, unless told otherwise.

    Raises `AccelShapeError`, `AccelIndexError` and `AccelValueError` as docs/errors.md says.
    """
    environment = Environment.of_call(program, arguments)
    _run(program, environment, run)
    return environment.results(program.results)


def _run(program: Program, environment: Environment, run: RunNest) -> None:
    for step in program.steps:
        _step(step, environment, run)


def _step(step: Step, environment: Environment, run: RunNest) -> None:
    match step:
        case Launch(nest):
            _launch(nest, environment, run)
        case View(arrays, sources, where):
            for array, source in zip(arrays, sources, strict=True):
                _view(array, environment.arrays[source], environment, where)
        case Sort(array, sources, places, descending, where):
            if faults.is_too_large(array.element, environment.shape(array.shape)):
                raise faults.too_large(array.element, environment.shape(array.shape), where)
            environment.arrays[array] = ordered([environment.arrays[source] for source in sources], places, descending)
        case HostCall(arrays, called, sources, where):
            shapes = [environment.shape(array.shape) for array in arrays]
            made = called([read_only(environment.arrays[source]) for source in sources], shapes, where)
            environment.arrays.update(zip(arrays, map(np.copy, made), strict=True))
        case HostSizes(variables, function, where, name):
            extents = [int(extent) for extent in environment.function(function)(())]
            require_extents(tuple(extents), where, name)
            environment.sizes.update(zip(variables, extents, strict=True))
        case Require(left, right, name, where, left_where, right_where, message):
            if environment.shape(left) != environment.shape(right):
                spots = where, left_where, right_where
                raise faults.required(environment.shape(left), environment.shape(right), *spots, name, message)
        case Branch(condition, then, orelse, arrays):
            branch = then if environment.arrays[condition].item() else orelse
            _run(branch, environment, run)
            environment.learn(arrays, [environment.arrays[result] for result in branch.results])
        case Repeat(condition, body, initial, arrays):
            environment.repeat(condition, body, initial, arrays, lambda part: _run(part, environment, run))
        case _:
            assert_never(step)


def _view(array: Array, data: HostArray, environment: Environment, where: Where | None) -> None:
    shape = environment.shape(array.shape)
    if data.size != prod(shape):
        raise faults.reshape(data.shape, shape, where)
    if faults.is_too_large(array.element, shape):
        raise faults.too_large(array.element, shape, where)
    environment.arrays[array] = np.ascontiguousarray(data).reshape(shape)


def _launch(nest: Nest, environment: Environment, run: RunNest) -> None:
    """Allocate, run, and trim what filters made. A scatter's destination is gone afterwards; arguments are never written."""
    has_work = bool(nest.in_place)
    for output in nest.outputs:
        extents = tuple(prod(environment.shape(product)) for product in output.capacity)
        if faults.is_too_large(output.array.element, extents):
            raise faults.too_large(output.array.element, extents, output.where)
        has_work = has_work or 0 not in extents
        try:
            environment.arrays[output.array] = np.zeros(extents, output.array.element.dtype)
        except MemoryError as error:
            raise faults.no_memory(output.array.element, extents, output.where) from error
    for destination, result in nest.in_place:
        environment.arrays[result] = environment.arrays.pop(destination).copy()
    if has_work:  # there may be many rows without elements
        run(nest, environment)
    for count in nest.counts:
        environment.sizes[count.variable] = int(environment.arrays[count.array].item())
    for output in nest.outputs:
        actual = environment.shape(output.array.shape)
        environment.arrays[output.array] = environment.arrays[output.array][tuple(map(slice, actual))]
