"""Products that are one function of all indices: what it reads of each factor is found apart, so that tiles take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import accel as A
from accel import settings
from accel.explanation.explain import subject
from accel.ir.meaning.interpret import interpret
from accel.ir.mentions import nests
from accel.ir.nodes import Nest
from accel.ir.passes.apart import apart
from accel.labelled.meaning.interpret import interpret as meaning
from accel.schedule.templates.tile import tile
from tests import untyped

Handle = A.Acc[Any]  # Any: of elements that are known at run time
Arrays = NDArray[Any]  # Any: of any type of numbers

pytestmark = [pytest.mark.llvm, pytest.mark.solver]


def cube(element: Callable[..., Any], xs: Handle, ys: Handle) -> Handle:
    """`element` of the rows of both, and a column."""
    rows, count = A.unlift(xs.shape)
    columns, _ = A.unlift(ys.shape)
    return A.generate(A.index(rows, columns, count), lambda ix: element(*A.unindex(ix)))


def product(xs: Handle, ys: Handle) -> Handle:
    return A.sum(cube(lambda i, j, k: xs[i, k] * ys[j, k], xs, ys))


def distances(xs: Handle, ys: Handle) -> Handle:
    def squared(i: Any, j: Any, k: Any) -> Any:
        return (xs[i, k] - ys[j, k]) * (xs[i, k] - ys[j, k])

    return A.sum(cube(squared, xs, ys))


def least_sums(xs: Handle, ys: Handle) -> Handle:
    return A.minimum(cube(lambda i, j, k: xs[i, k] + ys[j, k], xs, ys))


def scaled(xs: Handle, ys: Handle) -> Handle:
    """One factor is computed of two arrays, the other read at a place that an array says."""
    means = A.sum(xs)

    def element(i: Any, j: Any, k: Any) -> Any:
        place = A.truncate(A.abs(ys[j, 0]), np.int64) % A.size(means)
        return (xs[i, k] - means[i] * 0.5) * ys[place % 3, k]

    return A.sum(cube(element, xs, ys))


def of_a_map(xs: Handle, ys: Handle) -> Handle:
    rows, _ = A.unlift(ys.shape)
    return A.sum(
        A.imap(lambda ix, x: x * ys[A.unindex(ix)[1], A.unindex(ix)[2]], A.replicate((A.All, rows, A.All), xs))
    )


PROGRAMS = [product, distances, least_sums, scaled, of_a_map]


def data(rows: int = 7, columns: int = 5, count: int = 6) -> tuple[Arrays, Arrays]:
    generator = np.random.default_rng(rows)
    return generator.standard_normal((rows, count)), generator.standard_normal((columns, count)) * 3


def staged_of(program: Callable[..., Handle]) -> Any:  # Any: of stages
    return subject(program, list(data()), settings.changed({})).staged


def last_nest(program: Callable[..., Handle]) -> Nest:
    return list(nests(staged_of(program).loops))[-1]


@pytest.mark.parametrize("program", PROGRAMS)
def test_tiles_take_them(program: Callable[..., Handle]) -> None:
    assert tile(last_nest(program)) is not None


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_bit_changes(program: Callable[..., Handle]) -> None:
    given = list(data())
    staged = staged_of(program)
    (expected,) = meaning(staged.labelled, given)
    for loops in (staged.lowered, staged.loops):
        assert interpret(loops, given)[0].tobytes() == np.asarray(expected).tobytes()
    for rows, columns, count in ((7, 5, 6), (0, 5, 6), (7, 0, 6), (7, 5, 70), (40, 50, 33)):
        xs, ys = data(rows, columns, count)
        if program in (least_sums, scaled) and not rows * columns:
            continue
        found = untyped.runN(program)(xs, ys)
        assert found.tobytes() == untyped.runN(program, backend="interpreter")(xs, ys).tobytes()


def test_the_product_is_numpy_s() -> None:
    xs, ys = data(40, 50, 33)
    np.testing.assert_allclose(A.runN(product)(xs, ys), xs @ ys.T)
    np.testing.assert_allclose(A.runN(distances)(xs, ys), ((xs[:, None] - ys[None]) ** 2).sum(-1))


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_an_index_that_is_out_of_bounds_is_the_user_s(backend: str) -> None:
    def program(xs: Handle, ys: Handle) -> Handle:
        return A.sum(cube(lambda i, j, k: xs[i, k] * ys[j + 1, k], xs, ys))

    with pytest.raises(
        A.AccelIndexError, match=r"index \(50, 0\) is out of bounds for an array of shape \(50, 33\)"
    ) as raised:
        untyped.runN(program, backend=backend)(*data(40, 50, 33))
    assert "test_apart.py" in str(raised.value)


def test_choices_stay_whole() -> None:
    """Each branch loads what it needs only where it is taken."""

    def program(xs: Handle, ys: Handle) -> Handle:
        def element(i: Any, j: Any, k: Any) -> Any:
            return A.cond(j > 0, xs[i, k] * ys[j - 1, k], 0.0)

        return A.sum(cube(element, xs, ys))

    xs, ys = data(8, 6, 5)
    expected = xs @ np.concatenate([np.zeros((1, 5)), ys[:-1]]).T
    np.testing.assert_allclose(A.runN(program)(xs, ys), expected, atol=1e-12)


def test_what_reads_nothing_stays() -> None:
    def program(xs: Handle, ys: Handle) -> Handle:
        return A.sum(cube(lambda i, j, k: A.toFloating(i * k + j, np.float64), xs, ys))

    nest = last_nest(program)
    assert apart(nest) is nest
