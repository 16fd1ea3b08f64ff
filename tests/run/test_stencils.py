"""Stencils: every boundary by its definition, arrays narrower than the neighbourhood, and what they fuse with."""

from __future__ import annotations

import doctest
import itertools
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.marks import one_in

Host: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[Any]]"
Vector: TypeAlias = A.Acc[A.Vector[np.float32]]
Matrix: TypeAlias = A.Acc[A.Matrix[np.float32]]
Offsets: TypeAlias = tuple[tuple[int, ...], ...]
UNTYPED: Any = A  # ranks that mypy would have to know, and mistakes that it finds
BACKENDS = ["interpreter", "llvm", "opencl"]
BOUNDARIES = {
    "clamp": A.boundary.clamp,
    "mirror": A.boundary.mirror,
    "wrap": A.boundary.wrap,
    "constant": A.boundary.constant(-7),
    "function": UNTYPED.boundary.function(lambda ix: A.toFloating(reduce(add, A.unlift(ix)), np.float32)),
}


def element(name: str, x: Host, at: tuple[int, ...]) -> np.float32:
    """What stands at an index that may be outside."""
    if all(0 <= i < n for i, n in zip(at, x.shape, strict=True)):
        return np.float32(x[at])
    match name:
        case "clamp":
            return np.float32(x[tuple(min(max(i, 0), n - 1) for i, n in zip(at, x.shape, strict=True))])
        case "wrap":
            return np.float32(x[tuple(i % n for i, n in zip(at, x.shape, strict=True))])
        case "mirror":
            lines = [[*range(n), *range(n - 2, 0, -1)] for n in x.shape]
            return np.float32(x[tuple(line[i % len(line)] for i, line in zip(at, lines, strict=True))])
        case "constant":
            return np.float32(-7)
    return np.float32(sum(at))


def expected(name: str, x: Host, offsets: Offsets) -> Host:
    """The sum over the offsets, the later ones more heavily, element by element."""
    found = np.empty(x.shape, np.float32)
    for index in np.ndindex(x.shape):
        terms = (element(name, x, tuple(map(add, index, each))) * np.float32(k + 1) for k, each in enumerate(offsets))
        found[index] = reduce(add, terms)
    return found


def weighted(offsets: Offsets, boundary: object, xs: A.Acc[Any]) -> A.Acc[Any]:
    def element(n: Callable[..., A.Exp[np.float32]]) -> A.Exp[np.float32]:
        return reduce(add, [n(*each) * (k + 1) for k, each in enumerate(offsets)])

    found: A.Acc[Any] = UNTYPED.stencil(element, boundary, xs)
    return found


LINES: list[Offsets] = [((-1,), (0,), (1,)), ((2,), (-2,)), ((3,),), ((-5,), (4,), (0,)), ((70,),), ((0,),)]
CASES: list[tuple[tuple[int, ...], Offsets]] = [
    *(((n,), offsets) for n in (0, 1, 2, 3, 5, 40, 133) for offsets in LINES),
    *((shape, ((-1, 0), (0, 1), (1, -2))) for shape in ((1, 1), (2, 1), (1, 9), (3, 70), (0, 4), (4, 0), (9, 33))),
    *((shape, ((0, -1, 0), (1, 0, 2), (-4, 0, 0))) for shape in ((1, 2, 1), (3, 3, 35), (2, 0, 3))),
    ((2, 3, 2, 5), ((0, 1, -1, 3), (-1, 0, 0, -2))),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("shape", "offsets"), one_in(6, CASES))
def test_every_boundary_is_what_it_says(shape: tuple[int, ...], offsets: Offsets, backend: str) -> None:
    x = np.random.default_rng(3).integers(-50, 50, shape).astype(np.float32)
    program = untyped.runN(
        lambda xs: tuple(weighted(offsets, each, xs) for each in BOUNDARIES.values()), backend=backend
    )
    for name, found in zip(BOUNDARIES, program(x), strict=True):
        np.testing.assert_array_equal(found, expected(name, x, offsets), err_msg=name)


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_arrays_with_a_boundary_each(backend: str) -> None:
    x, y = np.arange(12.0).reshape(3, 4), np.arange(12).reshape(3, 4) * 10

    def program(xs: A.Acc[A.Matrix[np.float64]], ys: A.Acc[A.Matrix[np.int64]]) -> A.Acc[A.Matrix[np.float64]]:
        return A.stencil2(
            lambda n, m: n(1, 0) - A.toFloating(m(0, -1) + m(0, 0), np.float64),
            A.boundary.clamp,
            xs,
            A.boundary.wrap,
            ys,
        )

    want = x[[1, 2, 2]] - (np.roll(y, 1, 1) + y)
    np.testing.assert_array_equal(A.runN(program, backend=backend)(x, y), want)


@pytest.mark.parametrize("backend", BACKENDS)
def test_elements_that_are_tuples(backend: str) -> None:
    pairs = A.use((np.arange(5, dtype=np.int32), np.arange(5) > 2))
    found = A.stencil(lambda n: A.cond(n(1)[1], n(-1)[0], n(2)[0]), A.boundary.constant((9, True)), pairs)
    np.testing.assert_array_equal(A.run(found, backend=backend), [2, 3, 1, 2, 3])


def test_a_map_of_a_stencil_is_part_of_it() -> None:
    def program(xs: Matrix) -> Matrix:
        edges = A.stencil(lambda n: n(0, 1) - n(0, -1), A.boundary.clamp, xs)
        return A.map(lambda e: e * e, edges)

    assert A.explain(program).loops == 1


def test_stencils_of_one_array_share_a_loop_with_each_other_and_with_its_other_readers() -> None:
    def program(xs: Matrix) -> tuple[Matrix, Matrix, A.Acc[A.Vector[np.float32]]]:
        down = A.stencil(lambda n: n(1, 0) - n(0, 0), A.boundary.mirror, xs)
        right = A.stencil(lambda n: n(0, 1) - n(0, 0), A.boundary.mirror, xs)
        return down, right, A.sum(xs)

    assert A.explain(program).loops == 1


def chain(xs: Vector) -> Vector:
    doubled = A.map(lambda x: x * 2 + 1, xs)
    return A.stencil(lambda n: n(-1) + n(0) + n(1), A.boundary.mirror, doubled)


@pytest.mark.solver
def test_a_stencil_of_a_map_reads_what_the_map_reads() -> None:
    again, once = A.explain(chain), A.explain(chain, duplicate="gathers")
    assert (again.loops, once.loops) == (1, 2)
    assert again.cost < once.cost
    assert A.explain(chain, duplicate=True).cost == again.cost
    x = np.arange(9, dtype=np.float32)
    np.testing.assert_array_equal(untyped.runN(chain)(x), untyped.runN(chain, duplicate="gathers")(x))


def test_residuals_are_folded_where_they_are_made() -> None:
    def program(us: Matrix, vs: Matrix) -> A.Acc[A.Scalar[np.float32]]:
        residual = A.stencil2(lambda u, v: v(0, 0) - u(0, 1) + u(1, 0), A.boundary.wrap, us, A.boundary.clamp, vs)
        return A.foldAll(A.add, 0, A.map(lambda r: r * r, residual))

    assert A.explain(program).loops == 1
    u, v = np.random.default_rng(0).standard_normal((2, 37, 130)).astype(np.float32)
    np.testing.assert_array_equal(untyped.runN(program)(u, v), untyped.runN(program, backend="interpreter")(u, v))


def life(cells: A.Acc[A.Matrix[np.bool_]]) -> A.Acc[A.Matrix[np.bool_]]:
    around = [each for each in itertools.product((-1, 0, 1), repeat=2) if each != (0, 0)]

    def lives(n: A.Neighbourhood[A.DIM2, np.bool_]) -> A.Exp[np.bool_]:
        count = reduce(add, [A.boolToInt(n(*each)) for each in around])
        return (count == 3) | (n(0, 0) & (count == 2))

    return A.iterate(4, lambda state: A.stencil(lives, A.boundary.wrap, state), cells)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_glider_flies_around_the_edge(backend: str) -> None:
    glider = np.zeros((7, 9), bool)
    glider[[5, 6, 0, 0, 0], [7, 8, 6, 7, 8]] = True
    np.testing.assert_array_equal(A.runN(life, backend=backend)(glider), np.roll(glider, (1, 1), (0, 1)))


XS = A.use(np.arange(4, dtype=np.float32))


@pytest.mark.parametrize("offset", [2**47 + 1, -(2**63)])
def test_an_offset_beyond_all_arrays_is_refused(offset: int) -> None:
    with pytest.raises(A.AccelValueError, match="larger than any array"):
        A.stencil(lambda n: n(offset), A.boundary.clamp, XS)


@pytest.mark.parametrize("offset", [2**47, -(2**47), np.int8(-3)])
def test_an_offset_within_all_arrays_is_taken(offset: int) -> None:
    for name, outside in BOUNDARIES.items():
        found = A.run(weighted(((offset,),), outside, XS))
        np.testing.assert_array_equal(found, expected(name, np.arange(4, dtype=np.float32), ((int(offset),),)))


def test_neighbours_that_nobody_needs_are_not_read() -> None:
    def program(xs: Vector) -> Vector:
        def element(n: A.Neighbourhood[A.DIM1, np.float32]) -> A.Exp[np.float32]:
            n(6)
            return n(0)

        return A.stencil(element, A.boundary.wrap, xs)

    assert "mod" not in A.explain(program).stages["labelled"]


@pytest.mark.parametrize(
    ("boundary", "message"),
    [
        (A.boundary.constant(1.5), "the boundary of stencil must be i64"),
        (A.boundary.function(lambda ix: A.constant(1, np.int8)), "the boundary function of stencil must be i64"),
        (UNTYPED.boundary.function(lambda i, j: i), "boundary function of stencil must take 1 argument"),
    ],
)
def test_a_wrong_boundary_is_an_error_also_where_nothing_outside_is_asked_for(boundary: Any, message: str) -> None:
    with pytest.raises(A.AccelTypeError, match=message):
        A.stencil(lambda n: n(0), boundary, A.use(np.arange(3)))


def test_unequal_shapes_are_an_error() -> None:
    ys = A.use(np.arange(5))
    with pytest.raises(A.AccelShapeError, match="stencil2"):
        A.stencil2(lambda n, m: n(0) + A.cast(m(0), np.float32), A.boundary.clamp, XS, A.boundary.clamp, ys)


@pytest.mark.parametrize("made", [A.boundary.constant, A.boundary.function, A.stencil, A.stencil2])
def test_the_examples_in_docstrings(made: object) -> None:
    test = doctest.DocTestParser().get_doctest(made.__doc__ or "", {"A": A, "np": np}, "", None, 0)
    found = doctest.DocTestRunner().run(test)
    assert (found.failed, found.attempted > 0) == (0, True)
