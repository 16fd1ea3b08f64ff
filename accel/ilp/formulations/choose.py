"""Which formulation a program is clustered by (docs/ilp/formulations.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from accel.errors import AccelValueError, here
from accel.ilp.facts.analysis import Analysis
from accel.ilp.formulations.own import Own
from accel.ilp.formulations.protocol import Posed
from accel.ilp.formulations.published import Published
from accel.ilp.formulations.robinson import Robinson
from accel.ilp.model.model import formulate
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.problem.graph import Graph
from accel.labelled.array import Label
from accel.labelled.operations import GATHERS
from accel.support.choices import Duplicate, FormulationName


def demand(name: FormulationName, graph: Graph) -> None:
    """Raise `AccelValueError` if a formulation cannot express a program."""
    gathers = [node for node in graph.nodes if node.kind in GATHERS]
    if name == "robinson" and gathers:
        message = f"The formulation 'robinson' knows no gathers, and the program has one: {gathers[0].name}."
        raise AccelValueError(message, here(), hint="formulation='accel', the default, and 'published' know them")


def as_formulated(facts: Analysis, name: FormulationName) -> Analysis:
    """The facts with the parts that a formulation takes: the published ones are models of whole graphs."""
    if name == "accel":
        return facts
    whole = tuple(node.label for node in facts.graph.nodes)
    return replace(facts, parts=(whole,) if len(facts.operations) > 1 else ())


def pose(
    name: FormulationName, facts: Analysis, part: tuple[Label, ...], levels: Sequence[CostLevel], weights: Weights,
    duplicate: Duplicate,
) -> Posed:  # fmt: skip
    """The model of one part of `as_formulated(facts, name)`."""
    match name:
        case "accel":
            return Own(formulate(facts, part, tuple(levels), weights, duplicate))
        case "published":
            return Published(facts.graph, facts.bundles, levels, weights, duplicate)
        case "robinson":
            return Robinson(facts.graph, facts.bundles, levels, weights)
        case _:
            assert_never(name)
