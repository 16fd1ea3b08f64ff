"""What examples/kmeans.py calls."""

from typing import Self

import numpy as np

class KMeans:
    inertia_: float
    def __init__(
        self,
        n_clusters: int,
        *,
        init: np.ndarray[tuple[int, int], np.dtype[np.float64]],
        n_init: int,
        tol: float,
        max_iter: int,
    ) -> None: ...
    def fit(self, X: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Self: ...
