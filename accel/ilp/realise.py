"""A program and its plan, with the recomputations that the plan asks for made: what the later stages work on.

A plan's clusters have the labels of the graph with recomputations (`recompute/graph.py`); here they get those of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from accel.errors import AccelInternalError
from accel.ilp.legality.checker import refusal
from accel.ilp.problem.build import build
from accel.ilp.problem.clustering import Asked, Cluster, Clustering, Plan, Recomputation, Traversal
from accel.ilp.problem.options import Options
from accel.ilp.recompute.graph import recompute as recompute_in_graph
from accel.labelled import programs
from accel.labelled.array import Label
from accel.labelled.nodes import Acond, Awhile, Binding, Program
from accel.labelled.number import number
from accel.labelled.operations import parts
from accel.labelled.passes.recompute import recompute

_Labels = Mapping[Label, Label]


@dataclass(frozen=True, slots=True)
class Realised:
    """A program, and a plan for it that asks for no recomputation."""

    program: Program
    plan: Plan


@dataclass(frozen=True, slots=True)
class _Changed:
    """A program that is not numbered, its plan, and the labels that this plan's and `recomputations`' stand for.

    inner: the same for each `Acond` and `Awhile`, under the new label.
    """

    program: Program
    plan: Plan
    labels: _Labels
    recomputations: tuple[Recomputation, ...]
    inner: tuple[tuple[Label, tuple[_Changed, _Changed]], ...]


def realised(program: Program, plan: Plan, options: Options) -> Realised:
    """The program with the recomputations of `plan` and of the plans inside of it, and the plan for that program.

    Raises `AccelInternalError` if the clusters turn out illegal.
    """
    if not any(each.recomputed for each in _all_plans(plan)):
        return Realised(program, plan)
    changed = _changed(program, plan, count(1 + programs.highest_label(program)))
    numbered = number(changed.program)
    pairs = zip(programs.in_order(changed.program), programs.in_order(numbered), strict=True)
    labels = {old.label: new.label for old, new in pairs if isinstance(old, Binding) and isinstance(new, Binding)}
    final = _numbered(changed, labels)
    _check(numbered, final, options)
    return Realised(numbered, final)


def _all_plans(plan: Plan) -> Iterator[Plan]:
    pending = [plan]
    while pending:
        current = pending.pop()
        yield current
        pending += [part for _, parts in current.inner for part in parts]


def _changed(program: Program, plan: Plan, fresh: Iterator[Label]) -> _Changed:
    """Recomputations made, labels unique but in no order. It recurses on nested control flow only."""
    inner = dict(plan.inner)
    bindings: list[Binding] = []
    parts: list[tuple[Label, tuple[_Changed, _Changed]]] = []
    for binding in program.bindings:
        match binding.operation:
            case Acond(_, then, orelse):
                one, other = map(_changed, (then, orelse), inner[binding.label], (fresh, fresh))
                binding = replace(binding, operation=replace(binding.operation, then=one.program, orelse=other.program))
                parts.append((binding.label, (one, other)))
            case Awhile(condition=asked, body=body):
                one, other = map(_changed, (asked, body), inner[binding.label], (fresh, fresh))
                operation = replace(binding.operation, condition=one.program, body=other.program)
                binding = replace(binding, operation=operation)
                parts.append((binding.label, (one, other)))
            case _:
                pass
        bindings.append(binding)
    whole = replace(program, bindings=tuple(bindings))
    if not plan.recomputed:
        same = {binding.label: binding.label for binding in bindings}
        return _Changed(whole, plan, same, (), tuple(parts))
    graph = build(program, count_passes=True)
    in_graph, in_program = recompute_in_graph(graph, plan.recomputed), recompute(whole, plan.recomputed, fresh)
    labels = {new: old for old, new in in_graph.label.items()}
    remaining = {binding.label for binding in in_program.program.bindings}
    where = {binding.label: binding.where for binding in program.bindings}
    before = Asked(graph, plan.clustering, plan.recomputed)
    found: list[Recomputation] = []
    for each, theirs, ours in zip(plan.recomputed, in_graph.made, in_program.made, strict=True):
        labels |= dict(zip(theirs, ours, strict=True))
        last = each.run[-1]
        names, original = tuple([graph.node[label].name for label in each.run]), last if last in remaining else None
        found.append(Recomputation(names, where[last], original, ours, each.readers, before, last))
    return _Changed(in_program.program, plan, labels, tuple(found), tuple(parts))


def _numbered(changed: _Changed, numbers: _Labels) -> Plan:
    """The plan, with the labels of the numbered program. It recurses on nested control flow only."""

    def final(each: Recomputation) -> Recomputation:
        original = None if each.original is None else numbers[each.original]
        made, readers = [numbers[label] for label in each.made], [numbers[label] for label in each.readers]
        return replace(each, original=original, made=tuple(made), readers=tuple(readers))

    to = {old: numbers[label] for old, label in changed.labels.items() if label in numbers}
    inner = [(numbers[label], (_numbered(a, numbers), _numbered(b, numbers))) for label, (a, b) in changed.inner]
    return replace(
        changed.plan,
        clustering=_clustering(changed.plan.clustering, to),
        inner=tuple(inner),
        recomputed=(),
        recomputations=tuple(map(final, changed.recomputations)),
    )


def _clustering(clustering: Clustering, labels: _Labels) -> Clustering:
    """With other labels, which may stand in another order."""

    def traversal(each: Traversal) -> Traversal:
        return each if each.gather is None else Traversal(labels[each.gather], False)

    clusters = []
    for cluster in clustering.clusters:
        pairs = zip(cluster.labels, cluster.traversals, strict=True)
        members = sorted([(labels[label], traversal(each)) for label, each in pairs], key=lambda member: member[0])
        clusters.append(Cluster(tuple([label for label, _ in members]), tuple([each for _, each in members])))
    return Clustering(tuple(clusters))


def _check(program: Program, plan: Plan, options: Options) -> None:
    """The plan is legal for the program and all in it."""
    pending = [(program, plan)]
    while pending:
        current, made = pending.pop()
        if made.recomputations:
            reason = refusal(build(current), made.clustering, options.duplicate)
            if reason is not None:
                raise AccelInternalError(f"A program cannot be clustered as its graph was: {reason}")
        inner = dict(made.inner)
        for binding in current.bindings:
            pending += zip(parts(binding.operation), inner.get(binding.label, ()), strict=True)
