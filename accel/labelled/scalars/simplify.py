"""Scalar code made smaller without changing a bit of what it gives.

Constants are folded (never by elementary functions, whose last bits belong to a backend), equal computations and loads
happen once, conditionals whose branches are cheap and cannot fail become selections, what is unused disappears, and
variables are numbered in order. Floats obey few laws: x + 0.0 is not x when x is -0.0, so only integers and bools
are simplified algebraically.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Iterator, MutableMapping, Sequence
from functools import cached_property
from itertools import count
from typing import TypeAlias, assert_never

from accel.ast.meaning import semantics
from accel.ast.tree.operators import ELEMENTARY, Operator
from accel.ast.tree.types import BOOL, I64
from accel.labelled import programs, rewrite
from accel.labelled.array import Extent, Shape
from accel.labelled.scalar import (
    Block,
    Compute,
    Constant,
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
from accel.labelled.scalars.laws import law, law_of_ranges
from accel.labelled.scalars.ranges import Ranges
from accel.labelled.work import SPECULATED, work

_TURNS = 3
"""How many sums or differences a remainder may take to be written so."""

_CHEAP = 64
"""How much both branches of a conditional may cost to be evaluated always."""

_SIGNED = frozenset({Operator.NEG, Operator.MUL, Operator.DIV})
"""Operators whose result's sign is that of the product of their operands' signs, and of -1."""

_Known: TypeAlias = MutableMapping[Hashable, Variable]


def simplify(function: Function, shape: Shape = ()) -> Function:
    """The same function of the same parameters. It never computes or loads anything that may fail if the given one does not.

    `shape`: the first parameters are an index that runs over it.
    """
    return simplify_within(function, Ranges(function.parameters[: len(shape)], shape))


def simplify_within(function: Function, ranges: Ranges, *, remainders: bool = False) -> Function:
    """The same function of the same parameters where these lie in ranges.

    With `remainders`, those that take a few sums or differences at most are written so.
    """
    body = _Pass(function, ranges, remainders).block(function.body, ChainMap())
    body = _live_block(body, range(len(body.results)))
    return _numbered(Function(function.parameters, body))


def select_results(function: Function, wanted: Sequence[int]) -> Function:
    """The function that gives only the results at `wanted`."""
    results = tuple([function.body.results[i] for i in wanted])
    body = _live_block(Block(function.body.statements, results), range(len(results)))
    return _numbered(Function(function.parameters, body))


class _Pass:
    """Forward: each variable has a replacement, each computation a value that is known where it dominates.

    `everywhere`: what is known of indices wherever the function runs; `here`: in the block that is being read.
    `remainders`: those that take a few comparisons are made of them.
    """

    def __init__(self, function: Function, ranges: Ranges, remainders: bool) -> None:
        self._function, self._remainders = function, remainders
        self._replaced: dict[Variable, Operand] = {}
        self._signed: dict[Operand, tuple[Operator, tuple[Operand, ...]]] = {}
        """How negations, products and quotients of floats were computed."""
        self._truncated: dict[Operand, Operand] = {}
        """What floats were rounded toward zero."""
        self._everywhere = self._here = ranges

    @cached_property
    def _fresh(self) -> Iterator[int]:
        """Numbers of new variables."""
        return count(1 + max((v.number for v in programs.bound(self._function)), default=0))

    def operand(self, operand: Operand) -> Operand:
        match operand:
            case Variable():
                return self._replaced.get(operand, operand)
            case Extent(None, offset):
                return constant(I64, offset)
            case _:
                return operand

    def operands(self, operands: Sequence[Operand]) -> tuple[Operand, ...]:
        return tuple([self.operand(operand) for operand in operands])

    def block(self, block: Block, known: ChainMap[Hashable, Variable]) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            self._statement(statement, statements, known)
        return Block(tuple(statements), self.operands(block.results))

    def _statement(
        self, statement: Statement, statements: list[Statement], known: ChainMap[Hashable, Variable]
    ) -> None:
        match statement:
            case Compute(out, operator, arguments):
                self._replaced[out] = self._compute(out, operator, self.operands(arguments), statements, known)
            case Load(out, array, index, where, inside, check, inside_block):
                index = self.operands(index)
                inside = inside or self._everywhere.inside(index, array.shape)
                inside_block = inside or inside_block or self._here.inside(index, array.shape)
                load = Load(out, array, index, where, inside, check and not inside_block, inside_block)
                self._once(("load", array, index, load.check), load, out, statements, known)
            case If():
                self._choice(statement, statements, known)
            case While():
                self._loop(statement, statements, known)
            case _:
                assert_never(statement)

    def _once(
        self, key: Hashable, statement: Statement, out: Variable, statements: list[Statement], known: _Known
    ) -> None:
        found = known.get(key)
        if found is None:
            statements.append(statement)
            known[key] = out
        else:
            self._replaced[out] = found

    def _compute(
        self,
        out: Variable,
        operator: Operator,
        arguments: tuple[Operand, ...],
        statements: list[Statement],
        known: _Known,
    ) -> Operand:
        """The value of an operation, emitted unless it is known."""
        while True:
            folded = _folded(out, operator, arguments)
            if folded is not None:
                return folded
            simpler = law(out.type, operator, arguments) or law_of_ranges(operator, arguments, self._here)
            if simpler is None:
                break
            if not isinstance(simpler, tuple):
                return simpler
            operator, arguments = simpler
        if operator is Operator.CAST and out.type.is_integer:  # which rounds toward zero itself
            arguments = tuple([self._truncated.get(x, x) for x in arguments])
        if operator is Operator.ERFC:
            arguments = (self._sign_last(arguments[0], statements, known),)
        if self._remainders and operator in (Operator.MOD, Operator.REM) and out.type is I64:
            number, divisor = arguments
            turns = self._here.turns(number, divisor, _TURNS)
            if turns is not None and (operator is Operator.MOD or not turns[0]):
                return self._turned(arguments, turns, statements, known)
        key = (operator, out.type, arguments)
        found = known.get(key)
        if found is None:
            statements.append(Compute(out, operator, arguments))
            for ranges in {self._everywhere, self._here}:
                ranges.learn(out, operator, arguments)
            if operator in _SIGNED and out.type.is_float:
                self._signed[out] = operator, arguments
            if operator is Operator.TRUNC:
                self._truncated[out] = arguments[0]
            found = known[key] = out
        return found

    def _sign_last(self, operand: Operand, statements: list[Statement], known: _Known) -> Operand:
        """An operand of `erfc`: `-(a c)` for `(-a) c`, so that both tails of a distribution take the same magnitude.

        The bits are the same. Nowhere else: what a fold adds is fused with it if it is a product, and stays one.
        """
        operator, arguments = self._signed.get(operand, (None, ()))
        if operator not in (Operator.MUL, Operator.DIV):
            return operand
        bare = [made[1][0] if (made := self._signed.get(x)) and made[0] is Operator.NEG else x for x in arguments]
        negations = sum(x != y for x, y in zip(arguments, bare, strict=True))
        if not negations:
            return operand
        kind = operand_type(operand)
        magnitude = self._compute(Variable(next(self._fresh), kind), operator, tuple(bare), statements, known)
        if negations == 2:
            return magnitude
        return self._compute(Variable(next(self._fresh), kind), Operator.NEG, (magnitude,), statements, known)

    def _turned(
        self,
        arguments: tuple[Operand, ...],
        turns: tuple[int, int],
        statements: list[Statement],
        known: _Known,
    ) -> Operand:
        """A remainder, by sums where the number is negative and differences where it is not less than the divisor."""
        number, divisor = arguments
        zero, added, taken = constant(I64, 0), Operator.ADD, Operator.SUB
        steps = [(added, Operator.LT, zero)] * turns[0] + [(taken, Operator.GE, divisor)] * turns[1]
        for operator, comparison, bound in steps:
            other = self._compute(Variable(next(self._fresh), I64), operator, (number, divisor), statements, known)
            outside = self._compute(Variable(next(self._fresh), BOOL), comparison, (number, bound), statements, known)
            choice = (outside, other, number)
            number = self._compute(Variable(next(self._fresh), I64), Operator.SELECT, choice, statements, known)
        return number

    def _choice(self, statement: If, statements: list[Statement], known: ChainMap[Hashable, Variable]) -> None:
        condition = self.operand(statement.condition)
        if isinstance(condition, Constant):
            taken = statement.then if condition.value else statement.orelse
            for inner in taken.statements:
                self._statement(inner, statements, known)
            self._replaced.update(zip(statement.outs, self.operands(taken.results), strict=True))
            return
        then = self._branch(statement.then, condition, True, known)
        orelse = self._branch(statement.orelse, condition, False, known)
        if self._cost(then) + self._cost(orelse) > _CHEAP:
            self._keep(If(statement.outs, condition, then, orelse), statements)
            return
        for inner in then.statements + orelse.statements:
            self._statement(inner, statements, known)
        results = zip(statement.outs, self.operands(then.results), self.operands(orelse.results), strict=True)
        for out, yes, no in results:
            self._replaced[out] = self._compute(out, Operator.SELECT, (condition, yes, no), statements, known)

    def _branch(self, block: Block, condition: Operand, holds: bool, known: ChainMap[Hashable, Variable]) -> Block:
        """A block that runs only where a condition is true, or only where it is false."""
        around, self._here = self._here, self._here.given(condition, holds)
        made = self.block(block, known.new_child())
        self._here = around
        return made

    def _cost(self, block: Block) -> int:
        """What it costs to evaluate a block always; more than `_CHEAP` if it may fail or loop."""
        total = all(isinstance(s, Compute) or (isinstance(s, Load) and s.inside) for s in block.statements)
        return work(block.statements, SPECULATED) if total else _CHEAP + 1

    def _keep(self, choice: If, statements: list[Statement]) -> None:
        """A conditional stays; results on which its branches agree do not go through it."""
        inside = {v for block in (choice.then, choice.orelse) for v in programs.bound(Function((), block))}
        pairs = list(zip(choice.outs, choice.then.results, choice.orelse.results, strict=True))
        kept = [i for i, (_, yes, no) in enumerate(pairs) if yes != no or yes in inside]
        self._replaced.update((out, yes) for out, yes, no in pairs if yes == no and yes not in inside)
        blocks = [_pick(block, kept) for block in (choice.then, choice.orelse)]
        statements.append(If(tuple([choice.outs[i] for i in kept]), choice.condition, *blocks))

    def _loop(self, statement: While, statements: list[Statement], known: ChainMap[Hashable, Variable]) -> None:
        initial = self.operands(statement.initial)
        condition = self.block(statement.condition, known.new_child())
        body = self.block(statement.body, known.new_child())
        if condition.results == (constant(BOOL, False),):
            self._replaced.update(zip(statement.outs, initial, strict=True))
            return
        statements.append(While(statement.outs, statement.parameters, initial, condition, body))


def _folded(out: Variable, operator: Operator, arguments: tuple[Operand, ...]) -> Constant | None:
    values = [argument.value for argument in arguments if isinstance(argument, Constant)]
    if len(values) < len(arguments):
        return None
    types = [operand_type(argument) for argument in arguments]
    if operator in ELEMENTARY and out.type.is_float:
        return None  # its last bits belong to a backend
    return constant(out.type, semantics.evaluate(operator, out.type, types, values))


def _pick(block: Block, wanted: Sequence[int]) -> Block:
    return Block(block.statements, tuple([block.results[i] for i in wanted]))


def _live_block(block: Block, wanted: Sequence[int]) -> Block:
    """The block that gives the results at `wanted`, and computes nothing else."""
    results = tuple([block.results[i] for i in wanted])
    needed: set[Operand] = set(results)
    kept: list[Statement] = []
    for statement in reversed(block.statements):
        live = _live(statement, needed)
        if live is not None:
            kept.append(live)
            needed.update(programs.operands(live))
            needed.update(*(_free(inner) for inner in programs.inner_blocks(live)))
    return Block(tuple(reversed(kept)), results)


def _free(block: Block) -> set[Operand]:
    """Every operand in a block and the blocks in it; those that are bound there do no harm, numbers being unique."""
    found: set[Operand] = set()
    for part in programs.blocks(Function((), block)):
        found.update(part.results)
        found.update(operand for statement in part.statements for operand in programs.operands(statement))
    return found


def _live(statement: Statement, needed: set[Operand]) -> Statement | None:
    match statement:
        case Compute(out):
            return statement if out in needed else None
        case Load(out, check=check):
            return statement if check or out in needed else None
        case If(outs, condition, then, orelse):
            wanted = [i for i, out in enumerate(outs) if out in needed]
            if not wanted:
                return None
            blocks = _live_block(then, wanted), _live_block(orelse, wanted)
            return If(tuple([outs[i] for i in wanted]), condition, *blocks)
        case While(outs, parameters, initial, condition, body):
            if needed.isdisjoint(outs):
                return None
            asked = _live_block(condition, range(1))
            return While(outs, parameters, initial, asked, _live_block(body, range(len(outs))))
        case _:
            assert_never(statement)


def _numbered(function: Function) -> Function:
    """Variables numbered in order: parameters, then as they are bound."""
    numbers: dict[Variable, Variable] = {}

    def bound(variable: Variable) -> Variable:
        return numbers.setdefault(variable, Variable(len(numbers), variable.type))

    def used(operand: Operand) -> Operand:
        return numbers[operand] if isinstance(operand, Variable) else operand

    parameters = tuple(map(bound, function.parameters))
    return Function(parameters, rewrite.block(function.body, used, bound, lambda array: array))
