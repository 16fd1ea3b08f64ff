"""Whatever the legality checker accepts can be lowered, and means the same: every legal cluster of random programs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accel.ilp.problem.build import build as build_graph
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.nodes import Program
from tests.fusedast.draw import Draw, arguments, around, legal_clusters
from tests.fusedast.examples import EXAMPLES, Example
from tests.ir.test_lower import check
from tests.marks import one_in


def check_all(program: Program, given: list[HostArray], most: int) -> int:
    """Every legal cluster of up to `most` operations; gives how many there were."""
    graph, count = build_graph(program), 0
    for cluster in legal_clusters(graph, most):
        planned = around(graph, cluster)
        if planned is not None:
            check(program, planned, *given)
            count += 1
    return count


@pytest.mark.parametrize("seed", one_in(4, range(60)))
def test_random_programs(seed: int) -> None:
    program = Draw(seed, 6).program()
    check_all(program, arguments(program, seed), 4)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_examples(example: Callable[[], Example]) -> None:
    made = example()
    small = [argument[tuple(slice(0, 9) for _ in argument.shape)] for argument in made.arguments]
    check_all(
        made.program, made.arguments if "gather" in example.__name__ or "simple" in example.__name__ else small, 5
    )
