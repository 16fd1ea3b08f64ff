"""What examples/pagerank.py calls."""

import numpy as np

_Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
_Ints = np.ndarray[tuple[int], np.dtype[np.int64]]

class csr_matrix:
    def __init__(self, arg1: tuple[_Floats, tuple[_Ints, _Ints]], shape: tuple[int, int]) -> None: ...
    def __matmul__(self, other: _Floats) -> _Floats: ...
