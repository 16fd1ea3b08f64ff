"""The orders of a nest are [Ber]'s, by number and by name; each follows from the program's own order by its rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.rearrange.rules import Order, Rule, exchange, own_order, subdivide
from benchmarks.rearrange import EXPERIMENTS, TABLE_1, TABLE_2, blocks

RANDOM = np.random.default_rng(18)
M, N, V = RANDOM.random((32, 32)), RANDOM.random((32, 32)), RANDOM.random(32)


def matmul(a: Any, b: Any) -> Any:
    return A.matmul(a, b)


def of_product(subdivide: Mapping[str, Sequence[int]], **given: Any) -> tuple[A.Rearrangement, ...]:
    return A.rearrangements(matmul, M, N, subdivide=subdivide, **given)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_there_are_as_many_as_the_paper_has(name: str) -> None:
    """6 (Table 1), 12 (Table 2), 30 (Fig. 4), 20 (Fig. 5), 90 (Fig. 6)."""
    experiment = EXPERIMENTS[name]
    found = of_product({axis: blocks(times, 2) for axis, times in experiment.subdivide.items()})
    assert len(found) == experiment.orders
    assert len({each.name for each in found}) == len(found)
    words = found[0].name.split()
    assert {each.name for each in found} == {" ".join(order) for order in permutations(words)}


def test_tables_1_and_2_have_the_paper_s_names() -> None:
    assert {each.name for each in of_product({})} == set(TABLE_1)
    assert {each.name for each in of_product({"k": (16,)})} == set(TABLE_2)


def test_a_matrix_and_a_vector_give_three_and_three() -> None:
    """Section 3: 1a to 1c by exchanges at 0 and then 1; 2a to 2c, of which the paper starts from the other end."""
    reduced = A.rearrangements(matmul, M, V, subdivide={"j": (16,)})
    assert [each.name for each in reduced] == ["mapA rnz rnz", "rnz mapA rnz", "rnz rnz mapA"]
    assert [[step.depth for step in each.steps[1:]] for each in reduced] == [[], [0], [0, 1]]
    mapped = A.rearrangements(matmul, M, V, subdivide={"i": (16,)})
    assert [each.name for each in mapped] == ["mapA mapA rnz", "mapA rnz mapA", "rnz mapA mapA"]
    assert [[step.depth for step in each.steps[1:]] for each in mapped] == [[], [1], [1, 0]]
    assert {step.rule for each in (*reduced, *mapped) for step in each.steps} == {
        Rule.SUBDIVIDE_MAP,
        Rule.SUBDIVIDE_REDUCTION,
        Rule.EXCHANGE_MAP_AND_REDUCTION,
    }


@pytest.mark.parametrize("given", [{}, {"k": (16,)}, {"i": (4,), "k": (16,)}])
def test_each_is_derived_by_its_steps(given: Mapping[str, Sequence[int]]) -> None:
    """Applied again one by one they lead to the same loops, and no other list of exchanges is shorter."""
    found = of_product(given)
    for each in found:
        nest = each._program.nest
        order = own_order(nest)
        for step in each.steps:
            if step.block is None:
                order = exchange(nest, order, step.depth, free=True)
            else:
                order = subdivide(order, step.depth, step.block)
        assert order == each._order
        exchanges = sum(step.block is None for step in each.steps)
        assert exchanges == _inversions(each._order, found[0]._order)


def _inversions(order: Order, first: Order) -> int:
    """Pairs of loops that have changed sides: as many exchanges of neighbours are needed."""
    places = [first.pieces.index(piece) for piece in order.pieces]
    return sum(places[i] > places[j] for i in range(len(places)) for j in range(i + 1, len(places)))


def test_two_axes_of_a_reduction_change_places_only_if_that_is_free() -> None:
    """Equation 43: of sums of integers always, of floats with leave, of what does not commute never."""
    both: Callable[[Any, Any], Any] = lambda a, b: A.tensordot(a, b, 2)  # noqa: E731
    assert len(A.rearrangements(both, M, N)) == 2
    assert len(A.rearrangements(both, M, N, association="fixed")) == 1
    assert len(A.rearrangements(both, M.astype(int), N.astype(int), association="fixed")) == 2
    assert len(of_product({}, association="fixed")) == 6
    last: Callable[[Any], Any] = lambda a: A.foldAll(lambda x, y: A.select(y > 0.5, y, x), 0.0, a)  # noqa: E731
    assert len(A.rearrangements(last, M)) == 1


def test_a_product_without_a_sum() -> None:
    """Equations 36 and 37."""
    found = A.rearrangements(lambda u, v: A.outer(u, v), V, V)
    assert [each.name for each in found] == ["mapA mapB", "mapB mapA"]
    assert [str(step) for step in found[1].steps] == ["exchange of maps (36, 37) at 0"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": (5,)}, "blocks of 5 do not divide the extent 32 of rnz"),
        ({"k": (0,)}, "blocks of 0"),
        ({"z": (2,)}, "no axis 'z'"),
    ],
)
def test_subdivisions_that_are_refused(given: Mapping[str, Sequence[int]], said: str) -> None:
    with pytest.raises(A.AccelRearrangeError, match=said):
        of_product(given)


def test_an_exchange_of_two_subdivisions_is_refused() -> None:
    found = of_product({"k": (16,)})[0]
    with pytest.raises(A.AccelRearrangeError, match="two subdivisions of rnz stay in their order"):
        exchange(found._program.nest, found._order, 2, free=True)


@pytest.mark.parametrize(
    ("program", "arrays", "said"),
    [
        (lambda a, b: (A.matmul(a, b), A.sum(a)), (M, N), "2 loop nests"),
        (lambda a, b: A.matmul(A.compute(matmul(a, b)), b), (M, N), "2 loop nests"),
        (lambda a: A.scanl1(A.add, a), (M,), "its reduction is of tuples, a scan"),
        (lambda a: A.filter(lambda x: x > 0, a)[0], (V,), "no linear nest|one result"),
        (lambda a: A.map(lambda x: x + 1, A.sum(a)), (M,), "computed of what the reduction gives"),
        (lambda a: A.reverse(a), (V,), "an index that is computed"),
        (lambda a: A.generate(a.shape, lambda ix: ix[0]), (V,), "indices or extents"),
        (lambda a: A.zipWith(A.add, A.sum(a), A.product(a)), (M,), "several reductions"),
        (lambda a: A.unit(1.0), (V,), "no loop|more than"),
    ],
)
def test_what_is_no_linear_nest(program: Any, arrays: Any, said: str) -> None:
    with pytest.raises(A.AccelRearrangeError, match=said):
        A.rearrangements(program, *arrays)


def test_an_unknown_association() -> None:
    with pytest.raises(A.AccelValueError, match="'free' or 'fixed'"):
        of_product({}, association="loose")
