"""How each loop of a nest is written: in scalars, or in vectors of several iterations, of how many.

Which loops run in lanes, which as one, and which on threads, the schedule by rows says (`accel/schedule/templates/rows.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.machine.target import host
from accel.ir import flow, mentions
from accel.ir.mentions import loops
from accel.ir.nodes import (
    For,
    LoopBody,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Read,
    Remap,
    Scatter,
    State,
    Within,
    Write,
)
from accel.ir.work import applied_function
from accel.labelled import scalar
from accel.labelled.meaning.order import SCAN_VECTOR, lanes
from accel.labelled.scalar import constant
from accel.labelled.scalars.function_work import function_work
from accel.labelled.work import INSTRUCTIONS, Work
from accel.schedule.legality import any_order
from accel.schedule.nodes import Accumulation, Kind, Margin, Schedule
from accel.schedule.splitting.inside import statements as statements_inside
from accel.schedule.splitting.phases import Phase, phases_of
from accel.schedule.splitting.pieces import Cut, pieces
from accel.support.dataclass import dataclass

WRITTEN_ONCE = 40
"""Instructions beyond which a loop's body is written only once, not once per vector of a group."""

MOST_PARTS = 2
"""Vectors of the order of scans that are scanned side by side, at most."""

BYTE_LANES = 64
"""Lanes of loops that scan bytes and do nothing wider."""


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """How a phase is written: how many iterations at once, and how many vectors side by side."""

    phase: Phase
    lanes: int
    unroll: int


@dataclass(frozen=True, slots=True)
class VectorPlan:
    """How an innermost loop is written in vectors.

    lanes: iterations at once. unroll: vectors written out side by side. blocks: whether the loop runs in blocks of 4096 that
    begin at multiples of it, because of a fold or scan that is not exact. prefixes: guards that hold for the first
    iterations, as the loop runs. staged: the states whose elements are stored into tiles. phases: what runs for a strip of
    iterations before the next does; none where all runs for one vector after the other. inside: what runs where conditions
    are decided; None where the loop is not split. cut: where it is cut into pieces, if it has no inside.
    """

    lanes: int
    unroll: int
    blocks: bool
    prefixes: Mapping[str, Within]
    staged: frozenset[str]
    phases: tuple[PhasePlan, ...]
    inside: Inside | None = None
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Inside:
    """The inside of a nest: the statements of the innermost loop there, and the loops whose indices have margins.

    rows: the statements within the innermost loop's own margins, wherever the loops around are, if these have margins.
    """

    statements: tuple[LoopBody, ...]
    rows: tuple[LoopBody, ...]
    margins: tuple[tuple[Margin, For], ...]

    def within(self, loop: For, extent: int) -> tuple[int, int]:
        """The first iteration of the loop within its own margins, and the one behind them."""
        low, high = next(((margin.low, margin.high) for margin, other in self.margins if other == loop), (0, 0))
        return low, extent - high


@dataclass(frozen=True, slots=True)
class NestPlan:
    """A nest's schedule by rows, and the innermost loop's plan (None: scalar code).

    merged: how it is written where loops of a fold that is not exact have merged into it, so that blocks of the order are
    blocks of it; None if they cannot.
    """

    schedule: Schedule
    vector: VectorPlan | None
    merged: VectorPlan | None

    @property
    def kinds(self) -> Mapping[str, Accumulation]:
        """How each state is carried, by name."""
        return dict(self.schedule.accumulations)

    @property
    def flat(self) -> Sequence[For] | None:
        """The loops from the outermost one on that run as one; None if they are not several."""
        count = len(self.schedule.axes[0].loops)
        return loops(self.schedule.visited)[:count] if count > 1 else None

    @property
    def each(self) -> int:
        """How many elements an iteration of these loops, or of the outermost one, has: one, or a row in lines; 0 if that is
        not known."""
        if self.schedule.shared is not None:
            return self.schedule.shared.columns
        return int(len(self.schedule.axes) == 1)

    @property
    def parallel(self) -> bool:
        """Whether chunks of the outermost loop, or of those that run as one with it, may run in any order."""
        return self.schedule.pieces[0].kind is Kind.PARALLEL

    @property
    def rows_down(self) -> bool:
        """Whether the loops around the innermost one run from their last iteration to their first."""
        return any(axis.reverse for axis in self.schedule.axes)


def plan(schedule: Schedule, merged: Schedule | None = None) -> NestPlan:
    """How a nest is written that runs by rows as the schedule says. `merged`: where loops have merged, if that differs."""
    nest = schedule.visited
    if not schedule.pieces or schedule.pieces[-1].kind is not Kind.VECTOR:
        return NestPlan(schedule, None, None)
    phases = phases_of(schedule)
    vector = _vector_plan(nest, loops(nest)[-1], dict(schedule.accumulations), phases)
    if schedule.inside:
        every = loops(nest)
        made = statements_inside(nest, schedule.inside)
        own = [margin for margin in schedule.inside if margin.depth == len(every) - 1]
        rows = statements_inside(nest, own) if len(own) < len(schedule.inside) else ()
        vector = replace(
            vector, inside=Inside(made, rows, tuple((each, every[each.depth]) for each in schedule.inside))
        )
    elif schedule.shared is None and not phases and not vector.prefixes:
        vector = replace(vector, cut=pieces(nest))
    in_one = None if merged is None else _vector_plan(nest, loops(nest)[-1], dict(merged.accumulations), phases)
    return NestPlan(schedule, vector, in_one)


def plain_plan(nest: Nest, loop: For) -> VectorPlan:
    """How a loop is written that carries nothing, and all of which is inside: narrower vectors follow the last one."""
    made = _vector_plan(nest, loop, {}, ())
    return made if host().processor.has_avx512 else replace(made, inside=Inside(loop.body.before, (), ()))


def _vector_plan(nest: Nest, loop: For, kept: Mapping[str, Accumulation], phases: tuple[Phase, ...]) -> VectorPlan:
    """How the innermost loop is written, given how the states that step in it are kept."""
    statements = [*loop.body.before, *loop.body.after]
    prefixes = flow.prefixes(loop)
    states = {state.name: state for state in mentions.states(nest)}
    steps = [statement for statement in statements if isinstance(statement, ManyToOne)]
    kinds = {step.state: kept[step.state] for step in steps}
    scanned = [step for step in steps if states[step.state].running and not any_order(states[step.state])]
    scans, read = bool(scanned), any(map(is_read, scanned))
    folds = [states[name] for name, kind in kinds.items() if kind is Accumulation.BLOCKS]
    width = BYTE_LANES if _scans_bytes(statements, states) else _lanes(statements, states, loop)
    if scans:
        width = _scan_lanes([states[step.state] for step in scanned], width) if read else SCAN_VECTOR
    group = max([lanes([final.type for final in state.finals]) for state in folds], default=0)
    unroll = group // width or (4 if steps and width < BYTE_LANES else 2)
    if scans and not read and not folds:
        unroll = SCAN_VECTOR
    if (
        sum(map(_instructions, statements)) > WRITTEN_ONCE
        or Accumulation.STAGED in kinds.values()
        or (read and not folds)
    ):
        unroll = 1
    staged = frozenset(name for name, kind in kinds.items() if kind is Accumulation.STAGED)
    parts = tuple(_phase_plan(phase, loop, states, width, unroll) for phase in phases)
    return VectorPlan(width, unroll, scans or bool(folds), prefixes, staged, parts)


def _scan_lanes(scans: Sequence[State], most: int) -> int:
    """One vector of the order of scans, or two where a register holds them."""
    widest = max(final.type.bytes for state in scans for final in state.finals)
    return min(most, MOST_PARTS * SCAN_VECTOR, REGISTER_BYTES // widest)


def _phase_plan(phase: Phase, loop: For, states: Mapping[str, State], width: int, unroll: int) -> PhasePlan:
    """Phases that step a state are as wide as the loop, the others as suits them."""
    statements = list(phase.statements)
    if any(isinstance(statement, ManyToOne) for statement in statements):
        return PhasePlan(phase, width, unroll)
    return PhasePlan(
        phase, _lanes(statements, states, loop), 1 if sum(map(_instructions, statements)) > WRITTEN_ONCE else 2
    )


def is_read(step: ManyToOne) -> bool:
    """Whether the state is asked for while its loop runs, not for its end alone."""
    return bool(step.before or step.after)


def _lanes(statements: list[LoopBody], states: Mapping[str, State], loop: For) -> int:
    """As many as fill a vector register with the widest elements that the loop moves."""
    folds = [state for state in loop.states if not state.running]
    # Of an extreme and its place the places are few, or stay out of registers.
    widths = [final.type.bytes for s in folds for final in s.finals[: None if s.monoid.extreme is None else 1]]
    for statement in statements:
        match statement:
            case Read(array=array) | Write(array=array):
                widths.append(array.element.bytes)
            case OneToOne() | ManyToOne() | OneToMaybe() | Within() | Remap() | Scatter():
                pass
            case _:
                assert_never(statement)
    widest = max(widths, default=4)
    # Filters pack elements of at least four bytes.
    packs = any(isinstance(s, ManyToOne) and s.before and counts_lanes(states[s.state], s) for s in statements)
    most = 16 if packs else 32
    return max(8, min(most, REGISTER_BYTES // widest))


def _scans_bytes(statements: list[LoopBody], states: Mapping[str, State]) -> bool:
    """Whether the loop scans bytes or bools, and all that it moves and computes besides, but for indices, is as narrow."""
    running = False
    for statement in statements:
        match statement:
            case Read(array=array) | Write(array=array):
                narrow = array.element.bytes == 1
            case ManyToOne(state=name):
                state = states[name]
                running = running or state.running
                # Products of bytes are computed in 16 bits.
                narrow = (
                    any_order(state)
                    and all(final.type.bytes == 1 for final in state.finals)
                    and Operator.MUL not in (state.monoid.operators or ())
                )
            case OneToOne(function=function) | OneToMaybe(function=function) | Within(function=function):
                narrow = all(map(_narrow, mentions.function_statements(function)))
            case Remap() | Scatter():
                narrow = False
            case _:
                assert_never(statement)
        if not narrow:
            return False
    return running


def _narrow(statement: scalar.Statement) -> bool:
    """Whether a statement computes a byte or a bool, or moves an index."""
    if not isinstance(statement, scalar.Compute):
        return False
    return statement.out.type.bytes == 1 or (
        statement.out.type is I64 and statement.operator in (Operator.ADD, Operator.SUB)
    )


def _instructions(statement: LoopBody, column: Work = INSTRUCTIONS) -> int:
    """About how many machine instructions a statement takes."""
    function = applied_function(statement)
    return 1 if function is None else function_work(function, column)


def iteration_work(nest: Nest, column: Work = INSTRUCTIONS) -> int:
    """About how many machine instructions an iteration of the innermost loop takes."""
    return 1 + sum(_instructions(statement, column) for statement in mentions.statements(nest))


def visited_work(schedule: Schedule, column: Work = INSTRUCTIONS) -> int:
    """The same where the nest runs as the schedule says: of what columns share each of them makes its own."""
    shared = () if schedule.shared is None else schedule.shared.lines
    return iteration_work(schedule.visited, column) + sum(1 + _instructions(line.element, column) for line in shared)


def counts_lanes(state: State, step: ManyToOne) -> bool:
    """Whether the state is a position: an i64 that goes up by one at each step."""
    return state.monoid.operators == (Operator.ADD,) and step.values == (constant(I64, 1),)
