"""Sorting: NumPy's stable order, NaNs last, zeros equal, on every backend; and what makes keys is fused."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.sorting import search, sorts
from accel.backends.llvm.sorting import rows
from tests import untyped

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]
KINDS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
SHAPES = [(0,), (1,), (2,), (41,), (3, 17), (2, 3, 5), (4, 0), (0, 4), (7, 1)]


def data(kind: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Few values, so that many are equal, and all that are special: limits, NaNs of both signs, infinities, both zeros."""
    generator = np.random.default_rng(seed)
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        values = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, 1e30], dtype)
    elif dtype.kind == "b":
        values = np.array([False, True])
    else:
        limits = np.iinfo(dtype)
        values = np.array([limits.min, limits.max, limits.min + 1, limits.max // 2, 0, 1, 2, limits.max - 1], dtype)
    drawn = generator.choice(values, shape)
    if dtype.kind not in "bf":
        drawn = np.where(generator.integers(0, 2, shape), drawn, generator.integers(0, 100, shape).astype(dtype))
    return drawn


def same(found: Any, expected: Any) -> None:
    """The same shape, type and bits, NaN being equal to NaN."""
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    if expected.dtype.kind == "f":
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_in_numpy_s_stable_order(backend: Any, kind: str) -> None:
    arrays = [data(kind, shape, seed) for seed, shape in enumerate(SHAPES)]
    programs = tuple((A.sort(A.use(each)), A.argsort(A.use(each))) for each in arrays)
    for each, (values, places) in zip(arrays, untyped.run(programs, backend=backend), strict=True):
        expected = np.argsort(each, -1, kind="stable")
        same(places, expected)
        same(values, np.take_along_axis(each, expected, -1))


@pytest.mark.llvm
@pytest.mark.opencl
def test_halves_that_repeat() -> None:
    """By Python's sort: NumPy 2.4's is wrong for some of these on processors with newer AVX-512."""
    special = np.array([-0.0, np.nan, -np.nan, np.inf, -np.inf], np.float16)
    for most in (3, 20, 1000):
        generator = np.random.default_rng(most)
        numbers = (generator.integers(-most, most, 8014) / 2).astype(np.float16)
        numbers[generator.integers(0, 8014, 200)] = generator.choice(special, 200)
        keys = [(bool(np.isnan(number)), float(number)) for number in numbers]
        expected = numbers[sorted(range(len(keys)), key=keys.__getitem__)]
        for backend in ("llvm", "opencl"):
            found = untyped.run(A.sort(A.use(numbers)), backend=backend)
            same(found, expected)
            assert np.array_equal(np.signbit(found[found == 0]), np.signbit(expected[expected == 0]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_tuples_are_compared_from_the_first_item_to_the_last(backend: Any) -> None:
    xs, ys, zs = data("float32", (3, 30)), data("int8", (3, 30), 1), data("bool", (3, 30), 2)
    triples = A.zip3(A.use(xs), A.use(ys), A.use(zs))
    found, places = untyped.run((A.sort(triples), A.argsort(triples)), backend=backend)
    expected = np.lexsort((zs, ys, xs), -1)
    same(places, expected)
    for item, each in zip(found, (xs, ys, zs), strict=True):
        same(item, np.take_along_axis(each, expected, -1))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["bool", "int32", "uint8", "float64"])
def test_the_largest_come_first_and_of_equal_ones_the_first(backend: Any, kind: str) -> None:
    for seed, (shape, k) in enumerate([((40,), 7), ((3, 9), 9), ((3, 9), 0), ((0, 5), 2), ((2, 1), 1)]):
        array = data(kind, shape, seed)
        values, places = untyped.run(A.topK(k, A.use(array)), backend=backend)
        rows = array.reshape(-1, shape[-1])
        keys = [[(x != x, 0 if x != x else x) for x in row] for row in rows.tolist()]
        best = [sorted(range(shape[-1]), key=row.__getitem__, reverse=True)[:k] for row in keys]
        expected = np.array(best, np.int64).reshape(*shape[:-1], k)
        same(places, expected)
        same(values, np.take_along_axis(array, expected, -1))


@pytest.mark.llvm
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_few_of_long_rows_are_found_without_the_others(backend: Any, kind: str) -> None:
    """Ties at the last one that is wanted, rows of NaNs alone, as many as makes the difference."""
    some = [data(kind, shape, len(shape)) for shape in ((100,), (5, 64), (2, 3, 33))]
    for xs in some:
        if xs.dtype.kind == "f":
            xs[0] = np.nan
    distinct = np.random.default_rng(0).permutation(100 * 2).astype(kind)[:100]
    for each in (*some, distinct):
        length = each.shape[-1]
        best = length - 1 - np.argsort(each[..., ::-1], -1, kind="stable")[..., ::-1]
        least = np.argsort(each, -1, kind="stable")
        for count in (0, 1, 3, length // 8, length // 8 + 1):
            used = A.use(each)
            program = A.topK(count, used), A.take(count, A.argsort(used)), A.take(count, A.sort(used))
            (values, places), first, lowest = untyped.run(program, backend=backend)
            same(places, best[..., :count])
            same(values, np.take_along_axis(each, places, -1))
            same(first, least[..., :count])
            same(lowest, np.take_along_axis(each, first, -1))


@pytest.mark.llvm
@pytest.mark.parametrize("backend", BACKENDS[1:])
@pytest.mark.parametrize("kind", ["float32", "int8", "int64", "float64"])
@pytest.mark.parametrize("order", ["random", "rising", "falling", "ties", "one value", "late", "NaNs"])
def test_many_of_a_long_row(backend: Any, kind: str, order: str) -> None:
    """A sample of the row bounds what is wanted, whatever the row's order is; if it does not, the bound is found without."""
    numbers = np.random.default_rng(1).permutation(2**16 + 37)
    made = {
        "random": numbers,
        "rising": np.sort(numbers),
        "falling": -np.sort(numbers),
        "ties": numbers % 5,
        "one value": numbers * 0,
        "late": np.where(np.arange(len(numbers)) % 64 == 32, -1, numbers),  # none of the greatest is in the sample
        "NaNs": np.where(numbers % 300 == 0, np.nan, numbers) if kind.startswith("f") else numbers // 9,
    }[order]
    xs = np.stack([made, made[::-1]]).astype(kind)
    length = xs.shape[-1]
    best = length - 1 - np.argsort(xs[..., ::-1], -1, kind="stable")[..., ::-1]
    least = np.argsort(xs, -1, kind="stable")
    for count in (33, 1000):
        (values, places), first = untyped.run(
            (A.topK(count, A.use(xs)), A.take(count, A.argsort(A.use(xs)))), backend=backend
        )
        same(places, best[..., :count])
        same(values, np.take_along_axis(xs, places, -1))
        same(first, least[..., :count])


def test_what_else_reads_a_sort_reads_all_of_it() -> None:
    xs = np.random.default_rng(0).permutation(100)
    order = np.argsort(xs)

    def program(xs: A.Acc[A.Vector[np.int64]]) -> tuple[A.Acc[A.Vector[np.int64]], A.Acc[A.Scalar[np.int64]]]:
        places = A.argsort(xs)
        return A.take(3, places), A.sum(A.zipWith(lambda a, b: a * b, places, A.take(100, places)))

    first, total = untyped.runN(program)(xs)
    assert first.tolist() == order[:3].tolist()
    assert total == (order * order).sum()

    def reversed_places(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        return A.take(3, A.reverse(A.argsort(xs)))

    assert untyped.runN(reversed_places)(xs).tolist() == order[::-1][:3].tolist()

    def by_index(xs: A.Acc[A.Vector[np.int64]]) -> tuple[A.Acc[A.Vector[np.int64]], A.Acc[A.Scalar[np.int64]]]:
        places = A.argsort(xs)
        return A.take(3, places), A.unit(places[57])

    assert untyped.runN(by_index)(xs)[1] == order[57]


def test_the_first_of_the_largest_is_the_maximum() -> None:
    xs = np.array([3.0, np.nan, 5.0, np.nan])
    values, places = untyped.run(A.topK(1, A.use(xs)))
    assert np.isnan(values[0])
    assert places[0] == 1
    assert np.isnan(untyped.run(A.maximum(A.use(xs))))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["bool", "int8", "uint64", "float32"])
def test_search_is_numpy_s(backend: Any, kind: str) -> None:
    table, wanted = np.sort(data(kind, (50,))), data(kind, (4, 6), 1)
    programs = tuple(A.searchsorted(A.use(table[:n]), A.use(wanted)) for n in (0, 1, 50))
    for n, found in zip((0, 1, 50), untyped.run(programs, backend=backend), strict=True):
        same(found, np.searchsorted(table[:n], wanted))


@pytest.mark.parametrize("backend", BACKENDS)
def test_search_in_tables_of_every_length(backend: Any) -> None:
    """Each place between, before and after the elements, some of which are equal; NaNs stand last."""
    search = untyped.runN(A.searchsorted, backend=backend)
    for n in range(34):
        table = np.sort(np.arange(n) * 2.0 // 3)
        table[n - n // 5 :] = np.nan
        wanted = np.array([-1.0, np.nan, *np.arange(0, 24, 0.5)])
        same(search(table, wanted), np.searchsorted(table, wanted))


@pytest.mark.llvm
def test_all_elements_leave_a_search_in_the_same_turn() -> None:
    """So lanes need no masks, which say which of them still run."""
    text = A.explain(A.searchsorted, np.zeros(3), np.zeros(3)).stages["labelled"]
    condition = re.search(r"while \(\(\w+, (\w+)\) := \(0, n0\)\) \{gt \1 0\}", text)
    assert condition is not None, text
    assert f"div {condition[1]} 2" in text


@pytest.mark.llvm
def test_search_among_tuples() -> None:
    firsts, seconds = data("float32", (60,)), data("int8", (60,), 1)
    pairs = A.zip(A.use(firsts), A.use(seconds))
    found = untyped.run(A.searchsorted(A.sort(pairs), pairs))
    keys = [((x != x, 0 if x != x else x), y) for x, y in zip(firsts.tolist(), seconds.tolist(), strict=True)]
    assert found.tolist() == [sum(other < key for other in keys) for key in keys]


@pytest.mark.llvm
def test_keys_are_computed_in_the_loop_that_stores_them_and_what_is_sorted_is_read_by_the_next() -> None:
    def nearest(xs: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.float32]]:
        distances = A.map(lambda x: A.abs(x - 3), A.filter(lambda x: x > 0, xs)[0])
        return A.sum(A.map(lambda x: x * x, A.take(5, A.sort(distances))))

    xs = np.random.default_rng(0).normal(3, 2, 1000).astype(np.float32)
    explanation = A.explain(nearest)
    assert explanation.loops == 2
    reasons = [str(reason) for array in explanation.arrays for reason in array.why_not]
    assert any("a sort reads all of a row" in reason for reason in reasons)
    expected = np.sort(np.abs(xs[xs > 0] - 3))[:5]
    np.testing.assert_allclose(untyped.runN(nearest)(xs), (expected**2).sum(), rtol=1e-6)


@pytest.mark.llvm
def test_sorted_by_a_key() -> None:
    m = np.random.default_rng(0).integers(-50, 50, (4, 30))
    found = untyped.run(A.sortBy(lambda x: A.lift(A.even(x), -x), A.use(m)))
    same(found, np.array([sorted(row, key=lambda x: (x % 2 == 0, -x)) for row in m.tolist()]))
    pairs = A.zip(A.use(m), A.use(m * 1.5))
    assert A.explain(A.sortBy(lambda p: p[1] - A.toFloating(p[0], np.float64), pairs)).loops == 2


@pytest.mark.llvm
@pytest.mark.parametrize(("threads", "packs"), [(1, True), (1, False), (4, False)])
def test_long_rows(threads: int, packs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which are sorted by radix, places only where NumPy's sorts in registers are not taken for them: all elements special, all
    equal but few, of few bits; in several chunks, and rows of one."""
    if not packs:
        monkeypatch.setattr(rows, "sorts_places", lambda keys: False)
    generator = np.random.default_rng(0)
    arrays = [data(kind, (2, 3000)) for kind in KINDS]
    arrays += [generator.integers(-(2**40), 2**40, 200_001), generator.integers(0, 9, 200_001).astype(np.int32)]
    arrays += [generator.normal(size=(3, 140_000)).astype(np.float32).round(2), np.zeros(2048, np.int16)]
    programs = tuple((A.sort(A.use(each)), A.argsort(A.use(each)), A.topK(9, A.use(each))[1]) for each in arrays)
    for each, (values, places, largest) in zip(arrays, untyped.run(programs, threads=threads), strict=True):
        expected = np.argsort(each, -1, kind="stable")
        same(places, expected)
        same(values, np.take_along_axis(each, expected, -1))
        best = each.shape[-1] - 1 - np.argsort(each[..., ::-1], -1, kind="stable")[..., ::-1]
        same(largest, best[..., :9])


def wide_keys(size: int) -> list[np.ndarray[Any, Any]]:
    """Of more bits than a word moves with a place: spread, near to each other but for one, in two groups of bits, in multiples;
    where few are equal in the bits that decide first, where many are and the rest is in order, and where it is not."""
    generator = np.random.default_rng(0)
    spread = generator.integers(-(2**63), 2**63 - 1, size)
    near, groups = generator.integers(-5, 2**20, size), generator.integers(0, 9, (2, size))
    half = np.arange(size) % 2 == 0
    return [
        *(spread, spread.view(np.uint64), np.append(near[1:], 2**60), groups[0] + (groups[1] << 40)),
        *(near << 40, generator.integers(2**32 - 5, 2**32 + 5, size), np.full(size, 2**40)),
        *(generator.random(size), generator.normal(size=size).round(2), groups[0] - 4.0),
        *(np.where(half, spread, 7 << 40), np.where(half, spread, (7 << 40) + near)),
        *(np.where(half, spread, (7 << 40) - np.arange(size)), np.zeros(size)),
    ]


@pytest.mark.llvm
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [3000, 200_001])
def test_places_of_wide_keys(threads: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "sorts_places", lambda keys: False)
    arrays = wide_keys(size)
    first = np.arange(size).astype(np.uint8)
    programs = tuple((A.argsort(A.use(each)), A.argsort(A.zip(A.use(first), A.use(each)))) for each in arrays)
    descending = untyped.run(tuple(A.topK(size, A.use(each))[1] for each in arrays), threads=threads)
    found = untyped.run(programs, threads=threads)
    for each, (places, pairs), largest in zip(arrays, found, descending, strict=True):
        same(places, np.argsort(each, kind="stable"))
        same(pairs, np.lexsort((each, first)))
        same(largest, size - 1 - np.argsort(each[::-1], kind="stable")[::-1])


@pytest.mark.llvm
@pytest.mark.parametrize("threads", [1, 2])
def test_long_rows_of_tuples(threads: int) -> None:
    first, second = data("float64", (140_000,)), data("uint16", (140_000,), 1)
    places = untyped.run(A.argsort(A.zip(A.use(first), A.use(second))), threads=threads)
    same(places, np.lexsort((second, first)))


@pytest.mark.llvm
def test_strided_arguments_and_results_of_filters() -> None:
    m = np.random.default_rng(0).integers(0, 1000, (50, 60)).astype(np.int32)
    sorts = untyped.runN(lambda xs: A.sort(xs))
    long = np.random.default_rng(1).integers(0, 1000, (2, 9000)).astype(np.int32)
    for array in (m[::2], m[:, ::3], m.T, m[:, ::-1], np.broadcast_to(m[0], (3, 60)), long[:, ::3], long.T[:3000].T):
        same(sorts(array), np.sort(array, -1))
    kept = A.filter(lambda x: x % 3 == 0, A.use(m))[0]
    same(untyped.run(A.sort(kept)), np.sort(m[m % 3 == 0]))
    bytes_of_bools = np.array([2, 0, 1, 255, 0], np.uint8).view(np.bool_)
    assert untyped.run(A.argsort(A.use(bytes_of_bools))).tolist() == [1, 4, 0, 2, 3]


@pytest.mark.llvm
def test_sorts_in_loops_and_branches() -> None:
    xs = np.array([5, 3, 9, 1, 7])

    def step(state: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        return A.map(lambda x: (x * 7) % 11, A.sort(state))

    expected = xs
    for _ in range(4):
        expected = np.sort(expected) * 7 % 11
    same(untyped.run(A.iterate(4, step, A.use(xs))), expected)
    flag = A.the(A.use(np.array(True)))
    same(untyped.run(A.acond(flag, A.sort(A.use(xs)), A.use(xs))), np.sort(xs))
    # A scatter may not destroy what somebody else still reads.
    order = A.argsort(A.use(xs))
    ranks, again = untyped.run((A.scatter(order, order, A.enumFromN((5,), 0)), order))
    same(again, np.argsort(xs))
    same(ranks, np.argsort(np.argsort(xs)))


UNTYPED: Any = A  # mypy refuses some of these calls, too


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: A.topK(4, A.use(np.zeros(3))), A.AccelValueError, "a row of 3 elements has no 4 largest"),
        (lambda: A.topK(-1, A.use(np.zeros(3))), A.AccelShapeError, "there are no -1 largest"),
        (lambda: UNTYPED.sort(A.use(np.array(1))), A.AccelTypeError, "innermost dimension"),
        (lambda: UNTYPED.sort(np.zeros(3)), A.AccelTypeError, r"A\.use\(array\)"),
        (lambda: UNTYPED.sortBy(A.use(np.zeros(3)), lambda x: x), A.AccelTypeError, "functions come first"),
        (
            lambda: A.sort(A.map(lambda x: A.lift(), A.use(np.zeros(3)))),
            A.AccelTypeError,
            "numbers, bools, tuples and maybes",
        ),
        (lambda: UNTYPED.searchsorted(A.use(np.zeros(3)), A.use(np.zeros(3, int))), A.AccelTypeError, "one type"),
        (lambda: UNTYPED.searchsorted(A.use(np.zeros((3, 3))), A.use(np.zeros(3))), A.AccelTypeError, "rank 1"),
    ],
)
def test_what_cannot_work(call: Callable[[], object], error: type[A.AccelError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        call()
    assert "test_sorting.py" in str(caught.value)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(0, 1 << 40), (1 << 40, 0), (3, 0, 1 << 40)])
def test_arrays_without_elements_take_no_time(shape: tuple[int, ...], backend: Any) -> None:
    array: Any = A.use(np.zeros(shape, np.float32))
    for found in untyped.run((A.sort(array), A.argsort(array), A.sortBy(lambda x: -x, array)), backend=backend):
        assert found.shape == shape
    assert untyped.run(A.topK(0, array), backend=backend)[0].shape == (*shape[:-1], 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_too_large_a_k_that_is_computed(backend: Any) -> None:
    k = A.the(A.use(np.array(4)))
    with pytest.raises(A.AccelValueError, match="topK: a row of 3 elements has no 4 largest"):
        untyped.run(A.topK(k, A.use(np.zeros(3))), backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("kind", "signalling"), [("float16", 0x7D00), ("float32", 0x7FA00000), ("float64", 0x7FF4 << 48)]
)
@pytest.mark.filterwarnings("error")
def test_signalling_nans_are_warned_of_by_nobody(backend: Any, kind: str, signalling: int) -> None:
    xs = np.random.default_rng(0).integers(-9, 9, (3, 3000)).astype(kind)
    xs.view(f"u{xs.itemsize}")[:, ::7] = signalling
    expected = np.argsort(xs, -1, kind="stable")
    same(untyped.run(A.argsort(A.use(xs)), backend=backend), expected)
    same(untyped.run(A.topK(3, A.use(xs)), backend=backend)[1], np.tile([0, 7, 14], (3, 1)))


@pytest.mark.llvm
@pytest.mark.parametrize("module", [search, sorts], ids=["search", "sorts"])
def test_the_examples_of_the_docstrings(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
