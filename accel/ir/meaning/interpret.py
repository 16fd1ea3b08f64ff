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
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.meaning.interpret import Environment
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


def _run(program: Program, env: Environment, run: RunNest) -> None:
    for step in program.steps:
        _step(step, env, run)


def _step(step: Step, env: Environment, run: RunNest) -> None:
    match step:
        case Launch(nest):
            _launch(nest, env, run)
        case View(arrays, sources, where):
            for array, source in zip(arrays, sources, strict=True):
                _view(array, env.arrays[source], env, where)
        case Sort(array, sources, places, descending, where):
            if faults.is_too_large(array.element, env.shape(array.shape)):
                raise faults.too_large(array.element, env.shape(array.shape), where)
            env.arrays[array] = ordered([env.arrays[source] for source in sources], places, descending)
        case HostCall(arrays, called, sources, where):
            shapes = [env.shape(array.shape) for array in arrays]
            made = called([read_only(env.arrays[source]) for source in sources], shapes, where)
            env.arrays.update(zip(arrays, map(np.copy, made), strict=True))
        case HostSizes(variables, function, where, name):
            extents = [int(extent) for extent in env.function(function)(())]
            require_extents(tuple(extents), where, name)
            env.sizes.update(zip(variables, extents, strict=True))
        case Require(left, right, name, where, left_where, right_where, message):
            if env.shape(left) != env.shape(right):
                spots = where, left_where, right_where
                raise faults.required(env.shape(left), env.shape(right), *spots, name, message)
        case Branch(condition, then, orelse, arrays):
            branch = then if env.arrays[condition].item() else orelse
            _run(branch, env, run)
            env.learn(arrays, [env.arrays[result] for result in branch.results])
        case Repeat():
            _repeat(step, env, run)
        case _:
            assert_never(step)


def _view(array: Array, data: HostArray, env: Environment, where: Where | None) -> None:
    shape = env.shape(array.shape)
    if data.size != prod(shape):
        raise faults.reshape(data.shape, shape, where)
    if faults.is_too_large(array.element, shape):
        raise faults.too_large(array.element, shape, where)
    env.arrays[array] = np.ascontiguousarray(data).reshape(shape)


def _repeat(step: Repeat, env: Environment, run: RunNest) -> None:
    asked = [leaf for parameter in step.condition.parameters for leaf in parameter]
    changed = [leaf for parameter in step.body.parameters for leaf in parameter]
    state = [env.arrays[array] for array in step.initial]
    while True:
        env.learn(asked, state)
        _run(step.condition, env, run)
        if not env.arrays[step.condition.results[0]].item():
            break
        env.learn(changed, state)
        _run(step.body, env, run)
        state = [env.arrays[result] for result in step.body.results]
    env.learn(step.arrays, state)


def _launch(nest: Nest, env: Environment, run: RunNest) -> None:
    """Allocate, run, and trim what filters made. A scatter's destination is gone afterwards; arguments are never written."""
    has_work = bool(nest.in_place)
    for output in nest.outputs:
        extents = tuple(prod(env.shape(product)) for product in output.capacity)
        if faults.is_too_large(output.array.element, extents):
            raise faults.too_large(output.array.element, extents, output.where)
        has_work = has_work or 0 not in extents
        try:
            env.arrays[output.array] = np.zeros(extents, output.array.element.dtype)
        except MemoryError as error:
            raise faults.no_memory(output.array.element, extents, output.where) from error
    for destination, result in nest.in_place:
        env.arrays[result] = env.arrays.pop(destination).copy()
    if has_work:  # there may be many rows without elements
        run(nest, env)
    for count in nest.counts:
        env.sizes[count.variable] = int(env.arrays[count.array].item())
    for output in nest.outputs:
        actual = env.shape(output.array.shape)
        env.arrays[output.array] = env.arrays[output.array][tuple(map(slice, actual))]
