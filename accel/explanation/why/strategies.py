"""What other strategies would have made of a program: the same stages once more, for each strategy that is asked about."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from accel.compile import stages
from accel.errors import AccelSolverWarning
from accel.explanation.naming.turns import counters
from accel.explanation.naming.variables import Variables
from accel.explanation.why.costs import added
from accel.explanation.why.lazy import Lazy
from accel.explanation.why.parts import plans
from accel.explanation.why.passes import Sizes, bytes_of
from accel.ilp.problem.options import Options
from accel.ir import mentions
from accel.ir.facts import fills, is_loop, traffic
from accel.ir.nodes import Launch
from accel.labelled.array import Array
from accel.labelled.nodes import Program
from accel.support.choices import STRATEGIES, Strategy
from accel.support.dataclass import dataclass

LONGEST = 2.0
"""Seconds that a solver gets for a comparison."""


@dataclass(frozen=True, slots=True)
class StrategyReport:
    """What a strategy makes of the program; fields as in `Explanation`."""

    strategy: str
    cost: tuple[int, ...]
    loops: int
    bytes_read: int
    bytes_written: int
    proved: bool
    solve_seconds: float


def strategies(program: Program, options: Options, sizes: Sizes) -> Mapping[str, StrategyReport]:
    """Every strategy's name to what it makes of the program, found out when it is asked for.

    A cost function leaves out the strategies that cannot minimise one.
    """
    usable = [strategy for strategy in STRATEGIES if options.model is not None or strategy != "ilp"]
    return Lazy({strategy: partial(_compare, strategy, program, options, sizes) for strategy in usable})


def _compare(strategy: Strategy, program: Program, options: Options, sizes: Sizes) -> StrategyReport:
    chosen = replace(options, strategy=strategy, time_limit=min(options.time_limit, LONGEST))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccelSolverWarning)  # `proved` says it
        staged = stages(program, chosen)
    every = list(plans(staged.plan))
    programs = list(mentions.programs(staged.lowered))
    filled = frozenset[Array]().union(*map(fills, programs))
    nests = [step.nest for each in programs for step in each.steps if isinstance(step, Launch)]
    counted = counters(staged.labelled, Variables())
    found = [counted.without(traffic(nest, filled), nest) for nest in nests]
    return StrategyReport(
        strategy=strategy,
        cost=added(plan.cost for plan in every),
        loops=sum(map(is_loop, nests)),
        bytes_read=sum(bytes_of(access, sizes) for each in found for access in each.reads),
        bytes_written=sum(bytes_of(access, sizes) for each in found for access in each.writes),
        proved=all(plan.proved for plan in every),
        solve_seconds=sum(plan.seconds for plan in every),
    )
