"""Iterations that run several at once, with copies of few targets if any order serves: NumPy's results around the sizes from
which they do, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F64
from accel.backends.llvm.loops.targets import FEW_BYTES, FILLS, taken_in_turns
from accel.explanation.explain import subject
from accel.ir.mentions import levels, nests
from accel.settings import changed
from tests import untyped

pytestmark = pytest.mark.llvm

Host = np.ndarray[Any, np.dtype[Any]]
Handle = A.Acc[Any]


def counted(keys: Handle, targets: Handle) -> Handle:
    """How often each key comes, added to what is there."""
    number = np.float64 if targets.type.element is F64 else np.int64
    ones = A.fill(keys.shape, A.constant(1, number))
    return A.permute(A.add, targets, lambda ix: A.just(A.index(keys[ix])), ones)


def turns(program: Any, *given: Host) -> int:
    """How many scatters of a program's loops run for several iterations at once."""
    loops = subject(program, list(given), changed({})).staged.loops
    return sum(
        len(taken_in_turns(nest, level.loop))
        for nest in nests(loops)
        for level in levels(nest)
        if level.loop is not None
    )


def test_which_loops_take_turns() -> None:
    keys, floats = np.zeros(5, np.int64), np.zeros(3)
    assert turns(counted, keys, np.zeros(3, np.int64)) == 1
    assert turns(counted, keys, floats) == 1
    assert turns(lambda keys, targets: A.scatter(keys, targets, A.fill(keys.shape, 0.5)), keys, floats) == 1


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 4099])
def test_sums_of_floats_keep_their_order(size: int) -> None:
    random = np.random.default_rng(size)
    keys, values = random.integers(0, 3, size), random.random(size, dtype=np.float32)

    def sums(keys: Handle, values: Handle) -> Handle:
        zeros = A.fill((3,), A.constant(0.0, np.float32))
        return A.permute(A.add, zeros, lambda ix: A.just(A.index(keys[ix])), values)

    expected = np.zeros(3, np.float32)
    np.add.at(expected, keys, values)
    assert np.array_equal(untyped.runN(sums)(keys, values), expected)


def test_what_reads_its_targets_sees_those_of_the_iteration_before() -> None:
    """Each element says where the next one goes: 0, 1, 2, ..."""
    steps = A.fill((50,), A.constant(1))

    def walked(filled: Handle) -> Handle:
        return A.permute(A.add, filled, lambda ix: A.just(A.index(filled[0] % 50)), steps)

    found = untyped.runN(lambda start: A.iterate(2, walked, start))(np.zeros(50, np.int64))
    expected = np.zeros(50, np.int64)
    for _ in range(2):
        expected[expected[0] % 50] += 50
    assert np.array_equal(found, expected)


MOST = FEW_BYTES // 8


@pytest.mark.parametrize("targets", [1, 37, MOST, MOST + 1])
@pytest.mark.parametrize("more", [-1, 0, 1, 3])
def test_counts(targets: int, more: int) -> None:
    random, size = np.random.default_rng(targets), FILLS * targets + more
    before = random.integers(-9, 9, targets)
    for keys in (np.full(size, targets - 1), np.zeros(size, np.int64), random.integers(0, targets, size)):
        expected = before + np.bincount(keys, minlength=targets)
        for threads in (1, 3):
            assert np.array_equal(untyped.runN(counted, threads=threads)(keys, before), expected)


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int32, np.uint64, np.bool_])
def test_of_all_types(kind: Any) -> None:
    random = np.random.default_rng(5)
    keys, values = random.integers(0, 6, (300, 40)), random.integers(-100, 100, (300, 40)).astype(kind)
    combine, by_numpy = (either, np.logical_or) if kind is np.bool_ else (A.add, np.add)
    expected = np.zeros((2, 3), kind)
    by_numpy.at(expected, (keys % 2, keys // 2), values)
    found = untyped.run(
        A.permute(combine, A.fill((2, 3), A.constant(kind(0), kind)), lambda ix: place(A.use(keys)[ix]), A.use(values))
    )
    assert np.array_equal(found, expected)


def either(new: A.Exp[np.bool_], old: A.Exp[np.bool_]) -> A.Exp[np.bool_]:
    return new | old


def place(key: A.Exp[np.int64]) -> Any:
    return A.just(A.index(key % 2, key // 2))


def test_of_pairs() -> None:
    """Both items of the targets stand in each copy."""
    random = np.random.default_rng(6)
    keys, values = random.integers(0, 50, 20_000), random.integers(-100, 100, 20_000)
    pairs = A.map(lambda x: A.lift(x, A.fromIntegral(x, np.int32)), A.use(values))
    start = A.fill((50,), A.lift(A.constant(0), A.constant(-1000, np.int32)))

    def both(new: A.Exp[Any], old: A.Exp[Any]) -> A.Exp[Any]:
        return A.lift(new[0] + old[0], A.max(new[1], old[1]))

    sums, most = untyped.run(A.permute(both, start, lambda ix: A.just(A.index(A.use(keys)[ix])), pairs))
    expected, greatest = np.zeros(50, np.int64), np.full(50, -1000)
    np.add.at(expected, keys, values)
    np.maximum.at(greatest, keys, values)
    assert np.array_equal(sums, expected)
    assert np.array_equal(most, greatest)


@pytest.mark.parametrize("bad", [0, 1, 6000, 9999])
def test_the_first_index_that_is_wrong_is_named(bad: int) -> None:
    keys = np.zeros(10_000, np.int64)
    keys[bad:] = 7 + bad
    with pytest.raises(A.AccelIndexError, match=f"index \\({7 + bad},\\)"):
        untyped.runN(counted, threads=1)(keys, np.zeros(7, np.int64))
