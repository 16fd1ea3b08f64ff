"""The program as the user would write it: one line for each array computation, in the order of evaluation.

In: array and scalar nodes. Out: text, stable, linear in the number of nodes whatever is shared. Arrays are numbered, a
loop's body stands indented under it. `labelled` and later stages have texts of their own; this one is for the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import assert_never

from accel.ast.tree.nodes import (
    Acond,
    Append,
    ArrayNode,
    ArrayParameter,
    Awhile,
    Backpermute,
    Compute,
    Filter,
    Fold,
    FoldSegments,
    Function,
    Gather,
    Generate,
    HostCall,
    Map,
    Permute,
    Project,
    Replicate,
    Require,
    Reshape,
    Result,
    ScalarNode,
    Scan,
    ScanSegments,
    ScatterWith,
    Slice,
    Sort,
    Use,
)
from accel.ast.tree.scalar_text import Names, expression_text, function_text
from accel.ast.tree.walk import arrays_of, arrays_read, postorder

WHOLE_ROWS = frozenset({"sum", "product", "minimum", "maximum", "all", "any", "and_", "or_"})
"""Folds whose function and seed the name says."""

WHOLE_ORDERS = frozenset({"reverse", "transpose", "init", "tail"})
"""Backpermutes whose shape and function the name says."""


def text(results: Sequence[ArrayNode]) -> str:
    """The program that computes `results`."""
    writer = _Writer(results)
    lines = writer.block(writer.outside, "")
    lines.append(", ".join(writer.names[result] for result in results))
    return "\n".join(lines)


def scalar_text(node: ScalarNode) -> str:
    """An expression, after the arrays that it reads."""
    arrays = arrays_read((node,))
    if not arrays:
        return expression_text(node, Names({}))
    writer = _Writer(arrays)
    return "\n".join([*writer.block(writer.outside, ""), expression_text(node, Names(writer.names))])


class _Writer:
    """The nodes of one program, their names, and the loop that each stands in."""

    def __init__(self, results: Sequence[ArrayNode]) -> None:
        order = postorder(results, arrays_of)
        self.loops = {parameter: node for node in order if isinstance(node, Awhile) for parameter in node.parameters}
        self.names: dict[ArrayNode, str] = {}
        self.inside: dict[Awhile, list[ArrayNode]] = {loop: [] for loop in self.loops.values()}
        self.outside: list[ArrayNode] = []
        self._name(order)
        self._place(order)

    def _name(self, order: Sequence[ArrayNode]) -> None:
        numbers = count()
        several: dict[ArrayNode, list[str]] = {}
        for node in order:
            if isinstance(node, Result):
                self.names[node] = several[node.node][node.position]
                continue
            several[node] = [f"a{next(numbers)}" for _ in node.types]
            self.names[node] = ", ".join(several[node])

    def _place(self, order: Sequence[ArrayNode]) -> None:
        """Put each node into the innermost loop whose parameters it depends on."""
        position = {node: number for number, node in enumerate(order)}
        around: dict[ArrayNode, frozenset[Awhile]] = {}
        for node in order:
            if isinstance(node, ArrayParameter):
                around[node] = frozenset({self.loops[node]} if node in self.loops else ())
            else:
                parts = dict.fromkeys(around[part] for part in arrays_of(node))
                around[node] = frozenset[Awhile]().union(*parts) - {node}
            if isinstance(node, Result) or node in self.loops:
                continue
            # An inner loop is a part of the outer one's body, so it comes before it in the order.
            home = min(around[node], key=position.__getitem__, default=None)
            (self.outside if home is None else self.inside[home]).append(node)

    def block(self, nodes: Sequence[ArrayNode], indent: str) -> list[str]:
        """The lines of nodes that stand in one loop, or in none. Recurs on loops in loops."""
        lines = []
        for node in nodes:
            lines.append(f"{indent}{self.names[node]} = {_line(node, self.names)}")
            if isinstance(node, Awhile):
                state = _listed(node.parameters, self.names)
                lines[-1] += f" as {state}:"
                lines += self.block(self.inside[node], indent + "    ")
                body = _listed(node.body, self.names)
                lines.append(f"{indent}    {state} := {body} while {self.names[node.condition]}")
        return lines


def _listed(nodes: Sequence[ArrayNode], names: Mapping[ArrayNode, str]) -> str:
    return ", ".join(names[node] for node in nodes)


def _line(node: ArrayNode, arrays: Mapping[ArrayNode, str]) -> str:
    """The call that built a node, with names for its arrays."""
    names = Names(arrays)

    def function(part: Function) -> str:
        return function_text(part, names)

    def scalar(part: ScalarNode) -> str:
        return expression_text(part, names)

    match node:
        case Use(data, (kind,)):
            return f"use({kind.element}[{', '.join(map(str, data[0].shape))}])"
        case ArrayParameter((kind,)):
            return f"parameter({kind})"
        case Generate(shape, body, name):
            if name == "unit":
                return f"unit({scalar(body.body)})"
            return f"{name}({scalar(shape)}, {scalar(body.body) if name == 'fill' else function(body)})"
        case Map():
            return _map(node, arrays, names)
        case Backpermute(shape, body, array, _, name):
            if name in WHOLE_ORDERS:
                return f"{name}({arrays[array]})"
            return f"{name}({scalar(shape)}, {function(body)}, {arrays[array]})"
        case Gather(indices, array):
            return f"gather({arrays[indices]}, {arrays[array]})"
        case Append(_, axis, left, right, name):
            along = f"{axis}, " if name == "concatOn" else ""
            return f"{name}({along}{arrays[left]}, {arrays[right]})"
        case Permute() | ScatterWith():
            return _scattered(node, arrays, names)
        case Fold() | Scan() | FoldSegments() | ScanSegments():
            return _combined(node, arrays, names)
        case Filter(predicate, array):
            return f"filter({function(predicate)}, {arrays[array]})"
        case Replicate(spec, array):
            return f"replicate({_spec(spec, names)}, {arrays[array]})"
        case Slice(array, spec):
            return f"slice({arrays[array]}, {_spec(spec, names)})"
        case Reshape(shape, array):
            return f"reshape({scalar(shape)}, {arrays[array]})"
        case Sort(array, name=name):
            return f"{name}({arrays[array]})"
        case Compute(array):
            return f"compute({arrays[array]})"
        case Require() | HostCall() | Acond() | Awhile():
            return _decided(node, arrays, names)
        case Result():
            return arrays[node]
        case _:
            assert_never(node)


def _scattered(node: Permute | ScatterWith, arrays: Mapping[ArrayNode, str], names: Names) -> str:
    match node:
        case Permute(_, defaults, index, array, True):
            return f"permuteUnique({arrays[defaults]}, {function_text(index, names)}, {arrays[array]})"
        case Permute(combine, defaults, index, array):
            combined = function_text(combine, names)
            return f"permute({combined}, {arrays[defaults]}, {function_text(index, names)}, {arrays[array]})"
        case ScatterWith(combine, defaults, pairs, _, name):
            return f"{name}({function_text(combine, names)}, {arrays[defaults]}, {arrays[pairs]})"
        case _:
            assert_never(node)


def _combined(node: Fold | Scan | FoldSegments | ScanSegments, arrays: Mapping[ArrayNode, str], names: Names) -> str:
    """A fold or a scan: most name their function, and their seed if they have one."""
    seed = "" if node.initial is None else f"{expression_text(node.initial, names)}, "
    match node:
        case Fold() | Scan():
            given = arrays[node.array]
            if node.name in WHOLE_ROWS:
                return f"{node.name}({given})"
        case FoldSegments() | ScanSegments():
            given = _listed((node.array, node.starts, node.ends), arrays)
        case _:
            assert_never(node)
    return f"{node.name}({function_text(node.function, names)}, {seed}{given})"


def _decided(node: Require | HostCall | Acond | Awhile, arrays: Mapping[ArrayNode, str], names: Names) -> str:
    """What asks, calls, branches or loops."""
    match node:
        case Require(found, needed, name, message, array):
            shapes = [", ".join([expression_text(each, names) for each in extents]) for extents in (found, needed)]
            said = "" if message is None else f"{message!r}, "
            return f"require({' == '.join([f'({shape})' for shape in shapes])}, {name}, {said}{arrays[array]})"
        case HostCall(called, given, fallback):
            others = "" if node.function.prints else f", fallback {_listed(fallback, arrays)}"
            return f"{called.name}({_listed(given, arrays)}{others})"
        case Acond(condition, then, orelse):
            branches = ", ".join(f"({_listed(branch, arrays)})" for branch in (then, orelse))
            return f"acond({expression_text(condition, names)}, {branches})"
        case Awhile(initial=start):
            return f"awhile from {_listed(start, arrays)}"
        case _:
            assert_never(node)


def _map(node: Map, arrays: Mapping[ArrayNode, str], names: Names) -> str:
    given = _listed(node.arrays, arrays)
    if node.name.startswith("unzip"):
        assert isinstance(node.function.body, Project)
        return f"{node.name}({given})[{node.function.body.position}]"
    if node.name == "scatter":  # it pairs indices with values, and scatters the pairs
        return f"zip({given})"
    if node.name == "indexed" or (node.name.startswith("zip") and not node.name.startswith("zipWith")):
        return f"{node.name}({given})"
    return f"{node.name}({function_text(node.function, names)}, {given})"


def _spec(spec: Sequence[ScalarNode | None], names: Names) -> str:
    entries = ["All" if entry is None else expression_text(entry, names) for entry in spec]
    return f"({entries[0]},)" if len(entries) == 1 else f"({', '.join(entries)})"
