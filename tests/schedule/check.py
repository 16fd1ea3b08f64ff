"""Programs in the order of their nests, and in other orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from accel.errors import AccelError
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Nest, Program
from accel.labelled.array import Extent
from accel.labelled.meaning.environment import Environment
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.scalar import Constant
from accel.schedule.meaning.interpret import run_scheduled
from accel.schedule.meaning.live import live
from accel.schedule.nodes import Axis, Schedule
from accel.schedule.verify import verify
from tests.schedule.derive import PARAMETERS


def outcome(run: Callable[[], list[HostArray]]) -> list[HostArray] | type[AccelError]:
    """The results, or the class of the error."""
    try:
        return run()
    except AccelError as error:
        return type(error)


def check(program: Program, arguments: Sequence[HostArray], scheduled: Callable[[Nest], Schedule]) -> None:
    """The schedules are well formed, visit what the nests do with the same bits, and keep no more than they say."""

    def run(nest: Nest, env: Environment) -> None:
        schedule = scheduled(nest)
        verify(schedule)
        kept = run_scheduled(schedule, env, PARAMETERS)
        extents = _extents(schedule, env)
        if extents is not None:
            bound = live(schedule, extents, PARAMETERS)
            assert all(parts <= max(1, bound[name]) for name, parts in kept.items()), (kept, bound)

    expected = outcome(lambda: interpret(program, arguments))
    given = outcome(lambda: interpret(program, arguments, run))
    if isinstance(expected, type) or isinstance(given, type):
        assert expected is given
        return
    for left, right in zip(expected, given, strict=True):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)


def _extents(schedule: Schedule, env: Environment) -> Mapping[Axis, int] | None:
    """How many iterations each axis has; None if that is found out on the way."""
    found: dict[Axis, int] = {}
    for axis in schedule.axes:
        sizes = [loop.extent for loop in axis.loops]
        known = [env.shape((size,))[0] for size in sizes if isinstance(size, Extent)]
        known += [int(size.value) for size in sizes if isinstance(size, Constant)]
        if len(known) < len(sizes):
            return None
        found[axis] = prod(known)
    return found
