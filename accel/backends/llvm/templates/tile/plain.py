"""Extremes in tiles of plain numbers: what is packed is looked at once, so that no step need care for NaN and -0.0.

The lesser of two floats is a NaN if one of them is, and -0.0 rather than 0.0: processors take one instruction for a comparison
and a choice, and four for that. In: a tile. Out: how its folds join where no element is a NaN or -0.0, and what its packs must
not hold for that to be so. Infinities are left to one side where they can be: they stand for "no edge" in products of (min, +).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Final, TypeAlias

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F16, ScalarType
from accel.ir.nodes import State, Stream
from accel.labelled.scalar import (
    Block,
    Compute,
    Constant,
    Function,
    Operand,
    Statement,
    Variable,
    constant,
    operand_type,
)
from accel.schedule.templates.tile import Tile
from accel.support.dataclass import dataclass


class Odd(Enum):
    """A float that some operator does not treat like others."""

    NAN = "NaN"
    HIGH = "inf"
    LOW = "-inf"
    ZERO = "-0.0"


Odds: TypeAlias = frozenset[Odd]
"""Which of them a value may be."""

NONE: Final[Odds] = frozenset()
EVERY: Final = frozenset(Odd)
_INFINITE: Final = frozenset({Odd.HIGH, Odd.LOW})
_WRONG: Final = frozenset({Odd.NAN, Odd.ZERO})
"""What a comparison and a choice get wrong."""

_ALLOWED: Sequence[Odds] = (frozenset({Odd.HIGH}), frozenset({Odd.LOW}), NONE)
"""What packs may hold, besides plain numbers."""

_LESS: Mapping[Operator, Operator] = {Operator.MIN: Operator.LT, Operator.MAX: Operator.GT}


@dataclass(frozen=True, slots=True)
class Plain:
    """merges: how the folds of this name join, where packs hold no odd float but those `allowed`."""

    merges: Mapping[str, Function]
    allowed: Odds


def plain(tile: Tile) -> Plain | None:
    """How the tile's folds join if its packs are plain; None if that is no faster."""
    if tile.order_lanes > 1 or not any(_extremes(state) for state in tile.fold.states):
        return None
    for allowed in _ALLOWED:
        elements = _elements(tile, allowed)
        if all(not _WRONG & elements[state.name][k] for state in tile.fold.states for k in _extremes(state)):
            return Plain({state.name: _compared(state.merge) for state in tile.fold.states}, allowed)
    return None


def _extremes(state: State) -> list[int]:
    """The components that are a least or greatest float."""
    operators = enumerate(zip(state.monoid.operators or (), state.finals, strict=False))
    return [k for k, (operator, final) in operators if operator in _LESS and _is_looked_at(final.type)]


def _is_looked_at(kind: ScalarType) -> bool:
    return kind.is_float and kind is not F16


def _compared(merge: Function) -> Function:
    """The same for plain numbers, by comparisons and choices."""
    number = 1 + max(
        v.number for v in (*merge.parameters, *(s.out for s in merge.body.statements if isinstance(s, Compute)))
    )
    statements: list[Statement] = []
    for statement in merge.body.statements:
        if isinstance(statement, Compute) and statement.operator in _LESS and _is_looked_at(statement.out.type):
            less = Variable(number + len(statements), BOOL)
            statements.append(Compute(less, _LESS[statement.operator], statement.arguments))
            statement = Compute(statement.out, Operator.SELECT, (less, *statement.arguments))
        statements.append(statement)
    return replace(merge, body=Block(tuple(statements), merge.body.results))


def _elements(tile: Tile, allowed: Odds) -> Mapping[str, Sequence[Odds]]:
    """For each state what the components of an element may be."""
    sides = (*tile.rows.streams, *tile.columns.streams)
    known: dict[Stream, Odds] = {stream: allowed if _is_looked_at(stream.type) else EVERY for stream in sides}

    def of(operand: Operand | Stream) -> Odds:
        return known.get(operand, EVERY) if isinstance(operand, Stream) else _operand(operand, {})

    for statement in tile.inside:
        known.update(zip(statement.outs, results(statement.function, map(of, statement.arguments)), strict=True))
    return {step.state: [of(value) for value in step.values] for step in tile.steps}


def results(function: Function, arguments: Iterable[Odds]) -> list[Odds]:
    """What the results of a function may be."""
    known = dict(zip(function.parameters, arguments, strict=True))
    for statement in function.body.statements:
        if isinstance(statement, Compute):
            known[statement.out] = _computed(statement, known)
    return [_operand(result, known) for result in function.body.results]


def _operand(operand: Operand, known: Mapping[Variable, Odds]) -> Odds:
    match operand:
        case Variable():
            return known.get(operand, EVERY)
        case Constant(kind):
            return _number(operand) if _is_looked_at(kind) else EVERY
        case _:
            return EVERY


def _number(given: Constant) -> Odds:
    """What a constant is."""
    odd = {constant(given.type, float(each.value)).bits: each for each in (Odd.HIGH, Odd.LOW, Odd.ZERO)}
    if given.value != given.value:
        return frozenset({Odd.NAN})
    return frozenset({odd[given.bits]}) if given.bits in odd else NONE


def _computed(statement: Compute, known: Mapping[Variable, Odds]) -> Odds:
    """What an operator gives; any float, where nothing is known of it."""
    if not _is_looked_at(statement.out.type):
        return EVERY
    arguments = statement.arguments
    odds = [_operand(argument, known) for argument in arguments]
    match statement.operator:
        case Operator.ADD:
            return _sum(*odds)
        case Operator.SUB:
            return _sum(odds[0], _negated(odds[1]))
        case Operator.NEG:
            return _negated(odds[0])
        case Operator.MUL if arguments[0] == arguments[1]:
            return odds[0] & {Odd.NAN} | {Odd.HIGH}
        case Operator.ABS:
            return odds[0] & {Odd.NAN} | ({Odd.HIGH} if odds[0] & _INFINITE else NONE)
        case Operator.MIN | Operator.MAX:
            return odds[0] | odds[1]
        case Operator.SELECT:
            return odds[1] | odds[2]
        case Operator.CAST if operand_type(arguments[0]).is_integer:
            return NONE
        case _:
            return EVERY


def _negated(odds: Odds) -> Odds:
    """Any number may be 0.0."""
    turned = {Odd.HIGH: Odd.LOW, Odd.LOW: Odd.HIGH}
    return frozenset(turned.get(odd, odd) for odd in odds) | {Odd.ZERO}


def _sum(left: Odds, right: Odds) -> Odds:
    """Of large numbers infinite; -0.0 of two such only; a NaN of two infinities of different signs."""
    opposite = any({one, other} == _INFINITE for one in left for other in right)
    return (left | right) & {Odd.NAN} | _INFINITE | left & right & {Odd.ZERO} | ({Odd.NAN} if opposite else NONE)
