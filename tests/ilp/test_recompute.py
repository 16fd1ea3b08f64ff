"""Recomputation: the optimum is that of brute force over all sets of pairs.

More than CI runs: `python -m tests.ilp.test_recompute FIRST LAST OPERATIONS`, with every cost that counts traffic and every
solver that is installed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace

import pytest

from accel.ast.tree.types import F64
from accel.errors import AccelSolverWarning
from accel.ilp import optimise
from accel.ilp.facts.contraction import merge_chains
from accel.ilp.formulations.protocol import Posed
from accel.ilp.legality.checker import refusal
from accel.ilp.plan import plan_graph, search
from accel.ilp.problem.cost import MODELS, CostModel, Weights
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.recompute.candidates import Pair, candidates, counts_traffic
from accel.ilp.recompute.graph import recompute
from accel.ilp.solve import Clock, PartAnswer, solve
from accel.ilp.solvers.protocol import Solver
from accel.ilp.text import graph_text
from accel.labelled.operations import Role
from accel.support.choices import CostName
from tests.ilp.agreement import installed
from tests.ilp.brute import brute, brute_with_recomputations
from tests.ilp.random_graphs import draw
from tests.ilp.sketch import Sketch
from tests.marks import one_in

MODELS_WITH_TRAFFIC: tuple[CostName, ...] = ("default", "memory", "bytes", "reads_writes")
MOST = 6
"""Brute force tries this many pairs, each recomputed or not."""

BATCHES = 12
SEEDS_PER_BATCH = 60


def contraction(graph: Graph, model: CostModel) -> Graph:
    """The graph in which that is decided: a chain is recomputed as one."""
    return merge_chains(graph, True, model.levels).graph


def agree(seed: int, operations: int, name: CostName, solvers: Sequence[str] = ("cbc",)) -> bool | None:
    """One graph under one cost model: whether something is recomputed; None if there is nothing that may be, or too much."""
    graph = draw(seed, operations, nested=seed % 4 == 3, cheap=True)
    small = contraction(graph, MODELS[name])
    if not 0 < len(candidates(small, Weights(small, {}), True).pairs) <= MOST:
        return None
    best, pairs = brute_with_recomputations(small, MODELS[name], Weights(small, {}))
    for solver in solvers:
        options = Options(cost=name, duplicate=True, solver=solver, time_limit=60)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = plan_graph(graph, options)
        text = f"{seed} {name} {solver}\n{graph_text(small)}\n{pairs}"
        assert (answer.cost, answer.proved, bool(answer.recomputed)) == (best, True, bool(pairs)), text
        assert refusal(recompute(graph, answer.recomputed).graph, answer.clustering, True) is None, text
        assert best <= plan_graph(graph, replace(options, duplicate="gathers")).cost
    return bool(pairs)


def cost_of(seed: int) -> CostName:
    """One of the costs that count traffic."""
    return MODELS_WITH_TRAFFIC[seed % len(MODELS_WITH_TRAFFIC)]


@pytest.mark.parametrize("batch", one_in(6, range(BATCHES)))
def test_the_optimum_is_brute_forces(batch: int) -> None:
    first = batch * SEEDS_PER_BATCH
    found = [agree(seed, 3 + seed % 4, cost_of(seed)) for seed in range(first, first + SEEDS_PER_BATCH)]
    assert sum(recomputed is not None for recomputed in found) >= 9
    assert sum(recomputed is True for recomputed in found) >= 3


def test_counted_clusters_after_bytes_with_a_push_through_a_gather() -> None:
    """CBC claimed that no clusters can be counted (`test_bounds_that_creep_are_no_contradiction`)."""
    graph = draw(61713, 6, cheap=True)
    answer = plan_graph(graph, Options(duplicate=True))
    small = contraction(graph, MODELS["default"])
    assert (answer.cost, answer.proved) == (
        brute_with_recomputations(small, MODELS["default"], Weights(small, {}))[0],
        True,
    )


def planned(
    sketch: Sketch, cost: CostName = "bytes"
) -> tuple[tuple[int, ...], set[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The cost of a drawn graph and what is recomputed into what, by names; the same as brute force finds."""
    graph = sketch.finish()
    answer = plan_graph(graph, Options(cost=cost, duplicate=True))
    small = contraction(graph, MODELS[cost])
    assert answer.cost == brute_with_recomputations(small, MODELS[cost], Weights(small, {}))[0]
    names = {label: name for name, label in sketch.labels.items()}
    recomputed = {
        (tuple(names[label] for label in each.run), tuple(names[label] for label in each.readers))
        for each in answer.recomputed
    }
    return answer.cost, recomputed


def test_a_map_read_by_two_loops_is_computed_in_both() -> None:
    """Written and read twice if it is stored: four passes over n floats; three reads of xs and ys and the result's write."""
    s = Sketch()
    s.use("xs")
    s.map("ys", "xs")
    s.fold("total", "ys")
    s.map("out", "ys", index="total")
    cost, recomputed = planned(s)
    assert cost == (3 * 4096 + 4,)
    assert recomputed == {(("ys",), ("out",))}  # the first reader has the map itself
    graph = s.finish()
    assert brute(graph, MODELS["bytes"], Weights(graph, {}), "gathers")[0] == (4 * 4096 + 4,)


def test_a_copy_that_reads_more_than_it_saves_is_not_made() -> None:
    """The map reads three arrays: to write and read what it makes is cheaper than to read them once more."""
    s = Sketch()
    for name in ("as", "bs", "cs"):
        s.use(name)
    s.map("ys", "as bs cs")
    s.fold("total", "ys")
    s.map("out", "ys", index="total")
    cost, recomputed = planned(s)
    assert (cost, recomputed) == ((6 * 4096 + 4,), set())


def test_neighbouring_sites_are_one_pass() -> None:
    """A product of two arrays at three points: two passes instead of one, but nothing to write and to read before."""
    s = Sketch()
    for name in ("xs", "ys"):
        s.use(name)
    s.map("product", "xs ys")
    s.generate("out", "n", index="product", result=True)
    graph = s.finish()
    for passes, expected in ((1, 2 * 4096), (3, 4 * 4096)):
        edges = tuple(
            [replace(edge, sites=3, passes=passes) if edge.role is Role.INDEX else edge for edge in graph.edges]
        )
        answer = plan_graph(replace(graph, edges=edges), Options(cost="bytes", duplicate=True))
        assert answer.cost == (expected,)
        assert bool(answer.recomputed) == (passes == 1)


def test_a_chain_is_recomputed_as_one() -> None:
    s = Sketch()
    s.use("xs")
    s.map("as", "xs")
    s.map("bs", "as")
    s.fold("total", "bs")
    s.map("out", "bs", index="total")
    assert planned(s)[1] == {(("as", "bs"), ("out",))}


def test_what_a_copy_reads_may_be_stored_by_the_same_plan() -> None:
    """Of a chain, what is expensive is stored, and its three cheap halves are made again at the points of a stencil."""
    s = Sketch()
    s.use("xs")
    s.map("expensive", "xs", operations=33)
    s.map("parts", "expensive", leaves=3)
    s.generate("out", "n", index="parts", result=True)
    cost, recomputed = planned(s)
    assert cost == (3 * 4096,)
    assert recomputed == {(("parts",), ("out",))}
    graph = s.finish()
    stored = 4096 + (4 + 8 + 8) * 1024 + 4096
    assert brute(graph, MODELS["bytes"], Weights(graph, {}), "gathers")[0] == (stored,)


def test_what_a_copy_reads_may_be_made_in_its_loop() -> None:
    """Two loops, each of which makes the first map and, of it, the second: nothing is stored but what is asked for."""
    s = Sketch()
    s.use("xs")
    s.map("firsts", "xs")
    s.map("seconds", "firsts")
    s.fold("total", "seconds")
    s.map("out", "firsts seconds", index="total", result=True)
    cost, recomputed = planned(s)
    assert cost == (3 * 4096 + 4,)
    assert recomputed == {
        (("firsts",), ("seconds",)),
        (("seconds",), ("out",)),
    }  # with the first map in the second's loop


def test_a_producer_without_inputs_is_never_stored_for_a_stencil() -> None:
    s = Sketch()
    s.generate("ys", "n")
    s.generate("out", "n", index="ys", result=True)
    s.fold("total", "ys", result=True)
    cost, recomputed = planned(s)
    assert cost == (4096 + 4,)
    assert (("ys",), ("out",)) in recomputed


def test_what_nobody_reads_any_more_joins_no_loops() -> None:
    """Three loops: of as and of bs, the gather, the fold that loads. The map reads as and bs, so it might be a fourth link."""
    s = Sketch()
    for name in ("as", "bs"):
        s.use(name, "n m")
    s.map("ys", "as bs", element=F64)
    s.fold("bsum", "bs", result=True)
    s.backpermute("moved", "n m", "ys", result=True)
    s.fold("loads", "bs", index="ys", result=True)
    s.fold("asum", "as", result=True)
    cost, recomputed = planned(s, "default")
    assert cost[1:] == (0, 3)
    assert recomputed == {(("ys",), ("moved",)), (("ys",), ("loads",))}


def test_two_producers_may_be_too_much_together() -> None:
    """Each of them is cheap enough to run for every element of a gather that may be larger; both are not."""
    s = Sketch()
    s.use("xs", "n m")
    for name in ("as", "bs"):
        s.map(name, "xs", operations=20)
        s.fold(f"{name} folded", name, result=True)
    s.backpermute("moved", "n", "as bs", result=True)
    assert len(planned(s)[1]) < 2


def test_what_is_expensive_is_stored() -> None:
    s = Sketch()
    s.use("xs")
    s.map("ys", "xs", operations=33)
    s.fold("total", "ys")
    s.map("out", "ys", index="total")
    assert planned(s)[1] == set()


def test_an_index_that_may_be_out_of_bounds_stays_one_if_nothing_else_would_check_it() -> None:
    s = Sketch()
    s.generate("ys", "n")
    s.generate("out", "n", index="ys", result=True)
    graph = s.finish()
    unsure = replace(graph, edges=tuple(replace(edge, inside=False) for edge in graph.edges))
    assert candidates(graph, Weights(graph, {}), True).pairs == ((0, 1),)
    assert candidates(unsure, Weights(unsure, {}), True).pairs == ()


@pytest.mark.parametrize(("sites", "found"), [(1, ((1, 2),)), (3, ())])
def test_what_loads_several_elements_is_not_computed_at_several_points(sites: int, found: tuple[Pair, ...]) -> None:
    """Nine loads for an element in place of three; or three."""
    s = Sketch()
    s.use("xs")
    s.generate("first", "n", index="xs", operations=6)
    s.generate("out", "n", index="first", result=True)
    graph = s.finish()
    of = {"xs": sites, "first": 3}
    edges = [replace(edge, sites=of[name], passes=1) for edge, name in zip(graph.edges, of, strict=True)]
    graph = replace(graph, edges=tuple(edges))
    assert candidates(graph, Weights(graph, {}), True).pairs == found


@pytest.mark.parametrize("seed", [29, 40, 59])
def test_no_plan_costs_more_than_without(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Where the solver has no time for the models with recomputation, the plan is the best one without: no quick strategy's."""

    def impatient(part: Posed, solver: Solver, clock: Clock, known: Sequence[int] | None = None) -> PartAnswer | None:
        chooses = any(variable.name.startswith("recompute") for variable in part.model.variables)
        return None if chooses else solve(part, solver, clock, known)

    monkeypatch.setattr(optimise, "solve", impatient)
    graph = draw(seed, 12, cheap=True)
    without = search(graph, Options(duplicate="gathers"))
    with pytest.warns(AccelSolverWarning):
        assert search(graph, Options(duplicate=True)).cost == without.cost


@pytest.mark.parametrize("name", MODELS)
def test_only_costs_that_count_traffic_decide_on_recomputation(name: CostName) -> None:
    assert counts_traffic(MODELS[name].levels) == (name in MODELS_WITH_TRAFFIC)


def main() -> int:
    """Compare, print what disagrees; 1 if something does."""
    first, last, size = map(int, sys.argv[1:])
    solvers = installed()
    tried = made = wrong = 0
    for seed in range(first, last):
        for name in MODELS_WITH_TRAFFIC:
            try:
                recomputed = agree(seed, size, name, solvers)
            except Exception as error:  # whatever goes wrong in one graph, the others are tried
                recomputed = None
                wrong += 1
                print(f"{seed} {name}: {type(error).__name__}: {error}", flush=True)
            tried, made = tried + (recomputed is not None), made + (recomputed is True)
        if (seed + 1 - first) % 100 == 0:
            print(f"{seed + 1 - first} seeds, {tried} may copy, {made} do, {wrong} wrong", flush=True)
    print(
        f"{last - first} seeds of {size} operations, each with {len(MODELS_WITH_TRAFFIC)} costs and {', '.join(solvers)}:"
    )
    print(f"{tried} problems that may copy, {made} that do, {wrong} that disagree with brute force")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
