"""Programs whose loops run in lanes over rows of a few elements, and what must be true of them: the interpreter's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel.backends.llvm.templates import interleaved
from accel.schedule.nodes import Template
from tests import untyped
from tests.llvm.processors import compile_again
from tests.marks import numbers_of_threads

Numbers: TypeAlias = npt.NDArray[Any]  # of any element type and rank
Program: TypeAlias = Callable[..., Any]  # its results' types follow from its arguments'


def however_few(patch: pytest.MonkeyPatch) -> None:
    """Small arrays run so, too."""
    patch.setattr(interleaved, "FEWEST", 1)
    compile_again(patch)


def has_interleaved(program: Program, *arrays: Numbers) -> bool:
    """Whether it has such a way."""
    return f": {Template.INTERLEAVED.value}\n" in A.explain(program, *arrays).stages["schedule"]


def check(program: Program, *arrays: Numbers) -> None:
    """Bits of the interpreter's, for any number of threads, of a program that has such a way."""
    assert has_interleaved(program, *arrays)
    built = program(*map(untyped.accel.use, arrays))
    expected = untyped.run(built, backend="interpreter")
    for threads in numbers_of_threads():
        found = untyped.run(built, backend="llvm", threads=threads)
        for left, right in zip(_each(found), _each(expected), strict=True):
            assert left.dtype == right.dtype
            assert left.tobytes() == right.tobytes(), f"{left} instead of {right}"


def _each(result: object) -> list[Numbers]:
    return [np.asarray(one) for one in (result if isinstance(result, tuple) else (result,))]
