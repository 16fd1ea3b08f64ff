"""Folds down columns: vector lanes across a map loop whose index is the adjacent one of what the fold reads.

In: a nest. Out: which of its loops runs in lanes, and which folds run inside of it, if memory is visited along rows that way,
or folds are short; None where rows of the innermost loop are as good, or where a statement stands in the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir import flow, mentions
from accel.ir.nodes import (
    For,
    Level,
    LoopBody,
    LoopDirection,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Operand,
    Read,
    Remap,
    Scatter,
    State,
    Stream,
    Within,
    Write,
    is_known,
)
from accel.labelled import scalar
from accel.labelled.meaning.order import BLOCK, lanes
from accel.labelled.scalar import Constant
from accel.schedule.legality import any_order, in_lanes_of_order, in_order, straight
from accel.schedule.templates.cpu.merged_folds import Positions, in_one_loop
from accel.support.dataclass import dataclass

LONGEST_ROW = 63
"""Elements of the longest row that is folded so where memory does not ask for it, and neighbouring results lie apart: windows,
as of `x[2 * i + k]` over k. Rows of more are as fast along themselves. Of windows as of `x[i + k]`, and of what is computed of
indices, it is all of a block."""


@dataclass(frozen=True, slots=True)
class Columns:
    """A nest whose loop `lanes` runs in vectors.

    outer: the map loops around it, outermost first; their iterations are independent. folds: the loops inside of it, whose
    states are folded in each lane by itself. last: the innermost map loop, whose statements are those of each lane; `lanes`
    itself, unless loops were exchanged. longest: how many elements a fold may have, if rows of more are as fast. across: rows
    of memory stream by, whatever `longest` says. positions: the folds that stand for several loops of the nest. `lanes` may
    have states, which fold what columns come to; then it is the outermost loop. Where segments are folded, the loop over these
    is one of `outer`: all columns have the same ones.
    """

    outer: tuple[For, ...]
    lanes: For
    last: For
    folds: tuple[For, ...]
    longest: int | None
    across: bool
    positions: tuple[Positions, ...]

    def visited(self, fold: For) -> tuple[For, ...]:
        """The nest's loops for which a fold stands, outermost first."""
        return next((each.loops for each in self.positions if each.index == fold.index), (fold,))

    @property
    def segments(self) -> bool:
        """Whether a fold is that of a segment: the loops around it find out how many elements it has."""
        return not all(is_known(loop.extent) for fold in self.folds for loop in self.visited(fold))

    def varying(self) -> frozenset[str]:
        """The streams that differ between lanes; what is folded does."""
        finals = [final.name for loop in self.folds for state in loop.states for final in state.finals]
        return dependent([self.lanes.index.name, *finals], self.last.body)


def columns(nest: Nest) -> Columns | None:
    """The nest by columns, if it suits."""
    loops = mentions.loops(nest)
    maps = next((depth for depth, loop in enumerate(loops) if loop.states), len(loops)) or 1
    around, folds = list(loops[:maps]), loops[maps:]
    if not around or not folds or nest.counts or nest.in_place:
        return None
    if not all(loop.counts_up for loop in around) or any(loop.body.after for loop in around[:-1]):
        return None
    found_out = not all(loop.counts_up for loop in folds)
    if found_out and (len(folds) > 1 or folds[0].direction is not LoopDirection.UP or around[0].states):
        return None
    merged = in_one_loop(around[-1], folds)
    if merged is None:
        return None
    around[-1], folds, positions = merged
    if not all(map(_folds_by_itself, folds)):
        return None
    if around[0].states and not _folds_columns(around[0], folds):
        return None
    if len(folds) > 1 and any(in_order(state) for loop in folds for state in loop.states):
        return None
    for place in range(maps - 1, -1, -1):
        if any(loop.body.before for loop in around[place:-1]):
            break
        last = around[-1]
        reading = _reading(around[place], last, folds)
        if found_out and not (reading and reading.across and _shares_segments(around[place], last, folds)):
            continue
        if reading is not None and not (reading.across and reading.beside):
            if not reading.across and any(map(in_order, folds[-1].states)):
                return None
            longest: int | None = BLOCK
            if not around[place].states and (reading.apart or (reading.across and not reading.windows)):
                longest = None if reading.across else LONGEST_ROW
            outer, across = (*around[:place], *around[place + 1 :]), reading.across and not around[place].states
            return Columns(outer, around[place], last, folds, longest, across, positions)
    return None


def _shares_segments(loop: For, last: For, folds: Sequence[For]) -> bool:
    """Whether all iterations of a loop, which is not that over the segments, fold the same ones."""
    varying = dependent([loop.index.name], last.body)
    return not any(isinstance(each.extent, Stream) and each.extent.name in varying for each in folds)


def widths(found: Columns) -> list[int]:
    """Bytes of the elements that are folded, read and written."""
    every = (found.lanes, *found.folds)
    folded = [final.type.bytes for loop in every for state in loop.states for final in state.finals]
    return folded + [s.array.element.bytes for s in inside(found.last.body) if isinstance(s, Read | Write)]


def _folds_by_itself(loop: For) -> bool:
    """Whether the loop's states are stepped by its own statements alone; those that are combined in an order have equally many
    lanes of it."""
    ordered = [state for state in loop.states if not state.monoid.exact]
    orders = {(in_order(state), lanes([final.type for final in state.finals])) for state in ordered}
    return bool(loop.states) and len(orders) <= 1 and _steps_its_own(loop)


def _steps_its_own(loop: For) -> bool:
    """Whether the loop's states are stepped by its own statements, once an iteration, and may be in lanes."""
    statements = [*loop.body.before, *loop.body.after]
    steps = {s.state: s for s in statements if isinstance(s, ManyToOne)}
    if any(isinstance(s, Scatter) for s in statements) or set(steps) != {state.name for state in loop.states}:
        return False
    if len(steps) < sum(isinstance(s, ManyToOne) for s in statements):
        return False
    return all(_in_lanes(state, steps[state.name]) for state in loop.states)


def _folds_columns(loop: For, folds: Sequence[For]) -> bool:
    """Whether a loop folds what columns come to in lanes of its own: in those of the order, or in any order. Columns whose
    elements are combined one after the other wait in rows, one for all columns of a strip, which is not written for this."""
    joins = all(any_order(state) or in_lanes_of_order(state) for state in loop.states)
    others = any(in_order(state) for each in folds for state in each.states)
    return joins and _steps_its_own(loop) and not others


def _in_lanes(state: State, step: ManyToOne) -> bool:
    """Whether every lane has an element at every step, or may leave some out without losing count of them."""
    always = step.when is None or (state.monoid.exact and state.initial is not None)
    known = in_order(state) or (state.monoid.neutral is not None and state.monoid.commutes)
    return always and known and straight(state.merge) and not state.running and state.when is None


def runs_along(loop: For, last: For, folds: Sequence[For]) -> bool:
    """Whether what the folds read and write, and what differs between iterations of a loop, lies along that loop only."""
    reading = _reading(loop, last, folds)
    return reading is not None and reading.across and not reading.windows and not reading.beside


@dataclass(frozen=True, slots=True)
class _Reading:
    """How memory lies along a loop. across: folds go across that. windows: folds go along it as well, as in `x[i + k]`. apart:
    some windows begin further from each other than one element. beside: something is read that is the same for all that is
    folded, but not adjacent, as of `x[i, 0]`."""

    across: bool
    windows: bool
    apart: bool
    beside: bool


def _reading(loop: For, last: For, folds: Sequence[For]) -> _Reading | None:
    """How it does for what the folds read and write, and what differs between iterations of the loop; None if it does not."""
    varying = dependent([loop.index.name], last.body)
    folded = dependent([each.index.name for each in folds], last.body)
    across = windows = apart = beside = False
    for statement in inside(folds[0].body):
        for places in _accesses(statement, loop.index.name, varying, folded):
            *others, end = places or [_FIXED]
            if not any(place.varies for place in places):
                continue
            if any(place.varies for place in others) and not any(place.folds for place in places):
                beside = True
                continue
            if any(place.varies for place in others) or not end.varies or (end.folds and end.step is None):
                return None
            windows = windows or end.folds
            apart = apart or (end.folds and end.step not in (-1, 1))
            across = across or any(place.folds for place in others)
    return _Reading(across, windows, apart, beside)


@dataclass(frozen=True, slots=True)
class _Place:
    """What stands in one dimension of an index: how far it moves from lane to lane, and whether it differs between what is
    folded.

    step: None if it moves otherwise than by a number that is known. Where it is bent, by a clamp say, it does so in most lanes.
    """

    step: int | None
    folds: bool

    @property
    def varies(self) -> bool:
        """Whether it differs between lanes."""
        return self.step != 0


_FIXED = _Place(0, folds=False)


def _accesses(statement: LoopBody, lanes: str, varying: Set[str], folded: Set[str]) -> Iterator[list[_Place]]:
    """The indices at which a statement reads or writes, its functions' loads included; `lanes` is the index of the lanes."""

    def place(operand: Operand) -> _Place:
        if not isinstance(operand, Stream):
            return _FIXED
        step = 1 if operand.name == lanes else None if operand.name in varying else 0
        return _Place(step, operand.name in folded)

    match statement:
        case Read(index=index) | Write(index=index):
            yield [place(operand) for operand in index]
        case OneToOne(function=function, arguments=arguments) | OneToMaybe(function=function, arguments=arguments):
            yield from _loads(function, [place(argument) for argument in arguments])
        case ManyToOne() | Within() | Remap() | Scatter():
            pass
        case _:
            assert_never(statement)


def _loads(function: scalar.Function, arguments: Sequence[_Place]) -> Iterator[list[_Place]]:
    """The indices at which a function loads. What conditionals and loops give may depend on all that the function is given."""
    known: dict[scalar.Operand, _Place] = dict(zip(function.parameters, arguments, strict=True))
    anything = _together(arguments)

    def places(operands: Sequence[scalar.Operand]) -> list[_Place]:
        return [known.get(o, anything) if isinstance(o, scalar.Variable) else _FIXED for o in operands]

    for statement in mentions.function_statements(function):
        match statement:
            case scalar.Compute(out, operator, operands):
                found = places(operands)
                known[out] = _computed(operator, operands, found) if out.type is I64 else _together(found)
            case scalar.Load(out, _, index):
                found = places(index)
                yield found
                known[out] = _together(found)
            case scalar.If() | scalar.While():
                pass
            case _:
                assert_never(statement)


def _computed(operator: Operator, operands: Sequence[scalar.Operand], places: Sequence[_Place]) -> _Place:
    """What an operation on indices gives: sums, differences and multiples of what moves evenly do."""
    together = _together(places)
    match operator, operands, [place.step for place in places]:
        case Operator.ADD, _, [int() as left, int() as right]:
            return replace(together, step=left + right)
        case Operator.SUB, _, [int() as left, int() as right]:
            return replace(together, step=left - right)
        case Operator.MUL, [Constant() as factor, _], [_, int() as step]:
            return replace(together, step=step * int(factor.value))
        case Operator.MUL, [_, Constant() as factor], [int() as step, _]:
            return replace(together, step=step * int(factor.value))
        case (
            (Operator.MIN | Operator.MAX | Operator.MOD | Operator.REM),
            _,
            ([int() as step, 0] | [0, int() as step]),
        ):
            return replace(together, step=step)
        case Operator.ABS, _, [int() as step]:
            return replace(together, step=step)
        case Operator.SELECT, _, [_, int() as step, other] if step == other:
            return replace(together, step=step)
        case _:
            return together


def _together(places: Sequence[_Place]) -> _Place:
    return _Place(None if any(place.varies for place in places) else 0, any(place.folds for place in places))


def inside(level: Level) -> Iterator[LoopBody]:
    """The statements of a level and of all levels in it."""
    current: Level | None = level
    while current is not None:
        yield from (*current.before, *current.after)
        current = current.loop.body if current.loop is not None else None


def dependent(names: Iterable[str], level: Level) -> frozenset[str]:
    """Some streams, and those of a level and of the levels in it that depend on them."""
    found = set(names)
    statements = list(inside(level))
    states = {state.name: state for loop in _loops(level) for state in loop.states}
    grown = True
    while grown:
        before = len(found)
        for statement in statements:
            if any(stream.name in found for stream in flow.needed(statement)):
                found.update(stream.name for stream in flow.made(statement))
                if isinstance(statement, ManyToOne) and statement.state in states:
                    found.update(final.name for final in states[statement.state].finals)
        for state in states.values():
            if any(stream.name in found for stream in flow.state_needs(state)):
                found.update(final.name for final in state.finals)
        grown = len(found) > before
    return frozenset(found)


def _loops(level: Level) -> Iterator[For]:
    loop = level.loop
    while loop is not None:
        yield loop
        loop = loop.body.loop
