"""What examples/black_scholes.py calls."""

import numpy as np

_Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

def ndtr(x: _Floats) -> _Floats: ...
