"""Plans that are known already: in this process, and on this machine [Kri section V-F].

In memory plans are found by the program (as the same object, or by `program_key`) and by the graph in canonical form
(`graph_key`); on disk by the canonical form, the settings, and the version of this planner. What comes from the disk is only
data, and is judged like a solver's answer: by the checker, and by its price in exact integers. That nothing costs less cannot
be checked without searching again; such answers say that they are `recalled`. Answers of searches that ran
out of time, or whose solver failed, are not kept; nor are those for cost functions, but in memory for the very same function.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from accel.ilp.cache.keys import Canonical, Key, graph_key, program_key, settings_key, settings_text
from accel.ilp.legality.checker import refusal
from accel.ilp.model.solution import loads
from accel.ilp.problem.answer import Answer
from accel.ilp.problem.clustering import BACKWARD, FORWARD, Cluster, Clustering, Plan, Traversal
from accel.ilp.problem.cost import Weights, added
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.problem.price import price
from accel.ilp.recompute.graph import recompute, stride
from accel.ilp.solvers import NAMES
from accel.labelled.array import Label
from accel.labelled.nodes import Program
from accel.labelled.passes.recompute import Recomputed
from accel.support.cache import Cache
from accel.support.choices import STRATEGIES
from accel.support.dataclass import dataclass
from accel.support.disk import Store
from accel.support.own_files import own_files

PLANS = Store("plans", entries=8192, size=1 << 26)
"""The plans of this machine."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A plan, and the program that it was made for, which must not go while its identity stands for it."""

    program: Program
    plan: Plan


@dataclass(frozen=True, slots=True)
class _Placed:
    """An answer, and the labels of the graph that it is for, by position."""

    labels: tuple[Label, ...]
    answer: Answer


_Identity: TypeAlias = tuple[int, Key]

_SAME: Cache[_Identity, _Known] = Cache(256)
_PROGRAMS: Cache[Key, Plan] = Cache(1024)
_GRAPHS: Cache[Key, _Placed] = Cache(4096)


def forget() -> None:
    """Forget the plans of this process; those on disk stay."""
    for memory in (_SAME, _PROGRAMS, _GRAPHS):
        memory.clear()


def planned(program: Program, options: Options, make: Callable[[], tuple[Plan, bool]]) -> Plan:
    """The plan of a program, made now if it is not known. `make` gives it, and whether it may be kept."""
    settings = _settings(options)
    identity = (id(program), settings)
    same = _SAME.find(identity)
    if same is not None and same.program is program:
        return same.plan
    key = (settings, program_key(program, options.recomputes))
    plan = _PROGRAMS.find(key)
    if plan is None:
        plan, finished = make()
        if not finished:
            return plan
        _PROGRAMS.keep(key, plan)
    _SAME.keep(identity, _Known(program, plan))
    return plan


def _settings(options: Options) -> Key:
    sizes = None if options.sizes == "nominal" else tuple(sorted(options.sizes.items()))
    return (*settings_key(options), sizes)


def answered(graph: Graph, options: Options, make: Callable[[], Answer]) -> Answer:
    """The answer for a graph, made now if it is not known."""
    if options.model is None:
        return make()  # a function may look at labels and names
    canonical = graph_key(graph, None if options.sizes == "nominal" else options.sizes)
    key = (*settings_key(options), canonical.key)
    known = _GRAPHS.find(key)
    if known is not None:
        if known.labels == canonical.labels:
            return known.answer
        return _renamed(known.answer, dict(zip(known.labels, canonical.labels, strict=True)))
    on_disk = _disk_key(canonical, options)
    answer = _loaded(PLANS.get(on_disk), graph, canonical, options)
    if answer is None:
        answer = make()
        if not answer.finished:
            return answer
        if answer.proved or not answer.strategy.startswith("ilp"):  # it may be proved in a quieter hour
            PLANS.put(on_disk, _dumped(answer, canonical))
    _GRAPHS.keep(key, _Placed(canonical.labels, answer))
    return answer


def _renamed(answer: Answer, new: Mapping[Label, Label]) -> Answer:
    """The answer for a graph that is equal but for its labels."""
    apart = stride(answer.recomputed)
    clustering = answer.clustering.renamed(lambda label: new[label // apart] * apart + label % apart)
    recomputed = [
        Recomputed(tuple([new[label] for label in each.run]), tuple([new[label] for label in each.readers]))
        for each in answer.recomputed
    ]
    return replace(answer, clustering=clustering, recomputed=tuple(recomputed))


def _planner() -> str:
    """What made a plan: the files of `accel.ilp`."""
    return own_files("ilp")


def _disk_key(canonical: Canonical, options: Options) -> bytes:
    return f"{_planner()}\n{settings_text(options)}\n{canonical.key!r}".encode()


def _dumped(answer: Answer, canonical: Canonical) -> bytes:
    """Positions instead of labels; of an order 0, 1, or 2 and the position of its gather."""
    answer = _renamed(answer, {label: position for position, label in enumerate(canonical.labels)})
    clusters = [
        [
            cluster.labels,
            [int(each.backward) if each.gather is None else 2 + each.gather for each in cluster.traversals],
        ]
        for cluster in answer.clustering.clusters
    ]
    recomputed = [(each.run, each.readers) for each in answer.recomputed]
    found = [clusters, recomputed, answer.cost, answer.bound, answer.proved, answer.strategy, answer.solver]
    return json.dumps(found, separators=(",", ":")).encode()


def _loaded(content: bytes | None, graph: Graph, canonical: Canonical, options: Options) -> Answer | None:
    """The answer in an entry, if it is one that this graph may have; whatever else stands there is none."""
    if content is None:
        return None
    try:
        clusters, made, cost, bound, proved, strategy, solver = json.loads(content)
        if type(proved) is not bool or not _are_names(strategy, solver):
            return None
        recomputed = tuple([Recomputed(_numbers(run), _numbers(readers)) for run, readers in made])
        clustering = Clustering(tuple([_cluster(labels, traversals) for labels, traversals in clusters]))
        costs, least = _numbers(cost), _numbers(bound)
        answer = Answer(clustering, costs, least, proved, strategy, solver, recomputed=recomputed, recalled=True)
        answer = _renamed(answer, dict(enumerate(canonical.labels)))
        changed = recompute(graph, answer.recomputed).graph
        legal = refusal(changed, answer.clustering, options.duplicate) is None
        claim = proved == (costs == least) and (not least or len(least) == len(costs)) and least <= costs
        right = legal and claim and _cost(answer, graph, changed, options) == costs
    except Exception:  # an entry of nobody's making: whatever it says, the program is planned
        return None
    return answer if right else None


def _are_names(strategy: object, solver: object) -> bool:
    """Whether an entry names strategies and a solver that there are."""
    known = isinstance(strategy, str) and all(part in STRATEGIES for part in strategy.split(" and "))
    return known and (solver is None or solver in NAMES)


def _numbers(value: object) -> tuple[int, ...]:
    """A list out of an entry. Raises ValueError unless it is one of natural numbers."""
    if not isinstance(value, list) or any(type(number) is not int or number < 0 for number in value):
        raise ValueError("natural numbers are listed here")
    return tuple(value)


def _cost(answer: Answer, graph: Graph, changed: Graph, options: Options) -> tuple[int, ...]:
    """What an answer costs, in exact integers. Raises ValueError if it asks for recomputations that may not be made."""
    cost = price(changed, answer.clustering, options.what_costs, Weights(changed, options.extents))
    if not answer.recomputed:
        return cost
    if not options.recomputes or options.model is None:
        raise ValueError("nothing is to be recomputed")
    more = loads(graph, answer.recomputed, options.duplicate, options.model.levels, Weights(graph, options.extents))
    return added(cost, more)


def _cluster(labels: object, traversals: object) -> Cluster:
    pushed = [(FORWARD, BACKWARD)[at] if at < 2 else Traversal(at - 2, False) for at in _numbers(traversals)]
    return Cluster(_numbers(labels), tuple(pushed))
