"""Folds of all that several loops visit, as loops over positions: a nest by columns then has one loop for each fold.

In: the loops of folds, from the outermost on. Out: the same, in which loops that step the states of one around them are one
with that: its index is the position among all that they visit, of which the indices of these loops are found by divisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir.nodes import For, Level, LoopDirection, OneToOne, Stream, is_known
from accel.labelled.scalar import Block, Compute, Function, Variable
from accel.labelled.scalar import Operand as ScalarOperand
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Positions:
    """A loop over positions stands for `loops`, outermost first. size: makes its extent."""

    index: Stream
    loops: tuple[For, ...]
    size: OneToOne


def in_one_loop(last: For, folds: Sequence[For]) -> tuple[For, tuple[For, ...], tuple[Positions, ...]] | None:
    """The loop around the folds, these, and which of them are over positions; None if something stands between such loops."""
    groups = list[list[For]]()
    for loop in folds:
        if loop.states:
            groups.append([])
        if not groups:
            return None
        groups[-1].append(loop)
    if any(loop.body.after for group in groups for loop in group[:-1]):
        return None
    if all(len(group) == 1 for group in groups):
        return last, tuple(folds), ()
    found, positions = list[For](), list[Positions]()
    for group in reversed(groups):
        body = _around(group[-1].body, found, positions)
        if len(group) == 1:
            found.insert(0, replace(group[0], body=body))
            continue
        each = _positions(group)
        before = (_division(each), *(statement for loop in group[:-1] for statement in loop.body.before), *body.before)
        level = Level(before, body.loop, body.after)
        found.insert(0, For(each.index, each.size.outs[0], LoopDirection.UP, group[0].states, level))
        positions.insert(0, each)
    return replace(last, body=_around(last.body, found, positions)), tuple(found), tuple(positions)


def _around(level: Level, found: Sequence[For], positions: Sequence[Positions]) -> Level:
    """The level, around the first loop of some; its extent is found before that, if it is one over positions."""
    if not found:
        return level
    sizes = [each.size for each in positions if each.index == found[0].index]
    return Level((*level.before, *sizes), found[0], level.after)


def _positions(group: Sequence[For]) -> Positions:
    """Those of some loops."""
    name = "*".join(loop.index.name for loop in group)
    statements = list[Compute]()
    whole = _extent(group[0])
    for loop in group[1:]:
        whole = _computed(statements, Operator.MUL, whole, _extent(loop), len(statements))
    function = Function((), Block(tuple(statements), (whole,)))
    return Positions(Stream(name, I64), tuple(group), OneToOne((Stream(f"extent of {name}", I64),), function, ()))


def _division(positions: Positions) -> OneToOne:
    """The indices of the loops, of a position."""
    rest: ScalarOperand = Variable(0, I64)
    statements, found = list[Compute](), list[ScalarOperand]()
    for loop in reversed(positions.loops[1:]):
        extent = _extent(loop)
        found.append(_computed(statements, Operator.REM, rest, extent, 1 + len(statements)))
        rest = _computed(statements, Operator.QUOT, rest, extent, 1 + len(statements))
    function = Function((Variable(0, I64),), Block(tuple(statements), (rest, *reversed(found))))
    return OneToOne(tuple(loop.index for loop in positions.loops), function, (positions.index,))


def _computed(
    statements: list[Compute], operator: Operator, left: ScalarOperand, right: ScalarOperand, number: int
) -> Variable:
    statements.append(Compute(Variable(number, I64), operator, (left, right)))
    return statements[-1].out


def _extent(loop: For) -> ScalarOperand:
    assert is_known(loop.extent), "the extents of folds by columns are known at launch"
    return loop.extent
