"""A program and its plan, with the copies that the plan asks for made: what the later stages work on.

A plan's clusters have the labels of the graph with copies (`substitute.py`); here they get those of the program with copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from accel.errors import AccelInternalError
from accel.ilp.legality.checker import refusal
from accel.ilp.problem.build import build
from accel.ilp.problem.clustering import Asked, Cluster, Clustering, Plan, Repeated, Traversal
from accel.ilp.problem.cost import Weights
from accel.ilp.problem.options import Options
from accel.ilp.problem.price import price
from accel.ilp.recompute.substitute import substitute
from accel.labelled import programs
from accel.labelled.array import Label
from accel.labelled.nodes import Acond, Awhile, Binding, Program
from accel.labelled.number import number
from accel.labelled.operations import parts
from accel.labelled.passes.duplicate import duplicate


@dataclass(frozen=True, slots=True)
class Realised:
    """A program, and a plan for it that asks for no copies."""

    program: Program
    plan: Plan


def has_copies(plan: Plan) -> bool:
    """Whether a plan, or one inside of it, asks for copies."""
    pending = [plan]
    while pending:
        current = pending.pop()
        if current.copied:
            return True
        pending += [part for _, parts in current.inner for part in parts]
    return False


def realised(program: Program, plan: Plan, options: Options) -> Realised:
    """The program with the copies of `plan` and of the plans inside of it, and the plan for that program.

    Raises `AccelInternalError` if the clusters turn out illegal, or to cost something else than in the graph.
    """
    if not has_copies(plan):
        return Realised(program, plan)
    changed, made = _changed(program, plan, count(1 + programs.highest_label(program)))
    numbered = number(changed)
    pairs = zip(programs.in_order(changed), programs.in_order(numbered), strict=True)
    labels = {old.label: new.label for old, new in pairs if isinstance(old, Binding) and isinstance(new, Binding)}
    final = _relabelled(made, labels)
    _check(program, plan, numbered, final, options)
    return Realised(numbered, final)


def _changed(program: Program, plan: Plan, fresh: Iterator[Label]) -> tuple[Program, Plan]:
    """Copies made, labels unique but in no order. It recurses on nested control flow only."""
    inner = dict(plan.inner)
    bindings: list[Binding] = []
    plans: list[tuple[Label, tuple[Plan, Plan]]] = []
    for binding in program.bindings:
        match binding.operation:
            case Acond(condition, then, orelse):
                first, second = inner[binding.label]
                then, first = _changed(then, first, fresh)
                orelse, second = _changed(orelse, second, fresh)
                binding = replace(binding, operation=Acond(condition, then, orelse))
                plans.append((binding.label, (first, second)))
            case Awhile(condition=asked, body=body):
                first, second = inner[binding.label]
                asked, first = _changed(asked, first, fresh)
                body, second = _changed(body, second, fresh)
                binding = replace(binding, operation=replace(binding.operation, condition=asked, body=body))
                plans.append((binding.label, (first, second)))
            case _:
                pass
        bindings.append(binding)
    whole = replace(program, bindings=tuple(bindings))
    if not plan.copied:
        return whole, replace(plan, inner=tuple(plans))
    graph = build(program)
    in_graph, in_program = substitute(graph, plan.copied), duplicate(whole, plan.copied, fresh)
    labels = {new: old for old, new in in_graph.label.items()}
    repeated: list[Repeated] = []
    remaining = {binding.label for binding in in_program.program.bindings}
    where = {binding.label: binding.where for binding in program.bindings}
    before = Asked(graph, plan.clustering, plan.copied)
    for each, theirs, ours in zip(plan.copied, in_graph.copies, in_program.copies, strict=True):
        labels |= dict(zip(theirs, ours, strict=True))
        last = each.run[-1]
        names = tuple([graph.node[label].name for label in each.run])
        repeated.append(
            Repeated(names, where[last], last if last in remaining else None, ours, each.readers, before, last)
        )
    clustering = _clustering(plan.clustering, labels)
    changed = replace(plan, clustering=clustering, inner=tuple(plans), copied=(), repeated=tuple(repeated))
    return in_program.program, changed


def _clustering(clustering: Clustering, labels: Mapping[Label, Label]) -> Clustering:
    """With other labels, which may stand in another order."""

    def traversal(each: Traversal) -> Traversal:
        return each if each.gather is None else Traversal(labels[each.gather], False)

    clusters = []
    for cluster in clustering.clusters:
        traversals = {
            labels[label]: traversal(each) for label, each in zip(cluster.labels, cluster.traversals, strict=True)
        }
        rising = tuple(sorted(traversals))
        clusters.append(Cluster(rising, tuple([traversals[label] for label in rising])))
    return Clustering(tuple(clusters))


def _relabelled(plan: Plan, labels: Mapping[Label, Label]) -> Plan:
    """With the labels of the numbered program. It recurses on nested control flow only."""
    inner = [(labels[label], (_relabelled(a, labels), _relabelled(b, labels))) for label, (a, b) in plan.inner]
    repeated = [
        replace(
            each,
            original=None if each.original is None else labels[each.original],
            copies=tuple([labels[label] for label in each.copies]),
            readers=tuple([labels[label] for label in each.readers]),
        )
        for each in plan.repeated
    ]
    return replace(plan, clustering=_clustering(plan.clustering, labels), inner=tuple(inner), repeated=tuple(repeated))


def _check(before: Program, planned: Plan, after: Program, final: Plan, options: Options) -> None:
    """The plan is legal for the new program and all in it, and costs what it was said to cost in the graph."""
    pending = [(before, planned, after, final)]
    while pending:
        old, asked, new, made = pending.pop()
        graph, expected = build(new), substitute(build(old), asked.copied).graph
        reason = refusal(graph, made.clustering, options.duplicate)
        if reason is not None:
            raise AccelInternalError(f"A program with copies cannot be planned as its graph was: {reason}")
        cost = price(graph, made.clustering, options.what_costs, Weights(graph, options.extents))
        claimed = price(expected, asked.clustering, options.what_costs, Weights(expected, options.extents))
        if cost != claimed:
            raise AccelInternalError(f"A program with copies costs {cost}, and its graph {claimed}.")
        outer, inner = dict(asked.inner), dict(made.inner)
        for one, other in zip(
            [b for b in old.bindings if b.label in outer], [b for b in new.bindings if b.label in inner], strict=True
        ):
            both = parts(one.operation), outer[one.label], parts(other.operation), inner[other.label]
            pending += zip(*both, strict=True)
