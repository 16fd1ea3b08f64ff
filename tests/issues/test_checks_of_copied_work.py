"""Work that is recomputed where it is loaded by index kept no check of that index, if what it read first was not used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A

AnyAcc = A.Acc[Any]  # programs of many types

X = np.arange(10.0)


def program(indices: np.ndarray[Any, np.dtype[np.int64]]) -> AnyAcc:
    """The second half of `pairs` reads `xs` reversed, in bounds wherever `pairs` has an element, not its own element."""
    xs = A.use(X)
    last = A.length(xs) - 1
    pairs = A.imap(lambda ix, x: A.lift(x * 2.0, xs[last - A.unindex(ix)[0]] + 1.0), xs)
    firsts = A.map(lambda pair: A.fst(pair), pairs)
    return A.zipWith(lambda first, j: first + A.snd(pairs[j]), firsts, A.use(indices))


@pytest.mark.parametrize("duplicate", [True, "gathers", False])
@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
@pytest.mark.parametrize("index", [10, 12, -1, 2**61 + 1])
def test_an_index_out_of_bounds_is_found(index: int, backend: str, duplicate: Any) -> None:
    indices = np.array([3, 2, index, *range(7)])
    with pytest.raises(A.AccelIndexError, match=rf"index \({index},\) is out of bounds for an array of shape \(10,\)"):
        A.run(program(indices), backend=backend, duplicate=duplicate)


@pytest.mark.parametrize("backend", ["llvm", "opencl"])
def test_the_work_is_done_again_and_right(backend: str) -> None:
    indices = np.array([9, 0, 5, *range(7)])
    assert "%2.1[" not in A.explain(program(indices), duplicate=True).stages["labelled"]
    found = A.run(program(indices), backend=backend, duplicate=True)
    assert found.tolist() == (X * 2 + X[9 - indices] + 1).tolist()
