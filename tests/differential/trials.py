"""What one program runs through: how it is planned, what may be recomputed, how many threads, who evaluates it.

`thorough` is what the test suite does: three ways to plan, with every evaluator. `lean` is for long runs: one way, with some
evaluators. Half of these ways are no strategy's: a legal clustering that is merged at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, TypeAlias

from accel.compile import stages
from accel.fusedast import nodes as fusedast
from accel.fusedast.build import build as fuse
from accel.fusedast.verify import verify as verify_fused
from accel.ilp.legality.checker import refusal
from accel.ilp.problem.build import build
from accel.ilp.problem.clustering import Clustering, Plan
from accel.ilp.problem.cost import Weights
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.problem.price import Prices
from accel.ir import nodes as ir
from accel.ir.lowering.lower import lower
from accel.ir.verify import verify as verify_loops
from accel.labelled.array import Label
from accel.labelled.nodes import Program
from accel.labelled.operations import parts
from accel.labelled.passes.absorb import absorb
from accel.support.choices import STRATEGIES, Duplicate, Strategy
from benchmarks.clusterings import TooManyError, clusterings

Way: TypeAlias = Strategy | Literal["random"]
"""How a program is planned: by a strategy, or by a clustering that is merged at random."""

Device: TypeAlias = Literal["opencl", "gpu"]
"""An OpenCL device as it is, or with the schedules that GPUs get."""

THREADS = (2, 1, 3)
"""How many threads run the first, second and third way on small data, where threads make no difference."""

RECOMPUTED: tuple[Duplicate, ...] = (True, "stencils", "gathers", True, "stencils", False)
"""Which work may be recomputed, in turn: more often anything than nothing."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a program runs through.

    `threads`: on llvm, of the first, second, … way, over and over. `interpreted`: the evaluators of the stages run, too.
    `again`: what the first way gives is called twice, since the second call may be other code. `seed`: of random clusterings.
    """

    ways: tuple[Way, ...] = STRATEGIES
    duplicate: Duplicate = True
    threads: tuple[int, ...] = THREADS
    interpreted: bool = True
    again: bool = True
    seed: int = 0

    def of_two(self) -> Trial:
        """The same in two ways at least."""
        return (
            self if len(self.ways) > 1 else replace(self, ways=(*self.ways, "ilp" if "none" in self.ways else "none"))
        )


EVERYTHING = Trial()
"""All strategies and evaluators."""


def thorough(seed: int) -> Trial:
    """Three ways for one seed: the default, none, and each of the others in turn."""
    others = [strategy for strategy in STRATEGIES if strategy not in ("ilp", "none")]
    return Trial(("ilp", "none", others[seed % len(others)]), RECOMPUTED[seed % 4], seed=seed)


def lean(seed: int) -> Trial:
    """One way for one seed: a random clustering for every other, for those between each of the strategies in turn."""
    way: Way = "random" if seed % 2 else STRATEGIES[seed // 2 % len(STRATEGIES)]
    draw = Random(seed)
    threads = (draw.choice(THREADS),)
    return Trial((way,), draw.choice(RECOMPUTED), threads, draw.randrange(8) == 0, draw.randrange(4) == 0, seed)


Trials: TypeAlias = Callable[[int], Trial]


@dataclass(frozen=True, slots=True)
class Planned:
    """A program in the forms that come after planning."""

    fused: fusedast.Program
    loops: ir.Program


def planned(program: Program, way: Way, trial: Trial) -> Planned:
    """The program planned in one way."""
    if way != "random":
        staged = stages(program, Options(strategy=way, duplicate=trial.duplicate))
        return Planned(staged.fused, staged.loops)
    # Recomputation of other kinds follows from costs, which a random plan does not look at.
    duplicate: Duplicate = "gathers" if trial.duplicate is True else trial.duplicate
    given = absorb(program)
    return _realised(given, _random_plan(given, Random(trial.seed), duplicate))


def every_plan(program: Program, most: int) -> list[Planned]:
    """The program under each legal clustering; under none if it has more than `most`, or programs inside of it."""
    given = absorb(program)
    graph = build(given, count_passes=False)
    if any(parts(binding.operation) for binding in given.bindings):
        return []
    prices = Prices(graph, Options().what_costs, Weights(graph, {}))
    try:
        found = clusterings(graph, prices, most)
    except TooManyError:
        return []
    return [_realised(given, _plan(each)) for each in found]


def _realised(program: Program, plan: Plan) -> Planned:
    fused = fuse(program, plan)
    verify_fused(fused)
    loops = lower(fused)
    verify_loops(loops)
    return Planned(fused, loops)


def _plan(found: Clustering, inner: tuple[tuple[Label, tuple[Plan, Plan]], ...] = ()) -> Plan:
    return Plan(found, inner, "random", "none", None, (), (), False, 0.0)


def _random_plan(program: Program, random: Random, duplicate: Duplicate) -> Plan:
    """Legal clusterings of a program and of those inside of it. It recurses on nested control flow only."""
    nested = [(binding.label, parts(binding.operation)) for binding in program.bindings]
    inner = tuple(
        (label, (_random_plan(programs[0], random, duplicate), _random_plan(programs[1], random, duplicate)))
        for label, programs in nested
        if programs
    )
    return _plan(random_clustering(build(program, count_passes=False), random, duplicate), inner)


def random_clustering(graph: Graph, random: Random, duplicate: Duplicate) -> Clustering:
    """A legal clustering: sets of operations that depend on each other, or any two, are merged for a random while."""
    sets = [[node.label] for node in graph.operations]
    backward = {node.label for node in graph.operations if random.randrange(6) == 0}
    made = clustering(graph, sets)
    assert made is not None
    for _ in range(random.randrange(3 * len(sets) + 1)):
        first, second = _pair(graph, sets, random)
        if first is second:
            continue
        merged = [*(each for each in sets if each is not first and each is not second), sorted(first + second)]
        found = clustering(graph, merged, backward)
        if found is not None and refusal(graph, found, duplicate) is None:
            made, sets = found, merged
    return made


def _pair(graph: Graph, sets: list[list[Label]], random: Random) -> list[list[Label]]:
    """Two sets, of which more often than not one reads what the other makes; a set twice where that is no choice."""
    if graph.arcs and random.randrange(4):
        ends = random.choice(graph.arcs)
        found = [each for label in ends for each in sets if label in each]
        return found if len(found) == 2 else [sets[0], sets[0]]
    return [random.choice(sets), random.choice(sets)]
