"""Products over several axes: nests of a row, a column and a fold, in the same bits, whatever the axes are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import accel as A
from accel import settings
from accel.errors import AccelShapeError
from accel.explanation.explain import subject
from accel.ir.meaning.interpret import interpret
from accel.ir.mentions import levels, nests
from accel.ir.passes.contractions import merged
from accel.ir.verify import verify
from accel.labelled.meaning.interpret import interpret as meaning
from accel.schedule.templates.tile import tile
from tests import untyped

EXTENTS = {"a": 2, "b": 3, "c": 4, "d": 5, "i": 7, "j": 6, "k": 5, "l": 4, "m": 3}

Arrays = NDArray[Any]  # Any: of any type of numbers

pytestmark = [pytest.mark.llvm, pytest.mark.solver]

TILES = [
    "ikl,klj->ij", "ikl,jkl->ij", "ikl,kjl->ij", "iklm,klmj->ij", "akl,kblc->abc", "akl,klbc->abc", "abk,kcd->abcd",
    "abk,cdk->abcd", "kab,kcd->abcd", "akbl,lckd->abcd", "abk,kcd->acbd", "aibk,abkj->aijb", "ik,ikl,klj->ij",
]  # fmt: skip
"""With rows and columns, which one loop has of each."""

FOLDS = ["ijk,jk->i", "ijk,ijk->i", "ijk,ijk->k", "ikl,ik->i", "ij,ij->", "kij,kj->ki"]
"""Without both."""


def data(form: str, seed: int = 0, kind: type[np.generic] = np.float32) -> list[Arrays]:
    generator = np.random.default_rng(seed)
    inputs = form.split("->")[0].split(",")
    return [generator.standard_normal([EXTENTS[axis] for axis in axes]).astype(kind) for axes in inputs]


def einsum(form: str) -> Callable[..., A.Acc[Any]]:
    return lambda *arrays: A.einsum(form, *arrays)


def loops_of(program: Callable[..., Any], *arrays: Arrays) -> Any:
    return subject(program, list(arrays), settings.changed({})).staged


@pytest.mark.parametrize("form", TILES)
def test_products_are_computed_in_tiles(form: str) -> None:
    nest = list(nests(loops_of(einsum(form), *data(form)).loops))[-1]
    assert tile(nest) is not None


@pytest.mark.parametrize("form", [*TILES, *FOLDS])
def test_no_bit_changes(form: str) -> None:
    """By the interpreters of the labelled program and of loops, and by `llvm` in both."""
    given = data(form)
    staged = loops_of(einsum(form), *given)
    verify(staged.loops)
    expected = meaning(staged.labelled, given)
    for loops in (staged.lowered, staged.loops):
        for found, wanted in zip(interpret(loops, given), expected, strict=True):
            assert found.tobytes() == np.asarray(wanted).tobytes()
    (wanted,) = expected
    assert np.asarray(untyped.run(A.einsum(form, *map(A.use, given)))).tobytes() == np.asarray(wanted).tobytes()
    assert np.allclose(np.asarray(wanted), np.einsum(form, *given), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", ["llvm", pytest.param("opencl", marks=pytest.mark.opencl)])
@pytest.mark.parametrize("form", ["ikl,klj->ij", "akl,kblc->abc", "abk,kcd->abcd", "ijk,jk->i"])
def test_of_any_memory_and_extents(form: str, backend: str) -> None:
    """Transposed, reversed and strided arguments; empty sums, and results without elements; large ones, which tiles take."""
    program = A.runN(einsum(form), backend=backend)
    inputs, _ = form.split("->")
    for extents in ({}, {"k": 0}, {"i": 0, "a": 0}, {"j": 1, "c": 1, "l": 1}, dict.fromkeys("ijkabc", 40)):
        sizes = {**EXTENTS, **extents}
        shapes = [[sizes[axis] for axis in axes] for axes in inputs.split(",")]
        given = [np.random.default_rng(1).integers(-9, 9, shape).astype(np.float32) for shape in shapes]
        expected = np.einsum(form, *given)
        for change in (
            np.asarray,
            np.asfortranarray,
            lambda x: x[::-1].copy()[::-1],
            lambda x: np.repeat(x, 2, -1)[..., ::2],
        ):
            np.testing.assert_array_equal(program(*map(change, given)), expected)


def test_the_text() -> None:
    """Both arrays are read under other shapes, whose extent the host finds."""
    staged = loops_of(lambda xs, ys: A.tensordot(xs, ys, 2), *data("ikl,klj->ij"))
    (before,), (after,) = nests(staged.lowered), nests(staged.loops)
    assert [sum(level.loop is not None for level in levels(nest)) for nest in (before, after)] == [4, 3]
    assert A.explain(lambda xs, ys: A.tensordot(xs, ys, 2), *data("ikl,klj->ij")).stages["ir"] == TEXT


TEXT = """\
require [n0,n3,n1,n2] = [n0,n3,n4,n5]
parameter %0 : f32[n0,n1,n2]
parameter %1 : f32[n1,n2,n3] of [n4,n5,n3]
sizes n4 = x0 = mul n1 n2; x1 = min x0 140737488355328; max x1 0
view %2.2000 : f32[n0,n4] = %0
view %2.2001 : f32[n4,n3] = %1
nest %2 -> %5 : f32[n0,n3]
  for i0 < n0
    for i1 < n3
      for i2m < n4
        fold e5 from 0.0f32 by λx0 x1. add x0 x1 [products, commutes]
        e0_l2 = %2.2000[i0, i2m]
        e1_l3 = %2.2001[i2m, i1]
        step e5 e0_l2, e1_l3
      %5[i0, i1] := e5
return %5"""


def test_the_reports_speak_of_the_program_s_own_arrays() -> None:
    explained = A.explain(lambda xs, ys: A.tensordot(xs, ys, 2), *data("ikl,klj->ij"))
    (cluster,) = explained.clusters
    assert [each.array for each in cluster.read_arrays] == ["%0", "%1"]
    assert explained.bytes_read == 4 * (7 * 20 + 20 * 6)


def test_without_tiles_nothing_is_divided() -> None:
    """OpenCL's processors run products row by row: there loops keep their order, and are merged if views are enough."""
    for form, loops in (("ikl,klj->ij", 3), ("ikl,kjl->ij", 4), ("abk,kcd->abcd", 5), ("ijk,jk->i", 2)):
        given = data(form)
        staged = loops_of(einsum(form), *given)
        (nest,) = nests(merged(staged.lowered, tiles=False))
        assert sum(level.loop is not None for level in levels(nest)) == loops
        (wanted,) = interpret(staged.lowered, given)
        assert interpret(merged(staged.lowered, tiles=False), given)[0].tobytes() == wanted.tobytes()


def test_products_stay_as_they_are() -> None:
    """Of a row, a column and a fold, batches of them, and what is no product."""
    for form in ("ik,kj->ij", "aik,akj->aij", "aik,kj->aij", "ij,j->i", "ij,ij->ij"):
        staged = loops_of(einsum(form), *data(form))
        assert staged.loops == staged.lowered
        assert merged(staged.loops) == staged.loops


def patches(xs: A.Acc[Any], weights: A.Acc[Any]) -> A.Acc[Any]:
    """A convolution: one factor is made where it is read, of three axes that are summed; what comes after is fused."""
    rows, columns, _ = A.unlift(xs.shape)
    high, wide, channels, _ = A.unlift(weights.shape)

    def patch(ix: A.Exp[Any]) -> A.Exp[Any]:
        i, j, a, b, c = A.unindex(ix)
        return xs[i + a, j + b, c]

    windows = A.generate(A.index(rows - high + 1, columns - wide + 1, high, wide, channels), patch)
    return A.imap(
        lambda ix, x: A.max(x + A.cast(A.unindex(ix)[2], np.float32), 0), A.einsum("ijabc,abco->ijo", windows, weights)
    )


def test_factors_that_are_made_where_they_are_read() -> None:
    """Their indices are found by divisions, each time that one is packed."""
    generator = np.random.default_rng(2)
    xs, weights = (generator.integers(-5, 5, shape).astype(np.float32) for shape in ((9, 8, 3), (3, 2, 3, 5)))
    (nest,) = nests(loops_of(patches, xs, weights).loops)
    assert tile(nest) is not None
    windows = np.lib.stride_tricks.sliding_window_view(xs, (3, 2), (0, 1))
    expected = np.maximum(np.einsum("ijcab,abco->ijo", windows, weights) + np.arange(5), 0)
    for backend in ("interpreter", "llvm"):
        np.testing.assert_array_equal(A.runN(patches, backend=backend)(xs, weights), expected)


def test_sides_that_divide_are_one_loop_each() -> None:
    """Rows and columns of a convolution. Of so few elements, known to be so few, that tiles pack nothing, loops stay apart."""

    def blurred(xs: A.Acc[Any], weights: A.Acc[Any]) -> A.Acc[Any]:
        rows, columns = A.unlift(xs.shape)

        def patch(ix: A.Exp[Any]) -> A.Exp[Any]:
            i, j, a, b = A.unindex(ix)
            return xs[i + a, j + b]

        return A.einsum("ijab,abo->ijo", A.generate(A.index(rows - 2, columns - 2, 3, 3), patch), weights)

    generator = np.random.default_rng(2)
    for program, shapes, loops in ((patches, ((9, 8, 3), (3, 2, 3, 5)), 3), (blurred, ((9, 8), (3, 3, 4)), 4)):
        given = [generator.integers(-5, 5, shape).astype(np.float32) for shape in shapes]
        staged = loops_of(program, *given)
        (nest,) = nests(staged.loops)
        assert sum(level.loop is not None for level in levels(nest)) == loops
        for one, other in zip(interpret(staged.lowered, given), interpret(staged.loops, given), strict=True):
            assert one.tobytes() == other.tobytes()


def test_in_loops_and_branches() -> None:
    xs, ys = data("ikl,klj->ij", kind=np.float64)
    ys = np.resize(ys, (5, 4, 7))

    def program(xs: A.Acc[Any], ys: A.Acc[Any]) -> A.Acc[Any]:
        def body(m: A.Acc[Any]) -> A.Acc[Any]:
            return A.zipWith(lambda x, y: x * 0.25 + y, m, A.tensordot(xs, ys, 2))

        many = A.iterate(3, body, A.tensordot(xs, ys, 2))
        return A.acond(A.the(A.sum(A.flatten(many))) > 1e9, many, A.map(lambda x: x + 1, A.tensordot(xs, ys, 2)))

    np.testing.assert_allclose(A.runN(program)(xs, ys), np.tensordot(xs, ys, 2) + 1)


def test_each_extent_is_compared() -> None:
    """Not only the number of elements that are summed."""
    program = A.runN(lambda xs, ys: A.tensordot(xs, ys, 2))
    with pytest.raises(AccelShapeError, match="needs arrays of equal shape"):
        program(np.ones((2, 3, 4)), np.ones((4, 3, 5)))


def test_indices_that_are_checked_stay_where_they_are() -> None:
    """A read that may fail before the loops that fold is not made elsewhere."""

    def program(xs: A.Acc[Any], at: A.Acc[Any], ys: A.Acc[Any]) -> A.Acc[Any]:
        scaled = A.imap(lambda ix, x: x * at[A.unindex(ix)[0] * 2], xs)
        return A.einsum("ikl,klj->ij", scaled, ys)

    xs, ys = data("ikl,klj->ij")
    at = np.arange(13, dtype=np.float32)
    expected = np.einsum("ikl,klj->ij", xs * at[::2, None, None], ys)
    for backend in ("interpreter", "llvm"):
        np.testing.assert_allclose(A.runN(program, backend=backend)(xs, at, ys), expected, rtol=1e-4)
        with pytest.raises(A.AccelIndexError):
            A.runN(program, backend=backend)(xs, at[:12], ys)


@pytest.mark.parametrize("extents", [(0, 3, 70368744177617), (0, 1 << 30, 1 << 31)])
def test_extents_whose_product_is_none(extents: tuple[int, ...]) -> None:
    """Nothing has elements: the product may be anything."""
    xs = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), extents, (0, 0, 0))
    for backend in ("interpreter", "llvm"):
        assert untyped.run(A.einsum("ijk,ijk->i", A.use(xs), A.use(xs)), backend=backend).shape == (0,)
