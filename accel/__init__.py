"""accel: an embedded, typed array language that fuses optimally and runs at memory speed.

Users write `import accel as A` and find all names here. What compiles and runs is imported when it is first used.

Who reads the code follows a program from stage to stage, in this order. Each stage has a folder below `accel/`:

    user's Python -> ast -> labelled -> ilp -> fusedast -> ir -> schedule -> backends

    ast       ast/tree/nodes.py               the nodes of array computations and of their scalar functions
              ast/handles/acc.py              what users hold: a node, under static types; combinators take and give it
    labelled  labelled/nodes.py               the program as a list of named operations over arrays of scalars
              labelled/meaning/interpret.py   what it means, element by element: what all later stages must agree with
    ilp       ilp/problem/graph.py            which operation reads which array: all that the planner knows
              ilp/legality/checker.py         which clusters of operations may be one loop nest each
              ilp/plan.py                     the cheapest of them, by integer linear programming
    fusedast  fusedast/nodes.py               how the operations of each cluster are fused: a tree
    ir        ir/nodes.py                     each cluster as a nest of loops
              ir/lowering/lower.py            how trees become nests
    schedule  schedule/nodes.py               how each nest runs: in which order, in lanes, on threads
              schedule/rules.py               what makes one schedule of another, and never changes a result
    backends  backends/protocol.py            what runs nests: llvm, opencl; the interpreter runs labelled programs
              backends/executor.py            what llvm and opencl share: a program as a list of instructions
    all       compile.py                      calls one stage after the other
              execution.py                    `run` and `runN`, which users call
"""

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

# One name a line would hide in 500 lines what there is.
# fmt: off
# isort: off
from accel.ast.handles.acc import DIM0, DIM1, DIM2, DIM3, DIM4, DIM5, Acc, Array, Matrix, Num, Scalar, Segments, Vector
from accel.ast.scalars.bits import (
    clearBit, complementBit, countLeadingZeros, countTrailingZeros, popCount, rotateL, rotateR, setBit, shiftL,
    shiftR, testBit, xor,
)
from accel.ast.combinators.boundary import Boundary, boundary
from accel.ast.combinators.control import awhile, compute, iterate
from accel.ast.combinators.host.calls import atrace, foreign_acc
from accel.ast.combinators.elementwise import imap, map
from accel.ast.handles.exp import Exp
from accel.ast.scalars.trigonometry import (
    acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, sin, sinh, tan, tanh,
)
from accel.ast.scalars.floats import (
    bitcast, boolToInt, cast, cbrt, ceiling, copysign, erf, erfc, exp, expm1, floor, fma, fromIntegral, hypot,
    isInfinite, isNaN, log, log1p, log2, log10, logBase, recip, round, sqrt, toFloating, truncate,
)
from accel.ast.scalars.complex_numbers import cis, conjugate, imag, magnitude, mkComplex, phase, real
from accel.ast.combinators.folds import fold1, fold1All, scanl1, scanr1
from accel.ast.combinators.segments import fold1Seg, fold1SegOffsets
from accel.ast.combinators.segmented_scans import scanl1Seg, scanr1Seg
from accel.ast.combinators.gathering.updates import update
from accel.ast.combinators.gathering.one_pass import Fold, runFold
from accel.ast.combinators.gathering.extremes import argmax, argmin
from accel.ast.combinators.gathering.expansion import expand
from accel.ast.combinators.gathering.filters import compact, filter, justs, partition
from accel.ast.combinators.overloads import (
    acond, backpermute, enumFromN, enumFromStepN, fill, fold, foldAll, foldSeg, foldSegOffsets, generate,
    index, lift, nzip, postscanl, postscanlSeg, postscanr, postscanrSeg, prescanl, prescanlSeg, prescanr,
    prescanrSeg, replicate, reshape, rnz, scanl, scanlSeg, scanlTotal, scanlTotalSeg, scanr, scanrSeg, scanrTotal,
    scanrTotalSeg, slice, unindex, unit, unlift, use,
)
from accel.ast.combinators.parts import (
    drop, dropOn, init, initOn, reverse, reverseOn, slit, slitOn, tail, tailOn, take, takeOn, transpose, transposeOn,
)
from accel.ast.combinators.permutations import permute, permuteUnique, permuteWith, scatter, scatterWith
from accel.ast.combinators.prelude import (
    all, and_, any, indexed, length, linearIndex, maximum, minimum, null, or_, product, shape, size, sum, the,
)
from accel.ast.combinators.gathering.masked import gatherIf, scatterIf
from accel.ast.combinators.gathering.joining import append, concatOn
from accel.ast.combinators.linear_algebra.einsum import einsum
from accel.ast.combinators.linear_algebra.products import dot, matmul, outer, tensordot
from accel.ast.combinators.linear_algebra.rearranging import flatten, flip, subdivide
from accel import random
from accel.ast.combinators.reorder import All, AllType, gather
from accel.ast.combinators.sorting.search import searchsorted
from accel.ast.combinators.sorting.sorts import argsort, sort, sortBy, topK
from accel.ast.combinators.stencils import Neighbourhood, stencil, stencil2
from accel.ast.combinators.zips.arities import (
    izipWith, izipWith3, izipWith4, izipWith5, izipWith6, izipWith7, izipWith8, izipWith9,
    zipWith, zipWith3, zipWith4, zipWith5, zipWith6, zipWith7, zipWith8, zipWith9,
    unzip, unzip3, unzip4, unzip5, unzip6, unzip7, unzip8, unzip9,
    zip, zip3, zip4, zip5, zip6, zip7, zip8, zip9,
)
from accel.ast.scalars.conversions import (
    abs, add, div, eq, even, gcd, ge, gt, lcm, le, lt, max, min, mod, mul, ne, neg, odd, pow, quot, rem, signum, sub,
)
from accel.ast.combinators.control import assert_, iiterate
from accel.errors import AccelAssertionError, AccelAttributeError
from accel.ast.combinators.overloads import match, sfoldl
from accel.ast.handles.elements import Maybe
from accel.ast.handles.records import Field, Record
from accel.ast.scalars.maybes import fromJust, fromMaybe, isJust, isNothing, just, maybe, nothing
from accel.ast.handles.tuples import (
    cond, constant, fromIndex, fst, indexHead, indexTail, intersect, select, shapeSize, snd, toIndex, while_,
)
from accel.errors import (
    AccelDeviceError, AccelError, AccelIndexError, AccelInternalError, AccelMemoryError, AccelNaNError,
    AccelRearrangeError, AccelShapeError, AccelSolverWarning, AccelStagingError, AccelTypeError, AccelValueError, AccelWarning,
    AccelZeroDivisionError,
)
# isort: on
# fmt: on

if TYPE_CHECKING:
    from accel.backends.residence import DeviceMemory
    from accel.device_array import DeviceArray
    from accel.device_list import Device, devices
    from accel.entrances.put import put
    from accel.explanation.explain import explain
    from accel.explanation.explanation import Explanation
    from accel.ilp.problem.cost import CostLevel, CostModel
    from accel.ilp.problem.cost_function import CostCluster
    from accel.profiling.profile import profile
    from accel.profiling.profiled import LoopProfile, Profile
    from accel.rearrange.rearrangement import Rearrangement, rearrangements
    from accel.running import run, run1, runAsync, runN, stream
    from accel.settings import using

    __version__: str
else:
    from accel.ast.combinators.refused_calls import check_class as _check_class
    from accel.ast.combinators.refused_calls import checked as _checked
    from accel.ast.combinators.refused_calls import checked_call as _checked_call
    from accel.support.distribution import version as _version
    from accel.support.forks import load as _load
    from accel.support.numpy_names import missing as _missing

    _LATER = MappingProxyType(
        {
            "CostCluster": "accel.ilp.problem.cost_function",
            "CostLevel": "accel.ilp.problem.cost",
            "CostModel": "accel.ilp.problem.cost",
            "Device": "accel.device_list",
            "DeviceArray": "accel.device_array",
            "DeviceMemory": "accel.backends.residence",
            "Explanation": "accel.explanation.explanation",
            "LoopProfile": "accel.profiling.profiled",
            "Profile": "accel.profiling.profiled",
            "devices": "accel.device_list",
            "explain": "accel.explanation.explain",
            "Rearrangement": "accel.rearrange.rearrangement",
            "put": "accel.entrances.put",
            "profile": "accel.profiling.profile",
            "rearrangements": "accel.rearrange.rearrangement",
            "run": "accel.running",
            "runN": "accel.running",
            "run1": "accel.running",
            "runAsync": "accel.running",
            "stream": "accel.running",
            "using": "accel.settings",
        }
    )
    """Names that are looked up when they are first used, and where."""

    def __getattr__(name: str) -> object:
        if name == "__version__":
            found = _version()
        elif name in _LATER:
            _load(_LATER[name])
            found = _checked_call(getattr(import_module(_LATER[name]), name), __name__)
        else:
            raise _missing(name, __all__)
        globals()[name] = found  # Python looks there first: next time it does not ask
        return found


__all__ = [
    "DIM0", "DIM1", "DIM2", "DIM3", "DIM4", "DIM5", "Acc",
    "AccelAssertionError", "AccelAttributeError",
    "AccelDeviceError", "AccelError", "AccelIndexError",
    "AccelInternalError", "AccelMemoryError", "AccelNaNError", "AccelRearrangeError", "AccelShapeError",
    "AccelSolverWarning", "AccelStagingError",
    "AccelTypeError", "AccelValueError", "AccelWarning", "AccelZeroDivisionError", "All", "AllType", "Array",
    "Boundary", "CostCluster", "CostLevel", "CostModel",
    "Device", "DeviceArray", "DeviceMemory", "Exp", "Explanation",
    "Field",
    "Fold",
    "LoopProfile", "Matrix", "Maybe", "Neighbourhood", "Num", "Profile",
    "Rearrangement", "Record", "Scalar", "Segments", "Vector",
    "abs", "acond", "acos", "acosh", "add", "all", "and_", "any",
    "append",
    "argmax",
    "argmin",
    "argsort",
    "asin", "asinh",
    "assert_",
    "atan", "atan2", "atanh",
    "atrace",
    "awhile",
    "backpermute", "bitcast", "boolToInt",
    "boundary",
    "cast", "cbrt", "ceiling",
    "cis",
    "clearBit",
    "compact",
    "complementBit", "compute",
    "concatOn",
    "cond",
    "conjugate",
    "constant", "copysign", "cos", "cosh", "countLeadingZeros", "countTrailingZeros", "devices", "div", "dot", "drop",
    "dropOn", "einsum", "enumFromN", "enumFromStepN", "eq", "erf", "erfc", "even", "exp",
    "expand",
    "explain", "expm1", "fill",
    "filter", "flatten", "flip", "floor", "fma", "fold", "fold1", "fold1All",
    "fold1Seg",
    "fold1SegOffsets",
    "foldAll",
    "foldSeg",
    "foldSegOffsets",
    "foreign_acc",
    "fromIndex", "fromIntegral",
    "fromJust", "fromMaybe", "fst", "gather",
    "gatherIf",
    "gcd", "ge", "generate", "gt", "hypot",
    "iiterate",
    "imag",
    "imap", "index", "indexHead",
    "indexTail", "indexed", "init", "initOn", "intersect", "isInfinite", "isJust", "isNaN", "isNothing", "iterate",
    "izipWith",
    "izipWith3",
    "izipWith4",
    "izipWith5",
    "izipWith6",
    "izipWith7",
    "izipWith8",
    "izipWith9",
    "just",
    "justs",
    "lcm", "le", "length", "lift", "linearIndex", "log", "log1p", "log2", "log10", "logBase", "lt",
    "magnitude",
    "map",
    "match",
    "matmul", "max", "maximum", "maybe", "min", "minimum",
    "mkComplex",
    "mod", "mul", "ne", "neg", "nothing", "null", "nzip",
    "odd", "or_", "outer",
    "partition",
    "permute",
    "permuteUnique",
    "permuteWith",
    "phase",
    "popCount", "postscanl",
    "postscanlSeg",
    "postscanr",
    "postscanrSeg",
    "pow", "prescanl",
    "prescanlSeg",
    "prescanr",
    "prescanrSeg",
    "product",
    "profile", "put", "quot", "random",
    "real",
    "rearrangements", "recip", "rem", "replicate", "reshape", "reverse", "reverseOn", "rnz",
    "rotateL", "rotateR",
    "round", "run",
    "run1",
    "runAsync",
    "runFold",
    "runN", "scanl",
    "scanl1",
    "scanl1Seg",
    "scanlSeg",
    "scanlTotal",
    "scanlTotalSeg",
    "scanr",
    "scanr1",
    "scanr1Seg",
    "scanrSeg",
    "scanrTotal",
    "scanrTotalSeg",
    "scatter",
    "scatterIf",
    "scatterWith",
    "searchsorted",
    "select", "setBit",
    "sfoldl",
    "shape", "shapeSize", "shiftL", "shiftR", "signum", "sin", "sinh", "size",
    "slice", "slit", "slitOn", "snd",
    "sort", "sortBy",
    "sqrt",
    "stencil", "stencil2",
    "stream",
    "sub", "subdivide", "sum", "tail", "tailOn", "take", "takeOn", "tan",
    "tanh", "tensordot", "testBit", "the", "toFloating", "toIndex",
    "topK",
    "transpose", "transposeOn", "truncate", "unindex",
    "unit", "unlift", "unzip", "unzip3", "unzip4", "unzip5",
    "unzip6",
    "unzip7",
    "unzip8",
    "unzip9",
    "update",
    "use", "using", "while_", "xor", "zip", "zip3", "zip4",
    "zip5",
    "zip6",
    "zip7",
    "zip8",
    "zip9",
    "zipWith", "zipWith3", "zipWith4", "zipWith5",
    "zipWith6",
    "zipWith7",
    "zipWith8",
    "zipWith9",
]  # fmt: skip

if not TYPE_CHECKING:
    globals().update(_checked(globals(), __all__, __name__))
    vars(random).update(_checked(vars(random), random.__all__, random.__name__))
    _check_class(Fold, "accel.Fold")
    _check_class(type(boundary), "accel.boundary")


def __dir__() -> list[str]:
    """What `dir(accel)` and completion offer: the public names, those that are looked up later as well."""
    return [*__all__, "__version__"]
