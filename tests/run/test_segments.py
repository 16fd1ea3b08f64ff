"""Folds of segments: the bits of each segment folded alone, by any operator, on every backend and number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.errors import AccelShapeError, AccelTypeError, AccelValueError
from accel.support.choices import Strategy
from tests import untyped
from tests.guard_pages import guarded_copy
from tests.marks import numbers_of_threads, slow

pytestmark = pytest.mark.solver

BACKENDS = ["interpreter", "llvm", "opencl"]
Vector = A.Acc[A.Vector[Any]]
Host = np.ndarray[Any, np.dtype[Any]]


def affine(f: A.Exp[Any], g: A.Exp[Any]) -> A.Exp[Any]:
    """What g does after f, of numbers times something plus something: associative, and does not commute."""
    (a, b), (c, d) = A.unlift(f), A.unlift(g)
    return A.lift(a * c, b * c + d)


def unchanged(xs: Vector) -> Vector:
    return xs


def pairs(xs: Vector) -> Vector:
    return A.map(lambda x: A.lift(x, x + 1), xs)


OPERATORS: dict[str, tuple[Callable[..., Any], Callable[[Vector], Vector], Any]] = {
    "sum": (A.add, unchanged, 0.5),
    "maximum": (A.max, unchanged, -1),
    "difference": (lambda a, b: a - b, unchanged, 3),
    "affine": (affine, pairs, A.lift(A.constant(1, np.float32), A.constant(0, np.float32))),
}

LENGTHS = {
    "none": [],
    "empty": [0, 0, 0],
    "tiny": [1, 0, 3, 2, 0, 0, 7, 1, 2, 3, 1, 0] * 8,
    "mixed": [0, 100, 3, 0, 64, 1, 65, 33, 5000, 1, 0, 9000, 2, 4096],
    "one": [9_000],
    "sixteen": [(i * 7) % 18 for i in range(100)],
    "few": [(i * 7) % 5 for i in range(200)],
    "five": [(i * 7) % 6 for i in range(200)],
    "few and others": [(i * 7) % 5 + (i in (40, 41, 90, 150)) * 30 for i in range(200)],
    "hollow": [0] * 40 + [2] + [0] * 40,
}


def elements(count: int) -> Host:
    return (np.arange(count) * 37 % 1009 / 7).astype(np.float32)


def leaves(value: object) -> list[Host]:
    return [np.asarray(value)] if not isinstance(value, tuple) else [leaf for part in value for leaf in leaves(part)]


def same(left: object, right: object) -> None:
    """The same types, shapes and bits; which NaN it is differs between processors and GPUs."""
    for one, other in zip(leaves(left), leaves(right), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.where(one == one, one, 0).tobytes() == np.where(other == other, other, 0).tobytes()
        np.testing.assert_array_equal(one, other)


def separately(program: Callable[[Vector], Any], xs: Host, lengths: Sequence[int]) -> tuple[list[Host], ...]:
    """The results of no elements, and then of those of each segment alone, by the reference."""
    run = untyped.runN(program, backend="interpreter")
    offsets = np.cumsum([0, *lengths])
    return tuple(leaves(run(each)) for each in (xs[:0], *(xs[start:end] for start, end in pairwise(offsets))))


def alone(name: str, xs: Host, lengths: Sequence[int]) -> object:
    """Each segment folded by itself, put side by side."""
    f, made, seed = OPERATORS[name]
    empty, *results = separately(lambda xs: A.fold(f, seed, made(xs)), xs, lengths)
    return tuple(np.array([each[k] for each in results], leaf.dtype) for k, leaf in enumerate(empty))


@pytest.mark.parametrize("lengths", list(LENGTHS))
@pytest.mark.parametrize("name", list(OPERATORS))
@pytest.mark.llvm
@pytest.mark.opencl
def test_each_segment_is_folded_as_if_alone(name: str, lengths: str) -> None:
    counts = LENGTHS[lengths]
    xs = elements(sum(counts) + 5)  # what is left over is not looked at
    f, made, seed = OPERATORS[name]
    expected = alone(name, xs, counts)
    described = A.use(np.array(counts, np.int32)), A.use(np.cumsum([0, *counts]))
    programs = (
        A.foldSeg(f, seed, made(A.use(xs)), described[0]),
        A.foldSegOffsets(f, seed, made(A.use(xs)), described[1]),
    )
    for program in programs:
        same(untyped.run(program, backend="interpreter"), expected)
        same(untyped.run(program, backend="opencl"), expected)
        for threads in numbers_of_threads():
            same(untyped.run(program, backend="llvm", threads=threads), expected)


NARROW = [np.bool_, np.int8, np.uint16, np.int32, np.float32, np.int64, np.float64]


@pytest.mark.parametrize("spare", [0, 1, 31, 63, 64, 200])
@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.llvm
def test_few_elements_of_any_type_up_to_the_end_of_the_array(kind: Any, spare: int) -> None:
    """What is loaded is in the array, and so is all that stands beside it there."""
    random = np.random.default_rng(spare)
    counts = random.integers(0, 5, 96)
    xs: Host = guarded_copy(True, random.integers(0, 100, int(counts.sum()) + spare).astype(kind))
    offsets: Host = np.cumsum([0, *counts])
    for first in (0, 3, len(counts) - 1):
        expected = [xs[a:b].max(initial=0) for a, b in pairwise(offsets[first:])]
        largest = A.foldSegOffsets(A.max, kind(0), A.use(xs), A.use(offsets[first:]))
        assert untyped.run(largest).tolist() == expected
    expected = [xs[a:b].max(initial=0) for a, b in pairwise(offsets)]
    descriptors: list[Host] = [counts, counts.astype(np.int8), counts.astype(np.uint64)]
    for descriptor in descriptors:
        assert untyped.run(A.foldSeg(A.max, kind(0), A.use(xs), A.use(descriptor))).tolist() == expected


@pytest.mark.llvm
def test_few_elements_of_arrays_of_other_extents() -> None:
    """Indices that are not the elements' own, arrays that are shorter or longer than the one that is divided."""
    counts = np.arange(90) * 7 % 5
    total = int(counts.sum())
    xs, ys, offsets = elements(total), elements(total + 400)[::-1].copy(), np.cumsum([0, *counts])

    def program(xs: Vector, ys: Vector, lengths: Vector) -> Vector:
        def neighbours(ix: A.Exp[Any]) -> A.Exp[Any]:
            (place,) = A.unindex(ix)
            return ys[place + 2] + ys[place * 2] - ys[place]

        return A.foldSeg(A.max, -5, A.zipWith(A.mul, xs, A.generate(xs.shape, neighbours)), lengths)

    numbers = np.arange(total)
    made = xs * (ys[numbers + 2] + ys[numbers * 2] - ys[:total])
    expected = [made[a:b].max(initial=-5) for a, b in pairwise(offsets)]
    assert untyped.runN(program)(xs, ys, counts).tolist() == expected


@pytest.mark.parametrize("backend", BACKENDS)
def test_lengths_are_added_up_in_the_loop_over_segments(backend: str) -> None:
    def sums(xs: Vector, lengths: Vector) -> tuple[Vector, Vector]:
        found = A.foldSeg(A.add, 0, xs, lengths)
        return found, A.zipWith(lambda total, count: total * A.cast(count, np.float32), found, lengths)

    counts = np.arange(9000) * 7 % 4
    xs = elements(int(counts.sum()))
    assert A.explain(sums, xs, counts).loops == 1
    offsets: A.Acc[A.Vector[np.int64]] = A.use(np.cumsum([0, *counts]))
    expected = untyped.run(A.foldSegOffsets(A.add, 0, A.use(xs), offsets), backend="interpreter")
    for threads in numbers_of_threads() if backend == "llvm" else (1,):
        found, times = untyped.run(sums(A.use(xs), A.use(counts)), backend=backend, threads=threads)
        same(found, expected)
        same(times, expected * counts.astype(np.float32))


@pytest.mark.llvm
def test_few_products_are_added_in_the_order_of_folds() -> None:
    counts = np.arange(300) * 7 % 5
    xs, ys = elements(int(counts.sum())), np.sin(elements(int(counts.sum()))).astype(np.float32)
    program = A.foldSeg(A.add, 0.25, A.zipWith(A.mul, A.use(xs), A.use(ys)), A.use(counts))
    same(untyped.run(program), untyped.run(program, backend="interpreter"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_of_an_array_are_divided_alike(backend: str) -> None:
    xs = elements(3 * 2 * 20).reshape(3, 2, 20)
    lengths = [3, 0, 10, 1]
    offsets = np.cumsum([0, *lengths])
    program = (
        A.fold1SegOffsets(A.max, A.use(xs), A.use(offsets[[0, 1, 3, 4]])),
        A.foldSeg(A.add, 0.5, A.use(xs), A.use(np.array(lengths, np.uint8))),
    )
    largest, sums = untyped.run(program, backend=backend)
    assert (largest.shape, sums.shape) == ((3, 2, 3), (3, 2, 4))
    for row in np.ndindex(3, 2):
        same((sums[row],), alone("sum", xs[row], lengths))
        assert list(largest[row]) == [max(xs[row][a:b]) for a, b in ((0, 3), (3, 13), (13, 14))]


@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays_without_rows_or_elements(backend: str) -> None:
    def sums(xs: Host, lengths: list[int]) -> Host:
        found: Host = untyped.run(A.foldSeg(A.add, 1, A.use(xs), A.use(np.array(lengths, np.int64))), backend=backend)
        return found

    assert sums(np.zeros((0, 4)), [1, 2]).shape == (0, 2)
    assert sums(np.zeros((2, 0)), [0, 0]).tolist() == [[1, 1], [1, 1]]
    assert sums(np.zeros((2, 3)), []).shape == (2, 0)
    assert untyped.run(
        A.foldSegOffsets(A.add, 1, A.use(np.arange(3)), A.use(np.array([2]))), backend=backend
    ).shape == (0,)


BAD: dict[str, tuple[Callable[[Vector, Vector], Vector], list[int], str]] = {
    "negative length": (lambda xs, d: A.foldSeg(A.add, 0, xs, d), [2, -1, 3], "not negative, got -1 at index 1"),
    "too many": (lambda xs, d: A.foldSeg(A.add, 0, xs, d), [2, 3, 6], "at most 10, .* got 11 with the 6 at index 2"),
    "sum that wraps": (
        lambda xs, d: A.foldSeg(A.add, 0, xs, d),
        [1, 2**63 - 1, 2**63 - 1, 2],
        "got 9223372036854775808 with the 9223372036854775807 at index 1",
    ),
    "decreasing": (lambda xs, d: A.foldSegOffsets(A.add, 0, xs, d), [0, 5, 4, 9], "got 4 after 5 at index 2"),
    "before": (lambda xs, d: A.foldSegOffsets(A.add, 0, xs, d), [-1, 4], "from 0 to 10, .* got -1 at index 0"),
    "behind": (lambda xs, d: A.fold1SegOffsets(A.add, xs, d), [0, 11], "got 11 at index 1"),
    "far behind": (
        lambda xs, d: A.fold1SegOffsets(A.add, xs, d),
        [2**62, 2**62 + 1],
        "got 4611686018427387904 at index 0",
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", list(BAD))
def test_what_does_not_describe_segments_is_an_error(case: str, backend: str) -> None:
    make, descriptor, message = BAD[case]
    program = make(A.use(np.arange(10.0)), A.use(np.array(descriptor)))
    for threads in (1, 2) if backend == "llvm" else (1,):
        with pytest.raises(AccelShapeError, match=message) as caught:
            untyped.run(program, backend=backend, threads=threads)
        assert "test_segments.py" in str(caught.value)


def _kept(lengths: Vector) -> Vector:
    return A.filter(lambda n: n != 7, lengths)[0]


def _sum_and_scan(xs: Vector, lengths: Vector) -> Vector:
    return A.zip(A.foldSeg(A.add, 0, xs, lengths), A.scanlTotalSeg(A.add, 0, xs, lengths)[1])


FUSED: dict[str, Callable[[Vector, Vector], object]] = {
    "of what a filter kept": lambda xs, lengths: A.foldSeg(A.add, 0, xs, _kept(lengths)),
    "scanned, of what a filter kept": lambda xs, lengths: A.scanl1Seg(A.add, xs, _kept(lengths)),
    "beside a scan": _sum_and_scan,
    "of rows": lambda xs, lengths: A.foldSeg(A.add, 0, A.replicate((2, A.All), xs), lengths),
    "of reversed lengths": lambda xs, lengths: A.foldSeg(A.add, 0, A.reverse(xs), A.reverse(A.reverse(lengths))),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", list(FUSED))
def test_the_segment_is_named_whatever_loop_it_is_folded_in(case: str, backend: str) -> None:
    program = FUSED[case](
        A.use(np.arange(10.0)), A.use(np.array([1, 7, 0, -3, 2] if "kept" in case else [1, 0, -3, 2]))
    )
    with pytest.raises(AccelShapeError, match="needs lengths that are not negative, got -3 at index 2"):
        untyped.run(program, backend=backend)


@pytest.mark.parametrize("place", [0, 20, 63, 64, 66])
@pytest.mark.parametrize("wrong", [-1, 90])
@pytest.mark.llvm
def test_the_first_wrong_one_of_many_segments_is_named(place: int, wrong: int) -> None:
    lengths = np.arange(67) % 3
    lengths[place] = wrong
    program = A.foldSeg(A.add, 0, A.use(np.arange(67.0)), A.use(lengths))
    messages = []
    for backend, threads in (("interpreter", 1), ("llvm", 1), ("llvm", 3)):
        with pytest.raises(AccelShapeError) as caught:
            untyped.run(program, backend=backend, threads=threads)
        messages.append(caught.value.message)
    assert messages[1:] == messages[:1] * 2


@pytest.mark.llvm
def test_the_first_empty_one_of_many_segments_is_found() -> None:
    lengths = 1 + np.arange(70) % 3
    for place in (0, 17, 69):
        holed = np.where(np.arange(70) == place, 0, lengths)
        with pytest.raises(AccelValueError, match=f"fold1Seg of an empty segment: the one at index {place}"):
            untyped.run(A.fold1Seg(A.add, A.use(np.arange(200.0)), A.use(holed)))
    sums = untyped.run(A.fold1Seg(A.add, A.use(np.arange(200.0)), A.use(lengths)))
    assert sums.tolist() == [sum(range(end - n, end)) for n, end in zip(lengths, np.cumsum(lengths), strict=True)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_empty_segment_without_a_seed_is_an_error(backend: str) -> None:
    xs = A.use(np.arange(10.0))
    with pytest.raises(AccelValueError, match="fold1Seg of an empty segment: the one at index 1"):
        untyped.run(A.fold1Seg(A.max, xs, A.use(np.array([2, 0, 1]))), backend=backend)
    with pytest.raises(AccelShapeError):
        untyped.run(A.foldSegOffsets(A.add, 0, xs, A.use(np.zeros(0, np.int64))), backend=backend)


def test_wrong_descriptors_are_errors_where_they_are_built() -> None:
    xs = A.use(np.arange(10.0))
    with pytest.raises(AccelShapeError, match=r"(?s)fold1SegOffsets needs at least one offset, got none.*`\[0\]`"):
        A.fold1SegOffsets(A.add, xs, A.use(np.zeros(0, np.int64)))
    with pytest.raises(AccelTypeError, match="foldSeg takes a descriptor of integers, got f64"):
        A.foldSeg(A.add, 0, xs, A.use(np.array([1.0, 2.0])))
    with pytest.raises(AccelTypeError, match="foldSeg takes a descriptor of rank 1, got rank 2"):
        A.foldSeg(A.add, 0, xs, A.use(np.ones((2, 2), np.int64)))


def rows_times(values: Vector, columns: Vector, offsets: Vector, x: Vector) -> Vector:
    """A sparse matrix times a vector."""
    return A.foldSegOffsets(A.add, 0, A.zipWith(A.mul, values, A.gather(columns, x)), offsets)


@pytest.mark.parametrize("backend", BACKENDS)
def test_producers_and_consumers_share_the_loop(backend: str) -> None:
    random = np.random.default_rng(1)
    dense = np.where(random.random((30, 20)) < 0.3, random.integers(-9, 9, (30, 20)), 0).astype(np.float64)
    rows, columns = np.nonzero(dense)
    offsets = np.searchsorted(rows, np.arange(31))
    x = random.integers(-9, 9, 20).astype(np.float64)

    def scaled(values: Vector, columns: Vector, offsets: Vector, x: Vector) -> Vector:
        return A.map(lambda y: y / 2, rows_times(values, columns, offsets, x))

    given: list[Any] = [np.asarray(each) for each in (dense[rows, columns], columns, offsets, x)]
    assert A.explain(scaled, *given).loops == 1
    assert untyped.run(scaled(*[A.use(each) for each in given]), backend=backend).tolist() == (dense @ x / 2).tolist()


def test_folds_by_one_descriptor_share_the_loop() -> None:
    def spread(xs: Vector, offsets: Vector) -> tuple[Vector, Vector, Vector]:
        low, high = A.foldSegOffsets(A.min, 99, xs, offsets), A.foldSegOffsets(A.max, -99, xs, offsets)
        return low, high, A.zipWith(A.sub, high, low)

    xs, offsets = np.arange(10) * 7 % 11, np.array([0, 2, 2, 9])
    assert A.explain(spread, xs, offsets).loops == 1
    assert [each.tolist() for each in untyped.runN(spread)(xs, offsets)] == [[0, 99, 1], [7, -99, 10], [7, -198, 9]]


def test_segments_are_folded_in_the_loop_of_what_folds_them() -> None:
    def largest(xs: Vector, offsets: Vector) -> A.Acc[A.Scalar[Any]]:
        return A.fold(A.max, 0, A.foldSegOffsets(A.add, 0, xs, offsets))

    assert A.explain(largest, np.arange(10), np.array([0, 2, 2, 9])).loops == 1
    assert untyped.runN(largest)(np.arange(10), np.array([0, 2, 2, 9])) == 35


@pytest.mark.parametrize("backend", BACKENDS)
def test_elements_that_are_not_looked_at(backend: str) -> None:
    """The loop over a segment runs as often as there are elements, also if all of them are the same."""
    program = A.foldSeg(A.add, 0, A.fill((10,), 1), A.use(np.array([3, 0, 4])))
    assert untyped.run(program, backend=backend).tolist() == [3, 0, 4]


@pytest.mark.parametrize("strategy", ["none", "greedy", "branch_and_bound"])
def test_strategies_agree(strategy: Strategy) -> None:
    xs, lengths = A.use(elements(300)), A.use(np.array([3, 100, 0, 64, 2]))
    program = A.map(lambda x: x * 3, A.foldSeg(A.add, 0, A.zipWith(A.mul, xs, xs), lengths))
    expected = untyped.run(program, backend="interpreter")
    same(untyped.run(program, strategy=strategy), expected)


@slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.llvm
@pytest.mark.opencl
def test_random_descriptors(seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(0, random.choice([2, 4, 70, 5000]), int(random.choice([1, 3, 40])))
    name = random.choice(list(OPERATORS))
    xs = elements(int(counts.sum()) + int(random.integers(0, 3)))
    f, made, start = OPERATORS[name]
    program = A.foldSeg(f, start, made(A.use(xs)), A.use(counts))
    expected = alone(name, xs, counts.tolist())
    for backend, threads in (("interpreter", 1), ("llvm", 1), ("llvm", 3), ("opencl", 1)):
        same(untyped.run(program, backend=backend, threads=threads), expected)
