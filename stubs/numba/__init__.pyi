"""Type stubs for Numba: only what the benchmarks use."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

def njit(*, parallel: bool = ..., fastmath: bool = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def prange(stop: int) -> range: ...
