"""What functions that branch compute alike for all columns, as statements of their own: once for vectors side by side.

In: a nest by columns. Out: the same, in which such functions of the loops of folds compute what differs between columns alone,
and what was taken out of them. Of functions that do not branch, compilers see that vectors side by side compute the same.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir import mentions
from accel.ir.mentions import pruned
from accel.ir.nodes import For, Level, LoopBody, OneToOne, Stream
from accel.labelled.scalar import Block, Compute, Function, If, Load, Statement, Variable, While
from accel.schedule.templates.columns import Columns

_BENDS = frozenset({Operator.MIN, Operator.MAX, Operator.MOD, Operator.REM, Operator.ABS, Operator.SELECT})
"""Operators on places after which reads may branch."""


def alike_in_lanes(found: Columns) -> tuple[Columns, Sequence[OneToOne]]:
    """The nest by columns with such statements, and these."""
    varying, folds, alike = found.varying(), list[For](), list[OneToOne]()

    def apart(statements: Sequence[LoopBody]) -> tuple[LoopBody, ...]:
        made = list[LoopBody]()
        for statement in statements:
            first, rest = _parts(statement, varying)
            if first is not None:
                alike.append(first)
                made.append(first)
            made.append(rest)
        return tuple(made)

    for loop in reversed(found.folds):
        level = Level(apart(loop.body.before), folds[0] if folds else None, apart(loop.body.after))
        folds.insert(0, replace(loop, body=level))
    if not alike:
        return found, ()
    last = replace(found.last, body=replace(found.last.body, loop=folds[0]))
    outer = tuple(last if loop is found.last else loop for loop in found.outer)
    return replace(found, outer=outer, last=last, folds=tuple(folds)), alike


def _branches(statement: Statement) -> bool:
    """Whether code for lanes branches at a statement, or at a read behind it."""
    match statement:
        case Compute(out, operator):
            return out.type is I64 and operator in _BENDS
        case Load():
            return statement.may_fail
        case If() | While():
            return True
        case _:
            assert_never(statement)


def _is_alike(statement: Compute | Load, known: Set[Variable]) -> bool:
    """Whether a statement computes or loads the same in all lanes, given what is the same."""
    operands = statement.arguments if isinstance(statement, Compute) else statement.index
    return all(operand in known for operand in operands if isinstance(operand, Variable))


def _parts(statement: LoopBody, varying: Set[str]) -> tuple[OneToOne | None, LoopBody]:
    """What a statement does alike in all lanes, if it is worth a statement of its own; and the rest."""
    if not isinstance(statement, OneToOne) or statement.when is not None:
        return None, statement
    function, pairs = statement.function, zip(statement.function.parameters, statement.arguments, strict=True)
    known = {p for p, a in pairs if not (isinstance(a, Stream) and a.name in varying)}
    if len(known) == len(function.parameters):
        return None, statement
    alike, rest = list[Compute | Load](), list[Statement]()
    for each in function.body.statements:
        if isinstance(each, Compute | Load) and _is_alike(each, known):
            known.add(each.out)
            alike.append(each)
        else:
            rest.append(each)
    if not any(map(_branches, rest)):
        return None, statement
    body = Block(tuple(rest), function.body.results)
    asked = set(mentions.function_operands(Function((), body)))
    given = tuple(each.out for each in alike if each.out in asked)
    if not given:
        return None, statement
    outs = tuple(Stream(f"{statement.outs[0].name}_a{number}", variable.type) for number, variable in enumerate(given))
    first = Function(function.parameters, Block(tuple(alike), given))
    called = Function((*function.parameters, *given), body)
    return (
        OneToOne(outs, *pruned(first, statement.arguments)),
        OneToOne(statement.outs, *pruned(called, (*statement.arguments, *outs))),
    )
