"""What examples/canny.py calls."""

import numpy as np

_Bools = np.ndarray[tuple[int, int], np.dtype[np.bool_]]

def binary_propagation(input: _Bools, structure: _Bools | None = ..., mask: _Bools | None = ...) -> _Bools: ...
