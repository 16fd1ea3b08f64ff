"""Bounds that are known once extents are: loads at the indices of loops alone, as reads.

A function that loads `ys[j, k]`, where loops number j and k, checks each index, since nothing says that `ys` is as large as
these loops are long. But whether one of them is out of bounds is known before anything runs. In: a nest. Out: the same, in
which such loads are reads that check nothing, and what has to hold of extents for that; where it does not hold, the nest is an
error at one of its own checks. Templates look for reads: to them it does not matter then how an index was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from accel.ir import mentions
from accel.ir.mentions import pruned
from accel.ir.nodes import Level, LoopBody, Nest, OneToOne, Operand, Read, Stream
from accel.labelled.array import Extent
from accel.labelled.scalar import Block, Constant, Function, Load, Variable

Extents: TypeAlias = Mapping[Operand, "Extent | Constant"]
"""How many iterations the loops around a statement have, by their indices, outermost first."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Each number below `extent` is to be less than `limit`, unless one of the loops around has no iterations.

    around: how many these have.
    """

    extent: Extent | Constant
    limit: Extent
    around: tuple[Extent | Constant, ...]


def with_reads(nest: Nest) -> tuple[Nest, tuple[Bound, ...]]:
    """The nest with such reads, and their bounds, each once."""
    bounds: dict[Bound, None] = {}
    levels, around = list[tuple[Level, Extents]](), dict[Operand, Extent | Constant]()
    for level in mentions.levels(nest):
        levels.append((level, dict(around)))
        if level.loop is not None:
            if not isinstance(level.loop.extent, Extent | Constant):
                return nest, ()
            around[level.loop.index] = level.loop.extent
    body: Level | None = None
    for level, known in reversed(levels):
        before, after = (
            tuple(new for statement in some for new in _with_reads(statement, known, bounds))
            for some in (level.before, level.after)
        )
        body = Level(
            before, level.loop if level.loop is None or body is None else replace(level.loop, body=body), after
        )
    assert body is not None, "a nest has a level"
    return replace(nest, body=body), tuple(bounds)


def _with_reads(statement: LoopBody, around: Extents, bounds: dict[Bound, None]) -> Iterator[LoopBody]:
    """What becomes of a statement. Adds the bounds of its reads."""
    if not isinstance(statement, OneToOne) or statement.when is not None:
        yield statement
        return
    function = statement.function
    given = dict(zip(function.parameters, statement.arguments, strict=True))
    reads: dict[Variable, Read] = {}
    for load in function.body.statements:
        if not isinstance(load, Load) or not load.index:
            continue
        place = tuple(given[each] for each in load.index if isinstance(each, Variable) and given.get(each) in around)
        if len(place) == len(load.index):
            stream = Stream(f"{statement.outs[0].name}_r{len(reads)}", load.out.type)
            reads[load.out] = Read(stream, load.array, place)
            pairs = [] if load.inside else zip(place, load.array.shape, strict=True)
            every = tuple(around.values())
            bounds.update(
                {Bound(around[index], limit, every): None for index, limit in pairs if around[index] != limit}
            )
    kept = tuple(each for each in function.body.statements if not isinstance(each, Load) or each.out not in reads)
    if not kept and [*reads] == [*function.body.results]:
        yield from (replace(read, out=out) for read, out in zip(reads.values(), statement.outs, strict=True))
        return
    yield from reads.values()
    called = Function((*function.parameters, *reads), Block(kept, function.body.results))
    arguments = (*statement.arguments, *(read.out for read in reads.values()))
    yield OneToOne(statement.outs, *pruned(called, arguments)) if reads else statement
