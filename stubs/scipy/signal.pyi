"""What tests of examples/life.py call."""

import numpy as np

_Ints = np.ndarray[tuple[int, int], np.dtype[np.int64]]

def convolve2d(in1: _Ints, in2: _Ints, mode: str = ..., boundary: str = ...) -> _Ints: ...
