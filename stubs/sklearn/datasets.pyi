"""What the examples call."""

import numpy as np

class Bunch:
    data: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    feature_names: list[str]

def load_digits() -> Bunch: ...
def load_wine() -> Bunch: ...
