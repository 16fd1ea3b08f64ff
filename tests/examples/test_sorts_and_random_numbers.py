"""The examples of sorts, runs and random numbers: each checks itself, is the same on every backend, and stores what it says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import numpy as np
import pytest

import accel as A
from examples import monte_carlo, nearest, run_length

pytestmark = pytest.mark.solver


@pytest.mark.parametrize(
    ("main", "said"),
    [
        (monte_carlo.main, "4000000 paths; loops: 4 as written, 1 fused"),
        (run_length.main, "1000000 bytes are 44635 runs"),
        (nearest.main, "284 of 297 digits recognised"),
    ],
    ids=["monte_carlo", "run_length", "nearest"],
)
def test_main_runs_and_checks_itself(main: Callable[[], None], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    main()
    found = capsys.readouterr().out
    assert said in found
    assert " fused" in found


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_monte_carlo_is_the_same_everywhere(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monte_carlo, "PATHS", 1000)
    found = A.run(monte_carlo.sums(A.use(np.int64(7))), backend=backend)
    np.testing.assert_allclose([float(each) for each in found], monte_carlo.sums_numpy(7, 1000), rtol=1e-12)


def test_monte_carlo_stores_two_numbers_only() -> None:
    explanation = A.explain(monte_carlo.sums)
    assert (explanation.loops, dict(explanation.reads), dict(explanation.writes)) == (1, {"1": 1}, {"1": 2})


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
@pytest.mark.parametrize("xs", [[], [7], [1, 1, 1], [1, 2, 2, 3, 1, 1], list(range(40))], ids=str)
def test_runs_are_numpy_s_and_give_the_vector_back(backend: str, xs: list[int]) -> None:
    array = np.array(xs, np.uint8)
    values, lengths = A.run(run_length.encode(A.use(array)), backend=backend)
    expected_values, expected_lengths = run_length.encode_numpy(array)
    np.testing.assert_array_equal(values, expected_values)
    np.testing.assert_array_equal(lengths, expected_lengths)
    groups = [(value, len(list(group))) for value, group in groupby(xs)]
    assert list(zip(values.tolist(), lengths.tolist(), strict=True)) == groups
    np.testing.assert_array_equal(A.run(run_length.decode(A.use(values), A.use(lengths)), backend=backend), array)


def test_no_squares_of_differences_are_stored_for_the_nearest() -> None:
    explanation = A.explain(nearest.distances)
    assert explanation.loops == 1
    assert [array.status for array in explanation.arrays if array.type.count(",") > 1] == ["fused"]
