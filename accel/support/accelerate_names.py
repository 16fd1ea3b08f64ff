"""What to write in accel for names of Accelerate that it lacks.

The table is data: errors repeat its right side, and tests/ast/test_accelerate_names.py runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ACCELERATE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Just": "A.just(x)",
        "Just_": "A.just(x)",
        "Nothing": "A.nothing()",
        "Nothing_": "A.nothing()",
        "Z": "()",
        "Z_": "A.index()",
        "afst": "pair[0]",
        "asnd": "pair[1]",
        "arrayRank": "array.ndim",
        "arrayShape": "array.shape",
        "arraySize": "array.size",
        "atraceArray": 'A.atrace("xs", xs)',
        "clamp": "A.boundary.clamp",
        "complement": "~i",
        "divMod": "divmod(i, j)",
        "foreignAcc": "A.foreign_acc(lambda x: x, lambda xs: xs, xs)",
        "fromFunction": "A.generate((2, 3), lambda ix: ix[0])",
        "fromList": "A.use(np.array([1, 2, 3]))",
        "function": "A.boundary.function(lambda ix: 0.0)",
        "index0": "A.index()",
        "index1": "A.index(i)",
        "index2": "A.index(i, j)",
        "index3": "A.index(i, j, k)",
        "mirror": "A.boundary.mirror",
        "mkPolar": "A.mkComplex(x * A.cos(y), x * A.sin(y))",
        "negate": "A.neg(x)",
        "not_": "~p",
        "polar": "A.lift(A.magnitude(z), A.phase(z))",
        "pred": "i - 1",
        "quotRem": "A.lift(A.quot(i, j), A.rem(i, j))",
        "rotate": "A.rotateL(i, 3)",
        "shift": "A.shiftL(i, 3)",
        "succ": "i + 1",
        "toList": "A.run(xs).tolist()",
        "unindex1": "A.unindex(A.index(i))",
        "unindex2": "A.unindex(A.index(i, j))",
        "unindex3": "A.unindex(A.index(i, j, k))",
        "wrap": "A.boundary.wrap",
        "zipChecked": "A.zip(xs, xs)",
        "zipWithChecked": "A.zipWith(A.add, xs, xs)",
    }
)
"""Here `x` and `y` are expressions of floats, `i`, `j` and `k` of integers, `p` of a bool, `z` of a complex number.

`xs` is an `Acc`, `pair` two of them, `array` one of the host.
"""
