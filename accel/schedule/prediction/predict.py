"""What a schedule takes, predicted by a roofline: the instructions, or what the level of memory lacks that is slowest.

In: schedules and the extents of a launch. Out: seconds on one thread, if all extents are known; good enough to rank the ways to
run a nest, not to say their times to a percent. The levels of memory are those of `caches.py`. Arrays are contiguous. Streams
that are packed or transposed in registers take two instructions for each vector, single elements from far apart one each, and
what stands still in pieces that are written out is loaded once for all of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, prod

from accel.ir import mentions
from accel.ir.nodes import Nest, OneToMaybe, OneToOne, Operand, Read, Write
from accel.labelled.array import Extent, Shape, SizeVariable
from accel.labelled.scalar import Constant
from accel.schedule.axes import accesses
from accel.schedule.nodes import Kind, Parameter, Piece, Role, Schedule, Size
from accel.schedule.prediction.caches import CYCLE, LEVELS, VECTOR, Walk, missed
from accel.support.dataclass import dataclass

_PARAMETERS: Mapping[str, int] = {"rows": 6, "columns": 64, "depth": 256, "strip": 256, "edge": 64, "group": 8}
"""What backends take for them, about; a chunk is as large as all."""

_MANY = 1 << 62

_LATENCY = 4.0
"""Cycles until a sum of two is there for the next element, where these come one by one."""

_ENTRY, _JOIN = 4.0, 8.0
"""Cycles for the beginning and end of an innermost loop, and for joining what its lanes have folded."""


_IN_FLIGHT = 2.0
"""Lines that are under way at once."""

_LAUNCH = 5e-6
"""Seconds until a nest begins."""


def predicted(schedules: Sequence[Schedule], sizes: Mapping[SizeVariable, int]) -> float | None:
    """Seconds of some schedules, one after the other; None if an extent is not known before it runs."""
    every = [_predicted(each, sizes) for each in schedules]
    known = [each for each in every if each is not None]
    return sum(known) if len(known) == len(every) else None


@dataclass(frozen=True, slots=True)
class _Loop:
    """A piece as a loop: its turns, and over how many iterations of the nest's loop at depth `over` each goes."""

    piece: Piece
    extent: int
    over: int
    stride: int


@dataclass(frozen=True, slots=True)
class _Access:
    """A read or a write. inside: of how many of the nest's loops it stands. eased: it is packed, or transposed in registers."""

    walk: Walk
    inside: int
    eased: bool


def _predicted(schedule: Schedule, sizes: Mapping[SizeVariable, int]) -> float | None:
    extents = _extents(schedule.nest, sizes)
    if extents is None:
        return None
    if 0 in extents:
        return _LAUNCH
    every = [loop for piece in schedule.pieces for loop in _loops(schedule, piece, extents)]
    loops = [loop for loop in every[:-1] if loop.extent > 1] + every[-1:]
    found = _accesses(schedule, loops, sizes)
    if found is None:
        return None
    turns = [loop.extent for loop in loops]
    walks = [each.walk for each in found]
    memory = max(missed(walks, turns, level) for level in LEVELS) / _IN_FLIGHT if loops else 0.0
    return _LAUNCH + CYCLE * max(_instructions(schedule, loops, found, extents), memory)


def _extents(nest: Nest, sizes: Mapping[SizeVariable, int]) -> list[int] | None:
    found = [_known(level.loop.extent, sizes) for level in mentions.levels(nest) if level.loop is not None]
    known = [extent for extent in found if extent is not None]
    return known if len(known) == len(found) else None


def _known(extent: Operand | Extent, sizes: Mapping[SizeVariable, int]) -> int | None:
    match extent:
        case Constant(value=value):
            return int(value)
        case Extent(variable=None, offset=offset):
            return offset
        case Extent(variable=variable, offset=offset) if variable is not None and variable in sizes:
            return sizes[variable] + offset
        case _:
            return None


def _loops(schedule: Schedule, piece: Piece, extents: Sequence[int]) -> list[_Loop]:
    """The loops that a piece is; what has all iterations of several loops is these."""
    depths = [loop.depth for loop in piece.axis.loops]
    stride = prod(map(_number, piece.inside))
    left = ceil(prod(extents[depth] for depth in depths) / stride)
    size = left if piece.size is None else max(1, min(_number(piece.size), left))
    if stride == 1 and size == left:
        return [_Loop(piece, extents[depth], depth, 1) for depth in depths]
    return [_Loop(piece, size, depths[-1], stride)]


def _number(size: Size) -> int:
    if isinstance(size, Parameter):
        return max(1, _PARAMETERS.get(size.name, _MANY) // size.over)
    return size


def _accesses(schedule: Schedule, loops: Sequence[_Loop], sizes: Mapping[SizeVariable, int]) -> list[_Access] | None:
    nest = schedule.nest
    inside = [
        (depth, statement)
        for depth, level in enumerate(mentions.levels(nest))
        for statement in (*level.before, *level.after)
    ]
    depths = {id(statement): depth for depth, statement in inside}
    packed = {stream for pack in schedule.packs for stream in pack.streams}
    statements = [s for s in mentions.statements(nest) if isinstance(s, Read | Write)]
    found = []
    for each, statement in zip(accesses(nest), statements, strict=True):
        strides = _strides(each.array.shape, sizes)
        if strides is None:
            return None
        at = {depth: stride for depth, stride in zip(each.plain, strides, strict=True) if depth is not None}
        walk = Walk(each.array.element.bytes, tuple([at.get(loop.over, 0) * loop.stride for loop in loops]))
        eased = isinstance(statement, Read) and statement.out in packed
        found.append(_Access(walk, depths[id(statement)], eased))
    return found


def _strides(shape: Shape, sizes: Mapping[SizeVariable, int]) -> list[int] | None:
    """Elements between neighbours along each dimension."""
    extents = [_known(extent, sizes) for extent in shape[1:]]
    known = [extent for extent in extents if extent is not None]
    if len(known) < len(extents):
        return None
    return [prod(known[dimension:]) for dimension in range(len(shape))]


def _instructions(
    schedule: Schedule, loops: Sequence[_Loop], found: Sequence[_Access], extents: Sequence[int]
) -> float:
    """Cycles, were all in the nearest cache."""
    if not loops:
        return _ENTRY
    last = loops[-1]
    widest = max((each.walk.bytes for each in found), default=8)
    width = min(VECTOR // widest, last.extent) if last.piece.kind is Kind.VECTOR else 1
    total = 0.0
    for depth, level in enumerate(mentions.levels(schedule.nest)):
        total += prod(extents[:depth]) / width * sum(map(_operations, (*level.before, *level.after)))
    for each in found:
        turns = float(prod(extents[: each.inside]))
        for loop, step in zip(loops, each.walk.steps, strict=True):
            if loop.piece.kind is Kind.REGISTER and not step and loop.over < each.inside:
                turns /= loop.extent
        apart = width > 1 and each.walk.steps[-1] not in (0, 1)
        total += turns * (2.0 / width if apart and each.eased else 1.0 if apart else 0.5 / width)
    carries = last.piece.axis.role is not Role.MAP
    if carries and width == 1:
        total += _LATENCY * prod(extents)
    row = prod(loop.extent for loop in loops if loop.piece.axis == last.piece.axis)
    return total + prod(extents) / row * (_ENTRY + (_JOIN if carries else 0.0))


def _operations(statement: object) -> int:
    """Instructions of a statement that is no access."""
    match statement:
        case OneToOne(function=function) | OneToMaybe(function=function):
            return sum(1 for _ in mentions.function_statements(function))
        case Read() | Write():
            return 0
        case _:
            return 1
