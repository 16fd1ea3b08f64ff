"""Whether a schedule is what its rules make of its nest's own order, and visits every iteration once."""

from __future__ import annotations

from accel.errors import AccelInternalError
from accel.ir.mentions import loops
from accel.schedule.nodes import AccelScheduleError, Part, Piece, Schedule, Size
from accel.schedule.rules import derived, named
from accel.schedule.text import schedule_text


def verify(schedule: Schedule) -> None:
    """Raises `AccelInternalError` with the schedule's text unless

    1. its rules are allowed, one after the other, and make it;
    2. each loop of the nest is in one axis;
    3. the pieces of each axis, from the finest to the coarsest, run over one another, and the coarsest over the whole axis;
    4. packs stand at pieces.
    """
    try:
        made = derived(schedule.nest, schedule.steps)
    except AccelScheduleError as error:
        raise _wrong(schedule, error.message) from error
    if named(made, schedule.template) != schedule:
        raise _wrong(schedule, "its rules make something else")
    if sorted(depth for axis in schedule.axes for depth in axis.depths) != list(range(len(loops(schedule.nest)))):
        raise _wrong(schedule, "its axes are not the nest's loops")
    for axis in schedule.axes:
        if not _covers(schedule.of(axis)):
            raise _wrong(schedule, f"it does not visit each iteration of {axis.name} once")
    if any(not 0 <= pack.at < len(schedule.pieces) for pack in schedule.packs):
        raise _wrong(schedule, "a pack stands nowhere")


def _covers(pieces: tuple[Piece, ...]) -> bool:
    """Whether each piece's stride is what the finer ones cover, and the coarsest has no bound."""
    finest = sorted(pieces, key=lambda piece: len(piece.inside))
    covered: tuple[Size, ...] = ()
    for number, piece in enumerate(finest):
        last = number == len(finest) - 1
        if piece.inside != covered or (piece.size is None) != last or (piece.part is Part.WHOLE and not last):
            return False
        covered = covered if piece.size is None else (piece.size, *covered)
    return bool(finest)


def _wrong(schedule: Schedule, what: str) -> AccelInternalError:
    return AccelInternalError(f"{what}:\n{schedule_text(schedule)}")
