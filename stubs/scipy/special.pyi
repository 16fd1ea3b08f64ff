"""What examples/black_scholes.py, the benchmarks and tests call."""

from typing import Any, TypeVar

import numpy as np

_Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

_A = TypeVar("_A", bound=np.ndarray[Any, np.dtype[Any]])  # Any: float32 and float64, of every shape

def ndtr(x: _Floats) -> _Floats: ...
def erfc(x: _A) -> _A: ...
def softmax(x: _A, axis: int | None = ...) -> _A: ...
