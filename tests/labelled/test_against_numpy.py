"""The reference interpreter against NumPy: every combinator, empty arrays, ranks 0 to 5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from tests.labelled.programs import AnyAcc, AnyExp, integers, run, run_all, same, use

SHAPES = [(), (0,), (1,), (7,), (0, 3), (3, 0), (2, 5), (2, 3, 4), (2, 1, 0, 3), (1, 2, 2, 1, 3)]
ROWS = [shape for shape in SHAPES if shape]

shaped = pytest.mark.parametrize("shape", SHAPES, ids=str)
with_rows = pytest.mark.parametrize("shape", ROWS, ids=str)


@shaped
def test_map_and_zip_with(shape: tuple[int, ...]) -> None:
    x = integers(shape)
    y = x * 3
    same(run(A.map(lambda a: a * 2 + 1, use(x))), x * 2 + 1)
    same(run(A.zipWith(A.sub, use(x), use(y))), x - y)


@shaped
def test_whole_folds_and_flatten(shape: tuple[int, ...]) -> None:
    x = integers(shape)
    same(run(A.foldAll(A.add, 5, use(x))), np.int64(5 + x.sum()))
    same(run(A.flatten(use(x))), x.ravel())


@with_rows
def test_folds_of_rows(shape: tuple[int, ...]) -> None:
    x = integers(shape)
    same(run(A.fold(A.add, 0, use(x))), x.sum(-1))
    same(run(A.fold(A.max, -1000, use(x))), x.max(-1, initial=-1000))
    if shape[-1]:
        same(run(A.fold1(A.min, use(x))), x.min(-1))


@with_rows
def test_scans_of_rows(shape: tuple[int, ...]) -> None:
    x = integers(shape)
    inclusive, backward = x.cumsum(-1), x[..., ::-1].cumsum(-1)[..., ::-1]
    seed = np.full((*shape[:-1], 1), 2)
    same(run(A.scanl1(A.add, use(x))), inclusive)
    same(run(A.scanr1(A.add, use(x))), backward)
    same(run(A.scanl(A.add, 2, use(x))), np.concatenate([seed, inclusive + 2], -1))
    same(run(A.scanr(A.add, 2, use(x))), np.concatenate([backward + 2, seed], -1))
    for scan, expected in ((A.scanlTotal, inclusive - x + 2), (A.scanrTotal, backward - x + 2)):
        found, totals = run_all(*scan(A.add, 2, use(x)))
        same(found, expected)
        same(totals, x.sum(-1) + 2)


@with_rows
def test_scans_keep_the_sides_of_their_operands(shape: tuple[int, ...]) -> None:
    """A function that is associative and does not commute: of two numbers the left one, or the right one."""
    x = integers(shape)
    first, last = x[..., :1] + 0 * x, x[..., -1:] + 0 * x
    left, right = (lambda a, b: a), (lambda a, b: b)
    for scan, function, expected in (
        (A.scanl1, left, first), (A.scanl1, right, x), (A.scanr1, left, x), (A.scanr1, right, last),
    ):  # fmt: skip
        same(run(scan(function, use(x))), expected)


@with_rows
def test_filter_of_rows(shape: tuple[int, ...]) -> None:
    x = integers(shape)
    kept, counts = run_all(*A.filter(lambda a: a > 0, use(x)))
    same(kept, x[x > 0])
    same(counts, (x > 0).sum(-1))


@with_rows
def test_parts_and_orders(shape: tuple[int, ...]) -> None:
    x = integers(shape)
    xs = use(x)
    for n in range(-2, shape[-1] + 3):
        kept = min(max(n, 0), shape[-1])
        same(run(A.take(n, xs)), x[..., :kept])
        same(run(A.drop(n, xs)), x[..., kept:])
    for axis in range(len(shape)):
        same(run(A.reverseOn(axis, xs)), np.flip(x, axis))
        same(run(A.transposeOn(0, axis, xs)), np.swapaxes(x, 0, axis))


def test_replicate_and_slice() -> None:
    v, m = integers((3,)), integers((2, 3))
    same(run(A.replicate((2, A.All), use(v))), np.broadcast_to(v, (2, 3)))
    same(run(A.replicate((A.All, 4), use(v))), np.repeat(v[:, None], 4, 1))
    same(run(A.replicate((0, A.All), use(v))), np.zeros((0, 3), np.int64))
    same(run(A.slice(use(m), (A.All, 1))), m[:, 1])
    same(run(A.slice(use(m), (1, A.All))), m[1])
    same(run(A.slice(use(m), (1, 2))), m[1, 2])


def test_gather_and_backpermute() -> None:
    table, at = integers((10,)), np.array([[9, 0], [3, 3], [1, 8]])
    same(run(A.gather(use(at), use(table))), table[at])
    same(run(A.gather(use(np.zeros((0, 2), np.int64)), use(table))), table[np.zeros((0, 2), np.int64)])
    same(run(A.backpermute((5,), lambda i: A.index(A.unindex(i)[0] * 2), use(table))), table[::2])


def test_several_elements_of_one_row() -> None:
    """Loads that agree in their first coordinate are different loads."""
    table = integers((4, 3))
    xs: Any = use(table)  # Any: mypy would try all types of sums of sums
    found = run(A.generate((4,), lambda i: xs[i[0], 0] + 10 * xs[i[0], 1] - 100 * xs[0, i[0] % 3]))
    same(found, table[:, 0] + 10 * table[:, 1] - 100 * table[0, np.arange(4) % 3])


def _index_sum(index: AnyExp) -> AnyExp:
    return sum(A.unindex(index), A.constant(0, np.int64))


def test_generate_in_all_ranks() -> None:
    same(run(A.unit(A.constant(3, np.int64))), np.int64(3))
    shape: Any
    for shape in SHAPES:
        found = run(A.generate(shape, _index_sum))
        same(found, sum(np.indices(shape), np.zeros(shape, np.int64)))


def test_scatters_combine_in_source_order() -> None:
    at, values = np.array([2, 0, 2, 2, 1]), np.array([10, 20, 30, 40, 50])
    pairs = A.zip(use(at), use(values))
    zeros = A.fill((4,), 0)
    same(run(A.scatterWith(A.add, zeros, pairs)), [20, 50, 80, 0])
    same(run(A.scatterWith(lambda new, old: new, zeros, pairs)), [20, 50, 40, 0])
    same(run(A.scatterWith(lambda new, old: old * 2 + new, zeros, pairs)), [20, 50, 140, 0])


def test_permute_of_pairs_takes_tuples_whole() -> None:
    """Accelerate's issue 137: the two least of each class, from colliding pairs."""
    rng = np.random.default_rng(137)
    keys, values = rng.integers(0, 384, 3000), rng.integers(0, 10**6, 3000)
    worst = 10**9

    def two_least(new: AnyExp, old: AnyExp) -> AnyExp:
        first = A.min(new[0], old[0])
        return A.lift(first, A.min(A.max(new[0], old[0]), A.min(new[1], old[1])))

    source = A.map(lambda v: A.lift(v, worst), use(values))
    start = A.fill((384,), A.lift(worst, worst))
    at = use(keys)
    least, second = run_all(A.permute(two_least, start, lambda i: A.just(A.index(at[i])), source))
    for key in range(384):
        expected = [*sorted(values[keys == key]), worst, worst][:2]
        assert [least[key], second[key]] == expected


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, np.float32, np.float64])
def test_all_element_types(kind: type[np.generic]) -> None:
    x = integers((3, 4)).astype(kind)
    xs: AnyAcc = use(x)
    same(run(A.map(lambda a: a + a, xs)), x + x)
    same(run(A.fold1(A.max, xs)), x.max(-1))


def test_inputs_of_any_strides_and_byte_order() -> None:
    base = integers((6, 8))
    for x in (base[::2, ::-3], base.T, base.astype(">i8"), np.asfortranarray(base)):
        same(run(A.fold(A.add, 0, use(x))), np.asarray(x).sum(-1).astype(np.int64))


def test_results_are_fresh() -> None:
    x = np.arange(4)
    found = run(A.map(lambda a: a, use(x)))
    found[0] = 99
    assert x[0] == 0


def test_control_flow() -> None:
    x = np.arange(5)
    xs = use(x)
    for flag in (True, False):
        chosen = A.acond(A.constant(flag, np.bool_), A.map(lambda a: a * a, xs), A.take(2, xs))
        same(run(chosen), x * x if flag else x[:2])
    halved = A.awhile(lambda s: A.unit(A.length(s) > 1), lambda s: A.take(A.length(s) // 2, s), use(np.arange(37)))
    same(run(halved), [0])
    never = A.awhile(lambda s: A.unit(A.length(s) > 99), lambda s: A.map(lambda a: a + 1, s), xs)
    same(run(never), x)


def test_a_loop_over_two_arrays() -> None:
    fibonacci = A.awhile(
        lambda s: A.map(lambda n: n < 10, s[1]),
        lambda s: (A.scanl(A.add, 1, s[0]), A.map(lambda n: n + 1, s[1])),
        (use(np.array([1])), A.unit(A.constant(0, np.int64))),
    )
    found, count = run_all(*fibonacci)
    state = np.array([1])
    for _ in range(10):
        state = np.concatenate([[1], 1 + np.cumsum(state)])
    same(found, state)
    assert count == 10
