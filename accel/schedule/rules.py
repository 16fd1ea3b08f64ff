"""The rules that make one schedule of another: each checks whether it is allowed, and writes itself into the derivation.

In: a schedule. Out: another one, which visits the same iterations. `AccelScheduleError` where the rule is not allowed: what is
allowed is what leaves the tree in which docs/order.md combines elements as it is, whatever the order of the visit.

The rules are those of [Ber]: `subdivide` (eqs. 44, 47, 49), `flip` (eqs. 36, 42, 43), `flatten`. With `carry`
parts of an axis of running states begin with what those before them come to; `kind`, `keep` and `pack` say how the pieces run,
how states are kept meanwhile, and where what views read stands in memory; `split` and `share`, what the innermost loop runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import assert_never

from accel.ir import flow, mentions
from accel.ir.nodes import Nest
from accel.labelled.meaning.order import BLOCK
from accel.schedule import legality
from accel.schedule.axes import axes, carried, dependence, in_nest_order
from accel.schedule.nodes import (
    AccelScheduleError,
    Accumulation,
    Axis,
    Carry,
    Flatten,
    Flip,
    Keep,
    Kind,
    Margin,
    Pack,
    Packed,
    Parameter,
    Part,
    Piece,
    Reverse,
    Role,
    Rule,
    Run,
    Schedule,
    Share,
    Size,
    Split,
    Subdivide,
    Template,
)
from accel.schedule.rounds import rounds
from accel.schedule.splitting.alike import alike


def original(nest: Nest) -> Schedule:
    """The nest's own order: a piece for each loop, one iteration after the other."""
    states = carried(nest)
    found = axes(nest, states)
    kept = tuple((each.state.name, in_nest_order(each.state)) for each in states)
    return Schedule(nest, Template.LITERAL, found, tuple(map(Piece, found)), (), kept, (), (), (), None, states)


def apply(schedule: Schedule, rule: Rule) -> Schedule:
    """One step of a derivation. Raises `AccelScheduleError` if it is not allowed."""
    match rule:
        case Subdivide(at, size):
            return subdivide(schedule, at, size)
        case Carry(at, size):
            return carry(schedule, at, size)
        case Flip(at):
            return flip(schedule, at)
        case Flatten(at):
            return flatten(schedule, at)
        case Reverse(at):
            return reverse(schedule, at)
        case Run(at, how):
            return kind(schedule, at, how)
        case Keep(state, accumulation):
            return keep(schedule, state, accumulation)
        case Packed(streams, at):
            return pack(schedule, streams, at)
        case Split(margins):
            return split(schedule, margins)
        case Share():
            return share(schedule)
        case _:
            assert_never(rule)


def derived(nest: Nest, steps: Iterable[Rule]) -> Schedule:
    """What rules make of the nest's own order, one after the other."""
    return reduce(apply, steps, original(nest))


def named(schedule: Schedule, template: Template) -> Schedule:
    """The same schedule, for backends to write as this template."""
    return replace(schedule, template=template)


def subdivide(schedule: Schedule, at: int, size: Size) -> Schedule:
    """Piece `at` becomes an outer and an inner one of `size` iterations; the last inner one of an axis may be shorter.

    A whole axis that is folded in order becomes blocks, steps and lanes, of which `size` says how many [Ber eqs. 44, 47, 49].
    """
    piece = _piece(schedule, at)
    _require(legality.against_subdividing(schedule, piece, size), f"cannot subdivide {piece.axis.name}")
    if piece.part is Part.WHOLE and piece.axis.role in legality.ORDERS and isinstance(size, int):
        parts = _blocks(piece, BLOCK // size, size, legality.lanes_are_runs(schedule, piece.axis))
    else:
        ordered = piece.axis.role in legality.ORDERS
        outer, inner = (piece.part, piece.part) if ordered else (Part.OUTER, Part.INNER)
        parts = [
            replace(piece, part=outer, size=_quotient(piece.size, size), inside=(size, *piece.inside)),
            replace(piece, part=inner, size=size),
        ]
    sizes = [part.size for part in parts if part.size is not None]
    outside = [_over(each, piece, sizes) for each in schedule.pieces]
    return _made(schedule, (*outside[:at], *parts, *outside[at + 1 :]), Subdivide(at, size))


def _blocks(piece: Piece, steps: int, lanes: int, runs: bool) -> list[Piece]:
    """A whole axis as blocks, and the steps and lanes of a block, or, where lanes are `runs`, its lanes and their steps."""
    outer, inner = (Part.LANE, Part.STEP) if runs else (Part.STEP, Part.LANE)
    sizes = (lanes, steps) if runs else (steps, lanes)
    return [
        replace(piece, part=Part.BLOCK, inside=sizes),
        replace(piece, part=outer, size=sizes[0], inside=sizes[1:]),
        replace(piece, part=inner, size=sizes[1]),
    ]


def _over(each: Piece, piece: Piece, sizes: Sequence[Size]) -> Piece:
    """A piece whose stride covers `piece`, which now has these `sizes`."""
    if each.axis != piece.axis or len(each.inside) <= len(piece.inside):
        return each
    place = len(each.inside) - len(piece.inside) - 1
    return replace(each, inside=(*each.inside[:place], *sizes, *each.inside[place + 1 :]))


def _quotient(whole: Size | None, size: Size) -> Size | None:
    if whole is None:
        return None
    if isinstance(whole, int) and isinstance(size, int):
        return whole // size
    if isinstance(whole, Parameter) and isinstance(size, int):
        return replace(whole, over=whole.over * size)
    return 1  # of itself


def carry(schedule: Schedule, at: int, size: Size) -> Schedule:
    """Piece `at`, a whole axis of running states, becomes an outer and an inner one of `size` iterations.

    The totals of each inner one are found first, in rounds, and then what all before it come to: so these may run in any order.
    """
    piece = _piece(schedule, at)
    _require(legality.against_carrying(schedule, piece, size), f"cannot carry {piece.axis.name}")
    found = rounds(schedule.nest, piece.axis, schedule.carried)
    assert found is not None
    parts = [replace(piece, part=Part.OUTER, inside=(size,)), replace(piece, part=Part.INNER, size=size)]
    made = _made(schedule, (*schedule.pieces[:at], *parts, *schedule.pieces[at + 1 :]), Carry(at, size))
    return replace(made, rounds=(*schedule.rounds, *found))


def flip(schedule: Schedule, at: int) -> Schedule:
    """Pieces `at` and `at + 1` change places [Ber eqs. 36, 42, 43]."""
    outer, inner = _piece(schedule, at), _piece(schedule, at + 1)
    _require(legality.against_flipping(schedule, outer, inner), f"cannot flip {outer.axis.name} and {inner.axis.name}")
    return _made(schedule, (*schedule.pieces[:at], inner, outer, *schedule.pieces[at + 2 :]), Flip(at))


def flatten(schedule: Schedule, at: int) -> Schedule:
    """Pieces `at` and `at + 1`, loops directly inside of each other, become one axis [Ber]."""
    outer, inner = _piece(schedule, at), _piece(schedule, at + 1)
    _require(
        legality.against_flattening(schedule, outer, inner), f"cannot flatten {outer.axis.name} and {inner.axis.name}"
    )
    role = max(outer.axis.role, inner.axis.role, key=list(Role).index)
    axis = Axis((*outer.axis.loops, *inner.axis.loops), role)
    first = schedule.axes.index(outer.axis)
    whole = (*schedule.axes[:first], axis, *schedule.axes[first + 2 :])
    pieces = (*schedule.pieces[:at], Piece(axis), *schedule.pieces[at + 2 :])
    return replace(_made(schedule, pieces, Flatten(at)), axes=whole)


def reverse(schedule: Schedule, at: int) -> Schedule:
    """Piece `at`, a whole axis, runs from its last iteration to its first."""
    piece = _piece(schedule, at)
    _require(legality.against_reversing(piece), f"cannot reverse {piece.axis.name}")
    axis = replace(piece.axis, reverse=not piece.axis.reverse)
    pieces = (*schedule.pieces[:at], replace(piece, axis=axis), *schedule.pieces[at + 1 :])
    whole = tuple(axis if each == piece.axis else each for each in schedule.axes)
    return replace(_made(schedule, pieces, Reverse(at)), axes=whole)


def kind(schedule: Schedule, at: int, how: Kind) -> Schedule:
    """Piece `at` runs as `how` says."""
    piece = _piece(schedule, at)
    _require(legality.against_running(schedule, at, how), f"{piece.axis.name} cannot run {how.value}")
    pieces = (*schedule.pieces[:at], replace(piece, kind=how), *schedule.pieces[at + 1 :])
    return _made(schedule, pieces, Run(at, how))


def keep(schedule: Schedule, state: str, accumulation: Accumulation) -> Schedule:
    """The state of this name is kept as `accumulation` says."""
    found = next(each for each in schedule.carried if each.state.name == state)
    _require(legality.against_keeping(schedule, found, accumulation), f"cannot keep {state} as {accumulation.value}")
    kept = tuple((name, accumulation if name == state else old) for name, old in schedule.accumulations)
    made = _made(schedule, schedule.pieces, Keep(state, accumulation))
    return replace(made, accumulations=kept)


def pack(schedule: Schedule, streams: Sequence[str], at: int) -> Schedule:
    """The streams of these names are computed for all pieces from number `at` on, where this is entered."""
    made = {stream.name: stream for s in mentions.statements(schedule.nest) for stream in flow.made(s)}
    _require(
        None if streams and made.keys() >= set(streams) else "no statement makes them", f"cannot pack {list(streams)}"
    )
    found = tuple(made[name] for name in streams)
    _require(legality.against_packing(schedule, found, at), f"cannot pack {', '.join(streams)} at piece {at}")
    needed = frozenset().union(*(dependence(schedule.nest)[stream.name] for stream in found))
    layout = tuple(piece for piece in schedule.pieces[at:] if piece.axis.depths & needed)
    packs = (*schedule.packs, Pack(found, at, layout))
    return replace(_made(schedule, schedule.pieces, Packed(tuple(streams), at)), packs=packs)


def split(schedule: Schedule, margins: Sequence[Margin]) -> Schedule:
    """Within these margins of some loops, the innermost loop runs without the conditions that are decided there."""
    _require(legality.against_splitting(schedule, margins), "cannot split")
    return replace(_made(schedule, schedule.pieces, Split(tuple(margins))), inside=tuple(margins))


def share(schedule: Schedule) -> Schedule:
    """What several columns of the innermost loop compute alike is made first, for all columns of a row, and kept that long."""
    made = share_if_any(schedule)
    if made is None:
        raise AccelScheduleError("cannot share: no columns ask for the same values")
    return made


def share_if_any(schedule: Schedule) -> Schedule | None:
    """The same; None where no columns compute anything alike."""
    _require(legality.against_sharing(schedule), "cannot share")
    found = alike(schedule.nest)
    return None if found is None else replace(_made(schedule, schedule.pieces, Share()), shared=found)


def _piece(schedule: Schedule, at: int) -> Piece:
    if not 0 <= at < len(schedule.pieces):
        raise AccelScheduleError(f"there is no piece {at} among {len(schedule.pieces)}")
    return schedule.pieces[at]


def _require(reason: str | None, what: str) -> None:
    if reason is not None:
        raise AccelScheduleError(f"{what}: {reason}")


def _made(schedule: Schedule, pieces: tuple[Piece, ...], rule: Rule) -> Schedule:
    if schedule.packs and pieces != schedule.pieces:
        raise AccelScheduleError("what is packed is read as the pieces stand: packs come last")
    return replace(schedule, pieces=pieces, steps=(*schedule.steps, rule))
