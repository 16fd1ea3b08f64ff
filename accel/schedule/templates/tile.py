"""Tiles: nests that fold over what two loops share, as matrix products do: what is packed, what tiles do, what follows.

A nest `for … for i for j for k` whose innermost loop folds, and in which some of what a step needs does not depend on j, and
some not on i, is computed tile by tile: a few rows i times a few vectors of columns j, whose partial results stay in registers
while k runs. What depends on i and k alone, or on j and k, is computed once, when it is packed; what depends on the results
runs on the finished tile. The order in which k is visited is that of lanes with reversed bits, so that partial results which
join follow each other, see `accel/schedule/nodes.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from accel.ast.tree.types import BOOL
from accel.ir import flow, mentions
from accel.ir.nodes import (
    For,
    LoopBody,
    ManyToOne,
    Nest,
    OneToOne,
    Read,
    Remap,
    State,
    Stream,
    Write,
)
from accel.ir.passes.digits import Digits, digits
from accel.labelled.array import Array
from accel.labelled.meaning.order import lanes
from accel.schedule.axes import dependence
from accel.schedule.legality import straight
from accel.schedule.rows_read import rows_read, rows_that_may_join
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Merged:
    """What finds the indices of the loops for which one stands.

    joins: what a side finds where the innermost of them counts on beyond its end is what it would find in the next turn of the
    loop around it, if rows of these arrays are as long as it counts, and lie one behind the other; None if it may be something
    else.
    """

    digits: Digits
    joins: tuple[Array, ...] | None


@dataclass(frozen=True, slots=True)
class Side:
    """What steps need of one of the two loops.

    streams: what crosses into the tile, which depends on `loop`, the fold and the loops around alone. statements: what makes
    it. along_fold: whether memory is read along the fold's loop, rather than along `loop`; by_extents: along either, so the
    longer rows are better. own, of_fold: the loops for which `loop`, or the fold's, stands, if the side needs their indices.
    """

    loop: For
    streams: tuple[Stream, ...]
    statements: tuple[LoopBody, ...]
    along_fold: bool
    by_extents: bool
    own: Merged | None
    of_fold: Merged | None


@dataclass(frozen=True, slots=True)
class Tile:
    """A nest as tiles.

    batch: the loops around. inside: what each step needs of all three loops. results: what runs where the folds are complete;
    around: what these and the folds' seeds need of the loops around. order_lanes: how many lanes docs/order.md gives the
    folds; 1 if any order serves.
    """

    batch: tuple[For, ...]
    rows: Side
    columns: Side
    fold: For
    inside: tuple[OneToOne, ...]
    steps: tuple[ManyToOne, ...]
    around: tuple[LoopBody, ...]
    results: tuple[LoopBody, ...]
    order_lanes: int

    def turned(self) -> Tile:
        """The same with rows as columns, for nests of few columns: nothing that a tile says of the two sides differs."""
        return replace(self, rows=self.columns, columns=self.rows)


def tile(nest: Nest) -> Tile | None:
    """How the nest is computed in tiles; None if it cannot be."""
    loops = mentions.loops(nest)
    if len(loops) < 3 or not _is_plain(nest, loops):
        return None
    *batch, row, column, fold = loops
    width = _order_lanes(fold.states)
    body = [*fold.body.before, *fold.body.after]
    steps = tuple(s for s in body if isinstance(s, ManyToOne))
    if width is None or {step.state for step in steps} != {state.name for state in fold.states}:
        return None
    found = dependence(nest)
    every = {len(batch), len(batch) + 1, len(batch) + 2}
    whole = [s for s in body if not isinstance(s, ManyToOne) and every <= _depends(s, found)]
    inside = tuple(s for s in whole if isinstance(s, OneToOne))
    if len(inside) != len(whole) or not all(straight(s.function) for s in inside):
        return None
    before = [s for level in list(mentions.levels(nest))[1:] for s in level.before]
    crossing = _crossing([*inside, *steps], inside)
    of_columns = tuple(s for s in crossing if len(batch) + 1 in found[s.name])
    of_rows = tuple(s for s in crossing if s not in of_columns)
    if any(len(batch) in found[stream.name] for stream in of_columns):
        return None
    if not _varies(of_rows, found, len(batch)) or not _varies(of_columns, found, len(batch) + 1):
        return None
    if any(stream.type is BOOL for stream in crossing):
        return None
    indices = {loop.index.name for loop in loops}
    rows, columns = (
        _side(loop, streams, before, indices, fold) for loop, streams in ((row, of_rows), (column, of_columns))
    )
    seeds = [stream for state in fold.states for stream in flow.state_needs(state)]
    after = column.body.after
    needed = [*seeds, *(stream for statement in after for stream in flow.needed(statement))]
    around = _closure(needed, [s for s in before if s not in body])
    return Tile(tuple(batch), rows, columns, fold, inside, steps, tuple(around), after, width)


def _is_plain(nest: Nest, loops: Sequence[For]) -> bool:
    """Whether loops run upwards, as often as is known at launch, only the innermost one carries something, and nothing is
    guarded."""
    if not all(loop.counts_up for loop in loops):
        return False
    *outer, column, fold = loops
    if any(loop.states for loop in (*outer, column)) or not fold.states or nest.body.after:
        return False
    if any(loop.body.after for loop in outer):
        return False
    statements = [s for loop in loops for s in (*loop.body.before, *loop.body.after)]
    results = [s for s in statements if isinstance(s, Write)]
    plain = all(isinstance(s, OneToOne | ManyToOne | Read | Remap | Write) and s.when is None for s in statements)
    return plain and all(s in column.body.after for s in results)


def _order_lanes(states: Sequence[State]) -> int | None:
    """The lanes that all folds have in common; None if there are none such, or nothing neutral to begin lanes with."""
    widths = set()
    for state in states:
        monoid = state.monoid
        if state.running or state.when is not None or monoid.neutral is None or not monoid.commutes:
            return None
        if not monoid.exact:
            widths.add(lanes([final.type for final in state.finals]))
    return None if len(widths) > 1 else widths.pop() if widths else 1


def _depends(statement: LoopBody, found: Mapping[str, frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*(found[stream.name] for stream in flow.needed(statement)))


def _crossing(readers: Iterable[LoopBody], inside: Sequence[LoopBody]) -> list[Stream]:
    """What the tile's statements read that none of them makes, each once."""
    made = {stream for statement in inside for stream in flow.made(statement)}
    read = [stream for statement in readers for stream in flow.needed(statement)]
    return [stream for stream in dict.fromkeys(read) if stream not in made]


def _varies(streams: Sequence[Stream], found: Mapping[str, frozenset[int]], depth: int) -> bool:
    return any(depth in found[stream.name] for stream in streams)


def _side(loop: For, streams: tuple[Stream, ...], before: list[LoopBody], indices: set[str], fold: For) -> Side:
    made = tuple(_closure([stream for stream in streams if stream.name not in indices], before))
    own, of_fold = (_merged(each, made, streams) for each in (loop, fold))
    last = [
        each if found is None else found.digits.streams[-1]
        for each, found in ((loop.index, own), (fold.index, of_fold))
    ]
    rows = rows_read(made, [{loop.index, last[0]}, {fold.index, last[1]}])
    along_loop, along_fold = (sum(each in row for row in rows) for each in (0, 1))
    either = along_loop == along_fold > 0 and (own is not None or of_fold is not None)
    return Side(loop, streams, made, along_fold > along_loop, either, own, of_fold)


def _merged(loop: For, statements: Sequence[LoopBody], streams: Sequence[Stream]) -> Merged | None:
    """The loops for which one stands, if statements divide its index."""
    found = next((each for statement in statements if (each := digits(statement, loop.index))), None)
    if found is None:
        return None
    others = [statement for statement in statements if statement != found.statement]
    joins = None
    if not any(loop.index in flow.needed(statement) for statement in others):
        joins = rows_that_may_join(others, streams, *found.streams[-2:])
    return Merged(found, None if joins is None else tuple(joins))


def _closure(streams: Iterable[Stream], statements: Sequence[LoopBody]) -> list[LoopBody]:
    """The statements, in their order, without which the streams would not be there."""
    needed = set(streams)
    found = []
    for statement in reversed(statements):
        if needed.intersection(flow.made(statement)):
            needed.update(flow.needed(statement))
            found.append(statement)
    return found[::-1]
