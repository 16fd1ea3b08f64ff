"""A size that a loop's turn computes from an array of its state is there though nobody needs that array's elements.

Once: a `KeyError` of Python's, where an extent of the next state may turn out negative and the loop's result is another array.
"""

from __future__ import annotations

import numpy as np
import pytest

import accel as A

XS, YS = np.arange(6.0), np.arange(5)

Pair = tuple[A.Acc[A.Vector[np.float64]], A.Acc[A.Vector[np.int64]]]


def shorter_and_longer(state: Pair) -> Pair:
    """The first grows shorter by two, which may turn out impossible; the second grows."""
    return A.generate((A.length(state[0]) - 2,), lambda ix: A.toFloating(ix[0], np.float64)), A.append(
        state[1], A.use(YS)
    )


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_the_other_array_is_the_result(backend: str) -> None:
    _, longer = A.iterate(3, shorter_and_longer, (A.use(XS), A.use(YS)))
    assert A.run(longer, backend=backend).tolist() == YS.tolist() * 4
    assert A.run(A.unit(A.length(longer)), backend=backend) == 20


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_an_extent_that_turns_out_negative_is_an_error(backend: str) -> None:
    _, longer = A.iterate(4, shorter_and_longer, (A.use(XS), A.use(YS)))
    with pytest.raises(A.AccelShapeError, match="generate needs extents that are not negative, got -2"):
        A.run(longer, backend=backend)
