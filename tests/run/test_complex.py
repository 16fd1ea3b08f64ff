"""Complex numbers: every operation against NumPy over edge values, and in every kind of combinator, on all backends."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.untyped import accel as U

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]
TYPES = [np.complex64, np.complex128]

FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")

INVERSES: dict[str, np.ufunc] = {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "log2": np.log2,
    "log10": np.log10,
}

UNTYPED: Any = A  # mypy refuses wrong programs, too

# Any: the types are parameters of the tests.
Numbers = np.ndarray[Any, np.dtype[Any]]


def edges(kind: Any) -> Numbers:
    """All pairs of parts at which formulas go wrong: zeros of both signs, subnormal, near 1, where exp and squares overflow."""
    limits = np.finfo(kind)
    largest, tiny = float(limits.max), float(limits.tiny)
    overflow = float(np.log(largest))
    parts = [0.0, 1.0, 0.5, 3.5, 1e-3, 0.6, 0.8, 1.0 + 1e-6, 30.0, np.pi / 2, overflow - 0.5, overflow + 0.5]
    parts += [
        overflow * 2,
        largest,
        largest / 2,
        np.sqrt(largest) * 1.5,
        tiny,
        tiny / 8,
        float(limits.smallest_subnormal),
    ]
    signed = np.array([sign * part for part in parts for sign in (1, -1)]).astype(limits.dtype)
    return parted(np.repeat(signed, len(signed)), np.tile(signed, len(signed)))


def parted(real: Numbers, imaginary: Numbers) -> Numbers:
    """The complex numbers of these parts: a sum of them would lose signs of zeros."""
    found = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    found.real, found.imag = real, imaginary
    return found


def moderate(kind: Any, count: int = 60, seed: int = 3) -> Numbers:
    random = np.random.default_rng(seed)
    return np.asarray(random.normal(size=count) + 1j * random.normal(size=count)).astype(kind)


def same(found: Numbers, expected: Numbers) -> None:
    """The same bits, but for NaNs."""
    assert found.dtype == expected.dtype
    for got, due in ((found.real, expected.real), (found.imag, expected.imag)):
        np.testing.assert_array_equal(got, due)
        numbers = ~np.isnan(due)
        np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(due)[numbers])


def close(found: Numbers, expected: Numbers, ulps: int) -> None:
    """Equal in each part but for so many units in the last place."""
    assert found.dtype == expected.dtype
    limits = np.finfo(found.dtype)
    for got, due in ((found.real, expected.real), (found.imag, expected.imag)):
        np.testing.assert_allclose(
            got, due, rtol=ulps * float(limits.eps), atol=ulps * float(limits.smallest_subnormal)
        )


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def multiplied(x: Numbers, y: Numbers) -> Numbers:
    """The plain formula: NumPy contracts it on some processors."""
    return parted(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (A.add, np.add),
    "sub": (A.sub, np.subtract),
    "mul": (A.mul, multiplied),
    "div": (A.div, np.divide),
    "eq": (A.eq, np.equal),
    "ne": (A.ne, np.not_equal),
}

UNARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "neg": (A.neg, np.negative),
    "conjugate": (A.conjugate, np.conjugate),
    "real": (A.real, np.real),
    "imag": (A.imag, np.imag),
    "isNaN": (A.isNaN, np.isnan),
    "isInfinite": (A.isInfinite, np.isinf),
    "to bool": (lambda z: A.cast(z, np.bool_), lambda z: z != 0),
    "recip": (A.recip, lambda z: 1 / z),
}


def special(kind: Any) -> Numbers:
    parts = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e30], np.finfo(kind).dtype)
    return parted(np.repeat(parts, len(parts)), np.tile(parts, len(parts)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", TYPES)
def test_what_has_one_rounding_is_as_numpy_has_it(kind: Any, backend: str) -> None:
    values = np.concatenate([special(kind), edges(kind)[::7]])
    others = np.roll(values, 11)
    xs, ys = A.use(values), A.use(others)
    found = untyped.run(tuple(A.zipWith(f, xs, ys) for f, _ in BINARY.values()), backend=backend)
    for got, (_, expected) in zip(found, BINARY.values(), strict=True):
        same(got, expected(values, others))
    each = untyped.run(tuple(A.map(f, xs) for f, _ in UNARY.values()), backend=backend)
    for got, (_, expected) in zip(each, UNARY.values(), strict=True):
        same(got, expected(values))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", TYPES)
def test_elementary_functions_overflow_only_where_numpy_s_do(kind: Any, backend: str) -> None:
    values = np.concatenate([edges(kind)[:: 1 if backend == "llvm" else 5], moderate(kind)])
    xs = A.use(values)
    found = untyped.run(tuple(A.map(getattr(A, name), xs) for name in FUNCTIONS), backend=backend)
    for got, name in zip(found, FUNCTIONS, strict=True):
        close(got, getattr(np, name)(values), 16)
    sizes: Any = untyped.run((A.map(A.magnitude, xs), A.map(A.phase, xs), A.map(abs, xs)), backend=backend)
    for got, expected in zip(sizes, (np.abs(values), np.angle(values), np.abs(values)), strict=True):
        close(got, expected, 4)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", TYPES)
def test_inverse_functions_are_numpy_s_on_both_sides_of_branch_cuts(kind: Any, backend: str) -> None:
    values = np.concatenate([edges(kind)[:: 2 if backend == "llvm" else 9], moderate(kind, 30)])
    xs = A.use(values)
    found = untyped.run(tuple(A.map(getattr(A, name), xs) for name in INVERSES), backend=backend)
    with np.errstate(all="ignore"):
        for got, (name, function) in zip(found, INVERSES.items(), strict=True):
            expected = function(values)
            close(got, expected, 16)
            for part, due in ((got.real, expected.real), (got.imag, expected.imag)):
                assert np.array_equal(np.signbit(part), np.signbit(due)), name


def test_a_logarithm_to_a_complex_base() -> None:
    values = np.array([2 + 3j, 1j, -1])
    found = untyped.run(A.map(lambda z: A.logBase(2j, z), A.use(values)), backend="llvm")
    close(found, np.log(values) / np.log(2j), 16)


@pytest.mark.parametrize("kind", TYPES)
def test_infinities_and_nans_in_roots_exponentials_and_logarithms(kind: Any) -> None:
    xs = A.use(special(kind))
    for name in ("sqrt", "exp", "log"):
        close(untyped.run(A.map(getattr(A, name), xs), backend="llvm"), getattr(np, name)(special(kind)), 16)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", TYPES)
def test_logarithms_near_the_unit_circle(kind: Any, backend: str) -> None:
    """`log(abs(z))` would lose all digits of the real part."""
    values = np.array([0.6 + 0.8j, 0.8 + 0.6j, -0.28 + 0.96j, 1 + 1e-5j, 1e-7 - 1j, 0.7071 + 0.7071j]).astype(kind)
    beyond = [Fraction(float(z.real)) ** 2 + Fraction(float(z.imag)) ** 2 - 1 for z in values]
    expected = 0.5 * np.log1p(np.array([float(each) for each in beyond]))
    found = untyped.run(A.map(A.log, A.use(values)), backend=backend)
    np.testing.assert_allclose(found.real, expected, rtol=4 * float(np.finfo(kind).eps))


def to_the(exponent: Any) -> Callable[[A.Exp[Any]], A.Exp[Any]]:
    return lambda z: A.pow(z, exponent)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", TYPES)
def test_powers(kind: Any, backend: str) -> None:
    values = np.concatenate([moderate(kind), np.array([0, 1, -1, 2j], kind)])
    xs = A.use(values)
    for exponent in (0, 1, 2, 3, -2, 7, 0.5, -1.5, 1 + 2j):
        expected = np.power(values, kind(exponent))
        written = A.map(to_the(exponent), xs)
        given = A.map(to_the(A.the(A.use(np.array(exponent, kind)))), xs)
        found = untyped.run((written, given), backend=backend)
        for got in found:
            np.testing.assert_allclose(got, expected, rtol=60 * float(np.finfo(kind).eps))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", TYPES)
def test_signum_keeps_the_direction(kind: Any, backend: str) -> None:
    largest, least = float(np.finfo(kind).max), float(np.finfo(kind).smallest_subnormal)
    values = np.array([3 + 4j, 0j, -2, complex(largest, largest), complex(least, least), complex(0, -least)]).astype(
        kind
    )
    half = 0.5**0.5
    expected = np.array([0.6 + 0.8j, 0, -1, complex(half, half), complex(half, half), -1j]).astype(kind)
    close(untyped.run(A.map(A.signum, A.use(values)), backend=backend), expected, 4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_conversions_and_literals(backend: Any) -> None:
    single = np.array([1 + 2j, -3j], np.complex64)
    integers = A.use(np.array([1, -2]))
    programs: Any = (
        A.map(lambda z: A.cast(z, np.complex128) * 1j + 2, A.use(single)),
        A.map(lambda n: A.cast(n, np.complex64), integers),
        A.map(lambda n: A.mkComplex(A.toFloating(n, np.float32), 0.5), integers),
        A.fill((2,), 1 - 1j),
        A.map(lambda n: A.cond(n > 0, A.constant(2j, np.complex64), 3), integers),
        A.map(lambda n: A.cis(A.toFloating(n, np.float64)), integers),
        A.map(lambda z: (2 - z) / (1j * z), A.use(single)),
        A.enumFromStepN((3,), A.constant(1j), A.constant(1 + 1j)),
        A.map(lambda z: A.match(z, (1 + 2j, 1), (..., 2), 3), A.use(single)),
    )
    found: Any = untyped.run(programs, backend=backend)
    expected = (
        single.astype(np.complex128) * 1j + 2,
        np.array([1, -2], np.complex64),
        np.array([1 + 0.5j, -2 + 0.5j], np.complex64),
        np.array([1 - 1j, 1 - 1j]),
        np.array([2j, 3], np.complex64),
        np.exp(np.array([1j, -2j])),
        ((2 - single) / (1j * single)).astype(np.complex64),
        np.array([1j, 1 + 2j, 2 + 3j]),
        np.array([1, 2]),
    )
    for got, due in zip(found, expected, strict=True):
        assert got.dtype == due.dtype
        np.testing.assert_allclose(got, due, rtol=1e-6)


@pytest.mark.solver
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", TYPES)
def test_combinators(kind: Any, backend: str) -> None:
    rows = moderate(kind, 24).reshape(4, 6)
    xs = A.use(rows)
    targets = np.array([2, 0, 2, 1, 0, 2])
    scattered = np.zeros(3, kind)
    np.add.at(scattered, targets, rows[0])
    padded = np.pad(rows[1], 1, constant_values=1j)
    programs: Any = (
        U.sum(xs),
        U.product(xs),
        U.fold(lambda x, y: x + y + x * y, 1j, xs),
        U.scanl(U.add, 1j, xs),
        U.scanr1(U.mul, xs),
        U.gather(U.use(targets), U.slice(xs, (0, U.All))),
        U.permute(
            U.add, U.fill((3,), U.constant(0, kind)), lambda i: U.just(U.index(U.use(targets)[i])), U.use(rows[0])
        ),
        U.stencil(lambda n: n(-1) + n(0) * 2j + n(1), U.boundary.constant(kind(1j)), U.use(rows[1])),
        U.matmul(xs, U.transpose(xs)),
        U.dot(U.use(rows[0]), U.use(rows[1])),
        U.einsum("ij,ij->i", xs, xs),
        U.filter(lambda z: U.real(z) > 0, U.use(rows[2]))[0],
        U.transpose(U.reverse(xs)),
        U.iterate(3, lambda ys: U.map(lambda z: z * z, ys), xs),
        U.sortBy(U.magnitude, U.use(rows[3])),
        U.foldSeg(U.add, 0, U.use(rows[3]), U.use(np.array([2, 0, 4]))),
    )
    found: Any = untyped.run(programs, backend=backend)
    squared = rows ** kind(8)
    expected = (
        rows.sum(1),
        rows.prod(1),
        (1 + rows).prod(1) * kind(1 + 1j) - 1,
        np.cumsum(np.concatenate([np.full((4, 1), 1j, kind), rows], 1), 1),
        np.cumprod(rows[:, ::-1], 1)[:, ::-1],
        rows[0][targets],
        scattered,
        padded[:-2] + padded[1:-1] * kind(2j) + padded[2:],
        rows @ rows.T,
        rows[0] @ rows[1],
        (rows * rows).sum(1),
        rows[2][rows[2].real > 0],
        rows[:, ::-1].T,
        squared,
        rows[3][np.argsort(np.abs(rows[3]))],
        np.array([rows[3][:2].sum(), 0, rows[3][2:].sum()]),
    )
    for got, due in zip(found, expected, strict=True):
        assert got.dtype == kind
        assert got.flags.c_contiguous
        np.testing.assert_allclose(got, due, rtol=1e3 * float(np.finfo(kind).eps), atol=1e2 * float(np.finfo(kind).eps))


@pytest.mark.parametrize("strategy", ["ilp", "none"])
def test_bits_are_the_interpreter_s(strategy: Any) -> None:
    values = moderate(np.complex64, 1000)
    xs = A.use(values.reshape(10, 100))
    program = (A.sum(xs), A.scanl1(A.mul, xs), A.map(lambda z: z * z / (z + 1), xs), A.matmul(xs, A.transpose(xs)))
    for threads in (1, 3):
        found = untyped.run(program, backend="llvm", strategy=strategy, threads=threads)
        for got, due in zip(found, untyped.run(program, backend="interpreter"), strict=True):
            same(got, due)


@pytest.mark.parametrize("backend", BACKENDS)
def test_records_tuples_and_layouts(backend: Any) -> None:
    table = np.zeros(3, [("z", "c8"), ("n", "i4")])
    table["z"], table["n"] = [1 + 2j, 3j, -4], [1, 2, 3]
    wide = moderate(np.complex128, 12).reshape(3, 4)
    turned: Any = A.map(lambda p: A.lift(p[0] * 1j, p[1] + 1), A.use(table))
    layouts = (wide.T, wide[::-1, ::2], wide.astype(">c16"), wide.imag, wide[:0], wide[0, 0])
    found: Any = untyped.run((A.reverse(A.use(table)), turned, *map(A.use, layouts)), backend=backend)
    np.testing.assert_array_equal(found[0], table[::-1])
    assert found[0].dtype == table.dtype
    np.testing.assert_array_equal(found[1][0], table["z"] * np.complex64(1j))
    np.testing.assert_array_equal(found[1][1], table["n"] + 1)
    for got, due in zip(found[2:], layouts, strict=True):
        np.testing.assert_array_equal(got, due)


@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled_functions(backend: Any) -> None:
    @A.runN(backend=backend)
    def energy(xs: A.Acc[A.Vector[np.complex64]]) -> A.Acc[A.Scalar[np.float32]]:
        return A.sum(A.map(lambda z: A.real(z * A.conjugate(z)), xs))

    for count in (3, 5, 4):
        values = moderate(np.complex64, count)
        np.testing.assert_allclose(energy(values), np.vdot(values, values).real, rtol=1e-5)
    with pytest.raises(A.AccelTypeError, match="annotated with rank 1 and c64"):
        energy(np.zeros(3, np.complex128))
    pairs: Any = untyped.runN(lambda xs: A.reverse(xs), backend=backend)
    for _ in range(3):  # the same parts, other elements
        assert pairs(moderate(np.complex128)).dtype == np.complex128
        assert type(pairs((np.zeros(3), np.ones(3)))) is tuple


def test_a_program_of_complex_numbers_is_one_nest() -> None:
    def norm(xs: A.Acc[A.Vector[np.complex128]]) -> A.Acc[A.Scalar[np.complex128]]:
        return A.sum(A.map(lambda z: A.exp(z) * A.conjugate(z), A.map(lambda z: z * 2j, xs)))

    found = A.explain(norm)
    assert found.loops == 1
    assert list(found.reads.values()) == [2]  # each part once


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "order": (lambda z: z < 1, "complex numbers have no order"),
    "maximum": (lambda z: A.max(z, z), "complex numbers have no order"),
    "remainder": (lambda z: z % 2, "take a part first"),
    "rounding": (lambda z: A.floor(z), "take a part first"),
    "another type": (lambda z: z + A.constant(1.0), r"A.cast\(e, np.complex64\)"),
    "a scalar of another type": (lambda z: z + np.complex128(1), "a NumPy scalar keeps its type"),
    "a float plus a complex number": (lambda z: A.real(z) + 1j, "convert the other side"),
    "a part lost": (lambda z: A.cast(z, np.float32), "would lose a part"),
    "bits": (lambda z: A.bitcast(z, np.int64), "no complex numbers"),
    "items": (lambda z: z[0], "only tuples have items"),
    "an item": (lambda z: A.fst(z), "takes an expression of a tuple"),
    "a part of a float": (lambda z: A.imag(A.real(z)), "takes complex numbers, got f32"),
    "a number of integers": (lambda z: UNTYPED.mkComplex(A.constant(1), A.constant(2)), "takes floats, got i64"),
    "too large": (lambda z: z * 1e300j, "does not fit c64"),
    "a bool": (lambda z: z * True, "must be c64"),
    "a float is due": (lambda z: UNTYPED.cond(True, A.real(z), z), "needs operands of one type"),
    "a test": (lambda z: A.cond(z, z, z), "must be bool, got c64"),
}


@pytest.mark.parametrize("program", list(WRONG))
def test_what_has_no_meaning_says_so(program: str) -> None:
    function, message = WRONG[program]
    with pytest.raises(A.AccelTypeError, match=message):
        A.map(function, A.use(np.ones(3, np.complex64)))


def test_complex_numbers_are_not_sorted() -> None:
    xs: Any = A.use(np.ones(3, np.complex64))
    for combinator in (A.sort, A.argmax, A.maximum, lambda xs: A.topK(1, xs)):
        with pytest.raises(A.AccelTypeError, match="no order"):
            combinator(xs)
