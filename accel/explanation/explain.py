"""`explain`: what became of a program, as attributes and as a report.

In: a program or a function. Out: an `Explanation`. Nothing is run, and nothing is compiled for a backend; but
with `rearrange="measure"` the ways to run each loop are measured.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import CodeType, MappingProxyType
from typing import Any, TypeAlias, Unpack

from accel import settings as setting
from accel.ast.combinators.host.arrays import use
from accel.ast.handles.acc import Acc
from accel.ast.handles.function import apply_to_arrays
from accel.ast.handles.habits.values import is_function
from accel.ast.tree.leaves import Leaf
from accel.ast.tree.nodes import ArrayNode, ArrayParameter, Key, Use
from accel.ast.tree.structure import structure
from accel.ast.tree.types import ArrayType
from accel.backends.choose import machine
from accel.calling.annotations import demands, parameters_of
from accel.calling.building import options
from accel.compile import Stages, stages
from accel.errors import AccelDeviceError, AccelTypeError, Where, here
from accel.explanation.explanation import Explanation
from accel.explanation.facts.summary import summarise
from accel.explanation.facts.texts import texts
from accel.explanation.ways import Chosen, chosen
from accel.explanation.why.costs import added, levels, unfused
from accel.explanation.why.parts import plans
from accel.explanation.why.strategies import strategies
from accel.ilp.problem.clustering import Plan
from accel.ilp.problem.options import Options
from accel.labelled.array import SizeVariable
from accel.labelled.construction.build import build
from accel.labelled.meaning import bind
from accel.labelled.nodes import Program
from accel.passes import Step
from accel.settings import Given, Settings
from accel.support.cache import Cache
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Traced:
    """A program. names: of the parameters. arguments: the data of the parameters, if it is known."""

    results: list[ArrayNode]
    parameters: list[ArrayParameter]
    names: list[str]
    arguments: list[Leaf] | None


@dataclass(frozen=True, slots=True)
class Subject:
    """A program that is to be explained, in every stage.

    name: of the function. program: as it was before it was planned with `options`. steps: the passes since, by their names.
    sizes: of the arrays that it is explained for. data: one array per leaf of its parameters; None if only types are given.
    """

    name: str
    traced: Traced
    program: Program
    staged: Stages
    steps: Mapping[str, Step]
    options: Options
    sizes: Mapping[SizeVariable, int]
    data: Sequence[Leaf] | None


def explain(program: object, *arrays: object, **given: Unpack[Given]) -> Explanation:
    """What becomes of a program, or of a function at some arrays, under these settings.

    program: an `Acc`, a tuple of them, or a function (a `runN` one too). A function whose parameters are all annotated needs no
    arrays. Raises `AccelTypeError` for anything else. With `rearrange="measure"` and arrays the program is run, and whatever it
    raises is raised.

    >>> print(A.explain(lambda xs: A.sum(A.map(lambda x: x * x, xs)), np.ones(3)).stages['labelled'])
    %0 = use 0 : f64[n0]
    %1 = fold[products, commutes] (λx0 x1. add x0 x1) (0.0) %0 %0 : f64[]
    return %1
    """
    settings = setting.changed(given)
    traced = _traced(program, arrays)
    name = _name(program)
    if settings.rearrange == "measure":
        return _explained(traced, name, settings)
    found = structure([*traced.parameters, *traced.results], places=True)
    shapes = tuple([leaf.shape for use in found.uses for leaf in use.data])
    given_shapes = None if traced.arguments is None else tuple([leaf.shape for leaf in traced.arguments])
    key = found.key, shapes, given_shapes, name, tuple(traced.names), setting.key(settings)
    try:
        known = _EXPLAINED.find(key)
    except TypeError:  # something in the program has no hash
        return _explained(traced, name, settings)
    if known is None:
        known = _explained(traced, name, settings)
        if known.proved:  # another time the planner may find a better plan
            _EXPLAINED.keep(key, known)
    return known


_Explained: TypeAlias = tuple[
    Key, tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...] | None, str, tuple[str, ...], setting.Key
]
"""What decides an explanation: structure and places, the shapes of the arrays, names, settings."""

_EXPLAINED: Cache[_Explained, Explanation] = Cache(64)
"""One per process: a program that is built again at the same place needs no stage at all."""


def forget() -> None:
    """Forget the explanations of this process."""
    _EXPLAINED.clear()


def _name(program: object) -> str:
    """What a report calls it."""
    return str(getattr(program, "__name__", "program"))


def _explained(traced: Traced, name: str, settings: Settings) -> Explanation:
    found = _subject(traced, name, settings)
    try:
        return with_ways(explanation(found), chosen(found.staged, found.data, found.sizes, settings))
    except AccelDeviceError as error:
        raise AccelDeviceError(error.message, here(), hint=error.hint) from error


def with_ways(explained: Explanation, found: Chosen) -> Explanation:
    """The explanation, with the ways of its loops."""
    clusters = tuple([replace(each, ways=found.ways.get(each.nest, ())) for each in explained.clusters])
    return replace(explained, clusters=clusters) if found.ways else explained


def subject(program: object, arrays: Sequence[object], settings: Settings) -> Subject:
    """What `explain` is called with, planned and lowered. Raises `AccelTypeError` for what is no program."""
    return _subject(_traced(program, arrays), _name(program), settings)


def _subject(traced: Traced, name: str, settings: Settings) -> Subject:
    built = build(traced.results, traced.parameters, settings.rounding, settings.host_calls)
    sizes: dict[SizeVariable, int] = {}
    data: list[Leaf] | None = None
    if traced.arguments is not None:
        data = [*traced.arguments, *(leaf for constant in built.constants for leaf in constant.data)]
        sizes = bind.sizes(built.program.parameters, built.program.own_shapes, built.program.equalities, data)
    chosen = options(settings, sizes)
    steps: list[Step] = []
    staged = stages(built.program, chosen, steps.append, machine(settings.backend))
    return Subject(name, traced, built.program, staged, {step.name: step for step in steps}, chosen, sizes, data)


def explanation(found: Subject) -> Explanation:
    """What there is to say about it."""
    program, staged, chosen, sizes = found.program, found.staged, found.options, found.sizes
    summary = summarise(staged, sizes, chosen, found.traced.results, found.traced.names)
    every = list(plans(staged.plan))
    cost = added(plan.cost for plan in every)
    return Explanation(
        loops=summary.loops,
        reads=MappingProxyType(summary.reads),
        writes=MappingProxyType(summary.writes),
        bytes_read=summary.bytes_read,
        bytes_written=summary.bytes_written,
        sizes=MappingProxyType({f"n{variable.number}": value for variable, value in sorted(sizes.items())}),
        extents=MappingProxyType(summary.extents),
        clusters=summary.clusters,
        arrays=summary.arrays,
        strategy=" and ".join(dict.fromkeys(map(_strategy, every))),
        cost_model=staged.plan.cost_model,
        cost=cost,
        bound=added(plan.bound for plan in every) if all(plan.bound for plan in every) else (),
        proved=all(plan.proved for plan in every),
        recalled=any(plan.recalled for plan in every),
        solve_seconds=sum(plan.seconds for plan in every),
        unfused=unfused(program, chosen),
        levels=levels(chosen, cost),
        operations=summary.operations,
        flows=summary.flows,
        views=summary.views,
        copies=summary.copies,
        name=found.name,
        strategies=strategies(program, chosen, sizes),
        stages=texts(found.traced.results, program, staged, found.steps, chosen),
    )


def _strategy(plan: Plan) -> str:
    return plan.strategy if plan.solver is None else f"{plan.strategy} ({plan.solver})"


def _traced(program: object, arrays: Sequence[object]) -> Traced:
    if isinstance(program, Acc | tuple):
        if arrays:
            hint = "write the program as a function of its arrays: `A.explain(f, xs, ys)`"
            raise AccelTypeError("a program that holds its arrays takes no others", here(), hint=hint)
        return Traced(_results(program), [], [], [])
    if not is_function(program):
        hint = "give an Acc, a tuple of them, or a function over them with its arrays"
        raise AccelTypeError(f"there is nothing to explain about {type(program).__name__}", here(), hint=hint)
    function = inspect.unwrap(program)
    kinds, data = _parameters(function, arrays)
    code = getattr(function, "__code__", None)
    where = Where(code, 0) if isinstance(code, CodeType) else here()  # the line with the parameters
    parameters = [ArrayParameter((kind,), where) for kind in kinds]
    handles = [Acc[Any](node, (None,) * node.types[0].rank) for node in parameters]  # Any: types known at run time
    results = _results(apply_to_arrays(function, handles, here()))
    return Traced(results, parameters, _names(function, len(parameters)), data)


def _parameters(function: Callable[..., object], arrays: Sequence[object]) -> tuple[list[ArrayType], list[Leaf] | None]:
    """The types of a function's parameters: those of the arrays, or what the annotations say."""
    if arrays:
        used = [use(array).node for array in arrays]
        leaves = [leaf for node in used if isinstance(node, Use) for leaf in node.data]
        return [node.types[0] for node in used], leaves
    kinds = []
    called = getattr(function, "__name__", "function")
    parameters = parameters_of(function)
    if parameters is None:
        message = f"{called} does not say what parameters it has"
        raise AccelTypeError(message, here(), hint=f"give arrays: explain({called}, …)")
    for parameter, demand in zip(parameters, demands(function), strict=False):
        if demand.rank is None or demand.element is None:
            hint = f"annotate it, or give arrays: explain({called}, …)"
            raise AccelTypeError(f"the type of the parameter {parameter.name} is not known", here(), hint=hint)
        kinds.append(ArrayType(demand.rank, demand.element))
    return kinds, None if kinds else []


def _names(function: Callable[..., object], count: int) -> list[str]:
    """What a function calls its first `count` parameters, `xs[0]` and `xs[1]` of `*xs`; nothing without a signature."""
    found: list[str] = []
    for parameter in parameters_of(function) or ():
        several = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        found += (
            [f"{parameter.name}[{number}]" for number in range(count - len(found))] if several else [parameter.name]
        )
    return found[:count]


def _results(result: object) -> list[ArrayNode]:
    """The nodes of a nested tuple of `Acc`s, left to right."""
    if isinstance(result, tuple):
        return [node for part in result for node in _results(part)]
    if not isinstance(result, Acc):
        message = f"what is explained must be an Acc or a tuple of them, got {type(result).__name__}"
        raise AccelTypeError(message, here(), hint="wrap NumPy arrays by `A.use(x)`, scalars by `A.unit(e)`")
    return [result.node]
