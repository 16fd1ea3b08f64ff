"""Sums of products add each product in one rounding: what exact fractions say, on every backend, whatever is fused.

Truth is the tree of docs/order.md over `Fraction`s, each step rounded once to the element type.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel.support.choices import STRATEGIES
from tests import untyped
from tests.marks import one_in, slow
from tests.untyped import accel as U

Reals: TypeAlias = npt.NDArray[np.floating[Any]]  # Any: f32 or f64

EXTENTS = (1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 10_000)
BACKENDS = ("interpreter", "llvm", pytest.param("opencl", marks=slow))
TYPES = (np.float32, np.float64)


def rounded(value: Fraction, kind: type[np.floating[Any]]) -> Fraction:
    """The number of a type that is nearest, ties to even; of normal ones, which is all that is drawn here."""
    if not value:
        return value
    bits = np.finfo(kind).nmant
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    exponent -= abs(value) < Fraction(2) ** exponent
    unit = Fraction(2) ** (exponent - bits)
    return round(value / unit) * unit


def tree(xs: Reals, ys: Reals, fused: bool = True) -> Fraction:
    """The sum as docs/order.md has it, with products that are rounded or not before they are added."""
    kind = xs.dtype.type
    width = 32 if xs.itemsize == 8 else 64

    def add(left: Fraction, right: Fraction) -> Fraction:
        return rounded(left + right, kind)

    blocks = []
    for start in range(0, len(xs), 4096):
        lanes: list[Fraction] = []
        for i, (x, y) in enumerate(zip(xs[start : start + 4096], ys[start : start + 4096], strict=True)):
            product = Fraction(float(x)) * Fraction(float(y))
            product = product if fused else rounded(product, kind)
            if i < width:
                lanes.append(rounded(product, kind))
            else:
                lanes[i % width] = add(lanes[i % width], product)
        half = width // 2
        while half:
            for place in range(max(0, min(half, len(lanes) - half))):
                lanes[place] = add(lanes[place], lanes[place + half])
            half //= 2
        blocks.append(lanes[0])
    while len(blocks) > 1:
        pairs = [add(left, right) for left, right in zip(blocks[::2], blocks[1::2], strict=False)]
        blocks = pairs + blocks[len(blocks) - len(blocks) % 2 :]
    return blocks[0]


def drawn(kind: type[np.floating[Any]], count: int, seed: int) -> tuple[Reals, Reals]:
    random = np.random.default_rng(seed)
    return random.standard_normal(count).astype(kind), random.standard_normal(count).astype(kind)


def dot(xs: Reals, ys: Reals) -> A.Acc[A.Scalar[Any]]:
    return A.sum(A.zipWith(A.mul, A.use(xs), A.use(ys)))


def bits(program: object, **given: Any) -> bytes:
    """The bits of a program's only result."""
    found = untyped.run(program, **given)
    return np.asarray(found).tobytes()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("extent", one_in(4, EXTENTS))
def test_a_dot_product_is_the_exact_tree_rounded_once_a_step(kind: type[np.floating[Any]], extent: int) -> None:
    xs, ys = drawn(kind, extent, 1)
    for fused, name in ((True, "fused"), (False, "rounded")):
        expected = kind(float(tree(xs, ys, fused)))
        for backend in ("interpreter", "llvm"):
            found = bits(dot(xs, ys), backend=backend, products=name)
            assert found == expected.tobytes(), (backend, name)


def test_the_two_roundings_differ() -> None:
    xs, ys = drawn(np.float64, 4096, 2)
    assert tree(xs, ys) != tree(xs, ys, fused=False)
    assert bits(dot(xs, ys)) != bits(dot(xs, ys), products="rounded")


@pytest.mark.opencl
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("extent", one_in(4, (0, *EXTENTS)))
def test_opencl_gives_the_interpreter_s_bits(kind: type[np.floating[Any]], extent: int) -> None:
    xs, ys = drawn(kind, extent, 3)
    assert bits(dot(xs, ys), backend="opencl") == bits(dot(xs, ys), backend="interpreter")


def rows(kind: type[np.floating[Any]], shape: tuple[int, ...]) -> tuple[Reals, Reals]:
    xs, ys = drawn(kind, int(np.prod(shape)), 4)
    return xs.reshape(shape), ys.reshape(shape)


def matrix_product(kind: type[np.floating[Any]]) -> object:
    a, b = rows(kind, (5, 200))[0], rows(kind, (200, 3))[1]
    left = A.replicate((A.All, 3, A.All), A.use(a))
    right = A.replicate((5, A.All, A.All), A.transpose(A.use(b)))
    return A.sum(A.zipWith(A.mul, left, right))


def variances(kind: type[np.floating[Any]]) -> object:
    """A tuple of a plain sum and one of products."""
    xs, _ = rows(kind, (7, 130))
    pairs = A.map(lambda x: A.lift(x, x * x), A.use(xs))
    return A.fold1(lambda p, q: A.lift(A.fst(p) + A.fst(q), A.snd(p) + A.snd(q)), pairs)


def whole(kind: type[np.floating[Any]]) -> object:
    xs, ys = rows(kind, (70, 131))
    return A.foldAll(A.add, 1, A.zipWith(lambda x, y: (x - y) * (x + y), A.use(xs), A.use(ys)))


def of_three(kind: type[np.floating[Any]]) -> object:
    xs, ys = rows(kind, (3, 4100))
    return A.sum(A.zipWith(lambda x, y: x * y * (x - y), A.use(xs), A.use(ys)))


def scaled(kind: type[np.floating[Any]]) -> object:
    """One factor is the same everywhere."""
    xs, _ = rows(kind, (300,))
    return A.sum(A.map(lambda x: x * kind(0.1), A.use(xs)))


def gathered(kind: type[np.floating[Any]]) -> object:
    """The factors are read in another order, and by another loop."""
    xs, ys = rows(kind, (500,))
    turned = A.reverse(A.use(xs))
    return A.sum(A.zipWith(A.mul, A.scanl1(A.add, turned), A.use(ys)))


def in_a_loop(kind: type[np.floating[Any]]) -> object:
    xs, ys = rows(kind, (100,))

    def step(state: A.Acc[Any]) -> A.Acc[Any]:
        length = A.sum(A.zipWith(A.mul, state, A.use(ys)))
        return A.map(lambda x: x + A.the(length) * kind(0.001), state)

    return A.iterate(3, step, A.use(xs))


def shorter_than_its_loop(kind: type[np.floating[Any]]) -> object:
    """The scan's loop has one turn more than the fold's elements."""
    xs, ys = rows(kind, (129,))
    shared = U.zipWith(lambda x, y: x - y, U.use(xs), U.use(ys))
    return U.zip(U.replicate((130,), U.sum(U.map(lambda x: x * x, shared))), U.scanl(U.add, 0, shared))


PROGRAMS = (matrix_product, variances, whole, of_three, scaled, gathered, in_a_loop, shorter_than_its_loop)


def results(program: object, **given: Any) -> list[bytes]:
    found = untyped.run(program, **given)
    return [part.tobytes() for part in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("made", PROGRAMS, ids=lambda made: made.__name__)
def test_all_strategies_give_the_interpreter_s_bits(made: Callable[[type[np.floating[Any]]], object]) -> None:
    for kind in TYPES:
        program = made(kind)
        assert "products" in A.explain(program).stages["labelled"]
        expected = results(program, backend="interpreter")
        for number, strategy in enumerate(STRATEGIES):
            duplicate = number % 2 == 0
            assert results(program, strategy=strategy, duplicate=duplicate) == expected, (strategy, duplicate)
        assert results(program, threads=1) == expected


@pytest.mark.opencl
@pytest.mark.parametrize("made", PROGRAMS, ids=lambda made: made.__name__)
def test_all_programs_on_opencl(made: Callable[[type[np.floating[Any]]], object]) -> None:
    for kind in TYPES:
        assert results(made(kind), backend="opencl") == results(made(kind), backend="interpreter")


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
@pytest.mark.parametrize("kind", TYPES)
def test_special_numbers(kind: type[np.floating[Any]], backend: str) -> None:
    """A fold of products of one or two turns of a lane is fma of these numbers, NaNs apart from their bits."""
    tiny, large = float(np.finfo(kind).smallest_subnormal), float(np.finfo(kind).max)
    width = 32 if kind is np.float64 else 64
    cases: list[tuple[float, float, float, float]] = [
        (-0.0, 1.0, -0.0, 1.0), (0.0, 1.0, -0.0, 1.0), (-0.0, 0.0, 0.0, -0.0), (tiny, 0.5, tiny, 0.5),
        (large, 2.0, -large, 2.0), (large, 1.0, -large, 2.0), (large, 1.0, large, 2.0), (tiny, 1.0, -tiny, 1.0),
        (-tiny, 0.25, 0.0, -1.0), (np.inf, 0.0, 1.0, 1.0), (np.inf, 1.0, -np.inf, 1.0), (np.nan, 1.0, 1.0, 1.0),
        (1.0, 1.0, np.inf, -1.0), (large, 2.0, -np.inf, 1.0),
    ]  # fmt: skip
    for x, y, later_x, later_y in cases:
        xs, ys = np.full(width + 1, -0.0, kind), np.ones(width + 1, kind)
        xs[0], ys[0], xs[width], ys[width] = x, y, later_x, later_y
        program = A.fold1(A.add, A.zipWith(A.mul, A.use(xs), A.use(ys)))
        found = np.asarray(untyped.run(program, backend=backend))
        with np.errstate(all="ignore"):
            wanted = kind(_fused(kind, later_x, later_y, float(kind(x) * kind(y))))
        same = found.tobytes() == wanted.tobytes() or (np.isnan(found) and np.isnan(wanted))
        assert same, (x, y, later_x, later_y, found, wanted)


def _fused(kind: type[np.floating[Any]], x: float, y: float, z: float) -> float:
    """`x * y + z`, rounded once by whoever converts it to `kind`: what is exact here is exact in Python's floats as well."""
    if not np.isfinite([x, y]).all():
        return x * y + z
    if not np.isfinite(z):
        return z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z
    too_large = abs(exact) > Fraction(float(np.finfo(kind).max))
    return (float("inf") if exact > 0 else -float("inf")) if too_large else float(exact)


def labelled(program: object) -> str:
    return A.explain(program).stages["labelled"]


def test_what_is_a_sum_of_products() -> None:
    xs, ys = drawn(np.float64, 10, 5)
    x, y = A.use(xs), A.use(ys)
    product = A.zipWith(A.mul, x, y)
    assert "fold[products, commutes]" in labelled(A.sum(product))
    assert "fold1[products, commutes]" in labelled(A.fold1(A.add, product))
    assert "fold[2 dimensions, products, commutes]" in labelled(whole(np.float64))
    assert "fold1[products 1, commutes]" in labelled(variances(np.float64))
    kept = A.filter(lambda v: v > 0, x)[0]
    for other in (
        (A.sum(product), product),  # a result
        A.sum(A.compute(product)),
        (A.sum(product), A.maximum(product)),  # read twice
        A.sum(A.gather(A.enumFromN((4,), 0), product)),
        A.product(product),
        A.fold(lambda a, b: a - b, 0.0, product),
        A.scanl1(A.add, product),
        A.sum(A.map(lambda v: -(v * v), x)),
        A.sum(A.map(lambda v: v * v, kept)),  # a filter's extent
        A.sum(A.map(lambda v: v * v, A.use(np.arange(5)))),  # exact
    ):
        assert "products" not in labelled(other)


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_products_that_are_shared_or_forced_are_rounded(backend: str) -> None:
    xs, ys = drawn(np.float32, 700, 6)
    product = A.zipWith(A.mul, A.use(xs), A.use(ys))
    expected = np.float32(float(tree(xs, ys, fused=False)))
    assert expected != np.float32(float(tree(xs, ys)))
    total, array = untyped.run((A.sum(product), product), backend=backend)
    assert total == expected
    np.testing.assert_array_equal(array, xs * ys)
    assert untyped.run(A.sum(A.compute(product)), backend=backend) == expected


def test_rows_of_a_matrix_product_are_dot_products() -> None:
    for kind in TYPES:
        a, b = rows(kind, (5, 200))[0], rows(kind, (200, 3))[1]
        found = np.asarray(untyped.run(matrix_product(kind)))
        for i, j in np.ndindex(5, 3):
            assert found[i, j].tobytes() == bits(dot(a[i], np.ascontiguousarray(b[:, j])))


def test_all_checks_name_the_multiplication() -> None:
    xs = A.use(np.array([1.0, np.inf]))
    with pytest.raises(A.AccelNaNError, match="zipWith"):
        untyped.run(A.sum(A.zipWith(A.mul, xs, A.use(np.array([1.0, 0.0])))), checks="all")


def test_products_are_part_of_the_key_of_compiled_functions() -> None:
    xs, ys = drawn(np.float64, 500, 7)
    function = untyped.runN(lambda x, y: A.sum(A.zipWith(A.mul, x, y)))
    fused = np.asarray(function(xs, ys)).tobytes()
    with A.using(products="rounded"):
        rounded_first = np.asarray(function(xs, ys)).tobytes()
    assert fused == np.float64(float(tree(xs, ys))).tobytes()
    assert rounded_first == np.float64(float(tree(xs, ys, fused=False))).tobytes()
    assert np.asarray(function(xs, ys)).tobytes() == fused
