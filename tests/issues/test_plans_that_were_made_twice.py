"""A plan that turned out not to fit its program was thrown away, and the program planned once more: nobody was told."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.compile import stages
from accel.errors import AccelInternalError
from accel.ilp import realise
from accel.ilp.problem.options import Options
from tests.labelled.programs import program


def wrong(*_: object) -> None:
    """What a check of such a plan would say."""
    raise AccelInternalError("another program than was planned")


def test_a_plan_that_does_not_fit_its_program_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    xs = A.use(np.arange(6.0))
    ys = A.map(lambda x: x + 1, xs)
    total = A.the(A.fold(A.add, 0.0, ys))
    made = program((A.map(lambda y: y / total, ys),))
    monkeypatch.setenv("ACCEL_VERIFY", "")
    monkeypatch.setattr(realise, "_check", wrong)
    with pytest.raises(AccelInternalError, match="another program than was planned"):
        stages(made, Options(duplicate=True))
