"""Deep programs run, and memory does not grow; fewer of each than `python -m tests.endurance` does."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel import execution
from accel.calling import building
from accel.support.cache import Cache
from tests import endurance
from tests.marks import long, slow

pytestmark = slow


@pytest.fixture(autouse=True)
def _code_is_built_once() -> None:
    """It is built each time: what that leaves behind is measured."""


@long
def test_deep_programs() -> None:
    endurance.chain(3_000)
    endurance.doubled(60)


def test_calls_leave_nothing_behind() -> None:
    assert endurance.calls(20_000) < 1 << 20


def test_the_same_program_again_leaves_nothing_behind() -> None:
    assert endurance.rebuilt(2_000) < 2 << 20


def test_callers_in_threads() -> None:
    endurance.at_once(300)


def test_processes_that_are_killed_as_they_write(tmp_path: Path) -> None:
    endurance.kills(4, tmp_path)
    assert any(tmp_path.rglob("*"))


@long
def test_programs_leave_little_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled programs are remembered up to a number; behind that, dropping one frees its machine code."""
    monkeypatch.setattr(execution, "_REBUILT", Cache(20))
    monkeypatch.setattr(building, "_COMPILED", Cache(20))
    assert endurance.programs(100, warm=40) < 4 << 20
