"""A slice at an index that is too large, of rows without elements: an error when it was built by `run`, a result by `runN`.

No element is picked there, so nothing is out of bounds, as for `backpermute`; also where the array is known.
"""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from tests import untyped


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_no_element_is_out_of_bounds(backend: str) -> None:
    x = np.zeros((5, 0))
    found = untyped.runN(lambda xs: A.slice(xs, (7, A.All)), backend=backend)(x)
    assert found.shape == untyped.run(A.slice(A.use(x), (7, A.All)), backend=backend).shape == (0,)


@pytest.mark.parametrize("shape", [(5, 1), (0, 5)])
def test_an_element_is(shape: tuple[int, int]) -> None:
    x = np.zeros(shape)
    with pytest.raises(A.AccelIndexError):
        untyped.run(A.slice(A.use(x), (7, A.All)))
    with pytest.raises(A.AccelIndexError):
        untyped.runN(lambda xs: A.slice(xs, (7, A.All)))(x)
