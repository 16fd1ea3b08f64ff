"""Schedules as text: one line for each piece, outermost first, then packs and how states are kept. Stable.

schedule of %3: rows
  i0 ordered: blocks of 64*64, parallel
  i0 ordered: 64 steps of 64, serial
  i0 ordered: 64 lanes, vector
  fold e3 in blocks
  by subdivide 0 64; kind 0 parallel; kind 2 vector; keep e3 blocks
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from accel.ir import mentions
from accel.ir.mentions import loops
from accel.ir.nodes import Nest
from accel.ir.text import operand_text
from accel.labelled.array import Array
from accel.labelled.scalar_text import plain_name, shape_text
from accel.schedule.nodes import (
    Carry,
    Flatten,
    Flip,
    Keep,
    Margin,
    Packed,
    Part,
    Piece,
    Reverse,
    Rule,
    Run,
    Schedule,
    Series,
    Share,
    Size,
    Split,
    Subdivide,
)


def series_text(series: Series) -> str:
    """`series of %1, %2, %6: rows of %0, %1, %4; passes %4`."""
    passes = f"; passes {_arrays(series.passed)}" if series.passed else ""
    return f"series of {', '.join(f'%{nest.label}' for nest in series.nests)}: rows of {_arrays(series.rows)}{passes}"


def _arrays(some: Iterable[Array]) -> str:
    return ", ".join(map(plain_name, some))


def schedule_text(schedule: Schedule, part: str = "") -> str:
    """One schedule. `part`: of its nest."""
    return "\n".join(_lines(schedule, part))


def _lines(schedule: Schedule, part: str) -> Iterator[str]:
    yield f"schedule of %{schedule.nest.label}{part}: {schedule.template.value}"
    for number, piece in enumerate(schedule.pieces):
        for pack in schedule.packs:
            if pack.at == number:
                names = ", ".join(stream.name for stream in pack.streams)
                yield f"  pack {names} by {', '.join(map(_short, pack.layout))}"
        yield f"  {_piece(piece)}"
    if schedule.shared is not None:
        kinds = ", ".join(f"{line.array.element}{shape_text(line.array.shape)}" for line in schedule.shared.lines)
        yield f"  lines {kinds} along {loops(schedule.nest)[-1].index.name}"
    if schedule.inside:
        yield f"  inside {', '.join(_margin(schedule.nest, margin) for margin in schedule.inside)}"
    running = {state.name: state.running for state in mentions.states(schedule.nest)}
    for name, accumulation in schedule.accumulations:
        yield f"  {'scan' if running[name] else 'fold'} {name} as {accumulation.value}"
    if schedule.rounds:
        yield f"  totals of {', then '.join(map(', '.join, schedule.rounds))}"
    if schedule.steps:
        yield f"  by {'; '.join(map(rule_text, schedule.steps))}"


def _margin(nest: Nest, margin: Margin) -> str:
    """`1 <= i0 < n0-1`: the indices without the edges."""
    loop = loops(nest)[margin.depth]
    end = operand_text(loop.extent) + (f"-{margin.high}" if margin.high else "")
    return f"{margin.low} <= {loop.index.name} < {end}"


def size_text(size: Size) -> str:
    """A number, or a parameter's name."""
    if isinstance(size, int):
        return str(size)
    return size.name if size.over == 1 else f"{size.name}/{size.over}"


def _piece(piece: Piece) -> str:
    down = " reversed" if piece.axis.reverse else ""
    return f"{piece.axis.name}{down} {piece.axis.role.value}: {_short(piece, named=False)}, {piece.kind.value}"


def _short(piece: Piece, named: bool = True) -> str:
    name = f"{piece.axis.name} " if named else ""
    if piece.part is Part.WHOLE:
        return f"{name}whole"
    count = "" if piece.size is None else f"{size_text(piece.size)} "
    stride = "" if not piece.inside else f" of {'*'.join(map(size_text, piece.inside))}"
    return f"{name}{count}{piece.part.value}{stride}"


def rule_text(rule: Rule) -> str:
    """One step of a derivation: `subdivide 1 16`."""
    match rule:
        case Subdivide(at, size):
            return f"subdivide {at} {size_text(size)}"
        case Carry(at, size):
            return f"carry {at} {size_text(size)}"
        case Flip(at):
            return f"flip {at}"
        case Flatten(at):
            return f"flatten {at}"
        case Reverse(at):
            return f"reverse {at}"
        case Run(at, kind):
            return f"kind {at} {kind.value}"
        case Keep(state, accumulation):
            return f"keep {state} {accumulation.value}"
        case Packed(streams, at):
            return f"pack {', '.join(streams)} at {at}"
        case Split(margins):
            return f"split {', '.join(f'{each.depth} {each.low} {each.high}' for each in margins)}"
        case Share():
            return "share"
        case _:
            assert_never(rule)
