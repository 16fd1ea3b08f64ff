"""The graph and the model as stable text."""

from __future__ import annotations

from collections.abc import Mapping

from accel.ilp.problem.graph import Graph, Node
from accel.ilp.solvers.linear import Linear, Model
from accel.labelled.array import Array, Shape
from accel.labelled.operations import Role

_SHORT: Mapping[Role, str] = {
    Role.STREAM: "",
    Role.SOURCE: "source ",
    Role.INDEX: "index ",
    Role.DESTINATION: "destination ",
}


def _shape(shape: Shape) -> str:
    extents = []
    for extent in shape:
        if extent.variable is None:
            extents.append(str(extent.offset))
        else:
            extents.append(f"n{extent.variable.number}" + (f"{extent.offset:+}" if extent.offset else ""))
    return "[" + ", ".join(extents) + "]"


def _array(array: Array, node: Node | None) -> str:
    several = node is not None and len(node.arrays) > 1
    return f"%{array.label}.{array.leaf}" if several or array.leaf else f"%{array.label}"


def graph_text(graph: Graph) -> str:
    """One line per node: what it makes, what it is, what it reads and how; then the pairs that stand strictly in order."""
    lines = []
    for node in graph.nodes:
        made = ", ".join(
            f"{_array(array, node)} : {array.element}{_shape(array.shape)}{'!' * (array in graph.results)}"
            for array in node.arrays
        )
        flags = [
            word
            for word, holds in (
                ("backward", node.backward), ("exclusive", node.exclusive), ("inexact", not node.exact),
                ("shrinking", node.shrinking), ("whole", node.placed > 0), ("loops", node.loops),
            )
            if holds
        ]  # fmt: skip
        reads = [
            f"{_SHORT[edge.role]}{_array(edge.array, graph.node.get(edge.array.label))}"
            for edge in graph.inputs[node.label]
        ]
        parts = [node.kind.value, *([node.name] if node.name != node.kind.value else []), *flags]
        lines.append(
            f"{made or '%' + str(node.label)} = {' '.join(parts)} over {_shape(node.iteration)}({', '.join(reads)})"
        )
    lines += [f"%{first} before %{second}" for first, second in graph.before]
    return "\n".join(lines)


def _linear(linear: Linear, model: Model) -> str:
    terms = [
        f"{'-' if c < 0 else '+'} {'' if abs(c) == 1 else f'{abs(c)} '}{model.variables[number].name}"
        for number, c in sorted(linear.terms.items())
    ]
    return " ".join(terms).removeprefix("+ ") or "0"


def model_text(model: Model, level: int = 0) -> str:
    """The model with one of its objectives in LP format; constants of the objective stand in a comment."""
    objective = model.objectives[level]
    lines = [f"\\ constant: {objective.constant}", "Minimize", f" cost: {_linear(objective, model)}", "Subject To"]
    lines += [f" r{number}: {_linear(row, model)} >= {-row.constant}" for number, row in enumerate(model.rows)]
    lines += ["Bounds", *(f" 0 <= {variable.name} <= {variable.upper}" for variable in model.variables)]
    lines += ["General", *(f" {variable.name}" for variable in model.variables if variable.integer), "End"]
    return "\n".join(lines)
