"""An independent part of a model: all that concerns one strongly connected set of operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from accel.ilp.linear import Linear, Variable
from accel.ilp.model import Formulation
from accel.ilp.spaces import Spaces
from accel.ilp.variables import Pair
from accel.labelled.nodes import Label


@dataclass(frozen=True, slots=True)
class Part:
    """Variables keep the numbers that they have in the whole model. The optima of the parts add up to the whole's."""

    labels: tuple[Label, ...]
    variables: tuple[Variable, ...]
    rows: tuple[Linear, ...]
    objectives: tuple[Linear, ...]
    alone: tuple[int, ...]
    """What the objectives are when all operations are clusters of their own."""
    arcs: tuple[tuple[Label, Label, Linear], ...]
    """Dependences (u, v) with x(u,v), constantly 1 where they are never fused."""
    apart: Mapping[Pair, Linear]
    pushed: Mapping[Label, Linear]
    pushable: Mapping[Label, Label]
    backward: Mapping[Label, Linear]
    joined: Mapping[Pair, Linear]
    spaces: Spaces


def parts(formulation: Formulation) -> Iterator[Part]:
    """The parts that have anything to decide; every row and every cycle lies in one."""
    facts = formulation.facts
    part_of = {label: number for number, labels in enumerate(facts.parts) for label in labels}
    of_variable = {number: part_of[label] for number, label in formulation.home.items()}
    variables: list[list[Variable]] = [[] for _ in facts.parts]
    for variable in formulation.model.variables:
        variables[of_variable[variable.number]].append(variable)
    rows: list[list[Linear]] = [[] for _ in facts.parts]
    for row in formulation.model.rows:
        rows[of_variable[next(iter(row.terms))]].append(row)
    objectives: list[list[dict[int, int]]] = [[{} for _ in formulation.model.objectives] for _ in facts.parts]
    for level, objective in enumerate(formulation.model.objectives):
        for number, c in objective.terms.items():
            objectives[of_variable[number]][level][number] = c
    arcs: list[list[tuple[Label, Label, Linear]]] = [[] for _ in facts.parts]
    for u, v in facts.arcs:
        number = part_of.get(u, -1)
        if number >= 0 and number == part_of.get(v, -2):
            x = Linear(1) if (u, v) in facts.infusible else formulation.apart[u, v]
            arcs[number].append((u, v, x))
    spaces = Spaces(facts.graph)
    for number, labels in enumerate(facts.parts):
        inside = frozenset(labels)
        yield Part(
            labels=labels,
            variables=tuple(variables[number]),
            rows=tuple(rows[number]),
            objectives=tuple(Linear(0, terms) for terms in objectives[number]),
            alone=tuple(
                sum(c for variable, c in terms.items() if variable in formulation.alone) for terms in objectives[number]
            ),
            arcs=tuple(arcs[number]),
            apart={edge: x for edge, x in formulation.apart.items() if edge[0] in inside},
            pushed={label: push for label, push in formulation.pushed.items() if label in inside},
            pushable=facts.pushable,
            backward={label: back for label, back in formulation.backward.items() if label in inside},
            joined={edge: join for edge, join in formulation.joined.items() if edge[0] in inside},
            spaces=spaces,
        )
