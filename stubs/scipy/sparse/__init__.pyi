"""What examples/pagerank.py, components.py and conjugate_gradients.py call, and benchmarks/segments.py."""

from typing import Self

import numpy as np

_Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
_Ints = np.ndarray[tuple[int], np.dtype[np.int64]]

class csr_matrix:
    indptr: np.ndarray[tuple[int], np.dtype[np.int32]]
    indices: np.ndarray[tuple[int], np.dtype[np.int32]]
    data: _Floats
    nnz: int
    def __init__(self, arg1: tuple[_Floats, tuple[_Ints, _Ints]], shape: tuple[int, int]) -> None: ...
    def astype(self, dtype: type[np.floating]) -> Self: ...
    def __matmul__(self, other: np.ndarray[tuple[int], np.dtype[np.floating]]) -> _Floats: ...
