"""`dot`, `matmul`, `outer` and `tensordot` are NumPy's, are folds of products, and never read part of an axis in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel.ast.tree.nodes import Fold, Map
from tests import untyped

Host = npt.NDArray[Any]
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3,), (3,)), ((0,), (0,)), ((1,), (1,)),
    ((2, 3), (3,)), ((0, 3), (3,)), ((3, 0), (0,)), ((3,), (3, 4)), ((3,), (3, 0)),
    ((2, 3), (3, 4)), ((1, 1), (1, 1)), ((7, 1), (1, 5)), ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((5, 9), (9, 7)),
    ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((5, 2, 3), (1, 3, 4)), ((1, 2, 3), (1, 3, 4)), ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)), ((4, 1, 2, 3), (5, 3, 1)), ((0, 2, 3), (1, 3, 2)),
    ((2, 1, 3, 2, 3), (1, 4, 1, 3, 2)),
]  # fmt: skip
TYPES = ["f8", "f4", "i4", "u1", "?"]


def drawn(shape: tuple[int, ...], dtype: str = "f8") -> Host:
    """Small whole numbers: their sums are exact in every type and order."""
    random = np.random.default_rng(sum(shape) + len(shape))
    return random.integers(0 if dtype in ("u1", "?") else -4, 2 if dtype == "?" else 5, shape).astype(dtype)


def same(found: Any, expected: Any) -> None:
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(found, expected)


def evaluated(program: A.Acc[Any]) -> Any:
    return A.run(program, backend="interpreter")


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_matmul(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    xs, ys = drawn(left), drawn(right)
    same(evaluated(A.matmul(A.use(xs), A.use(ys))), xs @ ys)
    same(evaluated(A.use(xs) @ A.use(ys)), xs @ ys)


@pytest.mark.llvm
@pytest.mark.parametrize(("left", "right"), [pair for pair in SHAPES if len(pair[0]) + len(pair[1]) < 6])
def test_matmul_of_arguments(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """Nothing is known of their extents when the program is built."""
    xs, ys = drawn(left), drawn(right)
    if xs.shape[:-2] in ((), ys.shape[:-2]) or ys.shape[:-2] == ():
        same(untyped.runN(lambda a, b: A.matmul(a, b))(xs, ys), xs @ ys)


@pytest.mark.parametrize("dtype", TYPES)
def test_matmul_of_every_kind_of_element(dtype: str) -> None:
    """Of bools `or` is the sum and `and` the product, as in NumPy."""
    xs, ys = drawn((3, 5), dtype), drawn((5, 4), dtype)
    same(evaluated(A.matmul(A.use(xs), A.use(ys))), np.matmul(xs, ys))
    same(evaluated(A.outer(A.use(xs), A.use(ys))), np.outer(xs, ys))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3, 4)),
        ((2, 3), (4, 3, 5)),
        ((2, 4, 3), (5, 3, 2)),
        ((0,), (0, 2)),
    ],
)
def test_dot(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    xs, ys = drawn(left), drawn(right)
    same(evaluated(A.dot(A.use(xs), A.use(ys))), np.dot(xs, ys))


@pytest.mark.parametrize(
    ("left", "right", "axes"),
    [
        ((2, 3), (3, 4), 1), ((2, 3, 4), (3, 4, 5), 2), ((2,), (3, 4), 0), ((), (2, 3), 0), ((2, 3, 4), (2, 3, 4), 3),
        ((2, 3, 4), (4, 3), ((1, 2), (1, 0))), ((2, 3, 4), (4, 3), ([1, 2], [1, 0])), ((2, 3), (5, 3), (1, 1)),
        ((2, 3, 2), (2, 2), ((0, -1), (0, 1))), ((0, 3), (3, 2), 1), ((2, 0), (0, 2), 1),
    ],
)  # fmt: skip
def test_tensordot(left: tuple[int, ...], right: tuple[int, ...], axes: Any) -> None:
    xs, ys = drawn(left), drawn(right)
    same(evaluated(A.tensordot(A.use(xs), A.use(ys), axes)), np.tensordot(xs, ys, axes))


@pytest.mark.parametrize(("left", "right"), [((3,), (4,)), ((0,), (2,)), ((1,), (1,)), ((2, 3), (4,)), ((), (3,))])
def test_outer(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    xs, ys = drawn(left), drawn(right)
    same(evaluated(A.outer(A.use(xs), A.use(ys))), np.outer(xs, ys))


@pytest.mark.solver
@pytest.mark.parametrize(
    "program",
    [
        lambda m, v: A.matmul(m, m),
        lambda m, v: A.matmul(m, v),
        lambda m, v: A.dot(v, v),
        lambda m, v: A.tensordot(m, m),
        lambda m, v: A.einsum("ij,jk,j->ik", m, m, v),
    ],
)
def test_each_is_a_fold_by_addition_of_one_product(program: Any) -> None:
    """Nothing else stands between the fold and the map that multiplies, or is made of the product."""
    found = program(A.use(drawn((4, 4))), A.use(drawn((4,)))).node
    assert isinstance(found, Fold)
    assert str(A.explain(A.Acc(found, (None,) * found.types[0].rank)).stages["labelled"]).count("fold") == 1
    assert isinstance(found.array, Map)
    assert len(found.array.arrays) == 2


def test_matmul_is_the_program_that_is_written_by_hand() -> None:
    def by_hand(a: A.Acc[A.Matrix[np.float64]], b: A.Acc[A.Matrix[np.float64]]) -> A.Acc[A.Matrix[np.float64]]:
        (n, _), (_, m) = A.unlift(a.shape), A.unlift(b.shape)
        rows = A.replicate((n, A.All, A.All), A.transpose(b))
        return A.fold(A.add, 0, A.zipWith(A.mul, A.replicate((A.All, m, A.All), a), rows))

    a, b = A.use(drawn((3, 4))), A.use(drawn((4, 5)))
    assert A.explain(a @ b).stages["ir"] == A.explain(by_hand(a, b)).stages["ir"]


@pytest.mark.parametrize(("left", "right"), [((2, 3), (4, 2)), ((3,), (4,)), ((5, 2, 3), (4, 3, 2)), ((2, 1), (3, 2))])
def test_extents_that_differ_are_an_error_when_the_program_is_built(left: Any, right: Any) -> None:
    with pytest.raises(A.AccelShapeError) as caught:
        A.matmul(A.use(drawn(left)), A.use(drawn(right)))
    said = str(caught.value)
    assert str(left) in said
    assert str(right) in said
    assert "A.matmul(A.use" in said


@pytest.mark.llvm
@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
@pytest.mark.parametrize(
    ("left", "right"), [((2, 3), (4, 2)), ((2, 4), (3, 2)), ((3,), (4,)), ((4,), (3,)), ((2, 1), (3, 2))]
)
def test_extents_that_differ_are_an_error_when_it_is_run(left: Any, right: Any, backend: str) -> None:
    """The shorter one is not taken, nor one of 1 repeated."""
    with pytest.raises(A.AccelShapeError, match="matmul needs arrays of equal shape"):
        untyped.runN(lambda a, b: A.matmul(a, b), backend=backend)(drawn(left), drawn(right))


def test_what_is_refused() -> None:
    m, v, s = A.use(drawn((3, 3))), A.use(drawn((3,), "f4")), A.use(np.float64(1))
    unchecked: Any = A
    with pytest.raises(A.AccelTypeError, match=r"one element type, got f64 and f32(.|\n)*A\.cast\(x, np\.float64\), v"):
        unchecked.matmul(m, v)
    with pytest.raises(A.AccelTypeError, match="rank 1 or more, got rank 0"):
        unchecked.matmul(m, s)
    with pytest.raises(A.AccelTypeError, match="arrays of numbers or bools, got elements of type"):
        unchecked.dot(A.zip(v, v), A.zip(v, v))
    with pytest.raises(A.AccelTypeError, match=r"A\.use"):
        unchecked.matmul(m, drawn((3, 3)))
    with pytest.raises(A.AccelTypeError, match=r"A\.use"):
        drawn((3, 3)) @ unchecked.use(drawn((3, 3)))
    with pytest.raises(A.AccelTypeError, match=r"A\.use"):
        unchecked.use(drawn((3, 3))) @ drawn((3, 3))
    for axes, said in (
        (3, "cannot sum 3 axes"),
        (((0, 1), (0,)), "in pairs"),
        (((0, 0), (0, 1)), "once"),
        ((5, 0), "no axis 5"),
    ):
        with pytest.raises(A.AccelValueError, match=said):
            unchecked.tensordot(m, m, axes)
    for wrong in ("ij", (0,), ((0.5,), (1,))):
        with pytest.raises(A.AccelTypeError, match="tensordot needs"):
            unchecked.tensordot(m, m, wrong)
