"""What all compiling backends share while a program runs: sizes of states, of arguments, and of what is computed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import accel as A
from accel.errors import AccelShapeError
from tests import untyped

BACKENDS: tuple[Literal["llvm", "opencl"], ...] = ("llvm", "opencl")
"""On llvm such programs are compiled as a whole, and run without an executor."""

Floats = A.Acc[A.Vector[np.float64]]


def grown(xs: Floats) -> tuple[Floats, Floats]:
    """A loop over one element more than `xs` has, then one over `xs`: the size of `xs` is what it was."""
    sums = A.awhile(
        lambda v: A.map(lambda total: total < 1000.0, A.sum(v)),
        lambda v: A.map(lambda x: x * 2 + 1, v),
        A.scanl(A.add, 0.0, xs),
    )
    return sums, A.generate((A.length(xs),), lambda ix: xs[ix[0]] + sums[ix[0] + 1])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [0, 1, 5, 100])
def test_a_state_of_one_element_more(size: int, backend: Literal["llvm", "opencl"]) -> None:
    xs = np.arange(size) / 4
    expected = A.run(grown(A.use(xs)), backend="interpreter")
    for results in (A.run(grown(A.use(xs)), backend=backend), A.runN(grown, backend=backend)(xs)):
        for result, wanted in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result, wanted)


def longer(xs: Floats, ys: Floats) -> Floats:
    """`ys` has one element more than `xs`."""
    return A.zipWith(A.add, A.scanl(A.add, 0.0, xs), ys)


@pytest.mark.llvm
def test_an_argument_without_the_element_more() -> None:
    fast = A.runN(longer)
    assert fast(np.ones(2), np.ones(3)).tolist() == [1, 2, 3]
    assert fast(np.ones(0), np.ones(1)).tolist() == [1]
    for shapes in ((3, 3), (1, 0), (0, 0)):
        with pytest.raises(AccelShapeError):
            fast(*map(np.ones, shapes))


@pytest.mark.llvm
def test_an_argument_that_the_program_makes_shorter() -> None:
    """The first parameter is as long as a scan of the second: nothing is no sum."""

    def swapped(ys: A.Acc[Any], xs: A.Acc[Any]) -> A.Acc[Any]:  # Any: arrays of float64
        return longer(xs, ys)

    fast = untyped.runN(swapped)
    assert fast(np.ones(3), np.ones(2)).tolist() == [1, 2, 3]
    with pytest.raises(AccelShapeError, match="zipWith needs arrays of equal shape"):
        fast(np.ones(0), np.ones(0))


@pytest.mark.parametrize("backend", [*BACKENDS, "interpreter"])
@pytest.mark.parametrize("flag", [True, False])
def test_one_branch_is_taken(flag: bool, backend: str) -> None:
    xs = A.use(np.arange(4.0))
    condition = A.use(np.array(flag))
    taken = A.acond(A.the(condition), A.map(lambda x: x + 1, xs), A.filter(lambda x: x > 1, xs)[0])
    results = untyped.run((taken, A.sum(taken)), backend=backend)
    assert (results[0].tolist(), float(results[1])) == (([1, 2, 3, 4], 10) if flag else ([2, 3], 5))
