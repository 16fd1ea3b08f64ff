"""Pieces of an innermost loop: where conditions that compare its index with what the loop does not change are decided.

What `append`s give, one behind the other, is `cond(i < n, xs[i], ys[i - n])`: from where to where the loop reads which array is
known before it begins. In: a nest. Out: a tree of cuts, with the statements of each piece at its ends, which the simplifier
makes of the nest's own (`accel/labelled/scalars/simplify.py`), so that no bit changes. Iterations keep their order. A condition
that the index is no part of is a cut, too: all iterations are on one side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias, Union

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.ir.flow import made
from accel.ir.indices import Indices, arguments, extent_of
from accel.ir.mentions import function_statements, loops
from accel.ir.nodes import For, LoopBody, LoopDirection, Nest, OneToOne, Operand, Read, Remap, Stream, Write
from accel.ir.work import element_work
from accel.labelled import rewrite, scalar
from accel.labelled.array import Extent
from accel.labelled.programs import highest_variable
from accel.labelled.scalar import Block, Compute, Constant, Function, If, Load, Variable, constant
from accel.labelled.scalars.simplify import select_results, simplify
from accel.labelled.work import INSTRUCTIONS
from accel.support.dataclass import dataclass

MOST = 24
"""Cuts of a loop."""

LONGEST = 400
"""Machine instructions of all pieces together, about: compilers take long for more."""

SMALL = 1 << 48
"""No constant that is added to an index is as great, and no extent."""

SUMMANDS = 24
"""Constants and extents that are added to an index, together."""

FAR = 1 << 60
"""No index is as great, nor is one plus or minus so many summands."""

_FAR, _BEFORE = constant(I64, FAR), constant(I64, -FAR)


@dataclass(frozen=True, slots=True)
class Cut:
    """Iterations whose index is less than an i64, the result of `at` of the arguments, are `below`, and come first."""

    at: Function
    arguments: tuple[Operand, ...]
    below: Pieces
    above: Pieces


Pieces: TypeAlias = Union[Cut, tuple[LoopBody, ...]]
"""Cuts, or the statements of a piece."""


def pieces(nest: Nest) -> Cut | None:
    """The cuts of the innermost loop, if some save loads or branches, and if all it does is to compute and write."""
    every = loops(nest)
    if not every or every[-1].direction is not LoopDirection.UP or extent_of(every[-1]) is None or every[-1].states:
        return None
    statements = (*every[-1].body.before, *every[-1].body.after)
    if any(not isinstance(s, OneToOne | Remap | Read | Write) or s.when is not None for s in statements):
        return None
    found = _Cutting(every, _length(statements)).pieces(statements)
    return found if isinstance(found, Cut) else None


class _Cutting:
    def __init__(self, every: Sequence[For], size: int) -> None:
        self._every = every
        self._size = size
        self._left = MOST

    def pieces(self, statements: tuple[LoopBody, ...]) -> Pieces:
        """It recurses for each cut, of which there are few."""
        within = {stream.name for statement in statements for stream in made(statement)}
        for number, statement in enumerate(statements):
            if not isinstance(statement, OneToOne) or not _saved([statement]):
                continue
            for known, holds, at in _Comparisons(statement, self._every[-1].index, within).all():
                if not self._left:
                    return statements
                below, above = (self._knowing(statements, number, {known: truth}) for truth in (holds, not holds))
                more = _length(below) + _length(above) - _length(statements)
                if max(_saved(below), _saved(above)) < _saved(statements) and self._size + more <= LONGEST:
                    self._left -= 1
                    self._size += more
                    return Cut(at, statement.arguments, self.pieces(below), self.pieces(above))
        return statements

    def _knowing(
        self, statements: Sequence[LoopBody], number: int, known: Mapping[scalar.Operand, bool]
    ) -> tuple[LoopBody, ...]:
        """The statements where a variable of the function of one of them is known."""
        indices, changed = Indices(self._every, {}), list(statements)
        statement = changed[number]
        assert isinstance(statement, OneToOne)

        def told(operand: scalar.Operand) -> scalar.Operand:
            return constant(BOOL, known[operand]) if operand in known else operand

        changed[number] = replace(statement, function=rewrite.rename(statement.function, told))
        return tuple(map(indices.simplified, changed))


def _length(statements: Sequence[LoopBody]) -> int:
    """About how many instructions they are."""
    return len(statements) + element_work(statements, INSTRUCTIONS)


def _saved(statements: Sequence[LoopBody]) -> int:
    """How many loads, branches and loops they have: what cuts are to save."""
    functions = [each.function for each in statements if isinstance(each, OneToOne)]
    return sum(not _is_arithmetic(s) for function in functions for s in function_statements(function))


def _is_arithmetic(statement: scalar.Statement) -> bool:
    return isinstance(statement, Compute)


@dataclass(frozen=True, slots=True)
class _Shifted:
    """The loop's index, with constants, extents and their sums added, or taken away where the flag is false."""

    added: tuple[tuple[scalar.Operand, bool], ...] = ()
    summands: int = 0
    """How many constants and extents these are."""


_BELOW: Mapping[Operator, tuple[bool, int]] = {
    Operator.LT: (True, 0), Operator.LE: (True, 1), Operator.GT: (False, 1), Operator.GE: (False, 0),
}  # fmt: skip
"""What a comparison of an index with a number gives below the cut, and how far behind the number that is."""

_MIRRORED: Mapping[Operator, Operator] = {
    Operator.LT: Operator.GT, Operator.LE: Operator.GE, Operator.GT: Operator.LT, Operator.GE: Operator.LE,
}  # fmt: skip


@dataclass(slots=True)
class _Comparisons:
    """Those in a statement's function, outside of its blocks. `within`: the streams that the loop's statements make."""

    statement: OneToOne
    index: Stream
    within: set[str]
    _shifted: dict[scalar.Operand, _Shifted] = field(default_factory=dict)
    _fixed: set[scalar.Operand] = field(default_factory=set)
    _sums: dict[scalar.Operand, int] = field(default_factory=dict)
    _kept: list[scalar.Statement] = field(default_factory=list)

    def all(self) -> Iterator[tuple[Variable, bool, Function]]:
        """A condition, what it is below the cut, and where that is."""
        for parameter, argument in arguments(self.statement):
            if argument == self.index:
                self._shifted[parameter] = _Shifted()
            elif not (isinstance(argument, Stream) and argument.name in self.within):
                self._fixed.add(parameter)
        for statement in self.statement.function.body.statements:
            match statement:
                case Compute(out, operator, operands) if all(map(self._is_fixed, operands)):
                    self._keep(statement, out)
                    if operator in (Operator.ADD, Operator.SUB):
                        self._sums[out] = sum(map(self._summands, operands))
                case Compute(out, operator, (left, right)):
                    yield from self._computed(out, operator, left, right)
                case Load(out, _, index) if all(map(self._is_fixed, index)) and (not index or statement.inside):
                    self._keep(statement, out)
                case If(_, condition) if isinstance(condition, Variable) and condition in self._fixed:
                    yield condition, True, self._at([], condition)
                case _:
                    pass

    def _keep(self, statement: scalar.Statement, out: Variable) -> None:
        self._kept.append(statement)
        self._fixed.add(out)

    def _is_fixed(self, operand: scalar.Operand) -> bool:
        return not isinstance(operand, Variable) or operand in self._fixed

    def _summands(self, operand: scalar.Operand) -> int:
        """How many constants and extents an operand is the sum of; more than `SUMMANDS` if it is none."""
        if isinstance(operand, Constant):
            return 1 if operand.type is I64 and abs(int(operand.value)) < SMALL else SUMMANDS + 1
        return 1 if isinstance(operand, Extent) else self._sums.get(operand, SUMMANDS + 1)

    def _computed(
        self, out: Variable, operator: Operator, left: scalar.Operand, right: scalar.Operand
    ) -> Iterator[tuple[Variable, bool, Function]]:
        if operator is Operator.ADD and right in self._shifted:
            left, right = right, left
        elif operator in _MIRRORED and right in self._shifted:
            left, right, operator = right, left, _MIRRORED[operator]
        found = self._shifted.get(left)
        if found is None or not self._is_fixed(right):
            return
        if operator in (Operator.ADD, Operator.SUB):
            summands = found.summands + self._summands(right)
            if summands <= SUMMANDS:
                self._shifted[out] = _Shifted((*found.added, (right, operator is Operator.ADD)), summands)
        elif operator in _BELOW:
            holds, behind = _BELOW[operator]
            steps: list[tuple[Operator, scalar.Operand]] = [(Operator.MIN, _FAR), (Operator.MAX, _BEFORE)]
            steps += [(Operator.SUB if added else Operator.ADD, each) for each, added in found.added]
            yield out, holds, self._at([*steps, (Operator.ADD, constant(I64, behind))], right)

    def _at(self, steps: Sequence[tuple[Operator, scalar.Operand]], first: scalar.Operand) -> Function:
        """The function that gives where the cut is: what is done to a number; of a bool, before or behind everything."""
        function = self.statement.function
        number, statements = highest_variable(function), list(self._kept)
        if not steps:
            number += 1
            out = Variable(number, I64)
            statements.append(Compute(out, Operator.SELECT, (first, _FAR, _BEFORE)))
            first = out
        for operator, other in steps:
            number += 1
            out = Variable(number, I64)
            statements.append(Compute(out, operator, (first, other)))
            first = out
        return select_results(simplify(Function(function.parameters, Block(tuple(statements), (first,)))), [0])
