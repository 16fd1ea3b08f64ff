"""What each rule needs, as reasons why it is not allowed: nothing may change the tree of docs/order.md, nor ask of code for
lanes what it cannot do.

In: a schedule and what a rule would do. Out: the reason against it, in words; None where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import assert_never

from accel.ir import flow, mentions
from accel.ir.mentions import function_statements, loops
from accel.ir.nodes import Level, LoopBody, ManyToOne, Nest, Read, Scatter, State, Stream, Write, is_known
from accel.ir.slices import backward_slice
from accel.labelled import scalar
from accel.labelled.meaning.order import BLOCK, lanes
from accel.labelled.programs import loaded
from accel.labelled.scalar import Function
from accel.schedule.axes import dependence
from accel.schedule.nodes import Accumulation, Axis, Carried, Kind, Margin, Parameter, Part, Piece, Role, Schedule, Size
from accel.schedule.rounds import rounds

ORDERS = (Role.ORDERED, Role.PRODUCTS)
"""Roles of axes whose elements are numbered."""

ANY_ORDER = (Role.MAP, Role.EXACT)
"""Roles of axes that may be visited in any order."""


def any_order(state: State) -> bool:
    """Whether elements may be combined in any order, starting from a neutral one."""
    return state.monoid.exact and state.monoid.neutral is not None


def in_lanes_of_order(state: State) -> bool:
    """Whether elements go to the lanes of docs/order.md, which join in the end: the operator commutes, and the order shows."""
    return state.monoid.commutes and not state.monoid.exact


def in_order(state: State) -> bool:
    """Whether the elements of a fold are combined one after the other in each lane of the order, as they stand."""
    return not state.monoid.exact and not state.monoid.commutes


def straight(function: Function) -> bool:
    """Whether a function may be computed for lanes that hold anything: no loads, no loops."""
    return not any(isinstance(s, scalar.Load | scalar.While) for s in function_statements(function))


def is_repeatable(statement: LoopBody) -> bool:
    """Whether running the statement again changes nothing."""
    return not isinstance(statement, Write | Scatter | ManyToOne)


def stands_alone(level: Level) -> bool:
    """Whether nothing stands around the level's loop that may run only once."""
    return not level.after and all(map(is_repeatable, level.before))


def carriers(schedule: Schedule, axis: Axis) -> list[Carried]:
    """The states that an axis carries."""
    return [each for each in schedule.carried if each.by(axis.depths)]


def most_lanes(schedule: Schedule, axis: Axis) -> int:
    """How many lanes of the order all states have that the axis carries in order: 1 where only some of them commute.

    Staged states fit any lanes, so where there are others these decide.
    """
    return _common_lanes(_deciding(schedule, axis))


def _common_lanes(states: Sequence[State]) -> int:
    """How many lanes of the order some states have: 1 where only some of them commute."""
    if len({state.monoid.commutes for state in states}) > 1:
        return 1
    return min(lanes(state.types) for state in states)


def _deciding(schedule: Schedule, axis: Axis) -> list[State]:
    every = [each.state for each in _ordered(schedule, axis)]
    return [state for state in every if schedule.accumulation(state.name) is not Accumulation.STAGED] or every


def lanes_are_runs(schedule: Schedule, axis: Axis) -> bool:
    """Whether the elements of a lane follow each other, because the axis's folds do not commute: where it is cut, as it is."""
    pieces = schedule.of(axis)
    if pieces[0].part is Part.WHOLE:
        return not any(state.monoid.commutes for state in _deciding(schedule, axis))
    return any(piece.part is Part.STEP and not piece.inside for piece in pieces)


def scatters(nest: Nest, depth: int) -> Iterator[Scatter]:
    """The scatters inside of the loop at this depth."""
    for level, each in enumerate(mentions.levels(nest)):
        if level > depth:
            yield from (s for s in (*each.before, *each.after) if isinstance(s, Scatter))


def lone_scatters(nest: Nest) -> Sequence[Scatter]:
    """The nest's scatters, if nothing else reads or writes what they write; none otherwise."""
    every = list(scatters(nest, -1))
    written = [array for scatter in every for array in scatter.arrays]
    shared = {*written, *(array for pair in nest.in_place for array in pair)}
    statements = (s for s in mentions.statements(nest) if isinstance(s, Read | Write))
    if len(set(written)) < len(written) or any(statement.array in shared for statement in statements):
        return ()
    return () if any(shared & set(loaded(function)) for function in mentions.functions(nest)) else every


def divides(size: Size, whole: Size | None) -> bool:
    """Whether pieces of `size` fill one of `whole` iterations, whatever parameters are."""
    if whole is None:
        return True
    if isinstance(size, Parameter):
        return size == whole
    return (whole.multiple // whole.over if isinstance(whole, Parameter) else whole) % size == 0


def against_subdividing(schedule: Schedule, piece: Piece, size: Size) -> str | None:
    """Why a piece may not become two or more, the innermost of them with `size` iterations."""
    if piece.kind is not Kind.SERIAL:
        return f"it runs {piece.kind.value} already"
    if isinstance(size, int) and size < 1:
        return f"{size} iterations are none"
    role = piece.axis.role
    match role:
        case Role.MAP | Role.EXACT | Role.CHAIN:
            return None if divides(size, piece.size) else "tails stand at the end of an axis only"
        case Role.ORDERED | Role.PRODUCTS:
            return _against_lanes(schedule, piece, size)
        case _:
            assert_never(role)


def _against_lanes(schedule: Schedule, piece: Piece, size: Size) -> str | None:
    part = piece.part
    match part:
        case Part.WHOLE:
            if not all(
                set(range(each.first, each.last + 1)) == piece.axis.depths for each in _ordered(schedule, piece.axis)
            ):
                return "elements of a fold of several loops are numbered over all of them: flatten these first"
            most = most_lanes(schedule, piece.axis)
            return (
                None if isinstance(size, int) and divides(size, most) else f"a block has {most} lane{'s' * (most > 1)}"
            )
        case Part.BLOCK | Part.STEP | Part.LANE:
            return None if divides(size, piece.size) else f"{part.value}s would not be filled"
        case Part.OUTER | Part.INNER:
            return "it is a part already"
        case _:
            assert_never(part)


def against_carrying(schedule: Schedule, piece: Piece, size: Size) -> str | None:
    """Why a piece may not become parts of `size` iterations, each of which begins with what those before it come to."""
    axis = piece.axis
    if axis.role is not Role.CHAIN or piece.part is not Part.WHOLE or piece.kind is not Kind.SERIAL:
        return "only a whole axis, of which nothing else was said, is carried from part to part, and only if states run"
    if not all(each.monoid.exact for each in scatters(schedule.nest, max(axis.depths))):
        return "a scatter combines in the order of the visit"
    states = carriers(schedule, axis)
    first = axis.loops[0].depth
    if any(each.state.running and each.first != first for each in states):
        return "a state runs on from outside"
    ordered = [each for each in states if not each.state.monoid.exact]
    own = all(set(range(each.first, each.last + 1)) == axis.depths for each in ordered)
    if not own or not all(each.numbered or _is_staged(schedule, each) for each in ordered):
        return "its iterations do not number the elements"
    if ordered and not _fills_blocks(size):
        return f"elements with an order are carried by blocks of {BLOCK}"
    if rounds(schedule.nest, axis, states) is None:
        return "a state needs its own value"
    return None


def _is_staged(schedule: Schedule, each: Carried) -> bool:
    """Whether elements are stored until they are a block, so that a part may begin within one."""
    return schedule.accumulation(each.state.name) is Accumulation.STAGED


def _is_carried(schedule: Schedule, axis: Axis) -> bool:
    """Whether the totals of an axis's parts are found before these run."""
    running = {each.state.name for each in carriers(schedule, axis) if each.role is Role.CHAIN}
    return bool(running) and running <= {name for names in schedule.rounds for name in names}


def _fills_blocks(size: Size) -> bool:
    """Whether blocks of the order fill so many iterations."""
    return (size.multiple // size.over if isinstance(size, Parameter) else size) % BLOCK == 0


def _ordered(schedule: Schedule, axis: Axis) -> list[Carried]:
    return [each for each in carriers(schedule, axis) if each.role in ORDERS]


def against_flipping(schedule: Schedule, outer: Piece, inner: Piece) -> str | None:
    """Why two pieces may not change places."""
    if outer.axis == inner.axis:
        if outer.axis.role is Role.CHAIN:
            return "each of its iterations needs the one before"
        if outer.part is Part.STEP and inner.part is Part.STEP:
            return "a lane takes its elements in rising order"
        return _against_moving_lanes(schedule, outer.axis)
    extents = [loop.extent for loop in inner.axis.loops if isinstance(loop.extent, Stream)]
    if extents and any(dependence(schedule.nest)[extent.name] & outer.axis.depths for extent in extents):
        return "the inner one's extent is found out in the outer one"
    for each in carriers(schedule, outer.axis):
        if each.by(inner.axis.depths) and each.role is not Role.EXACT:
            return f"both carry the state {each.state.name}, whose elements have an order"
    innermost = max(outer.axis.depths | inner.axis.depths)
    if not all(each.monoid.exact for each in scatters(schedule.nest, innermost)):
        return "a scatter combines in the order of the visit"
    return None


def _against_moving_lanes(schedule: Schedule, axis: Axis) -> str | None:
    """Why parts of an ordered axis may not change places: what is staged may have other lanes than these."""
    states = [each.state for each in _ordered(schedule, axis)]
    width = prod(p.size for p in schedule.of(axis) if p.part is Part.LANE and isinstance(p.size, int))
    fits = not states or _common_lanes(states) % width == 0
    return None if fits else "a staged state has other lanes, and takes elements in rising order"


def against_flattening(schedule: Schedule, outer: Piece, inner: Piece) -> str | None:
    """Why two pieces may not become one."""
    for piece in (outer, inner):
        if piece.part is not Part.WHOLE or piece.kind is not Kind.SERIAL or piece.axis.reverse:
            return "only whole axes, of which nothing else was said, become one"
    last, first = outer.axis.loops[-1], inner.axis.loops[0]
    if first.depth != last.depth + 1:
        return "they do not stand directly inside of each other in the nest"
    if not all(is_known(loop.extent) for loop in (*outer.axis.loops, *inner.axis.loops)):
        return "an extent is not known at launch"
    every = loops(schedule.nest)
    level = every[last.depth].body
    if not stands_alone(level):
        return "what stands between them runs once for each iteration of the outer one"
    if every[first.depth].states:
        return "states of the inner one begin anew in each iteration of the outer one"
    return None


def against_reversing(piece: Piece) -> str | None:
    """Why a piece may not run the other way."""
    if piece.part is not Part.WHOLE:
        return "only a whole axis runs the other way"
    return None if piece.axis.role in ANY_ORDER else "its iterations have an order"


def against_running(schedule: Schedule, at: int, kind: Kind) -> str | None:
    """Why piece `at` may not run in this way."""
    piece = schedule.pieces[at]
    match kind:
        case Kind.SERIAL:
            return None
        case Kind.REGISTER:
            return None if piece.size is not None else "how often it would be written out is not known"
        case Kind.PARALLEL:
            if piece.axis.role in ANY_ORDER or (piece.axis.role in ORDERS and piece.part is Part.BLOCK):
                return None
            if piece.part is Part.OUTER and piece.size is None and _is_carried(schedule, piece.axis):
                return None
            return "only maps, folds in any order, blocks of folds, and parts that are carried run on several threads"
        case Kind.VECTOR:
            return _against_lanes_of_registers(schedule, at)
        case Kind.ITEM:
            scanned = piece.part is Part.INNER and _is_carried(schedule, piece.axis)
            fits = scanned or piece.axis.role in ANY_ORDER or piece.part is Part.LANE or _join_alone(piece)
            return (
                None
                if fits
                else "only maps, folds in any order, lanes, blocks that join before all others, and parts that are carried "
                "run in work-items that join what they have"
            )
        case _:
            assert_never(kind)


def _join_alone(piece: Piece) -> bool:
    """Whether a piece is blocks that join with each other before they join with others: a power of two of neighbours."""
    sizes = [size if isinstance(size, int) else 0 for size in (piece.size, *piece.inside)]
    return piece.part is Part.BLOCK and prod(sizes).bit_count() == 1


def _against_lanes_of_registers(schedule: Schedule, at: int) -> str | None:
    piece, nest = schedule.pieces[at], schedule.nest
    if piece.axis.role is Role.MAP:
        return None
    if any(scatters(nest, max(piece.axis.depths))) and not lone_scatters(nest):
        return "lanes read before others have scattered there"
    states = carriers(schedule, piece.axis)
    for each in states:
        if not straight(each.state.merge):
            return f"the merge of the state {each.state.name} loads or repeats, which lanes that hold nothing must not"
        if schedule.accumulation(each.state.name) in (Accumulation.LANES, Accumulation.RUNS, Accumulation.SCAN):
            return f"the state {each.state.name} takes one element after the other"
        alone = schedule.accumulation(each.state.name) is Accumulation.VALUE
        if each.role is Role.EXACT and alone and not any_order(each.state):
            return f"nothing is neutral to the state {each.state.name}"
    if piece.axis.role is Role.EXACT or piece.part is Part.LANE:
        return None
    innermost = max(piece.axis.depths) == len(loops(nest)) - 1 and at == len(schedule.pieces) - 1
    staged = all(
        schedule.accumulation(each.state.name) is Accumulation.STAGED for each in _ordered(schedule, piece.axis)
    )
    if innermost and (piece.part in (Part.WHOLE, Part.INNER) or (piece.part is Part.STEP and staged)):
        return None
    return (
        "of an axis in order, only lanes or the whole innermost loop run in lanes of registers, "
        "and steps of what is staged there"
    )


def against_keeping(schedule: Schedule, each: Carried, accumulation: Accumulation) -> str | None:
    """Why a state may not be kept in this way."""
    state, axis = each.state, next(axis for axis in schedule.axes if each.last in axis.depths)
    own = axis.depths >= set(range(each.first, each.last + 1))
    match accumulation:
        case Accumulation.VALUE:
            fits = state.monoid.exact or (state.running and own and each.numbered)
        case Accumulation.BLOCKS:
            fits = not state.running and state.monoid.commutes and own and each.numbered
        case Accumulation.LANES:
            fits = not state.running and state.monoid.commutes
        case Accumulation.RUNS | Accumulation.STAGED:
            fits = not state.running
        case Accumulation.SCAN:
            fits = state.running
        case _:
            assert_never(accumulation)
    return None if fits else f"the elements of {state.name} do not come as this needs them"


def against_splitting(schedule: Schedule, margins: Sequence[Margin]) -> str | None:
    """Why the innermost loop may not run otherwise within these margins. What it then runs is made here: it is equal there."""
    every = loops(schedule.nest)
    depths = [margin.depth for margin in margins]
    if schedule.inside or schedule.packs:
        return "it is split already, or what it makes is packed"
    if not margins or depths != sorted(set(depths)) or not all(0 <= depth < len(every) for depth in depths):
        return "there is a margin for each of some loops, outermost first"
    if any(min(margin.low, margin.high) < 0 for margin in margins):
        return "an edge has no iterations, or some"
    if not all(is_known(every[depth].extent) for depth in depths):
        return "an extent is not known at launch"
    return None


def against_sharing(schedule: Schedule) -> str | None:
    """Why what columns share may not be made first, if they share anything."""
    if schedule.shared or schedule.inside or schedule.packs:
        return "it is shared or split already, or what it makes is packed"
    return None


def against_packing(schedule: Schedule, streams: Iterable[Stream], at: int) -> str | None:
    """Why streams may not be computed at once for all pieces from `at` on."""
    nest = schedule.nest
    if schedule.shared:
        return "what columns share is made first"
    found, inside = dependence(nest), schedule.pieces[at:]
    needed = frozenset().union(*(found[stream.name] for stream in streams))
    reads = [piece for piece in inside if piece.axis.depths & needed]
    if not reads:
        return "no piece inside decides what it holds"
    roots = backward_slice(mentions.statements(nest), mentions.states(nest), streams)
    depths = frozenset().union(*(piece.axis.depths for piece in inside))
    for each in schedule.carried:
        if id(each.state) in roots and each.by(depths):
            return f"it would need the state {each.state.name} before it is there"
    every = [s for s in mentions.statements(nest) if id(s) in roots]
    if any(not is_repeatable(statement) for statement in every if not isinstance(statement, ManyToOne)):
        return "it would store"
    made = {stream for s in mentions.statements(nest) for stream in flow.made(s)}
    return None if made.issuperset(streams) else "no statement makes it"
