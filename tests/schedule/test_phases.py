"""The verifier of phases: what a loop is divided into does what the loop does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel import settings
from accel.errors import AccelInternalError
from accel.explanation.explain import subject
from accel.ir.mentions import loops, nests
from accel.ir.nodes import LoopBody
from accel.schedule.splitting.phases import Phase, phases, verify

Handle: TypeAlias = A.Acc[Any]  # types are known at run time


def program(places: Handle, xs: Handle) -> Handle:
    """Two gathers, an elementary function and a scan of both: several phases."""
    left, right = A.gather(places, xs), A.gather(A.map(lambda p: p * p, places), xs)
    return A.scanl1(A.add, A.zipWith(lambda x, y: A.exp(x) + y, left, right))


def example() -> tuple[tuple[Phase, ...], tuple[LoopBody, ...]]:
    """The phases of its loop, and the loop's statements."""
    given = subject(program, [np.arange(20), np.arange(500.0)], settings.changed({"cost": "memory"}))
    (nest,) = nests(given.staged.loops)
    loop = loops(nest)[-1]
    return phases(nest, loop), (*loop.body.before, *loop.body.after)


def first_that(made: Sequence[Phase], holds: Callable[[Phase], bool]) -> int:
    return next(number for number, phase in enumerate(made) if holds(phase))


def changed(made: Sequence[Phase], number: int, **fields: Any) -> list[Phase]:
    return [*made[:number], replace(made[number], **fields), *made[number + 1 :]]


def test_phases_are_what_they_should_be() -> None:
    made, statements = example()
    assert len(made) > 2
    verify(made, statements)


def test_what_is_loaded_has_to_be_kept() -> None:
    made, statements = example()
    keeper = first_that(made, lambda phase: bool(phase.keeps))
    with pytest.raises(AccelInternalError, match="loads what none before it keeps"):
        verify(changed(made, keeper, keeps=()), statements)


def test_what_is_needed_has_to_be_loaded() -> None:
    made, statements = example()
    loader = first_that(made, lambda phase: bool(phase.loads))
    with pytest.raises(AccelInternalError, match="before what it needs"):
        verify(changed(made, loader, loads=()), statements)


def test_phases_come_in_their_order() -> None:
    made, statements = example()
    with pytest.raises(AccelInternalError, match="loads what none before it keeps"):
        verify(made[::-1], statements)


def test_statements_come_in_their_order() -> None:
    made, statements = example()
    longest = max(range(len(made)), key=lambda number: len(made[number].statements))
    with pytest.raises(AccelInternalError, match="before what it needs"):
        verify(changed(made, longest, statements=made[longest].statements[::-1]), statements)


def test_every_statement_runs_once() -> None:
    made, statements = example()
    last = made[-1].statements
    with pytest.raises(AccelInternalError, match="do not run each statement once"):
        verify(changed(made, len(made) - 1, statements=last[:-1]), statements)
    with pytest.raises(AccelInternalError, match="do not run each statement once"):
        verify(changed(made, len(made) - 1, statements=(*last, last[-1])), statements)


def test_what_is_kept_has_to_be_made() -> None:
    made, statements = example()
    later = next(stream for phase in made[1:] for stream in phase.keeps)
    with pytest.raises(AccelInternalError, match="keeps what it does not make"):
        verify(changed(made, 0, keeps=(*made[0].keeps, later)), statements)
