"""[Ber]'s language: `nzip` and `rnz` are maps and folds, `subdivide`, `flatten` and `flip` are views with the paper's laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped

UNTYPED: Any = A
M = np.arange(24.0).reshape(2, 12)
C = np.arange(24).reshape(2, 3, 4)


def evaluated(program: A.Acc[Any]) -> Any:
    return A.run(program, backend="interpreter")


@pytest.mark.parametrize("count", [1, 2, 5, 7])
def test_nzip(count: int) -> None:
    found = evaluated(UNTYPED.nzip(lambda *xs: sum(xs[1:], xs[0]), *[A.use(M)] * count))
    np.testing.assert_array_equal(found, M * count)


@pytest.mark.parametrize("count", [1, 2, 5, 7])
def test_rnz(count: int) -> None:
    arrays = [A.use(M + k) for k in range(count)]
    expected = sum(M + k for k in range(count))
    together = lambda *xs: sum(xs[1:], xs[0])  # noqa: E731  # it stands twice
    np.testing.assert_array_equal(evaluated(UNTYPED.rnz(A.max, together, *arrays)), np.max(expected, axis=1))
    np.testing.assert_array_equal(
        evaluated(UNTYPED.rnz(A.add, together, *arrays, seed=1)), 1 + np.sum(expected, axis=1)
    )


def test_rnz_of_empty_rows() -> None:
    empty = A.use(np.zeros((2, 0)))
    np.testing.assert_array_equal(evaluated(A.rnz(A.add, A.mul, empty, empty, seed=0)), np.zeros(2))
    with pytest.raises(A.AccelValueError):
        evaluated(A.rnz(A.add, A.mul, empty, empty))


def test_rnz_is_a_fold_of_nzip() -> None:
    """Equation 26, and 27: a zip of zips is one zip, a reduction of a zip one reduction."""
    xs = A.use(M)
    assert A.explain(A.rnz(A.add, A.mul, xs, xs, seed=0)).loops == 1
    assert A.explain(A.nzip(A.mul, A.nzip(A.add, xs, xs), xs)).loops == 1


@pytest.mark.parametrize(("axis", "b"), [(0, 1), (0, 2), (1, 1), (1, 3), (-1, 12), (-2, 2)])
def test_subdivide_and_flatten_undo_each_other(axis: int, b: int) -> None:
    """Outside n/b, inside b."""
    found = A.subdivide(axis, b, A.use(M))
    at = axis % 2
    shape = (*M.shape[:at], M.shape[at] // b, b, *M.shape[at + 1 :])
    np.testing.assert_array_equal(evaluated(found), M.reshape(shape))
    assert found.extents == shape
    np.testing.assert_array_equal(evaluated(A.flatten(at, found)), M)


@pytest.mark.llvm
@pytest.mark.parametrize("b", [1, 2, 6])
def test_views_of_arguments(b: int) -> None:
    """Extents, and the block, that are known when the program is run only."""
    found = untyped.runN(lambda m, n: A.flip(0, 1, A.subdivide(1, A.the(n), m)))(M, np.int64(b))
    np.testing.assert_array_equal(found, M.reshape(2, 12 // b, b).transpose(1, 0, 2))
    np.testing.assert_array_equal(untyped.runN(lambda m: A.flatten(0, m))(M.reshape(2, 3, 4)), M.reshape(6, 4))


@pytest.mark.parametrize(("a", "b"), [(0, 1), (0, 2), (1, 2), (-1, 0), (1, 1)])
def test_flip(a: int, b: int) -> None:
    """It is its own inverse, and does not mind the order of its axes (section 2.1)."""
    np.testing.assert_array_equal(evaluated(A.flip(a, b, A.use(C))), C.swapaxes(a, b))
    np.testing.assert_array_equal(evaluated(A.flip(b, a, A.use(C))), C.swapaxes(a, b))
    np.testing.assert_array_equal(evaluated(A.flip(a, b, A.flip(a, b, A.use(C)))), C)


@pytest.mark.parametrize(("axis", "shape"), [(0, (6, 4)), (1, (2, 12)), (-2, (2, 12)), (-3, (6, 4))])
def test_flatten_of_an_axis(axis: int, shape: tuple[int, int]) -> None:
    np.testing.assert_array_equal(evaluated(A.flatten(axis, A.use(C))), C.reshape(shape))


def test_flatten_of_all() -> None:
    np.testing.assert_array_equal(evaluated(A.flatten(A.use(C))), C.ravel())
    np.testing.assert_array_equal(evaluated(A.flatten(xs=A.use(C))), C.ravel())
    np.testing.assert_array_equal(evaluated(A.subdivide(0, 4, A.use(np.zeros(0)))), np.zeros((0, 4)))


@pytest.mark.parametrize("b", [5, 0, -1, 24])
def test_blocks_that_do_not_divide(b: int) -> None:
    with pytest.raises(A.AccelShapeError, match="subdivide"):
        A.subdivide(1, b, A.use(M))


@pytest.mark.llvm
@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
@pytest.mark.parametrize("b", [5, 0, 24, -3])
def test_blocks_that_do_not_divide_when_it_is_run(b: int, backend: str) -> None:
    with pytest.raises(A.AccelShapeError):
        untyped.runN(lambda m, n: A.subdivide(1, A.the(n), m), backend=backend)(M, np.int64(b))


def test_what_is_refused() -> None:
    m = A.use(M)
    with pytest.raises(A.AccelValueError, match="no axis after axis 1"):
        A.flatten(1, m)
    with pytest.raises(A.AccelValueError, match="no axis 2"):
        A.flip(0, 2, m)
    with pytest.raises(A.AccelTypeError, match=r"write `A\.flatten\(0, m\)`"):
        UNTYPED.flatten(m, 0)
    with pytest.raises(A.AccelTypeError, match=r"write `A\.subdivide\(0, 2, m\)`"):
        UNTYPED.subdivide(m, 0, 2)
    with pytest.raises(A.AccelTypeError, match="one array at least"):
        UNTYPED.nzip(A.add)
    with pytest.raises(A.AccelShapeError, match="nzip needs arrays of equal shape"):
        A.nzip(A.add, m, A.use(M[:1]))
