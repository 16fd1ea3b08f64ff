"""Passes: what they give is verified where that is asked for, and who listens hears of each."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import accel as A
from accel.compile import stages
from accel.errors import AccelInternalError
from accel.ilp.problem.options import Options
from accel.labelled.construction.build import build
from accel.passes import Pass, Step, through
from tests import untyped


def _odd(number: int) -> None:
    if number % 2 == 0:
        raise AccelInternalError(f"{number} is even")


DOUBLE: Pass[int, int] = Pass("double", lambda number: 2 * number, _odd, str)


@pytest.mark.parametrize("verified", [True, False])
def test_what_a_pass_gives_is_verified_if_asked(monkeypatch: pytest.MonkeyPatch, verified: bool) -> None:
    monkeypatch.setenv("ACCEL_VERIFY", "1" if verified else "0")
    if verified:
        with pytest.raises(AccelInternalError, match="6 is even"):
            through(DOUBLE, 3)
    else:
        assert through(DOUBLE, 3) == 6


def test_who_listens_hears_of_each_step() -> None:
    heard: list[Step] = []
    program = build([A.map(lambda x: x + 1, A.use(np.arange(3.0))).node], []).program
    staged = stages(program, Options(), heard.append)
    assert [step.name for step in heard] == ["absorb", "plan", "fusedast", "lowered", "ir", "schedule"]
    assert heard[0].show().startswith("%0 = use 0")
    assert all(step.seconds > 0 for step in heard)
    assert staged.labelled == program


@pytest.mark.llvm
@pytest.mark.solver
def test_each_pass_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="accel"):
        untyped.run(A.map(lambda x: x + 11, A.use(np.arange(3.0))), backend="llvm")
    names = [record.message.partition(" in ")[0] for record in caplog.records if record.name == "accel.passes"]
    assert names == [
        "labelled, simplify",
        "labelled, copies",
        "absorb",
        "plan",
        "fusedast",
        "lowered",
        "ir",
        "schedule",
    ]
