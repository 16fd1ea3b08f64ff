"""Loops of a few iterations, all written out: the statements of a lane that has a row of its own.

In: an `Interleaved`, and how many iterations each loop of columns has. Out: statements. Each iteration has its own, in which
its indices are numbers, so that what is chosen by them is decided; what several of them compute alike is computed once. A
fold's elements are there all at once: they are combined in the order of docs/order.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from accel.ast.tree.types import I64, ScalarType
from accel.ir import flow
from accel.ir.indices import Indices
from accel.ir.nodes import LoopBody, ManyToOne, OneToOne, Operand, Read, Remap, State, Stream, Write
from accel.labelled import programs, rewrite, scalar
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.meaning.order import fold, fold_in_lanes, lanes
from accel.labelled.meaning.products import steps
from accel.labelled.scalar import Block, Function, Variable, constant
from accel.schedule.templates.cpu.interleaved import Interleaved
from accel.schedule.templates.cpu.positions import extents


def side_by_side(found: Interleaved, counts: Sequence[int]) -> tuple[LoopBody, ...]:
    """The statements of all columns, so many, at one iteration of the loops around. Each is written at numbers; writes of a row
    follow each other."""
    text, first = _Columns(found, counts), len(found.loops) - len(found.columns)
    indices = Indices(found.loops, {first + number: (0, count - 1) for number, count in enumerate(counts)})
    return _live([indices.simplified(each) for each in text.statements()])


def _live(statements: Sequence[LoopBody]) -> tuple[LoopBody, ...]:
    """Without what nobody needs; checks stay."""
    needed, kept = set[Stream](), list[LoopBody]()
    for statement in reversed(statements):
        if isinstance(statement, Write | Remap) or any(stream in needed for stream in flow.made(statement)):
            needed.update(flow.needed(statement))
            kept.append(statement)
    return tuple(reversed(kept))


class _Columns:
    """Statements for so many iterations of each loop of columns.

    What stands inside of `depth` of these loops has a copy for each of their iterations, numbered through; so of each stream it
    is known what it is in which.
    """

    def __init__(self, found: Interleaved, counts: Sequence[int]) -> None:
        self._found, self._counts = found, counts
        self._values: dict[Operand, tuple[int, list[Operand]]] = {}
        self._elements: dict[str, list[tuple[Operand, ...]]] = {}
        self._sizes: dict[SizeVariable, int] = {}
        for depth, (loop, extent, count) in enumerate(
            zip(found.columns, extents(found.columns), counts, strict=True), 1
        ):
            every = [constant(I64, number % count) for number in range(self._copies(depth))]
            self._values[loop.index] = depth, list(every)
            if extent.variable is not None:
                self._sizes[extent.variable] = count - extent.offset

    def statements(self) -> Iterator[LoopBody]:
        """Those of all levels from the rows' one on, in order."""
        bodies = [loop.body for loop in (self._found.lanes, *self._found.columns)]
        for depth, body in enumerate(bodies):
            for statement in body.before:
                yield from self._of(statement, depth)
        for depth, body in reversed([*enumerate(bodies)]):
            if depth < len(self._found.columns):
                for state in self._found.columns[depth].states:
                    yield from self._folded(state, depth)
            for statement in body.after:
                yield from self._of(statement, depth)

    def _copies(self, depth: int, outer: int = 0) -> int:
        """How many iterations the first loops of columns have together, of each one of the `outer` first."""
        return prod(self._counts[outer:depth])

    def _of(self, statement: LoopBody, depth: int) -> Iterator[LoopBody]:
        """What becomes of a statement: one for each iteration in which it is another one, or of a function one for all
        together; all of a write; of a step none, until all are there."""
        copies = [self._in(statement, depth, number) for number in range(self._copies(depth))]
        if isinstance(statement, Write):
            yield from copies
            return
        if isinstance(statement, ManyToOne):
            self._elements[statement.state] = [flow.operands(each) for each in copies]
            return
        outs, distinct = flow.made(statement), {each: number for number, each in enumerate(dict.fromkeys(copies))}
        if len(distinct) == 1:
            self._values.update((out, (0, [out])) for out in outs)
            yield copies[0]
            return
        named = [[Stream(f"{out.name}_c{number}", out.type) for out in outs] for number in range(len(distinct))]
        for place, out in enumerate(outs):
            self._values[out] = depth, [named[distinct[each]][place] for each in copies]
        if isinstance(statement, OneToOne):
            yield self._together(statement.function, list(distinct), [out for names in named for out in names])
            return
        for each, names in zip(distinct, named, strict=True):
            yield _making(each, names)

    def _in(self, statement: LoopBody, depth: int, number: int) -> LoopBody:
        """The statement in an iteration."""
        return flow.substituted(statement, lambda operand: self._value(operand, depth, number))

    def _value(self, operand: Operand, depth: int, number: int) -> Operand:
        known = self._values.get(operand)
        if known is None:
            return operand
        outer, every = known
        return every[number // self._copies(depth, outer)]

    def _together(self, function: Function, copies: Sequence[LoopBody], outs: Sequence[Stream]) -> OneToOne:
        """One function for all copies."""
        text, results = _Text(programs.highest_variable(function), self._sizes), list[scalar.Operand]()
        for each in copies:
            results += text.applied(function, list(map(text.given, flow.operands(each))))
        return text.made(outs, results)

    def _folded(self, state: State, depth: int) -> Iterator[LoopBody]:
        """What a state comes to in each iteration of the loops around its own."""
        elements, copies = self._elements[state.name], self._copies(depth)
        share, kinds = len(elements) // copies, state.types
        named = [[Stream(f"{final.name}_c{number}", final.type) for final in state.finals] for number in range(copies)]
        for place, final in enumerate(state.finals):
            self._values[final] = depth, [names[place] for names in named]
        first = steps(state.merge, state.monoid, kinds, state.products)
        most = max(map(programs.highest_variable, (state.merge, first.first, first.following)))
        for number, names in enumerate(named):
            text = _Text(most, self._sizes)
            own = [list(map(text.given, each)) for each in elements[number * share : (number + 1) * share]]
            total = _total(state, own, text.of(first.first), text.of(first.following), text.of(state.merge))
            if state.initial is not None:
                seed = [text.given(self._value(each, depth, number)) for each in state.initial]
                total = text.applied(state.merge, [*seed, *total])
            yield text.made(names, total)


_Joined = Callable[..., list[scalar.Operand]]


def _total(
    state: State, elements: Sequence[list[scalar.Operand]], first: _Joined, step: _Joined, join: _Joined
) -> list[scalar.Operand]:
    """All elements of a fold, combined in its order."""
    width = lanes(state.types)
    if state.monoid.commutes:
        return fold_in_lanes(elements, first, step, join, width)
    return fold(elements, join, commutes=False, width=width)


def _making(statement: LoopBody, outs: Sequence[Stream]) -> LoopBody:
    match statement:
        case Read():
            return replace(statement, out=outs[0])
        case Remap():
            return replace(statement, outs=tuple(outs))
        case _:
            return statement


class _Text:
    """One function that is made of others, of copies whose variables are no two alike. `sizes` are known in them."""

    def __init__(self, last: int, sizes: Mapping[SizeVariable, int]) -> None:
        """`last`: the highest number of a variable of these functions."""
        self._last, self._sizes = last, sizes
        self._given: dict[Stream, Variable] = {}
        self._statements: list[scalar.Statement] = []

    def given(self, operand: Operand) -> scalar.Operand:
        """What the function is given, as it knows it."""
        if not isinstance(operand, Stream):
            return operand
        if operand not in self._given:
            self._given[operand] = self._another(operand.type)
        return self._given[operand]

    def of(self, function: Function) -> _Joined:
        """A function that applies one, to the operands of some values."""
        return lambda *values: self.applied(function, [operand for value in values for operand in value])

    def applied(self, function: Function, arguments: Sequence[scalar.Operand]) -> list[scalar.Operand]:
        """The results of a copy, of these arguments."""
        known = dict(zip(function.parameters, arguments, strict=True))

        def operand(one: scalar.Operand) -> scalar.Operand:
            if isinstance(one, Extent) and one.variable is not None and one.variable in self._sizes:
                return constant(I64, self._sizes[one.variable] + one.offset)
            return known.get(one, one) if isinstance(one, Variable) else one

        def bound(variable: Variable) -> Variable:
            known[variable] = other = self._another(variable.type)
            return other

        body = rewrite.block(function.body, operand, bound, lambda array: array)
        self._statements += body.statements
        return list(body.results)

    def made(self, outs: Sequence[Stream], results: Sequence[scalar.Operand]) -> OneToOne:
        """The statement that computes it."""
        function = Function(tuple(self._given.values()), Block(tuple(self._statements), tuple(results)))
        return OneToOne(tuple(outs), function, tuple(self._given))

    def _another(self, kind: ScalarType) -> Variable:
        self._last += 1
        return Variable(self._last, kind)
