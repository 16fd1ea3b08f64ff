"""By what plans are found again: all that decides a plan, as flat tuples that are cheap to make and to compare.

`graph_key` is the same for graphs that are equal up to an order-preserving renaming of labels and a renaming of size variables:
the canonical form for which plans are shared [Kri section V-F]. `program_key` is for programs as they are numbered, and much
cheaper than to build their graphs. Two keys that are equal stand for equal questions; no digest is trusted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields
from typing import TypeAlias, assert_never

from accel.ilp.problem.cost import NOMINAL_EXTENT, CostModel
from accel.ilp.problem.function_key import FunctionKey
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.labelled.array import Array, Extent, Label, SizeVariable
from accel.labelled.nodes import Program
from accel.labelled.operations import Described, describe
from accel.labelled.scalar import Block, Compute, Function, If, Load, Operand, While
from accel.labelled.scalars.neighbours import has_index_functions, places
from accel.support.dataclass import dataclass

Key: TypeAlias = tuple[Hashable, ...]

_SETTINGS = tuple(field.name for field in fields(Options) if field.name != "sizes")
"""Every setting decides a plan, also those that are added."""


def settings_key(options: Options) -> Key:
    """The settings apart from the sizes. A cost function counts by identity, and may die."""
    cost = options.cost
    found = [getattr(options, name) for name in _SETTINGS if name != "cost"]
    return (*found, cost if isinstance(cost, str | CostModel) else FunctionKey(cost))


def settings_text(options: Options) -> str:
    """The settings apart from the sizes, for other processes; the cost is a model."""
    assert isinstance(options.model, CostModel), "a function means nothing to another process"
    values = [options.model.levels if name == "cost" else getattr(options, name) for name in _SETTINGS]
    return repr(list(zip(_SETTINGS, values, strict=True)))


@dataclass(frozen=True, slots=True)
class Canonical:
    """A graph's key, and the labels that its positions stand for: those of the nodes first, then those from outside."""

    key: Key
    labels: tuple[Label, ...]


def graph_key(graph: Graph, sizes: Mapping[SizeVariable, int] | None) -> Canonical:
    """All that decides how `graph` is planned for `sizes` (None: nominal ones), with positions for labels."""
    position = {node.label: place for place, node in enumerate(graph.nodes)}
    number: dict[SizeVariable | None, int] = {None: -1}
    found: list[Hashable] = [len(graph.nodes)]
    for node in graph.nodes:
        found += (
            node.kind.value, node.name, node.backward, node.exclusive, node.exact, node.shrinking, node.operations,
            node.loops, len(node.arrays), node.random, node.placed,
        )  # fmt: skip
        found.append(-1 if node.filtered is None else number.setdefault(node.filtered, len(number)))
        _extents(node.iteration, number, found)
        for array in node.arrays:
            found += (array.leaf, array.element.name)
            _extents(array.shape, number, found)
    made = len(position)
    found.append(len(graph.edges))
    for edge in graph.edges:
        array, how = edge.array, (edge.sites, edge.inside, edge.passes, edge.moves, edge.slides)
        place = position.setdefault(array.label, len(position))
        found += (place, array.leaf, position[edge.consumer], edge.role.value, *how)
        if place >= made:
            found.append(array.element.name)
            _extents(array.shape, number, found)
    found.append(len(graph.before))
    for first, second in graph.before:
        found += (position[first], position[second])
    found += sorted([(position.setdefault(array.label, len(position)), array.leaf) for array in graph.results])
    if sizes is not None:
        found.append("sizes")
        found += [NOMINAL_EXTENT if size is None else sizes.get(size, NOMINAL_EXTENT) for size in number]
    return Canonical(tuple(found), tuple(position))


def _extents(shape: Iterable[Extent], number: dict[SizeVariable | None, int], found: list[Hashable]) -> None:
    extents: list[int] = []
    for extent in shape:
        extents += (number.setdefault(extent.variable, len(number)), extent.offset)
    found.append(tuple(extents))


def program_key(program: Program, count_passes: bool) -> Key:
    """Everything of a program, with its sub-programs, that planning looks at: more than its graphs, labels as they are.

    count_passes: that of `build`.
    """
    found: list[Hashable] = []
    pending = [program]
    while pending:
        current = pending.pop()
        found += (Program, len(current.parameters), len(current.bindings))
        for parameter in current.parameters:
            _made(parameter, found)
        for binding in current.bindings:
            found += (binding.label, binding.after)
            _made(binding.arrays, found)
            described = describe(binding.operation)
            _operation(described, found, pending)
            if count_passes or has_index_functions(described):
                for function in described.functions:
                    found += (function.parameters, places(function))
        found.append(Program)  # ends what sizes a function may mention
        _read(current.results, found)
    return tuple(found)


def _made(arrays: tuple[Array, ...], found: list[Hashable]) -> None:
    found.append(len(arrays))
    for array in arrays:
        found += (array.label, array.leaf, array.element)
        for extent in array.shape:  # as `_sizes`: most of the time is calls
            variable = extent.variable
            found += (-1 if variable is None else variable.number, extent.offset)
        found.append(None)


def _read(arrays: tuple[Array, ...], found: list[Hashable]) -> None:
    found.append(len(arrays))
    for array in arrays:
        found += (array.label, array.leaf)


def _sizes(extents: Iterable[Extent], found: list[Hashable]) -> None:
    for extent in extents:
        variable = extent.variable
        found += (-1 if variable is None else variable.number, extent.offset)
    found.append(None)


def _operation(described: Described, found: list[Hashable], pending: list[Program]) -> None:
    """All that its description says: nothing else of an operation is looked at. What it visits is the shape of an array."""
    kind, name, reads, functions, flags, _, parts, extents, binds = described
    found += (kind, name, flags, len(reads), len(functions))
    for array, role in reads:
        found += (array.label, array.leaf, role)
    for function in functions:
        _function(function, found)
    if extents or binds:
        _sizes((*extents, *[Extent(variable, 0) for variable in binds]), found)
    pending += parts


def _function(function: Function, found: list[Hashable]) -> None:
    """Operators, loads and sizes in order; which variable is used where decides nothing but what `places` says."""
    pending = [function.body]
    found.append(Function)
    while pending:
        block = pending.pop()
        found.append(Block)
        for operand in block.results:
            if type(operand) is Extent:
                found += (-1 if operand.variable is None else operand.variable.number, operand.offset)
        for statement in block.statements:
            if type(statement) is Compute:  # nearly all are; `match` would take twice as long
                found.append(statement.operator)
                for operand in statement.arguments:
                    if type(operand) is Extent:
                        found += (-1 if operand.variable is None else operand.variable.number, operand.offset)
                continue
            match statement:
                case Compute():
                    continue
                case Load(_, array, index, _, inside, check, inside_block):
                    found += (Load, array.label, array.leaf, inside, check, inside_block)
                    _mentioned(index, found)
                case If(_, condition, then, orelse):
                    found.append(If)
                    _mentioned((condition,), found)
                    pending += (then, orelse)
                case While(_, _, initial, condition_block, body):
                    found.append(While)
                    _mentioned(initial, found)
                    pending += (condition_block, body)
                case _:
                    assert_never(statement)


def _mentioned(operands: Iterable[Operand], found: list[Hashable]) -> None:
    for operand in operands:
        if type(operand) is Extent:
            found += (-1 if operand.variable is None else operand.variable.number, operand.offset)
