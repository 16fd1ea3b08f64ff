"""What examples/components.py calls."""

import numpy as np

def threshold_otsu(image: np.ndarray[tuple[int, int], np.dtype[np.uint8]]) -> np.uint8: ...
