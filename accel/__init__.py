"""accel: an embedded, typed array language that fuses optimally and runs at memory speed."""

from accel.ast.acc import DIM0, DIM1, DIM2, DIM3, DIM4, DIM5, Acc, Array, Matrix, Scalar, Segments, Vector
from accel.ast.elementwise import imap, map
from accel.ast.exp import Exp
from accel.ast.folds import fold, fold1
from accel.ast.overloads import (
    unzip,
    unzip3,
    unzip4,
    unzip5,
    use,
    zip,
    zip3,
    zip4,
    zip5,
    zipWith,
    zipWith3,
    zipWith4,
    zipWith5,
)
from accel.ast.scalars import add, mul

__all__ = [
    "DIM0",
    "DIM1",
    "DIM2",
    "DIM3",
    "DIM4",
    "DIM5",
    "Acc",
    "Array",
    "Exp",
    "Matrix",
    "Scalar",
    "Segments",
    "Vector",
    "add",
    "fold",
    "fold1",
    "imap",
    "map",
    "mul",
    "unzip",
    "unzip3",
    "unzip4",
    "unzip5",
    "use",
    "zip",
    "zip3",
    "zip4",
    "zip5",
    "zipWith",
    "zipWith3",
    "zipWith4",
    "zipWith5",
]
