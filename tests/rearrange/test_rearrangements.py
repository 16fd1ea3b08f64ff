"""Every order gives the program's result: NumPy's for products, bit for bit where nothing may be associated otherwise."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.rearrange import rearrangement
from accel.rearrange.cost import predicted
from accel.rearrange.literal import text

RANDOM = np.random.default_rng(7)
A_, B_, G_ = RANDOM.standard_normal((8, 12)), RANDOM.standard_normal((12, 6)), RANDOM.standard_normal(12)
Program = Callable[..., Any]
EQUATION_1: Program = lambda a, b, u, v: A.rnz(A.add, lambda w, x, y, z: (w + x) * (y + z), a, b, u, v, seed=0)  # noqa: E731
PROGRAMS: dict[str, tuple[Program, tuple[Any, ...], dict[str, tuple[int, ...]], Any]] = {
    "product": (lambda a, b: A.matmul(a, b), (A_, B_), {"j": (3,), "k": (4,)}, A_ @ B_),
    "weighted": (lambda a, b, g: A.einsum("ij,jk,j->ik", a, b, g), (A_, B_, G_), {"k": (4,)}, (A_ * G_) @ B_),
    "f32": (lambda a, b: A.matmul(a, b), (A_.astype("f4"), B_.astype("f4")), {"k": (4,)}, A_ @ B_),
    "integers": (
        lambda a, b: A.matmul(a, b),
        ((A_ * 9).astype("i4"), (B_ * 9).astype("i4")),
        {"k": (4,)},
        (A_ * 9).astype("i4") @ (B_ * 9).astype("i4"),
    ),
    "bools": (lambda a, b: A.matmul(a, b), (A_ > 1, B_ > 1), {"k": (4,)}, (A_ > 1) @ (B_ > 1)),
    "matrix and vector": (lambda a, g: A.matmul(a, g), (A_, G_), {"j": (4,)}, A_ @ G_),
    "vector and matrix": (lambda g, b: A.matmul(g, b), (G_, B_), {"j": (4,)}, G_ @ B_),
    "dot": (lambda g: A.dot(g, g), (G_,), {"i": (4,)}, G_ @ G_),
    "outer": (lambda g: A.outer(g, g), (G_,), {"i": (4,)}, np.outer(G_, G_)),
    "two axes": (lambda a: A.tensordot(a, a), (A_,), {}, np.tensordot(A_, A_)),
    "shortest paths": (
        lambda a, b: A.fold1(
            A.min,
            A.zipWith(A.add, A.replicate((A.All, 6, A.All), a), A.replicate((8, A.All, A.All), A.transpose(b))),
        ),
        (A_, B_),
        {"k": (3,)},
        np.min(A_[:, None, :] + B_.T[None], axis=2),
    ),
    "equation 1": (
        EQUATION_1,
        (A_, A_ * 2, np.broadcast_to(G_, (8, 12)), np.broadcast_to(G_, (8, 12))),
        {"j": (4,)},
        (A_ * 3) @ (G_ * 2),
    ),
    "empty": (lambda a, b: A.matmul(a, b), (np.zeros((3, 0)), np.zeros((0, 2))), {}, np.zeros((3, 2))),
}


@pytest.mark.parametrize("association", ["free", "fixed"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_order_gives_the_result(name: str, association: Any) -> None:
    program, arrays, subdivide, expected = PROGRAMS[name]
    found = A.rearrangements(program, *arrays, subdivide=subdivide, association=association)
    for each in found[:: 1 + len(found) // 8]:
        each.verify()
        result = each.run()
        assert result.shape == np.shape(expected)
        np.testing.assert_allclose(
            result, expected, rtol=1e-4 if name == "f32" else 1e-12, atol=1e-5 if name == "f32" else 1e-12
        )
        if association == "fixed":
            np.testing.assert_array_equal(result, found[0].run())


@pytest.mark.parametrize("extents", [(0, 3, 2), (2, 0, 2), (2, 3, 0), (0, 0, 0)])
def test_loops_without_turns(extents: tuple[int, int, int]) -> None:
    n, m, k = extents
    for each in A.rearrangements(A.matmul, np.ones((n, m)), np.ones((m, k))):
        assert each.predicted >= 0
        np.testing.assert_array_equal(each.run(), np.zeros((n, k)))


def test_verify_finds_a_wrong_result() -> None:
    found = A.rearrangements(lambda a, b: A.matmul(a, b), A_, B_)
    program = found[2]._program
    assert np.max(np.abs(program.reference - A_ @ B_)) < np.min(program.bound[program.bound > 0]) * 100
    program.__dict__["reference"] = program.reference + 1e-9
    with pytest.raises(A.AccelRearrangeError, match="computes something else at 48 elements"):
        found[2].verify()


def test_the_bound_is_of_the_summands() -> None:
    """2·n·eps·Σ|xy|, also where the sum itself is small."""
    found = A.rearrangements(lambda a, b: A.matmul(a, b), A_, B_)
    expected = 2 * 12 * np.finfo(float).eps * (np.abs(A_) @ np.abs(B_))
    np.testing.assert_allclose(found[0]._program.bound, expected, rtol=1e-12)


def test_nothing_is_associated_otherwise_without_leave() -> None:
    (first, *_) = A.rearrangements(lambda a, b: A.matmul(a, b), A_, B_)
    assert "fadd reassoc nsz contract double" in text(first._program.nest, first._order, free=True)
    assert "fadd double" in text(first._program.nest, first._order, free=False)
    assert "reassoc" not in text(first._program.nest, first._order, free=False)


def test_a_measurement() -> None:
    (first, *_) = A.rearrangements(lambda a, b: A.matmul(a, b), A_, B_)
    assert 0 < first.measure() < 10
    assert str(first) == "mapA mapB rnz: as it is written"
    assert first.extents == (8, 6, 12)


def test_the_model_knows_what_decides() -> None:
    """Rows before columns; and the paper's first and last orders of Table 1, and of Table 2, at its size."""
    big = np.zeros((1024, 1024))
    for subdivide, best, worst in (
        ({}, {"mapA rnz mapB", "rnz mapA mapB"}, {"rnz mapB mapA", "mapB rnz mapA"}),
        (
            {"k": (16,)},
            {"rnz mapA rnz mapB", "mapA rnz rnz mapB", "rnz mapA mapB rnz"},
            {"rnz rnz mapB mapA", "mapB rnz rnz mapA"},
        ),
    ):
        found = sorted(
            A.rearrangements(lambda a, b: A.matmul(a, b), big, big, subdivide=subdivide),
            key=lambda each: each.predicted,
        )
        assert found[0].name in best
        assert found[-1].name in worst
        assert found[0].predicted == predicted(found[0]._program.nest, found[0]._order)


def test_the_model_knows_what_is_loaded_before_a_sum_that_is_written_out() -> None:
    """Of transposed factors: a column of the first one serves all turns of the loop around, which goes along the second's."""
    x = np.zeros((256, 256))
    every = A.rearrangements(lambda a, b: A.matmul(A.transpose(a), A.transpose(b)), x, x, subdivide={"k": (64,)})
    assert min(every, key=lambda each: each.predicted).name in {"rnz mapA mapB rnz", "mapA rnz mapB rnz"}


def test_it_is_public_and_imported_late() -> None:
    assert inspect.unwrap(A.rearrangements) is rearrangement.rearrangements
