"""Deep programs run, and memory does not grow; fewer of each than `python -m tests.endurance` does."""

from __future__ import annotations

from tests import endurance
from tests.marks import slow

pytestmark = slow


def test_deep_programs() -> None:
    endurance.chain(3_000)
    endurance.doubled(60)


def test_calls_leave_nothing_behind() -> None:
    assert endurance.calls(20_000) < 1 << 20


def test_programs_leave_little_behind() -> None:
    """Compiled programs are remembered up to a number; behind that, dropping one frees its machine code."""
    assert endurance.programs(100) < 32 << 20
