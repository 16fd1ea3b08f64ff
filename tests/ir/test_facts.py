"""Counted passes: the papers' numbers, and one test for each rule of docs/ir.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from accel.ast.tree.types import F64, I64
from accel.fusedast.build import build
from accel.ir.facts import fills, is_loop, size_text, traffic
from accel.ir.lowering.lower import lower
from accel.ir.nodes import Launch
from accel.labelled.array import Extent, SizeVariable
from tests.fusedast.examples import (
    Example,
    filtered_gather,
    normalise2,
    normalise2_expanded,
    replicated,
    scatter_example,
    scatter_of_matrix,
    simple4,
    simple5,
    single_loop,
)
from tests.fusedast.hand import Body, Hand


def counted(example: Example, fused: bool = True) -> tuple[int, dict[str, int], dict[str, int]]:
    """Loops, reads and writes by size."""
    program = lower(build(example.program, example.fused if fused else example.unfused))
    nests = [step.nest for step in program.steps if isinstance(step, Launch)]
    passes = [traffic(nest, fills(program)) for nest in nests]
    reads = Counter(access.size for each in passes for access in each.reads)
    writes = Counter(access.size for each in passes for access in each.writes)
    return sum(map(is_loop, nests)), dict(reads), dict(writes)


@pytest.mark.parametrize(
    ("example", "fused", "loops", "reads", "writes"),
    [
        (normalise2, True, 2, {"n0": 2, "1": 2}, {"n0": 2, "1": 2}),
        (normalise2, False, 5, {"n0": 4, "n0+1": 1, "1": 2}, {"n0": 2, "n0+1": 1, "1": 2}),
        (normalise2_expanded, True, 2, {"n0": 2, "1": 2}, {"n0": 3, "1": 2}),
        (normalise2_expanded, False, 6, {"n0": 5, "n0+1": 1, "1": 2}, {"n0": 3, "n0+1": 1, "1": 2}),
    ],
)
def test_figure_12(
    example: Callable[[], Example], fused: bool, loops: int, reads: dict[str, int], writes: dict[str, int]
) -> None:
    """[vB20 Fig. 12]; the scan's n + 1 results show as a size of their own."""
    assert counted(example(), fused) == (loops, reads, writes)


def test_two_orders_are_two_passes() -> None:
    """[vB24 section 3.3]: `singleLoop`, `simple5`."""
    assert counted(single_loop()) == (1, {"n0": 2}, {"n0": 1})
    assert counted(simple5()) == (1, {"n0": 3}, {"n0": 1})


def test_a_mapped_index_counts_the_iterations() -> None:
    """[vB24 section 3.3]: `simple4` reads as many rows as it gathers."""
    assert counted(simple4()) == (1, {"n0": 1, "n0*n2": 1}, {"n0": 1})


def test_a_part_is_read_as_often_as_it_is_visited() -> None:
    hand = Hand()
    xs = hand.use(F64, hand.size())
    body = Body(I64)
    init = hand.backpermute(body.gives(body.parameters[0]), xs, Extent(SizeVariable(0), -1))
    program = hand.program(hand.affine(init))
    assert counted(Example(program, [[1, 2]], [])) == (1, {"n0-1": 1}, {"n0-1": 1})


def test_an_index_that_is_always_the_same_counts_once() -> None:
    assert counted(replicated()) == (1, {"n0*n1": 2, "1": 1}, {"n0*n1": 1})


def test_what_is_filtered_has_its_own_size() -> None:
    assert counted(filtered_gather()) == (1, {"n0": 2}, {"n2": 1, "1": 1})


def test_a_scatter_reads_and_writes_its_destination() -> None:
    assert counted(scatter_example()) == (2, {"n0": 3}, {"n0": 2})


def test_a_scatter_into_a_constant_is_free() -> None:
    assert counted(scatter_of_matrix()) == (2, {"n0*n1": 1}, {"2": 1})


def test_size_texts() -> None:
    n, m, k = Extent(SizeVariable(0), 0), Extent(SizeVariable(1), 1), Extent(None, 4)
    assert [size_text(s) for s in [(), (n,), (m,), (k, k), (n, m), (n, k)]] == [
        "1", "n0", "n1+1", "16", "n0*(n1+1)", "4*n0",
    ]  # fmt: skip
