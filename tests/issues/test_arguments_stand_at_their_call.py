"""An error of a compiled function names the call that gave the wrong arrays, not the first call.

Once: the arrays "were made" where the function was called first.
"""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from tests import untyped


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_shapes_that_do_not_fit_were_given_by_this_call(backend: str) -> None:
    """In the second call and in the third, which goes the short way."""
    add = untyped.runN(lambda xs, ys: A.zipWith(A.add, xs, ys), backend=backend)
    xs = np.ones(3)
    add(xs, xs)  # the first call
    for _ in range(2):
        with pytest.raises(A.AccelShapeError) as caught:
            add(xs, xs[:2])  # the wrong call
        assert "# the wrong call" in str(caught.value)
        assert "# the first call" not in str(caught.value)
        assert add(xs, xs).tolist() == [2.0, 2.0, 2.0]
