"""A program and its plan, with the recomputations that the plan asks for made: what the later stages work on.

A plan's clusters have the labels of the graph with recomputations (`recompute/graph.py`); here they get those of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

from accel.errors import AccelInternalError
from accel.ilp.legality.checker import refusal
from accel.ilp.problem.build import build
from accel.ilp.problem.clustering import Asked, Plan, Recomputation
from accel.ilp.problem.options import Options
from accel.labelled import programs
from accel.labelled.array import Label
from accel.labelled.nodes import Binding, Program
from accel.labelled.number import number
from accel.labelled.operations import describe, parts, rebuild
from accel.labelled.passes.recompute import recompute
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Realised:
    """A program, and a plan for it that asks for no recomputation."""

    program: Program
    plan: Plan


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
    final = _renamed(changed.plan, labels)
    _check(numbered, final, options)
    return Realised(numbered, final)


def _all_plans(plan: Plan) -> Iterator[Plan]:
    pending = [plan]
    while pending:
        current = pending.pop()
        yield current
        pending += [part for _, parts in current.inner for part in parts]


def _changed(program: Program, plan: Plan, fresh: Iterator[Label]) -> Realised:
    """Recomputations made, labels unique but in no order. It recurses on nested control flow only."""
    plans = dict(plan.inner)
    bindings: list[Binding] = []
    inner: list[tuple[Label, tuple[Plan, Plan]]] = []
    for binding in program.bindings:
        if binding.label in plans:
            described = describe(binding.operation)
            one, other = map(_changed, described.parts, plans[binding.label], (fresh, fresh))
            made = (one.program, other.program)
            operation = rebuild(binding.operation, described.arrays, described.functions, made)
            binding = replace(binding, operation=operation)
            inner.append((binding.label, (one.plan, other.plan)))
        bindings.append(binding)
    whole, plan = replace(program, bindings=tuple(bindings)), replace(plan, inner=tuple(inner))
    return _recomputed(program, whole, plan, fresh) if plan.recomputed else Realised(whole, plan)


def _recomputed(asked: Program, whole: Program, plan: Plan, fresh: Iterator[Label]) -> Realised:
    """`whole`, of which `asked` was planned, with its own recomputations made."""
    graph, rebuilt = build(asked, count_passes=True), recompute(whole, plan.recomputed, fresh)
    labels = [label for cluster in plan.clustering.clusters for label in cluster.labels]
    new = dict(zip(sorted(labels), [binding.label for binding in rebuilt.program.bindings], strict=True))
    remaining, where = set(new.values()), {binding.label: binding.where for binding in asked.bindings}
    before = Asked(graph, plan.clustering, plan.recomputed)
    found: list[Recomputation] = []
    for each, made in zip(plan.recomputed, rebuilt.made, strict=True):
        last = each.run[-1]
        names, original = tuple([graph.node[label].name for label in each.run]), last if last in remaining else None
        found.append(Recomputation(names, where[last], original, made, each.readers, before, last))
    clustering = plan.clustering.renamed(new.__getitem__)
    return Realised(rebuilt.program, replace(plan, clustering=clustering, recomputed=(), recomputations=tuple(found)))


def _renamed(plan: Plan, new: Mapping[Label, Label]) -> Plan:
    """The plan, with the labels of the numbered program. It recurses on nested control flow only."""

    def final(each: Recomputation) -> Recomputation:
        original = None if each.original is None else new[each.original]
        made, readers = [new[label] for label in each.made], [new[label] for label in each.readers]
        return replace(each, original=original, made=tuple(made), readers=tuple(readers))

    return replace(
        plan,
        clustering=plan.clustering.renamed(new.__getitem__),
        inner=tuple([(new[label], (_renamed(a, new), _renamed(b, new))) for label, (a, b) in plan.inner]),
        recomputations=tuple(map(final, plan.recomputations)),
    )


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
