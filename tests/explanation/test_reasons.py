"""Why arrays are not fused: a program for every rule, and what must hold of every program."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest

import accel as A
from accel.explanation.why.reasons import RULES, WhyNot
from accel.ilp.legality.refusal import Rule
from tests.differential.check import loaded
from tests.differential.data import inputs
from tests.differential.subjects import taken
from tests.explanation.samples import built

Floats = A.Acc[A.Vector[np.float64]]
Ints = A.Acc[A.Vector[np.int64]]


def indexed(xs: Floats) -> Floats:
    ys = A.map(lambda x: x + 1, xs)
    return A.map(lambda x: x * ys[0], xs)


def overwritten(xs: Floats, ix: Ints) -> Floats:
    return A.scatterWith(A.add, A.map(lambda x: x * 2, xs), A.zip(ix, xs))


def scattered(xs: Floats, ix: Ints) -> Floats:
    return A.map(lambda x: x + 1, overwritten(xs, ix))


def through_another(xs: Floats) -> Floats:
    ys = A.map(lambda x: x + 1, xs)
    total = A.the(A.fold(A.add, 0, ys))
    return A.map(lambda y: y / total, ys)


def between(xs: Floats) -> Floats:
    ys = A.map(lambda x: x + 1, xs)
    return A.zipWith(A.mul, ys, A.compute(A.map(lambda y: y * 2, ys)))


def both_ways(xs: Floats) -> Floats:
    return A.scanr(A.add, 0.0, A.scanl(A.add, 0.0, xs))


def found_first(xs: Floats) -> Floats:
    kept, _ = A.filter(lambda x: x > 0, xs)
    return A.scanl(A.add, 0.0, kept)


def offsets_of_rows(rows: A.Acc[A.Matrix[np.float64]]) -> Floats:
    return A.scanl(A.add, 0.0, A.fold(A.add, 0.0, rows))


def heavy(xs: Floats, ix: Ints) -> Floats:
    return A.gather(ix, A.map(lambda x: A.while_(lambda y: y < 100.0, lambda y: y * 2, x), xs))


@pytest.mark.parametrize(
    ("program", "rule", "reason"),
    [
        (indexed, "D1", "it is read at an index, so it must be complete first"),
        (overwritten, "D1", "it is written into, so it must be complete first"),
        (scattered, "D1", "a scatter writes in any order, so what it makes is complete only at its end"),
        (through_another, "D1", "their loops cannot become one: map %3 needs fold %2 complete"),
        (between, "D4", "force %3 must run between their loops"),
        (both_ways, "D5", "it is read backward, and scanl %1 runs forward only"),
        (found_first, "E2", "a loop of scanl %2 would stand under the guard of a filter"),
        (offsets_of_rows, "E4", "their loops differ: fold %1 visits [n0,n1], scanl %2 [n0+1]"),
        (heavy, "W1", "gather %3 may be larger than its source: the loop of map %2 would be recomputed"),
    ],
)
def test_each_rule_in_words(program: Callable[..., object], rule: str, reason: str) -> None:
    lines = [line for array in A.explain(program, duplicate="gathers").arrays for line in array.why_not]
    assert (rule, reason) in [(line.rule, line.reason) for line in lines]


def test_a_line_names_the_reader_and_both_places() -> None:
    explanation = A.explain(through_another, duplicate=False)
    ys = explanation.arrays[1]
    (line,) = ys.why_not
    assert line.reader == "map %3"
    assert line.where is not None
    assert line.producer_where == ys.where
    assert line.where.line == through_another.__code__.co_firstlineno + 3
    assert str(line) == (
        f"map %3 (test_reasons.py:{line.where.line}): their loops cannot become one: map %3 needs fold %2 complete [D1]"
    )


def test_a_line_is_copied_with_its_parts() -> None:
    line = WhyNot("D1", "it is late", "map %3")
    again = copy.copy(line)
    assert (str(again), again.rule, again.reason, again.reader) == (
        "map %3: it is late [D1]",
        "D1",
        "it is late",
        "map %3",
    )


def test_what_would_cost_more_says_how_much() -> None:
    """Two short arrays added, then read at many indices: fused, both are read there, 2 x 80,000 bytes for 80,000 + 240."""

    def summed(ix: Ints, xs: Floats, ys: Floats) -> Floats:
        return A.gather(ix, A.zipWith(A.add, xs, ys))

    short = np.ones(10)
    explanation = A.explain(summed, np.zeros(10_000, np.int64), short, short, sizes="actual", duplicate="gathers")
    (line,) = (line for array in explanation.arrays for line in array.why_not)
    assert line.rule == "cost"
    assert line.reason == f"one loop for both would cost {160_000 - 80_000 - 240:,} more (bytes)"


def test_what_a_weak_strategy_did_not_find_is_not_blamed_on_a_rule() -> None:
    """Nothing forbids one loop, and it would save a read of 8,192 bytes."""

    def three(xs: Floats, ys: Floats) -> tuple[Floats, Floats, Floats]:
        plus = A.map(lambda x: x + 1, xs)
        return plus, A.map(lambda x: x * 2, xs), A.zipWith(A.add, plus, ys)

    explanation = A.explain(three, strategy="unintrusive", duplicate=False)
    assert explanation.loops == 2
    (line,) = (line for array in explanation.arrays for line in array.why_not)
    assert (line.rule, line.reason) == (
        "strategy", "unintrusive did not find it: one loop would cost 8,192 less (bytes)"
    )  # fmt: skip
    assert A.explain(three, duplicate=False).loops == 1


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_are_explained_consistently(seed: int) -> None:
    """Who reads through memory has a reason, who reads in the loop has none; sums are sums; optima are not improved."""
    program = built(seed, 40)
    explanation = A.explain(loaded(program), *map(taken, inputs(program)))
    arrays = {array.name: array for array in explanation.arrays}
    blamed = {(array.name, line.reader) for array in explanation.arrays for line in array.why_not}
    through_memory = {
        (flow.array, flow.reader)
        for flow in explanation.flows
        if not flow.fused and not flow.view and arrays[flow.array].status != "input"
    }
    assert blamed == through_memory
    lines = [line for array in explanation.arrays for line in array.why_not]
    assert {line.rule for line in lines} <= RULES.keys()
    assert not (explanation.proved and [line for line in lines if line.rule == "strategy"])
    for flow in explanation.flows:
        if flow.fused:
            assert arrays[flow.array].status in ("fused", "kept")
    passes = [each for cluster in explanation.clusters for each in cluster.read_arrays]
    assert explanation.bytes_read == sum(each.bytes for each in passes)
    assert sum(explanation.reads.values()) == len(passes)
    assert explanation.bytes_written == sum(
        each.bytes for cluster in explanation.clusters for each in cluster.written_arrays
    )  # fmt: skip
    known = {array.name for array in explanation.arrays} | {view.name for view in explanation.views}
    assert {each.array for cluster in explanation.clusters for each in cluster.read_arrays} <= known
    made = {name for cluster in explanation.clusters for name in (*cluster.fused, *cluster.kept, *cluster.stored)}
    assert made == {array.name for array in explanation.arrays if array.cluster is not None}


@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_other_strategies_are_compared_with_what_they_really_do(seed: int) -> None:
    program = built(seed, 40)
    explanation = A.explain(loaded(program), *map(taken, inputs(program)))
    assert explanation.strategies["none"].cost == explanation.unfused
    for strategy, found in explanation.strategies.items():
        own = A.explain(loaded(program), *map(taken, inputs(program)), strategy=strategy)  # type: ignore[arg-type]  # a name
        assert (found.cost, found.loops) == (own.cost, own.loops)
        assert (found.bytes_read, found.bytes_written) == (own.bytes_read, own.bytes_written)
        if explanation.proved:
            assert explanation.cost <= found.cost


def test_a_cost_function_is_explained_by_its_numbers() -> None:
    def launches(cluster: A.CostCluster) -> int:
        return 1

    explanation = A.explain(through_another, cost=launches, strategy="greedy", duplicate=False)
    assert explanation.levels == ("in level 1",)
    assert "ilp" not in explanation.strategies
    assert explanation.strategies["branch_and_bound"].cost == explanation.cost == (2,)
    assert explanation.unfused == (3,)
    assert "launches: 2 in level 1; unfused 3 in level 1\n" in str(explanation)


def test_each_rule_of_the_checker_has_a_sentence() -> None:
    assert {rule.value for rule in Rule} - {"partition"} <= RULES.keys()
