"""What examples/quickhull.py and conjugate_gradients.py call."""

import numpy as np

_Floats = np.ndarray[tuple[int, int], np.dtype[np.float64]]

class ConvexHull:
    vertices: np.ndarray[tuple[int], np.dtype[np.int32]]
    def __init__(self, points: _Floats) -> None: ...

class Delaunay:
    simplices: np.ndarray[tuple[int, int], np.dtype[np.int32]]
    def __init__(self, points: _Floats) -> None: ...
