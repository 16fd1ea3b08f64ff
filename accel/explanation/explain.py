"""`explain`: what became of a program, as attributes and as a report.

In: a program or a function. Out: an `Explanation`. Nothing is run, and nothing is compiled for a backend.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from typing_extensions import Unpack

from accel import settings as setting
from accel.annotations import demands
from accel.ast.acc import Acc
from accel.ast.arrays import ArrayNode, ArrayParameter, Use
from accel.ast.function import apply_to_arrays
from accel.ast.host import use_array
from accel.ast.types import ArrayType
from accel.backends.protocol import HostArray
from accel.compile import Stages, stages
from accel.errors import AccelTypeError, here
from accel.execution import options
from accel.explanation.report import report
from accel.explanation.summary import ArrayReport, ClusterReport, summarise
from accel.explanation.texts import texts
from accel.ilp.options import Options
from accel.labelled import bind
from accel.labelled.build import build
from accel.labelled.nodes import SizeVariable
from accel.settings import Given


@dataclass(frozen=True, slots=True)
class Explanation:
    """What was fused, what it costs, and what is known about all other ways; `str()` is a report.

    loops: nests over at least one dimension. reads, writes: array passes, by the size of the pass (`n0`, `n0*n1`; a single
    element counts under `1`). bytes_read, bytes_written: with the extents in `sizes`; others count 1024. cost, bound: one
    number per level of the cost model; `proved`: no clustering costs less. stages: the program's text in every stage.
    """

    loops: int
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    bytes_read: int
    bytes_written: int
    sizes: Mapping[str, int]
    clusters: tuple[ClusterReport, ...]
    arrays: tuple[ArrayReport, ...]
    strategy: str
    cost_model: str
    cost: tuple[int, ...]
    bound: tuple[int, ...]
    proved: bool
    solve_seconds: float
    stages: Mapping[str, str] = field(repr=False)

    def __str__(self) -> str:
        return report(self)


def explain(program: object, *arrays: object, **given: Unpack[Given]) -> Explanation:
    """What becomes of a program, or of a function at some arrays, under these settings.

    program: an `Acc`, a tuple of them, or a function (a `runN` one too). A function whose parameters are all annotated needs no
    arrays. Raises `AccelTypeError` for anything else.
    """
    settings = setting.changed(given)
    nodes, parameters, arguments = _traced(program, arrays)
    built = build(nodes, parameters)
    sizes: dict[SizeVariable, int] = {}
    if arguments is not None:
        data = [*arguments, *(leaf for constant in built.constants for leaf in constant.data)]
        sizes = bind.sizes(built.program.parameters, built.program.own_shapes, built.program.equalities, data)
    chosen = options(settings, sizes)
    staged = stages(built.program, chosen)
    return _explanation(nodes, staged, chosen, sizes)


def _explanation(
    nodes: Sequence[ArrayNode], staged: Stages, chosen: Options, sizes: Mapping[SizeVariable, int]
) -> Explanation:
    summary, plan = summarise(staged, sizes, chosen.duplicate), staged.plan
    return Explanation(
        loops=summary.loops,
        reads=MappingProxyType(summary.reads),
        writes=MappingProxyType(summary.writes),
        bytes_read=summary.bytes_read,
        bytes_written=summary.bytes_written,
        sizes=MappingProxyType({f"n{variable.number}": value for variable, value in sorted(sizes.items())}),
        clusters=summary.clusters,
        arrays=summary.arrays,
        strategy=plan.strategy if plan.solver is None else f"{plan.strategy} ({plan.solver})",
        cost_model=plan.cost_model,
        cost=plan.cost,
        bound=plan.bound,
        proved=plan.proved,
        solve_seconds=plan.seconds,
        stages=texts(nodes, staged, chosen),
    )


Traced = tuple[list[ArrayNode], list[ArrayParameter], list[HostArray] | None]
"""Results, parameters, and the data of the parameters if it is known."""


def _traced(program: object, arrays: Sequence[object]) -> Traced:
    if isinstance(program, Acc | tuple):
        if arrays:
            raise AccelTypeError("a program that holds its arrays takes no others", here())
        return _results(program), [], []
    if not callable(program):
        hint = "give an Acc, a tuple of them, or a function over them with its arrays"
        raise AccelTypeError(f"there is nothing to explain about {type(program).__name__}", here(), hint=hint)
    function = inspect.unwrap(program)
    kinds, data = _parameters(function, arrays)
    parameters = [ArrayParameter((kind,), here()) for kind in kinds]
    handles = [Acc[Any](node, (None,) * node.types[0].rank) for node in parameters]  # Any: types known at run time
    return _results(apply_to_arrays(function, handles, here())), parameters, data


def _parameters(
    function: Callable[..., object], arrays: Sequence[object]
) -> tuple[list[ArrayType], list[HostArray] | None]:
    """The types of a function's parameters: those of the arrays, or what the annotations say."""
    if arrays:
        used = [use_array(array).node for array in arrays]
        leaves = [leaf for node in used if isinstance(node, Use) for leaf in node.data]
        return [node.types[0] for node in used], leaves
    kinds = []
    for name, demand in zip(inspect.signature(function).parameters, demands(function), strict=False):
        if demand.rank is None or demand.element is None:
            hint = f"annotate it, or give arrays: explain({getattr(function, '__name__', 'function')}, …)"
            raise AccelTypeError(f"the type of the parameter {name} is not known", here(), hint=hint)
        kinds.append(ArrayType(demand.rank, demand.element))
    return kinds, None


def _results(result: object) -> list[ArrayNode]:
    """The nodes of a nested tuple of `Acc`s, left to right."""
    if isinstance(result, tuple):
        return [node for part in result for node in _results(part)]
    if not isinstance(result, Acc):
        raise AccelTypeError(
            f"what is explained must be an Acc or a tuple of them, got {type(result).__name__}", here()
        )
    return [result.node]
