"""Nests that a GPU runs in parts: none of these needs the order of the visit, of which no device promises anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ir.meaning.interpret import interpret
from accel.ir.meaning.nest_run import run_nest
from accel.ir.nodes import Nest
from accel.labelled.meaning.environment import Environment
from accel.schedule.machine import WorkItems
from accel.schedule.meaning.interpret import run_scheduled
from accel.schedule.rules import original, reverse
from accel.schedule.templates.gpu.split import split
from tests.schedule.programs import lowered

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time

LAST: dict[str, Callable[[Any, Any], Any]] = {
    "last": lambda new, old: new,
    "last doubled": lambda new, old: new * 2,
}


@pytest.mark.parametrize("name", LAST)
def test_the_last_element_wins_in_any_order(name: str) -> None:
    """All iterations of each part run from the last one to the first."""

    def program(places: Handle, xs: Handle) -> Handle:
        start = A.fill((5,), A.constant(0.5, np.float64))
        return A.permute(LAST[name], start, lambda ix: A.just(A.index(places[ix])), xs)

    split_once = 0

    def backwards(nest: Nest, env: Environment) -> None:
        nonlocal split_once
        found = split(nest, WorkItems(gpu=True))
        if found is None:
            run_nest(nest, env)
            return
        split_once += 1
        for array, room in found.rooms.items():
            env.arrays[array] = np.zeros(env.shape(room), array.element.dtype)
        for part in found.parts:
            assert isinstance(part, Nest)
            run_scheduled(reverse(original(part), 0), env, {})

    made = lowered(program, np.array([0, 3, 3, 1, 0, 3, 4]), np.arange(7.0))
    found, expected = (interpret(made.loops, made.arguments, run) for run in (backwards, run_nest))
    assert split_once == 1
    np.testing.assert_array_equal(found[0], expected[0])
