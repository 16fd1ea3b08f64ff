"""What examples/canny.py calls."""

import numpy as np

def camera() -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]: ...
