"""Parameters have the names that signatures are written with, so that a call by name reads as those do."""

from __future__ import annotations

import inspect

import pytest

import accel as A

NAMES = {
    "acond": "c a b",
    "awhile": "cond step init",
    "backpermute": "sh f xs",
    "compact": "mask xs",
    "concatOn": "axis xs ys",
    "constant": "v dtype",
    "enumFromN": "sh e",
    "enumFromStepN": "sh e step",
    "expand": "sizeOf element xs",
    "fill": "sh e",
    "fold": "f z xs",
    "foldSeg": "f z xs lengths",
    "foreign_acc": "numpy_function fallback xs",
    "gatherIf": "indices mask pred defaults xs",
    "generate": "sh f",
    "iterate": "n f x",
    "linearIndex": "xs i",
    "maybe": "default f m",
    "permute": "f defaults ixf xs",
    "permuteUnique": "defaults ixf xs",
    "permuteWith": "f defaults maybe_pairs",
    "replicate": "slix xs",
    "reshape": "sh xs",
    "run": "acc",
    "runAsync": "acc",
    "scanl": "f z xs",
    "scatter": "to defaults values",
    "scatterIf": "to mask pred defaults values",
    "scatterWith": "f defaults pairs",
    "searchsorted": "sorted_xs xs",
    "sfoldl": "f z ix xs",
    "slice": "xs slix",
    "slit": "i n xs",
    "stencil": "f boundary xs",
    "stencil2": "f b1 xs b2 ys",
    "stream": "f iterable",
    "take": "n xs",
    "the": "s",
    "topK": "k xs",
    "transposeOn": "a b xs",
    "update": "xs view values",
    "while_": "p f x",
}
"""Of functions, in order; `gather` and `gatherIf` say `indices` for `is`, which Python keeps to itself."""


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_named_as_written(name: str) -> None:
    names = NAMES[name].split()
    assert list(inspect.signature(getattr(A, name)).parameters)[: len(names)] == names
