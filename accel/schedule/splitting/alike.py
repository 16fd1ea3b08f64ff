"""What iterations of the innermost loop compute alike, as columns of a stencil do: `f(k - 1) + f(k + 1)`, where `f` is a sum of
what stands above and below. It is made once for each column, before the others, and kept for as long as a row takes.

In: a nest. Out: the statements that make such lines of values, and the nest that reads these instead. Only what is computed
of loads at one column is taken, where so many columns ask for it that there are fewer loads. No bit of a result changes: each
value is made by the same operations. [S. Deitz et al., Eliminating Redundancies in Sum-of-Product Array Computations, 2001]
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from accel.ast.tree.types import BOOL, I64
from accel.ir import mentions
from accel.ir.flow import made
from accel.ir.indices import arguments, extent_of
from accel.ir.layouts import with_parts
from accel.ir.mentions import loops
from accel.ir.nodes import LoopDirection, Nest, OneToOne, Stream
from accel.labelled import programs
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Block, Compute, Function, Load, Operand, Statement, Variable, constant
from accel.labelled.scalars.simplify import select_results
from accel.schedule.nodes import Line, Lines
from accel.support.dataclass import dataclass

MOST = 1 << 14
"""Bytes of all lines, at most: half of the first cache."""

FIRST_LEAF = 2000
"""Leaves of the nest's label from here on are lines."""


def alike(nest: Nest) -> Lines | None:
    """The lines of a nest; None if there are none."""
    every = loops(nest)
    extent = extent_of(every[-1]) if every else None
    if extent is None or extent.variable is not None:
        return None
    if every[-1].direction is not LoopDirection.UP or every[-1].states:
        return None
    body, column = every[-1].body, every[-1].index
    within = {column, *(stream for each in (*body.before, *body.after) for stream in made(each))}
    lines: list[Line] = []
    parts = [(level.before, level.after) for level in mentions.levels(nest)]
    changed = []
    for statement in parts[-1][0]:
        if isinstance(statement, OneToOne) and statement.when is None:
            found = _Values(statement, column, within, extent)
            arrays = [
                Array(nest.label, FIRST_LEAF + len(lines) + n, x.type, (extent,)) for n, (x, _) in enumerate(found.kept)
            ]
            lines += map(found.line, arrays, [x for x, _ in found.kept])
            statement = found.reading(arrays)
        changed.append(statement)
    size = sum(line.array.element.bytes * extent.offset for line in lines)
    return Lines(tuple(lines), with_parts(nest, [*parts[:-1], (changed, parts[-1][1])])) if 0 < size <= MOST else None


@dataclass(frozen=True, slots=True)
class _Value:
    """What is computed of loads at one column: the number of how it is, the column, and how many loads."""

    how: int
    place: Operand
    loads: int


class _Values:
    """The variables of a statement's function. `kept`: those of which lines are made, each with all that have their values."""

    def __init__(self, statement: OneToOne, column: Stream, within: set[Stream], extent: Extent) -> None:
        self._statement = statement
        self._function = statement.function
        self._extent = extent
        self._steady: set[Operand] = {p for p, a in arguments(statement) if a not in within}
        self._column = next((p for p, a in arguments(statement) if a == column), None)
        self._places: set[Operand] = set() if self._column is None else {self._column}
        self._values: dict[Operand, _Value] = {}
        self._numbers: dict[Hashable, int] = {}
        for each in self._function.body.statements:
            self._see(each)
        self.kept: Sequence[tuple[Variable, Sequence[Variable]]] = list(self._shared())

    def _see(self, statement: Statement) -> None:
        match statement:
            case Compute(out, operator, given):
                if all(map(self._is_steady, given)):
                    self._steady.add(out)
                elif all(self._is_steady(each) or each in self._places for each in given):
                    self._places |= {out} if out.type in (I64, BOOL) else set()
                else:
                    self._combine(out, operator, given)
            case Load(out, array, index):
                if all(map(self._is_steady, index)):
                    self._steady.add(out)
                elif statement.inside and self._goes_on(array, index):
                    self._values[out] = _Value(self._number((array, index[:-1])), index[-1], 1)
            case _:
                pass

    def _goes_on(self, array: Array, index: Sequence[Operand]) -> bool:
        """Whether an index is in the same row for every column, and in bounds there."""
        in_row = index[-1] in self._places and all(map(self._is_steady, index[:-1]))
        return in_row and array.shape[-1] == self._extent

    def _combine(self, out: Variable, operator: Hashable, given: Sequence[Operand]) -> None:
        values = [self._values.get(each) for each in given]
        if any(value is None and not self._is_steady(each) for value, each in zip(values, given, strict=True)):
            return
        known = [value for value in values if value is not None]
        if len({value.place for value in known}) == 1:
            parts = [each if value is None else value.how for value, each in zip(values, given, strict=True)]
            how = self._number((operator, out.type, *parts))
            self._values[out] = _Value(how, known[0].place, sum(value.loads for value in known))

    def _is_steady(self, operand: Operand) -> bool:
        return not isinstance(operand, Variable) or operand in self._steady

    def _number(self, how: Hashable) -> int:
        return self._numbers.setdefault(how, len(self._numbers))

    def _shared(self) -> Iterator[tuple[Variable, Sequence[Variable]]]:
        """The largest values that several columns have, and that to keep takes less than to make again."""
        wanted, some = {each.how for each in self._values.values()}, True
        found: dict[int, list[Variable]] = {}
        while some:
            found = {how: [] for how in wanted}
            for variable in self._needed(wanted):
                found[self._values[variable].how].append(variable)
            few = {how for how, variables in found.items() if not self._serves(variables)}
            wanted, some = wanted - few, bool(few)
        for _, variables in sorted(found.items()):
            yield variables[0], variables

    def _serves(self, same: Sequence[Variable]) -> bool:
        """Whether it is less to load a value, make it once and store it, than to make it where it is asked for."""
        values = [self._values[variable] for variable in same]
        columns = len({value.place for value in values})
        return bool(values) and columns * values[0].loads > columns + values[0].loads + 1

    def _needed(self, wanted: set[int]) -> Iterator[Variable]:
        """The variables with one of these values that others are computed of."""
        live: set[Operand] = set(self._function.body.results)
        for statement in reversed(self._function.body.statements):
            match statement:
                case Compute(out) | Load(out):
                    if out not in live:
                        continue
                    if out in self._values and self._values[out].how in wanted:
                        yield out
                        continue
                case _:
                    pass
            live.update(programs.operands(statement))
            for block in programs.inner_blocks(statement):
                for part in programs.blocks(Function((), block)):
                    live.update(part.results)
                    live.update(each for inner in part.statements for each in programs.operands(inner))

    def line(self, array: Array, variable: Variable) -> Line:
        """What makes this value for every column."""
        assert self._column is not None, "values of columns depend on the column"
        place, column = self._values[variable].place, self._column
        statements = [
            replace(each, index=(*each.index[:-1], column))
            if isinstance(each, Load) and each.index and each.index[-1] == place
            else each
            for each in self._function.body.statements
        ]
        function = Function(self._function.parameters, Block(tuple(statements), (variable,)))
        given = [
            a if p in self._steady or p in self._places else constant(p.type, 0) for p, a in arguments(self._statement)
        ]
        out = Stream(f"line{array.leaf - FIRST_LEAF}", variable.type)
        return Line(array, OneToOne((out,), select_results(function, [0]), tuple(given)))

    def reading(self, arrays: Sequence[Array]) -> OneToOne:
        """The statement that reads lines."""
        where = {
            variable: Load(variable, array, (self._values[variable].place,), inside=True)
            for array, (_, same) in zip(arrays, self.kept, strict=True)
            for variable in same
        }
        statements = [
            where.get(each.out, each) if isinstance(each, Compute | Load) else each
            for each in self._function.body.statements
        ]
        results = self._function.body.results
        function = Function(self._function.parameters, Block(tuple(statements), results))
        return replace(self._statement, function=select_results(function, range(len(results))))
