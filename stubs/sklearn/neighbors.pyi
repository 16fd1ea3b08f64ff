"""What examples/nearest.py calls."""

from typing import Self

import numpy as np

_Floats = np.ndarray[tuple[int, int], np.dtype[np.float64]]
_Ints = np.ndarray[tuple[int], np.dtype[np.int64]]

class KNeighborsClassifier:
    def __init__(self, n_neighbors: int, *, algorithm: str) -> None: ...
    def fit(self, X: _Floats, y: _Ints) -> Self: ...
    def predict(self, X: _Floats) -> _Ints: ...
