"""Functions of all loops of a product, taken apart: what depends on some of these loops only is a statement of its own.

In: a plain nest. Out: the same, in which each function of the innermost loop begins with what others have found. Whoever writes
`A.generate((n, m, k), lambda ix: xs[i, k] * ys[k, j])` has one function of three indices, which loads two elements. As a
product it has two factors, each of two loops, and that is what tiles look for. Statements keep their order, so what is checked
is checked as before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from accel.errors import AccelInternalError
from accel.ir import mentions
from accel.ir.mentions import loops, pruned
from accel.ir.nodes import Level, LoopBody, Nest, OneToOne, Operand, Stream
from accel.ir.passes.plain import depends, maps
from accel.labelled import scalar
from accel.labelled.scalar import Block, Compute, Function, Load, Variable


def apart(nest: Nest) -> Nest:
    """The nest with such statements, or the nest itself if there are none."""
    found = depends(nest)
    around = frozenset(range(maps(loops(nest))))
    every = list(mentions.levels(nest))
    before = [new for statement in every[-1].before for new in _split(statement, found, around)]
    if len(before) == len(every[-1].before):
        return nest
    level = replace(every[-1], before=tuple(before))
    for outer in reversed(every[:-1]):
        assert outer.loop is not None, "only the innermost level has no loop"
        level = Level(outer.before, replace(outer.loop, body=level), outer.after)
    return replace(nest, body=level)


def _split(statement: LoopBody, found: Mapping[str, frozenset[int]], around: frozenset[int]) -> list[LoopBody]:
    """What becomes of a statement."""
    if not isinstance(statement, OneToOne) or not all(map(_may_move, statement.function.body.statements)):
        return [statement]
    whole = _of(statement.arguments, found) & around
    of = _dependences(statement, found, around)
    inner = statement.function.body.statements
    wanted = [
        each.out
        for each in inner
        if isinstance(each, Compute | Load)
        and of[each.out] < whole
        and _is_wanted(each.out, statement.function, of, whole)
    ]
    loads = [out for out in wanted if _loads(out, inner)]
    if not loads:
        return [statement]
    made: list[LoopBody] = []
    streams: dict[Variable, Stream] = {}
    for out in loads:
        streams[out] = Stream(f"{statement.outs[0].name}_p{len(streams)}", out.type)
        made.append(_part((out,), (streams[out],), statement, {v: s for v, s in streams.items() if v != out}))
    return [*made, _part(statement.function.body.results, statement.outs, statement, streams)]


def _may_move(statement: scalar.Statement) -> bool:
    """Whether it is no choice and no loop, and nothing behind it relies on its index."""
    return isinstance(statement, Compute) or (isinstance(statement, Load) and not statement.check)


def _of(operands: Sequence[Operand], found: Mapping[str, frozenset[int]]) -> frozenset[int]:
    nothing: frozenset[int] = frozenset()
    return nothing.union(*(found.get(each.name, nothing) for each in operands if isinstance(each, Stream)))


def _dependences(
    statement: OneToOne, found: Mapping[str, frozenset[int]], around: frozenset[int]
) -> Mapping[object, frozenset[int]]:
    """The loops around those that fold on which each variable of a statement's function depends."""
    pairs = zip(statement.function.parameters, statement.arguments, strict=True)
    of: dict[object, frozenset[int]] = {p: _of((argument,), found) & around for p, argument in pairs}
    nothing: frozenset[int] = frozenset()
    for each in statement.function.body.statements:
        match each:
            case Compute(out, _, some) | Load(out, _, some):
                of[out] = nothing.union(*(of.get(operand, nothing) for operand in some))
            case _:
                raise AccelInternalError("functions that are taken apart are straight")
    return of


def _is_wanted(out: Variable, function: Function, of: Mapping[object, frozenset[int]], whole: frozenset[int]) -> bool:
    """Whether something that depends on all loops needs what depends on some."""
    if out in function.body.results:
        return True
    users = [each for each in function.body.statements if isinstance(each, Compute | Load) and out in _operands(each)]
    return any(of[user.out] == whole for user in users)


def _operands(statement: Compute | Load) -> tuple[scalar.Operand, ...]:
    return statement.arguments if isinstance(statement, Compute) else statement.index


def _loads(out: Variable, statements: Sequence[scalar.Statement]) -> bool:
    """Whether what is bound comes of a load."""
    return any(isinstance(each, Load) for each in _slice((out,), statements, frozenset()))


def _slice(
    results: Sequence[scalar.Operand], statements: Sequence[scalar.Statement], given: frozenset[Variable]
) -> list[Compute | Load]:
    """The statements that results need, if some variables are given; loads that others rely on are among their statements'."""
    needed = {each for each in results if isinstance(each, Variable)} - given
    kept: list[Compute | Load] = []
    for each in reversed(statements):
        if isinstance(each, Compute | Load) and each.out in needed:
            kept.append(each)
            needed |= {operand for operand in _operands(each) if isinstance(operand, Variable)} - given
    return kept[::-1]


def _part(
    results: Sequence[scalar.Operand],
    outs: tuple[Stream, ...],
    statement: OneToOne,
    given: Mapping[Variable, Stream],
) -> OneToOne:
    """The statement that makes some results of a function, from what others give."""
    kept = _slice(results, statement.function.body.statements, frozenset(given))
    function = Function((*statement.function.parameters, *given), Block(tuple(kept), tuple(results)))
    return OneToOne(outs, *pruned(function, (*statement.arguments, *given.values())))
