"""What a fold's elements all load at the same place, as `x[i, 0]` beside `y[k, 0]`: it is loaded before, once for each result.

In: a nest by columns. Out: the same, in which functions of the innermost level load nothing that only the loops around decide.
Such loads may be gathers, which no pass of LLVM that runs moves out of a loop. There is something to fold, so what is loaded is
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from accel.ir import flow
from accel.ir.mentions import pruned
from accel.ir.nodes import For, Level, LoopBody, OneToOne, Stream
from accel.labelled import scalar
from accel.labelled.scalar import Block, Compute, Function, Load, Variable
from accel.schedule.templates.columns import Columns, inside


def loaded_before(found: Columns) -> Columns:
    """The nest by columns, with such loads before all folds."""
    last, given = found.last, list[OneToOne]()
    inner = last.body.loop
    assert inner is not None, "there are folds inside"
    body = _rewritten(inner.body, _made_inside(inner), given)
    if not given:
        return found
    before = (*last.body.before, *given)
    made = replace(last, body=replace(last.body, before=before, loop=replace(inner, body=body)))
    outer = tuple(made if loop is last else loop for loop in found.outer)
    return replace(found, outer=outer, last=made, folds=tuple(_inside(made)))


def _inside(loop: For) -> Iterator[For]:
    """The loops inside of one."""
    inner = loop.body.loop
    while inner is not None:
        yield inner
        inner = inner.body.loop


def _made_inside(loop: For) -> frozenset[str]:
    """The streams of a loop, and of those inside of it."""
    found = {stream.name for statement in inside(loop.body) for stream in flow.made(statement)}
    for each in (loop, *_inside(loop)):
        found.add(each.index.name)
        found.update(final.name for state in each.states for final in state.finals)
    return frozenset(found)


def _rewritten(level: Level, own: Set[str], given: list[OneToOne]) -> Level:
    """The level, and those in it. own: the streams that are made in them. given: gains what is made before."""
    if level.loop is not None:
        body = _rewritten(level.loop.body, own, given)
        return replace(level, loop=replace(level.loop, body=body))
    before, after = (tuple(_without(s, own, given) for s in some) for some in (level.before, level.after))
    return replace(level, before=before, after=after)


def _without(statement: LoopBody, own: Set[str], given: list[OneToOne]) -> LoopBody:
    """A statement without such loads."""
    if not isinstance(statement, OneToOne) or statement.when is not None:
        return statement
    function, pairs = statement.function, zip(statement.function.parameters, statement.arguments, strict=True)
    known = {p for p, a in pairs if not (isinstance(a, Stream) and a.name in own)}
    made: list[Compute | Load] = []
    for each in function.body.statements:
        if isinstance(each, Compute):
            operands = each.arguments
        elif isinstance(each, Load) and each.inside:
            operands = each.index
        else:
            continue
        if all(operand in known for operand in operands if isinstance(operand, Variable)):
            known.add(each.out)
            made.append(each)
    loads = [each for each in made if isinstance(each, Load)]
    if not loads:
        return statement
    outs = tuple(Stream(f"{statement.outs[0].name}_b{number}", load.out.type) for number, load in enumerate(loads))
    results = tuple(load.out for load in loads)
    first = Function(function.parameters, Block(_needed(made, set(results)), results))
    given.append(OneToOne(outs, *pruned(first, statement.arguments)))
    rest = tuple(each for each in function.body.statements if each not in loads)
    called = Function((*function.parameters, *results), Block(rest, function.body.results))
    return OneToOne(statement.outs, *pruned(called, (*statement.arguments, *outs)))


def _needed(made: list[Compute | Load], wanted: set[Variable]) -> tuple[scalar.Statement, ...]:
    """Those of some statements that others need, or whose values are wanted."""
    found: list[scalar.Statement] = []
    for each in reversed(made):
        if each.out in wanted:
            operands = each.index if isinstance(each, Load) else each.arguments
            wanted.update(operand for operand in operands if isinstance(operand, Variable))
            found.append(each)
    return tuple(reversed(found))
