"""What stencils take in by default: the cheaper plan is taken, never a dearer one than if all were stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ilp import plan as planner
from accel.ilp.facts.contraction import merge_chains
from accel.ilp.legality.checker import refusal
from accel.ilp.plan import search
from accel.ilp.problem.answer import Answer
from accel.ilp.problem.cost import MODELS, Weights
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.recompute.candidates import candidates
from accel.ilp.recompute.graph import recompute
from tests.ilp.brute import brute_with_recomputations
from tests.ilp.random_graphs import draw
from tests.ilp.sketch import Sketch
from tests.labelled.programs import AnyAcc

Program: TypeAlias = Callable[[AnyAcc], tuple[AnyAcc, ...]]
MOST = 6
"""Brute force tries this many pairs, each recomputed or not."""

XS = np.linspace(-1.0, 2.5, 35).reshape(5, 7)


def compare(seed: int) -> tuple[bool, bool] | None:
    """Whether less is moved than if all were stored, and whether brute force finds nothing better; None if nothing may be
    taken in, or too much."""
    graph, model = draw(seed, 3 + seed % 4, nested=seed % 4 == 3, cheap=True), MODELS["default"]
    small = merge_chains(graph, "stencils", model.levels).graph
    if not 0 < len(candidates(small, Weights(small, {}), "stencils").pairs) <= MOST:
        return None
    answer, stored = search(graph, Options(duplicate="stencils")), search(graph, Options(duplicate="gathers"))
    assert refusal(recompute(graph, answer.recomputed).graph, answer.clustering, "stencils") is None, seed
    assert answer.cost <= stored.cost, seed
    assert bool(answer.recomputed) == (answer.cost < stored.cost), seed
    least, _ = brute_with_recomputations(small, model, Weights(small, {}), "stencils")
    return answer.cost < stored.cost, answer.cost <= least


def test_the_cheaper_plan_is_taken() -> None:
    """In all 50 of 720 random graphs it is the best; the promise is only that it is no dearer than without."""
    found = [each for each in map(compare, range(360)) if each is not None]
    assert sum(cheaper for cheaper, _ in found) >= 10
    assert sum(best for _, best in found) >= len(found) - 1


def test_a_wide_program_takes_no_search_of_pairs() -> None:
    """With `duplicate=True` no solver proves anything of it in ten seconds."""
    s = Sketch()
    s.use("xs")
    for k in range(12):
        s.map(f"m{k}", "xs", index=[f"m{k - 2}"] if k % 3 == 2 else [], result=k % 5 == 0)
    answer = search(s.finish(), Options(duplicate="stencils"))
    assert answer.proved


def test_a_cheaper_plan_that_is_not_proved_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search with nothing taken in comes to its end, and that with a map taken in does not."""
    s = Sketch()
    s.use("xs")
    s.map("doubled", "xs")
    s.map("around", "xs", index=["doubled"], result=True)
    graph, known = s.finish(), planner._optimum

    def late(changed: Graph, options: Options) -> Answer:
        answer = known(changed, options)
        return answer if changed is graph else replace(answer, proved=False, finished=False, trouble="after 0 s")

    monkeypatch.setattr(planner, "_optimum", late)
    with pytest.warns(A.AccelSolverWarning, match="after 0 s the cost is") as told:
        answer = search(graph, Options())
    assert len(told) == 1
    assert answer.recomputed
    assert not answer.proved


def around(xs: AnyAcc) -> AnyAcc:
    """The sum of the four neighbours."""
    return A.stencil(lambda n: n(-1, 0) + n(1, 0) + n(0, -1) + n(0, 1), A.boundary.clamp, xs)


def doubled(xs: AnyAcc) -> AnyAcc:
    """Cheap."""
    return A.map(lambda x: x * 2, xs)


def chain(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """Two maps, one after the other."""
    return (around(A.map(lambda x: x + 1, doubled(xs))),)


def residual(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """A map that something else reads in order, too."""
    ys = doubled(xs)
    return (A.zipWith(A.sub, ys, around(ys)),)


def given(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """A map that is stored, as it is a result: the stencil computes it again in the loop that stores it."""
    ys = doubled(xs)
    return ys, A.stencil(lambda n: n(0, 1) - n(0, 0), A.boundary.mirror, ys)


def folded(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """A stencil that is folded."""
    return (A.fold(A.add, 0, around(doubled(xs))),)


def two(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """Two stencils of one map."""
    ys = doubled(xs)
    return around(ys), A.stencil(lambda n: n(0, 1) - n(0, -1), A.boundary.wrap, ys)


def both(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """A stencil of two maps."""
    return (
        A.stencil2(
            lambda m, n: m(-1, 0) * n(1, 0),
            A.boundary.mirror,
            doubled(xs),
            A.boundary.clamp,
            A.map(lambda x: x - 1, xs),
        ),
    )


def divided(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """Four divisions for an element take longer than to store it."""
    return (around(A.map(lambda x: 1 / (x + 4), xs)),)


TAKEN: tuple[tuple[Program, int], ...] = (
    (chain, 1), (residual, 1), (given, 1), (folded, 1), (two, 2), (both, 1),
)  # fmt: skip
"""And in how many loops. (Two stencils share one only if they read elements in order, too.)"""


@pytest.mark.parametrize(("program", "loops"), TAKEN, ids=lambda given: str(getattr(given, "__name__", given)))
def test_a_stencil_of_a_map_reads_what_the_map_reads(program: Program, loops: int) -> None:
    """All that is in memory is the argument and the results."""
    results = program(A.use(XS))
    found = A.explain(results)
    assert len(found.clusters) == loops
    assert "stored" not in [array.status for array in found.arrays if not array.result]
    assert all(each.saves is not None for each in found.copies)
    assert len(A.explain(results, duplicate="gathers").clusters) == loops + 1


def test_a_stencil_of_what_is_dear_reads_it() -> None:
    found = A.explain(divided(A.use(XS)))
    assert (len(found.clusters), found.copies) == (2, ())
    (made,) = [array for array in found.arrays if array.producer == "map %1"]
    assert [why.rule for why in made.why_not_again] == ["C3"]


@pytest.mark.llvm
@pytest.mark.parametrize(
    "program", [*(program for program, _ in TAKEN), divided], ids=lambda program: str(program.__name__)
)
def test_results_have_the_same_bits(program: Program) -> None:
    for xs in (XS, XS[:1], XS[:, :1], np.linspace(0.0, 9.0, 67 * 131).reshape(67, 131)):
        expected = [found.tobytes() for found in A.run(program(A.use(xs)), backend="interpreter")]
        for duplicate in ("stencils", "gathers"):
            assert [each.tobytes() for each in A.run(program(A.use(xs)), duplicate=duplicate)] == expected
