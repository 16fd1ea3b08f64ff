"""The combinators of 2 to 9 arrays of one shape, gathered.

Their types stand in `arities.pyi`, which mypy and editors read instead of this file, written by `tools/arities.py`.
"""

from __future__ import annotations

# fmt: off
# isort: off
from accel.ast.combinators.zips.functions import (
    izipWith, izipWith3, izipWith4, izipWith5, izipWith6, izipWith7, izipWith8, izipWith9,
    zipWith, zipWith3, zipWith4, zipWith5, zipWith6, zipWith7, zipWith8, zipWith9,
)
from accel.ast.combinators.zips.tuples import (
    unzip, unzip3, unzip4, unzip5, unzip6, unzip7, unzip8, unzip9,
    zip, zip3, zip4, zip5, zip6, zip7, zip8, zip9,
)
# isort: on
# fmt: on

__all__ = [
    "izipWith",
    "izipWith3",
    "izipWith4",
    "izipWith5",
    "izipWith6",
    "izipWith7",
    "izipWith8",
    "izipWith9",
    "unzip",
    "unzip3",
    "unzip4",
    "unzip5",
    "unzip6",
    "unzip7",
    "unzip8",
    "unzip9",
    "zip",
    "zip3",
    "zip4",
    "zip5",
    "zip6",
    "zip7",
    "zip8",
    "zip9",
    "zipWith",
    "zipWith3",
    "zipWith4",
    "zipWith5",
    "zipWith6",
    "zipWith7",
    "zipWith8",
    "zipWith9",
]  # fmt: skip
