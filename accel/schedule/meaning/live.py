"""How many partial results of each fold a schedule keeps at once: [Ber]'s larger temporaries of rearranged reductions.

In: a schedule, the extents of its axes, its parameters. Out: for each state a bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from accel.labelled.meaning.order import BLOCK, lanes
from accel.schedule.legality import ORDERS, lanes_are_runs
from accel.schedule.nodes import Axis, Carried, Parameter, Part, Piece, Role, Schedule


def live(schedule: Schedule, extents: Mapping[Axis, int], parameters: Mapping[str, int]) -> Mapping[str, int]:
    """By the names of states, the partial results of all that are open at once.

    A state is open once for each iteration, inside of the outermost piece that carries it, of loops around its own. An exact
    one has one value, as has a running one. An ordered one has the lanes that are open: all of them if steps run outside of
    lanes, else one, and one for each level of their tree; and one for each level of the tree of blocks.
    """
    sizes = [_iterations(piece, extents, parameters) for piece in schedule.pieces]
    return {
        each.state.name: _outputs(schedule, each, sizes) * _parts(schedule, each, sizes, extents)
        for each in schedule.carried
    }


def _iterations(piece: Piece, extents: Mapping[Axis, int], parameters: Mapping[str, int]) -> int:
    def number(size: int | Parameter) -> int:
        return parameters[size.name] // size.over if isinstance(size, Parameter) else size

    return -(-extents[piece.axis] // prod(map(number, piece.inside))) if piece.size is None else number(piece.size)


def _outputs(schedule: Schedule, each: Carried, sizes: Sequence[int]) -> int:
    """How many of its results are open at once."""
    first = min(at for at, piece in enumerate(schedule.pieces) if each.by(piece.axis.depths))
    inside = range(first + 1, len(sizes))
    return prod(sizes[at] for at in inside if max(schedule.pieces[at].axis.depths) < each.first)


def _parts(schedule: Schedule, each: Carried, sizes: Sequence[int], extents: Mapping[Axis, int]) -> int:
    """How many partial results one of them has."""
    if each.role is Role.EXACT or each.state.running:
        return 1
    width = lanes(each.state.types)
    carrying = [axis for axis in schedule.axes if each.by(axis.depths)]
    blocks = -(-prod(extents[axis] for axis in carrying) // BLOCK)
    waiting = 1 + _levels(blocks)
    (axis, *others) = carrying
    pieces = [(piece, size) for piece, size in zip(schedule.pieces, sizes, strict=True) if piece.axis == axis]
    in_order = others or axis.role not in ORDERS or pieces[0][0].part is Part.WHOLE
    cut = prod(size for piece, size in pieces if piece.part is Part.LANE)
    # What is staged may have other lanes, and comes in order then.
    if in_order or width % cut or each.state.monoid.commutes is lanes_are_runs(schedule, axis):
        return (width if each.state.monoid.commutes else 1 + _levels(width)) + waiting
    first = next(at for at, (piece, _) in enumerate(pieces) if piece.part is Part.STEP)
    outer = prod(size for piece, size in pieces[:first] if piece.part is Part.LANE)
    inner = prod(size for piece, size in pieces[first:] if piece.part is Part.LANE)
    lane = next(at for at, (piece, _) in enumerate(pieces) if piece.part is not Part.BLOCK)
    open_blocks = prod(size for piece, size in pieces[lane:] if piece.part is Part.BLOCK)
    within = width // (outer * inner) * inner * (1 + _levels(outer))
    if open_blocks > 1 or any(piece.part is Part.BLOCK for piece, _ in pieces[lane:]):
        return min(open_blocks, blocks) * width + blocks
    return within + waiting


def _levels(count: int) -> int:
    return max(0, count - 1).bit_length()
