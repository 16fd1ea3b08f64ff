"""From a labelled program to its dependency graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from accel.ast.tree.nodes import Direction, ScanForm
from accel.ast.tree.operators import ELEMENTARY
from accel.ilp.problem.graph import Edge, Graph, Kind, Node, Role
from accel.labelled.array import Array, Label, Shape, SizeVariable
from accel.labelled.nodes import (
    Acond,
    Awhile,
    Backpermute,
    Binding,
    BindSizes,
    Copy,
    Filter,
    Fold,
    Force,
    Gather,
    Generate,
    Map,
    Program,
    RequireEqual,
    Reshape,
    Scan,
    Scatter,
    Use,
)
from accel.labelled.scalar import Block, Compute, Constant, Function, If, Load, Operand, Variable, While
from accel.labelled.scalars.neighbours import passes

ELEMENTARY_WORK = 8
"""An elementary function is a polynomial of some ten to twenty additions and multiplications."""


@dataclass(slots=True)
class Scalars:
    """What the scalar functions of an operation mention: arrays, size variables; and how much they do.

    sites: how many loads of an array there are. checked: arrays of which some load is not known to be in bounds.
    """

    loads: dict[Array, None] = field(default_factory=dict)
    sites: dict[Array, int] = field(default_factory=dict)
    checked: set[Array] = field(default_factory=set)
    sizes: dict[SizeVariable, None] = field(default_factory=dict)
    operations: int = 0
    loops: bool = False

    def shape(self, shape: Shape) -> None:
        """Note the sizes of `shape`."""
        for extent in shape:
            if extent.variable is not None:
                self.sizes[extent.variable] = None

    def operand(self, operand: Operand) -> None:
        """Note the size that an operand is, if it is one."""
        if not isinstance(operand, (Variable, Constant)):
            self.shape((operand,))

    def function(self, function: Function | None) -> None:
        """Note everything in `function`. Blocks are walked with a stack: they may be nested as deeply as the user likes."""
        pending: list[Block] = [] if function is None else [function.body]
        while pending:
            block = pending.pop()
            for operand in block.results:
                self.operand(operand)
            for statement in block.statements:
                self.operations += 1
                match statement:
                    case Compute(_, operator, arguments):
                        self.operations += ELEMENTARY_WORK - 1 if operator in ELEMENTARY else 0
                        operands: Iterable[Operand] = arguments
                    case Load(_, array, index, _, inside):
                        self.loads[array] = None
                        self.sites[array] = self.sites.get(array, 0) + 1
                        self.checked |= set() if inside else {array}
                        operands = index
                    case If(_, condition, then, orelse):
                        operands = (condition,)
                        pending += [then, orelse]
                    case While(_, _, initial, condition_block, body):
                        operands = initial
                        pending += [condition_block, body]
                        self.loops = True
                    case _:
                        assert_never(statement)
                for operand in operands:
                    self.operand(operand)


def _scalars(binding: Binding) -> Scalars:
    """What the binding mentions apart from the arrays that it reads in bulk (sizes in shapes of streams are not mentioned)."""
    found = Scalars()
    match binding.operation:
        case Generate(function) | Backpermute(function):
            found.function(function)
            for array in binding.arrays:
                found.shape(array.shape)
        case Map(function) | BindSizes(_, function):
            found.function(function)
        case Scatter(combine):
            found.function(combine)
        case Fold(combine, initial) | Scan(combine, initial):
            found.function(combine)
            found.function(initial)
        case Filter(predicate):
            found.function(predicate)
        case RequireEqual(left, right):
            found.shape(left)
            found.shape(right)
        case Reshape():
            for array in binding.arrays:
                found.shape(array.shape)
        case Gather() | Copy():
            found.operations = 1
        case Use() | Force() | Acond() | Awhile():
            pass
        case _:
            assert_never(binding.operation)
    return found


def _reads(binding: Binding) -> Iterator[tuple[Array, Role]]:
    """The arrays that a binding reads in bulk. Those of barriers are read in no order."""
    match binding.operation:
        case Map(_, inputs) | Copy(inputs) | Filter(_, inputs) | Fold(_, _, inputs) | Scan(_, _, inputs):
            yield from ((array, Role.STREAM) for array in inputs)
        case Backpermute(_, inputs):
            yield from ((array, Role.SOURCE) for array in inputs)
        case Gather(indices, inputs):
            yield from ((array, Role.STREAM) for array in indices)
            yield from ((array, Role.SOURCE) for array in inputs)
        case Scatter(_, destinations, keep, indices, values):
            yield from ((array, Role.DESTINATION) for array in destinations)
            streams = (*indices, *values) if keep is None else (keep, *indices, *values)
            yield from ((array, Role.STREAM) for array in streams)
        case Reshape(inputs) | Force(inputs):
            yield from ((array, Role.INDEX) for array in inputs)
        case Acond(condition):
            yield (condition, Role.INDEX)
        case Awhile(_, _, initial):
            yield from ((array, Role.INDEX) for array in initial)
        case Use() | Generate() | BindSizes() | RequireEqual():
            pass
        case _:
            assert_never(binding.operation)


def sub_programs(binding: Binding) -> tuple[Program, ...]:
    """The programs inside a binding: (then, orelse), (condition, body) or none."""
    match binding.operation:
        case Acond(_, then, orelse):
            return (then, orelse)
        case Awhile(condition, body):
            return (condition, body)
        case _:
            return ()


def _mentioned_inside(binding: Binding) -> Scalars:
    """Arrays and sizes that the sub-programs of a binding mention; those of their own are no harm."""
    found = Scalars()
    pending = list(sub_programs(binding))
    while pending:
        program = pending.pop()
        for array in program.results:
            found.loads[array] = None
        for inner in program.bindings:
            scalars = _scalars(inner)
            found.loads |= scalars.loads
            found.sizes |= scalars.sizes
            found.loads |= {array: None for array, _ in _reads(inner)}
            pending += sub_programs(inner)
    return found


def _node(binding: Binding, scalars: Scalars) -> Node:
    label, arrays = binding.label, binding.arrays
    shape = arrays[0].shape if arrays else ()
    count, loops = scalars.operations, scalars.loops
    match binding.operation:
        case Generate(name=name):
            return Node(label, Kind.GENERATE, arrays, shape, name, operations=count, loops=loops)
        case Map(name=name):
            return Node(label, Kind.MAP, arrays, shape, name, operations=count, loops=loops)
        case Copy():
            return Node(label, Kind.MAP, arrays, shape, "copy", operations=count)
        case Backpermute(_, _, shrinking, name):
            return Node(label, Kind.GATHER, arrays, shape, name, shrinking=shrinking, operations=count, loops=loops)
        case Gather():
            return Node(label, Kind.GATHER, arrays, shape, "gather", operations=count)
        case Scatter(_, _, _, _, values):
            return Node(label, Kind.SCATTER, arrays, values[0].shape, "scatter", operations=count, loops=loops)
        case Fold(_, _, inputs, exact, _, name):
            return Node(label, Kind.FOLD, arrays, inputs[0].shape, name, exact=exact, operations=count, loops=loops)
        case Scan(_, _, inputs, direction, form, exact, _, name):
            exclusive = form is ScanForm.EXCLUSIVE
            visited = shape if exclusive else inputs[0].shape
            backward = direction is Direction.RIGHT
            return Node(
                label, Kind.SCAN, arrays, visited, name, backward, exclusive, exact, operations=count, loops=loops
            )
        case Filter(_, inputs):
            size = shape[0].variable
            return Node(
                label, Kind.FILTER, arrays, inputs[0].shape, "filter", operations=count, loops=loops, filtered=size
            )
        case Use() | Reshape() | Force() | BindSizes() | RequireEqual() | Acond() | Awhile():
            name = type(binding.operation).__name__
            return Node(label, Kind.BARRIER, arrays, shape, name[0].lower() + name[1:])
        case _:
            assert_never(binding.operation)


def _makers(program: Program) -> dict[SizeVariable, Label]:
    """Which binding finds a size variable: sizes of the parameters have none."""
    made: dict[SizeVariable, Label] = {}
    for binding in program.bindings:
        match binding.operation:
            case BindSizes(variables):
                made |= dict.fromkeys(variables, binding.label)
            case Filter() | Acond() | Awhile():
                found = Scalars()
                for array in binding.arrays:
                    found.shape(array.shape)
                for size in found.sizes:
                    made.setdefault(size, binding.label)
            case _:
                pass
    return made


def _scatters_last(program: Program, edges: Iterable[Edge]) -> Iterator[tuple[Label, Label]]:
    """Every reader of a scatter's destination, or of a view of it, comes before the scatter [vB24 section 3.4]."""
    root: dict[Array, Array] = {}
    for binding in program.bindings:
        if isinstance(binding.operation, (Reshape, Force)):
            for view, seen in zip(binding.arrays, binding.operation.inputs, strict=True):
                root[view] = root.get(seen, seen)
    destroyed: dict[Array, Label] = {}
    for binding in program.bindings:
        if isinstance(binding.operation, Scatter):
            destroyed |= {root.get(array, array): binding.label for array in binding.operation.destinations}
    for edge in edges:
        scatter = destroyed.get(root.get(edge.array, edge.array))
        if scatter is not None and edge.consumer < scatter:
            yield (edge.consumer, scatter)


def build(program: Program, count_passes: bool = False) -> Graph:
    """The dependency graph of `program`'s own bindings; sub-programs are barriers that read what they mention.

    Passes over what is loaded are counted for those who recompute; nobody else asks.
    """
    makers = _makers(program)
    labels = {binding.label for binding in program.bindings}
    nodes: list[Node] = []
    edges: dict[Edge, None] = {}
    before: dict[tuple[Label, Label], None] = {}
    for binding in program.bindings:
        scalars, inside = _scalars(binding), _mentioned_inside(binding)
        nodes.append(_node(binding, scalars))
        over = passes(binding.operation) if count_passes and scalars.loads else {}
        for array, role in _reads(binding):
            edges[Edge(array, binding.label, role)] = None
        for array in (*scalars.loads, *(array for array in inside.loads if array.label in labels)):
            sites, is_inside = scalars.sites.get(array, 1), array not in scalars.checked
            edges.setdefault(Edge(array, binding.label, Role.INDEX, sites, is_inside, over.get(array, 1)))
        for size in (*scalars.sizes, *inside.sizes):
            maker = makers.get(size)
            if maker is not None and maker < binding.label:
                before[maker, binding.label] = None
        before |= dict.fromkeys((earlier, binding.label) for earlier in binding.after if earlier in labels)
    before |= dict.fromkeys(_scatters_last(program, edges))
    return Graph(tuple(nodes), tuple(edges), tuple(before), frozenset(program.results))
