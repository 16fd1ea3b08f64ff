"""16-bit floats from end to end: NumPy's bits, all of them exhaustively, and the interpreter's in whatever combines them.

In vectorised programs, one array of all values: loads, operators, stores and what moves between them. `tests/scalar` has the
operators alone, beside exact fractions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.untyped import accel as U

# Any: some functions give integers or tuples.
Halves = np.ndarray[Any, np.dtype[np.float16]]
Program = Callable[[A.Acc[A.Vector[np.float16]]], A.Acc[Any]]

BACKENDS = ["llvm", pytest.param("opencl", marks=pytest.mark.opencl)]

pytestmark = pytest.mark.solver

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
SIGNED = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 65504.0, -65504.0, 2.0**-24, -(2.0**-24)], np.float16)


def moderate(count: int, seed: int = 3) -> Halves:
    return np.random.default_rng(seed).normal(0, 2, count).astype(np.float16)


def same(found: object, expected: object) -> None:
    """The same bits, but for NaNs."""
    got, due = np.asarray(found), np.asarray(expected)
    assert got.dtype == due.dtype
    assert got.shape == due.shape
    np.testing.assert_array_equal(got, due)
    if due.dtype.kind == "f":
        number = ~np.isnan(due)
        np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(due)[number])


def numpys(function: Callable[..., Any], *arrays: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(*arrays)


UNARY: list[tuple[Callable[[A.Exp[np.float16]], A.Exp[Any]], Callable[[Halves], Any]]] = [
    (lambda x: -x, np.negative),
    (abs, np.abs),
    (A.sqrt, np.sqrt),
    (lambda x: x * x - 1, lambda x: x * x - np.float16(1)),
    (A.recip, lambda x: np.float16(1) / x),
    (lambda x: A.floor(x, np.float16), np.floor),
    (lambda x: A.ceiling(x, np.float16), np.ceil),
    (lambda x: A.truncate(x, np.float16), np.trunc),
    (lambda x: A.round(x, np.float16), np.rint),
    (A.isNaN, np.isnan),
    (A.isInfinite, np.isinf),
    (lambda x: A.copysign(x, -1.0), lambda x: np.copysign(x, np.float16(-1))),
    (lambda x: A.cast(x, np.float32), lambda x: x.astype(np.float32)),
    (lambda x: A.cast(x, np.float64), lambda x: x.astype(np.float64)),
    (
        lambda x: A.cast(A.cast(x, np.float64) * 1.0001, np.float16),
        lambda x: (x.astype(np.float64) * 1.0001).astype(np.float16),
    ),
    (lambda x: A.cast(x, np.bool_), lambda x: x.astype(np.bool_)),
    (lambda x: A.bitcast(A.bitcast(x, np.uint16) ^ 0x8000, np.float16), lambda x: -x),
]


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_values_have_numpys_results(backend: str) -> None:
    found = untyped.run(tuple([A.map(function, A.use(ALL)) for function, _ in UNARY]), backend=backend)
    for got, (_, function) in zip(found, UNARY, strict=True):
        same(got, numpys(function, ALL))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_and_back(kind: type[np.integer[Any]], backend: str) -> None:
    """To integers toward zero, saturating, NaN 0; from integers to nearest."""
    limits = np.iinfo(kind)
    xs = A.use(ALL)
    numbers = np.where(np.isnan(ALL), 0, ALL.astype(np.float64))
    wanted = [int(min(max(x, limits.min), limits.max)) for x in numbers]
    same(untyped.run(A.map(lambda x: A.cast(x, kind), xs), backend=backend), np.array(wanted, kind))
    near = [*range(-70_000, 70_000, 3), *(2**k for k in range(62)), limits.min, limits.max]
    integers = np.array([x for x in near if limits.min <= x <= limits.max], kind)
    found = untyped.run(A.map(lambda x: A.cast(x, np.float16), A.use(integers)), backend=backend)
    same(found, numpys(lambda x: x.astype(np.float64).astype(np.float16), integers))


@pytest.mark.parametrize("backend", BACKENDS)
def test_pairs_have_numpys_results(backend: str) -> None:
    """Of a million random bits, of edges, and of numbers near each other."""
    random = np.random.default_rng(5)
    x = random.integers(0, 1 << 16, 1 << 20, np.uint16).view(np.float16)
    y = random.integers(0, 1 << 16, 1 << 20, np.uint16).view(np.float16)
    y[: 1 << 18] = np.nextafter(x[: 1 << 18], np.float16(0)) * np.float16(-1)
    x[-(len(SIGNED) ** 2) :], y[-(len(SIGNED) ** 2) :] = np.repeat(SIGNED, len(SIGNED)), np.tile(SIGNED, len(SIGNED))
    functions: list[tuple[Any, Any]] = [
        (A.add, np.add), (A.sub, np.subtract), (A.mul, np.multiply), (lambda p, q: p / q, np.divide),
        (lambda p, q: p < q, np.less), (lambda p, q: p == q, np.equal), (lambda p, q: p != q, np.not_equal),
    ]  # fmt: skip
    found = untyped.run(tuple([A.zipWith(function, A.use(x), A.use(y)) for function, _ in functions]), backend=backend)
    for got, (_, function) in zip(found, functions, strict=True):
        same(got, numpys(function, x, y))
    least, most = untyped.run(
        (A.zipWith(A.min, A.use(x), A.use(y)), A.zipWith(A.max, A.use(x), A.use(y))), backend=backend
    )
    number = (x != 0) | (y != 0)
    same(least[number], numpys(np.minimum, x, y)[number])
    same(most[number], numpys(np.maximum, x, y)[number])
    zero = (x == 0) & (y == 0)
    assert np.array_equal(np.signbit(least[zero]), np.signbit(x[zero]) | np.signbit(y[zero]))
    assert np.array_equal(np.signbit(most[zero]), np.signbit(x[zero]) & np.signbit(y[zero]))


def rows(width: int, xs: A.Acc[A.Vector[np.float16]]) -> A.Acc[A.Matrix[np.float16]]:
    """As many rows of that many elements as there are."""
    count = A.length(xs) // width
    return A.reshape((count, width), A.take(count * width, xs))


COMBINED: dict[str, Program] = {
    "sum": U.sum,
    "product": lambda xs: U.fold(lambda x, y: x * y, 1, U.map(lambda x: x * 0.125 + 1, xs)),
    "differences": lambda xs: U.fold1(U.sub, xs),
    "maximum": U.maximum,
    "minimum": U.minimum,
    "sum in 32 bits": lambda xs: U.sum(U.map(lambda x: U.cast(x, np.float32), xs)),
    "dot": lambda xs: U.dot(xs, U.reverse(xs)),
    "scanl": lambda xs: U.scanl(U.add, 0.5, xs),
    "scanr": lambda xs: U.scanr(U.add, 0.5, xs),
    "scanl1 of max": lambda xs: U.scanl1(U.max, xs),
    "scanl1 of min": lambda xs: U.scanl1(U.min, xs),
    "segments": lambda xs: U.foldSeg(U.add, 0, xs, U.use(np.array([3, 0, 70, 1, 200, 2, 0, 50]))),
    "scans of segments": lambda xs: U.scanl1Seg(U.add, xs, U.use(np.array([3, 0, 70, 1, 200, 2, 0, 50]))),
    "sums of columns": lambda xs: U.fold(U.add, 0, U.transpose(rows(40, xs))),
    "sums of rows": lambda xs: U.fold(U.add, 0, rows(8, xs)),
    "sort": U.sort,
    "argsort": U.argsort,
    "searchsorted": lambda xs: U.searchsorted(U.sort(xs), xs),
    "argmin": U.argmin,
    "argmax": U.argmax,
    "stencil": lambda xs: U.stencil(lambda n: (n(-1) + n(1)) * 0.5 - n(0), U.boundary.mirror, xs),
    "gather": lambda xs: U.gather(U.map(lambda x: U.cast(U.min(U.abs(x) * 10, 50), np.int64), xs), xs),
    "histogram": lambda xs: U.permute(
        U.add, U.fill((8,), U.constant(0, np.float16)), lambda ix: U.just(U.index(U.unindex(ix)[0] * 5 % 8)), xs
    ),
    "extremes by target": lambda xs: U.permute(
        U.max, U.fill((8,), U.constant(0, np.float16)), lambda ix: U.just(U.index(U.unindex(ix)[0] * 5 % 8)), xs
    ),
    "transposed": lambda xs: U.transpose(rows(40, xs)),
    "reversed": lambda xs: U.map(lambda x: x + 1, U.reverse(xs)),
}  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", COMBINED)
def test_what_combines_has_the_interpreters_bits(name: str, backend: str) -> None:
    """With NaN, infinities and zeros of both signs among the elements, and without."""
    for xs in (moderate(5001), np.concatenate([moderate(300), SIGNED, moderate(50, 4)])):
        program = COMBINED[name](A.use(xs))
        same(untyped.run(program, backend=backend), untyped.run(program, backend="interpreter"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_kept_has_the_interpreters_bits(backend: str) -> None:
    xs = A.use(np.concatenate([moderate(9000), SIGNED]))
    kept, counts = A.filter(lambda x: x > 0.25, xs)
    for program in (kept, A.sum(kept), A.topK(7, xs)[0], A.topK(7, xs)[1], counts):
        same(untyped.run(program, backend=backend), untyped.run(program, backend="interpreter"))


@pytest.mark.parametrize("backend", ["interpreter", *BACKENDS])
def test_numpy_sorts_alike(backend: str) -> None:
    xs = np.concatenate([ALL, ALL[::3]])
    same(untyped.run(A.sort(A.use(xs)), backend=backend)[xs[np.argsort(xs)] != 0], np.sort(xs)[np.sort(xs) != 0])
    np.testing.assert_array_equal(untyped.run(A.argsort(A.use(xs)), backend=backend), np.argsort(xs, stable=True))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("threads", [1, 3])
def test_products_of_matrices(threads: int, backend: str) -> None:
    """Every product and every sum is rounded, in the order of folds, whichever loops compute it."""
    m, n = moderate(70 * 130).reshape(70, 130), moderate(130 * 90, 4).reshape(130, 90)
    program = A.matmul(A.use(m), A.use(n))
    found = untyped.run(program, backend=backend, threads=threads)
    lanes = np.zeros((70, 90, 64), np.float16)
    products = m[:, None, :] * n.T[None, :, :]
    for lane in range(64):
        total = products[:, :, lane]
        for k in range(lane + 64, 130, 64):
            total = total + products[:, :, k]
        lanes[:, :, lane] = total
    half = 32
    while half:
        lanes = lanes[:, :, :half] + lanes[:, :, half : 2 * half]
        half //= 2
    same(found, np.float16(0) + lanes[:, :, 0])


def test_records_have_fields_of_16_bits() -> None:
    points = np.array([(1.5, 2, 0.1), (2.5, 3, np.inf)], [("x", "<f2"), ("n", "<i8"), ("y", ">f2")])
    changed = A.map(lambda p: A.lift(p[0] * 2, p[1] + 1, p[2]), A.use(points))
    found = untyped.run(changed, backend="llvm")
    assert np.asarray(found[0]).dtype == np.float16
    np.testing.assert_array_equal(found[0], np.array([3, 5], np.float16))
    np.testing.assert_array_equal(found[2], np.array([0.1, np.inf], np.float16))
    kept = untyped.run(A.filter(lambda p: p[0] > 2, A.use(points))[0])
    assert kept.dtype == np.dtype([("x", "f2"), ("n", "i8"), ("y", "f2")])


def test_inputs_of_any_layout() -> None:
    matrix = moderate(600).reshape(20, 30)
    for given in (matrix.T, matrix[::-2, 3::4], matrix.astype(">f2"), np.asfortranarray(matrix), np.float16(1.5)):
        same(
            untyped.run(A.map(lambda x: x + 1, A.use(given)), backend="llvm"),
            np.asarray(given + np.float16(1)).astype("=f2"),
        )


def test_numbers_take_the_type_of_what_they_meet() -> None:
    assert untyped.run(A.map(lambda x: x * 0.1, A.use(np.ones(1, np.float16)))) == np.float16(0.1)
    assert untyped.run(A.unit(A.constant(0.1, np.float16))).dtype == np.float16
    with pytest.raises(A.AccelTypeError, match=r"100000\.0 does not fit f16"):
        A.map(lambda x: x + 1e5, A.use(np.ones(1, np.float16)))


def test_a_processor_without_conversions_computes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole programs, in the text for such a processor, which this one runs as well."""
    from tests.llvm.processors import changed, compile_for  # they import llvmlite

    compile_for(monkeypatch, changed(has_halves=False))
    xs = A.use(np.concatenate([moderate(5001), ALL[::7]]))
    for program in (A.map(lambda x: A.sqrt(abs(x)) + x * 3, xs), A.scanl(A.max, -1, xs)):
        same(untyped.run(program, backend="llvm"), untyped.run(program, backend="interpreter"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_elementary_functions_of_constants(backend: str) -> None:
    """What LLVM computes of them in 64 bits it takes to 16 at once, by a function that no library here has."""
    one, xs = A.constant(1.0, np.float16), A.use(np.zeros(3, np.float16))
    program = A.map(lambda x: A.atan2(one, one) + x, xs)
    same(untyped.run(program, backend=backend), np.full(3, np.arctan2(np.float16(1), np.float16(1))))
