"""Greedy joins those readers of one array that fit together, also where there are many and they stand between others.

Once: of an array with more than 16 readers only neighbours were tried. Where left and right scans took turns, none joined any
other, and greedy's plan, which is also what programs of very many readers get, moved twice as much as need be.
"""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.support.choices import Strategy

XS = A.use(np.arange(4.0))


def shifted(k: int) -> A.Acc[A.Vector[np.float64]]:
    return A.map(lambda x: x + k + 1, XS)


def scans(readers: int) -> tuple[A.Acc[A.Vector[np.float64]], ...]:
    """Scans of a map each, to the right and to the left in turns."""
    return tuple((A.scanr1, A.scanl1)[k % 2](A.add, shifted(k)) for k in range(readers))


@pytest.mark.parametrize("strategy", ["greedy", "greedy_top_down", "greedy_bottom_up"])
@pytest.mark.parametrize("readers", [16, 30, 80])
def test_scans_both_ways_of_one_array(readers: int, strategy: Strategy) -> None:
    found = A.explain(scans(readers), strategy=strategy)
    assert (found.loops, dict(found.reads)) == (2, {"n0": 2})


@pytest.mark.slow
def test_more_readers_than_a_solver_is_given() -> None:
    found = A.explain(scans(80))
    assert (found.strategy, found.loops) == ("greedy", 2)
