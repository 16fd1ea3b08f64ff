"""What examples/equalised.py calls."""

import numpy as np

def equalize_hist(
    image: np.ndarray[tuple[int, int], np.dtype[np.uint8]],
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]: ...
