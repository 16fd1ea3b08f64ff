"""Where accel leaves [vB24]'s free rule: work is never multiplied unseen (docs/ilp.md, W1).

And what greedy makes of the thesis's example.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import accel as A
from tests.papers import programs
from tests.papers.reading import fused

XS = np.arange(1, 9, dtype=np.float64)

# Rows and columns of any program; typed by tests/typing.
AnyAcc = A.Acc[Any]


def _softmax(xs: AnyAcc) -> AnyAcc:
    _, m = A.unlift(xs.shape)
    largest = A.replicate((A.All, m), A.fold1(A.max, xs))
    exponentials = A.zipWith(lambda x, y: A.exp(x - y), xs, largest)
    return A.zipWith(A.div, exponentials, A.replicate((A.All, m), A.fold(A.add, 0, exponentials)))


def test_row_softmax_passes_over_each_element_a_fixed_number_of_times() -> None:
    found = A.explain(_softmax(A.use(np.ones((3, 5)))), duplicate=False)
    assert found.loops == 3
    assert set(found.reads) | set(found.writes) <= {"n0*n1", "n0"}
    assert not {"fold", "fold1"} & set(fused(found))


def test_a_cheap_map_is_recomputed_rather_than_stored_and_an_expensive_one_is_not() -> None:
    row = A.use(XS)
    cheap = A.replicate((100, A.All), A.map(lambda x: x + 1, row))
    dear = A.replicate((100, A.All), A.map(lambda x: A.while_(lambda v: v < 100, lambda v: v * 2, x), row))
    assert A.explain(cheap, duplicate=True).loops == 1
    assert A.explain(dear, duplicate=True).loops == 2
    assert A.explain(cheap, duplicate=False).loops == 2
    assert A.explain(dear, duplicate="published").loops == 1


def test_heuristics_plan_the_same_programs() -> None:
    """Greedy may pair a sum with the other half's division: not as bad as nothing, not as good as the ILP."""
    program = programs.normalise2(A.use(np.arange(1, 9)))
    best = A.explain(program, duplicate=False)
    greedy = A.explain(program, strategy="greedy", duplicate=False)
    assert A.explain(program, strategy="none", duplicate=False).loops == 5
    assert 2 <= greedy.loops < 5
    assert greedy.cost >= best.cost
