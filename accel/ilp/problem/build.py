"""From a labelled program to its dependency graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import assert_never

from accel.ilp.problem.graph import Edge, Graph, Node
from accel.labelled.array import Array, Label, Shape, SizeVariable
from accel.labelled.nodes import Binding, Copy, Program
from accel.labelled.operations import Described, Flag, Kind, Role, describe
from accel.labelled.programs import inside, sizes_bound
from accel.labelled.scalar import Block, Compute, Constant, Function, If, Load, Operand, Variable, While
from accel.labelled.scalars.neighbours import moves, passes
from accel.labelled.work import RECOMPUTED, work
from accel.support.dataclass import dataclass


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
            self.operations += work(block.statements, RECOMPUTED)
            for statement in block.statements:
                match statement:
                    case Compute(_, _, arguments):
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


def _scalars(binding: Binding, described: Described) -> Scalars:
    """What the binding mentions apart from the arrays that it reads in bulk (sizes in shapes of streams are not mentioned)."""
    found = Scalars()
    for function in described.functions:
        found.function(function)
    found.shape(described.extents)
    if Flag.CHOOSES_SHAPE in described.flags:
        for array in binding.arrays:
            found.shape(array.shape)
    return found


def _mentioned_inside(binding: Binding) -> Scalars:
    """Arrays and sizes that the sub-programs of a binding mention; those of their own are no harm."""
    found = Scalars()
    for program in inside(binding.operation):
        found.loads |= dict.fromkeys(program.results)
        for inner in program.bindings:
            described = describe(inner.operation)
            scalars = _scalars(inner, described)
            found.loads |= scalars.loads | dict.fromkeys(described.arrays)
            found.sizes |= scalars.sizes
    return found


def _node(binding: Binding, described: Described, scalars: Scalars) -> Node:
    label, arrays, kind, name = binding.label, binding.arrays, described.kind, described.name
    shape = arrays[0].shape if arrays else ()
    if kind is Kind.BARRIER:
        return Node(label, kind, arrays, shape, name)
    flags = described.flags
    return Node(
        label, kind, arrays, shape if described.iteration is None else described.iteration, name,
        backward=Flag.BACKWARD in flags, exclusive=Flag.EXCLUSIVE in flags, exact=Flag.INEXACT not in flags,
        shrinking=Flag.SHRINKING in flags, operations=scalars.operations if described.functions else 1,
        loops=scalars.loops, filtered=shape[0].variable if kind is Kind.FILTER else None,
        random=kind is Kind.GATHER and any(role is Role.STREAM for _, role in described.reads),
        placed=len(described.placed(arrays)),
    )  # fmt: skip


def _makers(program: Program) -> dict[SizeVariable, Label]:
    """Which binding finds a size variable: sizes of the parameters have none."""
    made: dict[SizeVariable, Label] = {}
    for binding in program.bindings:
        for size in sizes_bound(binding):
            made.setdefault(size, binding.label)
    return made


def _scatters_last(
    bindings: Iterable[tuple[Binding, Described]], edges: Iterable[Edge]
) -> Iterator[tuple[Label, Label]]:
    """Every reader of a scatter's destination, or of a view of it, comes before the scatter [vB24 section 3.4].

    And every reader of what is copied last before the copy, which may take the buffer.
    """
    root: dict[Array, Array] = {}
    destroyed: dict[Array, Label] = {}
    for binding, described in bindings:
        if Flag.VIEW in described.flags:
            for view, seen in zip(binding.arrays, described.arrays, strict=True):
                root[view] = root.get(seen, seen)
        taken = described.arrays if isinstance(binding.operation, Copy) and binding.operation.last else ()
        destroyed |= {root.get(array, array): binding.label for array in (*described.read(Role.DESTINATION), *taken)}
    for edge in edges:
        scatter = destroyed.get(root.get(edge.array, edge.array))
        if scatter is not None and edge.consumer < scatter:
            yield (edge.consumer, scatter)


def build(program: Program, count_passes: bool = False) -> Graph:
    """The dependency graph of `program`'s own bindings; sub-programs are barriers that read what they mention.

    Passes over what is loaded are counted only where something may be recomputed.
    """
    makers = _makers(program)
    labels = {binding.label for binding in program.bindings}
    nodes: list[Node] = []
    edges: dict[Edge, None] = {}
    before: dict[tuple[Label, Label], None] = {}
    bindings = [(binding, describe(binding.operation)) for binding in program.bindings]
    for binding, described in bindings:
        scalars, within = _scalars(binding, described), _mentioned_inside(binding)
        nodes.append(_node(binding, described, scalars))
        over = passes(binding.operation) if count_passes and scalars.loads else {}
        moving = moves(described) if scalars.loads else {}
        for array, role in described.reads:
            edges[Edge(array, binding.label, role)] = None
        for array in (*scalars.loads, *(array for array in within.loads if array.label in labels)):
            sites, is_inside = scalars.sites.get(array, 1), array not in scalars.checked
            how = (sites, is_inside, over.get(array, 1), *moving.get(array, ((), False)))
            edges.setdefault(Edge(array, binding.label, Role.INDEX, *how))
        for size in (*scalars.sizes, *within.sizes):
            maker = makers.get(size)
            if maker is not None and maker < binding.label:
                before[maker, binding.label] = None
        before |= dict.fromkeys((earlier, binding.label) for earlier in binding.after if earlier in labels)
    before |= dict.fromkeys(_scatters_last(bindings, edges))
    return Graph(tuple(nodes), tuple(edges), tuple(before), frozenset(program.results))
