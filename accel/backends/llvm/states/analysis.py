"""How each loop of a nest is written: in scalars, or in vectors of several iterations.

A loop becomes vector code if it is innermost and every statement of it can work on several iterations at once with the
same bits: no scatter; folds and scans whose elements stand in the loop's own order, or that are exact with a neutral
element. Everything else is scalar code, which can do anything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.backends.llvm.states.kinds import Kind
from accel.ir import flow, mentions
from accel.ir.nodes import (
    For,
    LoopBody,
    LoopDirection,
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
from accel.ir.positions import flat_loops, merging
from accel.labelled import scalar
from accel.labelled.meaning.order import SCAN_VECTOR, lanes
from accel.labelled.scalar import constant
from accel.labelled.work import INSTRUCTIONS, work

HEAVY = 40
"""Operators from which on a loop's body is written only once, not once per vector of a group."""

REGISTER_BYTES = 64

BYTE_LANES = 64
"""Lanes of loops that scan bytes and do nothing wider."""


@dataclass(frozen=True, slots=True)
class VectorPlan:
    """How an innermost loop is written in vectors.

    lanes: iterations at once. unroll: vectors written out side by side. blocks: whether the loop runs in blocks of 4096 that
    begin at multiples of it, because of a fold or scan that is not exact. prefixes: guards that hold for the first
    iterations, as the loop runs. staged: the states whose elements are stored into tiles.
    """

    lanes: int
    unroll: int
    blocks: bool
    prefixes: Mapping[str, Within]
    staged: frozenset[str]


@dataclass(frozen=True, slots=True)
class NestPlan:
    """The innermost loop's plan (None: scalar code), and how each state is carried.

    merged: how it is written where loops of a fold that is not exact have merged into it, so that blocks of the order are
    blocks of it; None if they cannot. rows_down: whether the loops around it run from their last iteration to the first,
    because it runs downwards itself: so memory is visited in one direction.
    """

    vector: VectorPlan | None
    merged: VectorPlan | None
    kinds: Mapping[str, Kind]
    rows_down: bool


def plan(nest: Nest, scalar_only: bool) -> NestPlan:
    """Decide for a nest. `scalar_only`: no vectors at all."""
    loops = [level.loop for level in mentions.levels(nest) if level.loop is not None]
    kinds = {state.name: _scalar_kind(state) for state in mentions.states(nest)}
    if scalar_only or not loops:
        return NestPlan(None, None, kinds, rows_down=False)
    found = _vector_plan(nest, loops[-1], loops[-1].states)
    if found is None:
        return NestPlan(None, None, kinds, rows_down=False)
    vector, carried = found
    merged = _merged_plan(nest) if vector.staged else None
    return NestPlan(vector, merged, {**kinds, **carried}, _rows_down(nest, loops[-1]))


def _merged_plan(nest: Nest) -> VectorPlan | None:
    """How the innermost loop is written once all loops have merged into it, if they may: then it counts their elements."""
    loops = flat_loops(nest)
    if loops is None or loops[-1].body.loop is not None or merging(nest, loops):
        return None
    found = _vector_plan(nest, loops[-1], loops[0].states)
    return None if found is None else found[0]


def _rows_down(nest: Nest, innermost: For) -> bool:
    """Whether the innermost loop runs downwards, and nothing depends on the order of those around it."""
    alone = all(state in innermost.states for state in mentions.states(nest))
    scatters = any(isinstance(statement, Scatter) for statement in mentions.statements(nest))
    return innermost.direction is LoopDirection.DOWN and alone and not scatters


def _scalar_kind(state: State) -> Kind:
    if state.monoid.exact:
        return Kind.SIMPLE
    if state.running:
        return Kind.SCAN
    return Kind.LANES if state.monoid.commutes else Kind.RUNS


def _vector_plan(nest: Nest, loop: For, own: Collection[State]) -> tuple[VectorPlan, dict[str, Kind]] | None:
    """How the innermost loop is written, and how the states that step in it are carried; None if it must be scalar code.

    `own`: the states whose elements are its iterations.
    """
    statements = [*loop.body.before, *loop.body.after]
    prefixes = flow.prefixes(loop)
    states = {state.name: state for state in mentions.states(nest)}
    steps = [statement for statement in statements if isinstance(statement, ManyToOne)]
    if len({step.state for step in steps}) < len(steps) or any(isinstance(s, Scatter) for s in statements):
        return None
    kinds: dict[str, Kind] = {}
    for step in steps:
        state = states[step.state]
        whole = step.when is None or step.when == state.when or step.when.name in prefixes
        kind = _vector_kind(state, state in own, whole)
        if kind is None:
            return None
        kinds[state.name] = kind
    scans = any(states[name].running and not any_order(states[name]) for name in kinds)
    folds = [states[name] for name, kind in kinds.items() if kind is Kind.BLOCKS]
    width = (
        SCAN_VECTOR if scans else BYTE_LANES if _scans_bytes(statements, states) else _lanes(statements, states, loop)
    )
    group = max([lanes([final.type for final in state.finals]) for state in folds], default=0)
    unroll = group // width or (4 if steps and width < BYTE_LANES else 2)
    if sum(map(_weight, statements)) > HEAVY or Kind.STAGED in kinds.values() or (scans and not folds):
        unroll = 1
    staged = frozenset(name for name, kind in kinds.items() if kind is Kind.STAGED)
    return VectorPlan(width, unroll, scans or bool(folds), prefixes, staged), kinds


def _vector_kind(state: State, own: bool, whole: bool) -> Kind | None:
    """How vector code carries a state, if it can. `own`: its elements are those of the loop; `whole`: of every iteration."""
    if not straight(state.merge):
        return None
    if any_order(state):
        return Kind.SIMPLE
    if state.running:
        return Kind.SIMPLE if own and whole else None
    if not state.monoid.commutes:
        return None
    return Kind.BLOCKS if own and whole else Kind.STAGED


def any_order(state: State) -> bool:
    """Whether elements may be combined in any order, starting from a neutral one."""
    return state.monoid.exact and state.monoid.neutral is not None


def straight(function: scalar.Function) -> bool:
    """Whether a function may be computed for lanes that hold anything: no loads, no loops."""
    return not any(isinstance(s, scalar.Load | scalar.While) for s in mentions.function_statements(function))


def _lanes(statements: list[LoopBody], states: Mapping[str, State], loop: For) -> int:
    """As many as fill a vector register with the widest elements that the loop moves."""
    widths = [final.type.bytes for state in loop.states for final in state.finals if not state.running]
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


def _weight(statement: LoopBody) -> int:
    """About how many machine instructions a statement takes."""
    match statement:
        case OneToOne(function=function) | OneToMaybe(function=function) | Scatter(combine=function):
            return work(mentions.function_statements(function), INSTRUCTIONS)
        case ManyToOne() | Within() | Remap() | Read() | Write():
            return 1
        case _:
            assert_never(statement)


def weight(nest: Nest) -> int:
    """About how many machine instructions an iteration of the innermost loop takes."""
    return 1 + sum(map(_weight, mentions.statements(nest)))


def counts_lanes(state: State, step: ManyToOne) -> bool:
    """Whether the state is a position: an i64 that goes up by one at each step."""
    return state.monoid.operators == (Operator.ADD,) and step.values == (constant(I64, 1),)
