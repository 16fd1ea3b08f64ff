"""A requirement that is made before a loop is not made again in it; the verifier of fusion trees looked for it inside."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.errors import AccelShapeError
from accel.support.choices import Strategy

VALUES = np.arange(-3, 5)


def program(start: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
    """The positive ones of VALUES are added to the start three times, if they are as many."""
    found, _ = A.filter(lambda x: x > 0, A.use(VALUES))
    state = (A.zipWith(A.add, start, found), A.unit(A.constant(0, np.int64)))
    again = A.awhile(
        lambda s: A.map(lambda i: i < 2, s[1]),
        lambda s: (A.zipWith(A.add, s[0], found), A.map(lambda i: i + 1, s[1])),
        state,
    )
    return again[0]


@pytest.mark.parametrize("strategy", ["ilp", "none", "greedy"])
@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_requirements_of_a_loop(strategy: Strategy, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_VERIFY", "1")
    run = A.runN(program, backend=backend, strategy=strategy)
    assert run(np.zeros(4, np.int64)).tolist() == [3, 6, 9, 12]
    with pytest.raises(AccelShapeError):
        run(np.zeros(5, np.int64))
