"""What Accelerate calls each function of accel. Most have its names: here are those that do not, and those that it lacks.

The names of types, errors and what concerns this compiler alone (plans, profiles, devices) are accel's own.
"""

from __future__ import annotations

from collections.abc import Mapping

OTHERWISE: Mapping[str, str] = {
    "add": "(+)",
    "and_": "and",
    "append": "(++)",
    "assert_": "assert",
    "boundary": "clamp, mirror, wrap, function",
    "cond": "cond, (?)",
    "div": "div, (/)",
    "eq": "(==)",
    "fold1SegOffsets": "fold1Seg'",
    "foldSegOffsets": "foldSeg'",
    "foreign_acc": "foreignAcc",
    "ge": "(>=)",
    "gt": "(>)",
    "index": "index1, index2, index3",
    "just": "Just_",
    "le": "(<=)",
    "linearIndex": "(!!)",
    "lt": "(<)",
    "mkComplex": "(:+)",
    "mul": "(*)",
    "ne": "(/=)",
    "neg": "negate",
    "nothing": "Nothing_",
    "or_": "or",
    "permuteWith": "permute'",
    "pow": "(^), (^^), (**)",
    "scanlTotal": "scanl'",
    "scanlTotalSeg": "scanl'Seg",
    "scanrTotal": "scanr'",
    "scanrTotalSeg": "scanr'Seg",
    "sub": "(-)",
    "unindex": "unindex1, unindex2, unindex3",
    "while_": "while",
}

OURS = frozenset(
    {
        "argmax", "argmin", "argsort", "cast", "cbrt", "copysign", "devices", "dot", "einsum", "erf", "erfc", "explain",
        "expm1", "flip", "fma", "hypot", "iiterate", "log10", "log1p", "log2", "matmul", "nzip", "outer", "partition",
        "profile", "put", "rearrangements", "rnz", "scatterWith", "searchsorted", "sort", "sortBy", "subdivide",
        "tensordot", "topK", "update", "using",
    }
)  # fmt: skip


def said(name: str) -> str:
    """The line of a function's entry."""
    if name in OURS:
        return "Accelerate has none."
    return f"Accelerate's `{OTHERWISE.get(name, name)}`."
