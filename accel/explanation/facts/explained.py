"""What became of a program, as plain data: what reports, pictures and pages are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from accel.explanation.facts.facts import ArrayReport, ClusterReport, CopyReport, Flow, OperationReport, ViewReport
from accel.explanation.why.strategies import StrategyReport
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Explained:
    """What was fused, what it costs, and what is known about all other ways; `str()` is a report.

    loops: nests over at least one dimension. reads, writes: array passes, by the size of the pass (`n0`, `n0*n1`; a single
    element counts under `1`). bytes_read, bytes_written: with the extents in `sizes`; others count 1024. extents: what they are
    extents of, such as `rows of img`. cost, bound: one
    number per level of the cost model, sub-programs included; `proved`: no clustering costs less; `recalled`: an earlier
    process found that out, and the plan cache kept it. unfused: the cost with every operation by itself. levels: what the
    numbers count. operations, flows: every operation, and who reads what. views: other names of arrays. copies: work that
    is recomputed. strategies: what each strategy makes of the program, found out when it is asked for. stages: the
    program's text in every stage, likewise. name: of the function.
    """

    loops: int
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    bytes_read: int
    bytes_written: int
    sizes: Mapping[str, int]
    extents: Mapping[str, str]
    clusters: tuple[ClusterReport, ...]
    arrays: tuple[ArrayReport, ...]
    strategy: str
    cost_model: str
    cost: tuple[int, ...]
    bound: tuple[int, ...]
    proved: bool
    recalled: bool
    solve_seconds: float
    unfused: tuple[int, ...]
    levels: tuple[str, ...]
    operations: tuple[OperationReport, ...]
    flows: tuple[Flow, ...]
    views: tuple[ViewReport, ...]
    copies: tuple[CopyReport, ...]
    name: str
    strategies: Mapping[str, StrategyReport] = field(repr=False, compare=False)
    stages: Mapping[str, str] = field(repr=False, compare=False)
