"""A loop of scalar code that is the same for all elements runs once, and its readers load what it comes to.

In: a simplified program. Out: one in which a `while_` that a function of indices and elements runs in any case, and that needs
none of them, is an array of rank 0 of its own, if several operations run it or one that visits many elements. So a binary
search whose result is used for an index, a size and a number takes place once. Whatever it may do, it does only where it was
asked: of an operation that may visit nothing the array has zeros then.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.labelled import programs
from accel.labelled.array import Array, Label, Shape
from accel.labelled.nodes import Binding, Generate, Program
from accel.labelled.operations import Flag, Role, describe, with_functions, with_parts
from accel.labelled.passes.dependence import Names
from accel.labelled.passes.inline import there
from accel.labelled.passes.pointwise import Pointwise, stream_loads
from accel.labelled.scalar import (
    Block,
    Compute,
    Function,
    If,
    Load,
    Operand,
    Statement,
    Variable,
    While,
    constant,
    operand_type,
)
from accel.labelled.scalar_text import variables_used
from accel.labelled.scalars.simplify import simplify
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class _Use:
    """A loop in the code of an operation. `key`: what it comes to, and of what."""

    key: Pointwise
    loop: While


@dataclass(frozen=True, slots=True)
class _Made:
    """What a loop comes to, as arrays of rank 0. They are right if none of the extents is 0."""

    arrays: tuple[Array, ...]
    if_any: Shape


def run_once(program: Program) -> Program:
    """The program with such loops as operations of their own; itself if there are none. Labels no longer rise."""
    bindings = [binding for part in programs.programs(program) for binding in part.bindings]
    uses = {binding.label: list(_uses(binding)) for binding in bindings}
    counts = Counter(use.key for each in uses.values() for use in each)
    many = {binding.label for binding in bindings if _shape(binding)}
    wanted = {label: [use for use in each if label in many or counts[use.key] > 1] for label, each in uses.items()}
    return _Once(Names(program), wanted).program(program, ChainMap()) if any(wanted.values()) else program


@dataclass(frozen=True, slots=True)
class _Once:
    names: Names
    uses: Mapping[Label, Sequence[_Use]]

    def program(self, program: Program, known: ChainMap[Pointwise, _Made]) -> Program:
        """It recurses on nested control flow only."""
        sure = [self.uses.get(binding.label, ()) for binding in program.bindings if not _perhaps_none(binding)]
        certain = frozenset(use.key for uses in sure for use in uses)
        bindings: list[Binding] = []
        for binding in program.bindings:
            operation = with_parts(binding.operation, lambda part: self.program(part, known.new_child()))
            bindings.append(self._loading(replace(binding, operation=operation), bindings, known, certain))
        return replace(program, bindings=tuple(bindings))

    def _loading(
        self,
        binding: Binding,
        before: list[Binding],
        known: ChainMap[Pointwise, _Made],
        certain: frozenset[Pointwise],
    ) -> Binding:
        """The binding with loads in place of its loops. Those that are not known yet are added to what is `before` it."""
        uses = self.uses.get(binding.label, ())
        if not uses:
            return binding
        (function,) = describe(binding.operation).functions
        for use in uses:
            if_any = () if use.key in certain else _perhaps_none(binding)
            made = known.get(use.key)
            if made is None or made.if_any not in ((), if_any):
                label = self.names.label()
                arrays = tuple([Array(label, leaf, out.type, ()) for leaf, out in enumerate(use.loop.outs)])
                code = _if_any(if_any, _leading(function, use.loop, _elements(binding)))
                before.append(Binding(label, Generate(code, "while_"), arrays, binding.after, binding.where))
                made = known[use.key] = _Made(arrays, if_any)
            loads = [Load(out, array, ()) for out, array in zip(use.loop.outs, made.arrays, strict=True)]
            function = _replaced(function, use.loop, loads)
        return replace(binding, operation=with_functions(binding.operation, lambda _: simplify(function)))


def _shape(binding: Binding) -> Shape:
    """What an operation visits; sizes are computed once."""
    return binding.arrays[0].shape if binding.arrays else ()


def _perhaps_none(binding: Binding) -> Shape:
    """The extents of what an operation visits that may be 0."""
    return tuple([extent for extent in _shape(binding) if extent.offset < 1])


def _elements(binding: Binding) -> list[Load]:
    """Loads of the elements that a function is given, if these are arrays of rank 0."""
    described = describe(binding.operation)
    streams = described.read(Role.STREAM)
    if _shape(binding) or not streams:
        return []
    return [Load(p, array, ()) for p, array in zip(described.functions[0].parameters, streams, strict=True)]


def _uses(binding: Binding) -> Iterator[_Use]:
    """The loops that an operation runs for each element, and that do not depend on it."""
    described = describe(binding.operation)
    if Flag.TAKES_INDEX not in described.flags and not described.binds:
        return
    (function,) = described.functions
    elements = _elements(binding)
    differs = set(function.parameters).difference([load.out for load in elements])
    for statement in function.body.statements:
        alone = Block((statement,), ())
        if not differs.isdisjoint(variables_used(alone)):
            if isinstance(statement, Load) and statement.check:
                return  # what comes next relies on it
            differs.update(programs.bound(Function((), alone)))
        elif isinstance(statement, While):
            yield _Use(_leading(function, statement, elements), statement)


def _leading(function: Function, loop: While, elements: Sequence[Load]) -> Pointwise:
    """What a loop comes to, with all that leads to it, of arrays of rank 0 in the order of their labels."""
    kept: list[Statement] = [loop]
    needed = set(variables_used(Block((loop,), ())))
    for statement in reversed((*elements, *function.body.statements[: function.body.statements.index(loop)])):
        alone = Block((statement,), ())
        is_check = isinstance(statement, Load) and statement.check
        if is_check or not needed.isdisjoint(programs.bound(Function((), alone))):
            kept.append(statement)
            needed |= variables_used(alone)
    node = stream_loads(Pointwise(Function((), Block(tuple(reversed(kept)), loop.outs)), ()), ())
    pairs = list(zip(node.function.parameters, node.inputs, strict=True))
    pairs.sort(key=lambda pair: (pair[1].label, pair[1].leaf))
    parameters = tuple([parameter for parameter, _ in pairs])
    return Pointwise(simplify(Function(parameters, node.function.body)), tuple([array for _, array in pairs]))


def _if_any(shape: Shape, node: Pointwise) -> Function:
    """A function of nothing that does that if no extent is 0, and else gives zeros."""
    loads = [Load(p, array, ()) for p, array in zip(node.function.parameters, node.inputs, strict=True)]
    if not shape:
        return Function((), Block((*loads, *node.function.body.statements), node.function.body.results))
    variables = count(1 + programs.highest_variable(node.function))
    outs = tuple([Variable(next(variables), operand_type(result)) for result in node.function.body.results])
    zeros = tuple([constant(out.type, 0) for out in outs])
    positive: list[Statement] = []
    holds: Operand = constant(BOOL, True)
    for extent in shape:
        asked, both = Variable(next(variables), BOOL), Variable(next(variables), BOOL)
        positive.append(Compute(asked, Operator.LT, (constant(I64, 0), extent)))
        positive.append(Compute(both, Operator.AND, (holds, asked)))
        holds = both
    choice = If(outs, holds, there(node.function.body), Block((), zeros))
    return simplify(Function((), Block((*loads, *positive, choice), outs)))


def _replaced(function: Function, loop: While, by: Sequence[Statement]) -> Function:
    """The function with other statements in place of a loop."""
    statements, place = function.body.statements, function.body.statements.index(loop)
    return Function(
        function.parameters, Block((*statements[:place], *by, *statements[place + 1 :]), function.body.results)
    )
