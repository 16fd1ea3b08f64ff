"""What examples/conjugate_gradients.py calls."""

from collections.abc import Callable

import numpy as np

from . import csr_matrix

_Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

def cg(
    A: csr_matrix, b: _Floats, rtol: float = ..., callback: Callable[[_Floats], object] | None = ...
) -> tuple[_Floats, int]: ...
