"""Strategies take little more than linear time, also for operations that cannot merge: twice as many, twice the steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from accel.ilp.plan import search
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.support.choices import Strategy
from tests.ilp.sketch import Sketch
from tests.marks import one_in
from tests.steps import steps

_SMALL, _LARGE = 264, 528
"""Both beyond the sizes from which on the strategies are in a hurry."""


def _kept_apart(count: int) -> Graph:
    """Maps that read one of two arrays, and by index the one before: every merge saves a read, none is possible."""
    sketch = Sketch()
    sketch.use("u")
    sketch.use("w")
    for k in range(count):
        sketch.map(f"v{k}", ["uw"[k % 2]], index=[f"v{k - 1}"] if k else [])
    return sketch.finish()


def _ladder(count: int) -> Graph:
    """Two maps of the same two arrays, over and over."""
    sketch = Sketch()
    sketch.use("a-1")
    sketch.use("b-1")
    for k in range(count // 2):
        for side in "ab":
            sketch.map(f"{side}{k}", [f"a{k - 1}", f"b{k - 1}"])
    return sketch.finish()


def _zipped(count: int) -> Graph:
    """Scans both ways of one array, zipped."""
    sketch = Sketch()
    sketch.use("m-1")
    for k in range(count // 3):
        sketch.scan(f"l{k}", f"m{k - 1}")
        sketch.scan(f"r{k}", f"m{k - 1}", backward=True)
        sketch.map(f"m{k}", [f"l{k}", f"r{k}"])
    return sketch.finish()


def _wide(count: int) -> Graph:
    """Maps of one array, all wanted."""
    sketch = Sketch()
    sketch.use("u")
    for k in range(count):
        sketch.map(f"v{k}", ["u"], result=True)
    return sketch.finish()


def _lanes(count: int) -> Graph:
    """Two chains by index; what stands at one place in both reads one array."""
    sketch = Sketch()
    for k in range(count // 3):
        sketch.use(f"u{k}")
    for lane in "ab":
        for k in range(count // 3):
            sketch.map(f"{lane}{k}", [f"u{k}"], index=[f"{lane}{k - 1}"] if k else [])
    return sketch.finish()


def _repeated(count: int) -> Graph:
    """Parts of arrays, repeated, over and over: what is pushed through one gather is so through all that follow."""
    sketch = Sketch()
    sketch.use("v-1")
    for k in range(count):
        sketch.backpermute(f"v{k}", "mn"[k % 2], [f"v{k - 1}"], operations=0)
    return sketch.finish()


@pytest.mark.parametrize(
    "strategy", one_in(3, ["linear", "greedy", "unintrusive", "greedy_top_down", "greedy_bottom_up"])
)
@pytest.mark.parametrize("drawn", one_in(5, [_kept_apart, _ladder, _zipped, _wide, _lanes, _repeated], kept=3))
def test_twice_the_operations_take_twice_the_steps(drawn: Callable[[int], Graph], strategy: Strategy) -> None:
    options = Options(strategy=strategy)
    small, large = (steps(partial(search, drawn(count), options)) for count in (_SMALL, _LARGE))
    assert large < 2.8 * small
