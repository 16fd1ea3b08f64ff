"""The combinators whose static type depends on a rank, a number of items or a kind of number, gathered.

Their types stand in `overloads.pyi`, which mypy and editors read instead of this file: one overload for each case, written by
`tools/overloads.py`. What they do, and what `help` says of them, stands in the files from which they come.
"""

from __future__ import annotations

# fmt: off
# isort: off
from accel.ast.combinators.construct import enumFromN, enumFromStepN, fill, generate, unit
from accel.ast.combinators.control import acond
from accel.ast.combinators.folds import (
    fold, foldAll, postscanl, postscanr, prescanl, prescanr, scanl, scanlTotal, scanr, scanrTotal,
)
from accel.ast.combinators.host.arrays import use
from accel.ast.combinators.linear_algebra.rearranging import nzip, rnz
from accel.ast.combinators.reorder import backpermute, replicate, reshape, slice
from accel.ast.combinators.segmented_scans import (
    postscanlSeg, postscanrSeg, prescanlSeg, prescanrSeg, scanlSeg, scanlTotalSeg, scanrSeg, scanrTotalSeg,
)
from accel.ast.combinators.segments import foldSeg, foldSegOffsets
from accel.ast.scalars.row_folds import sfoldl
from accel.ast.handles.tuples import index, lift, unindex, unlift
from accel.ast.scalars.matching import match
# isort: on
# fmt: on

__all__ = [
    "acond", "backpermute", "enumFromN", "enumFromStepN", "fill", "fold", "foldAll", "foldSeg",
    "foldSegOffsets", "generate",
    "index", "lift",
    "match",
    "nzip", "postscanl", "postscanlSeg", "postscanr",
    "postscanrSeg", "prescanl", "prescanlSeg", "prescanr", "prescanrSeg", "replicate", "reshape", "rnz", "scanl",
    "scanlSeg", "scanlTotal", "scanlTotalSeg", "scanr", "scanrSeg", "scanrTotal", "scanrTotalSeg",
    "sfoldl",
    "slice", "unindex",
    "unit", "unlift", "use",
]  # fmt: skip
