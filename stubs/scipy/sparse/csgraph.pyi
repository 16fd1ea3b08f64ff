"""What examples/components.py calls."""

import numpy as np

from . import csr_matrix

def connected_components(
    csgraph: csr_matrix, directed: bool = ...
) -> tuple[int, np.ndarray[tuple[int], np.dtype[np.int32]]]: ...
