"""Scans of segments: the bits of each segment scanned alone, in every form, by any operator, on every backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.errors import AccelShapeError
from tests.marks import one_in, slow
from tests.run.test_segments import BACKENDS, LENGTHS, OPERATORS, Host, Vector, elements, leaves, same

pytestmark = [pytest.mark.solver, pytest.mark.llvm, pytest.mark.opencl]

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
    scan, offsets = FORMS[form][1], np.cumsum([0, *lengths])
    parts = [scan(f, *seeds(form, name), made(xs[start:end])) for start, end in pairwise(offsets)]
    results = [leaves(A.run(part, backend="interpreter")) for part in parts]
    empty = leaves(A.run(scan(f, *seeds(form, name), made(xs[:0])), backend="interpreter"))
    columns = [[empty[k].ravel()[:0], *(each[k].ravel() for each in results)] for k in range(len(empty))]
    return tuple(map(np.concatenate, columns))


@pytest.mark.parametrize("lengths", one_in(2, LENGTHS))
@pytest.mark.parametrize("name", one_in(2, ["sum", "affine", "maximum", "difference"]))
@pytest.mark.parametrize("form", list(FORMS))
def test_each_segment_is_scanned_as_if_alone(form: str, name: str, lengths: str) -> None:
    counts = LENGTHS[lengths][:40]
    xs = elements(sum(counts) + 5)  # there are no results for what is left over
    f, made, _ = OPERATORS[name]
    program = FORMS[form][0](f, *seeds(form, name), made(xs), A.use(np.array(counts, np.int32)))
    expected = alone(form, name, xs, counts)
    for backend, threads in (("interpreter", 1), ("llvm", 1), ("llvm", 2), ("llvm", 3), ("opencl", 1)):
        same(A.run(program, backend=backend, threads=threads), expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_of_an_array_are_divided_alike(backend: str) -> None:
    xs, lengths = elements(2 * 3 * 11).reshape(2, 3, 11), [3, 0, 7]
    described = A.use(np.array(lengths))
    (scans, totals), longer = A.run(
        (A.scanrTotalSeg(A.add, 0.5, A.use(xs), described), A.scanlSeg(A.add, 0.5, A.use(xs), described)),
        backend=backend,
    )
    for row in np.ndindex(2, 3):
        same((scans[row], totals[row]), alone("scanrTotalSeg", "sum", xs[row], lengths))
        same((longer[row],), alone("scanlSeg", "sum", xs[row], lengths))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("lengths", [[2, -1, 3], [4, 3, 6], [2**62] * 4 + [1]], ids=["negative", "many", "wrapping"])
@pytest.mark.parametrize("form", ["scanlSeg", "scanr1Seg", "prescanlSeg"])
def test_what_does_not_describe_segments_is_an_error(form: str, lengths: list[int], backend: str) -> None:
    program = FORMS[form][0](A.add, *seeds(form, "sum"), A.use(np.arange(10.0)), A.use(np.array(lengths)))
    with pytest.raises(AccelShapeError, match=f"{form}: a segment from"):
        A.run(program, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays_without_rows_or_elements(backend: str) -> None:
    def scanned(xs: Host, lengths: list[int]) -> Host:
        return A.run(A.scanlSeg(A.add, 1, A.use(xs), A.use(np.array(lengths, np.int64))), backend=backend)

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
    assert [each.tolist() for each in A.runN(scanned)(xs, lengths)] == [[0, 0, 2, 0, 6, 14, 24, 36], [6, 0, 50]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_softmax_of_segments(backend: str) -> None:
    """A segment's total, at each of its elements: the last running sum, spread from the right."""
    xs, lengths = elements(40), A.use(np.array([3, 0, 30, 7]))
    sums = A.scanr1Seg(lambda a, b: b, A.scanl1Seg(A.add, A.use(xs), lengths), lengths)
    shares = A.run(A.zipWith(A.div, A.use(xs), sums), backend=backend)
    for start, end in ((0, 3), (3, 33), (33, 40)):
        np.testing.assert_allclose(shares[start:end], xs[start:end] / xs[start:end].sum(), rtol=1e-5)


@slow
@pytest.mark.parametrize("seed", range(12))
def test_random_descriptors(seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(0, random.choice([2, 4, 70, 5000]), int(random.choice([1, 3, 40]))).tolist()
    name, form = random.choice(list(OPERATORS)), random.choice(list(FORMS))
    xs = elements(sum(counts) + int(random.integers(0, 3)))
    f, made, _ = OPERATORS[name]
    program = FORMS[form][0](f, *seeds(form, name), made(xs), A.use(np.array(counts)))
    expected = alone(form, name, xs, counts)
    for backend, threads in (("interpreter", 1), ("llvm", 1), ("llvm", 3), ("opencl", 1)):
        same(A.run(program, backend=backend, threads=threads), expected)
