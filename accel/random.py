"""`A.random`: random numbers that follow from keys, without any state. Their types stand in `random.pyi`.

That is written by `tools/random_types.py`: one overload for each rank. What the functions do, and what `help` says of them,
stands in the files from which they come.
"""

from __future__ import annotations

from accel.ast.combinators.random.keys import Key, key, split
from accel.ast.combinators.random.numbers import bits, integers, normal, uniform

__all__ = ["Key", "bits", "integers", "key", "normal", "split", "uniform"]
