"""Scatters and gathers of arrays of different extents: the part that they share, as in Accelerate (its issue 185)."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import accel as A

BACKENDS = [
    "interpreter",
    pytest.param("llvm", marks=pytest.mark.llvm),
    pytest.param("opencl", marks=pytest.mark.opencl),
]

TO = A.use(np.array([1, 3, 7, 2, 5, 8]))
MASK = A.use(np.array([3, 4, 9, 2, 7, 5]))
NINE = A.fill((9,), 0)
SEVEN = np.array([1, 9, 6, 4, 4, 2, 5])
FROM = A.use(np.array([1, 3, 7, 2, 5, 3]))
XS = A.use(np.array([1, 9, 6, 4, 4, 2, 0, 1, 2]))


def large(m: A.Exp[np.int64]) -> A.Exp[np.bool_]:
    return m > 4


PROGRAMS: dict[str, tuple[Callable[[bool], A.Acc[A.Vector[np.int64]]], list[int]]] = {
    "scatter of more": (lambda trim: A.scatter(TO, NINE, A.use(SEVEN), trim=trim), [0, 1, 4, 9, 0, 4, 0, 6, 2]),
    "scatter of fewer": (lambda trim: A.scatter(TO, NINE, A.use(SEVEN[:3]), trim=trim), [0, 1, 0, 9, 0, 0, 0, 6, 0]),
    "scatterIf of more": (
        lambda trim: A.scatterIf(TO, MASK, large, NINE, A.use(SEVEN), trim=trim),
        [0, 0, 0, 0, 0, 4, 0, 6, 2],
    ),
    "scatterIf of fewer": (
        lambda trim: A.scatterIf(TO, MASK, large, NINE, A.use(SEVEN[:3]), trim=trim),
        [0, 0, 0, 0, 0, 0, 0, 6, 0],
    ),
    "gatherIf with more defaults": (
        lambda trim: A.gatherIf(FROM, MASK, large, A.fill((7,), 6), XS, trim=trim),
        [6, 6, 1, 6, 2, 4],
    ),
    "gatherIf with fewer": (lambda trim: A.gatherIf(FROM, MASK, large, A.fill((3,), 6), XS, trim=trim), [6, 6, 1]),
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_part_that_they_share_is_taken(backend: str) -> None:
    for name, (program, expected) in PROGRAMS.items():
        assert A.run(program(True), backend=backend).tolist() == expected, name


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_it_they_are_an_error_that_says_so(name: str) -> None:
    with pytest.raises(A.AccelShapeError, match="equal shape") as caught:
        PROGRAMS[name][0](False)
    assert caught.value.hint is not None
    assert re.search("write `trim=True`", caught.value.hint)


def test_so_does_that_of_maps_that_know_their_index() -> None:
    with pytest.raises(A.AccelShapeError, match="trim=True"):
        A.izipWith(lambda ix, x, y: x + y, TO, NINE)
