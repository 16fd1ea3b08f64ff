"""Scans of segments: the bits of each segment scanned alone, in every form, by any operator, on every backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.errors import AccelShapeError
from tests import untyped
from tests.marks import numbers_of_threads, one_in, slow
from tests.run.test_segments import BACKENDS, LENGTHS, OPERATORS, Host, Vector, elements, same, separately
from tests.untyped import accel as U

pytestmark = [pytest.mark.solver, pytest.mark.llvm, pytest.mark.opencl]
AnyExp = A.Exp[Any]

FORMS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "scanlSeg": (A.scanlSeg, A.scanl),
    "scanrSeg": (A.scanrSeg, A.scanr),
    "scanl1Seg": (A.scanl1Seg, A.scanl1),
    "scanr1Seg": (A.scanr1Seg, A.scanr1),
    "scanlTotalSeg": (A.scanlTotalSeg, A.scanlTotal),
    "scanrTotalSeg": (A.scanrTotalSeg, A.scanrTotal),
    "prescanlSeg": (A.prescanlSeg, A.prescanl),
    "prescanrSeg": (A.prescanrSeg, A.prescanr),
    "postscanlSeg": (A.postscanlSeg, A.postscanl),
    "postscanrSeg": (A.postscanrSeg, A.postscanr),
}


def seeds(form: str, name: str) -> tuple[object, ...]:
    return () if "1" in form else (OPERATORS[name][2],)


def alone(form: str, name: str, xs: Host, lengths: Sequence[int]) -> object:
    """Each segment scanned by itself, put side by side."""
    f, made, _ = OPERATORS[name]
    scan = FORMS[form][1]
    empty, *results = separately(lambda xs: scan(f, *seeds(form, name), made(xs)), xs, lengths)
    columns = [[empty[k].ravel()[:0], *(each[k].ravel() for each in results)] for k in range(len(empty))]
    return tuple(map(np.concatenate, columns))


@pytest.mark.parametrize("lengths", one_in(2, LENGTHS))
@pytest.mark.parametrize("name", one_in(2, ["sum", "affine", "maximum", "difference"]))
@pytest.mark.parametrize("form", list(FORMS))
def test_each_segment_is_scanned_as_if_alone(form: str, name: str, lengths: str) -> None:
    counts = LENGTHS[lengths][:40]
    xs = elements(sum(counts) + 5)  # there are no results for what is left over
    f, made, _ = OPERATORS[name]
    program = FORMS[form][0](f, *seeds(form, name), made(A.use(xs)), A.use(np.array(counts, np.int32)))
    expected = alone(form, name, xs, counts)
    for backend, threads in (("interpreter", 1), *(("llvm", count) for count in numbers_of_threads()), ("opencl", 1)):
        same(untyped.run(program, backend=backend, threads=threads), expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_of_an_array_are_divided_alike(backend: str) -> None:
    xs, lengths = elements(2 * 3 * 11).reshape(2, 3, 11), [3, 0, 7]
    described = A.use(np.array(lengths))
    (scans, totals), longer = untyped.run(
        (A.scanrTotalSeg(A.add, 0.5, A.use(xs), described), A.scanlSeg(A.add, 0.5, A.use(xs), described)),
        backend=backend,
    )
    for row in np.ndindex(2, 3):
        same((scans[row], totals[row]), alone("scanrTotalSeg", "sum", xs[row], lengths))
        same((longer[row],), alone("scanlSeg", "sum", xs[row], lengths))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([2, -1, 3], "not negative, got -1 at index 1"),
        ([5, 4, -8, 3], "not negative, got -8 at index 2"),
        ([4, 3, 6], "at most 10, the number of elements, got 13 with the 6 at index 2"),
        ([2**62] * 4 + [1], "at most 10, the number of elements, got 4611686018427387904 with the"),
    ],
    ids=["negative", "negative sum of the last", "many", "wrapping"],
)
@pytest.mark.parametrize("form", ["scanlSeg", "scanr1Seg", "prescanlSeg"])
def test_what_does_not_describe_segments_is_an_error(form: str, lengths: list[int], message: str, backend: str) -> None:
    program = FORMS[form][0](A.add, *seeds(form, "sum"), A.use(np.arange(10.0)), A.use(np.array(lengths)))
    with pytest.raises(AccelShapeError, match=f"{form} needs lengths that .*{message}"):
        untyped.run(program, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays_without_rows_or_elements(backend: str) -> None:
    def scanned(xs: Host, lengths: list[int]) -> Host:
        found: Host = untyped.run(A.scanlSeg(A.add, 1, A.use(xs), A.use(np.array(lengths, np.int64))), backend=backend)
        return found

    assert scanned(np.zeros((0, 4)), [1, 2]).shape == (0, 5)
    assert scanned(np.zeros((2, 0)), [0, 0]).tolist() == [[1, 1], [1, 1]]
    assert scanned(np.zeros((2, 3)), []).shape == (2, 0)


def test_what_makes_the_elements_runs_in_the_loop() -> None:
    """One loop sums the lengths, one scans; folds and scans of one descriptor share it."""

    def scanned(xs: Vector, lengths: Vector) -> tuple[Vector, Vector]:
        doubled = A.map(lambda x: x * 2, xs)
        return A.scanlTotalSeg(A.add, 0, doubled, lengths)

    xs, lengths = np.arange(9), np.array([3, 0, 5])
    assert A.explain(scanned, xs, lengths).loops == 2
    assert [each.tolist() for each in untyped.runN(scanned)(xs, lengths)] == [[0, 0, 2, 0, 6, 14, 24, 36], [6, 0, 50]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_softmax_of_segments(backend: str) -> None:
    """A segment's total, at each of its elements: the last running sum, spread from the right."""
    xs, lengths = elements(40), A.use(np.array([3, 0, 30, 7]))
    sums = A.scanr1Seg(lambda a, b: b, A.scanl1Seg(A.add, A.use(xs), lengths), lengths)
    shares = untyped.run(A.zipWith(A.div, A.use(xs), sums), backend=backend)
    for start, end in ((0, 3), (3, 33), (33, 40)):
        np.testing.assert_allclose(shares[start:end], xs[start:end] / xs[start:end].sum(), rtol=1e-5)


SHORT = [(i * 7) % 5 for i in range(300)]


@pytest.mark.parametrize("name", ["sum", *one_in(2, ["affine", "maximum", "difference"])])
@pytest.mark.parametrize("form", one_in(2, FORMS))
def test_segments_of_few_elements_are_scanned_in_one_row(form: str, name: str) -> None:
    f, made, _ = OPERATORS[name]
    counts = [*SHORT[:150], 5, 40, *SHORT[150:]]
    program = FORMS[form][0](f, *seeds(form, name), made(A.use(elements(sum(counts) + 5))), A.use(np.array(counts)))
    expected = untyped.run(program, backend="interpreter")
    for threads in (1, 2):
        same(untyped.run(program, backend="llvm", threads=threads), expected)


@pytest.mark.parametrize("kind", one_in(3, ["int8", "uint8", "int16", "float16", "int64", "float64", "bool"], kept=7))
def test_few_elements_of_any_type(kind: str) -> None:
    lengths = np.array(SHORT)
    xs = (np.arange(lengths.sum()) * 37 % 5 < 2 if kind == "bool" else elements(lengths.sum())).astype(kind)
    f = (lambda a, b: a & b) if kind == "bool" else A.add
    for scan, reduced in ((A.scanl1Seg, np.add), (A.scanr1Seg, np.add)):
        program = scan(f, A.use(xs), A.use(lengths))
        result = untyped.run(program, backend="llvm")
        same(result, untyped.run(program, backend="interpreter"))
        if np.issubdtype(xs.dtype, np.integer):
            parts = np.split(xs, np.cumsum(lengths))[:-1]
            turned = [part[::-1] if scan is A.scanr1Seg else part for part in parts]
            sums = [reduced.accumulate(part, dtype=xs.dtype) for part in turned]
            same(result, np.concatenate([part[::-1] if scan is A.scanr1Seg else part for part in sums]))


def sum_and_maximum(p: AnyExp, q: AnyExp) -> AnyExp:
    return A.lift(p[0] + q[0], A.max(p[1], q[1]))


@pytest.mark.parametrize("kind", ["bool", "int8", "float32", "float64"])
def test_exclusive_scans_of_few_elements(kind: str) -> None:
    """Elements stand in one row and results in another: of each segment one more."""
    lengths = np.array([*SHORT[:150], 5, 0, *SHORT[150:]])
    xs = elements(lengths.sum()) if kind != "bool" else elements(lengths.sum()) < 0.5
    others, f = elements(lengths.sum() + len(lengths)), (lambda a, b: a | b) if kind == "bool" else A.add

    def program(xs: Vector, others: Vector, lengths: Vector) -> tuple[Vector, ...]:
        doubled = A.map(lambda x: f(x, x), xs)
        ups, downs = (scan(f, np.dtype(kind).type(1), doubled, lengths) for scan in (A.scanlSeg, A.scanrSeg))
        pairs = A.scanlSeg(sum_and_maximum, (0.0, -9.0), A.zip(others, others), lengths)
        return (
            ups,
            A.map(lambda x: f(x, x), ups),
            A.zipWith(lambda x, y: A.cond(x == x, y, 0), downs, others),
            *A.unzip(pairs),
        )

    given = xs.astype(kind), others, lengths
    expected = untyped.runN(program, backend="interpreter")(*given)
    for threads in (1, 2):
        same(untyped.runN(program, threads=threads)(*given), expected)


def test_seeds_and_what_is_done_with_elements_in_one_row() -> None:
    """A seed, an index of the element, a gather, and a second scan in the loop."""
    lengths = np.array(SHORT)
    xs, places = elements(lengths.sum()), np.arange(lengths.sum())[::-1].copy()

    def program(xs: Vector, places: Vector, lengths: Vector) -> tuple[Vector, Vector]:
        picked = A.imap(lambda i, x: x + A.fromIntegral(A.unindex(i)[0], np.float32), A.gather(places, xs))
        return A.prescanlSeg(A.add, 0.25, picked, lengths), A.scanl1Seg(A.max, xs, lengths)

    expected = untyped.runN(program, backend="interpreter")(xs, places, lengths)
    for threads in (1, 2):
        same(untyped.runN(program, threads=threads)(xs, places, lengths), expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([-5, 1, 1], "got -5 at index 0"),
        ([-1, 1], "got -1 at index 0"),
        ([3], "at most 0.* got 3 with the 3 at index 0"),
    ],
    ids=["less than nothing", "nothing", "of nothing"],
)
def test_wrong_lengths_of_no_elements_are_an_error(lengths: list[int], message: str, backend: str) -> None:
    xs = np.zeros(0 if lengths == [3] else 4)
    for scan in (A.scanl1Seg, A.scanr1Seg):
        with pytest.raises(AccelShapeError, match=message):
            untyped.run(scan(A.add, A.use(xs), A.use(np.array(lengths))), backend=backend)


def test_lengths_that_lead_far_before_the_array() -> None:
    """Whoever sums lengths of which some are negative finds segments that begin before the array: nothing is read there."""
    lengths = np.array([-(2**40), *[1] * 100_000])
    for scan in (A.scanl1Seg, A.scanr1Seg):
        with pytest.raises(AccelShapeError, match="got -1099511627776 at index 0"):
            untyped.run(scan(A.add, A.use(elements(200_000)), A.use(lengths)), backend="llvm", threads=2)


FOLLOWING: dict[str, Callable[[Vector, Vector, Vector], object]] = {
    "a map": lambda xs, ys, lengths: U.map(lambda x: x * 2, U.scanl1Seg(U.add, xs, lengths)),
    "a zip": lambda xs, ys, lengths: U.zipWith(U.sub, U.scanr1Seg(U.add, xs, lengths), ys),
    "a map of what stays": lambda xs, ys, lengths: both(U.scanl1Seg(U.add, xs, lengths)),
    "a seed that comes later": lambda xs, ys, lengths: U.postscanrSeg(U.add, 0.5, xs, lengths),
    "a map of both results": lambda xs, ys, lengths: [
        U.map(lambda x: x + 1, each) for each in U.scanlTotalSeg(U.add, 0.5, xs, lengths)
    ],
    "a gather": lambda xs, ys, lengths: U.gather(
        U.scanl1Seg(U.add, U.map(lambda x: U.truncate(x * 0, np.int64) + 1, xs), lengths), ys
    ),
    "a scatter": lambda xs, ys, lengths: U.permute(
        U.add,
        U.fill((7,), U.constant(0, np.float32)),
        lambda ix: U.just(U.index(U.unindex(ix)[0] % 7)),
        U.scanl1Seg(U.add, xs, lengths),
    ),
    "a map of one result more": lambda xs, ys, lengths: U.map(lambda x: x * 2, U.scanlSeg(U.add, 0.5, xs, lengths)),
    "maps from the right": lambda xs, ys, lengths: both(U.map(lambda x: x * 2, U.scanrSeg(U.add, 0.5, xs, lengths))),
    "an index of one result more": lambda xs, ys, lengths: U.imap(
        lambda ix, x: x + ys[U.unindex(ix)[0] % U.length(ys)], U.scanlSeg(U.add, 0.5, xs, lengths)
    ),
    "a gather by one result more": lambda xs, ys, lengths: U.gather(
        U.scanlSeg(U.add, 1, U.map(lambda x: U.truncate(x * 0, np.int64) + 1, xs), lengths), ys
    ),
}


def both(xs: Vector) -> tuple[Vector, Vector]:
    return xs, A.map(lambda x: x + 1, xs)


@pytest.mark.parametrize("name", FOLLOWING)
def test_what_goes_through_the_elements_in_order_shares_the_loop(name: str) -> None:
    def program(xs: Vector, ys: Vector, lengths: Vector) -> object:
        made = FOLLOWING[name](xs, ys, lengths)
        return tuple(made) if isinstance(made, list) else made

    lengths = np.array([0, 3, 1, 0, 2, 4, 9, 0, 30] * 8)
    xs = elements(lengths.sum())
    assert A.explain(program, xs, xs, lengths).loops == 2 + (name == "a scatter")  # beside it one that fills the array
    expected = untyped.runN(program, backend="interpreter")(xs, xs, lengths)
    for backend, threads in (("llvm", 1), ("llvm", 3), ("opencl", 1)):
        same(untyped.runN(program, backend=backend, threads=threads)(xs, xs, lengths), expected)


@slow
@pytest.mark.parametrize("seed", range(12))
def test_random_descriptors(seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(0, random.choice([2, 4, 70, 5000]), int(random.choice([1, 3, 40]))).tolist()
    name, form = random.choice(list(OPERATORS)), random.choice(list(FORMS))
    xs = elements(sum(counts) + int(random.integers(0, 3)))
    f, made, _ = OPERATORS[name]
    program = FORMS[form][0](f, *seeds(form, name), made(A.use(xs)), A.use(np.array(counts)))
    expected = alone(form, name, xs, counts)
    for backend, threads in (("interpreter", 1), ("llvm", 1), ("llvm", 3), ("opencl", 1)):
        same(untyped.run(program, backend=backend, threads=threads), expected)
